package engine

import (
	"sync"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/tool"
)

// grown remembers the definitions of the tools that came while the
// conversation ran: the bytes are part of the cached prefix and must not be
// made anew for each request.
type grown struct {
	mu   sync.Mutex
	defs map[string]learned
}

type learned struct {
	description, schema string
	def                 provider.ToolDef
}

// pool is every tool there is now: the fixed ones first, and they win.
func (e *Engine) pool() []tool.Tool {
	if e.c.More == nil {
		return e.c.Tools
	}
	more := e.c.More()
	if len(more) == 0 {
		return e.c.Tools
	}
	out := append(make([]tool.Tool, 0, len(e.c.Tools)+len(more)), e.c.Tools...)
	for _, t := range more {
		if _, taken := e.defs[t.Spec().Name]; !taken {
			out = append(out, t)
		}
	}
	return out
}

// def is the encoded definition of a tool of the pool.
func (e *Engine) def(s tool.Spec) provider.ToolDef {
	if d, ok := e.defs[s.Name]; ok {
		return d
	}
	e.more.mu.Lock()
	defer e.more.mu.Unlock()
	old, ok := e.more.defs[s.Name]
	if ok && old.description == s.Description && old.schema == string(s.Schema) {
		return old.def
	}
	if e.more.defs == nil {
		e.more.defs = map[string]learned{}
	}
	d := define(s)
	e.more.defs[s.Name] = learned{s.Description, string(s.Schema), d}
	return d
}
