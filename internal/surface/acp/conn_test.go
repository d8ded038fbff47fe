package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
)

// answers is what a connection that serves nothing but ping writes for an input.
func answers(t *testing.T, in string) []frame {
	t.Helper()
	var out bytes.Buffer
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	c := &conn{
		in: strings.NewReader(in), w: &out, bye: cancel, notified: func(string, json.RawMessage) {},
		serve: func(_ context.Context, m string, _ json.RawMessage) (func() (any, error), *Error) {
			if m != "ping" {
				return nil, &Error{codeMethod, m}
			}
			return func() (any, error) { return empty{}, nil }, nil
		},
		pending: map[string]chan frame{}, serving: map[string]context.CancelCauseFunc{},
	}
	if err := c.read(ctx); err != nil {
		t.Fatal(err)
	}
	c.beside.Wait()
	var list []frame
	for line := range strings.Lines(out.String()) {
		var f frame
		if err := json.Unmarshal([]byte(line), &f); err != nil || f.Version != "2.0" {
			t.Fatalf("no frame: %q, %v", line, err)
		}
		list = append(list, f)
	}
	return list
}

func TestEveryRequestIsAnswered(t *testing.T) {
	for in, code := range map[string]int{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`:   0,
		`{"jsonrpc":"2.0","id":"a","method":"ping"}`: 0,
		`{"jsonrpc":"2.0","id":1,"method":"pong"}`:   codeMethod,
		`{"jsonrpc":"2.0","id":1}`:                   codeRequest,
		`[]`:                                         codeRequest,
		`{"id":`:                                     codeParse,
		strings.Repeat("x", 1<<20):                   codeParse,
		`{"jsonrpc":"2.0","id":1,"method":"ping"` + "}\n\n\n": 0,
	} {
		got := answers(t, in)
		if len(got) != 1 || code == 0 && got[0].Error != nil || code != 0 && (got[0].Error == nil || got[0].Error.Code != code) {
			t.Errorf("%.60s: %+v, want one answer with code %d", in, got, code)
		}
	}
	for _, in := range []string{"", "\n", `{"jsonrpc":"2.0","id":5,"result":{}}`, `{"jsonrpc":"2.0","method":"ping"}`, `{"method":"$/cancel_request","params":{"requestId":1}}`} {
		if got := answers(t, in); len(got) != 0 {
			t.Errorf("%s: answered with %+v", in, got)
		}
	}
}

// gone is a client that reads nothing any more.
type gone struct{}

func (gone) Write([]byte) (int, error) { return 0, errClientGone }

func TestWhoAsksLearnsThatTheClientHasGone(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	c := &conn{w: gone{}, bye: cancel, pending: map[string]chan frame{}}
	if err := c.call(ctx, 0, "ask", empty{}, nil); err == nil || !strings.Contains(err.Error(), "client") {
		t.Errorf("a question to a client that has gone: %v", err)
	}
	c.leave()
	if err := c.call(t.Context(), 0, "ask", empty{}, nil); err == nil {
		t.Error("a question after the end was answered")
	}
}

func TestPromptBlocks(t *testing.T) {
	for in, want := range map[string]string{
		`[]`:                            "empty",
		`[{"type":"text","text":""}]`:   "empty",
		`[{"type":"audio","data":"x"}]`: "audio",
		`[{"type":"image","data":"x"}]`: "cannot be read",
		`[{"type":"resource"}]`:         "no uri",
		`[{"type":"resource_link"}]`:    "no uri",
		`[{"type":"resource","resource":{"uri":"u","mimeType":"a/b","blob":"eA=="}}]`:         "a/b",
		`[{"type":"text","text":"hi"},{"type":"resource","resource":{"uri":"u","text":"t"}}]`: "",
	} {
		var list []content
		if err := json.Unmarshal([]byte(in), &list); err != nil {
			t.Fatal(err)
		}
		_, err := spoken(list)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n" + `{"id":1,"method":"ping"}`)
	f.Add("{\n[]\nnull\n\xff")
	f.Add(`{"method":"$/cancel_request","params":{"requestId":1}}`)
	f.Fuzz(func(t *testing.T, in string) {
		if got := answers(t, in); len(got) > strings.Count(in, "\n")+1 {
			t.Fatalf("%d answers to %q", len(got), in)
		}
	})
}
