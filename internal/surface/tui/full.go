package tui

import (
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/input"
	"github.com/hew-agent/hew/internal/surface/tui/paint"
	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// Full is the painter that uses the whole window: what is finished scrolls in it.
type Full struct {
	p             *paint.Full
	end           func() error
	lines         []style.Line
	up            int // rows that the window is scrolled up from the end
	width, height int
	room          int // rows above the live region
	shown         []style.Line
	// from and to are the cells of a selection, while the button is down.
	from, to  cell
	selecting bool
	last      frame.Frame
}

type cell struct{ x, y int }

// NewFull makes the painter; end gives the ordinary screen back.
func NewFull(p *paint.Full, end func() error) *Full { return &Full{p: p, end: end} }

// Commit takes finished lines.
func (f *Full) Commit(lines []style.Line) {
	f.lines = append(f.lines, lines...)
	if f.up > 0 {
		f.up += len(lines) // what is read stays where it is
	}
}

// Forget drops the finished lines: they come again for another width.
func (f *Full) Forget() { f.lines, f.up = nil, 0 }

// Scroll moves the window up, or down by a negative number of rows.
func (f *Full) Scroll(by int) { f.up = max(0, min(f.up+by, len(f.lines)-f.room)) }

// Live draws the window.
func (f *Full) Live(live frame.Frame) error {
	f.last = live
	n := min(len(live.Lines), f.height)
	f.room = f.height - n
	f.Scroll(0)
	end := len(f.lines) - f.up
	top := f.lines[max(0, end-f.room):end]
	var out []style.Line
	for range f.room - len(top) {
		out = append(out, nil)
	}
	out = append(out, top...)
	if f.up > 0 && len(out) > 0 {
		out[len(out)-1] = style.Text(style.Dim, fmt.Sprintf("  ▼ %d more lines (pgdown, ctrl+end)", f.up+1)).Cut(f.width)
	}
	out = append(out, live.Lines[len(live.Lines)-n:]...)
	f.shown = out
	if f.selecting {
		out = f.marked(out)
	}
	return f.p.Draw(frame.Frame{Lines: out, Row: live.Row - (len(live.Lines) - n) + f.room, Col: live.Col, Cursor: live.Cursor && !f.selecting})
}

// Resize says that the window has another size, or that its content is unknown.
func (f *Full) Resize(width, height int) {
	f.width, f.height = width, height
	f.p.Resize(width, height)
}

// Close gives the ordinary screen back.
func (f *Full) Close() error { return f.end() }

// Mouse scrolls and selects; a selection that ends is returned as text.
func (f *Full) Mouse(m input.Mouse) (copied string) {
	switch m.Kind {
	case input.WheelUp:
		f.Scroll(3)
	case input.WheelDown:
		f.Scroll(-3)
	case input.Click:
		f.from, f.to, f.selecting = cell{m.X, m.Y}, cell{m.X, m.Y}, false
	case input.Drag:
		f.to, f.selecting = cell{m.X, m.Y}, true
	case input.Release:
		if f.selecting {
			f.to, f.selecting = cell{m.X, m.Y}, false
			return f.selected()
		}
	}
	return ""
}

// span is the selection in reading order.
func (f *Full) span() (a, b cell) {
	a, b = f.from, f.to
	if b.y < a.y || b.y == a.y && b.x < a.x {
		a, b = b, a
	}
	return a, b
}

// columns are the cells of a row that are selected.
func (f *Full) columns(y int) (from, to int) {
	a, b := f.span()
	if y < a.y || y > b.y {
		return 0, 0
	}
	from, to = 0, f.width
	if y == a.y {
		from = a.x
	}
	if y == b.y {
		to = b.x + 1
	}
	return from, to
}

func (f *Full) selected() string {
	var out []string
	for y, l := range f.shown {
		if from, to := f.columns(y); to > from {
			out = append(out, strings.TrimRight(part(l, from, to).String(), " "))
		}
	}
	return strings.Join(out, "\n")
}

func (f *Full) marked(lines []style.Line) []style.Line {
	out := make([]style.Line, len(lines))
	for y, l := range lines {
		out[y] = l
		if from, to := f.columns(y); to > from {
			mid := part(l, from, to)
			for i := range mid {
				mid[i].Role = style.Selected
			}
			out[y] = append(append(part(l, 0, from), mid...), part(l, to, f.width)...)
		}
	}
	return out
}

// part is a range of cells of a line.
func part(l style.Line, from, to int) style.Line {
	var out style.Line
	at := 0
	for _, s := range l {
		var b strings.Builder
		for _, r := range s.Text {
			if at >= from && at < to {
				b.WriteRune(r)
			}
			at += style.Width(string(r))
		}
		if b.Len() > 0 {
			out = append(out, style.Span{Text: b.String(), Role: s.Role, Link: s.Link})
		}
	}
	return out
}
