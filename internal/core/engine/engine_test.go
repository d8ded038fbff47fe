package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/tool"
)

// canned answers each request with the next reply, the last one for ever.
type canned struct {
	replies  [][]msg.Block
	requests []*provider.Request
}

func (c *canned) Stream(_ context.Context, r *provider.Request) iter.Seq2[provider.Part, error] {
	return func(yield func(provider.Part, error) bool) {
		blocks := c.replies[min(len(c.requests), len(c.replies)-1)]
		c.requests = append(c.requests, r)
		if !yield(provider.Started{MessageID: "m", RequestID: "r", Model: r.Model}, nil) {
			return
		}
		for i, b := range blocks {
			if !yield(provider.BlockStarted{Index: i}, nil) || !yield(provider.BlockDone{Index: i, Block: b}, nil) {
				return
			}
		}
		if yield(provider.Finished{StopReason: "end_turn", Usage: msg.Usage{InputTokens: 1000, OutputTokens: 100}}, nil) {
			yield(provider.Ended{}, nil)
		}
	}
}

// memo records into memory and fails from the n-th write on.
type memo struct {
	lines []string
	fail  int
}

func (m *memo) note(s string) error {
	if m.fail > 0 && len(m.lines)+1 >= m.fail {
		return errors.New("no space left on device")
	}
	m.lines = append(m.lines, s)
	return nil
}

func (m *memo) Prompt(p *msg.Message, _ session.Prompt) error { return m.note("prompt " + p.Text()) }
func (m *memo) Cost(session.Cost) error                       { return m.note("cost") }
func (m *memo) SetMode(mode string) error                     { return m.note("mode " + mode) }

func (m *memo) Record(b event.Body) error {
	switch b := b.(type) {
	case event.Message:
		return m.note("message " + b.Msg.Text())
	case event.ToolFinished:
		return m.note("result " + b.Use.ID)
	default:
		return nil
	}
}

// free is a gate that lets everything pass.
type free struct{ mode string }

func (f *free) Mode() string           { return f.mode }
func (f *free) SetMode(m string) error { f.mode = m; return nil }
func (f *free) Offered(tool.Spec) bool { return true }

func (f *free) Admit(_ context.Context, p tool.Planned, _ func(event.Body)) (tool.Admitted, *tool.Refusal) {
	return tool.Admitted{Tool: p.Tool, Use: p.Use, Call: p.Call}, nil
}

func (f *free) Review(_ context.Context, _ tool.Admitted, r tool.Result, _ time.Duration, _ func(event.Body)) (tool.Result, tool.Verdict) {
	return r, tool.Verdict{}
}

func moveTool() tool.Tool {
	spec := tool.Spec{Name: "Move", Schema: json.RawMessage(`{"type":"object"}`)}
	return tool.Define(spec, func(struct{}, tool.Env) (tool.Call, error) {
		return &tool.Func{Line: "move", Do: func(context.Context, func(tool.Progress)) tool.Result {
			r := tool.Text("moved")
			r.Effects = []tool.Effect{tool.SetCwd{Dir: "/w/sub"}}
			return r
		}}, nil
	})
}

func newEngine(p provider.Provider, store *memo) *Engine {
	n := 0
	return New(Config{
		Session: "s", Place: Place{Cwd: "/w", Project: "/w", Roots: []string{"/w"}},
		Model: Model{
			Provider: p, Name: "x",
			Lookup: func(name string) provider.Model {
				return provider.Model{ID: name, DefaultOutput: 1000, Price: provider.Price{Input: 1, Output: 10}}
			},
		},
		Tools: []tool.Tool{moveTool()}, System: []string{"sys"},
		Layout: func(r *provider.Request, h []*msg.Message) { r.Messages = h },
		Gate:   &free{mode: "default"}, Store: store, Sync: func() error { return nil },
		Now: time.Now, Sleep: Sleep, Jitter: func() float64 { return 0 },
		NewID: func() string { n++; return fmt.Sprintf("id%d", n) },
	})
}

func submit(e *Engine, text string) (event.Terminal, []event.Body) {
	var all []event.Body
	for ev := range e.Submit(context.Background(), Input{Message: msg.User("u-"+text, time.Now(), text)}) {
		all = append(all, ev.Body)
	}
	return all[len(all)-1].(event.Done).Terminal, all
}

func TestEverythingIsWrittenBeforeItIsHeard(t *testing.T) {
	store := &memo{}
	e := newEngine(&canned{replies: [][]msg.Block{{msg.NewToolUse("t1", "Move", json.RawMessage(`{}`))}, {msg.NewText("done")}}}, store)
	seen := 0
	for ev := range e.Submit(context.Background(), Input{Message: msg.User("u", time.Now(), "go")}) {
		switch ev.Body.(type) {
		case event.Message, event.ToolFinished:
			seen++
			if len(store.lines) < seen {
				t.Fatalf("event %d was heard with %d lines written", seen, len(store.lines))
			}
		default:
		}
	}
	if got := strings.Join(store.lines, "|"); got != "prompt go|message |result t1|message done|cost" {
		t.Fatal(got)
	}
	if e.Place().Cwd != "/w/sub" {
		t.Fatalf("the call's change of directory is lost: %s", e.Place().Cwd)
	}
}

func TestFailedWriteEndsTheRunAndNobodyHearsMore(t *testing.T) {
	for fail := 1; fail <= 5; fail++ {
		store := &memo{fail: fail}
		e := newEngine(&canned{replies: [][]msg.Block{{msg.NewToolUse("t1", "Move", json.RawMessage(`{}`))}, {msg.NewText("done")}}}, store)
		end, all := submit(e, "go")
		var ns *NotSaved
		if end.Reason != event.SetupFailed || !errors.As(end.Err, &ns) {
			t.Fatalf("write %d failed, the run ended with %s (%v)", fail, end.Reason, end.Err)
		}
		heard := 0
		for _, b := range all {
			switch b.(type) {
			case event.Message, event.ToolFinished:
				heard++
			default:
			}
		}
		if heard > len(store.lines) {
			t.Fatalf("write %d failed: %d heard, %d written", fail, heard, len(store.lines))
		}
	}
}

func TestTheNextPromptGoesOn(t *testing.T) {
	p := &canned{replies: [][]msg.Block{{msg.NewText("one")}, {msg.NewText("two")}}}
	e := newEngine(p, &memo{})
	submit(e, "a")
	if err := e.SetModel(t.Context(), "y", "user", nil); err != nil {
		t.Fatal(err)
	}
	submit(e, "b")
	r := p.requests[1]
	if len(r.Messages) != 3 || r.Model != "y" || r.Break != "model" {
		t.Fatalf("%d messages to %s, break %q", len(r.Messages), r.Model, r.Break)
	}
	if e.Model().ID != "y" {
		t.Fatal(e.Model().ID)
	}
}

func TestBudgetEndsTheRunBeforeTheNextRequest(t *testing.T) {
	p := &canned{replies: [][]msg.Block{{msg.NewToolUse("t1", "Move", json.RawMessage(`{}`))}}}
	e := newEngine(p, &memo{})
	e.c.Limits = Limits{USD: 0.003}
	end, _ := submit(e, "go")
	// 1000 in and 100 out at 1 and 10 dollars a million: 0.002 a request.
	if end.Reason != event.BudgetExhausted || len(p.requests) != 2 {
		t.Fatalf("%s after %d requests", end.Reason, len(p.requests))
	}
	if c := e.Costs(); c.CostUSD < 0.0039 || c.CostUSD > 0.0041 || c.Usage.OutputTokens != 200 {
		t.Fatalf("%+v", c)
	}
}

// Row SS-1: the infrastructure state is plain; changing it tells nobody.
func TestCostChangesNotifyNobody(t *testing.T) {
	events := 0
	e := newEngine(&canned{replies: [][]msg.Block{{msg.NewText("x")}}}, &memo{})
	e.c.Trace = func(event.Event) { events++ }
	submit(e, "go")
	before := events
	for range 1000 {
		e.ledger.add(provider.Model{ID: "x"}, msg.Usage{InputTokens: 1})
	}
	if events != before || e.Costs().Usage.InputTokens != 2000 {
		t.Fatalf("%d events, %d tokens", events-before, e.Costs().Usage.InputTokens)
	}
}

func TestDemandedOutputIsDemandedAFewTimes(t *testing.T) {
	p := &canned{replies: [][]msg.Block{{msg.NewText("no")}}}
	e := newEngine(p, &memo{})
	e.c.Output = "Move"
	end, _ := submit(e, "go")
	if end.Reason != event.OutputExhausted || len(p.requests) != maxOutputTries+1 {
		t.Fatalf("%s after %d requests", end.Reason, len(p.requests))
	}
}
