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
// hooks are taken to answer, nobody is asked and nothing runs.
func (g *Gate) Explain(p tool.Planned, h HookAnswer) Explanation {
	d := g.decide(p, h)
	return Explanation{d, suggestions(d.Suggest)}
}

// Invalid is the decision about a call that its tool did not understand: it
// is refused before permissions are looked at.
func Invalid(err error) tool.Decision { return invalid("validate", err) }
