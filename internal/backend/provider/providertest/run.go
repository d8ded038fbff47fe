// Package providertest holds the suite that every provider passes.
package providertest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/provider/script"
	"github.com/hew-agent/hew/internal/msg"
)

// Patience is how long the provider under test may wait: for an answer to
// begin, and between two pieces of it. Most tests are given much, so that a
// busy machine fails none; those of silence are given little.
type Patience struct{ Answer, Silence time.Duration }

// Make returns a provider that is answered by m, directly or over a wire.
type Make func(t *testing.T, m *script.Model, p Patience) provider.Provider

// Run runs the suite.
func Run(t *testing.T, newProvider Make) {
	run(t, newProvider, append(native(), check{"observer", observer}, check{"typed errors", typedErrors}, check{"counting", counting}))
}

// RunCloud runs the suite for the Messages API behind another door: the body
// differs by what the path says, and errors come in the words of the cloud.
func RunCloud(t *testing.T, newProvider Make) {
	run(t, newProvider, append(native(), check{"observer", foreignObserver}, check{"statuses", statuses}))
}

// check is one part of the suite.
type check struct {
	name string
	test func(*testing.T, Make)
}

func run(t *testing.T, newProvider Make, checks []check) {
	t.Parallel() // most of it waits
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) { c.test(t, newProvider) })
	}
}

// native are the checks of everything that speaks the Messages API.
func native() []check {
	return []check{
		{"streaming", streaming},
		{"raw events", rawEvents},
		{"tool input", toolInput},
		{"malformed input", malformedInput},
		{"thinking comes back", thinking},
		{"unknown blocks and members", unknown},
		{"images", images},
		{"whole replies", whole},
		{"letters of many bytes", letters},
		{"stop reasons", stopReasons},
		{"labels", labels},
		{"concurrency", concurrency},
		{"sizes", sizes},
		{"error event", errorEvent},
		{"cut streams", cuts},
		{"cut at every byte", everyByte},
		{"silent streams", stalls},
		{"answers of no API", garbage},
		{"drip", drip},
		{"cancellation", cancellation},
		{"leaving early", leaving},
		{"backpressure", backpressure},
	}
}

// play makes a patient provider for a scenario in JSON.
func play(t *testing.T, newProvider Make, scenario string) (provider.Provider, *script.Model) {
	t.Helper()
	return playWith(t, newProvider, Patience{time.Minute, time.Minute}, scenario)
}

func playWith(t *testing.T, newProvider Make, p Patience, scenario string) (provider.Provider, *script.Model) {
	t.Helper()
	s, err := script.Parse([]byte(scenario))
	if err != nil {
		t.Fatalf("scenario: %v", err)
	}
	m := script.New(s, script.Config{AnswerTimeout: p.Answer, StallTimeout: p.Silence, Keep: true})
	return newProvider(t, m, p), m
}

func request(messages ...*msg.Message) *provider.Request {
	if len(messages) == 0 {
		messages = []*msg.Message{msg.User("", time.Time{}, "hi")}
	}
	return &provider.Request{
		Model: "test-model", MaxTokens: 4096, Session: "s", Messages: messages,
		System: []provider.SystemBlock{{Text: "system"}},
		Tools:  []provider.ToolDef{{Name: "T", JSON: json.RawMessage(`{"name":"T","description":"d","input_schema":{"type":"object"}}`)}},
		Mark:   "5m", MarkAt: []int{len(messages) - 1},
	}
}

// reply is what came of one request.
type reply struct {
	kinds   []string
	started provider.Started
	deltas  map[provider.DeltaKind]string
	done    []provider.BlockDone
	end     provider.Finished
	ended   bool
	raws    []json.RawMessage
	err     error
}

func ask(ctx context.Context, p provider.Provider, r *provider.Request) reply {
	out := reply{deltas: map[provider.DeltaKind]string{}}
	for part, err := range p.Stream(ctx, r) {
		if err != nil {
			out.err = err
			continue // an error is the last thing; more would show in kinds
		}
		out.take(part)
	}
	return out
}

func (r *reply) take(part provider.Part) {
	r.kinds = append(r.kinds, strings.TrimPrefix(fmt.Sprintf("%T", part), "provider."))
	var raw json.RawMessage
	switch p := part.(type) {
	case provider.Started:
		r.started, raw = p, p.Raw
	case provider.BlockStarted:
		raw = p.Raw
	case provider.BlockDelta:
		r.deltas[p.Kind] += p.Text
		raw = p.Raw
	case provider.BlockDone:
		r.done = append(r.done, p)
		raw = p.Raw
	case provider.Finished:
		r.end, raw = p, p.Raw
	case provider.Ended:
		r.ended, raw = true, p.Raw
	}
	if raw != nil {
		r.raws = append(r.raws, raw)
	}
}

func (r reply) blocks() string {
	var out []string
	for _, d := range r.done {
		out = append(out, string(d.Block.JSON()))
	}
	return strings.Join(out, "\n")
}

// sound fails the test unless the reply is whole.
func (r reply) sound(t *testing.T) reply {
	t.Helper()
	if r.err != nil {
		t.Fatalf("error: %v", r.err)
	}
	if !r.ended || r.kinds[0] != "Started" || r.kinds[len(r.kinds)-1] != "Ended" {
		t.Fatalf("parts: %v", r.kinds)
	}
	return r
}

func (r reply) message() *msg.Message {
	m := &msg.Message{Role: msg.RoleAssistant}
	for _, d := range r.done {
		m.Blocks = append(m.Blocks, d.Block)
	}
	return m
}

func streaming(t *testing.T, newProvider Make) {
	p, m := play(t, newProvider, `{"chunk":5,"steps":[{"reply":[{"text":"Hello <big> world"}],
	 "usage":{"input_tokens":11,"output_tokens":7,"cache_read_input_tokens":3}}]}`)
	r := ask(t.Context(), p, request()).sound(t)
	if want := "Started BlockStarted BlockDelta BlockDelta BlockDelta BlockDelta BlockDone Finished Ended"; strings.Join(r.kinds, " ") != want {
		t.Errorf("parts: %v", r.kinds)
	}
	if got := r.deltas[provider.DeltaText]; got != "Hello <big> world" {
		t.Errorf("deltas: %q", got)
	}
	if got := r.blocks(); got != `{"type":"text","text":"Hello <big> world"}` {
		t.Errorf("block: %s", got)
	}
	if r.end.StopReason != provider.StopEndTurn || r.end.Usage.InputTokens != 11 || r.end.Usage.OutputTokens != 7 || r.end.Usage.CacheReadInputTokens != 3 {
		t.Errorf("end: %+v", r.end)
	}
	if r.started.MessageID == "" || r.started.RequestID == "" || r.started.Model != "test-model" {
		t.Errorf("start: %+v", r.started)
	}
	if len(r.raws) != 0 {
		t.Error("raw events came unasked")
	}
	if err := m.Done(); err != nil {
		t.Error(err)
	}
}

func rawEvents(t *testing.T, newProvider Make) {
	p, _ := play(t, newProvider, `{"steps":[{"reply":[{"text":"x"},{"tool":"T","input":{"a":1}}]}]}`)
	q := request()
	q.Events = true
	r := ask(t.Context(), p, q).sound(t)
	if len(r.raws) != len(r.kinds) {
		t.Fatalf("%d raw events for %d parts", len(r.raws), len(r.kinds))
	}
	var kinds []string
	for _, raw := range r.raws {
		var e struct{ Type string }
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		kinds = append(kinds, e.Type)
	}
	if kinds[0] != "message_start" || kinds[len(kinds)-1] != "message_stop" {
		t.Errorf("events: %v", kinds)
	}
}

func toolInput(t *testing.T, newProvider Make) {
	p, _ := play(t, newProvider, `{"chunk":1,"steps":[{"reply":[{"tool":"T","id":"t1","raw":"{\"b\": 1.0, \"a\": 12345678901234567890, \"s\": \"é\\\"\\n<\"}"}]}]}`)
	r := ask(t.Context(), p, request()).sound(t)
	want := `{"b": 1.0, "a": 12345678901234567890, "s": "é\"\n<"}`
	u, ok := r.done[0].Block.(*msg.ToolUse)
	if !ok || string(u.Input) != want || u.ID != "t1" || u.Name != "T" {
		t.Fatalf("got %s", r.blocks())
	}
	if r.deltas[provider.DeltaInput] != want || r.done[0].Malformed != "" || r.end.StopReason != provider.StopToolUse {
		t.Errorf("deltas %q, malformed %q, stop %q", r.deltas[provider.DeltaInput], r.done[0].Malformed, r.end.StopReason)
	}
}

func malformedInput(t *testing.T, newProvider Make) {
	for _, bad := range []string{`{"path": "x`, `[1]`, `nonsense`} {
		quoted, err := json.Marshal(bad)
		if err != nil {
			t.Fatal(err)
		}
		p, _ := play(t, newProvider, `{"steps":[{"reply":[{"tool":"T","raw":`+string(quoted)+`}]}]}`)
		r := ask(t.Context(), p, request()).sound(t)
		u, ok := r.done[0].Block.(*msg.ToolUse)
		if !ok || string(u.Input) != "{}" || r.done[0].Malformed != bad {
			t.Errorf("%s: block %s, malformed %q", bad, r.blocks(), r.done[0].Malformed)
		}
	}
}

func thinking(t *testing.T, newProvider Make) {
	p, m := play(t, newProvider, `{"chunk":3,"steps":[
	 {"reply":[{"thinking":"let me see"},{"redacted":"QUJD"},{"thinking":"","signature":"c2lnbmVk"},{"text":"done"}]},
	 {"reply":[{"text":"ok"}]}]}`)
	first := msg.User("", time.Time{}, "hi")
	r := ask(t.Context(), p, request(first)).sound(t)
	th, ok := r.done[0].Block.(*msg.Thinking)
	if !ok || th.Text != "let me see" || th.Signature == "" || r.deltas[provider.DeltaSignature] != th.Signature+"c2lnbmVk" {
		t.Fatalf("got %s", r.blocks())
	}
	if red, ok := r.done[1].Block.(*msg.Thinking); !ok || red.Data != "QUJD" {
		t.Errorf("got %s", r.blocks())
	}
	ask(t.Context(), p, request(first, r.message(), msg.User("", time.Time{}, "more"))).sound(t)
	if err := m.Done(); err != nil {
		t.Error(err)
	}
}

func unknown(t *testing.T, newProvider Make) {
	p, m := play(t, newProvider, `{"steps":[{"reply":[{"block":{"type":"mystery","q":{"n":1.0,"big":12345678901234567890}}},
	 {"block":{"type":"text","text":"x","extra":[1,null]}},{"block":{"type":"server_tool_use","id":"s1","name":"web_search","input":{"q":"a"}}}]},
	 {"reply":[{"text":"ok"}]}]}`)
	first := msg.User("", time.Time{}, "hi")
	r := ask(t.Context(), p, request(first)).sound(t)
	want := `{"type":"mystery","q":{"n":1.0,"big":12345678901234567890}}` + "\n" + `{"type":"text","text":"x","extra":[1,null]}` + "\n" +
		`{"type":"server_tool_use","id":"s1","name":"web_search","input":{"q":"a"}}`
	if got := r.blocks(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	ask(t.Context(), p, request(first, r.message(), msg.User("", time.Time{}, "more"))).sound(t)
	reqs := m.Requests()
	if !strings.Contains(string(reqs[len(reqs)-1].Body), strings.ReplaceAll(want, "\n", ",")) {
		t.Errorf("the blocks went back changed: %s", reqs[len(reqs)-1].Body)
	}
}

// dot is a PNG of one pixel.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func images(t *testing.T, newProvider Make) {
	p, _ := play(t, newProvider, `{"steps":[{"reply":[{"text":"seen"}]}]}`)
	withImage := func(kind string) *msg.Message {
		return &msg.Message{Role: msg.RoleUser, Blocks: []msg.Block{msg.NewImage(kind, dot), msg.NewText("what is this?")}}
	}
	if r := ask(t.Context(), p, request(withImage("image/gif"))); class(r.err) != provider.BadImage {
		t.Errorf("a wrong type: %v", r.err)
	}
	ask(t.Context(), p, request(withImage("image/png"))).sound(t)
}

func whole(t *testing.T, newProvider Make) {
	const s = `{"steps":[{"loop":true,"reply":[{"thinking":"hm","signature":"c2ln"},{"text":"a\nb"},{"tool":"T","id":"t1","input":{"x":[1,2]}}]}]}`
	p, _ := play(t, newProvider, s)
	q := request()
	streamed := ask(t.Context(), p, q).sound(t)
	q.Whole, q.Events = true, true
	got := ask(t.Context(), p, q).sound(t)
	if got.blocks() != streamed.blocks() || got.end.StopReason != streamed.end.StopReason {
		t.Errorf("whole\n%s\nstreamed\n%s", got.blocks(), streamed.blocks())
	}
	if got.started.MessageID == "" || len(got.raws) != len(got.kinds) {
		t.Errorf("start %+v, %d raw events for %d parts", got.started, len(got.raws), len(got.kinds))
	}
}

func letters(t *testing.T, newProvider Make) {
	const text = "naïve 日本語 👩‍👩‍👧 \u2028 \\ \" \t end"
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := play(t, newProvider, `{"chunk":1,"steps":[{"reply":[{"text":`+string(quoted)+`}]}]}`)
	r := ask(t.Context(), p, request()).sound(t)
	if b, ok := r.done[0].Block.(*msg.Text); !ok || b.Text != text || r.deltas[provider.DeltaText] != text {
		t.Errorf("got %s", r.blocks())
	}
}

func stopReasons(t *testing.T, newProvider Make) {
	for _, reason := range []string{provider.StopMaxTokens, provider.StopPause, provider.StopRefusal, provider.StopSequence, "reason_of_tomorrow"} {
		p, _ := play(t, newProvider, `{"steps":[{"stop_reason":"`+reason+`","reply":[{"text":"x"}]}]}`)
		if r := ask(t.Context(), p, request()).sound(t); r.end.StopReason != reason {
			t.Errorf("got %q, want %q", r.end.StopReason, reason)
		}
	}
}

func labels(t *testing.T, newProvider Make) {
	p, m := play(t, newProvider, `{"steps":[{"loop":true,"reply":[{"text":"turn"}]}],"side":{"title":[{"reply":[{"text":"side"}]}]}}`)
	ask(t.Context(), p, request()).sound(t)
	q := request()
	q.Side = "title"
	if r := ask(t.Context(), p, q).sound(t); r.deltas[provider.DeltaText] != "side" {
		t.Errorf("got %q", r.deltas[provider.DeltaText])
	}
	q = request(msg.User("", time.Time{}, "something else"))
	if r := ask(t.Context(), p, q); class(r.err) != provider.Invalid {
		t.Errorf("a changed prefix: %v", r.err)
	}
	q.Break = "compaction"
	ask(t.Context(), p, q).sound(t)
	if n := len(m.Violations()); n != 1 {
		t.Errorf("%d violations", n)
	}
}

func observer(t *testing.T, newProvider Make) {
	p, m := play(t, newProvider, `{"steps":[{"reply":[{"text":"x"}]}]}`)
	var sizes []int
	ctx := provider.WithObserver(t.Context(), provider.Observer{Sent: func(n int) { sizes = append(sizes, n) }})
	ask(ctx, p, request()).sound(t)
	if len(sizes) != 1 || sizes[0] != len(m.Requests()[0].Body) {
		t.Errorf("sizes %v, body %d", sizes, len(m.Requests()[0].Body))
	}
}

func counting(t *testing.T, newProvider Make) {
	p, m := play(t, newProvider, `{"steps":[]}`)
	c, ok := p.(provider.Counter)
	if !ok {
		return // counting is optional
	}
	n, err := c.CountTokens(t.Context(), request())
	if err != nil || n <= 0 {
		t.Errorf("%d, %v", n, err)
	}
	more, err := c.CountTokens(t.Context(), request(msg.User("", time.Time{}, strings.Repeat("word ", 500))))
	if err != nil || more <= n {
		t.Errorf("%d then %d, %v", n, more, err)
	}
	if err := m.Done(); err != nil {
		t.Error(err)
	}
}

func concurrency(t *testing.T, newProvider Make) {
	p, m := play(t, newProvider, `{"steps":[{"loop":true,"reply":[{"text":"word ","times":50},{"tool":"T","input":{}}]}]}`)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			q := request()
			q.Session = fmt.Sprint(i)
			for range 5 {
				if r := ask(t.Context(), p, q); r.err != nil || len(r.done) != 2 {
					t.Errorf("%v, %d blocks", r.err, len(r.done))
				}
			}
		})
	}
	wg.Wait()
	if err := m.Done(); err != nil {
		t.Error(err)
	}
}
