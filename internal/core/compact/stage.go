package compact

import (
	"fmt"

	"github.com/hew-agent/hew/internal/core/loop"
	"github.com/hew-agent/hew/internal/event"
)

// aim says whether a stage has something to do and what the window should
// measure when it is done. A stage alone begins at the trigger; in the pipeline
// the one before it says what is wanted.
func (c *Config) aim(w loop.Window, why loop.Pressure) (loop.Window, int, bool) {
	l := c.Limits(w.Model)
	if w.Size == 0 {
		w.Size = tokens(w.Messages)
		if c.Overhead != nil {
			w.Size += c.Overhead()
		}
	}
	if w.Want > 0 {
		return w, w.Want, w.Size > w.Want
	}
	switch why.(type) {
	case loop.Routine:
		return w, l.Target, w.Size >= l.Trigger
	case loop.Overflow, loop.Manual:
	}
	return w, l.Target, w.Size > l.Target
}

// idle tells that a stage had nothing to do.
func idle(stage string, w loop.Window, why string, emit func(event.Body)) loop.Window {
	emit(event.Shaped{Stage: stage, Before: w.Size, After: w.Size, Detail: why})
	return w
}

// commit makes edits and tells of them.
func commit(stage string, w loop.Window, edits []event.Edit, emit func(event.Body)) loop.Window {
	if len(edits) == 0 {
		return idle(stage, w, "nothing to take", emit)
	}
	before, was := w.Size, tokens(w.Messages)
	w.Messages = Project(w.Messages, edits)
	w.Size = max(1, w.Size-was+tokens(w.Messages))
	w.Break = stage
	emit(event.Shaped{Stage: stage, Before: before, After: w.Size, Detail: fmt.Sprintf("%d replaced", len(edits)), Edits: edits})
	return w
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
