package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/tool"
)

// Letter is a message of the model, to a subagent or to a member of its team.
type Letter struct {
	To      string `json:"to"`
	Text    string `json:"message"`
	Summary string `json:"summary"`
	// Kind is "", "message", or the type of a message between members;
	// Request and Approve belong to answers.
	Kind    string `json:"type"`
	Request string `json:"request_id"`
	Approve *bool  `json:"approve"`
}

// teamFields are the fields of a Letter that only a team has.
var teamFields = []string{"type", "request_id", "approve"}

func (c *Crew) newSend() tool.Tool {
	spec := tool.Spec{
		Name: sendName, Condition: "where subagents can be started", Origin: "builtin", Deferred: true,
		Description: text("send.md"), Schema: without(text("send.json"), c.foreign()),
	}
	if c.c.Mail != nil {
		spec.Description += "\n\n" + text("sendteam.md")
	}
	return tool.Define(spec, func(in Letter, _ tool.Env) (tool.Call, error) {
		if strings.TrimSpace(in.Text) == "" || strings.TrimSpace(in.To) == "" {
			return nil, &tool.InputError{Tool: sendName, Faults: []string{"The parameters `to` and `message` must not be empty"}}
		}
		return &tool.Func{
			Line: "Message to " + oneLine(in.To),
			Do:   func(ctx context.Context, _ func(tool.Progress)) tool.Result { return c.send(ctx, in) },
		}, nil
	})
}

// foreign are the fields that do not belong to this conversation's messages.
func (c *Crew) foreign() []string {
	if c.c.Mail != nil {
		return nil
	}
	return teamFields
}

// send reaches a running subagent at its next boundary, or starts a finished
// one again, also one of an earlier process.
func (c *Crew) send(ctx context.Context, in Letter) tool.Result {
	m := c.find(in.To)
	if m == nil && c.c.Mail != nil {
		said, err := c.c.Mail(ctx, in)
		if err != nil {
			return tool.Refused(err.Error())
		}
		return tool.Text(said)
	}
	if m == nil && c.c.Revive != nil {
		child, t, err := c.c.Revive(ctx, in.To)
		if err != nil {
			return tool.Refused(err.Error())
		}
		m = c.revived(t, child)
	}
	if m == nil {
		return tool.Refused(fmt.Sprintf("There is no subagent %q.", in.To))
	}
	return m.hear(in.Text)
}

// takes gives a message to a running subagent. One that is being put away is
// waited for and takes none.
func (m *member) takes(message string) (state shell.State, queued bool) {
	m.mu.Lock()
	if m.state == shell.Running && !m.closes {
		m.child.Mail().Steer(message)
		m.mu.Unlock()
		return shell.Running, true
	}
	done, closes := m.done, m.closes
	m.mu.Unlock()
	if closes {
		<-done
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state, false
}

func (m *member) hear(message string) tool.Result {
	state, queued := m.takes(message)
	crew := m.crew
	switch {
	case queued:
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
	next := &member{crew: crew, task: m.task, child: m.child, state: shell.Pending, done: make(chan struct{})}
	next.task.Background, next.task.Prompt = true, message
	crew.mu.Lock()
	crew.members = append(crew.members, next)
	crew.mu.Unlock()
	next.launch(message)
	return next.launched()
}

// revived takes in a subagent of an earlier process, which has ended there.
func (c *Crew) revived(t Task, child Child) *member {
	m := c.take(t, child)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state = shell.Completed
	close(m.done)
	return m
}
