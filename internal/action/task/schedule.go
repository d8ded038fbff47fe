package task

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Plan is one prompt that comes later.
type Plan struct {
	ID     string
	Prompt string
	// Cron is the five fields of a repeated or single date; "" for a wake-up.
	Cron      string
	Recurring bool
	Next      time.Time
	Expires   time.Time
	Reason    string
}

// Schedule is what comes later in one conversation. It lives as long as that.
// It is safe for concurrent use.
type Schedule struct {
	// Now is the clock. Required.
	Now func() time.Time

	mu    sync.Mutex
	plans []*planned
}

type planned struct {
	Plan
	cron *cron
}

const (
	// MaxPlans bounds how many plans one conversation has.
	MaxPlans = 50
	// planLife is how long a repeated plan lasts (tools.md §11).
	planLife = 30 * 24 * time.Hour
	// Wakeup delays have these bounds.
	MinWakeup = time.Minute
	MaxWakeup = time.Hour
)

// Wake plans one prompt after a delay, which is brought into its bounds. It
// takes the place of the wake-up that was planned before.
func (s *Schedule) Wake(id, prompt, reason string, delay time.Duration) Plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(func(p *planned) bool { return p.Cron == "" })
	p := &planned{Plan: Plan{ID: id, Prompt: prompt, Reason: reason, Next: s.Now().Add(min(max(delay, MinWakeup), MaxWakeup))}}
	s.plans = append(s.plans, p)
	return p.Plan
}

// StopWaking drops the wake-up and tells whether there was one.
func (s *Schedule) StopWaking() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drop(func(p *planned) bool { return p.Cron == "" })
}

// Repeat plans a prompt at the dates of five cron fields in local time: once,
// or each time.
func (s *Schedule) Repeat(p Plan) (Plan, error) {
	c, err := parseCron(p.Cron)
	if err != nil {
		return Plan{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.plans) >= MaxPlans {
		return Plan{}, fmt.Errorf("there are %d scheduled prompts, and that is the limit; delete one first", MaxPlans)
	}
	now := s.Now()
	next, ok := c.after(now)
	if !ok {
		return Plan{}, fmt.Errorf("the date %q never comes", p.Cron)
	}
	p.Next = next
	if p.Recurring {
		p.Expires = now.Add(planLife)
	}
	s.plans = append(s.plans, &planned{p, c})
	return p, nil
}

// Delete drops the plan of an id and tells whether there was one.
func (s *Schedule) Delete(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drop(func(p *planned) bool { return p.ID == id })
}

func (s *Schedule) drop(which func(*planned) bool) bool {
	n := len(s.plans)
	s.plans = slices.DeleteFunc(s.plans, which)
	return len(s.plans) < n
}

// All lists the plans by date.
func (s *Schedule) All() []Plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Plan, len(s.plans))
	for i, p := range s.plans {
		out[i] = p.Plan
	}
	slices.SortStableFunc(out, func(a, b Plan) int { return cmp.Compare(a.Next.UnixNano(), b.Next.UnixNano()) })
	return out
}

// Due takes the plans whose date has come, in order of date. A repeated one that was missed
// several times is due once.
func (s *Schedule) Due() []Plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Now()
	var out []Plan
	var rest []*planned
	for _, p := range s.plans {
		if p.Next.After(now) {
			rest = append(rest, p)
			continue
		}
		out = append(out, p.Plan)
		if !p.Recurring {
			continue
		}
		if next, ok := p.cron.after(now); ok && !next.After(p.Expires) {
			p.Next = next
			rest = append(rest, p)
		}
	}
	s.plans = rest
	slices.SortStableFunc(out, func(a, b Plan) int { return cmp.Compare(a.Next.UnixNano(), b.Next.UnixNano()) })
	return out
}

// cron are the values that each field allows.
type cron struct {
	minute, hour, day, month, weekday uint64 // sets of bits
	// either tells that day and weekday are both limited: one of them is enough.
	either bool
}

var cronFields = []struct {
	name     string
	from, to int
}{{"minute", 0, 59}, {"hour", 0, 23}, {"day of the month", 1, 31}, {"month", 1, 12}, {"day of the week", 0, 7}}

// parseCron reads five fields: *, n, n-m, lists by comma, steps by slash.
// Sunday is 0 and 7.
func parseCron(text string) (*cron, error) {
	words := strings.Fields(text)
	if len(words) != len(cronFields) {
		return nil, fmt.Errorf("%q is not a date of five fields: minute, hour, day of the month, month, day of the week", text)
	}
	var sets [5]uint64
	for i, f := range cronFields {
		set, err := cronField(words[i], f.from, f.to)
		if err != nil {
			return nil, fmt.Errorf("the %s %q of the date: %w", f.name, words[i], err)
		}
		sets[i] = set
	}
	if sets[4]&(1<<7) != 0 {
		sets[4] = sets[4]&^(1<<7) | 1
	}
	return &cron{sets[0], sets[1], sets[2], sets[3], sets[4], words[2][0] != '*' && words[4][0] != '*'}, nil
}

var errCronField = errors.New("it must be *, a number, a range, or a list of them, each with an optional step")

func cronField(word string, from, to int) (uint64, error) {
	var set uint64
	for part := range strings.SplitSeq(word, ",") {
		span, stepText, stepped := strings.Cut(part, "/")
		step := 1
		if stepped {
			n, err := strconv.Atoi(stepText)
			if err != nil || n < 1 || n > to {
				return 0, errCronField
			}
			step = n
		}
		lo, hi, err := cronSpan(span, from, to, stepped)
		if err != nil {
			return 0, err
		}
		for v := lo; v <= hi; v += step {
			set |= 1 << v
		}
	}
	return set, nil
}

// cronSpan is the range of one part; a number with a step runs to the end.
func cronSpan(span string, from, to int, stepped bool) (lo, hi int, err error) {
	if span == "*" {
		return from, to, nil
	}
	first, last, ranged := strings.Cut(span, "-")
	if lo, err = strconv.Atoi(first); err != nil {
		return 0, 0, errCronField
	}
	hi = lo
	switch {
	case ranged:
		if hi, err = strconv.Atoi(last); err != nil {
			return 0, 0, errCronField
		}
	case stepped:
		hi = to
	}
	if lo < from || hi > to || lo > hi {
		return 0, 0, fmt.Errorf("it must lie between %d and %d", from, to)
	}
	return lo, hi, nil
}

// after is the first date after t, to the minute; ok is false when there is
// none within five years, as for 30 February.
func (c *cron) after(t time.Time) (time.Time, bool) {
	limit := t.AddDate(5, 0, 0)
	t = t.Truncate(time.Minute).Add(time.Minute)
	for t.Before(limit) {
		y, m, d := t.Date()
		switch {
		case c.month&(1<<m) == 0:
			t = time.Date(y, m+1, 1, 0, 0, 0, 0, t.Location())
		case !c.onDay(t):
			t = time.Date(y, m, d+1, 0, 0, 0, 0, t.Location())
		case c.hour&(1<<t.Hour()) == 0:
			t = t.Add(time.Hour - time.Duration(t.Minute())*time.Minute)
		case c.minute&(1<<t.Minute()) == 0:
			t = t.Add(time.Minute)
		default:
			return t, true
		}
	}
	return time.Time{}, false
}

func (c *cron) onDay(t time.Time) bool {
	day, weekday := c.day&(1<<t.Day()) != 0, c.weekday&(1<<t.Weekday()) != 0
	if c.either {
		return day || weekday
	}
	return day && weekday
}
