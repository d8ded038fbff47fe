package dialog

import (
	"fmt"

	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// page is text above an answer. It remembers whether its end was shown, so that
// nobody agrees to what stood below the edge.
type page struct {
	// draw returns all lines, and how many of them are what it is about: the last of
	// these must have been seen too.
	draw  func(width int) (lines []style.Line, about int)
	width int
	lines []style.Line
	about int

	top, room int
	body, end bool
}

// fill draws the lines for a width.
func (p *page) fill(width int) {
	if p.width != width {
		p.width = width
		p.lines, p.about = p.draw(width)
	}
}

// more is how many lines stand below the window.
func (p *page) more() int { return max(0, len(p.lines)-p.top-p.room) }

// scroll moves the window, by one step not beyond the end of what it is about
// before that was shown.
func (p *page) scroll(by int) {
	last := len(p.lines) - p.room
	if !p.body && by > 0 {
		last = min(last, max(p.top, p.about-p.room))
	}
	p.top = max(0, min(p.top+by, last))
}

// view is the window of at most room lines, the last of which says what is hidden.
func (p *page) view(room int) []style.Line {
	if len(p.lines) <= room {
		p.top, p.room, p.body, p.end = 0, room, true, true
		return p.lines
	}
	p.room = max(1, room-1)
	p.scroll(0)
	bottom := p.top + p.room
	p.body = p.body || p.top < p.about && bottom >= p.about || p.about == 0
	p.end = p.end || bottom >= len(p.lines)
	out := append([]style.Line(nil), p.lines[p.top:bottom]...)
	if room < 2 {
		return out
	}
	text, role := fmt.Sprintf("▲ %s above", count(p.top, "line")), style.Dim
	if n := p.more(); n > 0 {
		text, role = fmt.Sprintf("▼ %s below", count(n, "more line")), style.Warning
	}
	return append(out, style.Text(role, text).Cut(p.width))
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// key scrolls by the keys of a reader.
func (p *page) key(key string) bool {
	switch key {
	case "pgup", "ctrl+u", "ctrl+b", "b":
		p.scroll(-p.room)
	case "pgdown", "ctrl+d", "ctrl+f", "space", " ":
		p.scroll(p.room)
	case "home", "g":
		p.scroll(-len(p.lines))
	case "end", "G":
		p.scroll(len(p.lines))
	default:
		return false
	}
	return true
}
