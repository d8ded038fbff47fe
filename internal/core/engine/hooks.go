package engine

import (
	"context"
	"slices"

	"github.com/hew-agent/hew/internal/core/loop"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// Hooks are a user's programs that hear of a conversation's events and may have
// a say in it; the wiring makes them of package hook. Each method is called from
// the goroutine of the run, may take as long as the programs may, and returns
// soon after ctx ends.
type Hooks interface {
	// Prompt hears of a prompt before anything is done about it.
	Prompt(ctx context.Context, in Input, emit func(event.Body)) Reception
	// Next hears of the calls that have ended since the last request; the next one
	// is about to be made.
	Next(ctx context.Context, ended []event.ToolFinished, emit func(event.Body)) Pause
	// Stop hears that the agent is about to finish with the reply last.
	Stop(ctx context.Context, last *msg.Message, emit func(event.Body)) loop.Stop
	// Failed hears of a run that an error has ended.
	Failed(ctx context.Context, t event.Terminal, emit func(event.Body))
}

// Reception is what hooks say about a prompt.
type Reception struct {
	// Blocked drops the prompt: nothing of it is kept or sent. Reason is for the person.
	Blocked bool
	Reason  string
	// With goes into the conversation behind the prompt.
	With []*msg.Message
}

// Pause is what hooks say between two requests.
type Pause struct {
	// End, when set, ends the run; Detail says why.
	End    event.Reason
	Detail string
	// With goes into the conversation before the request.
	With []*msg.Message
}

// received asks the hooks about a prompt. What happened meanwhile comes back
// too: it stands behind the prompt in the transcript, and leaves no trace there
// when the prompt is dropped.
func (s *submission) received(ctx context.Context, in Input) (Reception, []event.Body) {
	if s.e.c.Hooks == nil {
		return Reception{}, nil
	}
	var heard []event.Body
	r := s.e.c.Hooks.Prompt(ctx, in, func(b event.Body) { heard = append(heard, b) })
	return r, heard
}

// refused ends a run whose prompt a hook has dropped.
func (s *submission) refused(r Reception, heard []event.Body) {
	for _, b := range heard {
		s.pass(event.Event{Body: b})
	}
	s.pass(event.Event{Body: event.Done{Terminal: event.Terminal{
		Reason: event.HookStopped, History: s.e.history, Text: r.Reason, Detail: r.Reason,
	}}})
}

// hear keeps what happened while hooks ran, on the run's goroutine.
func (s *submission) hear(b event.Body) { s.keep(event.Event{Body: b}) }

// note remembers the calls that have ended, for Next.
func (s *submission) note(b event.Body) {
	switch b := b.(type) {
	case event.Message:
		for _, x := range b.Msg.Blocks {
			if use, ok := x.(*msg.ToolUse); ok {
				s.calls = append(s.calls, use.ID)
			}
		}
	case event.ToolFinished:
		s.ended = append(s.ended, b)
	case event.Retracted: // another reply comes in the place of theirs
		s.calls, s.ended = nil, nil
	case event.TurnStarted, event.Retrying, event.Delta, event.ToolStarted, event.ToolProgress, event.Decided,
		event.HookRan, event.Asked, event.Answered, event.ModelCall, event.Shaped, event.Compacting, event.Compacted, event.TaskChanged,
		event.Notice, event.CommandRan, event.Step, event.Done:
	}
}

// batch takes the calls that have ended, in the order in which they were made.
func (s *submission) batch() []event.ToolFinished {
	ended := s.ended
	slices.SortStableFunc(ended, func(a, b event.ToolFinished) int {
		return slices.Index(s.calls, a.Use.ID) - slices.Index(s.calls, b.Use.ID)
	})
	s.calls, s.ended = nil, nil
	return ended
}

// budget says whether the next request may be made.
func (s *submission) budget(ctx context.Context) (event.Reason, string) {
	h := s.e.c.Hooks
	if h != nil && s.asked {
		p := h.Next(ctx, s.batch(), s.hear)
		if p.End != "" {
			return p.End, p.Detail
		}
		s.with = append(s.with, p.With...)
	}
	s.asked = true
	s.e.warn()
	return s.e.over(s.e.since)
}

// stops decides about a reply without calls: the engine first, then the hooks.
func (s *submission) stops(ctx context.Context, reply *msg.Message) loop.Stop {
	s.e.step(event.Step{Name: event.StepStop})
	stop := s.e.stops(ctx, reply)
	if s.e.c.Hooks == nil || s.e.c.Output != "" || len(stop.Continue) > 0 || stop.End != "" {
		return stop
	}
	if reply == nil { // a reply without content is kept nowhere
		reply = &msg.Message{Role: msg.RoleAssistant}
	}
	return s.e.c.Hooks.Stop(ctx, reply, s.hear)
}
