package wiring

import (
	"context"
	"strings"

	"github.com/hew-agent/hew/internal/action/builtin/agent"
	"github.com/hew-agent/hew/internal/action/gate"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/state/prompt"
	"github.com/hew-agent/hew/internal/tool"
)

// agentListing tells the model which agents there are: once, and again what is
// new when a file was added.
type agentListing struct {
	b *build
	// offers tells whether the model sees a tool, gate judges which agents.
	offers func(tool.Spec) bool
	gate   func() *gate.Gate
	// main tells that it is the main conversation's.
	main bool
}

// Name is the source's word for programs.
func (agentListing) Name() string { return "agent_listing" }

// Class says that agents are definitions on disk.
func (agentListing) Class() prompt.Class { return prompt.Reloadable }

// agentListing is that of the main conversation.
func (b *build) agentListing() agentListing {
	return agentListing{b, b.offers, func() *gate.Gate { return b.gateRef }, true}
}

// Delta lists the agents while the tool that starts them is offered. Whenever a
// person has spoken, definitions that changed on disk are read again first.
func (l agentListing) Delta(ctx context.Context, f prompt.Facts) ([]prompt.Item, error) {
	if l.main && len(f.Words) > 0 {
		l.b.defs.refresh(ctx, func(event.Body) {})
	}
	return l.items(), nil
}

func (l agentListing) items() []prompt.Item {
	b := l.b
	if b.crew == nil || !l.offers(agent.Spec()) {
		return nil
	}
	var s strings.Builder
	for _, a := range b.crew.kinds().Agents {
		if !denied(l.gate().Snapshot(), a.Name) && (!l.main || b.spawns(a.Name)) {
			s.WriteString("- " + a.Name + ": " + strings.Join(strings.Fields(a.Description), " ") + "\n")
		}
	}
	if s.Len() == 0 {
		return nil
	}
	head := "Agents that can be started with the " + agent.Spec().Name + " tool:\n"
	return []prompt.Item{{Key: "agents", Text: head + strings.TrimRight(s.String(), "\n")}}
}

// offers tells whether the model sees a tool.
func (b *build) offers(s tool.Spec) bool {
	for _, t := range b.pool {
		if t.Spec().Name == s.Name {
			return b.gateRef.Offered(s)
		}
	}
	return false
}
