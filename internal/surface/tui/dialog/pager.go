package dialog

import (
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/input"
	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// Pager is text to read, of any length.
type Pager struct {
	Title string
	// Lines draws the whole text for a width; it is called when the width changes.
	Lines func(width int) []style.Line
	// Follow stays at the end until somebody scrolls.
	Follow bool

	width  int
	lines  []style.Line
	top    int
	moved  bool
	height int
	query  string
	asking bool
	done   bool
}

// Done tells that the pager was left.
func (p *Pager) Done() bool { return p.done }

// Refresh draws the text anew: it has changed.
func (p *Pager) Refresh() { p.width = 0 }

// Handle scrolls and searches.
func (p *Pager) Handle(ev input.Event) bool {
	switch ev := ev.(type) {
	case input.Mouse:
		switch ev.Kind {
		case input.WheelUp:
			p.step(-3)
		case input.WheelDown:
			p.step(3)
		case input.Click, input.Release, input.Drag:
			return false
		}
		return true
	case input.Press:
		if p.asking {
			p.ask(ev)
			return true
		}
		return p.press(ev)
	case input.Paste, input.Focus, input.Resize, input.Resumed, input.Ended:
	}
	return false
}

func (p *Pager) step(by int) {
	p.top = max(0, min(p.top+by, len(p.lines)-p.height))
	p.moved = p.top < len(p.lines)-p.height
}

func (p *Pager) press(ev input.Press) bool {
	switch ev.Key {
	case "q", "esc", "ctrl+c", "ctrl+o":
		p.done = true
	case "up", "k", "ctrl+p":
		p.step(-1)
	case "down", "j", "enter", "ctrl+n":
		p.step(1)
	case "pgup", "ctrl+b", "b":
		p.step(-p.height)
	case "pgdown", "space", "ctrl+f", " ":
		p.step(p.height)
	case "ctrl+u":
		p.step(-p.height / 2)
	case "ctrl+d":
		p.step(p.height / 2)
	case "home", "g":
		p.step(-len(p.lines))
	case "end", "G":
		p.step(len(p.lines))
	case "/":
		p.asking, p.query = true, ""
	case "n":
		p.seek(1)
	case "N":
		p.seek(-1)
	default:
		return false
	}
	return true
}

func (p *Pager) ask(ev input.Press) {
	switch ev.Key {
	case "enter":
		p.asking = false
		p.seek(1)
	case "esc", "ctrl+c":
		p.asking, p.query = false, ""
	case "backspace":
		if r := []rune(p.query); len(r) > 0 {
			p.query = string(r[:len(r)-1])
		}
	default:
		p.query += plain.Line(ev.Text)
	}
}

// seek goes to the next line, or the one before, that holds the query.
func (p *Pager) seek(by int) {
	q := strings.ToLower(p.query)
	if q == "" {
		return
	}
	for i := p.top + by; i >= 0 && i < len(p.lines); i += by {
		if strings.Contains(strings.ToLower(p.lines[i].String()), q) {
			p.top, p.moved = i, true
			return
		}
	}
}

// Draw shows the part of the text at the cursor.
func (p *Pager) Draw(width, height int) frame.Frame {
	p.height = max(1, height-2)
	if p.width != width {
		p.width, p.lines = width, p.Lines(max(8, width-2))
	}
	if p.Follow && !p.moved {
		p.top = len(p.lines)
	}
	p.top = max(0, min(p.top, len(p.lines)-p.height))
	f := frame.Frame{Lines: []style.Line{style.Text(style.Heading, " "+plain.Line(p.Title)).Cut(width)}}
	end := min(len(p.lines), p.top+p.height)
	q := strings.ToLower(p.query)
	for _, l := range p.lines[p.top:end] {
		if q != "" && strings.Contains(strings.ToLower(l.String()), q) {
			l = append(style.Line{{Text: "›", Role: style.Accent}}, l...)
		} else {
			l = append(style.Line{{Text: " "}}, l...)
		}
		f.Lines = append(f.Lines, l.Cut(width))
	}
	foot := style.Text(style.Dim, fmt.Sprintf(" %d-%d of %d · arrows · / searches · esc leaves", min(p.top+1, end), end, len(p.lines)))
	if p.asking {
		foot = style.Line{{Text: " /", Role: style.Accent}, {Text: p.query}}
		f.Cursor, f.Row, f.Col = true, len(f.Lines), min(foot.Width(), width-1)
	}
	f.Lines = append(f.Lines, foot.Cut(width))
	return f
}
