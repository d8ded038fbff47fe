// Package frame is what a widget shows: lines and the place of the cursor in them.
package frame

import (
	"github.com/hew-agent/hew/internal/surface/tui/input"
	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// Frame is drawn lines. No line is wider than the width that was asked for.
type Frame struct {
	Lines []style.Line
	// Row and Col are the cell of the text cursor, with Cursor set.
	Row, Col int
	Cursor   bool
}

// Widget is a part of the screen that has the keyboard while it is shown.
type Widget interface {
	// Handle takes one event and tells whether it meant something here.
	Handle(ev input.Event) bool
	// Draw fits the widget into the given cells; it may take fewer lines.
	Draw(width, height int) Frame
	// Done tells that the widget has what it was opened for, or was left.
	Done() bool
}

// Stack puts one frame under another; the cursor is the lower one's if it has one.
func Stack(a, b Frame) Frame {
	n := len(a.Lines)
	out := Frame{Lines: append(a.Lines[:n:n], b.Lines...), Row: a.Row, Col: a.Col, Cursor: a.Cursor}
	if b.Cursor {
		out.Row, out.Col, out.Cursor = n+b.Row, b.Col, true
	}
	return out
}
