package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

const listName = "ListAgents"

// Peer is somebody else that a message can reach.
type Peer struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Status string `json:"status"`
}

// List is the tool that lists who a message can reach: the subagents of this
// conversation and the members of its team.
func (c *Crew) List() tool.Tool {
	spec := tool.Spec{
		Name: listName, Condition: "when HEW_MORE_TOOLS names it, or in a team", Origin: "builtin", Deferred: true,
		Description: text("list.md"), Schema: []byte(`{"type":"object","properties":{},"additionalProperties":false}`),
	}
	return tool.Define(spec, func(struct{}, tool.Env) (tool.Call, error) {
		return &tool.Func{
			Facts: tool.Traits{ReadOnly: true, ConcurrencySafe: true}, Line: "List agents",
			Do: func(context.Context, func(tool.Progress)) tool.Result { return c.list() },
		}, nil
	})
}

func (c *Crew) list() tool.Result {
	var peers []Peer
	at := map[string]int{}
	c.mu.Lock()
	for _, m := range c.members { // one that goes on stands here again: the last counts
		p := Peer{Name: m.task.ID, Type: m.kind(), Status: m.status()}
		if m.task.Name != "" {
			p.Name += " (" + m.task.Name + ")"
		}
		if i, known := at[m.task.ID]; known {
			peers[i] = p
			continue
		}
		at[m.task.ID] = len(peers)
		peers = append(peers, p)
	}
	c.mu.Unlock()
	if c.c.Peers != nil {
		more, err := c.c.Peers()
		if err != nil {
			return tool.Failure("The members of the team cannot be listed: " + err.Error())
		}
		peers = append(peers, more...)
	}
	lines := []string{}
	for _, p := range peers {
		lines = append(lines, fmt.Sprintf("%s: %s, %s", p.Name, p.Type, p.Status))
	}
	text := strings.Join(lines, "\n")
	if text == "" {
		text = "There are no agents yet."
	}
	r := tool.Text(text)
	r.Data, r.View = msg.Encode(map[string]any{"agents": peers}), tool.TextView{Text: text}
	return r
}

func (m *member) kind() string {
	if m.task.Kind == nil {
		return forkKind
	}
	return m.task.Kind.Name
}

func (m *member) status() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return string(m.state)
}
