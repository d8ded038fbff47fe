package streamjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// take reads input as a host wrote it and returns what waits for its turn.
func take(input []byte) ([]item, error) {
	n := 0
	box := &inbox{wake: make(chan struct{}, 1)}
	r := &reader{
		host: NewHost(func() string { return "q" }, 0), inbox: box,
		newID: func() string { n++; return fmt.Sprint("id", n) }, now: func() time.Time { return time.Unix(0, 0) },
	}
	r.run(bytes.NewReader(input))
	return box.list, box.fault()
}

func TestReader(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string // texts of messages, subtypes of requests
		bad      int      // the line that ends the session
	}{
		{"nothing", "", nil, 0},
		{"a mark first", "\ufeff" + `{"type":"user","message":{"role":"user","content":"hi"}}`, []string{"hi"}, 0},
		{"blank lines and returns", "\r\n\n" + `{"type":"keep_alive"}` + "\r\n", nil, 0},
		{"a request", `{"type":"control_request","request_id":7,"request":{"subtype":"x"}}`, []string{`{"subtype":"x"}`}, 0},
		{"unknown, answer to nothing, cancel of nothing", `{"type":"new"}` + "\n" + `{"type":"control_response","response":{"request_id":"no"}}` + "\n" + `{"type":"control_cancel_request","request_id":"no"}`, nil, 0},
		{"two on one line", `{"type":"user","message":{"role":"user","content":"a"}} {"type":"user"}`, nil, 1},
		{"after a good one", `{"type":"user","message":{"role":"user","content":"a"}}` + "\n{", []string{"a"}, 2},
		{"a list", `[]`, nil, 1},
		{"another role", `{"type":"user","message":{"role":"assistant","content":"a"}}`, nil, 1},
		{"an empty message", `{"type":"user","message":{"role":"user","content":""}}`, nil, 1},
		{"no message", `{"type":"user"}`, nil, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			items, err := take([]byte(c.in))
			var got []string
			for _, it := range items {
				if it.message != nil {
					got = append(got, it.message.Text())
				} else {
					got = append(got, string(it.request))
				}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			var bad *BadLine
			if errors.As(err, &bad) != (c.bad > 0) || bad != nil && bad.Line != c.bad {
				t.Errorf("the error is %v, want line %d", err, c.bad)
			}
		})
	}
}

// FuzzReader: whatever comes, the reader ends, and what it hands on is usable.
func FuzzReader(f *testing.F) {
	f.Add([]byte(`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}}` + "\n{"))
	f.Add([]byte(`{"type":"control_request","request_id":[1],"request":null}`))
	f.Add([]byte(`{"type":"control_response","response":{"subtype":"success","request_id":{"a":1}}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		items, _ := take(in)
		for _, it := range items {
			if it.message != nil && len(it.message.Blocks) == 0 {
				t.Errorf("a message without a block from %q", in)
			}
		}
	})
}

func TestAgrees(t *testing.T) {
	for in, want := range map[string]bool{
		`true`: true, `"retry"`: true, `{"action":"retry"}`: true, `{"choice":"Accept"}`: true, `{"decision":true}`: true,
		`false`: false, `"cancel"`: false, `{"action":"decline"}`: false, `null`: false, `{}`: false, `[]`: false, `7`: false, ``: false, `{`: false,
	} {
		if got := agrees(json.RawMessage(in)); got != want {
			t.Errorf("%s: %v", in, got)
		}
	}
}

// TestSameIDTwice: an id can be used again once its request is done, not before.
func TestSameIDTwice(t *testing.T) {
	h := NewHost(func() string { return "q" }, 0)
	_, done, err := h.begin(t.Context(), json.RawMessage(`"a"`))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := h.begin(t.Context(), json.RawMessage(`"a"`)); err == nil {
		t.Error("two requests by one id at once")
	}
	done()
	if _, done, err = h.begin(t.Context(), json.RawMessage(`"a"`)); err != nil {
		t.Error(err)
	}
	done()
}
