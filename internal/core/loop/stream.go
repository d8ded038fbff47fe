package loop

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// reply is one answer of a model while and after it arrives.
type reply struct {
	info   msg.Reply
	blocks []msg.Block
	// shown are the ids of the messages that consumers have seen.
	shown []string
	// held is the newest complete block. It is shown when the next one starts or
	// the reply ends, because only then is it known whether it is the last: the
	// last block's entry carries the final usage.
	held *msg.Message
	// open collects the text of the block that is arriving, for an interrupt.
	open  strings.Builder
	batch *batch
	// waiting are events of calls that started early; they are shown after the
	// blocks that they belong to.
	waiting []report
	usage   msg.Usage
	stop    string
	at      time.Time
	// sent is what the request held.
	sent []*msg.Message
	// cut tells that the stream broke after something complete, which is kept.
	cut bool
	err error
}

// message is the whole reply as one message, nil when it has no blocks.
func (p *reply) message() *msg.Message {
	if len(p.blocks) == 0 {
		return nil
	}
	info := p.info
	info.Usage, info.StopReason, info.Final = p.usage, p.stop, true
	return &msg.Message{ID: p.shown[0], Role: msg.RoleAssistant, Blocks: p.blocks, Reply: &info, Time: p.at}
}

// attempt makes one request and takes in its answer. Calls that are safe to run
// beside others start as soon as their block is complete.
func (r *run) attempt(st state, a Attempt) *reply {
	req := r.Build(st.history, a)
	req.Events = r.Events
	rep := &reply{info: msg.Reply{Requested: a.Model, Model: a.Model}, at: r.Now()}
	rep.batch, rep.sent = r.newBatch(), req.Messages
	call := event.ModelCall{Model: a.Model, Break: req.Break}
	ctx, cancel := context.WithCancel(provider.WithObserver(r.ctx, provider.Observer{Sent: func(n int) { call.Bytes = n }}))
	src := newSource(r.Provider.Stream(ctx, req))
	for open := true; open; {
		var it item
		switch it, open = src.await(ctx, rep.batch.running > 0, r.reports); {
		case it.report != nil:
			rep.hold(*it.report)
		case it.err != nil:
			rep.err = it.err
		case it.part != nil:
			if call.First == 0 {
				call.First = r.Now().Sub(rep.at)
			}
			r.take(rep, it.part)
		}
		if r.gone || r.ctx.Err() != nil {
			cancel()
		}
	}
	if rep.err == nil {
		rep.err = r.ctx.Err()
	}
	cancel()
	src.stop()
	call.Took, call.Usage, call.Err = r.Now().Sub(rep.at), rep.usage, classOf(rep.err)
	if r.Spent != nil {
		r.Spent(a.Model, rep.usage)
	}
	r.emit(call)
	return rep
}

// take adds one part to the reply.
func (r *run) take(rep *reply, p provider.Part) {
	switch p := p.(type) {
	case provider.Started:
		rep.info.ID, rep.info.RequestID, rep.usage = p.MessageID, p.RequestID, p.Usage
		if p.Model != "" {
			rep.info.Model = p.Model
		}
		if rep.info.RequestID == "" {
			rep.info.RequestID = "req_" + r.NewID()
		}
		r.raw(p.Raw)
	case provider.BlockStarted:
		r.show(rep, false)
		rep.open.Reset()
		r.raw(p.Raw)
	case provider.BlockDelta:
		r.delta(rep, p)
	case provider.BlockDone:
		r.block(rep, p)
		r.raw(p.Raw)
	case provider.Finished:
		rep.stop, rep.usage = p.StopReason, p.Usage
		r.show(rep, true)
		r.raw(p.Raw)
	case provider.Ended:
		r.raw(p.Raw)
	}
}

func (r *run) raw(b json.RawMessage) {
	if len(b) > 0 {
		r.emit(event.Delta{Raw: b})
	}
}

func (r *run) delta(rep *reply, p provider.BlockDelta) {
	d := event.Delta{Block: p.Index, Text: p.Text, Raw: p.Raw}
	switch p.Kind {
	case provider.DeltaText:
		d.Kind = event.DeltaText
		rep.open.WriteString(p.Text)
	case provider.DeltaThinking:
		d.Kind = event.DeltaThinking
	case provider.DeltaInput:
		d.Kind = event.DeltaInput
	case provider.DeltaSignature, provider.DeltaOther:
		if len(p.Raw) == 0 {
			return
		}
	}
	r.emit(d)
}

// block takes in a complete block. An empty text block says nothing and no API
// would take it back.
func (r *run) block(rep *reply, p provider.BlockDone) {
	rep.open.Reset()
	if t, ok := p.Block.(*msg.Text); ok && t.Text == "" {
		return
	}
	r.show(rep, false) // two that were open at once end one after the other
	info := rep.info
	info.Block = len(rep.blocks)
	info.Usage = rep.usage
	rep.blocks = append(rep.blocks, p.Block)
	rep.held = &msg.Message{ID: r.NewID(), Role: msg.RoleAssistant, Blocks: []msg.Block{p.Block}, Reply: &info, Time: r.Now()}
	rep.shown = append(rep.shown, rep.held.ID)
	if use, ok := p.Block.(*msg.ToolUse); ok {
		rep.batch.add(use, p.Malformed, rep.held.ID)
	}
}

// show emits the held block. last is true when the reply's usage is final.
func (r *run) show(rep *reply, last bool) {
	m := rep.held
	if m == nil {
		return
	}
	rep.held = nil
	if last {
		m.Reply.Usage, m.Reply.StopReason, m.Reply.Final = rep.usage, rep.stop, true
	}
	r.emit(event.Message{Msg: m})
}

// hold keeps a report of an early call until the reply is complete. Of
// progress only the newest counts, so what is kept stays small.
func (p *reply) hold(e report) {
	if _, ok := e.body.(event.ToolProgress); ok && len(p.waiting) > 0 {
		last := &p.waiting[len(p.waiting)-1]
		if _, ok := last.body.(event.ToolProgress); ok && last.call == e.call {
			*last = e
			return
		}
	}
	p.waiting = append(p.waiting, e)
}

// release shows the events that were held, in the order in which they came.
func (r *run) release(rep *reply) {
	for _, e := range rep.waiting {
		rep.batch.receive(e)
	}
	rep.waiting = nil
}

func classOf(err error) string {
	var pe *provider.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &pe):
		return string(pe.Class)
	default:
		return "aborted"
	}
}

func statusOf(err error) int {
	var pe *provider.Error
	if errors.As(err, &pe) {
		return pe.Status
	}
	return 0
}
