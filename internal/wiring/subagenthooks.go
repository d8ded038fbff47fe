package wiring

import (
	"context"

	"github.com/hew-agent/hew/internal/action/builtin/agent"
	"github.com/hew-agent/hew/internal/action/hook"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/core/loop"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// childHooks tells the user's hooks of a subagent. Those around calls hear of
// them through the gate, which is the conversation's.
type childHooks struct {
	h *hooks
	c *child
}

func (c *childHooks) who() hook.Agent { return hook.Agent{ID: c.c.id(), Type: c.c.kind()} }

// Prompt tells that the subagent is about to run.
func (c *childHooks) Prompt(ctx context.Context, _ engine.Input, emit func(event.Body)) engine.Reception {
	o := c.h.fire(ctx, hook.SubagentStart{Agent: c.who()}, emit)
	if r, blocked := dropped(o); blocked {
		return r
	}
	return engine.Reception{With: c.h.reminders("SubagentStart", o.Context)}
}

// Next tells of the calls that have ended.
func (c *childHooks) Next(ctx context.Context, ended []event.ToolFinished, emit func(event.Body)) engine.Pause {
	p := engine.Pause{}
	if len(ended) > 0 && c.h.d.Wants("PostToolBatch") {
		in := batch(ended)
		in.Agent = c.who()
		o := c.h.fire(ctx, in, emit)
		if r, blocked := dropped(o); blocked {
			p.End, p.Detail = event.HookStopped, r.Reason
		}
		p.With = c.h.reminders("PostToolBatch", o.Context)
	}
	if why, detail := c.h.d.Halted(c.c.id()); why != "" {
		p.End, p.Detail = why, detail
	}
	for _, l := range c.h.d.Late(c.c.id()) {
		for _, e := range l.Events {
			emit(e)
		}
		p.With = append(p.With, c.h.reminders("background", l.Context)...)
	}
	return p
}

// Stop tells that the subagent is about to finish.
func (c *childHooks) Stop(ctx context.Context, last *msg.Message, emit func(event.Body)) loop.Stop {
	return loop.Stop(c.h.d.Stops(ctx, hook.Ending{Agent: c.who(), Transcript: c.c.Transcript(), Last: last.Text()}, emit))
}

// Failed is the parent's to tell: it sees the failure in the report.
func (*childHooks) Failed(context.Context, event.Terminal, func(event.Body)) {}

// agentHooks are the hooks that an agent's file brings; those of a repository
// that nobody trusts are listed and never run.
func agentHooks(t agent.Task) hook.Source {
	return hook.Source{Scope: hook.AgentFile, File: t.Kind.Origin.File, Hooks: t.Kind.Hooks, Held: t.Kind.Held, Agent: t.ID}
}
