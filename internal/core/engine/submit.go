package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/core/loop"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/session"
)

// Input is one prompt.
type Input struct {
	// Message may be nil when a deferred call is to be taken up; see Engine.Deferring.
	Message *msg.Message
	// Source says how it came: typed, sdk, queue, ….
	Source string
}

// NotSaved ends a run whose events could not be written down. What was said
// so far is in the transcript; nothing was shown that is not.
type NotSaved struct{ Err error }

// Error tells what to do.
func (n *NotSaved) Error() string {
	return "cannot write the session's transcript: " + n.Err.Error() + "; the session is intact up to here: free some space or check the folder's permissions, then resume it"
}

// Unwrap returns the cause.
func (n *NotSaved) Unwrap() error { return n.Err }

// Submit runs one prompt to its end. The sequence ends with event.Done; a
// consumer that leaves earlier interrupts the run, which is still brought to
// an orderly end before the sequence returns.
func (e *Engine) Submit(ctx context.Context, in Input) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		s := &submission{e: e, yield: yield, cancel: cancel}
		e.mu.Lock()
		e.cancel, e.tried = cancel, 0
		e.mu.Unlock()
		defer func() {
			e.mu.Lock()
			e.cancel = nil
			e.mu.Unlock()
		}()
		s.run(ctx, in)
	}
}

// submission is one Submit in progress.
type submission struct {
	e      *Engine
	yield  func(event.Event) bool
	cancel context.CancelCauseFunc
	gone   bool
	failed error
	doubts signals
	// asked tells that a request was made; calls are the ids of those that came
	// since the last one, ended those that have a result, with is what hooks add to
	// the next.
	asked bool
	calls []string
	ended []event.ToolFinished
	with  []*msg.Message
	// from are the sources of messages that join the conversation next, by id.
	from map[string]string
}

func (s *submission) run(ctx context.Context, in Input) {
	e := s.e
	reception, heard := s.received(ctx, in)
	if reception.Blocked {
		s.refused(reception, heard)
		return
	}
	c := s.config(ctx)
	e.step(event.Step{Name: event.StepSettings})
	since := e.ledger.Totals()
	e.mu.Lock()
	e.since, e.warned = since, false
	e.mu.Unlock()
	e.step(event.Step{Name: event.StepState})
	begin := s.begin
	if e.deferred {
		begin = s.takeUp
	}
	history, err := begin(ctx, in, reception.With, heard)
	if err != nil {
		s.pass(event.Event{Body: event.Done{Terminal: event.Terminal{
			Reason: event.SetupFailed, History: e.history, Err: err, Detail: err.Error(),
		}}})
		return
	}
	e.step(event.Step{Name: event.StepContext})
	c.Deferred, c.Used, c.Fresh = e.deferred, e.used, len(e.history)-e.seen
	for ev := range loop.Run(ctx, c, history) {
		for _, a := range e.aside.take() {
			s.keep(a)
		}
		if d, ok := ev.Body.(event.Done); ok {
			if d.Terminal.Err != nil && e.c.Hooks != nil {
				e.c.Hooks.Failed(ctx, d.Terminal, s.hear)
			}
			s.notKept(e.settle(ctx))
			ev.Body = event.Done{Terminal: s.close(d.Terminal)}
			s.pass(ev)
			return
		}
		s.keep(ev)
	}
}

// begin records the prompt, and on a new conversation what stands before it;
// with is what hooks add, heard what happened while they did.
func (s *submission) begin(ctx context.Context, in Input, with []*msg.Message, heard []event.Body) ([]*msg.Message, error) {
	e := s.e
	in.Message = s.admit(in.Message)
	if e.c.Store != nil {
		if err := e.c.Store.Prompt(in.Message, session.Prompt{Source: in.Source}); err != nil {
			return nil, &NotSaved{err}
		}
	}
	history := slices.Clone(e.history)
	if !e.started && e.c.Start != nil {
		m, err := e.c.Start()
		if err != nil {
			return nil, &NotSaved{err}
		}
		e.opened(m)
		if m != nil {
			history = append([]*msg.Message{m}, history...)
		}
	} else if !e.traced {
		e.opened(nil)
	}
	e.traced = true
	e.started = true
	history = append(history, in.Message)
	e.history = history
	for _, b := range heard {
		s.hear(b)
	}
	s.pass(event.Event{Body: event.Message{Msg: in.Message, Source: "prompt"}})
	e.enters(event.Message{Msg: in.Message, Source: "prompt"})
	s.notKept(e.checkpoint(in.Message.ID))
	e.facts.said(in.Message)
	for _, m := range with {
		history = append(history, m)
		s.hear(event.Message{Msg: m, Source: "inject"})
	}
	for _, said := range s.learn(ctx, history) {
		history = append(history, said.Message)
		s.hear(event.Message{Msg: said.Message, Source: "inject"})
	}
	e.history = history
	return history, nil
}

// keep writes an event down and hands it on. When it cannot be written the run
// ends, and nobody hears of what is not in the transcript.
func (s *submission) keep(ev event.Event) {
	if ev.Origin.Agent != "" && ev.Origin != s.e.origin { // a subagent keeps its own transcript
		if s.failed == nil {
			s.pass(ev)
		}
		return
	}
	if c, ok := ev.Body.(event.ModelCall); ok {
		s.e.ledger.timed(c)
		if c.Err == "" && c.Side == "" {
			s.e.replied()
		}
	}
	ev.Body = s.joined(ev.Body)
	s.e.follow(ev.Body)
	s.doubts.hear(ev.Body)
	if s.failed != nil {
		return
	}
	if s.e.c.Hooks != nil {
		s.note(ev.Body)
	}
	if s.e.c.Store != nil {
		if err := s.e.c.Store.Record(ev.Body); err != nil {
			s.failed = &NotSaved{err}
			s.cancel(s.failed)
			return
		}
	}
	s.pass(ev)
	s.e.enters(ev.Body)
}

func (s *submission) pass(ev event.Event) {
	if s.e.c.Trace != nil {
		s.e.c.Trace(ev)
	}
	if s.gone {
		return
	}
	if !s.yield(ev) {
		s.gone = true
		s.cancel(loop.ErrInterrupted)
	}
}

// close books the end of a run.
func (s *submission) close(t event.Terminal) event.Terminal {
	e := s.e
	t.Signals = s.doubts.list()
	e.mu.Lock()
	e.deferred = t.Reason == event.ToolDeferred
	e.history, e.used, e.seen = t.History, t.Used, len(t.History)-t.Fresh
	e.mu.Unlock()
	if s.failed == nil && e.c.Store != nil {
		if err := errors.Join(e.c.Store.Cost(e.account()), e.c.Sync()); err != nil {
			s.failed = &NotSaved{err}
		}
	}
	if s.failed != nil {
		t.Reason, t.Err, t.Detail = event.SetupFailed, s.failed, s.failed.Error()
	}
	return t
}

// account is what the transcript keeps of the cost.
func (e *Engine) account() session.Cost {
	t := e.ledger.Totals()
	type entry struct {
		InputTokens  int     `json:"inputTokens"`
		OutputTokens int     `json:"outputTokens"`
		CacheRead    int     `json:"cacheReadInputTokens"`
		CacheWrite   int     `json:"cacheCreationInputTokens"`
		CostUSD      float64 `json:"costUSD"`
	}
	models := map[string]entry{}
	for _, m := range t.Models {
		models[m.Model.ID] = entry{m.Usage.InputTokens, m.Usage.OutputTokens, m.Usage.CacheReadInputTokens, m.Usage.CacheCreationInputTokens, m.CostUSD}
	}
	raw, err := json.Marshal(models)
	if err != nil {
		raw = nil // numbers only: cannot fail
	}
	return session.Cost{
		TotalUSD: t.CostUSD, APIDuration: t.API.Milliseconds(), Duration: e.c.Now().Sub(e.began).Milliseconds(),
		StartTime: e.began.UnixMilli(), ModelUsage: raw,
	}
}

// config settles what holds for one run; what is known of history comes later.
func (s *submission) config(ctx context.Context) loop.Config {
	e := s.e
	e.mu.Lock()
	models := append([]string{e.model}, e.c.Model.Fallbacks...)
	e.mu.Unlock()
	return loop.Config{
		Provider: e.c.Model.Provider, Models: models, Build: e.build, Tool: e.find, Env: e.env,
		FallsBack: s.fallsBack(ctx),
		Gate:      watched{e.saved(), &e.facts}, Shaper: s.shaper(), Quarantine: e.c.Quarantine, Steer: func(h []*msg.Message) []*msg.Message { return s.steer(ctx, h) }, Stops: s.stops, Apply: e.apply, Bound: e.bound,
		Model:     func() string { model, _ := e.lent(); return model },
		Spent:     func(name string, u msg.Usage) { e.ledger.add(e.c.Model.Lookup(name), u) },
		Budget:    func() (event.Reason, string) { return s.budget(ctx) },
		MaxTurns:  e.c.MaxTurns,
		MaxOutput: e.ceiling, Retries: e.c.Model.Retries, NoWhole: e.c.Model.NoWhole,
		Concurrency: e.c.Concurrency, Events: e.c.Events,
		Now: e.c.Now, Sleep: e.c.Sleep, Jitter: e.c.Jitter, NewID: e.c.NewID,
	}
}

// ceiling is the output cap for a reply that its cap cut short; a cap that the
// user chose stays.
func (e *Engine) ceiling(name string) int {
	if e.c.Model.MaxOutput > 0 {
		return 0
	}
	return e.c.Model.Lookup(name).MaxOutput
}

// build lays out one request of the conversation.
func (e *Engine) build(history []*msg.Message, a loop.Attempt) *provider.Request {
	r := e.lay(history, a)
	if why := e.breaks(a.Break, e.prefix(r.Model)); why != "" { // the layout may have a reason of its own
		r.Break = why
	}
	return r
}

// lay lays out a request.
func (e *Engine) lay(history []*msg.Message, a loop.Attempt) *provider.Request {
	m := e.c.Model.Lookup(a.Model)
	e.mu.Lock()
	e.asked = history
	e.mu.Unlock()
	r := &provider.Request{
		Model: m.ID, MaxTokens: a.MaxTokens, Whole: a.Whole,
		Effort: e.c.Model.Effort, Mark: e.c.Model.CacheTTL, Session: e.thread(),
	}
	if _, effort := e.lent(); effort != "" {
		r.Effort = effort
	}
	if r.MaxTokens == 0 {
		r.MaxTokens = e.c.Model.MaxOutput
	}
	if r.MaxTokens == 0 {
		r.MaxTokens = m.DefaultOutput
	}
	if !a.Plain {
		r.Thinking = thinking(e.Thinking(), m, r.MaxTokens)
	}
	if !m.Effort {
		r.Effort = ""
	}
	for _, s := range e.c.System {
		r.System = append(r.System, provider.SystemBlock{Text: s})
	}
	shown, _ := e.split()
	e.requested(shown)
	for _, s := range shown {
		r.Tools = append(r.Tools, e.def(s))
	}
	e.c.Layout(r, history)
	return r
}

// breaks says why a request cannot extend the last one, "" when it can. asked
// is the loop's own reason.
func (e *Engine) breaks(asked, prefix string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if asked != "" {
		e.broken = asked
	}
	if e.broken == "" {
		e.broken = changed(e.sent, prefix)
	}
	e.sending = prefix
	return e.broken
}

// replied notes that the newest request was taken: the next one extends it.
func (e *Engine) replied() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.broken, e.sent = "", e.sending
}

// thinking fits the wish to what the model can do: a budget must stay below
// the output cap.
func thinking(want provider.Thinking, m provider.Model, limit int) provider.Thinking {
	switch {
	case !m.Thinks, want == provider.Thinking{}:
		return provider.Thinking{}
	case m.Adaptive:
		return provider.Thinking{Adaptive: true, Display: want.Display}
	}
	budget := want.Budget
	if budget == 0 || budget >= limit {
		budget = limit - 1
	}
	return provider.Thinking{Budget: budget}
}

const maxOutputTries = 5

// stops decides about a reply without calls: a demanded output is demanded
// again, then the caller is asked.
func (e *Engine) stops(ctx context.Context, reply *msg.Message) loop.Stop {
	if e.c.Output != "" {
		e.tried++
		if e.tried > maxOutputTries {
			return loop.Stop{End: event.OutputExhausted, Detail: fmt.Sprintf("the model did not call %s in %d replies", e.c.Output, maxOutputTries)}
		}
		m := msg.User(e.c.NewID(), e.c.Now(), "You must call the "+e.c.Output+" tool with your final answer. Call it now.")
		m.Meta = true
		return loop.Stop{Continue: []*msg.Message{m}, Why: "structured_output"}
	}
	if e.c.Stops == nil {
		return loop.Stop{}
	}
	return e.c.Stops(ctx, reply)
}

// Sleep waits for d on the real clock; it is Config.Sleep outside tests.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
