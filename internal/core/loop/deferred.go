package loop

import (
	"github.com/hew-agent/hew/internal/event"
)

// deferred is the call that a hook has put off and that has no answer: it is the
// only one of its reply, because others would lose their results.
func (b *batch) deferred() *call {
	if len(b.calls) == 1 && b.calls[0].deferred != nil && b.calls[0].done == nil {
		return b.calls[0]
	}
	return nil
}

// answerDeferred refuses the calls that were put off and cannot be.
func (b *batch) answerDeferred() {
	for _, c := range b.calls {
		if c.deferred == nil || c.done != nil {
			continue
		}
		b.r.emit(event.Notice{Level: event.Warning, Code: "hook_output", Text: "a hook defers a call that is not the only one of its reply; it was refused instead"})
		b.resolve(c, c.deferred)
	}
}

// putOff ends the run with an open call. The notice keeps in the transcript that
// the call never began and is to be taken up.
func (r *run) putOff(st state, c *call) event.Terminal {
	r.emit(event.Notice{Level: event.Info, Code: event.Deferred, Text: "a hook has put off the call of " + c.use.Name + "; resume the session to take it up again"})
	end := st.stopped(event.ToolDeferred, "a hook has put off the call of "+c.use.Name)
	end.StopReason, end.Deferred = string(event.ToolDeferred), c.use
	return end
}

// takeUp runs the call that history ends with, which asks the hooks again.
func (r *run) takeUp(st state) (state, *event.Terminal) {
	last := st.history[len(st.history)-1]
	b := r.newBatch()
	for _, use := range last.ToolUses() {
		if _, ok := r.Tool(use.Name); !ok {
			end := st.stopped(event.DeferredUnavailable, "the call that was put off cannot be taken up: there is no tool "+use.Name+" now; start with the same tools and servers as before, or send a new prompt")
			end.StopReason, end.Deferred = string(event.DeferredUnavailable), use
			return st, &end
		}
		b.add(use, "", last.ID)
	}
	return r.results(st, &reply{batch: b})
}
