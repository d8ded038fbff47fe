package tui

import (
	"context"
	"errors"

	"github.com/hew-agent/hew/internal/event"
)

// ask is a question, or a form, that waits for a person. Its answer is given
// once; nobody waits for one that came too late.
type ask struct {
	question event.Question
	form     *event.Form
	// over is closed when nobody wants the answer any more.
	over  <-chan struct{}
	reply chan reply
}

type reply struct {
	answer event.Answer
	form   event.FormAnswer
	err    error
}

// Asker puts questions to the person at the terminal. It implements event.Asker
// and event.Filler and may be handed out before the terminal runs.
type Asker struct{ asks chan ask }

// NewAsker makes an asker.
func NewAsker() *Asker { return &Asker{make(chan ask)} }

var errGone = errors.New("the terminal is closed, so nobody can answer")

func (a *Asker) put(ctx context.Context, q ask) (reply, error) {
	q.over, q.reply = ctx.Done(), make(chan reply, 1)
	select {
	case a.asks <- q:
	case <-ctx.Done():
		return reply{}, context.Cause(ctx)
	}
	select {
	case r := <-q.reply:
		return r, r.err
	case <-ctx.Done():
		return reply{}, context.Cause(ctx)
	}
}

// Ask shows a question and returns the person's answer.
func (a *Asker) Ask(ctx context.Context, q event.Question) (event.Answer, error) {
	r, err := a.put(ctx, ask{question: q})
	return r.answer, err
}

// Fill shows a form of a server and returns what the person filled in.
func (a *Asker) Fill(ctx context.Context, f event.Form) (event.FormAnswer, error) {
	r, err := a.put(ctx, ask{form: &f})
	return r.form, err
}
