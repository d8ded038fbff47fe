package messages_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/provider/messages"
	"github.com/hew-agent/hew/internal/msg"
)

func request(n int) *provider.Request {
	r := &provider.Request{
		Model: "m", MaxTokens: 8000,
		System: []provider.SystemBlock{{Text: "one"}, {Text: "two <&>"}},
		Tools:  []provider.ToolDef{{Name: "A", JSON: json.RawMessage(`{"name":"A"}`)}, {Name: "B", JSON: json.RawMessage(`{"name":"B"}`)}},
	}
	for i := range n {
		r.Messages = append(r.Messages, msg.User("", time.Time{}, fmt.Sprintf("message %d", i)))
	}
	return r
}

func TestEncodeOptions(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*provider.Request)
		extra  string
		want   []string
		not    []string
	}{
		{"plain", func(*provider.Request) {}, "", []string{`"stream":true`}, []string{"thinking", "metadata", "output_config", "tool_choice", "cache_control"}},
		{"whole", func(r *provider.Request) { r.Whole = true }, "", []string{`"stream":false`}, nil},
		{"adaptive", func(r *provider.Request) { r.Thinking.Adaptive = true }, "", []string{`"thinking":{"type":"adaptive"}`}, nil},
		{"budget", func(r *provider.Request) { r.Thinking.Budget = 2000 }, "", []string{`"thinking":{"type":"enabled","budget_tokens":2000}`}, nil},
		{"budget above the cap", func(r *provider.Request) { r.Thinking.Budget = 9000 }, "", []string{`"budget_tokens":7999}`}, nil},
		{"cap too small to think", func(r *provider.Request) { r.Thinking.Budget = 9000; r.MaxTokens = 900 }, "", nil, []string{"thinking"}},
		{"forced tool", func(r *provider.Request) { r.ForceTool = "A"; r.Thinking.Adaptive = true }, "", []string{`"tool_choice":{"type":"tool","name":"A"}`}, []string{"thinking"}},
		{"effort", func(r *provider.Request) { r.Effort = "high" }, "", []string{`"output_config":{"effort":"high"}`}, nil},
		{"an hour", func(r *provider.Request) { r.Mark = "1h" }, "", []string{`"two <&>","cache_control":{"type":"ephemeral","ttl":"1h"}}]`}, nil},
		{"extra", func(*provider.Request) {}, `{"max_tokens":5,"x":[1.0]}`, []string{`"max_tokens":5,"x":[1.0],"tools"`}, []string{"8000"}},
		{"no system, no tools", func(r *provider.Request) { r.System, r.Tools = nil, nil }, "", nil, []string{"system", "tools"}},
	} {
		r := request(2)
		c.change(r)
		extra, err := messages.ParseExtra(c.extra)
		if err != nil {
			t.Fatal(err)
		}
		b := messages.Encode(r, extra)
		got := string(b.Bytes())
		if !json.Valid([]byte(got)) || int64(len(got)) != b.Len() {
			t.Errorf("%s: %d bytes, Len %d: %s", c.name, len(got), b.Len(), got)
		}
		for _, w := range c.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: no %s in %s", c.name, w, got)
			}
		}
		for _, w := range c.not {
			if strings.Contains(got, w) {
				t.Errorf("%s: %s in %s", c.name, w, got)
			}
		}
	}
}

func TestAtMostFourMarks(t *testing.T) {
	r := request(9)
	r.Mark, r.MarkAt = "5m", []int{0, 2, 4, 6, 8}
	body := string(messages.Encode(r, nil).Bytes())
	if n := strings.Count(body, "cache_control"); n != 4 {
		t.Errorf("%d marks in %s", n, body)
	}
	for _, newest := range []string{"message 4", "message 6", "message 8"} {
		if !strings.Contains(body, newest+`","cache_control"`) {
			t.Errorf("no mark on %q", newest)
		}
	}
}

// TestBodyIsAGrowingPrefix: but for its closing brackets, the body of a turn is
// the beginning of the next one's.
func TestBodyIsAGrowingPrefix(t *testing.T) {
	short, long := messages.Encode(request(3), nil).Bytes(), messages.Encode(request(6), nil).Bytes()
	if !bytes.HasPrefix(long, bytes.TrimSuffix(short, []byte("]}"))) {
		t.Errorf("%s\nis no prefix of\n%s", short, long)
	}
}

func TestCountBodyHasNoMoreThanItMay(t *testing.T) {
	r := request(1)
	r.Mark, r.MarkAt, r.Effort, r.Session = "5m", []int{0}, "high", "s"
	var got map[string]json.RawMessage
	if err := json.Unmarshal(messages.EncodeCount(r).Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for k := range got {
		switch k {
		case "model", "tools", "system", "messages":
		default:
			t.Errorf("member %q", k)
		}
	}
}

func TestBodyReaderStartsAnew(t *testing.T) {
	b := messages.Encode(request(4), nil)
	for range 2 {
		got, err := io.ReadAll(iotest{b.Reader()})
		if err != nil || !bytes.Equal(got, b.Bytes()) {
			t.Errorf("%v %s", err, got)
		}
	}
}

// iotest reads three bytes at a time.
type iotest struct{ r io.Reader }

func (i iotest) Read(p []byte) (int, error) { return i.r.Read(p[:min(3, len(p))]) }

func TestHistoryIsNotCopied(t *testing.T) {
	big := strings.Repeat("x", 1<<20)
	r := request(0)
	for range 7 {
		r.Messages = append(r.Messages, msg.User("", time.Time{}, big))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const n = 20
	for range n {
		messages.Encode(r, nil)
	}
	runtime.ReadMemStats(&after)
	if per := (after.TotalAlloc - before.TotalAlloc) / n; per > 16<<10 {
		t.Errorf("%d bytes allocated for a body of 7 MB", per)
	}
}

func TestExtraMayNotOwnTheHistory(t *testing.T) {
	for _, s := range []string{`{"messages":[]}`, `{"system":""}`, `{"tools":[]}`, `{"stream":false}`, `[]`, `x`} {
		if _, err := messages.ParseExtra(s); err == nil {
			t.Errorf("%s was taken", s)
		}
	}
}

// parts decodes a stream that comes in chunks of n bytes.
func parts(stream string, n int) (out []provider.Part, err error) {
	d := messages.NewDecoder(messages.Config{Yield: func(p provider.Part) bool { out = append(out, p); return true }})
	s := messages.NewSplitter(d.Event)
	for b := []byte(stream); len(b) > 0; {
		k := min(n, len(b))
		chunk := append([]byte(nil), b[:k]...)
		if err = s.Feed(chunk); err != nil {
			return out, err
		}
		for i := range chunk { // what is kept must not be the chunk's memory
			chunk[i] = 'X'
		}
		b = b[k:]
	}
	return out, s.End()
}

func event(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		b.WriteString("data: " + d + "\n\n")
	}
	return b.String()
}

const (
	start = `{"type":"message_start","message":{"id":"i","model":"m","usage":{"input_tokens":3}}}`
	stop  = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}`
	end   = `{"type":"message_stop"}`
)

func block(start string, deltas ...string) string {
	var out strings.Builder
	out.WriteString(event(`{"type":"content_block_start","index":0,"content_block":` + start + `}`))
	for _, d := range deltas {
		out.WriteString(event(`{"type":"content_block_delta","index":0,"delta":` + d + `}`))
	}
	return out.String() + event(`{"type":"content_block_stop","index":0}`)
}

func TestBlocksAreAssembled(t *testing.T) {
	for _, c := range []struct{ name, stream, want, malformed string }{
		{"text with more members", block(`{"type":"text","x":1.0,"text":"","y":null}`, `{"type":"text_delta","text":"a<b"}`), `{"type":"text","x":1.0,"text":"a<b","y":null}`, ""},
		{"text that began in the start event", block(`{"type":"text","text":"He"}`, `{"type":"text_delta","text":"llo"}`), `{"type":"text","text":"Hello"}`, ""},
		{"empty text", block(`{"type":"text","text":""}`), `{"type":"text","text":""}`, ""},
		{"escaped letters", block(`{"type":"text","text":""}`, `{"type":"text_delta","text":"\u00e9 \/ \n"}`), `{"type":"text","text":"é / \n"}`, ""},
		{"a pair of escapes, split", block(`{"type":"text","text":""}`, `{"type":"text_delta","text":"\ud83d"}`, `{"type":"text_delta","text":"\ude00"}`), `{"type":"text","text":"😀"}`, ""},
		{"citations", block(`{"type":"text","text":""}`, `{"type":"citations_delta","citation":{"a":1}}`, `{"type":"citations_delta","citation":{"b":2}}`), `{"type":"text","text":"","citations":[{"a":1},{"b":2}]}`, ""},
		{"thinking", block(`{"type":"thinking","thinking":"","signature":""}`, `{"type":"thinking_delta","thinking":"hm"}`, `{"type":"signature_delta","signature":"c2ln"}`), `{"type":"thinking","thinking":"hm","signature":"c2ln"}`, ""},
		{"no input", block(`{"type":"tool_use","id":"t","name":"n"}`), `{"type":"tool_use","id":"t","name":"n","input":{}}`, ""},
		{"empty input", block(`{"type":"tool_use","id":"t","name":"n","input":{}}`, `{"type":"input_json_delta","partial_json":""}`), `{"type":"tool_use","id":"t","name":"n","input":{}}`, ""},
		{"input in one piece", block(`{"type":"tool_use","id":"t","name":"n","input":{"a":1}}`), `{"type":"tool_use","id":"t","name":"n","input":{"a":1}}`, ""},
		{"input on lines", block(`{"type":"tool_use","id":"t","name":"n","input":{}}`, `{"type":"input_json_delta","partial_json":"{\n \"a\": \"x\\ny\"\n}"}`), `{"type":"tool_use","id":"t","name":"n","input":{"a":"x\ny"}}`, ""},
		{"cut input", block(`{"type":"tool_use","id":"t","name":"n","input":{}}`, `{"type":"input_json_delta","partial_json":"{\"a\":"}`), `{"type":"tool_use","id":"t","name":"n","input":{}}`, `{"a":`},
		{"list as input", block(`{"type":"tool_use","id":"t","name":"n","input":{}}`, `{"type":"input_json_delta","partial_json":"[1]"}`), `{"type":"tool_use","id":"t","name":"n","input":{}}`, `[1]`},
		{"unknown delta", block(`{"type":"new","a":1}`, `{"type":"new_delta","b":2}`), `{"type":"new","a":1}`, ""},
		{"no stop event", strings.TrimSuffix(block(`{"type":"text","text":""}`, `{"type":"text_delta","text":"x"}`), event(`{"type":"content_block_stop","index":0}`)), `{"type":"text","text":"x"}`, ""},
	} {
		stream := event(start) + c.stream + event(stop, end)
		for _, n := range []int{1, 7, 1 << 20} {
			out, err := parts(stream, n)
			if err != nil {
				t.Errorf("%s, chunks of %d: %v", c.name, n, err)
				continue
			}
			for _, p := range out {
				if d, ok := p.(provider.BlockDone); ok && (string(d.Block.JSON()) != c.want || d.Malformed != c.malformed) {
					t.Errorf("%s, chunks of %d: %s, malformed %q", c.name, n, d.Block.JSON(), d.Malformed)
				}
			}
			if f, ok := out[len(out)-2].(provider.Finished); !ok || f.Usage.InputTokens != 3 || f.Usage.OutputTokens != 5 {
				t.Errorf("%s: %+v", c.name, out[len(out)-2])
			}
		}
	}
}

func TestLineEndsAndFraming(t *testing.T) {
	want, err := parts(event(start, stop, end), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]string{
		"CRLF":            strings.ReplaceAll(event(start, stop, end), "\n", "\r\n"),
		"byte order mark": "\xef\xbb\xbf" + event(start, stop, end),
		"no space":        strings.ReplaceAll(event(start, stop, end), "data: ", "data:"),
		"event names":     "event: x\nid: 1\n" + event(start) + ": ping\n\n" + event(stop, end),
		"data on lines":   "data: {\"type\":\ndata: \"ping\"}\n\n" + event(start, stop, end),
		"done mark":       event(start, stop, end, "[DONE]"),
		"no last line":    strings.TrimRight(event(start, stop, end), "\n"),
	} {
		for _, n := range []int{1, 2, 5, 1 << 20} {
			if got, err := parts(s, n); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s, chunks of %d: %v %+v", name, n, err, got)
			}
		}
	}
}

func TestNonsenseIsAProtocolError(t *testing.T) {
	for name, s := range map[string]string{
		"no JSON":            event(`{`),
		"block before start": block(`{"type":"text","text":""}`),
		"delta of no block":  event(start, `{"type":"content_block_delta","index":4,"delta":{}}`),
		"stop of no block":   event(start, `{"type":"content_block_stop","index":4}`),
		"block twice":        event(start, `{"type":"content_block_start","index":0,"content_block":{"type":"a"}}`, `{"type":"content_block_start","index":0,"content_block":{"type":"a"}}`),
		"block without type": event(start, `{"type":"content_block_start","index":0,"content_block":{}}`),
		"end before start":   event(end),
	} {
		_, err := parts(s, 1<<20)
		var e *provider.Error
		if !errors.As(err, &e) || e.Class != provider.Protocol {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnEndlessLineEnds(t *testing.T) {
	s := messages.NewSplitter(func([]byte) error { return nil })
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	for range 65 {
		if err := s.Feed(chunk); err != nil {
			return
		}
	}
	t.Error("65 MB without an end of line were taken")
}

func TestClassifyReadsFiguresAndWishes(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	apiError := func(m string) []byte {
		b, err := json.Marshal(map[string]any{"type": "error", "error": map[string]string{"type": "invalid_request_error", "message": m}, "request_id": "req_b"})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, c := range []struct {
		message string
		want    provider.Class
		max     int
	}{
		{"input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again", provider.OutputTooLarge, 11760},
		{"input length and `max_tokens` exceed context limit: 201000 + 21333 > 200000, decrease", provider.TooLong, 0},
		{"max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens for m", provider.OutputTooLarge, 64000},
		{"prompt is too long: 215000 tokens > 200000 maximum", provider.TooLong, 0},
		{"messages.1.content.0.image.source.base64: image exceeds 5 MB maximum: 6 bytes > 5 bytes", provider.BadImage, 0},
		{"Could not process image", provider.BadImage, 0},
		{"Your credit balance is too low to access the API", provider.Billing, 0},
		{"max_tokens: must be greater than or equal to 1", provider.Invalid, 0},
		{"messages: first message must use the \"user\" role", provider.Invalid, 0},
	} {
		e := messages.Classify(400, http.Header{}, apiError(c.message), now)
		if named := e.Tokens > 200_000 && e.Window == 200_000; named != (c.want == provider.TooLong) {
			t.Errorf("%s: %d of %d", c.message, e.Tokens, e.Window)
		}
		if e.Class != c.want || e.MaxTokens != c.max || e.RequestID != "req_b" {
			t.Errorf("%s: %s, %d", c.message, e.Class, e.MaxTokens)
		}
	}
	for header, want := range map[string]time.Duration{
		"3": 3 * time.Second, "0.5": 500 * time.Millisecond, "-1": 0, "soon": 0, "NaN": 0,
		"Mon, 30 Nov 2026 12:01:00 GMT": time.Minute, "Mon, 30 Nov 2026 11:00:00 GMT": 0,
	} {
		if e := messages.Classify(429, http.Header{"Retry-After": {header}}, nil, now); e.RetryAfter != want || e.Message == "" {
			t.Errorf("%q: %s %q", header, e.RetryAfter, e.Message)
		}
	}
	for body, want := range map[string]string{
		`{"error":"plain"}`: "plain", `{"message":"aws form"}`: "aws form", `{"detail":"python form"}`: "python form",
		"<html>\n<b>Bad   Gateway</b>": "Bad Gateway <html> <b>Bad Gateway</b>",
	} {
		if e := messages.Classify(502, http.Header{}, []byte(body), now); e.Message != want || e.Class != provider.Server {
			t.Errorf("%s: %q", body, e.Message)
		}
	}
}

func FuzzStream(f *testing.F) {
	f.Add([]byte(event(start)+block(`{"type":"text","text":""}`, `{"type":"text_delta","text":"\ud83d"}`)+event(stop, end)), 3)
	f.Add([]byte(event(start)+block(`{"type":"tool_use","input":{}}`, `{"type":"input_json_delta","partial_json":"{\n}"}`)+event(stop, end)), 1)
	f.Add([]byte("data: x\r\n\r\ndata\n:\n\n"), 2)
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		// However a stream is cut into chunks, the same comes out, and every block is one line of valid JSON.
		if n < 1 || n > len(data) {
			n = 1
		}
		a, errA := parts(string(data), n)
		b, errB := parts(string(data), len(data)+1)
		if !reflect.DeepEqual(a, b) || fmt.Sprint(errA) != fmt.Sprint(errB) {
			t.Fatalf("chunks of %d: %+v %v\nat once: %+v %v", n, a, errA, b, errB)
		}
		for _, p := range b {
			d, ok := p.(provider.BlockDone)
			if ok && (!json.Valid(d.Block.JSON()) || bytes.ContainsAny(d.Block.JSON(), "\n\r")) {
				t.Fatalf("block %q", d.Block.JSON())
			}
		}
	})
}

func FuzzWhole(f *testing.F) {
	f.Add([]byte(`{"type":"message","content":[{"type":"text","text":"x"}],"stop_reason":"end_turn"}`))
	f.Add([]byte(`{"type":"error","error":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		n := 0
		d := messages.NewDecoder(messages.Config{Events: true, Yield: func(provider.Part) bool { n++; return n < 4 }})
		if err := d.Whole(data); err == nil && n == 0 {
			t.Fatal("neither parts nor an error")
		}
	})
}
