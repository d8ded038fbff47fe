package engine

import (
	"context"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/event"
)

// Switch is a change of the model, in force or about to be.
type Switch struct {
	From, To provider.Model
	// Requested is the name that was asked for, Source who asked: user, sdk or fallback.
	Requested, Source string
	// Tokens is the size of the conversation as far as it is known. Warm tells that
	// the provider has its beginning in the cache of From, for TTL.
	Tokens int
	Warm   bool
	TTL    string
}

// Switches hears of changes of the model. Both methods may be called from any
// goroutine; nothing may run between requests when they return.
type Switches interface {
	// Before may refuse the change.
	Before(ctx context.Context, s Switch, emit func(event.Body)) error
	After(ctx context.Context, s Switch, emit func(event.Body))
}

// SetModel changes the model from the next request on; source is user or sdk.
// A hook may refuse that.
func (e *Engine) SetModel(ctx context.Context, name, source string, emit func(event.Body)) error {
	s := e.switching(e.Model(), name, source)
	if e.c.Switches != nil && s.From.ID != s.To.ID {
		if err := e.c.Switches.Before(ctx, s, emit); err != nil {
			return err
		}
	}
	e.mu.Lock()
	e.model = name
	e.mu.Unlock()
	if e.c.Switches != nil && s.From.ID != s.To.ID {
		e.c.Switches.After(ctx, s, emit)
	}
	return nil
}

// fallsBack asks the hooks whether a run may go on with another model.
func (s *submission) fallsBack(ctx context.Context) func(from, to string) error {
	e := s.e
	if e.c.Switches == nil {
		return nil
	}
	return func(from, to string) error {
		w := e.switching(e.c.Model.Lookup(from), to, "fallback")
		if err := e.c.Switches.Before(ctx, w, s.hear); err != nil {
			return err
		}
		e.c.Switches.After(ctx, w, s.hear)
		return nil
	}
}

func (e *Engine) switching(from provider.Model, name, source string) Switch {
	e.mu.Lock()
	defer e.mu.Unlock()
	return Switch{
		From: from, To: e.c.Model.Lookup(name), Requested: name, Source: source,
		Tokens: e.used, Warm: e.sent != "" && e.broken == "" && e.c.Model.CacheTTL != "", TTL: e.c.Model.CacheTTL,
	}
}
