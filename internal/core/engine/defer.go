package engine

import (
	"slices"

	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// Deferral keeps the definitions of rarely used tools out of requests until the
// model asks for them. The zero value defers nothing.
type Deferral struct {
	// Search is the name of the tool by which the model loads definitions. Where it
	// is not offered nothing is deferred.
	Search string
	// Active tells whether the definitions of these tools, all that could be
	// deferred, are to be left out; bytes is their size, window the model's in
	// tokens. Once it was true it is not asked again.
	Active func(candidates []tool.Spec, bytes, window int) bool
	// Upfront are names that are sent whatever their Spec says.
	Upfront []string
	// Loaded are the tools that searches in history have loaded, in order.
	Loaded func(history []*msg.Message) []string
}

// deferral is the state of it, under Engine.mu: requests only ever gain tools.
type deferral struct {
	active bool
	// sent are deferrable tools that a request had before deferring began.
	sent map[string]bool
	// loaded are the names that the model asked for, in order.
	loaded []string
}

// allowed is every tool that rules let the model use, in the order of the pool.
func (e *Engine) allowed() []tool.Spec {
	var out []tool.Spec
	for _, t := range e.pool() {
		if s := t.Spec(); e.c.Gate.Offered(s) {
			out = append(out, s)
		}
	}
	return out
}

// split parts what is allowed in the tools of a request and those that are only named.
func (e *Engine) split() (shown, hidden []tool.Spec) {
	all := e.allowed()
	window := e.Model().Window
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.defers(all, window) {
		return slices.DeleteFunc(all, func(s tool.Spec) bool { return e.c.Deferral.Search != "" && s.Name == e.c.Deferral.Search }), nil
	}
	late := map[string]tool.Spec{}
	for _, s := range all {
		switch {
		case !e.deferrable(s), e.held.sent[s.Name]:
			shown = append(shown, s)
		case slices.Contains(e.held.loaded, s.Name):
			late[s.Name] = s
		default:
			hidden = append(hidden, s)
		}
	}
	for _, name := range e.held.loaded {
		if s, ok := late[name]; ok {
			shown = append(shown, s)
		}
	}
	return shown, hidden
}

func (e *Engine) deferrable(s tool.Spec) bool {
	return s.Deferred && !slices.Contains(e.c.Deferral.Upfront, s.Name)
}

// defers tells whether tools are left out of requests now.
func (e *Engine) defers(all []tool.Spec, window int) bool {
	d := e.c.Deferral
	if d.Search == "" || d.Active == nil || !slices.ContainsFunc(all, func(s tool.Spec) bool { return s.Name == d.Search }) {
		return false
	}
	if e.held.active {
		return true
	}
	var candidates []tool.Spec
	size := 0
	for _, s := range all {
		if e.deferrable(s) {
			candidates = append(candidates, s)
			size += len(e.def(s).JSON)
		}
	}
	e.held.active = len(candidates) > 0 && d.Active(candidates, size, window)
	return e.held.active
}

// Deferred lists the tools that requests only name; a call of one of them is
// admitted like any other.
func (e *Engine) Deferred() []tool.Spec {
	_, hidden := e.split()
	return hidden
}

// OnDemand lists, in the order of the pool, the tools whose definitions are
// loaded when the model asks for them, loaded or not.
func (e *Engine) OnDemand() []tool.Spec {
	shown, hidden := e.split()
	there := make(map[string]bool, len(shown)+len(hidden)) // a server may have thousands
	for _, s := range append(shown, hidden...) {
		there[s.Name] = true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []tool.Spec
	for _, t := range e.pool() {
		s := t.Spec()
		if there[s.Name] && e.held.active && e.deferrable(s) && !e.held.sent[s.Name] {
			out = append(out, s)
		}
	}
	return out
}

// requested notes which tools a request has.
func (e *Engine) requested(shown []tool.Spec) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range shown {
		if e.deferrable(s) && !slices.Contains(e.held.loaded, s.Name) {
			if e.held.sent == nil {
				e.held.sent = map[string]bool{}
			}
			e.held.sent[s.Name] = true
		}
	}
}

// reload forgets what history no longer shows to have been loaded.
func (e *Engine) reload(history []*msg.Message) {
	var loaded []string
	if e.c.Deferral.Loaded != nil {
		loaded = e.c.Deferral.Loaded(history)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.held.loaded = nil
	for _, n := range loaded {
		if !slices.Contains(e.held.loaded, n) {
			e.held.loaded = append(e.held.loaded, n)
		}
	}
}

// load makes deferred tools part of the requests from now on: the definitions
// go behind those that are there.
func (e *Engine) load(names []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, n := range names {
		if !slices.Contains(e.held.loaded, n) && !e.held.sent[n] {
			e.held.loaded = append(e.held.loaded, n)
			if e.broken == "" && e.sent != "" {
				e.broken = "tools_loaded"
			}
		}
	}
}
