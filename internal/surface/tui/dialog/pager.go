package dialog

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/input"
	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// sideStep is how many cells the arrows move a text that is too wide.
const sideStep = 8

// Pager is text to read, of any length.
type Pager struct {
	Title string
	// Lines draws the whole text for a width; it is called when the width changes.
	// Lines that are wider can be moved sideways.
	Lines func(width int) []style.Line
	// Follow stays at the end until somebody scrolls.
	Follow bool

	width  int
	lines  []style.Line
	wide   bool
	top    int
	side   int
	moved  bool
	height int
	query  string
	asking bool
	missed bool
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
	case input.Paste:
		if p.asking {
			p.query += plain.Line(strings.TrimSpace(ev.Text))
		}
		return p.asking
	case input.Focus, input.Resize, input.Resumed, input.Ended:
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
	case "left", "h":
		p.side = max(0, p.side-sideStep)
	case "right", "l":
		if p.wide {
			p.side += sideStep
		}
	case "/":
		p.asking, p.query, p.missed = true, "", false
	case "n":
		p.seek(1, p.top+1)
	case "N":
		p.seek(-1, p.top-1)
	default:
		return false
	}
	return true
}

func (p *Pager) ask(ev input.Press) {
	switch ev.Key {
	case "enter":
		p.asking = false
		p.seek(1, p.top)
	case "esc", "ctrl+c":
		p.asking, p.query = false, ""
	case "backspace":
		if r := []rune(p.query); len(r) > 0 {
			p.query = string(r[:len(r)-1])
			return
		}
		p.asking = false
	default:
		p.query += plain.Line(ev.Text)
	}
}

// seek goes to a line that holds the query, from one on; behind the last it
// begins anew.
func (p *Pager) seek(by, from int) {
	n := len(p.lines)
	if p.query == "" || n == 0 {
		return
	}
	for i := range n {
		at := ((from+i*by)%n + n) % n
		if len(p.found(p.lines[at].String())) > 0 {
			p.top, p.moved, p.missed = at, true, false
			return
		}
	}
	p.missed = true
}

// found are the places of the query in a text, as pairs of byte offsets. A query
// without capital letters finds both.
func (p *Pager) found(s string) [][2]int {
	q := p.query
	if q == "" {
		return nil
	}
	if low := strings.ToLower(s); q == strings.ToLower(q) && len(low) == len(s) {
		s = low
	}
	var out [][2]int
	for at := 0; ; {
		i := strings.Index(s[at:], q)
		if i < 0 {
			return out
		}
		out = append(out, [2]int{at + i, at + i + len(q)})
		at += i + len(q)
	}
}

// Draw shows the part of the text at the cursor.
func (p *Pager) Draw(width, height int) frame.Frame {
	p.height = max(1, height-2)
	if p.width != width {
		p.width, p.lines, p.wide = width, p.Lines(max(8, width-2)), false
		for _, l := range p.lines {
			p.wide = p.wide || l.Width() > width-1
		}
	}
	if p.Follow && !p.moved {
		p.top = len(p.lines)
	}
	p.top = max(0, min(p.top, len(p.lines)-p.height))
	var f frame.Frame
	if height > 1 {
		f.Lines = append(f.Lines, style.Line{{Text: " " + label(p.Title, width), Role: style.Heading}})
	}
	end := min(len(p.lines), p.top+p.height)
	for _, l := range p.lines[p.top:end] {
		f.Lines = append(f.Lines, append(style.Line{{Text: " "}}, p.line(l)...))
	}
	if height > 2 || p.asking {
		f.Lines = f.Lines[:min(len(f.Lines), max(0, height-1))]
		f.Lines = append(f.Lines, p.foot(end, width))
	}
	if p.asking {
		f.Cursor, f.Row, f.Col = true, len(f.Lines)-1, min(f.Lines[len(f.Lines)-1].Width(), width-1)
	}
	return fit(f, width, height)
}

func (p *Pager) foot(end, width int) style.Line {
	switch {
	case p.asking:
		q := p.query
		for style.Width(q) > width-3 {
			q = ansi.TruncateLeft(q, style.Width(q)-width+3, "")
		}
		return style.Line{{Text: " /", Role: style.Accent}, {Text: q}}
	case p.missed:
		return style.Text(style.Warning, " "+label(p.query+" is not in this text", width))
	}
	keys := []string{fmt.Sprintf("%d-%d of %d", min(p.top+1, end), end, len(p.lines))}
	if p.query != "" {
		keys = append(keys, "n N next, last")
	}
	if p.wide {
		keys = append(keys, "←→ sideways")
	}
	return hints(append(keys, "/ searches", "↑↓ pgdn g G", "esc leaves"), width)
}

// line is a line with what was found in it, from the column on that is shown first.
func (p *Pager) line(l style.Line) style.Line {
	l = highlight(l, p.found(l.String()))
	if p.side == 0 {
		return l
	}
	var out style.Line
	skip := p.side
	for _, s := range l {
		if w := style.Width(s.Text); w <= skip {
			skip -= w
			continue
		}
		if skip > 0 {
			s.Text, skip = ansi.TruncateLeft(s.Text, skip, ""), 0
		}
		out = append(out, s)
	}
	return out
}

// highlight makes pieces of a line stand out.
func highlight(l style.Line, places [][2]int) style.Line {
	if len(places) == 0 {
		return l
	}
	var out style.Line
	at := 0
	for _, s := range l {
		start := 0
		put := func(to int, role style.Role) {
			if to = min(to, len(s.Text)); to > start {
				out = append(out, style.Span{Text: s.Text[start:to], Role: role, Link: s.Link, Back: s.Back})
				start = to
			}
		}
		for _, f := range places {
			put(f[0]-at, s.Role)
			if f[1] > at+start {
				put(f[1]-at, style.Selected)
			}
		}
		put(len(s.Text), s.Role)
		at += len(s.Text)
	}
	return out
}
