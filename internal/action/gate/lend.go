package gate

import (
	"slices"
	"sync/atomic"

	"github.com/hew-agent/hew/internal/action/policy"
)

// Loan is rules that hold for a while: those of a skill in use. Nothing of it is
// saved, and an update of the policy does not make it last.
type Loan struct {
	// From names who brings the rules, for people.
	From        string
	Allow, Deny []string
}

// lent are the loans in force and the policies that they make of another one: the
// conversation's, and that of its subagents.
type lent struct {
	loans   []Loan
	last    atomic.Pointer[derived]
	denials atomic.Pointer[derived]
}

// Lend adds rules to this conversation alone, in the place of those that the
// same giver has lent before.
func (g *Gate) Lend(l Loan) {
	g.relend(func(all []Loan) []Loan {
		all = slices.DeleteFunc(all, func(x Loan) bool { return x.From == l.From })
		if len(l.Allow)+len(l.Deny) == 0 {
			return all
		}
		return append(all, l)
	})
}

// Return takes back what a giver has lent; "" is all of them.
func (g *Gate) Return(from string) {
	g.relend(func(all []Loan) []Loan {
		return slices.DeleteFunc(all, func(x Loan) bool { return from == "" || x.From == from })
	})
}

func (g *Gate) relend(change func([]Loan) []Loan) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var now []Loan
	if l := g.lent.Load(); l != nil {
		now = slices.Clone(l.loans)
	}
	if now = change(now); len(now) == 0 {
		g.lent.Store(nil)
		return
	}
	g.lent.Store(&lent{loans: now})
}

// over is a policy with the loans as rules of the session.
func (l *lent) over(s *policy.Snapshot) *policy.Snapshot { return l.onto(s, &l.last, l.loans) }

// bequeathed is the policy that subagents begin with: what is lent grants them
// nothing, and denies them what it denies this conversation.
func (g *Gate) bequeathed() *policy.Snapshot {
	s, l := g.settled(), g.lent.Load()
	if l == nil {
		return s
	}
	denials := slices.Clone(l.loans)
	for i := range denials {
		denials[i].Allow = nil
	}
	return l.onto(s, &l.denials, denials)
}

// onto is a policy with loans, remembered as long as that policy stands.
func (*lent) onto(s *policy.Snapshot, last *atomic.Pointer[derived], loans []Loan) *policy.Snapshot {
	if d := last.Load(); d != nil && d.from == s {
		return d.to
	}
	cfg := s.Config()
	cfg.Layers = slices.Clone(cfg.Layers)
	for _, x := range loans {
		cfg.Layers = append(cfg.Layers, policy.Layer{
			Origin: policy.Origin{Scope: policy.ScopeSession, File: x.From, Dir: cfg.Project}, Allow: x.Allow, Deny: x.Deny,
		})
	}
	to := policy.New(cfg)
	last.Store(&derived{s, to})
	return to
}
