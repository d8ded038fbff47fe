package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/core/loop"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/prompt"
	"github.com/hew-agent/hew/internal/tool"
)

// steer is what joins the conversation at the loop's boundary: what sources
// have to say first, then the words of hooks and what a person typed.
func (s *submission) steer(ctx context.Context, history []*msg.Message) []*msg.Message {
	typed := append(s.with, s.e.queue.take()...)
	s.with = nil
	for i, m := range typed {
		m = s.admit(m)
		typed[i] = m
		s.e.facts.said(m)
	}
	var out []*msg.Message
	for _, said := range s.learn(ctx, history) {
		out = append(out, said.Message)
	}
	s.e.step(event.Step{Name: event.StepContext})
	return append(out, typed...)
}

// learn shows surfaces what became of background tasks and asks the sources
// what they have to say behind history.
func (s *submission) learn(ctx context.Context, history []*msg.Message) []prompt.Said {
	e := s.e
	if e.c.Tasks != nil {
		for _, t := range e.c.Tasks() {
			s.keep(event.Event{Body: t})
		}
	}
	if e.late.Empty() {
		return nil
	}
	said, failures := e.late.Take(ctx, history, e.facts.take(e.Place().Cwd))
	for _, f := range failures {
		s.keep(event.Event{Body: event.Notice{
			Level: event.Warning, Code: "context_source", Text: "the context source " + f.Source + " is left out: " + f.Err.Error(),
		}})
	}
	for _, m := range said {
		if s.from == nil {
			s.from = map[string]string{}
		}
		s.from[m.Message.ID] = m.Source
	}
	return said
}

// joined notes what an event says about what sources are told, and adds where a
// message comes from.
func (s *submission) joined(b event.Body) event.Body {
	if _, ok := b.(event.Retracted); ok {
		s.e.facts.retracted()
	}
	m, ok := b.(event.Message)
	if !ok {
		return b
	}
	s.e.facts.called(m.Msg)
	if m.From == "" {
		m.From = s.from[m.Msg.ID]
	}
	return m
}

// shaper lets sources say again what a compaction took from the window.
func (s *submission) shaper() loop.Shaper {
	if s.e.c.Shaper == nil {
		return nil
	}
	return reminded{s.e.c.Shaper, s}
}

type reminded struct {
	loop.Shaper
	s *submission
}

// Shape shapes, and completes the window when history was replaced.
func (r reminded) Shape(ctx context.Context, w loop.Window, why loop.Pressure, emit func(event.Body)) (loop.Window, error) {
	r.s.e.step(event.Step{Name: event.StepShapers})
	compacted := false
	out, err := r.Shaper.Shape(ctx, w, why, func(b event.Body) {
		_, summed := b.(event.Compacted)
		compacted = compacted || summed
		emit(b)
	})
	if err != nil || out.Break == "" {
		return out, err
	}
	if compacted {
		r.s.e.reload(out.Messages)
	}
	for _, said := range r.s.learn(ctx, out.Messages) {
		emit(event.Message{Msg: said.Message, Source: "inject", From: said.Source})
		out.Messages = append(slices.Clip(out.Messages), said.Message)
	}
	return out, nil
}

// facts collects what sources are told; calls end on goroutines of their own.
type facts struct {
	mu    sync.Mutex
	words []string
	// calls are the ids of the last reply's calls, in the order in which the model made them.
	calls   []string
	touched map[string][]tool.Need
}

// said notes what a person wrote.
func (f *facts) said(m *msg.Message) {
	if m.Meta {
		return
	}
	if text := m.Text(); text != "" {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.words = append(f.words, text)
	}
}

// called notes the calls of a reply, which end in any order.
func (f *facts) called(m *msg.Message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, use := range m.ToolUses() {
		f.calls = append(f.calls, use.ID)
	}
}

// retracted forgets the calls of a reply that another one replaces.
func (f *facts) retracted() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls, f.touched = nil, nil
}

// touch notes what a call that went well has read and changed.
func (f *facts) touch(id string, needs []tool.Need) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.touched == nil {
		f.touched = map[string][]tool.Need{}
	}
	f.touched[id] = needs
}

// take empties the collection.
func (f *facts) take(cwd string) prompt.Facts {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := prompt.Facts{Words: f.words, Cwd: cwd}
	for _, id := range f.calls {
		for _, n := range f.touched[id] {
			switch n.Kind {
			case tool.NeedRead:
				out.Read = append(out.Read, n.Path)
			case tool.NeedEdit:
				out.Edited = append(out.Edited, n.Path)
			case tool.NeedExec, tool.NeedFetch, tool.NeedUse:
			}
		}
	}
	f.words, f.calls, f.touched = nil, nil, nil
	return out
}

// watched is the gate, whose answers tell what calls touch.
type watched struct {
	loop.Gate
	facts *facts
}

// Review notes what the call has read and changed.
func (w watched) Review(ctx context.Context, a tool.Admitted, r tool.Result, took time.Duration, emit func(event.Body)) (tool.Result, tool.Verdict) {
	if !r.IsError {
		w.facts.touch(a.Use.ID, a.Call.Needs())
	}
	return w.Gate.Review(ctx, a, r, took, emit)
}
