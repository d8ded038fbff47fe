package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/hew-agent/hew/internal/core/loop"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/prompt"
)

// Fresh is what a new conversation of the same process begins with; its fields
// are those of Config.
type Fresh struct {
	Session, SpillDir string
	System            []string
	Start             func() (*msg.Message, error)
	Store             Recorder
	Sync              func() error
}

// Restart leaves the conversation and goes on with an empty one. What runs in
// the background, the costs, the model, the mode and the folder stay. It must not
// be called while a run is under way.
func (e *Engine) Restart(f Fresh) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.c.Session, e.c.System, e.c.Start = f.Session, f.System, f.Start
	e.c.Store, e.c.Sync = f.Store, f.Sync
	e.place.SpillDir = f.SpillDir
	e.history, e.deferred, e.started, e.traced, e.tried, e.used, e.seen = nil, false, false, false, 0, 0, 0
	e.kinds, e.shapings, e.compacted = nil, nil, nil
	if e.sent != "" || e.broken != "" {
		e.broken = "clear"
	}
	e.late = prompt.NewLate(prompt.LateConfig{Sources: e.c.Sources, Now: e.c.Now, NewID: e.c.NewID})
	e.facts.take("")
	e.held = deferral{}
}

// Begun tells that the conversation has a message.
func (e *Engine) Begun() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.started
}

// Note records what happened beside a run, unless the conversation has not
// begun: a session that nobody spoke in leaves no trace.
func (e *Engine) Note(body event.Body) error {
	store := e.store()
	if store == nil || !e.Begun() {
		return nil
	}
	if err := store.Record(body); err != nil {
		return &NotSaved{err}
	}
	return nil
}

// Compacts tells that history can be made smaller.
func (e *Engine) Compacts() bool { return e.c.Shaper != nil }

// Compact makes history smaller because a person asks for it, and tells whether
// it changed. A failure leaves it as it is. It must not be called while a run is
// under way; Interrupt ends it.
func (e *Engine) Compact(ctx context.Context, instructions string, emit func(event.Event)) (changed bool, err error) {
	if e.c.Shaper == nil {
		return false, errors.New("this conversation cannot be compacted")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	e.setCancel(cancel)
	defer e.setCancel(nil)
	s := &submission{e: e, yield: func(ev event.Event) bool { emit(ev); return true }, cancel: cancel}
	w := loop.Window{Messages: e.history, Used: e.used, Fresh: len(e.history) - e.seen, Model: e.Model().ID}
	out, err := s.shaper().Shape(ctx, w, loop.Manual{Instructions: instructions}, s.hear)
	for _, a := range e.aside.take() {
		s.keep(a)
	}
	switch {
	case s.failed != nil:
		return false, s.failed
	case err != nil:
		return false, fmt.Errorf("compact the conversation: %w", err)
	case out.Break == "":
		return false, nil
	}
	e.mu.Lock()
	e.history, e.broken, e.used, e.seen = out.Messages, out.Break, 0, 0
	e.mu.Unlock()
	if e.store() == nil {
		return true, nil
	}
	if err := errors.Join(e.store().Cost(e.account()), e.c.Sync()); err != nil {
		return true, &NotSaved{err}
	}
	return true, nil
}

func (e *Engine) setCancel(cancel context.CancelCauseFunc) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cancel = cancel
}
