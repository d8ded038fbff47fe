package engine

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// delegate is a tool that runs a child engine.
func delegate(parent **Engine, child func() *Engine) tool.Tool {
	spec := tool.Spec{Name: "Delegate", Schema: json.RawMessage(`{"type":"object"}`)}
	return tool.Define(spec, func(struct{}, tool.Env) (tool.Call, error) {
		return &tool.Func{Line: "delegate", Do: func(ctx context.Context, emit func(tool.Progress)) tool.Result {
			in := Input{Message: msg.User("c-prompt", time.Now(), "child task")}
			last := ""
			for ev := range (*parent).Relay(ctx, child(), in, func() { emit(tool.Progress{}) }) {
				if d, ok := ev.Body.(event.Done); ok {
					last = string(d.Terminal.Reason) + ": " + d.Terminal.Text
				}
			}
			return tool.Text(last)
		}}, nil
	})
}

func TestChild(t *testing.T) {
	store, own := &memo{}, &memo{}
	p := &canned{replies: [][]msg.Block{
		{msg.NewToolUse("t1", "Delegate", json.RawMessage(`{}`))},
		{msg.NewToolUse("c1", "Move", json.RawMessage(`{}`))},
		{msg.NewText("child done")},
		{msg.NewText("parent done")},
	}}
	parent := newEngine(p, store)
	parent.c.Tools = append(parent.c.Tools, delegate(&parent, func() *Engine {
		return parent.Child(Child{
			Origin: event.Origin{Agent: "a1", ParentUse: "t1"}, System: []string{"child system"}, Tools: []tool.Tool{moveTool()},
			Gate: &free{mode: "default"}, Store: own, Sync: func() error { return nil },
		})
	}))
	var agents []string
	for ev := range parent.Submit(context.Background(), Input{Message: msg.User("u", time.Now(), "go")}) {
		if f, ok := ev.Body.(event.ToolFinished); ok {
			agents = append(agents, ev.Origin.Agent+":"+f.Use.Name)
		}
	}
	if got := strings.Join(agents, " "); got != "a1:Move :Delegate" {
		t.Errorf("results in the order %q", got)
	}
	if got := strings.Join(own.lines, "|"); got != "prompt child task|message |result c1|message child done|cost" {
		t.Errorf("the child's transcript: %s", got)
	}
	if got := strings.Join(store.lines, "|"); strings.Contains(got, "child") || !strings.Contains(got, "parent done") {
		t.Errorf("the parent's transcript: %s", got)
	}
	if parent.Place().Cwd != "/w" {
		t.Errorf("the child moved its parent to %s", parent.Place().Cwd)
	}
	if n := parent.Costs().Usage.OutputTokens; n != 400 {
		t.Errorf("the parent's ledger has %d output tokens, want those of all four requests", n)
	}
	if got := p.requests[1].System[0].Text; got != "child system" || len(p.requests[1].Messages) != 1 {
		t.Errorf("the child's request: %q, %d messages", got, len(p.requests[1].Messages))
	}
}

func TestBudgetBindsTheWholeTree(t *testing.T) {
	p := &canned{replies: [][]msg.Block{
		{msg.NewToolUse("t1", "Delegate", json.RawMessage(`{}`))},
		{msg.NewToolUse("c1", "Move", json.RawMessage(`{}`))},
	}}
	parent := newEngine(p, &memo{})
	parent.c.Limits = Limits{OutputTokens: 500}
	var ended event.Reason
	parent.c.Tools = append(parent.c.Tools, delegate(&parent, func() *Engine {
		return parent.Child(Child{Origin: event.Origin{Agent: "a1"}, Tools: []tool.Tool{moveTool()}, Gate: &free{}})
	}))
	for ev := range parent.Submit(context.Background(), Input{Message: msg.User("u", time.Now(), "go")}) {
		if d, ok := ev.Body.(event.Done); ok {
			ended = d.Terminal.Reason
		}
	}
	if ended != event.BudgetExhausted || len(p.requests) != 5 {
		t.Errorf("ended %s after %d requests, want %s after 5", ended, len(p.requests), event.BudgetExhausted)
	}
}

func TestRelayedChildIsAnIterator(t *testing.T) {
	parent := newEngine(&canned{replies: [][]msg.Block{{msg.NewText("x")}}}, &memo{})
	child := parent.Child(Child{Origin: event.Origin{Agent: "a"}, Gate: &free{}})
	seq := parent.Relay(context.Background(), child, Input{Message: msg.User("u", time.Now(), "go")}, func() {})
	for range seq {
		break // an early leave must end the child's run in order
	}
	for ev := range parent.Submit(context.Background(), Input{Message: msg.User("u2", time.Now(), "again")}) {
		_ = ev
	}
}
