package compact

import (
	"context"
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/core/loop"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// collapseMark begins a digest.
const collapseMark = "[Digest of earlier work"

// Collapse is the fourth stage: a digest stands in the place of old replies and
// results in what is sent, and nowhere else. Switched off, a resumed session
// shows all of it again.
type Collapse struct{ c *Config }

// NewCollapse makes the stage.
func NewCollapse(c *Config) *Collapse { return &Collapse{c} }

// Shape puts digests in the place of as much as is needed.
func (s *Collapse) Shape(_ context.Context, w loop.Window, why loop.Pressure, emit func(event.Body)) (loop.Window, error) {
	if !s.c.On.Collapse {
		return idle(StageCollapse, w, "off", emit), nil
	}
	w, want, act := s.c.aim(w, why)
	if !act {
		return idle(StageCollapse, w, "idle", emit), nil
	}
	l := s.c.Limits(w.Model)
	edits := spans(w, want, l, func(old []*msg.Message) string {
		return fmt.Sprintf("%s, made without a model%s.]\n%s", collapseMark, s.c.where(), digest(old, bytesOf(min(tokens(old)/8, l.Target/10))))
	})
	return commit(StageCollapse, w, edits, emit), nil
}

// digest lists what was said and called, a line each, in at most n bytes. What
// does not fit is left out in the middle: the beginning says what it was about,
// the end how it stood.
func digest(ms []*msg.Message, n int) string {
	var lines []string
	sizes := map[string]string{}
	for _, m := range ms {
		for _, b := range m.Blocks {
			if r, ok := b.(*msg.ToolResult); ok {
				word := fmt.Sprintf(" → %d tokens", resultTokens(r))
				if r.IsError {
					word = " → failed: " + oneLine(resultText(r), 120)
				}
				sizes[r.ToolUseID] = word
			}
		}
	}
	for _, m := range ms {
		for _, b := range m.Blocks {
			switch b := b.(type) {
			case *msg.Text:
				lines = append(lines, "- "+string(m.Role)+": "+oneLine(b.Text, 240))
			case *msg.ToolUse:
				lines = append(lines, "- "+b.Name+" "+oneLine(string(b.Input), 160)+sizes[b.ID])
			case *msg.Image, *msg.Document:
				lines = append(lines, "- "+string(m.Role)+": [image or document]")
			case *msg.Thinking, *msg.ToolResult, *msg.Opaque:
			}
		}
	}
	return middleOut(lines, n)
}

// middleOut joins lines to at most n bytes, leaving out those in the middle.
func middleOut(lines []string, n int) string {
	whole := strings.Join(lines, "\n")
	if len(whole) <= n {
		return whole
	}
	head, tail := 0, len(lines)
	for size := 40; head < tail; {
		next := lines[head]
		if head > len(lines)-tail {
			next = lines[tail-1]
		}
		if size += len(next) + 1; size > n {
			break
		}
		if head > len(lines)-tail {
			tail--
		} else {
			head++
		}
	}
	out := append([]string{}, lines[:head]...)
	out = append(out, fmt.Sprintf("- … %s …", plural(tail-head, "line is left out", "lines are left out")))
	return strings.Join(append(out, lines[tail:]...), "\n")
}

func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(Clip(s, 4*n)), " ")
	if len(s) > n {
		return Clip(s, n) + "…"
	}
	return s
}

func resultText(r *msg.ToolResult) string { return (&msg.Message{Blocks: r.Content}).Text() }
