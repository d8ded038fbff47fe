package gate

import (
	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/tool"
)

// Explanation is a decision with the lasting answers that its question would offer.
type Explanation struct {
	policy.Decision
	Suggestions []event.Suggestion
}

// Explain decides about a call as Admit does, up to the question: h is what
// hooks are taken to answer, nobody is asked and nothing runs. A call that the
// mode refuses in place of a question gets the suggestions of that question.
func (g *Gate) Explain(p tool.Planned, h HookAnswer) Explanation {
	s := g.Snapshot()
	r := g.request(p, h)
	d := s.Decide(r)
	suggest := d.Suggest
	if d.Behavior == tool.Deny && d.Layer == "mode" && s.Mode() == policy.DontAsk {
		suggest = s.WithMode(policy.Default).Decide(r).Suggest
	}
	return Explanation{d, suggestions(suggest)}
}

// Invalid is the decision about a call that its tool did not understand: it
// is refused before permissions are looked at.
func Invalid(err error) tool.Decision { return invalid("validate", err) }
