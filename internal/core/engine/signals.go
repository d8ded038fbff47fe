package engine

import (
	"fmt"

	"github.com/hew-agent/hew/internal/event"
)

// signals collects, over one run, what its good end would hide.
type signals struct {
	checks  []string // in the order of their first run
	last    map[string]outcome
	dropped []string
}

// outcome is how a check ended the last time.
type outcome struct{ ran, failed bool }

func (s *signals) hear(b event.Body) {
	if f, ok := b.(event.ToolFinished); ok {
		s.check(f)
	}
	if sh, ok := b.(event.Shaped); ok && len(sh.Edits) > 0 && sh.After < sh.Before {
		s.dropped = append(s.dropped, fmt.Sprintf("%s took %d tokens out of what the model sees", sh.Stage, sh.Before-sh.After))
	}
	if c, ok := b.(event.Compacted); ok {
		s.dropped = append(s.dropped, fmt.Sprintf("a summary stands for %d tokens of the conversation", max(0, c.PreTokens-c.PostTokens)))
	}
}

func (s *signals) check(b event.ToolFinished) {
	if b.Check == "" {
		return
	}
	now, known := s.last[b.Check]
	if !known {
		s.checks = append(s.checks, b.Check)
	}
	if s.last == nil {
		s.last = map[string]outcome{}
	}
	if b.Ran {
		now = outcome{ran: true, failed: b.Result.IsError}
	}
	s.last[b.Check] = now
}

// list is what there is to tell.
func (s *signals) list() []event.Signal {
	var out []event.Signal
	for _, name := range s.checks {
		switch o := s.last[name]; {
		case !o.ran:
			out = append(out, event.Signal{Kind: event.SkippedCheck, Detail: name + " was wanted and never run"})
		case o.failed:
			out = append(out, event.Signal{Kind: event.FailedCheck, Detail: name + " failed when it was last run"})
		}
	}
	for _, d := range s.dropped {
		out = append(out, event.Signal{Kind: event.DroppedContext, Detail: d})
	}
	return out
}
