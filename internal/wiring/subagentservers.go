package wiring

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/hew-agent/hew/internal/action/builtin/mcptool"
	"github.com/hew-agent/hew/internal/backend/mcp"
	"github.com/hew-agent/hew/internal/state/catalog"
	"github.com/hew-agent/hew/internal/state/server"
)

// brought reads an agent's mcpServers: names of servers that the session has
// (as they stand in tool names), and configurations of its own.
func (s *subagents) brought(k *catalog.Agent) (named []string, own map[string]json.RawMessage) {
	own = map[string]json.RawMessage{}
	if len(k.Servers) == 0 || k.Held {
		return nil, own
	}
	take := func(raw json.RawMessage) {
		var name string
		if json.Unmarshal(raw, &name) == nil {
			named = append(named, mcp.Normal(name))
			return
		}
		var entries map[string]json.RawMessage
		if json.Unmarshal(raw, &entries) == nil {
			maps.Copy(own, entries)
		}
	}
	var list []json.RawMessage
	if json.Unmarshal(k.Servers, &list) != nil {
		list = []json.RawMessage{k.Servers}
	}
	for _, raw := range list {
		take(raw)
	}
	return named, own
}

// connect brings up the servers that the agent's file configures; they end with
// the run. An administrator's lists and approvals hold for them as for others.
func (c *child) connect(ctx context.Context) error {
	b := c.s.b
	if c.task.Kind.Held && len(c.task.Kind.Servers) > 0 {
		b.notice(fmt.Sprintf("agent %s: its MCP servers are not started, because nobody has trusted this folder", c.kind()))
	}
	_, own := c.s.brought(c.task.Kind)
	if len(own) == 0 || b.mcp == nil {
		return nil
	}
	cfg := b.serverConfig()
	cfg.Flags = nil
	entries, faults := entriesOf(own)
	for _, f := range faults {
		b.notice(fmt.Sprintf("agent %s: %v", c.kind(), f))
	}
	cfg.Extra = entries
	found, _, err := server.Discover(cfg)
	if err != nil {
		return fmt.Errorf("the servers of agent %s: %w", c.kind(), err)
	}
	s := &servers{b: b, held: map[string]bool{}, wait: b.mcpTimeout(), awaited: func(mcp.Entry) bool { return true }}
	s.cfg = mcptool.Config{MaxText: b.mcpText(), Save: writeFile}
	s.set = mcp.NewSet(ctx, b.mcpConfig(s))
	c.stop = append(c.stop, func() error {
		c.own.Store(nil)
		return s.set.Close()
	})
	var refused []string
	for _, f := range found {
		if f.Entry.Scope != mcp.ScopeAgent {
			continue
		}
		if f.Choice != server.Use {
			refused = append(refused, f.Entry.Name+" ("+f.Why+")")
			continue
		}
		if err := s.set.Add(f.Entry); err != nil {
			b.notice(err.Error())
		}
	}
	if len(refused) > 0 {
		b.notice(fmt.Sprintf("agent %s: MCP servers that are not started: %s", c.kind(), strings.Join(refused, ", ")))
	}
	c.own.Store(s)
	s.await(ctx)
	return nil
}
