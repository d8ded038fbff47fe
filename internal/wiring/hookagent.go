package wiring

import (
	"context"
	"fmt"

	"github.com/hew-agent/hew/internal/action/builtin"
	"github.com/hew-agent/hew/internal/action/gate"
	"github.com/hew-agent/hew/internal/action/hook"
	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/prompt"
	"github.com/hew-agent/hew/internal/tool"
)

// verifierTools are what a hook of type agent looks with, and verifierTurns how
// often it may: the ecosystem's figure.
var verifierTools = []string{"Read", "Grep", "Glob"}

const verifierTurns = 50

const verifierRole = `You check one condition for a hook of the user, and nothing else. Use your tools to look at the files that it depends on; you cannot change anything and nobody can be asked.
End with one JSON object and no other words: {"ok": true} when the condition holds, else {"ok": false, "reason": "what is missing"}. Add "impossible": true when it can never hold in this session.`

// verify answers a hook of type agent: a conversation of its own, which no hook
// hears of and nobody sees, and whose last words are the verdict.
func (h *hooks) verify(ctx context.Context, q hook.Query) (string, error) {
	b, seen := h.b, &fsys.ReadState{}
	var pool []tool.Tool
	for _, t := range builtin.New(b.builtins(seen)) {
		if matches(verifierTools, t.Spec()) {
			pool = append(pool, t)
		}
	}
	model := q.Model
	if model == "" {
		model = fastModel
	}
	verifier := b.conv.Engine.Child(engine.Child{
		Origin: event.Origin{Agent: "hook-" + shortID(b.o.NewID)()}, System: prompt.System(prompt.Config{Role: verifierRole, Env: b.surroundings()}), Tools: pool, Model: model,
		MaxTurns: verifierTurns,
		Gate: b.gateRef.Child(gate.ChildConfig{Unheard: true, Shape: func(s *policy.Snapshot) *policy.Snapshot {
			return s.WithMode(policy.DontAsk)
		}}),
	})
	return lastWords(verifier.Submit(ctx, engine.Input{Message: msg.User(b.o.NewID(), b.o.Now(), q.Text), Source: "hook"}))
}

// lastWords is the text that a conversation ended with.
func lastWords(events func(func(event.Event) bool)) (string, error) {
	var text string
	var end event.Terminal
	for ev := range events {
		if m, ok := ev.Body.(event.Message); ok && m.Msg.Role == msg.RoleAssistant {
			text = m.Msg.Text()
		}
		if d, ok := ev.Body.(event.Done); ok {
			end = d.Terminal
		}
	}
	if end.Reason != event.Completed {
		return "", fmt.Errorf("the agent of the hook did not come to an end: %s", end.Detail)
	}
	return text, nil
}
