package engine

import (
	"github.com/hew-agent/hew/internal/core/compact"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/prompt"
)

// View is what the engine knows of its window; see compact.Subject. It must not
// be called while a run is under way.
func (e *Engine) View() compact.Subject {
	s := compact.Subject{
		Session: e.Session(), Model: e.Model().ID, System: e.c.System, History: e.history,
		Used: e.used, Fresh: len(e.history) - e.seen, Kinds: e.kinds, Shapings: e.shapings, Compacted: e.compacted, Whole: e.history,
		Classes: map[string]prompt.Class{},
	}
	for _, src := range e.c.Sources {
		s.Classes[src.Name()] = src.Class()
	}
	for _, t := range e.Offered() {
		s.Tools = append(s.Tools, compact.Item{Name: t.Name, Tokens: compact.Estimate(string(e.def(t).JSON))})
	}
	return s
}

// follow remembers what View tells of: where injected messages come from, and
// what was taken out of the window.
func (e *Engine) follow(b event.Body) {
	if m, ok := b.(event.Message); ok && m.From != "" {
		e.kind(m.Msg, m.From)
	}
	if sh, ok := b.(event.Shaped); ok && len(sh.Edits) > 0 {
		e.shapings = append(e.shapings, sh)
	}
	if c, ok := b.(event.Compacted); ok {
		e.compacted = append(e.compacted, compact.Taken{
			Stage: compact.StageAuto, What: "the conversation up to the compaction " + c.Boundary + " (" + c.Trigger + ")", Tokens: max(0, c.PreTokens-c.PostTokens),
		})
	}
}

func (e *Engine) kind(m *msg.Message, from string) {
	if e.kinds == nil {
		e.kinds = map[string]string{}
	}
	e.kinds[m.ID] = from
}
