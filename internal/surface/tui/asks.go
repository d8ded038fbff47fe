package tui

import (
	"time"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/surface/tui/dialog"
	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/input"
)

// asking is the dialog of a question: a widget that takes no key before the
// person has seen it.
type asking interface {
	frame.Widget
	// Ready is when keys begin to count; Ignored are those that came before.
	Ready() time.Time
	Ignored() []input.Event
}

// asked takes a question in; one is shown at a time.
func (u *ui) asked(q ask) {
	u.asks = append(u.asks, q)
	if len(u.asks) == 1 {
		u.askNext()
	}
}

// over is closed when nobody waits for the answer that is asked for.
func (u *ui) over() <-chan struct{} {
	if len(u.asks) == 0 {
		return nil
	}
	return u.asks[0].over
}

// overtaken takes away the dialog of a question that was answered elsewhere.
func (u *ui) overtaken() {
	if u.askModal != nil {
		u.giveBack(u.askModal.widget)
		u.drop(u.askModal)
	}
	u.answered()
}

// answered goes on with the next question.
func (u *ui) answered() {
	u.askModal = nil
	if len(u.asks) > 0 {
		u.asks = u.asks[1:]
	}
	if len(u.asks) > 0 {
		u.askNext()
	}
}

// askNext shows the first question.
func (u *ui) askNext() {
	q := u.asks[0]
	w, reply := u.dialogOf(q)
	m := &modal{widget: w}
	m.closed = func() {
		u.giveBack(w)
		q.reply <- reply()
		u.answered()
	}
	u.askModal = m
	u.show(m)
	if u.away {
		u.c.Device.Call("hew", "hew asks: "+firstLine(q.question.Title))
	}
}

// dialogOf is the widget for a question, and how its answer is read.
func (u *ui) dialogOf(q ask) (frame.Widget, func() reply) {
	o := dialog.Options{Now: u.c.Now, LastKey: u.lastKey, LastAt: u.lastAt}
	if q.form != nil {
		w := dialog.NewForm(*q.form, o)
		return w, func() reply { return reply{form: w.Answer()} }
	}
	switch q.question.Kind {
	case event.AskPlan:
		w := dialog.NewPlan(q.question, o)
		return planView{w, u}, func() reply { return reply{answer: w.Answer()} }
	case event.AskChoice:
		w := dialog.NewQuestions(q.question, o)
		return w, func() reply { return reply{answer: w.Answer()} }
	case event.AskPermission:
	}
	w := dialog.NewPermission(q.question, o)
	return w, func() reply { return reply{answer: w.Answer()} }
}

// planView lets the person edit a plan in an editor of their own.
type planView struct {
	*dialog.Plan
	u *ui
}

// Handle edits the plan outside when the dialog wants that.
func (p planView) Handle(ev input.Event) bool {
	used := p.Plan.Handle(ev)
	if text, wants := p.Wants(); wants {
		p.Edited(p.u.outside(text))
	}
	return used
}

// readyAt is when the dialog in front begins to take keys, zero for none.
func (u *ui) readyAt() time.Time {
	if u.modal == nil {
		return time.Time{}
	}
	if a, ok := u.modal.widget.(asking); ok && a.Ready().After(u.c.Now()) {
		return a.Ready()
	}
	return time.Time{}
}

// giveBack hands what was typed before a dialog could be read to the editor.
func (u *ui) giveBack(w frame.Widget) {
	a, ok := w.(asking)
	if !ok {
		return
	}
	for _, ev := range a.Ignored() {
		if p, ok := ev.(input.Press); ok && p.Text == "" && p.Key != "backspace" {
			continue // a key that acts was meant for what stood there before
		}
		u.ed.Handle(ev)
	}
}

// refuseAll answers what is open when the terminal ends.
func (u *ui) refuseAll() {
	for _, q := range u.asks {
		q.reply <- reply{err: errGone}
	}
	u.asks = nil
}
