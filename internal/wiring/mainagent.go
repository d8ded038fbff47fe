package wiring

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/action/builtin/agent"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/mcp"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/catalog"
	"github.com/hew-agent/hew/internal/tool"
)

// kindOf is the type of a subagent, "" for an id that none has.
func (s *subagents) kindOf(id string) string {
	kind, _ := s.types.Load(id)
	name, _ := kind.(string)
	return name
}

// mainAgent makes the main conversation one of the agents: its tools and, where
// the user names none, its model.
func (b *build) mainAgent(pool []tool.Tool, m *engine.Model) ([]tool.Tool, error) {
	k, err := b.chosenAgent()
	if k == nil || err != nil {
		return pool, err
	}
	b.main = k
	if b.o.Model == "" && k.Model != "" && k.Model != "inherit" {
		m.Name = k.Model
	}
	if k.Effort != "" && b.effort() == "" {
		m.Effort = k.Effort
	}
	pool = slices.DeleteFunc(slices.Clone(pool), func(t tool.Tool) bool { return matches(k.Denied, t.Spec()) })
	if k.Tools != nil && !slices.Contains(k.Tools, "*") {
		pool = slices.DeleteFunc(pool, func(t tool.Tool) bool { return !matches(k.Tools, t.Spec()) })
	}
	b.pool = pool
	return pool, nil
}

// agentKey is the setting that names the agent of the main conversation; the
// command line is stronger.
const agentKey = "agent"

// chosenAgent is the agent that the main conversation is to be, nil for hew's own.
// One of the settings that there is not is told and left out: the files may be
// another project's.
func (b *build) chosenAgent() (*catalog.Agent, error) {
	name, from := b.o.Agent, "--agent"
	if name == "" {
		name, from = b.settings.Text(agentKey), "the setting "+agentKey
	}
	if name == "" || b.crew == nil && b.o.Agent == "" {
		return nil, nil
	}
	if b.crew == nil {
		return nil, fmt.Errorf("--agent %s: a bare run has no agents", name)
	}
	k := b.crew.kinds().Agent(name)
	var err error
	if k == nil {
		var names []string
		for _, a := range b.crew.kinds().Agents {
			names = append(names, a.Name)
		}
		err = fmt.Errorf("%s %s: there is no such agent; there are: %s", from, fsys.Printable(name), strings.Join(names, ", "))
	} else if _, fault := k.Prompt(); fault != nil {
		err = fmt.Errorf("%s %s: %w", from, fsys.Printable(name), fault)
	}
	if err != nil && b.o.Agent == "" {
		b.notice(err.Error())
		return nil, nil
	}
	return k, err
}

// spawns tells whether the main conversation's agent may start a kind of
// subagent: `tools: Agent(a, b)` names those that it may.
func (b *build) spawns(kind string) bool {
	if b.main == nil {
		return true
	}
	bound := false
	for _, t := range b.main.Tools {
		name, list, ok := strings.Cut(t, "(")
		if !ok || !called(agent.Spec(), strings.TrimSpace(name)) {
			continue
		}
		bound = true
		for n := range strings.SplitSeq(strings.TrimSuffix(strings.TrimSpace(list), ")"), ",") {
			if strings.EqualFold(strings.TrimSpace(n), kind) {
				return true
			}
		}
	}
	return !bound
}

// maxTurns is the bound of a run: that of the command line, else the agent's.
func (b *build) maxTurns() int {
	if b.o.MaxTurns == 0 && b.main != nil {
		return b.main.MaxTurns
	}
	return b.o.MaxTurns
}

// agentServers are the servers that the main conversation's agent brings; they
// live as long as the session.
func (b *build) agentServers() []mcp.Entry {
	if b.main == nil || b.crew == nil {
		return nil
	}
	_, own := b.crew.brought(b.main)
	entries, faults := entriesOf(own)
	for _, f := range faults {
		b.notice(fmt.Sprintf("agent %s: %v", b.main.Name, f))
	}
	return entries
}

// entriesOf reads the servers of an agent's file.
func entriesOf(own map[string]json.RawMessage) (out []mcp.Entry, faults []error) {
	for _, name := range slices.Sorted(maps.Keys(own)) {
		e, err := mcp.ParseEntry(name, own[name])
		if err != nil {
			faults = append(faults, err)
			continue
		}
		e.Scope = mcp.ScopeAgent
		out = append(out, e)
	}
	return out, faults
}

// opening puts the first prompt of the main conversation's agent before what the
// user says first in a new session.
func (b *build) opening(submit func(context.Context, engine.Input) iter.Seq[event.Event]) func(context.Context, engine.Input) iter.Seq[event.Event] {
	if b.main == nil || b.main.InitialPrompt == "" || b.past != nil {
		return submit
	}
	opened := false
	return func(ctx context.Context, in engine.Input) iter.Seq[event.Event] {
		if in.Message != nil && !opened {
			opened = true
			m := *in.Message
			m.Blocks = append([]msg.Block{msg.NewText(b.main.InitialPrompt)}, m.Blocks...)
			in.Message = &m
		}
		return submit(ctx, in)
	}
}

// role is the prompt of the agent that the main conversation is.
func (b *build) role() string {
	text, err := b.main.Prompt()
	if err != nil {
		return "" // it could be read a moment ago; hew's own text stands in
	}
	return text
}
