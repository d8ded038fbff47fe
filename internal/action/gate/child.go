package gate

import (
	"sync/atomic"

	"github.com/hew-agent/hew/internal/action/policy"
)

// ChildConfig makes the gate of a subagent.
type ChildConfig struct {
	// Shape makes the subagent's policy of the conversation's as it is now. It is
	// called again when that one has changed, so that a rule or mode that a person
	// sets reaches subagents at work. It must be pure.
	Shape func(*policy.Snapshot) *policy.Snapshot
	// Asker reaches the person, nil when the subagent may not ask. Questions name
	// the agent that they come from.
	Asker Asker
	// HooksFirst is as in Config.
	HooksFirst bool
	// Lent tells that this is no subagent but a part of the conversation itself:
	// what was lent to that counts here too. A subagent gets only the denials, or
	// what a skill takes away could be had by delegation.
	Lent bool
	// Unheard keeps its calls from the hooks, as when a hook makes them.
	Unheard bool
}

// heritage is what ties the gate of a subagent to its parent's.
type heritage struct {
	from  *Gate
	lent  bool
	shape func(*policy.Snapshot) *policy.Snapshot
	last  atomic.Pointer[derived]
}

// derived remembers what was made of which policy.
type derived struct{ from, to *policy.Snapshot }

// Child is the gate of a subagent. It judges by the same hooks, classifier and
// settings; what a person answers there with a duration holds for the whole
// conversation, and nothing else that happens there reaches the parent.
func (g *Gate) Child(c ChildConfig) *Gate {
	cfg := g.c
	cfg.Asker, cfg.HooksFirst, cfg.Snapshot = c.Asker, c.HooksFirst || g.c.HooksFirst, nil
	if c.Unheard {
		cfg.Hooks = nil
	}
	return &Gate{c: cfg, up: &heritage{from: g, lent: c.Lent, shape: c.Shape}}
}

func (h *heritage) snapshot() *policy.Snapshot {
	now := h.from.bequeathed()
	if h.lent {
		now = h.from.Snapshot()
	}
	if d := h.last.Load(); d != nil && d.from == now {
		return d.to
	}
	to := h.shape(now)
	h.last.Store(&derived{now, to})
	return to
}
