package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

const (
	// queryOutput caps the reply of a side query, in tokens: it answers a
	// question, it does no work.
	queryOutput = 4096
	// queryTries bounds how often a side query is sent. Somebody waits for it
	// in the middle of a call, so it gives up much earlier than a turn does.
	queryTries = 3
)

// Query asks a model one question beside the conversation and returns the text
// of its reply. It takes nothing from history and leaves nothing there; its cost
// is in the ledger and its event.ModelCall, labelled, in the trace. An empty
// model is the conversation's. A failure that may pass is tried again; what is
// left is an error, also a reply that was cut short or holds no text. It is safe
// for concurrent use, during a run and between runs.
func (e *Engine) Query(ctx context.Context, label, model, system, user string) (string, error) {
	r := e.query(label, model, system, user)
	for try := 1; ; try++ {
		text, err := e.askOnce(ctx, r)
		var pe *provider.Error
		if err == nil || ctx.Err() != nil || !errors.As(err, &pe) || !pe.Class.Retryable() || try == queryTries {
			return text, err
		}
		if err := e.c.Sleep(ctx, provider.Backoff(try, pe.RetryAfter, e.c.Jitter())); err != nil {
			return "", fmt.Errorf("side query %s: %w", label, err)
		}
	}
}

func (e *Engine) query(label, model, system, user string) *provider.Request {
	if model == "" {
		e.mu.Lock()
		model = e.model
		e.mu.Unlock()
	}
	m := e.c.Model.Lookup(model)
	r := &provider.Request{
		Model: m.ID, MaxTokens: min(queryOutput, m.MaxOutput), Side: label, Session: e.thread(), Mark: e.c.Model.CacheTTL,
		Messages: []*msg.Message{msg.User(e.c.NewID(), e.c.Now(), user)},
	}
	if system != "" {
		r.System = []provider.SystemBlock{{Text: system}}
	}
	return r
}

// askOnce makes one request and reads the whole answer.
func (e *Engine) askOnce(ctx context.Context, r *provider.Request) (string, error) {
	text, stop, err := e.exchange(ctx, r)
	return answered(r.Side, text, stop, err)
}

// QueryBlocks is Query with tools that run at the provider: one request, whose
// reply comes back block by block.
func (e *Engine) QueryBlocks(ctx context.Context, label, model, system, user string, tools []provider.ToolDef) ([]msg.Block, error) {
	r := e.query(label, model, system, user)
	r.Tools = tools
	var blocks []msg.Block
	_, _, err := e.exchangeWith(ctx, r, func(b msg.Block) { blocks = append(blocks, b) })
	if err != nil {
		return nil, fmt.Errorf("side query %s: %w", label, err)
	}
	return blocks, nil
}

// exchange makes one request, books it, and reads the reply's text and why it ended.
func (e *Engine) exchange(ctx context.Context, r *provider.Request) (reply, why string, err error) {
	return e.exchangeWith(ctx, r, func(msg.Block) {})
}

func (e *Engine) exchangeWith(ctx context.Context, r *provider.Request, block func(msg.Block)) (reply, why string, err error) {
	began := e.c.Now()
	call := event.ModelCall{Model: r.Model, Side: r.Side}
	ctx = provider.WithObserver(ctx, provider.Observer{Sent: func(n int) { call.Bytes = n }})
	var text strings.Builder
	var stop string
	var failed error
	for part, err := range e.c.Model.Provider.Stream(ctx, r) {
		if err != nil {
			failed = err
			break
		}
		if call.First == 0 {
			call.First = e.c.Now().Sub(began)
		}
		switch p := part.(type) {
		case provider.Started:
			call.Usage = p.Usage
		case provider.BlockDone:
			block(p.Block)
			if t, ok := p.Block.(*msg.Text); ok {
				text.WriteString(t.Text)
			}
		case provider.Finished:
			stop, call.Usage = p.StopReason, p.Usage
		case provider.BlockStarted, provider.BlockDelta, provider.Ended:
		}
	}
	call.Took, call.Err = e.c.Now().Sub(began), failure(failed)
	e.ledger.add(e.c.Model.Lookup(r.Model), call.Usage)
	e.aside.add(event.Event{Body: call})
	return text.String(), stop, failed
}

// answered judges how a reply ended: half an answer is none.
func answered(label, text, stop string, failed error) (string, error) {
	switch {
	case failed != nil:
		return "", fmt.Errorf("side query %s: %w", label, failed)
	case stop != provider.StopEndTurn && stop != provider.StopSequence:
		return "", fmt.Errorf("side query %s: the reply ended early (%s)", label, stop)
	case strings.TrimSpace(text) == "":
		return "", fmt.Errorf("side query %s: the reply holds no text", label)
	}
	return text, nil
}

// failure is the class of an error, in the words of event.ModelCall.
func failure(err error) string {
	var pe *provider.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &pe):
		return string(pe.Class)
	}
	return "aborted"
}
