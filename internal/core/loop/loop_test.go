package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// answer is one scripted reply: blocks, pauses before them, and how it ends.
type answer struct {
	blocks []msg.Block
	bad    string // malformed input of the last block
	pause  time.Duration
	stop   string
	usage  msg.Usage
	err    error // instead of the end
	before error // instead of everything
	hang   bool  // after some text, never ends
}

type fake struct {
	answers  []answer
	requests []*provider.Request
}

func (f *fake) Stream(ctx context.Context, r *provider.Request) iter.Seq2[provider.Part, error] {
	return func(yield func(provider.Part, error) bool) {
		a := f.answers[min(len(f.requests), len(f.answers)-1)]
		f.requests = append(f.requests, r)
		if a.before != nil {
			yield(nil, a.before)
			return
		}
		if !yield(provider.Started{MessageID: fmt.Sprintf("msg_%d", len(f.requests)), RequestID: "req", Model: r.Model}, nil) {
			return
		}
		for i, b := range a.blocks {
			d := provider.BlockDone{Index: i, Block: b}
			if i == len(a.blocks)-1 {
				d.Malformed = a.bad
			}
			if !yield(provider.BlockStarted{Index: i}, nil) || !yield(d, nil) {
				return
			}
		}
		if a.hang {
			yield(provider.BlockStarted{Index: len(a.blocks)}, nil)
			yield(provider.BlockDelta{Kind: provider.DeltaText, Text: "half a sen"}, nil)
			<-ctx.Done()
			yield(nil, ctx.Err())
			return
		}
		select {
		case <-time.After(a.pause):
		case <-ctx.Done():
			yield(nil, ctx.Err())
			return
		}
		if a.err != nil {
			yield(nil, a.err)
			return
		}
		stop := a.stop
		if stop == "" {
			stop = provider.StopEndTurn
		}
		if yield(provider.Finished{StopReason: stop, Usage: a.usage}, nil) {
			yield(provider.Ended{}, nil)
		}
	}
}

type openGate struct {
	refuse map[string]*tool.Refusal
	unsafe bool // pretend that a hook rewrote calls to unsafe ones
}

func (g openGate) Admit(_ context.Context, p tool.Planned, emit func(event.Body)) (tool.Admitted, *tool.Refusal) {
	if r := g.refuse[p.Use.Name]; r != nil {
		return tool.Admitted{}, r
	}
	emit(event.Decided{Use: p.Use, Decision: tool.Decision{Behavior: tool.Allow}})
	call := p.Call
	if g.unsafe {
		call = &tool.Func{Line: call.Title(), Do: call.Run}
	}
	return tool.Admitted{Tool: p.Tool, Use: p.Use, Call: call}, nil
}

func (openGate) Review(_ context.Context, _ tool.Admitted, r tool.Result, _ time.Duration, _ func(event.Body)) (tool.Result, tool.Verdict) {
	return r, tool.Verdict{PreventContinuation: strings.HasPrefix(text(r.Content), "halt")}
}

func text(bs []msg.Block) string {
	var s strings.Builder
	for _, b := range bs {
		if t, ok := b.(*msg.Text); ok {
			s.WriteString(t.Text)
		}
	}
	return s.String()
}

type spanned struct {
	name       string
	start, end time.Duration
}

// bench is a loop with two tools: "safe" and "edit" sleep for input.ms and say input.say.
type bench struct {
	*testing.T
	cfg   Config
	model *fake
	spans []spanned
	began time.Time
	steer []*msg.Message
	spent []msg.Usage
	mu    sync.Mutex
}

func newBench(t *testing.T, answers ...answer) *bench {
	b := &bench{T: t, model: &fake{answers: answers}, began: time.Now()}
	n := 0
	b.cfg = Config{
		Provider: b.model,
		Models:   []string{"main"},
		Build: func(h []*msg.Message, a Attempt) *provider.Request {
			return &provider.Request{Model: a.Model, Messages: slices.Clone(h), MaxTokens: a.MaxTokens, Whole: a.Whole, Break: a.Break}
		},
		Tool:   b.tool,
		Env:    func() tool.Env { return tool.Env{} },
		Gate:   openGate{},
		Steer:  b.typed,
		Apply:  func(tool.Effect) {},
		Spent:  func(_ string, u msg.Usage) { b.spent = append(b.spent, u) },
		Now:    time.Now,
		Jitter: func() float64 { return 0 },
		Sleep: func(ctx context.Context, d time.Duration) error {
			select {
			case <-time.After(d):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
		NewID: func() string { n++; return fmt.Sprintf("id%d", n) },
	}
	return b
}

func (b *bench) tool(name string) (tool.Tool, bool) {
	if name != "safe" && name != "edit" && name != "panic" {
		return nil, false
	}
	type in struct {
		MS  int    `json:"ms"`
		Say string `json:"say"`
	}
	spec := tool.Spec{Name: name, Schema: json.RawMessage(`{"type":"object","properties":{"ms":{"type":"integer"},"say":{"type":"string"}},"required":["say"]}`)}
	return tool.Define(spec, func(v in, _ tool.Env) (tool.Call, error) {
		return &tool.Func{
			Facts: tool.Traits{ConcurrencySafe: name == "safe", ReadOnly: name == "safe"}, Line: name + " " + v.Say,
			Do: func(ctx context.Context, emit func(tool.Progress)) tool.Result {
				if name == "panic" {
					panic("boom")
				}
				s := spanned{name: v.Say, start: time.Since(b.began)}
				emit(tool.Progress{Text: "working"})
				select {
				case <-time.After(time.Duration(v.MS) * time.Millisecond):
				case <-ctx.Done():
					return tool.Failure("cancelled")
				}
				s.end = time.Since(b.began)
				emit(tool.Progress{Text: "done"})
				b.mu.Lock()
				b.spans = append(b.spans, s)
				b.mu.Unlock()
				return tool.Text(v.Say)
			},
		}, nil
	}), true
}

func (b *bench) typed([]*msg.Message) []*msg.Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.steer
	b.steer = nil
	return s
}

func (b *bench) run(ctx context.Context) (event.Terminal, []event.Body) {
	var all []event.Body
	for e := range Run(ctx, b.cfg, []*msg.Message{msg.User("u1", time.Now(), "go")}) {
		all = append(all, e.Body)
	}
	done, ok := all[len(all)-1].(event.Done)
	if !ok {
		b.Fatalf("the last event is %T", all[len(all)-1])
	}
	b.checkHistory(done.Terminal.History)
	return done.Terminal, all
}

// checkHistory asserts the pairing rule of the API on a finished history.
func (b *bench) checkHistory(h []*msg.Message) {
	b.Helper()
	for i, m := range h {
		var want, got []string
		for _, u := range m.ToolUses() {
			want = append(want, u.ID)
		}
		if len(want) == 0 {
			continue
		}
		if i+1 < len(h) {
			for _, bl := range h[i+1].Blocks {
				if r, ok := bl.(*msg.ToolResult); ok {
					got = append(got, r.ToolUseID)
				}
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			b.Fatalf("calls and results of message %d: %s", i, d)
		}
	}
}

func use(id, name, input string) *msg.ToolUse {
	return msg.NewToolUse(id, name, json.RawMessage(input))
}

func says(s string) answer { return answer{blocks: []msg.Block{msg.NewText(s)}} }

func calls(blocks ...msg.Block) answer { return answer{blocks: blocks, stop: provider.StopToolUse} }

func results(m *msg.Message) []string {
	var out []string
	for _, b := range m.Blocks {
		switch b := b.(type) {
		case *msg.ToolResult:
			out = append(out, b.ToolUseID+":"+text(b.Content))
		case *msg.Text:
			out = append(out, b.Text)
		case *msg.Thinking, *msg.ToolUse, *msg.Image, *msg.Document, *msg.Opaque:
		}
	}
	return out
}

func kinds(all []event.Body) string {
	var s []string
	for _, b := range all {
		s = append(s, strings.TrimPrefix(fmt.Sprintf("%T", b), "event."))
	}
	return strings.Join(s, " ")
}

func TestTextEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, answer{blocks: []msg.Block{msg.NewText("hi")}, usage: msg.Usage{InputTokens: 3, OutputTokens: 2}})
		end, all := b.run(t.Context())
		if end.Reason != event.Completed || end.Turns != 1 || end.Text != "hi" || end.Usage.OutputTokens != 2 {
			t.Fatalf("%+v", end)
		}
		if got := kinds(all); got != "TurnStarted Message ModelCall Done" {
			t.Fatal(got)
		}
		m := all[1].(event.Message).Msg
		if !m.Reply.Final || m.Reply.Usage.OutputTokens != 2 || m.Reply.StopReason != "end_turn" {
			t.Fatalf("the last block has no final figures: %+v", m.Reply)
		}
	})
}

func TestRunIsLazy(t *testing.T) {
	b := newBench(t, says("hi"))
	_ = Run(t.Context(), b.cfg, []*msg.Message{msg.User("u1", time.Now(), "go")})
	if len(b.model.requests) != 0 {
		t.Fatal("constructing the run made a request")
	}
}

func TestSafeCallsRunTogetherOthersAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, calls(
			use("a", "safe", `{"ms":300,"say":"A"}`), use("b", "safe", `{"ms":100,"say":"B"}`),
			use("c", "edit", `{"ms":200,"say":"C"}`), use("d", "safe", `{"ms":50,"say":"D"}`)), says("end"))
		end, _ := b.run(t.Context())
		if d := cmp.Diff([]string{"a:A", "b:B", "c:C", "d:D"}, results(end.History[2])); d != "" {
			t.Fatal(d)
		}
		at := map[string]spanned{}
		for _, s := range b.spans {
			at[s.name] = s
		}
		if at["A"].start != at["B"].start {
			t.Errorf("A and B did not start together: %+v", b.spans)
		}
		if at["C"].start < at["A"].end || at["D"].start < at["C"].end {
			t.Errorf("C overlaps something: %+v", b.spans)
		}
		if len(b.model.requests) != 2 || len(b.model.requests[1].Messages) != 3 {
			t.Errorf("the second request is not the first plus two messages")
		}
	})
}

func TestEarlyStartWhileTheReplyStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := calls(use("a", "safe", `{"ms":1500,"say":"A"}`))
		slow.pause = 2 * time.Second
		b := newBench(t, slow, says("end"))
		_, all := b.run(t.Context())
		if took := time.Since(b.began); took != 2*time.Second {
			t.Fatalf("took %v", took)
		}
		if got := kinds(all); !strings.HasPrefix(got, "TurnStarted Step ModelCall") && !strings.HasPrefix(got, "TurnStarted Step Message ModelCall") {
			t.Fatal(got)
		}
		shown := slices.IndexFunc(all, func(e event.Body) bool { _, ok := e.(event.Message); return ok })
		ran := slices.IndexFunc(all, func(e event.Body) bool { _, ok := e.(event.ToolStarted); return ok })
		if ran < shown {
			t.Fatal("the call is reported before its block")
		}
	})
}

func TestUnsafeCallWaitsForTheEndOfTheReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cut := answer{blocks: []msg.Block{use("e", "edit", `{"ms":1,"say":"E"}`)}, pause: time.Second, err: &provider.Error{Class: provider.Truncated}}
		b := newBench(t, cut, says("end"))
		end, _ := b.run(t.Context())
		if len(b.spans) != 0 {
			t.Fatal("a call with side effects ran although the reply was cut")
		}
		if got := results(end.History[2]); !strings.Contains(got[0], "not run: the reply was cut") {
			t.Fatal(got)
		}
		if end.Reason != event.Completed {
			t.Fatal(end.Reason)
		}
	})
}

func TestCutReplyKeepsSafeCallThatStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cut := answer{blocks: []msg.Block{use("a", "safe", `{"ms":2000,"say":"A"}`)}, pause: time.Second, err: &provider.Error{Class: provider.Connection}}
		b := newBench(t, cut, says("end"))
		end, _ := b.run(t.Context())
		if d := cmp.Diff([]string{"a:A"}, results(end.History[2])); d != "" {
			t.Fatal(d)
		}
	})
}

func TestFallbackRetractsTheReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := answer{blocks: []msg.Block{msg.NewText("looking"), use("a", "safe", `{"ms":10,"say":"A"}`)}, pause: time.Second, err: &provider.Error{Class: provider.Overloaded, Status: 529}}
		b := newBench(t, over, says("from b"))
		b.cfg.Models = []string{"main", "b"}
		end, all := b.run(t.Context())
		if b.model.requests[1].Model != "b" || b.model.requests[1].Break != "model" || len(b.model.requests[1].Messages) != 1 {
			t.Fatalf("second request: %+v", b.model.requests[1])
		}
		var taken []string
		for _, e := range all {
			switch e := e.(type) {
			case event.Retracted:
				taken = e.IDs
			case event.ToolFinished:
				t.Error("the result of a retracted call is shown")
			}
		}
		if len(taken) != 1 || end.Text != "from b" {
			t.Fatalf("retracted %v, text %q", taken, end.Text)
		}
	})
}

func TestRetriesHonourTheServerAndEndInSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, answer{before: &provider.Error{Class: provider.RateLimited, Status: 429, RetryAfter: time.Second}},
			answer{before: &provider.Error{Class: provider.Overloaded, Status: 529}}, says("ok"))
		end, all := b.run(t.Context())
		if end.Reason != event.Completed || end.Turns != 1 {
			t.Fatalf("%+v", end)
		}
		if took := time.Since(b.began); took != 2*time.Second {
			t.Fatalf("waited %v, want 1 s for the server and 1 s of back-off", took)
		}
		var n []int
		for _, e := range all {
			if r, ok := e.(event.Retrying); ok {
				n = append(n, r.Status)
			}
		}
		if d := cmp.Diff([]int{429, 529}, n); d != "" {
			t.Fatal(d)
		}
	})
}

func TestRetriesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, answer{before: &provider.Error{Class: provider.Server, Status: 500, Message: "down"}})
		b.cfg.Retries = 4
		end, _ := b.run(t.Context())
		if end.Reason != event.APIError || end.Status != 500 || len(b.model.requests) != 5 {
			t.Fatalf("%v after %d requests", end.Reason, len(b.model.requests))
		}
	})
}

func TestEndReasons(t *testing.T) {
	for name, tc := range map[string]struct {
		answers []answer
		set     func(*Config)
		want    event.Reason
		reqs    int
	}{
		"auth":       {[]answer{{before: &provider.Error{Class: provider.Auth, Status: 401}}}, nil, event.APIError, 1},
		"too long":   {[]answer{{before: &provider.Error{Class: provider.TooLong, Status: 400}}}, nil, event.PromptTooLong, 1},
		"image":      {[]answer{{before: &provider.Error{Class: provider.BadImage, Status: 400}}}, nil, event.ImageError, 1},
		"refusal":    {[]answer{{blocks: []msg.Block{msg.NewText("no")}, stop: provider.StopRefusal}}, nil, event.ModelError, 1},
		"max turns":  {[]answer{calls(use("a", "edit", `{"say":"x"}`))}, func(c *Config) { c.MaxTurns = 3 }, event.MaxTurns, 3},
		"output cap": {[]answer{{blocks: []msg.Block{msg.NewText("x")}, stop: provider.StopMaxTokens}}, nil, event.APIError, 4},
		"malformed":  {[]answer{{blocks: []msg.Block{use("a", "edit", `{}`)}, bad: `{"say":`, stop: provider.StopToolUse}}, nil, event.MalformedToolUse, 3},
		"hook":       {[]answer{calls(use("a", "edit", `{"say":"halt"}`))}, nil, event.HookStopped, 1},
		"budget": {[]answer{calls(use("a", "edit", `{"say":"x"}`))}, func(c *Config) {
			n := 0
			c.Budget = func() (event.Reason, string) {
				if n++; n > 2 {
					return event.BudgetExhausted, "spent"
				}
				return "", ""
			}
		}, event.BudgetExhausted, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, tc.answers...)
				if tc.set != nil {
					tc.set(&b.cfg)
				}
				end, _ := b.run(t.Context())
				if end.Reason != tc.want || len(b.model.requests) != tc.reqs {
					t.Fatalf("%s after %d requests: %s", end.Reason, len(b.model.requests), end.Detail)
				}
			})
		})
	}
}

func TestOutputCapJoinsTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		half := func(s string) answer {
			return answer{blocks: []msg.Block{msg.NewText(s)}, stop: provider.StopMaxTokens}
		}
		b := newBench(t, half("one "), half("two "), says("three"))
		b.cfg.MaxOutput = func(string) int { return 64000 }
		end, _ := b.run(t.Context())
		if end.Reason != event.Completed || end.Text != "one two three" || b.model.requests[1].MaxTokens != 64000 {
			t.Fatalf("%s %q", end.Reason, end.Text)
		}
	})
}

func TestBadCallsAreAnsweredNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, calls(use("a", "nope", `{}`), use("b", "edit", `{}`), use("c", "panic", `{"say":"x"}`)), says("end"))
		end, _ := b.run(t.Context())
		got := results(end.History[2])
		for i, want := range []string{"No such tool available: nope", "required parameter `say` is missing", "internal error (boom)"} {
			if !strings.Contains(got[i], want) {
				t.Errorf("%q lacks %q", got[i], want)
			}
		}
	})
}

func TestInterruptWhileStreamingKeepsThePartialText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, answer{hang: true})
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(ErrInterrupted) })
		end, _ := b.run(ctx)
		if end.Reason != event.AbortedStreaming || !errors.Is(end.Err, ErrInterrupted) {
			t.Fatalf("%s %v", end.Reason, end.Err)
		}
		h := end.History
		if len(h) != 3 || h[1].Text() != "half a sen" || h[2].Text() != abortNote {
			t.Fatalf("%d messages: %q", len(h), h[len(h)-1].Text())
		}
	})
}

func TestInterruptWhileToolsRunAnswersEveryCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, calls(use("a", "safe", `{"ms":50,"say":"A"}`), use("b", "edit", `{"ms":60000,"say":"B"}`), use("c", "edit", `{"ms":1,"say":"C"}`)))
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(ErrInterrupted) })
		end, _ := b.run(ctx)
		if end.Reason != event.AbortedTools || time.Since(b.began) != time.Second {
			t.Fatalf("%s after %v", end.Reason, time.Since(b.began))
		}
		got := results(end.History[2])
		if len(got) != 3 || got[0] != "a:A" || got[1] != "b:cancelled" || !strings.HasPrefix(got[2], "c:This call was not run") {
			t.Fatalf("%q", got)
		}
		if note := end.History[3].Text(); note != toolsNote {
			t.Fatalf("%q", note)
		}
	})
}

func TestShutdownLeavesNoNote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, answer{hang: true})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		end, _ := b.run(ctx)
		if h := end.History; len(h) != 2 || h[1].Text() != "half a sen" {
			t.Fatalf("%d messages", len(h))
		}
	})
}

func TestConsumerThatLeavesLeavesNothingBehind(t *testing.T) {
	for stopAt := range 12 {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, calls(use("a", "safe", `{"ms":9000,"say":"A"}`), use("b", "edit", `{"ms":9000,"say":"B"}`)), says("end"))
			n := 0
			for range Run(t.Context(), b.cfg, []*msg.Message{msg.User("u1", time.Now(), "go")}) {
				if n == stopAt {
					break
				}
				n++
			}
			// synctest fails the test if a goroutine of the bubble is left.
		})
	}
}

// Each steering message stays one of its own, as it stands in the transcript:
// a resumed request begins with the bytes of the last one.
func TestSteeringFollowsTheResultsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, calls(use("a", "safe", `{"ms":500,"say":"A"}`)), calls(use("b", "safe", `{"ms":1,"say":"B"}`)), says("end"))
		time.AfterFunc(100*time.Millisecond, func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.steer = append(b.steer, msg.User("s1", time.Now(), "also this"), msg.User("s2", time.Now(), "and that"))
		})
		end, _ := b.run(t.Context())
		for i, want := range []string{"a:A", "also this", "and that"} {
			if d := cmp.Diff([]string{want}, results(b.model.requests[1].Messages[2+i])); d != "" {
				t.Fatal(d)
			}
		}
		if d := cmp.Diff([]string{"b:B"}, results(end.History[6])); d != "" {
			t.Fatal(d)
		}
	})
}

func TestRewrittenCallThatIsNoLongerSafeRunsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, calls(use("a", "safe", `{"ms":100,"say":"A"}`), use("b", "safe", `{"ms":100,"say":"B"}`)), says("end"))
		b.cfg.Gate = openGate{unsafe: true}
		b.run(t.Context())
		if len(b.spans) != 2 || b.spans[1].start < b.spans[0].end {
			t.Fatalf("%+v", b.spans)
		}
	})
}

func TestRefusalIsAMessageNotAHalt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, calls(use("a", "edit", `{"say":"A"}`)), says("other way"))
		b.cfg.Gate = openGate{refuse: map[string]*tool.Refusal{"edit": {Result: tool.Failure("not allowed: rule X"), Decision: tool.Decision{Behavior: tool.Deny}}}}
		end, _ := b.run(t.Context())
		if end.Reason != event.Completed || len(end.Denied) != 1 || end.Denied[0].Tool != "edit" {
			t.Fatalf("%+v", end)
		}
		if got := results(end.History[2]); !strings.Contains(got[0], "rule X") {
			t.Fatal(got)
		}
	})
}

func TestBackpressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, answer{blocks: []msg.Block{msg.NewText("a"), msg.NewText("b"), msg.NewText("c")}})
		seen := 0
		for e := range Run(t.Context(), b.cfg, []*msg.Message{msg.User("u1", time.Now(), "go")}) {
			if _, ok := e.Body.(event.Message); ok {
				seen++
				time.Sleep(time.Hour) // virtual; the provider cannot run ahead
			}
		}
		if seen != 3 {
			t.Fatal(seen)
		}
	})
}
