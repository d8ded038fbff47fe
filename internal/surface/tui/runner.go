package tui

import (
	"context"
	"sync"

	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/surface/view"
)

// runner submits prompts, one after the other, and folds what comes of them. It
// is the one goroutine that runs the conversation; everything between two runs
// happens on it, too.
type runner struct {
	live  *Live
	store *view.Store
	c     *Config

	mu sync.Mutex
	// held are messages that do not join a run: commands, and what was said after one.
	held []*msg.Message
	// between is what needs the conversation at rest.
	between []func()
	busy    bool
	wake    chan struct{}
	// source of the next prompt that was not typed.
	session string
	// reset is called after the conversation was replaced by another, rested when a run is over.
	reset, rested func()
}

func newRunner(c *Config, l *Live, s *view.Store, reset, rested func()) *runner {
	return &runner{live: l, store: s, c: c, wake: make(chan struct{}, 1), session: l.Engine.Session(), reset: reset, rested: rested}
}

func (r *runner) stir() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// say takes a prompt in: it joins the run under way, or becomes one.
func (r *runner) say(m *msg.Message) {
	r.mu.Lock()
	if len(r.held) > 0 || r.live.Commands.Calls(m) {
		r.held = append(r.held, m)
		r.mu.Unlock()
		r.stir()
		return
	}
	r.mu.Unlock()
	r.live.Engine.Steer(m)
	r.stir()
}

// rest calls do when no run is under way.
func (r *runner) rest(do func()) {
	r.mu.Lock()
	r.between = append(r.between, do)
	r.mu.Unlock()
	r.stir()
}

// waiting are the messages that no run has taken up, oldest first.
func (r *runner) waiting() []string {
	ids := r.live.Engine.Waiting()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.held {
		ids = append(ids, m.ID)
	}
	return ids
}

// withdraw takes a message back; false when a run has it.
func (r *runner) withdraw(id string) bool {
	if r.live.Engine.Withdraw(id) {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, m := range r.held {
		if m.ID == id {
			r.held = append(r.held[:i:i], r.held[i+1:]...)
			return true
		}
	}
	return false
}

// running tells that a run is under way, or about to begin.
func (r *runner) running() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.busy
}

func (r *runner) next() *msg.Message {
	if m := r.live.Engine.Queued(); m != nil {
		return m
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.held) == 0 {
		return nil
	}
	m := r.held[0]
	r.held = r.held[1:]
	return m
}

func (r *runner) idle() func() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.between) == 0 {
		return nil
	}
	do := r.between[0]
	r.between = r.between[1:]
	return do
}

// work runs what is said until ctx ends.
func (r *runner) work(ctx context.Context) {
	for ctx.Err() == nil {
		r.drain(ctx)
		waiting, stop := context.WithCancel(ctx)
		woke := r.wait(waiting)
		var m *msg.Message
		select {
		case <-r.wake:
		case <-r.live.TaskEnded:
		case m = <-woke:
			woke = nil
		case <-ctx.Done():
		}
		stop()
		if woke != nil {
			m = <-woke // what came at the same moment is not lost
		}
		if m != nil && ctx.Err() == nil {
			r.run(ctx, engine.Input{Message: m, Source: "automatic"})
		}
	}
}

func (r *runner) drain(ctx context.Context) {
	for ctx.Err() == nil {
		for do := r.idle(); do != nil; do = r.idle() {
			do()
		}
		for _, t := range r.live.Tasks() {
			r.store.Apply(event.Event{Body: t}, r.c.Now())
		}
		m := r.next()
		if m == nil {
			return
		}
		r.run(ctx, engine.Input{Message: m, Source: "typed"})
	}
}

// wait asks in the background what the conversation goes on with by itself; the
// answer is nil when ctx ends.
func (r *runner) wait(ctx context.Context) chan *msg.Message {
	woke := make(chan *msg.Message, 1)
	go func() {
		m := r.live.Next(ctx)
		if m == nil {
			<-ctx.Done()
		}
		woke <- m
	}()
	return woke
}

func (r *runner) setBusy(now bool) {
	r.mu.Lock()
	r.busy = now
	r.mu.Unlock()
}

func (r *runner) run(ctx context.Context, in engine.Input) {
	r.setBusy(true)
	defer func() {
		r.setBusy(false)
		r.rested() // the run's last event was before that
	}()
	for ev := range r.live.Commands.Submit(ctx, in) {
		r.store.Apply(ev, r.c.Now())
	}
	if id := r.live.Engine.Session(); id != r.session {
		r.session = id
		r.reset()
	}
}
