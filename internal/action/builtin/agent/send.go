package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/tool"
)

type sendInput struct {
	To      string `json:"to"`
	Message string `json:"message"`
	Summary string `json:"summary"`
}

func (c *Crew) newSend() tool.Tool {
	spec := tool.Spec{
		Name: sendName, Condition: "where subagents can be started", Origin: "builtin", Deferred: true,
		Description: text("send.md"), Schema: []byte(text("send.json")),
	}
	return tool.Define(spec, func(in sendInput, _ tool.Env) (tool.Call, error) {
		if strings.TrimSpace(in.Message) == "" || strings.TrimSpace(in.To) == "" {
			return nil, &tool.InputError{Tool: sendName, Faults: []string{"The parameters `to` and `message` must not be empty"}}
		}
		return &tool.Func{
			Line: "Message to " + oneLine(in.To),
			Do:   func(ctx context.Context, _ func(tool.Progress)) tool.Result { return c.send(ctx, in) },
		}, nil
	})
}

// send reaches a running subagent at its next boundary, or starts a finished
// one again, also one of an earlier process.
func (c *Crew) send(ctx context.Context, in sendInput) tool.Result {
	m := c.find(in.To)
	if m == nil && c.c.Revive != nil {
		child, t, err := c.c.Revive(ctx, in.To)
		if err != nil {
			return tool.Refused(err.Error())
		}
		m = c.take(t, child)
	}
	if m == nil {
		return tool.Refused(fmt.Sprintf("There is no subagent %q.", in.To))
	}
	return m.hear(in.Message)
}

func (m *member) hear(message string) tool.Result {
	m.mu.Lock()
	state := m.state
	m.mu.Unlock()
	crew := m.crew
	switch {
	case state == shell.Running:
		m.child.Steer(message)
		return tool.Text("The message was queued; the subagent reads it after its current tool calls.")
	case m.task.Kind != nil && m.task.Kind.OneShot:
		return tool.Refused(fmt.Sprintf("An agent of type %s works once; start another one.", m.task.Kind.Name))
	case state == shell.Killed:
		return tool.Refused("That subagent was stopped and does not go on; start another one.")
	case !crew.c.Background:
		return tool.Refused("Work in the background is switched off, so a finished subagent cannot go on; start another one.")
	case !crew.c.Running.take(crew.c.Most):
		return tool.Refused(fmt.Sprintf("%d subagents are running, and that is the limit. Do not try again now.", crew.c.Most))
	}
	next := &member{crew: crew, task: m.task, child: m.child, done: make(chan struct{})}
	crew.mu.Lock()
	crew.members = append(crew.members, next)
	crew.mu.Unlock()
	next.launch(message)
	return next.launched()
}
