package loop

import (
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// Reasons for going round again, as they stand in TurnStarted.Why.
const (
	atStart    = "start"
	afterTools = "tool_results"
	afterCap   = "max_tokens"
	afterCut   = "reply_cut"
	afterPause = "pause_turn"
	afterShape = "compacted"
)

// state is the whole of what one iteration hands to the next. It is replaced,
// not changed: every way of continuing is a method that returns a new value.
type state struct {
	history []*msg.Message
	turn    int
	why     string
	models  []string
	// rung is the index in models of the one that answers in this run.
	rung int
	// cap overrides the output cap, 0 for none.
	cap int
	// capped, cuts and malformed count events in a row; shed is set once
	// the window was shrunk because the provider refused a request, overflowed once
	// nothing more can be taken from it.
	capped, cuts, malformed int
	shed, overflowed        bool
	summarised              bool // by the last shaping
	// plain is set once the provider missed thinking that history has no more.
	plain      bool
	brk        string
	usage      msg.Usage
	used, seen int
	calls      int
	denied     []event.Denial
	text       string
	stop       string
	output     []byte
}

func newState(history []*msg.Message, c Config) state {
	st := state{history: history[:len(history):len(history)], models: c.Models, why: atStart}
	if c.Used > 0 {
		st.used, st.seen = c.Used, max(0, len(history)-c.Fresh)
	}
	return st
}

func (st state) model() string { return st.models[st.rung] }

// toward goes on with another first model; the fallbacks stay.
func (st state) toward(model string) state {
	if st.models[0] != model {
		st.models, st.rung = append([]string{model}, st.models[1:]...), 0
	}
	return st
}

// with adds a reply.
func (st state) with(rep *reply) state {
	if rep.err == nil || len(rep.blocks) > 0 {
		st.turn++
	}
	if rep.err == nil {
		st.shed, st.overflowed = false, false
	}
	st.brk = ""
	st.usage = st.usage.Add(rep.usage)
	st.stop = rep.stop
	if rep.cut {
		st.cuts++
	} else {
		st.cuts = 0
	}
	if st.why != afterCap && st.why != afterCut && st.why != afterPause {
		st.text = ""
	}
	m := rep.message()
	if m == nil {
		return st
	}
	st.text += m.Text()
	st.history = append(st.history, m)
	if n := rep.usage.Context(); n > 0 {
		st.used, st.seen = n, len(st.history)
	}
	return st
}

// answered adds the results of a batch, in call order, as one user message,
// and after it what the calls injected.
func (st state) answered(b *batch) state {
	m, bad := b.message()
	st.calls += len(b.calls)
	st.denied = append(st.denied, b.denied()...)
	st.history = append(append(st.history, m), b.injected...)
	if bad {
		st.malformed++
	} else {
		st.malformed = 0
	}
	return st
}

// join adds a message. It stays one of its own, also after tool results and
// beside its like: so it stands in the transcript, and a resumed request must
// begin with the bytes of this one.
func (st state) join(m *msg.Message) state {
	st.history = append(st.history, m)
	return st
}

func (st state) next(why string) state {
	st.why = why
	if why == afterTools {
		st.capped = 0
	}
	return st
}

func (st state) ask(m *msg.Message, why string) state {
	return st.join(m).next(why)
}

func (st state) shaped(w Window) state {
	if w.Break != "" {
		st.brk = w.Break
		st.used, st.seen = 0, 0
	}
	st.history, st.summarised = w.Messages, w.Summarised
	return st
}

// stopped ends the run without an error.
func (st state) stopped(why event.Reason, detail string) event.Terminal {
	return event.Terminal{
		Reason: why, Turns: st.turn, Calls: st.calls, Usage: st.usage, StopReason: st.stop, Text: st.text,
		Output: st.output, Denied: st.denied, History: st.history, Detail: detail,
		Used: st.used, Fresh: len(st.history) - st.seen,
	}
}

// end ends the run with an error.
func (st state) end(why event.Reason, err error) event.Terminal {
	t := st.stopped(why, "")
	t.Err = err
	if err != nil {
		t.Detail = err.Error()
	}
	t.Status = statusOf(err)
	return t
}

func denial(c *call) event.Denial {
	return event.Denial{Tool: c.use.Name, UseID: c.use.ID, Input: c.use.Input}
}

// refusedBy tells whether a call was refused by a permission decision.
func refusedBy(r *tool.Refusal) bool { return r != nil && r.Decision.Behavior == tool.Deny }
