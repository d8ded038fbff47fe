package wiring

import (
	"fmt"
	"time"
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
