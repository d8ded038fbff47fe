package engine

import (
	"fmt"

	"github.com/hew-agent/hew/internal/event"
)

// warnAt is the part of a budget from which on people are warned.
const warnAt = 0.8

// top is the main conversation of the tree.
func (e *Engine) top() *Engine {
	for e.up != nil {
		e = e.up
	}
	return e
}

// Budget is what the run of the main conversation has spent so far, and what it
// may; 0 when nothing bounds it. Both in US dollars.
func (e *Engine) Budget() (spent, limit float64) {
	t := e.top()
	t.mu.Lock()
	before := t.since.CostUSD
	t.mu.Unlock()
	return t.ledger.Totals().CostUSD - before, t.c.Limits.USD
}

// warn says once a run that most of its budget is spent.
func (e *Engine) warn() {
	spent, limit := e.Budget()
	if limit <= 0 || spent < warnAt*limit || spent >= limit {
		return
	}
	t := e.top()
	t.mu.Lock()
	told := t.warned
	t.warned = true
	t.mu.Unlock()
	if !told {
		t.Aside(event.Event{Body: event.Notice{Level: event.Warning, Code: "budget", Text: fmt.Sprintf(
			"$%.4f of the budget of $%.4g is spent; the run ends when it is used up", spent, limit)}})
	}
}

// Forecast says what more subagents would cost together: about the mean of
// those before, or where there were none at least a request of the conversation each.
func (e *Engine) Forecast(more int) (usd float64, about bool) {
	var agents, requests int
	var ofAgents, own float64
	for _, s := range e.top().ledger.Totals().Shares {
		if s.Agent == "" {
			requests, own = s.Requests, s.CostUSD
			continue
		}
		agents, ofAgents = agents+1, ofAgents+s.CostUSD
	}
	switch {
	case agents > 0:
		return ofAgents / float64(agents) * float64(more), true
	case requests > 0:
		return own / float64(requests) * float64(more), false
	}
	return 0, false
}
