package loop

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// Answers to calls that were not executed.
const (
	notRunCut       = "This call was not run: the reply was cut off before it was complete. Call the tool again if the call is still wanted."
	notRunInterrupt = "The call was interrupted by the user and may be only partly done."
	notRunStopped   = "This call was not run: the user stopped the turn."
	malformedText   = "The input of this call is not valid JSON. Send the whole call again."
)

// call is one tool_use on its way to a result.
type call struct {
	use       *msg.ToolUse
	entry     string // id of the message that shows the tool_use
	malformed string
	// layer names what kept the call from being judged at all; see event.ToolFinished.
	layer   string
	check   string // see tool.Traits
	planned *tool.Planned
	env     tool.Env
	// answer is set when the call can be answered without running it.
	answer *tool.Result
	safe   bool
	// late is an admitted call that a hook made unsafe: it runs alone, later.
	late *tool.Admitted
	// deferred is the outcome of a call that a hook has put off.
	deferred *outcome
	started  bool
	done     *event.ToolFinished
	refusal  *tool.Refusal
	verdict  tool.Verdict
	output   []byte
	ended    bool
}

// report is what a worker tells the loop: an event to show, or how its call went.
type report struct {
	call *call
	body event.Body
	fin  *outcome
}

type outcome struct {
	admitted *tool.Admitted
	late     bool
	refusal  *tool.Refusal
	result   tool.Result
	verdict  tool.Verdict
	took     time.Duration
	ran      bool
}

// batch is all calls of one reply, in order.
type batch struct {
	r       *run
	ctx     context.Context
	cancel  context.CancelFunc
	calls   []*call
	running int
	// early is true as long as every call so far may start while the reply arrives.
	early   bool
	stopped bool
	moved   bool // an effect changed the environment since the plans were made
	// injected are the messages of the calls' effects, in the order of the transcript.
	injected []*msg.Message
}

func (r *run) newBatch() *batch {
	ctx, cancel := context.WithCancel(r.ctx)
	return &batch{r: r, ctx: ctx, cancel: cancel, early: true}
}

// add plans a call and starts it at once when it and all before it are safe to
// run beside others.
func (b *batch) add(use *msg.ToolUse, malformed, entry string) {
	c := &call{use: use, entry: entry, malformed: malformed}
	b.calls = append(b.calls, c)
	b.r.emit(event.Step{Name: event.StepDispatch, Tool: use.Name, Use: use.ID})
	b.plan(c)
	if c.answer != nil {
		return
	}
	b.early = b.early && c.safe
	if b.early && b.running < b.r.concurrency() {
		b.start(c)
	}
}

// plan validates the call. What cannot run is answered here; nothing has
// asked for permission and no hook has fired yet.
func (b *batch) plan(c *call) {
	c.answer, c.planned, c.layer = nil, nil, ""
	if c.malformed != "" {
		c.reject(malformedText)
		return
	}
	t, ok := b.r.Tool(c.use.Name)
	if !ok {
		if t != nil {
			c.layer = event.PreFilter
		}
		c.reject("Error: No such tool available: " + c.use.Name)
		return
	}
	c.env = b.r.Env()
	c.env.Use = c.use.ID
	planned, err := t.Plan(c.use.Input, c.env)
	if err != nil {
		c.fault(err)
		return
	}
	c.planned = &tool.Planned{Tool: t, Use: c.use, Call: planned, Env: c.env}
	traits := planned.Traits()
	c.safe, c.check = traits.ConcurrencySafe && !traits.NeedsUser, traits.Check
}

func (c *call) reject(text string) {
	res := tool.Refused(text)
	c.answer = &res
}

func (c *call) fault(err error) {
	var plain *tool.Fault
	if errors.As(err, &plain) {
		res := tool.Failure(plain.Text)
		c.answer = &res
		return
	}
	c.reject(err.Error())
}

// start runs the call on a goroutine of its own.
func (b *batch) start(c *call) {
	c.started = true
	b.running++
	p := *c.planned
	go b.r.work(b.ctx, c, p)
}

// work admits, runs and reviews one call. It always ends with one outcome.
func (r *run) work(ctx context.Context, c *call, p tool.Planned) {
	emit := func(e event.Body) { r.reports <- report{call: c, body: e} }
	out := &outcome{}
	defer func() {
		if v := recover(); v != nil {
			out.result = tool.Failure(fmt.Sprintf("The tool failed with an internal error (%v). This is a bug in hew; try another way.", v))
			out.verdict, out.refusal, out.late = tool.Verdict{}, nil, false
			emit(event.Notice{Level: event.Failure, Code: "tool_panic", Text: fmt.Sprintf("tool %s: panic: %v\n%s", p.Use.Name, v, debug.Stack())})
		}
		r.reports <- report{call: c, fin: out}
	}()
	a, refusal := r.Gate.Admit(ctx, p, emit)
	if refusal != nil {
		out.refusal, out.result = refusal, refusal.Result
		return
	}
	out.admitted = &a
	if c.safe && !a.Call.Traits().ConcurrencySafe {
		out.late = true
		return
	}
	r.execute(ctx, a, out, emit)
}

func (r *run) execute(ctx context.Context, a tool.Admitted, out *outcome, emit func(event.Body)) {
	out.ran = true
	emit(event.ToolStarted{Use: a.Use, Title: a.Call.Title()})
	began := r.Now()
	res := a.Call.Run(ctx, func(p tool.Progress) {
		emit(event.ToolProgress{UseID: a.Use.ID, Name: a.Use.Name, Progress: p})
	})
	out.took = r.Now().Sub(began)
	out.result, out.verdict = r.Gate.Review(ctx, a, res, out.took, emit)
}

// results runs what is left of the batch and adds all results in call order.
func (r *run) results(st state, rep *reply) (state, *event.Terminal) {
	rep.batch.finish(rep.cut)
	if c := rep.batch.deferred(); c != nil {
		end := r.putOff(st, c)
		return st, &end
	}
	st = st.answered(rep.batch)
	if r.ctx.Err() != nil {
		end := r.interrupted(st, event.AbortedTools)
		return st, &end
	}
	if end := rep.batch.verdict(st); end != nil {
		return st, end
	}
	if st.malformed >= maxMalformed {
		end := st.stopped(event.MalformedToolUse, "The model kept sending tool calls that are not valid JSON")
		return st, &end
	}
	return st.next(afterTools), nil
}

// finish brings every call to its result. Safe neighbours run together, any
// other call alone; results of calls that end first wait for nobody. cut tells
// that calls not yet started must not start.
func (b *batch) finish(cut bool) {
	for _, c := range b.calls {
		if c.done != nil || c.started {
			continue
		}
		if cut || b.stopped || b.r.ctx.Err() != nil {
			b.notRun(c, cut)
			continue
		}
		b.next(c)
	}
	b.drain()
	if len(b.calls) != 1 || cut || b.r.ctx.Err() != nil {
		b.answerDeferred()
	}
	b.cancel()
}

// next runs one call, beside others when both it and they allow it.
func (b *batch) next(c *call) {
	if c.planned != nil && b.moved {
		b.plan(c)
	}
	if c.answer != nil {
		b.resolve(c, &outcome{result: *c.answer})
		return
	}
	if !c.safe {
		b.drain()
		if b.moved {
			b.plan(c)
		}
	}
	for b.running >= b.r.concurrency() {
		b.receive(<-b.r.reports)
	}
	if b.stopped || b.r.ctx.Err() != nil {
		b.notRun(c, false)
		return
	}
	if c.answer != nil {
		b.resolve(c, &outcome{result: *c.answer})
		return
	}
	b.start(c)
	if !c.safe {
		b.drain()
	}
}

// drain waits for everything that runs, then runs the calls that a hook made unsafe.
func (b *batch) drain() {
	for b.running > 0 {
		b.receive(<-b.r.reports)
	}
	for _, c := range b.calls {
		if c.late == nil {
			continue
		}
		a := *c.late
		c.late = nil
		if b.stopped || b.r.ctx.Err() != nil {
			b.notRun(c, false)
			continue
		}
		b.running++
		go b.r.rerun(b.ctx, c, a)
		for b.running > 0 {
			b.receive(<-b.r.reports)
		}
	}
}

// rerun executes a call that was admitted earlier.
func (r *run) rerun(ctx context.Context, c *call, a tool.Admitted) {
	out := &outcome{admitted: &a}
	defer func() {
		if v := recover(); v != nil {
			out.result = tool.Failure(fmt.Sprintf("The tool failed with an internal error (%v). This is a bug in hew; try another way.", v))
		}
		r.reports <- report{call: c, fin: out}
	}()
	r.execute(ctx, a, out, func(e event.Body) { r.reports <- report{call: c, body: e} })
}

// receive takes one report of a worker, on the loop's goroutine.
func (b *batch) receive(e report) {
	if e.fin == nil {
		b.r.emit(e.body)
		return
	}
	b.running--
	if e.fin.late {
		e.call.late = e.fin.admitted
		return
	}
	if e.fin.refusal != nil && e.fin.refusal.Deferred {
		e.call.deferred = e.fin
		return
	}
	b.resolve(e.call, e.fin)
}

// resolve turns an outcome into the call's result, shows it and carries out its effects.
func (b *batch) resolve(c *call, out *outcome) {
	use := c.use
	if out.admitted != nil {
		use = out.admitted.Use
	}
	res := out.result
	if b.r.ctx.Err() != nil && out.ran && len(res.Content) == 0 {
		res = tool.Failure(notRunInterrupt)
	}
	if b.r.Bound != nil && c.planned != nil {
		res = b.r.Bound(c.planned.Tool.Spec(), use, res)
	}
	o := msg.OK
	if res.IsError {
		o = msg.Failed
	}
	m := &msg.Message{ID: b.r.NewID(), Role: msg.RoleUser, Blocks: []msg.Block{msg.NewToolResult(c.use.ID, res.Content, o)}, Time: b.r.Now()}
	layer := c.layer
	if layer == "" {
		layer = res.Held
	}
	c.done = &event.ToolFinished{Use: use, Msg: m, Result: res, Took: out.took, Ran: out.ran, Layer: layer, Check: c.check}
	c.refusal, c.verdict = out.refusal, out.verdict
	b.r.emit(*c.done)
	b.apply(c, res.Effects)
	if c.refusal != nil && c.refusal.Interrupt {
		b.stopped = true
	}
}

func (b *batch) apply(c *call, effects []tool.Effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case tool.Inject:
			b.inject(e.Blocks)
		case tool.EndRun:
			c.output, c.ended = e.Output, true
		case tool.SetMode, tool.SetCwd, tool.LoadTools, tool.AddRules:
			b.moved = true
			b.r.Apply(e)
		}
	}
}

func (b *batch) inject(blocks []msg.Block) {
	if len(blocks) == 0 {
		return
	}
	m := &msg.Message{ID: b.r.NewID(), Role: msg.RoleUser, Blocks: blocks, Meta: true, Time: b.r.Now()}
	b.injected = append(b.injected, m)
	b.r.emit(event.Message{Msg: m, Source: "inject"})
}

// notRun answers a call that will not be started.
func (b *batch) notRun(c *call, cut bool) {
	text := notRunStopped
	if cut && b.r.ctx.Err() == nil {
		text = notRunCut
	}
	b.resolve(c, &outcome{result: tool.Failure(text)})
}

// drop ends the calls of a reply that is taken back; nothing of them is kept.
// held are reports that were received but not yet looked at.
func (b *batch) drop(held []report) {
	b.cancel()
	for _, e := range held {
		if e.fin != nil {
			b.running--
		}
	}
	for b.running > 0 {
		if e := <-b.r.reports; e.fin != nil {
			b.running--
		}
	}
	b.calls = nil
}

// message joins all results in call order.
// bad tells that no call of the batch was well formed.
func (b *batch) message() (m *msg.Message, bad bool) {
	m = &msg.Message{ID: b.calls[0].done.Msg.ID, Role: msg.RoleUser, Time: b.r.Now()}
	bad = true
	for _, c := range b.calls {
		m.Blocks = append(m.Blocks, c.done.Msg.Blocks...)
		bad = bad && c.malformed != ""
	}
	return m, bad
}

func (b *batch) denied() []event.Denial {
	var out []event.Denial
	for _, c := range b.calls {
		if refusedBy(c.refusal) {
			out = append(out, denial(c))
		}
	}
	return out
}

// verdict ends the run when a call, a hook or a person said so.
func (b *batch) verdict(st state) *event.Terminal {
	for _, c := range b.calls {
		switch {
		case c.ended:
			end := st.stopped(event.Completed, "")
			end.Output = c.output
			end.Text = string(c.output)
			return &end
		case c.verdict.PreventContinuation:
			end := st.stopped(event.HookStopped, c.verdict.Reason)
			return &end
		case c.refusal != nil && c.refusal.Interrupt:
			end := st.stopped(event.AbortedTools, "the user refused a call")
			return &end
		}
	}
	return nil
}

func (r *run) concurrency() int {
	if r.Concurrency == 0 {
		return defaultConcurrency
	}
	return r.Concurrency
}
