package engine

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/core/compact"
	"github.com/hew-agent/hew/internal/core/loop"
	"github.com/hew-agent/hew/internal/msg"
)

// compactLabel names the requests for summaries in traces and headers.
const compactLabel = "compact"

// minThinking is the smallest output cap with which a model still thinks about a
// summary, in tokens.
const minThinking = 8192

// Summarise asks the model for a summary; see compact.Config.Ask. A question
// about the conversation has its system prompt, its tools and its prefix, so that
// the provider's cache is used. A failure that may pass is tried again. The text
// is "" when the reply held none.
func (e *Engine) Summarise(ctx context.Context, q compact.Query) (string, error) {
	r := e.summaryRequest(q)
	for try := 1; ; try++ {
		text, _, err := e.exchange(ctx, r)
		var pe *provider.Error
		if err == nil || ctx.Err() != nil || !errors.As(err, &pe) || !pe.Class.Retryable() || try == queryTries {
			return strings.TrimSpace(text), err
		}
		if err := e.c.Sleep(ctx, provider.Backoff(try, pe.RetryAfter, e.c.Jitter())); err != nil {
			return "", err
		}
	}
}

func (e *Engine) summaryRequest(q compact.Query) *provider.Request {
	ask := msg.User(e.c.NewID(), e.c.Now(), q.Text)
	if q.History == nil {
		r := e.query(compactLabel, q.Model, q.System, q.Text)
		r.MaxTokens = q.MaxTokens
		return r
	}
	r := e.lay(append(slices.Clip(q.History), ask), loop.Attempt{Model: q.Model, MaxTokens: q.MaxTokens})
	r.Side = compactLabel
	if q.MaxTokens < minThinking {
		r.Thinking = provider.Thinking{}
	}
	return r
}

// Overhead estimates what a request holds beside its messages, in tokens.
func (e *Engine) Overhead() int {
	n := 0
	for _, s := range e.c.System {
		n += compact.Estimate(s)
	}
	shown, _ := e.split() // what is only named costs nothing here
	for _, s := range shown {
		n += compact.Estimate(string(e.def(s).JSON))
	}
	return n
}

// Count measures the request that would be made of history, where the provider
// can; false when it cannot or does not answer.
func (e *Engine) Count(ctx context.Context, model string, history []*msg.Message) (int, bool) {
	c, ok := e.c.Model.Provider.(provider.Counter)
	if !ok {
		return 0, false
	}
	r := e.lay(history, loop.Attempt{Model: model})
	r.Side = "count"
	n, err := c.CountTokens(ctx, r)
	return n, err == nil && n > 0
}
