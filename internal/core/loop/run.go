package loop

import (
	"context"
	"errors"

	"github.com/hew-agent/hew/internal/event"
)

// run is one run in progress, used by the consumer's goroutine only; workers
// reach it through reports.
type run struct {
	Config
	ctx     context.Context
	cancel  context.CancelFunc
	yield   func(event.Event) bool
	gone    bool
	reports chan report
}

// emit hands an event to the consumer. A consumer that leaves cancels the run.
func (r *run) emit(b event.Body) {
	if r.gone {
		return
	}
	if !r.yield(event.Event{Body: b}) {
		r.gone = true
		r.cancel()
	}
}

// loop is the whole of it: shape, ask, act, and go round while there is a reason to.
func (r *run) loop(st state) event.Terminal {
	if r.Deferred {
		next, end := r.takeUp(st)
		if end != nil {
			return *end
		}
		st = next
	}
	for {
		next, end := r.turn(st)
		if end != nil {
			return *end
		}
		st = next
	}
}

// turn is one round: a request, its reply, the results of its calls.
func (r *run) turn(st state) (state, *event.Terminal) {
	if end, over := r.limit(st); over {
		return st, &end
	}
	st, err := r.shape(r.steer(st).toward(r.wanted()), Routine{})
	if err != nil {
		end := r.unshaped(st, err)
		return st, &end
	}
	r.emit(event.TurnStarted{Turn: st.turn + 1, Why: st.why})
	rep, st, end := r.ask(st)
	if end != nil {
		return st, end
	}
	st = st.with(rep)
	if r.ctx.Err() != nil {
		end := r.aborted(st, rep)
		return st, &end
	}
	return r.act(st, rep)
}

// limit ends the run before a request that may not be made.
func (r *run) limit(st state) (event.Terminal, bool) {
	if r.ctx.Err() != nil {
		return st.end(event.AbortedStreaming, context.Cause(r.ctx)), true
	}
	if r.MaxTurns > 0 && st.turn >= r.MaxTurns {
		return st.stopped(event.MaxTurns, "Reached maximum number of turns"), true
	}
	if r.Budget == nil {
		return event.Terminal{}, false
	}
	if why, detail := r.Budget(); why != "" {
		return st.stopped(why, detail), true
	}
	return event.Terminal{}, false
}

// wanted is the model to ask first.
func (r *run) wanted() string {
	if r.Model != nil {
		if name := r.Model(); name != "" {
			return name
		}
	}
	return r.Models[0]
}

// steer adds what a person typed while the last turn ran.
func (r *run) steer(st state) state {
	if r.Steer == nil || st.why == atStart {
		return st
	}
	for _, m := range r.Steer(st.history) {
		source := "steer"
		if m.Meta {
			source = "inject"
		}
		r.emit(event.Message{Msg: m, Source: source})
		st = st.join(m)
	}
	return st
}

func (r *run) shape(st state, why Pressure) (state, error) {
	if r.Shaper == nil {
		return st, nil
	}
	w, err := r.Shaper.Shape(r.ctx, Window{Messages: st.history, Used: st.used, Fresh: len(st.history) - st.seen, Model: st.model()}, why, r.emit)
	if err != nil {
		return st, err
	}
	return st.shaped(w), nil
}

// unshaped ends a run whose history no request can be made of.
func (r *run) unshaped(st state, err error) event.Terminal {
	var h *Halt
	switch {
	case r.ctx.Err() != nil:
		return r.interrupted(st, event.AbortedStreaming)
	case errors.As(err, &h):
		return st.end(h.Reason, err)
	}
	return st.end(event.SetupFailed, err)
}

// act runs the calls of a reply and decides whether the loop goes on.
func (r *run) act(st state, rep *reply) (state, *event.Terminal) {
	if len(rep.batch.calls) > 0 {
		return r.results(st, rep)
	}
	if rep.cut {
		return st.ask(r.note(cutNote), afterCut), nil
	}
	return r.finish(st, rep)
}

// finish handles a reply without calls.
func (r *run) finish(st state, rep *reply) (state, *event.Terminal) {
	if next, end, more := r.resumed(st, rep); more {
		return next, end
	}
	if r.Stops != nil {
		stop := r.Stops(r.ctx, rep.message())
		for _, m := range stop.Continue {
			r.emit(event.Message{Msg: m, Source: "inject"})
			st = st.join(m)
		}
		if len(stop.Continue) > 0 {
			return st.next(stop.Why), nil
		}
		if stop.End != "" {
			end := st.stopped(stop.End, stop.Detail)
			return st, &end
		}
	}
	end := st.stopped(event.Completed, "")
	return st, &end
}
