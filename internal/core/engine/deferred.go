package engine

import (
	"context"
	"slices"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// Deferring tells that the conversation ends with a call that a hook has put off.
// The next run takes it up, and needs no prompt for that.
func (e *Engine) Deferring() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.deferred
}

// takeUp is begin for a run that goes on with a call that was put off. A prompt
// joins the conversation behind the call's result.
func (s *submission) takeUp(_ context.Context, in Input, with []*msg.Message, heard []event.Body) ([]*msg.Message, error) {
	e := s.e
	last := e.history[len(e.history)-1]
	for _, b := range heard {
		s.hear(b)
	}
	for _, use := range last.ToolUses() {
		s.calls = append(s.calls, use.ID)
	}
	id := prompted(e.history)
	if in.Message != nil {
		id = in.Message.ID
		with = append([]*msg.Message{in.Message}, with...)
	}
	s.with, s.asked = with, true
	s.notKept(e.checkpoint(id))
	return slices.Clone(e.history), nil
}

// prompted is the id of the newest prompt, which what is done now belongs to.
func prompted(history []*msg.Message) string {
	for _, m := range slices.Backward(history) {
		if m.Role == msg.RoleUser && !m.Meta && m.Text() != "" {
			return m.ID
		}
	}
	return ""
}
