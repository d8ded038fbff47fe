package dialog

import (
	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/input"
	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// Tabs is several widgets of which one is in front.
type Tabs struct {
	// Names and Widgets belong together by their index.
	Names   []string
	Widgets []frame.Widget
	// At is the one in front.
	At int
}

// Front is the widget in front.
func (t *Tabs) Front() frame.Widget { return t.Widgets[t.At] }

// Done tells that the widget in front is done.
func (t *Tabs) Done() bool { return t.Front().Done() }

// Handle switches tabs by tab, and by the arrows where the widget in front has no
// use for them.
func (t *Tabs) Handle(ev input.Event) bool {
	p, ok := ev.(input.Press)
	if m, isMouse := ev.(input.Mouse); isMouse {
		m.Y--
		ev = m
	}
	if ok && (p.Key == "tab" || p.Key == "shift+tab") {
		t.turn(p.Key == "tab")
		return true
	}
	if t.Front().Handle(ev) {
		return true
	}
	if ok && (p.Key == "left" || p.Key == "right") {
		t.turn(p.Key == "right")
		return true
	}
	return false
}

func (t *Tabs) turn(on bool) {
	by := len(t.Widgets) - 1
	if on {
		by = 1
	}
	t.At = (t.At + by) % len(t.Widgets)
}

// Draw shows the names over the widget in front.
func (t *Tabs) Draw(width, height int) frame.Frame {
	names := make([]string, len(t.Names))
	for i, n := range t.Names {
		names[i] = label(n, 30)
	}
	if height < 2 {
		return fit(t.Front().Draw(width, height), width, height)
	}
	top := frame.Frame{Lines: []style.Line{tabLine(names, t.At, width)}}
	return fit(frame.Stack(top, t.Front().Draw(width, height-1)), width, height)
}

// tabLine draws tabs, from one on that lets the chosen one be seen.
func tabLine(names []string, at, width int) style.Line {
	from, used := at, 0
	for i := at; i >= 0; i-- {
		if used += style.Width(names[i]) + 3; used > width && i < at {
			break
		}
		from = i
	}
	l := style.Line{{Text: " "}}
	if from > 0 {
		l = style.Text(style.Dim, "‹")
	}
	for i := from; i < len(names); i++ {
		role := style.Dim
		if i == at {
			role = style.Selected
		}
		l = append(l, style.Span{Text: names[i], Role: role}, style.Span{Text: "   "})
	}
	return l.Cut(width)
}
