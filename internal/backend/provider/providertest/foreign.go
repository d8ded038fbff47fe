package providertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/msg"
)

// Abilities says what a wire format cannot carry, so that the suite asks for
// what it can.
type Abilities struct {
	// Signs tells that reasoning comes back to its model.
	Signs bool
	// WholeInput tells that a call's input comes in one piece and is always JSON.
	WholeInput bool
}

// RunForeign runs the suite for wire formats other than that of the Messages API.
func RunForeign(t *testing.T, newProvider Make, a Abilities) {
	checks := []check{
		{"streaming", foreignStream},
		{"raw events", rawEvents},
		{"parallel calls", func(t *testing.T, m Make) { parallel(t, m, a) }},
		{"thinking", func(t *testing.T, m Make) { foreignThinking(t, m, a) }},
		{"images", foreignImages},
		{"a conversation", conversation},
		{"whole replies", foreignWhole},
		{"letters of many bytes", letters},
		{"labels", labels},
		{"observer", foreignObserver},
		{"concurrency", concurrency},
		{"statuses", statuses},
		{"error event", foreignErrorEvent},
		{"cut streams", foreignCuts},
		{"silent streams", foreignStalls},
		{"answers of no API", foreignGarbage},
		{"drip", drip},
		{"cancellation", cancellation},
		{"leaving early", leaving},
		{"backpressure", backpressure},
	}
	if !a.WholeInput {
		checks = append(checks, check{"tool input", toolInput}, check{"malformed input", malformedInput})
	}
	run(t, newProvider, checks)
}

func foreignStream(t *testing.T, newProvider Make) {
	p, m := play(t, newProvider, `{"chunk":5,"steps":[{"reply":[{"text":"Hello <big> world"}],
	 "usage":{"input_tokens":11,"output_tokens":7,"cache_read_input_tokens":3}}]}`)
	r := ask(t.Context(), p, request()).sound(t)
	if got := r.deltas[provider.DeltaText]; got != "Hello <big> world" {
		t.Errorf("deltas: %q", got)
	}
	if got := r.blocks(); got != `{"type":"text","text":"Hello <big> world"}` {
		t.Errorf("block: %s", got)
	}
	u := r.end.Usage
	if r.end.StopReason != provider.StopEndTurn || u.InputTokens != 11 || u.OutputTokens != 7 || u.CacheReadInputTokens != 3 {
		t.Errorf("end: %+v", r.end)
	}
	if r.started.MessageID == "" || r.started.Model != "test-model" || len(r.raws) != 0 {
		t.Errorf("start: %+v", r.started)
	}
	if err := m.Done(); err != nil {
		t.Error(err)
	}
	for reason, want := range map[string]string{provider.StopMaxTokens: provider.StopMaxTokens, provider.StopRefusal: provider.StopRefusal} {
		p, _ := play(t, newProvider, `{"steps":[{"stop_reason":"`+reason+`","reply":[{"text":"x"}]}]}`)
		if r := ask(t.Context(), p, request()).sound(t); r.end.StopReason != want {
			t.Errorf("got %q, want %q", r.end.StopReason, want)
		}
	}
}

func parallel(t *testing.T, newProvider Make, a Abilities) {
	p, _ := play(t, newProvider, `{"chunk":3,"steps":[{"reply":[{"text":"now"},{"tool":"T","id":"t1","input":{"a":1}},{"tool":"T","id":"t2","input":{"b":"two words"}}]}]}`)
	r := ask(t.Context(), p, request()).sound(t)
	want := `{"type":"text","text":"now"}` + "\n" + `{"type":"tool_use","id":"t1","name":"T","input":{"a":1}}` + "\n" +
		`{"type":"tool_use","id":"t2","name":"T","input":{"b":"two words"}}`
	if got := r.blocks(); got != want || r.end.StopReason != provider.StopToolUse {
		t.Errorf("%s, stop %s", got, r.end.StopReason)
	}
	p, _ = play(t, newProvider, `{"steps":[{"reply":[{"tool":"T","id":"t1","raw":""}]}]}`)
	if r := ask(t.Context(), p, request()).sound(t); !a.WholeInput && r.blocks() != `{"type":"tool_use","id":"t1","name":"T","input":{}}` {
		t.Errorf("a call without input: %s", r.blocks())
	}
}

// foreignThinking: reasoning is shown; it goes back only to the API that can
// take it, and nothing that another model signed ever does.
func foreignThinking(t *testing.T, newProvider Make, a Abilities) {
	p, m := play(t, newProvider, `{"chunk":3,"steps":[{"reply":[{"thinking":"let me see"},{"text":"done"}]},{"reply":[{"text":"ok"}]}]}`)
	first := msg.User("", time.Time{}, "hi")
	r := ask(t.Context(), p, request(first)).sound(t)
	if r.deltas[provider.DeltaThinking] != "let me see" {
		t.Fatalf("got %s", r.blocks())
	}
	th, ok := r.done[0].Block.(*msg.Thinking)
	if !ok || a.Signs != (th.Signature != "" || hasSigned(r.done)) {
		t.Errorf("got %s", r.blocks())
	}
	foreign, err := msg.DecodeBlock(json.RawMessage(`{"type":"thinking","thinking":"secret of another","signature":"c2lnbmVkLWJ5LWFub3RoZXI="}`))
	if err != nil {
		t.Fatal(err)
	}
	reply := r.message()
	reply.Blocks = append([]msg.Block{foreign}, reply.Blocks...)
	q := request(first, reply, msg.User("", time.Time{}, "more"))
	q.Break = "model"
	ask(t.Context(), p, q).sound(t)
	reqs := m.Requests()
	if body := string(reqs[len(reqs)-1].Body); strings.Contains(body, "secret of another") || strings.Contains(body, "c2lnbmVkLWJ5") {
		t.Errorf("another model's reasoning was sent: %s", body)
	}
	if err := m.Done(); err != nil {
		t.Error(err)
	}
}

func hasSigned(done []provider.BlockDone) bool {
	for _, d := range done {
		if th, ok := d.Block.(*msg.Thinking); ok && th.Signature != "" {
			return true
		}
	}
	return false
}

func foreignImages(t *testing.T, newProvider Make) {
	p, _ := play(t, newProvider, `{"steps":[{"reply":[{"text":"seen"}]}]}`)
	ask(t.Context(), p, request(&msg.Message{Role: msg.RoleUser, Blocks: []msg.Block{msg.NewImage("image/png", dot), msg.NewText("what is this?")}})).sound(t)
}

// conversation: calls, results, failures and pictures in results form a history
// that the other side takes, and each request extends the one before.
func conversation(t *testing.T, newProvider Make) {
	p, m := play(t, newProvider, `{"steps":[{"reply":[{"text":"look"},{"tool":"T","id":"t1","input":{"a":1}},{"tool":"T","id":"t2","input":{}}]},
	 {"reply":[{"tool":"T","id":"t3","input":{}}]},{"reply":[{"text":"ok"}]}]}`)
	history := []*msg.Message{msg.User("", time.Time{}, "hi")}
	results := [][]msg.Block{
		{
			msg.NewToolResult("t1", []msg.Block{msg.NewText("fine"), msg.NewText("twice")}, msg.OK),
			msg.NewToolResult("t2", []msg.Block{msg.NewText("broken")}, msg.Failed), msg.NewText("a reminder"),
		},
		{msg.NewToolResult("t3", []msg.Block{msg.NewText("a picture"), msg.NewImage("image/png", dot)}, msg.OK)},
	}
	for i := range 3 {
		r := ask(t.Context(), p, request(history...)).sound(t)
		if i < len(results) {
			history = append(history, r.message(), &msg.Message{Role: msg.RoleUser, Blocks: results[i]})
		}
	}
	if err := m.Done(); err != nil {
		t.Error(err)
	}
}

func foreignWhole(t *testing.T, newProvider Make) {
	p, _ := play(t, newProvider, `{"steps":[{"loop":true,"reply":[{"text":"a\nb"},{"tool":"T","id":"t1","input":{"x":[1,2]}}]}]}`)
	q := request()
	streamed := ask(t.Context(), p, q).sound(t)
	q.Whole = true
	got := ask(t.Context(), p, q).sound(t)
	if got.blocks() != streamed.blocks() || got.end.StopReason != streamed.end.StopReason || got.end.Usage.OutputTokens == 0 {
		t.Errorf("whole\n%s\nstreamed\n%s", got.blocks(), streamed.blocks())
	}
}

func statuses(t *testing.T, newProvider Make) {
	for _, c := range []struct {
		fault string
		want  provider.Error
	}{
		{`"status":429,"message":"slow down","headers":{"retry-after":"7"}`, provider.Error{Class: provider.RateLimited, Status: 429, RetryAfter: 7 * time.Second}},
		{`"status":500,"message":"oops"`, provider.Error{Class: provider.Server, Status: 500}},
		{`"status":408,"message":"late"`, provider.Error{Class: provider.Timeout, Status: 408}},
		{`"status":401,"message":"invalid key"`, provider.Error{Class: provider.Auth, Status: 401}},
		{`"status":402,"message":"pay"`, provider.Error{Class: provider.Billing, Status: 402}},
		{`"status":403,"message":"no"`, provider.Error{Class: provider.Forbidden, Status: 403}},
		{`"status":404,"message":"no such page"`, provider.Error{Class: provider.NotFound, Status: 404}},
		{`"status":413,"message":"too big"`, provider.Error{Class: provider.BodyTooLarge, Status: 413}},
		{`"status":400,"message":"prompt is too long: 210000 tokens > 200000 maximum"`, provider.Error{Class: provider.TooLong, Status: 400}},
		{`"status":400,"message":"something else"`, provider.Error{Class: provider.Invalid, Status: 400}},
		{`"status":302,"message":"moved","headers":{"location":"http://elsewhere.example/"}`, provider.Error{Class: provider.Protocol, Status: 302}},
	} {
		p, _ := play(t, newProvider, `{"steps":[{"fault":{"do":"status",`+c.fault+`}}]}`)
		r := ask(t.Context(), p, request())
		var e *provider.Error
		if !errors.As(r.err, &e) || e.Class != c.want.Class || e.Status != c.want.Status || e.RetryAfter != c.want.RetryAfter || len(r.kinds) != 0 {
			t.Errorf("%s:\n got %+v\nwant %+v", c.fault, r.err, c.want)
		}
	}
}

func foreignErrorEvent(t *testing.T, newProvider Make) {
	p, _ := play(t, newProvider, `{"steps":[{`+twoBlocks+`,"fault":{"do":"error","at":"in:2","type":"overloaded_error","message":"Overloaded"}}]}`)
	r := ask(t.Context(), p, request())
	var e *provider.Error
	if !errors.As(r.err, &e) || !e.Class.Retryable() || !strings.Contains(e.Message, "Overloaded") || r.ended {
		t.Errorf("error: %+v", r.err)
	}
}

func foreignCuts(t *testing.T, newProvider Make) {
	for at, want := range map[string]provider.Class{"headers": provider.Connection, "start": provider.Truncated, "in:1": provider.Truncated, "block:1": provider.Truncated, "in:2": provider.Truncated} {
		p, _ := play(t, newProvider, fmt.Sprintf(`{"steps":[{%s,"fault":{"do":"cut","at":%q}}]}`, twoBlocks, at))
		if r := ask(t.Context(), p, request()); class(r.err) != want || r.ended {
			t.Errorf("cut at %s: %v after %v", at, r.err, r.kinds)
		}
	}
}

func foreignStalls(t *testing.T, newProvider Make) {
	for at, want := range map[string]provider.Class{"headers": provider.Timeout, "start": provider.Stalled, "in:2": provider.Stalled} {
		patience := Patience{time.Minute, short}
		if at == "headers" {
			patience = Patience{short, time.Minute}
		}
		p, _ := playWith(t, newProvider, patience, fmt.Sprintf(`{"steps":[{%s,"fault":{"do":"stall","at":%q}}]}`, twoBlocks, at))
		if r := ask(t.Context(), p, request()); class(r.err) != want {
			t.Errorf("stall at %s: %v after %v", at, r.err, r.kinds)
		}
	}
}

func foreignGarbage(t *testing.T, newProvider Make) {
	for _, fault := range []string{
		`"body":"<html><body>Sign in to the network</body></html>","content_type":"text/html"`,
		`"body":"{\"hello\":","content_type":"application/json"`,
		`"body":"{\"type\":\"completion\"}","content_type":"application/json"`,
		`"body":"data: {nope\n\n","content_type":"text/event-stream"`,
		`"body":""`,
	} {
		p, _ := play(t, newProvider, `{"steps":[{`+twoBlocks+`,"fault":{"do":"raw",`+fault+`}}]}`)
		if r := ask(t.Context(), p, request()); class(r.err) != provider.Protocol || r.ended {
			t.Errorf("%s: %v", fault, r.err)
		}
	}
}

func foreignObserver(t *testing.T, newProvider Make) {
	p, _ := play(t, newProvider, `{"steps":[{"reply":[{"text":"x"}]}]}`)
	var sizes []int
	ctx := provider.WithObserver(t.Context(), provider.Observer{Sent: func(n int) { sizes = append(sizes, n) }})
	ask(ctx, p, request()).sound(t)
	if len(sizes) != 1 || sizes[0] < 100 {
		t.Errorf("sizes %v", sizes)
	}
}
