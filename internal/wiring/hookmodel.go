package wiring

import (
	"context"
	"errors"
	"sync"

	"github.com/hew-agent/hew/internal/action/hook"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// modelHooks tells hooks of changes of the model.
type modelHooks struct{ h *hooks }

// Before refuses a change that a hook denies. A hook that wants a person to be
// asked is obeyed the same way: whoever changes the model has already spoken.
func (m modelHooks) Before(ctx context.Context, s engine.Switch, emit func(event.Body)) error {
	if !m.h.d.Wants("PreModelSwitch") {
		return nil
	}
	o := m.h.fire(ctx, hook.PreModelSwitch{ModelSwitch: modelSwitch(s)}, m.or(emit))
	if o.Behavior != tool.Deny && o.Behavior != tool.Ask && !o.Stopped {
		return nil
	}
	reason := o.Reason
	if o.Stopped && o.StopReason != "" {
		reason = o.StopReason
	}
	if reason == "" {
		reason = "it gave no reason"
	}
	return errors.New("a PreModelSwitch hook keeps the model " + s.From.ID + ": " + reason)
}

// After tells of a change; what hooks say then goes to the model with the next request.
func (m modelHooks) After(ctx context.Context, s engine.Switch, emit func(event.Body)) {
	if !m.h.d.Wants("PostModelSwitch") {
		return
	}
	o := m.h.fire(ctx, hook.PostModelSwitch{ModelSwitch: modelSwitch(s)}, m.or(emit))
	m.h.heard.add(o.Context)
}

// or is where events go when no run listens.
func (m modelHooks) or(emit func(event.Body)) func(event.Body) {
	if emit == nil {
		return m.h.afterwards
	}
	return emit
}

func modelSwitch(s engine.Switch) hook.ModelSwitch {
	out := hook.ModelSwitch{
		From: s.From.ID, To: s.To.ID, Requested: s.Requested, Source: s.Source, Tokens: int64(s.Tokens), Warm: s.Warm, TTL: s.TTL,
		Pricing: []byte("null"),
	}
	per := s.To.Price.CacheWrite
	if s.TTL == "1h" {
		per = s.To.Price.CacheWrite1h
	}
	out.Cost = float64(s.Tokens) * per / 1e6
	if raw, err := msg.Marshal(s.To.Price); err == nil { // numbers: cannot fail
		out.Pricing = raw
	}
	return out
}

// switched is what hooks have said about new models, for the next request. Hosts
// change the model from a goroutine of their own.
type switched struct {
	mu    sync.Mutex
	texts []string
}

func (s *switched) add(texts []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts = append(s.texts, texts...)
}

func (s *switched) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.texts
	s.texts = nil
	return out
}
