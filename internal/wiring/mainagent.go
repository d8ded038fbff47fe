package wiring

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/core/engine"
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
	if b.o.Agent == "" {
		return pool, nil
	}
	if b.crew == nil {
		return nil, fmt.Errorf("--agent %s: a bare run has no agents", b.o.Agent)
	}
	all := b.crew.kinds().Agents
	i := slices.IndexFunc(all, func(a *catalog.Agent) bool { return a.Name == b.o.Agent })
	if i < 0 {
		var names []string
		for _, a := range all {
			names = append(names, a.Name)
		}
		return nil, fmt.Errorf("--agent %s: there is no such agent; there are: %s", b.o.Agent, strings.Join(names, ", "))
	}
	k := all[i]
	if _, err := k.Prompt(); err != nil {
		return nil, fmt.Errorf("--agent %s: %w", b.o.Agent, err)
	}
	b.main = k
	if b.o.Model == "" && k.Model != "" && k.Model != "inherit" {
		m.Name = k.Model
	}
	pool = slices.DeleteFunc(slices.Clone(pool), func(t tool.Tool) bool { return matches(k.Denied, t.Spec()) })
	if k.Tools != nil && !slices.Contains(k.Tools, "*") {
		pool = slices.DeleteFunc(pool, func(t tool.Tool) bool { return !matches(k.Tools, t.Spec()) })
	}
	b.pool = pool
	return pool, nil
}

// role is the prompt of the agent that the main conversation is.
func (b *build) role() string {
	text, err := b.main.Prompt()
	if err != nil {
		return "" // it could be read a moment ago; hew's own text stands in
	}
	return text
}
