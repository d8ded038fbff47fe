package engine

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/core/loop"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/prompt"
	"github.com/hew-agent/hew/internal/tool"
)

// scripted is a source whose answers a test writes.
type scripted struct {
	name  string
	items func(prompt.Facts) ([]prompt.Item, error)
	facts []prompt.Facts
}

func (s *scripted) Name() string        { return s.name }
func (s *scripted) Class() prompt.Class { return prompt.OnDemand }
func (s *scripted) Delta(_ context.Context, f prompt.Facts) ([]prompt.Item, error) {
	s.facts = append(s.facts, f)
	return s.items(f)
}

// readTool reads the file that its input names, and fails for "/bad".
func readTool() tool.Tool {
	spec := tool.Spec{Name: "Look", Schema: json.RawMessage(`{"type":"object"}`)}
	return tool.Define(spec, func(in struct{ Path string }, _ tool.Env) (tool.Call, error) {
		return &tool.Func{
			Line: "look", Facts: tool.Traits{ReadOnly: true, ConcurrencySafe: true},
			Wants: []tool.Need{{Kind: tool.NeedRead, Path: in.Path}},
			Do: func(context.Context, func(tool.Progress)) tool.Result {
				if in.Path == "/bad" {
					return tool.Failure("no such file")
				}
				return tool.Text("content")
			},
		}, nil
	})
}

func looks(paths ...string) []msg.Block {
	var out []msg.Block
	for _, p := range paths {
		out = append(out, msg.NewToolUse("t"+p, "Look", json.RawMessage(`{"Path":"`+p+`"}`)))
	}
	return out
}

func TestSourcesSpeakBeforeEveryRequest(t *testing.T) {
	model, store := &canned{replies: [][]msg.Block{looks("/w/b", "/bad", "/w/a"), {msg.NewText("done")}}}, &memo{}
	e := newEngine(model, store)
	e.c.Tools = []tool.Tool{readTool()}
	nested := &scripted{name: "nested", items: func(f prompt.Facts) ([]prompt.Item, error) {
		var out []prompt.Item
		for _, p := range f.Read {
			out = append(out, prompt.Item{Key: p, Text: "rules for " + p})
		}
		return out, nil
	}}
	listing := &scripted{name: "listing", items: func(prompt.Facts) ([]prompt.Item, error) {
		return []prompt.Item{{Key: "a", Text: "agent a"}}, nil
	}}
	e.late = prompt.NewLate(prompt.LateConfig{Sources: []prompt.Source{nested, listing}, Now: e.c.Now, NewID: e.c.NewID})
	end, events := submit(e, "go")
	if end.Reason != event.Completed || len(model.requests) != 2 {
		t.Fatalf("%s, %d requests", end.Reason, len(model.requests))
	}
	first, second := model.requests[0].Messages, model.requests[1].Messages
	if len(first) != 2 || !strings.Contains(first[1].Text(), "agent a") || !first[1].Meta {
		t.Errorf("first request: %d messages", len(first))
	}
	if !slices.Equal(second[:2], first) || len(second) != 5 {
		t.Fatalf("second request does not extend the first: %d messages", len(second))
	}
	if got := second[4].Text(); !strings.Contains(got, "rules for /w/b") || strings.Index(got, "/w/b") > strings.Index(got, "/w/a") || strings.Contains(got, "/bad") {
		t.Errorf("behind the results: %q", got)
	}
	if f := nested.facts[0]; !slices.Equal(f.Words, []string{"go"}) || f.Cwd != "/w" {
		t.Errorf("first facts: %+v", f)
	}
	var from []string
	for _, b := range events {
		if m, ok := b.(event.Message); ok && m.From != "" {
			from = append(from, m.From)
		}
	}
	if !slices.Equal(from, []string{"listing", "nested"}) {
		t.Errorf("sources of messages: %v", from)
	}
}

func TestASourceThatFailsIsNoticedAndTheRunGoesOn(t *testing.T) {
	model := oneCall()
	e := newEngine(model, &memo{})
	bad := &scripted{name: "memory", items: func(prompt.Facts) ([]prompt.Item, error) { return nil, errors.New("unreadable") }}
	e.late = prompt.NewLate(prompt.LateConfig{Sources: []prompt.Source{bad}, Now: e.c.Now, NewID: e.c.NewID})
	end, events := submit(e, "go")
	notices := 0
	for _, b := range events {
		if n, ok := b.(event.Notice); ok && n.Code == "context_source" && strings.Contains(n.Text, "memory") {
			notices++
		}
	}
	if end.Reason != event.Completed || notices != 1 || len(bad.facts) != 2 {
		t.Errorf("%s, %d notices, asked %d times", end.Reason, notices, len(bad.facts))
	}
}

// halving replaces history by its newest message, once.
type halving struct{ done bool }

func (h *halving) Shape(_ context.Context, w loop.Window, _ loop.Pressure, _ func(event.Body)) (loop.Window, error) {
	if h.done || len(w.Messages) < 4 {
		return w, nil
	}
	h.done = true
	w.Messages, w.Break = []*msg.Message{w.Messages[0]}, "compact"
	return w, nil
}

func TestACompactionIsFollowedByWhatItTook(t *testing.T) {
	model := oneCall()
	e := newEngine(model, &memo{})
	e.c.Shaper = &halving{}
	s := &scripted{name: "listing", items: func(prompt.Facts) ([]prompt.Item, error) {
		return []prompt.Item{{Key: "a", Text: "agent a"}}, nil
	}}
	e.late = prompt.NewLate(prompt.LateConfig{Sources: []prompt.Source{s}, Now: e.c.Now, NewID: e.c.NewID})
	submit(e, "go")
	last := model.requests[1]
	if len(last.Messages) != 2 || !strings.Contains(last.Messages[1].Text(), "agent a") || last.Break != "compact" {
		t.Errorf("after the compaction: %d messages, break %q", len(last.Messages), last.Break)
	}
}
