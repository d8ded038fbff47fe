package anthropic_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/provider/anthropic"
	"github.com/hew-agent/hew/internal/backend/provider/endpoint"
	"github.com/hew-agent/hew/internal/msg"
)

const key = "sk-test-K3y-0123456789"

// stream is a reply with a text of two deltas and a tool call.
const stream = `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":7,"output_tokens":1}}}

data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

data: {"type":"ping"}

data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel\""}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo"}}

data: {"type":"content_block_stop","index":0}

data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"Read","input":{},"caller":{"type":"direct"}}}

data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\": 1.0"}}

data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"}"}}

data: {"type":"content_block_stop","index":1}

data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}

data: {"type":"message_stop"}

`

func request() *provider.Request {
	return &provider.Request{
		Model: "m", MaxTokens: 100, Session: "s1",
		System:   []provider.SystemBlock{{Text: "be <brief>"}},
		Tools:    []provider.ToolDef{{Name: "Read", JSON: json.RawMessage(`{"name":"Read","input_schema":{"type":"object"}}`)}},
		Messages: []*msg.Message{msg.User("", time.Time{}, "hi")},
	}
}

func client(t *testing.T, c endpoint.Config) *anthropic.Client {
	t.Helper()
	if c.Auth == nil {
		c.Auth = func(context.Context, string) (endpoint.Auth, error) {
			return endpoint.Auth{Style: endpoint.APIKey, Secret: key}, nil
		}
	}
	cl, err := anthropic.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return cl
}

func collect(ctx context.Context, p provider.Provider, r *provider.Request) ([]provider.Part, error) {
	var parts []provider.Part
	for part, err := range p.Stream(ctx, r) {
		if err != nil {
			return parts, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func sse(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, body)
}

func TestStreamYieldsParts(t *testing.T) {
	var got *http.Request
	var body []byte
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		w.Header().Set("Request-Id", "req_9")
		sse(w, stream)
	})
	cl := client(t, endpoint.Config{
		BaseURL: s.URL + "/gate/", Version: "1.2", Betas: []string{"b1", "b2"},
		Headers: []endpoint.Header{{Name: "x-extra", Value: "1"}}, ExtraBody: `{"service_tier":"auto"}`,
	})
	r := request()
	r.Break, r.Mark, r.MarkAt = "model", "5m", []int{0}
	parts, err := collect(t.Context(), cl, r)
	if err != nil {
		t.Fatal(err)
	}
	if got.URL.Path != "/gate/v1/messages" || got.ContentLength != int64(len(body)) || len(got.TransferEncoding) != 0 {
		t.Errorf("path %s, length %d of %d, encoding %v", got.URL.Path, got.ContentLength, len(body), got.TransferEncoding)
	}
	for name, want := range map[string]string{
		"X-Api-Key": key, "User-Agent": "hew/1.2", "Anthropic-Version": "2023-06-01", "Anthropic-Beta": "b1,b2",
		"X-Extra": "1", "X-Hew-Prefix-Break": "model", "Content-Type": "application/json", "Authorization": "",
	} {
		if v := got.Header.Get(name); v != want {
			t.Errorf("%s: %q, want %q", name, v, want)
		}
	}
	want := `{"model":"m","max_tokens":100,"stream":true,"metadata":{"user_id":"s1"},"service_tier":"auto",` +
		`"tools":[{"name":"Read","input_schema":{"type":"object"}}],` +
		`"system":[{"type":"text","text":"be <brief>","cache_control":{"type":"ephemeral"}}],` +
		`"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}]}`
	if string(body) != want {
		t.Errorf("body\n got %s\nwant %s", body, want)
	}
	checkParts(t, parts)
}

func checkParts(t *testing.T, parts []provider.Part) {
	t.Helper()
	var text strings.Builder
	var blocks []msg.Block
	var kinds []string
	for _, p := range parts {
		switch p := p.(type) {
		case provider.Started:
			if p.MessageID != "msg_1" || p.RequestID != "req_9" || p.Usage.InputTokens != 7 {
				t.Errorf("%+v", p)
			}
		case provider.BlockDelta:
			text.WriteString(p.Text)
			if p.Raw != nil {
				t.Error("raw events were copied though not asked for")
			}
		case provider.BlockDone:
			blocks = append(blocks, p.Block)
		case provider.Finished:
			if p.StopReason != "tool_use" || p.Usage.OutputTokens != 9 || p.Usage.InputTokens != 7 {
				t.Errorf("%+v", p)
			}
		case provider.BlockStarted, provider.Ended:
		}
		kinds = append(kinds, strings.TrimPrefix(fmt.Sprintf("%T", p), "provider."))
	}
	if want := `Hel"lo{"a": 1.0}`; text.String() != want {
		t.Errorf("text %q, want %q", text.String(), want)
	}
	if got, want := strings.Join(kinds, " "), "Started BlockStarted BlockDelta BlockDelta BlockDone BlockStarted BlockDelta BlockDelta BlockDone Finished Ended"; got != want {
		t.Errorf("parts\n got %s\nwant %s", got, want)
	}
	if len(blocks) != 2 {
		t.Fatalf("%d blocks", len(blocks))
	}
	if got, want := string(blocks[1].JSON()), `{"type":"tool_use","id":"t1","name":"Read","input":{"a": 1.0},"caller":{"type":"direct"}}`; got != want {
		t.Errorf("block\n got %s\nwant %s", got, want)
	}
}

func TestConnectionIsReused(t *testing.T) {
	addrs := map[string]bool{}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		addrs[r.RemoteAddr] = true
		_, _ = io.Copy(io.Discard, r.Body)
		sse(w, stream)
	})
	cl := client(t, endpoint.Config{BaseURL: s.URL})
	for range 5 {
		if _, err := collect(t.Context(), cl, request()); err != nil {
			t.Fatal(err)
		}
	}
	if len(addrs) != 1 {
		t.Errorf("%d connections for five requests", len(addrs))
	}
}

func TestHewHeadersStayOnLoopback(t *testing.T) {
	var hdr http.Header
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		hdr = r.Header
		if r.URL.Host != "api.example.test" {
			t.Errorf("the proxy was asked for %s", r.URL)
		}
		sse(w, stream)
	})
	cl := client(t, endpoint.Config{
		BaseURL: "http://api.example.test", Network: endpoint.Network{HTTPProxy: proxy.URL},
	})
	r := request()
	r.Break, r.Side = "model", "title"
	if _, err := collect(t.Context(), cl, r); err != nil {
		t.Fatal(err)
	}
	for name := range hdr {
		if strings.HasPrefix(name, "X-Hew") {
			t.Errorf("header %s left the machine", name)
		}
	}
}

func TestRedirectElsewhereCarriesNoKey(t *testing.T) {
	var reached bool
	other := serve(t, func(http.ResponseWriter, *http.Request) { reached = true })
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/v1/messages?k="+r.Header.Get("X-Api-Key"), http.StatusTemporaryRedirect)
	})
	_, err := collect(t.Context(), client(t, endpoint.Config{BaseURL: s.URL}), request())
	var e *provider.Error
	if !errors.As(err, &e) || e.Class != provider.Protocol || e.Status != 307 {
		t.Fatalf("got %v", err)
	}
	if reached {
		t.Error("the other host was asked")
	}
	if strings.Contains(err.Error(), key) {
		t.Errorf("the key is in %q", err)
	}
}

func TestRedirectOnTheSameHostIsFollowed(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/messages" {
			http.Redirect(w, r, "/v2/messages", http.StatusPermanentRedirect)
			return
		}
		b, _ := io.ReadAll(r.Body)
		if len(b) == 0 || r.Header.Get("X-Api-Key") != key {
			t.Errorf("%d bytes, key %q", len(b), r.Header.Get("X-Api-Key"))
		}
		sse(w, stream)
	})
	if _, err := collect(t.Context(), client(t, endpoint.Config{BaseURL: s.URL}), request()); err != nil {
		t.Fatal(err)
	}
}
