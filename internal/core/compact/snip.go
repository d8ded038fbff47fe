package compact

import (
	"context"

	"github.com/hew-agent/hew/internal/core/loop"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// snipMark begins what stands in the place of messages that were snipped.
const snipMark = "[Earlier work was left out here to save space"

// Snip is the second stage: it takes the oldest replies and results out of the
// window, by age alone. What people said stays where it is.
type Snip struct{ c *Config }

// NewSnip makes the stage.
func NewSnip(c *Config) *Snip { return &Snip{c} }

// Shape takes out as much as is needed.
func (s *Snip) Shape(_ context.Context, w loop.Window, why loop.Pressure, emit func(event.Body)) (loop.Window, error) {
	if !s.c.On.Snip {
		return idle(StageSnip, w, "off", emit), nil
	}
	w, want, act := s.c.aim(w, why)
	if !act {
		return idle(StageSnip, w, "idle", emit), nil
	}
	text := snipMark + s.c.where() + ".]"
	edits := spans(w, want, s.c.Limits(w.Model), func([]*msg.Message) string { return text })
	if w = commit(StageSnip, w, edits, emit); len(edits) > 0 {
		emit(event.Notice{Level: event.Info, Code: StageSnip, Text: "old replies and tool results were left out of the window to save space; the transcript has all of them"})
	}
	return w, nil
}

// where tells the model where what is gone can be read.
func (c *Config) where() string {
	if c.Transcript == nil || c.Transcript() == "" {
		return ""
	}
	return "; the whole conversation is in " + c.Transcript()
}

// spans are the oldest runs of replies and results, as many as it takes to come
// down to want. What is younger than a third of the target, and the newest
// group, is never among them; a run between two prompts is one edit.
func spans(w loop.Window, want int, l Limits, put func([]*msg.Message) string) []event.Edit {
	gs := groups(w.Messages, front(w.Messages))
	last := protectedFrom(gs, l.Target/3)
	size := w.Size
	var out []event.Edit
	for i := 0; i < last && size > want; {
		if gs[i].prompt {
			i++
			continue
		}
		from, freed := i, 0
		for i < last && !gs[i].prompt && size-freed > want {
			freed += gs[i].tokens
			i++
		}
		old := w.Messages[gs[from].from:gs[i-1].until]
		if len(old) == 1 && marks(old[0]) {
			continue
		}
		text := put(old)
		if saved := freed - textTokens(text) - 8; saved > 0 {
			out = append(out, event.Edit{From: old[0].ID, Until: w.Messages[gs[i].from].ID, Text: text, Tokens: saved})
			size -= saved
		}
	}
	return out
}

// protectedFrom is the index of the first group that is too young to be touched.
func protectedFrom(gs []group, keep int) int {
	i := len(gs)
	for sum := 0; i > 0; i-- {
		sum += gs[i-1].tokens
		if sum > keep && i < len(gs) {
			break
		}
	}
	return min(i, max(0, len(gs)-1))
}
