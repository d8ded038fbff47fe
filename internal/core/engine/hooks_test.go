package engine

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/core/loop"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// told is a set of hooks that says what the test wants, and counts.
type told struct {
	reception Reception
	pause     Pause
	stop      loop.Stop
	ended     []string
	stops     int
	failed    int
}

func (h *told) Prompt(_ context.Context, _ Input, emit func(event.Body)) Reception {
	emit(event.Notice{Level: event.Warning, Code: "hook_message", Text: "hello"})
	return h.reception
}

func (h *told) Next(_ context.Context, ended []event.ToolFinished, _ func(event.Body)) Pause {
	for _, f := range ended {
		h.ended = append(h.ended, f.Use.ID)
	}
	return h.pause
}

func (h *told) Stop(context.Context, *msg.Message, func(event.Body)) loop.Stop {
	h.stops++
	if h.stops > 1 {
		return loop.Stop{}
	}
	return h.stop
}

func (h *told) Failed(context.Context, event.Terminal, func(event.Body)) { h.failed++ }

func said(text string) []*msg.Message { return []*msg.Message{msg.User("h-"+text, time.Now(), text)} }

func oneCall() *canned {
	return &canned{replies: [][]msg.Block{{msg.NewToolUse("t1", "Move", json.RawMessage(`{}`))}, {msg.NewText("done")}}}
}

func TestHooksAddToTheConversation(t *testing.T) {
	model, store := oneCall(), &memo{}
	e := newEngine(model, store)
	h := &told{reception: Reception{With: said("with the prompt")}, pause: Pause{With: said("between")}, stop: loop.Stop{Continue: said("go on"), Why: "stop_hook"}}
	e.c.Hooks = h
	end, _ := submit(e, "go")
	if end.Reason != event.Completed || len(model.requests) != 3 || h.stops != 2 || strings.Join(h.ended, " ") != "t1" {
		t.Fatalf("%+v, %d requests, %+v", end.Reason, len(model.requests), h)
	}
	want := "prompt go|message with the prompt|message |result t1|message between|message done|message go on|message between|message done|cost"
	if got := strings.Join(store.lines, "|"); got != want {
		t.Fatal(got)
	}
}

// A dropped prompt leaves nothing behind, not even for the next one.
func TestHookDropsAPrompt(t *testing.T) {
	model, store := oneCall(), &memo{}
	e := newEngine(model, store)
	e.c.Hooks = &told{reception: Reception{Blocked: true, Reason: "no secrets"}}
	end, all := submit(e, "go")
	if end.Reason != event.HookStopped || end.Text != "no secrets" || len(model.requests) != 0 || len(store.lines) != 0 || len(all) != 2 {
		t.Fatalf("%+v %v %v", end, store.lines, all)
	}
	e.c.Hooks = nil
	submit(e, "again")
	if len(model.requests[0].Messages) != 1 {
		t.Fatal("the dropped prompt is in the next request")
	}
}

func TestHookEndsTheRunBetweenRequests(t *testing.T) {
	model := oneCall()
	e := newEngine(model, &memo{})
	e.c.Hooks = &told{pause: Pause{End: event.HookStopped, Detail: "enough"}}
	end, _ := submit(e, "go")
	if end.Reason != event.HookStopped || end.Detail != "enough" || len(model.requests) != 1 {
		t.Fatalf("%+v, %d requests", end, len(model.requests))
	}
}
