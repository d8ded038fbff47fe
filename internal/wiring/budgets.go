package wiring

import (
	"fmt"
	"time"

	"github.com/hew-agent/hew/internal/event"
)

// budgets is the setting of that name: what may be spent, in US dollars; 0 bounds nothing.
type budgets struct {
	Session float64 `json:"sessionUSD"`
	Day     float64 `json:"dayUSD"`
	Project float64 `json:"projectUSD"`
}

// warnAt is the part of a budget from which on the user is warned.
const warnAt = 0.8

// allowance is what this session may spend: the least that the command line and
// the budgets of settings leave. Transcripts are only read when a budget over
// several sessions is set. An error says that a budget is used up.
func (b *build) allowance() (float64, error) {
	var s budgets
	if _, err := b.settings.Decode(&s, "budgets"); err != nil {
		b.notice("the setting budgets is left out: " + err.Error())
	}
	left := b.o.MaxBudget
	tighten := func(usd float64) {
		if usd > 0 && (left == 0 || usd < left) {
			left = usd
		}
	}
	tighten(s.Session)
	for _, k := range []struct {
		name, by, key string
		limit         float64
	}{
		{"dayUSD", "day", b.o.Now().Local().Format(time.DateOnly), s.Day},
		{"projectUSD", "project", b.place.Project, s.Project},
	} {
		if k.limit <= 0 {
			continue
		}
		spent, err := b.spent(k.by, k.key)
		if err != nil {
			return 0, err
		}
		switch {
		case spent >= k.limit:
			return 0, fmt.Errorf("the budget of $%g (budgets.%s in your settings) is used up: $%.4f spent; hew usage --by %s shows on what", k.limit, k.name, spent, k.by)
		case spent >= warnAt*k.limit:
			b.notice(fmt.Sprintf("$%.4f of the budget of $%g (budgets.%s) is spent", spent, k.limit, k.name))
		}
		tighten(k.limit - spent)
	}
	return left, nil
}

// forecast says before subagents begin that those at work will probably cost
// more than the budget still has. It is told again when they are twice as many.
func (s *subagents) forecast() {
	e := s.b.conv.Engine
	spent, limit := e.Budget()
	n := max(s.running.Now(), 1)
	if n == 1 {
		s.told.Store(0)
	}
	usd, about := e.Forecast(n)
	if limit <= 0 || usd <= limit-spent || int64(n) < 2*s.told.Load() {
		return
	}
	s.told.Store(int64(n))
	word := "at least"
	if about {
		word = "about"
	}
	e.Aside(event.Event{Body: event.Notice{Level: event.Warning, Code: "forecast", Text: fmt.Sprintf(
		"%d subagents at work: together they will cost %s $%.4f, and $%.4f of the budget is left", n, word, usd, max(limit-spent, 0))}})
}

func (b *build) spent(by, key string) (float64, error) {
	o := *b.o
	o.Notice = nil // this session has told its notices already
	rows, err := Usage(o, UsageQuery{By: by})
	if err != nil {
		return 0, err
	}
	for _, r := range rows {
		if r.Key == key {
			return r.CostUSD, nil
		}
	}
	return 0, nil
}
