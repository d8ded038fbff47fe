package engine

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// replies answers each request with the next entry.
type replies struct {
	script []func(yield func(provider.Part, error) bool)
	seen   []*provider.Request
}

func (p *replies) Stream(_ context.Context, r *provider.Request) iter.Seq2[provider.Part, error] {
	p.seen = append(p.seen, r)
	next := p.script[0]
	p.script = p.script[1:]
	return next
}

func says(text, stop string) func(func(provider.Part, error) bool) {
	return func(yield func(provider.Part, error) bool) {
		_ = yield(provider.Started{Usage: msg.Usage{InputTokens: 10}}, nil) &&
			yield(provider.BlockDone{Block: msg.NewText(text)}, nil) &&
			yield(provider.Finished{StopReason: stop, Usage: msg.Usage{InputTokens: 10, OutputTokens: 2}}, nil)
	}
}

func breaks(c provider.Class) func(func(provider.Part, error) bool) {
	return func(yield func(provider.Part, error) bool) { yield(nil, &provider.Error{Class: c}) }
}

func asking(p provider.Provider) *Engine {
	return New(Config{
		Model: Model{Provider: p, Name: "main", Lookup: func(name string) provider.Model {
			return provider.Model{ID: name, MaxOutput: 9000, Price: provider.Price{Input: 1, Output: 1}}
		}},
		Now: func() time.Time { return time.Unix(0, 0) }, NewID: func() string { return "id" },
		Sleep: func(context.Context, time.Duration) error { return nil }, Jitter: func() float64 { return 0 },
	})
}

func TestQueryAnswersAndBooks(t *testing.T) {
	p := &replies{script: []func(func(provider.Part, error) bool){breaks(provider.Overloaded), says("allow", provider.StopEndTurn)}}
	e := asking(p)
	got, err := e.Query(t.Context(), "label", "judge", "sys", "what?")
	if err != nil || got != "allow" {
		t.Fatal(got, err)
	}
	r := p.seen[1]
	if r.Side != "label" || r.Model != "judge" || r.MaxTokens != queryOutput || len(r.Tools) != 0 || r.System[0].Text != "sys" || r.Messages[0].Text() != "what?" {
		t.Errorf("request %+v", r)
	}
	if c := e.Costs(); len(c.Models) != 1 || c.Models[0].Model.ID != "judge" || c.Usage.OutputTokens != 2 {
		t.Errorf("ledger %+v", c)
	}
	var calls []event.ModelCall
	for _, a := range e.aside.take() {
		calls = append(calls, a.Body.(event.ModelCall))
	}
	if len(calls) != 2 || calls[0].Err != string(provider.Overloaded) || calls[1].Side != "label" || len(e.history) != 0 {
		t.Errorf("accounts %+v, history %v", calls, e.history)
	}
}

func TestQueryFails(t *testing.T) {
	for name, row := range map[string]struct {
		script []func(func(provider.Part, error) bool)
		want   string
	}{
		"no retry":   {[]func(func(provider.Part, error) bool){breaks(provider.Auth)}, "label"},
		"gives up":   {[]func(func(provider.Part, error) bool){breaks(provider.Server), breaks(provider.Server), breaks(provider.Server)}, "label"},
		"cut":        {[]func(func(provider.Part, error) bool){says("al", provider.StopMaxTokens)}, "ended early"},
		"no end":     {[]func(func(provider.Part, error) bool){says("allow", "")}, "ended early"},
		"no text":    {[]func(func(provider.Part, error) bool){says(" \n", provider.StopEndTurn)}, "no text"},
		"wants tool": {[]func(func(provider.Part, error) bool){says("allow", provider.StopToolUse)}, "ended early"},
	} {
		p := &replies{script: row.script}
		got, err := asking(p).Query(t.Context(), "label", "", "", "q")
		if err == nil || got != "" || !strings.Contains(err.Error(), row.want) || len(p.script) != 0 {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if p.seen[0].Model != "main" {
			t.Errorf("%s: model %q", name, p.seen[0].Model)
		}
	}
}

func TestQueryEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := &replies{script: []func(func(provider.Part, error) bool){func(yield func(provider.Part, error) bool) {
		cancel()
		yield(nil, ctx.Err())
	}}}
	if _, err := asking(p).Query(ctx, "label", "", "", "q"); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}
