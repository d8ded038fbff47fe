package wiring

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/action/builtin"
	"github.com/hew-agent/hew/internal/action/builtin/agent"
	"github.com/hew-agent/hew/internal/action/builtin/bash"
	"github.com/hew-agent/hew/internal/action/gate"
	"github.com/hew-agent/hew/internal/backend/feature"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/tool"
)

// tools makes the subagent's own tools: what it has read and its to-do list are
// not its parent's.
func (c *child) tools() error {
	b := c.s.b
	c.seen = &fsys.ReadState{}
	cfg := b.builtins(c.seen)
	cfg.Interactive, cfg.Background, cfg.Tasks, cfg.Todos = false, nil, "", nil
	cfg.Trees, cfg.Push = nil, nil
	c.shareTasks(&cfg)
	cfg.Mode = func() string { return c.gate.Mode() }
	if b.env("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS") == "" {
		cfg.Background = &c.work
	}
	sh := b.bashConfig(c.seen)
	sh.Tasks, sh.Env = &c.work, maps.Clone(b.variables)
	pool := append(builtin.New(cfg), bash.New(sh).Tool())
	inner := homeOf{
		engine: func() *engine.Engine { return c.e }, gate: func() *gate.Gate { return c.gate },
		pool: func() []tool.Tool { return c.pool }, more: func() []tool.Tool { return c.more() }, wall: c.wall, depth: c.home.depth + 1,
	}
	crew := agent.New(c.crewOf(c.s.config(inner, &c.work)))
	pool = append(pool, crew.Tools()...)
	if b.asksCode != nil {
		pool = append(pool, b.asksCode)
	}
	if c.craft = b.newSkills(inner, crew, c.seen); c.craft != nil {
		pool = append(pool, c.craft.book.Tool())
	}
	c.ends = append(c.ends, c.work.Close)
	if feature.ForkSubagent && c.task.Kind == nil {
		c.pool = copied(c.home.pool(), pool)
		return nil
	}
	for _, t := range c.home.pool() { // what is neither built in nor the parent's own
		if t.Spec().Origin != builtinOrigin {
			pool = append(pool, t)
		}
	}
	c.pool = c.bounded(c.filtered(c.parents(pool)))
	slices.SortStableFunc(c.pool, func(x, y tool.Tool) int { return strings.Compare(x.Spec().Name, y.Spec().Name) })
	return c.usable()
}

// copied are a parent's tools, one for one, so that a copy's requests begin with
// the same bytes. What belongs to the main conversation alone refuses.
func copied(parents, own []tool.Tool) []tool.Tool {
	out := make([]tool.Tool, 0, len(parents))
	for _, t := range parents {
		s := t.Spec()
		i := slices.IndexFunc(own, func(x tool.Tool) bool { return x.Spec().Name == s.Name })
		switch {
		case s.Origin != builtinOrigin:
			out = append(out, t)
		case i < 0 || matches(neverDelegated, s):
			out = append(out, withheld{t})
		default:
			out = append(out, spelled{own[i], s})
		}
	}
	return out
}

// spelled is a tool in the words of another.
type spelled struct {
	tool.Tool
	spec tool.Spec
}

// Spec is the other's.
func (s spelled) Spec() tool.Spec { return s.spec }

// withheld is a tool that a subagent sees and cannot use.
type withheld struct{ tool.Tool }

// Plan refuses.
func (a withheld) Plan(json.RawMessage, tool.Env) (tool.Call, error) {
	return nil, &tool.InputError{Tool: a.Spec().Name, Faults: []string{"This tool belongs to the main conversation; a subagent cannot use it"}}
}

// parents leaves what the parent has: a limited pool stays limited.
func (c *child) parents(pool []tool.Tool) []tool.Tool {
	has := map[string]bool{}
	for _, t := range c.home.pool() {
		has[t.Spec().Name] = true
	}
	return slices.DeleteFunc(pool, func(t tool.Tool) bool { return !has[t.Spec().Name] })
}

// filtered takes away what subagents never have, then what this one is denied,
// and leaves of the rest what it is allowed.
func (c *child) filtered(pool []tool.Tool) []tool.Tool {
	drop := func(names []string) {
		pool = slices.DeleteFunc(pool, func(t tool.Tool) bool { return matches(names, t.Spec()) })
	}
	drop(neverDelegated)
	if c.task.Background && c.team == nil {
		pool = slices.DeleteFunc(pool, func(t tool.Tool) bool {
			return !matches(backgroundTools, t.Spec()) && t.Spec().Origin == builtinOrigin
		})
	}
	k := c.task.Kind
	drop(k.Denied)
	if k.Tools == nil || slices.Contains(k.Tools, "*") {
		return pool
	}
	return slices.DeleteFunc(pool, func(t tool.Tool) bool { return !matches(k.Tools, t.Spec()) })
}

// usable refuses an agent whose list of tools names none that there is.
func (c *child) usable() error {
	k := c.task.Kind
	if len(c.pool) > 0 || len(k.Tools) == 0 || len(c.more()) > 0 || len(k.Servers) > 0 {
		return nil
	}
	return fmt.Errorf("the agent %s names only tools that do not exist here: %s", k.Name, strings.Join(k.Tools, ", "))
}

// more are the tools of servers that the subagent has now: its parent's, as its
// file allows, and those of the servers that the file brings or names.
func (c *child) more() []tool.Tool {
	var pool []tool.Tool
	if c.home.more != nil {
		pool = slices.Clone(c.home.more())
	}
	if c.task.Kind == nil {
		return pool
	}
	named, _ := c.s.brought(c.task.Kind)
	mine := func(s tool.Spec) bool {
		return slices.ContainsFunc(named, func(n string) bool { return strings.HasPrefix(s.Name, "mcp__"+n+"__") })
	}
	kept := c.filtered(slices.Clone(pool))
	for _, t := range pool {
		s := t.Spec()
		if mine(s) && !matches(c.task.Kind.Denied, s) && !slices.ContainsFunc(kept, func(k tool.Tool) bool { return k.Spec().Name == s.Name }) {
			kept = append(kept, t)
		}
	}
	if own := c.own.Load(); own != nil {
		for _, t := range own.tools() {
			if !matches(c.task.Kind.Denied, t.Spec()) && !slices.ContainsFunc(kept, func(k tool.Tool) bool { return k.Spec().Name == t.Spec().Name }) {
				kept = append(kept, t)
			}
		}
	}
	return kept
}

// matches tells whether a list names a tool: by its name, an older name, with
// parentheses behind it, or by its server.
func matches(names []string, s tool.Spec) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		n, _, _ = strings.Cut(n, "(")
		n = strings.TrimSpace(n)
		if server, ok := strings.CutPrefix(n, "mcp__"); ok {
			server = strings.TrimSuffix(server, "__*")
			return s.Name == n || strings.HasPrefix(s.Name, "mcp__"+server+"__")
		}
		return called(s, n)
	})
}
