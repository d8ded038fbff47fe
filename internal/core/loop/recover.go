package loop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hew-agent/hew/internal/backend/feature"
	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// Bounds of the recovery ladder; sources are in the specification of the loop
// (three continuations after the output cap, two quick re-sends after thinking
// only, one after a stall).
const (
	maxCapped    = 3
	maxCuts      = 3
	maxMalformed = 3
	maxQuick     = 2
	maxStalls    = 1
	// maxOverloads is how often an overloaded model is tried before the next one
	// of the chain.
	maxOverloads = 3
	// maxBroken is how many streams in a row may break with nothing complete
	// before the reply is asked for in one piece.
	maxBroken = 3
	// maxSheds is how often history is made smaller for one request: once by what
	// is cheap, once by a summary.
	maxSheds = 2
	// maxBlamed is how often one request is sent again without what the server
	// refused of it.
	maxBlamed = 5
	// minOutput is the smallest output cap that is worth a request, in tokens.
	minOutput = 1024
)

// Texts that the model reads. They are part of the conversation.
const (
	cutNote   = "Your reply was cut off by a connection error. Continue exactly where it stopped; do not repeat what is already there."
	capNote   = "Your reply reached the output limit. Continue exactly where it stopped; do not repeat what is already there. Break large pieces of work into smaller steps."
	abortNote = "[Request interrupted by user]"
	toolsNote = "[Request interrupted by user for tool use]"
)

// progress says how far a failed reply had come.
type progress int

const (
	gotNothing  progress = iota
	gotThinking          // only reasoning was complete
	gotBlocks            // text or a call was complete
)

func (p *reply) progress() progress {
	got := gotNothing
	for _, b := range p.blocks {
		if _, ok := b.(*msg.Thinking); !ok {
			return gotBlocks
		}
		got = gotThinking
	}
	return got
}

// step is one move of the ladder.
type step int

const (
	fail    step = iota
	again        // send the request again after delay
	keep         // keep the complete blocks and go on
	change       // next model of the chain
	whole        // ask for the reply in one piece
	shrink       // ask for less output
	reduce       // make history smaller
	blame        // leave out what the server refuses
	plainly      // ask without thinking
)

// ladder counts what was already tried for one reply.
type ladder struct {
	retries                                int
	tries, quick, stalls, overload, broken int
	whole, noWhole                         bool
	fallback                               bool // another model is left
	cuts                                   int
	sheds                                  int  // history made smaller
	reduced                                bool // as far as it goes
	cap                                    int
	blamed                                 int
	plain                                  bool
}

// next decides what to do about a failure. It is a pure function of the
// counters, so that the whole ladder can be tested as a table.
func (l *ladder) next(e *provider.Error, got progress) step {
	switch e.Class {
	case provider.TooLong:
		return l.overflow()
	case provider.BodyTooLarge:
		if !l.reduced {
			return l.overflow()
		}
		return l.accuse(got)
	case provider.Invalid, provider.BadImage:
		if e.WantsThinking && !l.plain {
			l.plain = true
			return plainly
		}
		return l.accuse(got)
	case provider.OutputTooLarge:
		if e.MaxTokens >= minOutput && (l.cap == 0 || e.MaxTokens < l.cap) {
			l.cap = e.MaxTokens
			return shrink
		}
		return l.overflow()
	case provider.Overloaded, provider.Server, provider.NotFound:
		if l.fallback && l.switches(e.Class, got) {
			return change
		}
	case provider.RateLimited, provider.Timeout, provider.Connection, provider.Truncated, provider.Stalled,
		provider.Auth, provider.Forbidden, provider.Billing, provider.Certificate, provider.Protocol, provider.Credential:
	}
	if got == gotBlocks {
		if l.cuts < maxCuts && (e.Class.Retryable() || e.Class == provider.Protocol) {
			return keep
		}
		return fail
	}
	return l.resend(e, got)
}

// accuse leaves out what a server refuses, as long as that is worth a try.
func (l *ladder) accuse(got progress) step {
	if got == gotBlocks || l.blamed >= maxBlamed {
		return fail
	}
	l.blamed++
	return blame
}

func (l *ladder) overflow() step {
	if l.reduced {
		return fail
	}
	l.sheds++
	l.reduced = l.sheds == maxSheds
	return reduce
}

// switches tells whether it is time for the next model. A model that broke off
// in the middle of its reply is replaced at once.
func (l *ladder) switches(c provider.Class, got progress) bool {
	l.overload++
	return c == provider.NotFound || got != gotNothing || l.overload >= maxOverloads
}

// resend handles failures after which nothing is worth keeping.
func (l *ladder) resend(e *provider.Error, got progress) step {
	broken := e.Class == provider.Truncated || e.Class == provider.Stalled || e.Class == provider.Protocol
	if broken {
		l.broken++
	}
	canWhole := broken && !l.whole && !l.noWhole
	if canWhole && (l.broken >= maxBroken || e.Class == provider.Protocol || (e.Class == provider.Stalled && l.stalls >= maxStalls)) {
		l.whole = true
		return whole
	}
	if !e.Class.Retryable() || l.tries >= l.retries {
		return fail
	}
	if e.Class == provider.Stalled {
		l.stalls++
	}
	l.tries++
	return again
}

// delay is the pause before the next try.
func (l *ladder) delay(e *provider.Error, got progress, jitter float64) time.Duration {
	if got == gotThinking && l.quick < maxQuick {
		l.quick++
		return 0
	}
	return provider.Backoff(l.tries, e.RetryAfter, jitter)
}

// ask gets one reply, by whatever way the ladder finds. It returns the state
// under which the reply was made, and an end when there is no reply.
func (r *run) ask(st state) (*reply, state, *event.Terminal) {
	l := &ladder{retries: r.retries(), noWhole: r.NoWhole, cuts: st.cuts, reduced: st.overflowed, plain: st.plain}
	for {
		l.fallback = st.rung+1 < len(st.models)
		rep := r.attempt(st, Attempt{Model: st.model(), MaxTokens: st.cap, Whole: l.whole, Break: st.brk, Plain: st.plain})
		if rep.err == nil || r.ctx.Err() != nil {
			r.settle(rep)
			return rep, st, nil
		}
		e := asError(rep.err)
		got := rep.progress()
		move := l.next(e, got)
		if move == keep {
			rep.cut = true
			r.settle(rep)
			return rep, st, nil
		}
		next, err := r.move(st, rep, l, move, e)
		if err != nil {
			r.giveUp(rep, e)
			end := st.end(reasonOf(e), err)
			return nil, st, &end
		}
		st = next
		l.reduced = l.reduced || st.overflowed
	}
}

// settle shows what was held back while the reply arrived. The text of a block
// that an interrupt broke is kept as far as it came.
func (r *run) settle(rep *reply) {
	if r.ctx.Err() != nil && rep.open.Len() > 0 {
		r.show(rep, false)
		r.block(rep, provider.BlockDone{Block: msg.NewText(rep.open.String())})
	}
	r.show(rep, true)
	r.release(rep)
}

// move carries out a step of the ladder that discards the reply.
func (r *run) move(st state, rep *reply, l *ladder, s step, e *provider.Error) (state, error) {
	got := rep.progress()
	r.retract(rep, e)
	switch s {
	case again:
		d := l.delay(e, got, r.Jitter())
		r.emit(event.Retrying{Attempt: l.tries, Max: l.retries, Delay: d, Status: e.Status, Category: string(e.Class)})
		if err := r.Sleep(r.ctx, d); err != nil {
			return st, err
		}
	case change:
		from := st.model()
		if r.FallsBack != nil {
			if err := r.FallsBack(from, st.models[st.rung+1]); err != nil {
				return st, fmt.Errorf("%s is not available (%s), and %w", from, e.Class, err)
			}
		}
		st.rung++
		st.brk = "model"
		l.tries, l.overload, l.broken, l.stalls, l.quick = 0, 0, 0, 0, 0
		r.emit(event.Notice{Level: event.Warning, Code: event.ModelFallback, Text: fmt.Sprintf("%s is not available (%s); this turn goes on with %s", from, e.Class, st.model())})
	case whole:
		r.emit(event.Notice{Level: event.Warning, Code: "stream_fallback", Text: fmt.Sprintf("the stream broke %d times (%s); asking for the reply in one piece", l.broken, e.Class)})
	case shrink:
		st.cap = e.MaxTokens
	case reduce:
		if e.Class != provider.BodyTooLarge {
			return r.reduce(st, e)
		}
		if next, err := r.reduce(st, e); err == nil {
			return next, nil
		}
		st.overflowed = true
		return r.blame(st, rep, e) // a gateway takes less than the window holds
	case blame:
		return r.blame(st, rep, e)
	case plainly:
		st.plain = true
		r.emit(event.Notice{Level: event.Warning, Code: "without_thinking", Text: "the model's API misses reasoning that this conversation does not hold any more; this run goes on without thinking"})
	case fail, keep:
		return st, e
	}
	return st, nil
}

// blame has the refused part of the request left out.
func (r *run) blame(st state, rep *reply, e *provider.Error) (state, error) {
	if r.Quarantine == nil {
		return st, e
	}
	n, found := r.Quarantine.Blame(rep.sent, e)
	if !found {
		return st, e
	}
	r.emit(n)
	st.brk = "repair"
	return st, nil
}

// giveUp takes a turn that the server refuses out of the conversation, which
// would otherwise be refused for ever.
func (r *run) giveUp(rep *reply, e *provider.Error) {
	if r.Quarantine == nil || r.ctx.Err() != nil || e.Class != provider.Invalid && e.Class != provider.BadImage {
		return
	}
	if n, found := r.Quarantine.GiveUp(rep.sent, e); found {
		r.emit(n)
	}
}

// reduce asks the shaper to make history fit.
func (r *run) reduce(st state, cause *provider.Error) (state, error) {
	if !feature.ReactiveCompact || r.Shaper == nil {
		return st, cause
	}
	return r.relieve(st, cause)
}

// relieve compacts after a refusal.
func (r *run) relieve(st state, cause *provider.Error) (state, error) {
	again := st.shed
	st.shed, st.overflowed = true, true
	next, err := r.shape(st, Overflow{Tokens: cause.Tokens, Window: cause.Window, Again: again})
	if err != nil {
		return st, fmt.Errorf("%w (%w)", cause, err)
	}
	if next.brk == "" {
		return st, cause
	}
	next.why = afterShape
	next.overflowed = again || next.summarised
	return next, nil
}

// retract takes back what consumers have seen of a reply that is discarded.
func (r *run) retract(rep *reply, e *provider.Error) {
	rep.batch.drop(rep.waiting)
	rep.waiting = nil
	ids := rep.shown
	if rep.held != nil {
		ids = ids[:len(ids)-1]
	}
	if len(ids) > 0 {
		r.emit(event.Retracted{IDs: ids, Reason: string(e.Class)})
	}
}

// resumed continues a reply that did not end by the model's own choice.
func (r *run) resumed(st state, rep *reply) (state, *event.Terminal, bool) {
	switch rep.stop {
	case provider.StopMaxTokens, provider.StopWindowReached:
		if st.capped >= maxCapped {
			end := st.end(event.APIError, fmt.Errorf("the reply reached the output limit %d times in a row; raise CLAUDE_CODE_MAX_OUTPUT_TOKENS or ask for a smaller step", maxCapped+1))
			return st, &end, true
		}
		st.capped++
		if r.MaxOutput != nil {
			st.cap = r.MaxOutput(st.model())
		}
		return st.ask(r.note(capNote), afterCap), nil, true
	case provider.StopPause:
		return st.next(afterPause), nil, true
	case provider.StopRefusal:
		end := st.end(event.ModelError, errors.New("the model declined to answer"))
		return st, &end, true
	}
	return st, nil, false
}

// aborted ends a run that was cancelled while the reply arrived.
func (r *run) aborted(st state, rep *reply) event.Terminal {
	why := event.AbortedStreaming
	if len(rep.batch.calls) > 0 {
		rep.batch.finish(true)
		st = st.answered(rep.batch)
	}
	return r.interrupted(st, why)
}

// interrupted notes a person's interrupt in the conversation. A shutdown
// leaves no note: the turn goes on when the session is resumed.
func (r *run) interrupted(st state, why event.Reason) event.Terminal {
	cause := context.Cause(r.ctx)
	if errors.Is(cause, ErrInterrupted) {
		text := abortNote
		if why == event.AbortedTools {
			text = toolsNote
		}
		st = st.join(r.note(text))
	}
	return st.end(why, cause)
}

// note makes a user message in the harness's own voice.
func (r *run) note(text string) *msg.Message {
	m := msg.User(r.NewID(), r.Now(), text)
	m.Meta = true
	r.emit(event.Message{Msg: m, Source: "inject"})
	return m
}

func (r *run) retries() int {
	if r.Retries == 0 {
		return provider.DefaultRetries
	}
	return r.Retries
}

func asError(err error) *provider.Error {
	var pe *provider.Error
	if errors.As(err, &pe) {
		return pe
	}
	return &provider.Error{Class: provider.Connection, Message: err.Error(), Err: err}
}

func reasonOf(e *provider.Error) event.Reason {
	switch e.Class {
	case provider.TooLong, provider.OutputTooLarge, provider.BodyTooLarge:
		return event.PromptTooLong
	case provider.BadImage:
		return event.ImageError
	case provider.Overloaded, provider.RateLimited, provider.Server, provider.Timeout, provider.Connection,
		provider.Truncated, provider.Stalled, provider.Auth, provider.Forbidden, provider.Billing,
		provider.NotFound, provider.Invalid, provider.Certificate, provider.Protocol, provider.Credential:
		return event.APIError
	}
	return event.APIError
}
