package engine

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/hew-agent/hew/internal/core/loop"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/prompt"
	"github.com/hew-agent/hew/internal/tool"
)

// Child is what makes a subagent's conversation another one than its parent's.
// What is not said here (provider, limits, clock, layout) is the parent's.
type Child struct {
	// Origin names it: the agent's id, and the call that began it.
	Origin event.Origin
	// System is its system prompt, Tools its whole pool.
	System []string
	Tools  []tool.Tool
	// More is as in Config. Optional.
	More func() []tool.Tool
	// Copy tells that it goes on as its parent: History is the parent's, and
	// requests begin with the same bytes. Tools must then be the parent's, one for one.
	Copy bool
	// Model and Effort are the parent's when "".
	Model, Effort string
	Gate          Permissions
	// Cwd is where it works, "" for the parent's current directory; Roots are
	// then Cwd and the parent's other working directories.
	Cwd string
	// History is what it goes on with: nothing, its own past, or its parent's.
	History []*msg.Message
	// Start, Store, Sync, Shaper, Stops, Hooks and Sources are as in Config; each is optional.
	Start   func() (*msg.Message, error)
	Store   Recorder
	Sync    func() error
	Shaper  loop.Shaper
	Stops   func(ctx context.Context, reply *msg.Message) loop.Stop
	Hooks   Hooks
	Sources []prompt.Source
	// Break is as in Config.
	Break string
	// MaxTurns bounds it, 0 for no bound.
	MaxTurns    int
	Interactive bool
}

// Child makes a subagent's engine: the same loop over another conversation.
// What it spends is booked on both, and the parent's budgets bind it too.
func (e *Engine) Child(c Child) *Engine {
	e.mu.Lock()
	model, place := e.model, e.place
	e.mu.Unlock()
	cfg := e.c
	cfg.Place, cfg.Model.Name = place, model
	if c.Model != "" {
		cfg.Model.Name = c.Model
	}
	if c.Effort != "" {
		cfg.Model.Effort = c.Effort
	}
	if c.Cwd != "" {
		cfg.Place.Cwd, cfg.Place.Project = c.Cwd, c.Cwd
		cfg.Place.Roots = append([]string{c.Cwd}, place.Roots[1:]...)
	}
	cfg.System, cfg.Tools, cfg.More, cfg.Gate = c.System, c.Tools, c.More, c.Gate
	cfg.History, cfg.Start, cfg.Store, cfg.Sync = c.History, c.Start, c.Store, c.Sync
	cfg.Shaper, cfg.Stops, cfg.Hooks = c.Shaper, c.Stops, c.Hooks
	cfg.Switches = nil // what a subagent runs on is no change of the session's model
	cfg.MaxTurns, cfg.Interactive = c.MaxTurns, c.Interactive
	if !c.Copy {
		cfg.Tools = slices.DeleteFunc(slices.Clone(c.Tools), func(t tool.Tool) bool { return t.Spec().Name == e.c.Deferral.Search })
		cfg.Deferral = Deferral{} // a child is told of no deferred tools, so it has them all
	}
	cfg.Kinds, cfg.Shapings, cfg.Compacted = nil, nil, nil
	cfg.Deferred, cfg.Output, cfg.Break, cfg.Sent, cfg.Used, cfg.Fresh = false, "", c.Break, "", 0, 0
	if l, ok := e.c.Quarantine.(*prompt.Layouter); ok { // it remembers one conversation
		own := l.Fork()
		cfg.Layout, cfg.Quarantine = own.Layout, own
	}
	cfg.Sources, cfg.Tasks, cfg.Limits, cfg.Events, cfg.Trace = c.Sources, nil, Limits{}, false, nil
	child := New(cfg)
	child.ledger.up, child.ledger.agent, child.origin, child.up = e.ledger, c.Origin.Agent, c.Origin, e
	if c.Copy {
		e.mu.Lock()
		child.held = deferral{e.held.active, maps.Clone(e.held.sent), slices.Clone(e.held.loaded)}
		e.mu.Unlock()
	}
	return child
}

// Aside hands an event to whoever listens to the run under way, or to the next run.
func (e *Engine) Aside(ev event.Event) {
	ev.Origin = e.mark(ev.Origin)
	e.aside.add(ev)
}

// Origin names the conversation: zero for the main one.
func (e *Engine) Origin() event.Origin { return e.origin }

// over says whether a budget of this conversation or of those above it is spent.
func (e *Engine) over(since Totals) (event.Reason, string) {
	if why, detail := e.ledger.over(e.c.Limits, since); why != "" || e.up == nil {
		return why, detail
	}
	e.up.mu.Lock()
	before := e.up.since
	e.up.mu.Unlock()
	return e.up.over(before)
}

// Relay runs a subagent's prompt and shows what happens there among the events
// of the conversation that began it. wake makes the parent's loop look; it is
// the emit of the call that runs the subagent. The sequence holds every event,
// also those that the parent does not show.
func (e *Engine) Relay(ctx context.Context, child *Engine, in Input, wake func()) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		for ev := range child.Submit(ctx, in) {
			ev.Origin = child.mark(ev.Origin)
			if shown(ev.Body) {
				e.aside.add(ev)
				wake()
			}
			if !yield(ev) {
				return
			}
		}
	}
}

// Unshown hands out what subagents have done that no run of this conversation has
// shown. It must not be called while one is under way.
func (e *Engine) Unshown(emit func(event.Event)) {
	for _, ev := range e.aside.take() {
		emit(ev)
	}
}

// mark names an event's conversation; events of deeper ones have their name already.
func (e *Engine) mark(o event.Origin) event.Origin {
	if o == (event.Origin{}) {
		return e.origin
	}
	return o
}

// shown tells what of a subagent's events a surface of the parent hears of:
// what was said and done, not how it arrived.
func shown(b event.Body) bool {
	switch b.(type) {
	case event.Message, event.Retracted, event.ToolStarted, event.ToolFinished, event.Decided, event.HookRan,
		event.Asked, event.Answered, event.ModelCall, event.Compacted, event.Notice, event.TaskChanged, event.Retrying:
		return true
	case event.TurnStarted, event.Delta, event.ToolProgress, event.Shaped, event.Compacting, event.CommandRan, event.Step, event.Done:
		return false
	}
	return false
}

// aside holds the events of subagents until the run's own goroutine passes them
// on: only that one may hand events to a consumer.
type aside struct {
	mu     sync.Mutex
	events []event.Event
}

func (a *aside) add(ev event.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.events = append(a.events, ev)
}

func (a *aside) take() []event.Event {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := a.events
	a.events = nil
	return out
}

// thread tells the requests of one conversation from those of another: each
// extends its own prefix.
func (e *Engine) thread() string {
	if e.origin.Agent == "" {
		return e.Session()
	}
	return e.Session() + "/" + e.origin.Agent
}
