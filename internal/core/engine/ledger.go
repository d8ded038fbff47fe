package engine

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// Ledger adds up what a conversation costs, side queries included. It is safe
// for concurrent use.
type Ledger struct {
	mu     sync.Mutex
	models map[string]*ModelUsage
	order  []string
	api    time.Duration
	first  time.Duration
	// up is the parent's, which everything is booked on as well; nil for none.
	// agent names the conversation, "" for the main one.
	up     *Ledger
	agent  string
	shares []Share
	breaks []Break
}

// Break sums up the requests that could not extend the one before them for one
// reason: the provider had to read anew what it had cached.
type Break struct {
	// Reason is the word of the request: "model", "tools", "resume", "compact", ….
	Reason, Model string
	Times         int
	// Tokens is the input that was not read from the cache in these requests.
	Tokens int
}

// ModelUsage is what one model was used for.
type ModelUsage struct {
	Model    provider.Model
	Usage    msg.Usage
	Requests int
	CostUSD  float64
}

// Share is what one conversation of the tree was used for.
type Share struct {
	// Agent is a subagent's id, "" for the conversation itself.
	Agent    string
	Usage    msg.Usage
	Requests int
	CostUSD  float64
}

// Totals is a reading of the ledger.
type Totals struct {
	CostUSD float64
	Usage   msg.Usage
	// API is the time spent waiting for models, First the time to the first
	// byte of the first answer.
	API, First time.Duration
	// Shares says which conversation used what, in order of first use; together
	// they are the whole.
	Shares []Share
	// Models are in order of first use.
	Models []ModelUsage
	// Breaks are the deliberate breaks of the prefix, in order of first occurrence.
	Breaks []Break
}

// Limits are the budgets of a run; zero values bound nothing.
type Limits struct {
	USD float64
	// OutputTokens bounds what models may write.
	OutputTokens int
}

func newLedger() *Ledger { return &Ledger{models: map[string]*ModelUsage{}} }

// add books one request.
func (l *Ledger) add(m provider.Model, u msg.Usage) {
	if u != (msg.Usage{}) {
		l.book(l.agent, m, u)
	}
}

// book books one request of a conversation, here and above.
func (l *Ledger) book(agent string, m provider.Model, u msg.Usage) {
	if l.up != nil {
		l.up.book(agent, m, u)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.models[m.ID]
	if e == nil {
		e = &ModelUsage{Model: m}
		l.models[m.ID] = e
		l.order = append(l.order, m.ID)
	}
	e.Usage = e.Usage.Add(u)
	e.Requests++
	e.CostUSD += m.Price.Cost(u)
	i := slices.IndexFunc(l.shares, func(s Share) bool { return s.Agent == agent })
	if i < 0 {
		i, l.shares = len(l.shares), append(l.shares, Share{Agent: agent})
	}
	s := &l.shares[i]
	s.Usage, s.Requests, s.CostUSD = s.Usage.Add(u), s.Requests+1, s.CostUSD+m.Price.Cost(u)
}

func (l *Ledger) timed(c event.ModelCall) {
	if l.up != nil {
		l.up.timed(c)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.api += c.Took
	if l.first == 0 {
		l.first = c.First
	}
	if c.Break != "" && c.Side == "" && c.Err == "" {
		l.broke(c)
	}
}

// broke books a request that a break made begin anew.
func (l *Ledger) broke(c event.ModelCall) {
	tokens := c.Usage.InputTokens + c.Usage.CacheCreationInputTokens
	for i := range l.breaks {
		if b := &l.breaks[i]; b.Reason == c.Break && b.Model == c.Model {
			b.Times++
			b.Tokens += tokens
			return
		}
	}
	l.breaks = append(l.breaks, Break{c.Break, c.Model, 1, tokens})
}

// Totals reads the ledger.
func (l *Ledger) Totals() Totals {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := Totals{API: l.api, First: l.first, Breaks: slices.Clone(l.breaks), Shares: slices.Clone(l.shares)}
	for _, id := range l.order {
		e := l.models[id]
		t.CostUSD += e.CostUSD
		t.Usage = t.Usage.Add(e.Usage)
		t.Models = append(t.Models, *e)
	}
	return t
}

// over says whether a budget is spent, and which.
func (l *Ledger) over(b Limits, since Totals) (event.Reason, string) {
	now := l.Totals()
	spent := now.CostUSD - since.CostUSD
	if b.USD > 0 && spent >= b.USD {
		return event.BudgetExhausted, fmt.Sprintf("Reached maximum budget ($%g): $%.4f spent", b.USD, spent)
	}
	if out := now.Usage.OutputTokens - since.Usage.OutputTokens; b.OutputTokens > 0 && out >= b.OutputTokens {
		return event.BudgetExhausted, fmt.Sprintf("Reached the token budget (%d output tokens): %d used", b.OutputTokens, out)
	}
	return "", ""
}
