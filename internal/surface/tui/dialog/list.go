// Package dialog is lists, pages, questions and permission requests that take the keyboard.
//
// Each is a plain frame.Widget over what the caller hands in: it reads no disk,
// starts nothing and knows no engine.
package dialog

import (
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/input"
	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// Row is a line of a List.
type Row struct {
	Label, Detail, Right, Section string
	// Mark stands before the label in MarkRole; "" for none.
	Mark     string
	MarkRole style.Role
}

// List is rows to choose from.
type List struct {
	Title, Empty string
	// Intro is drawn under the title.
	Intro func(width int) []style.Line
	Rows  []Row
	// Preview draws what is known of a row. Optional.
	Preview func(row, width int) []style.Line
	// Keys are what can be done with the chosen row, by key, in the order of the
	// footer. enter is among them when rows can be taken.
	Keys []Key
	// Note is a line of the footer: what the last act led to.
	Note string

	filter  string
	hits    []int
	at, top int
	scroll  int // of the preview
	chosen  string
	done    bool
}

// Key is a key and what it does.
type Key struct{ Key, Name string }

// NewList makes a list with a row chosen.
func NewList(l List, chosen int) *List {
	l.match()
	for i, h := range l.hits {
		if h == chosen {
			l.at = i
		}
	}
	return &l
}

// SetRows replaces the rows and keeps the place.
func (l *List) SetRows(rows []Row) {
	at := l.at
	l.Rows = rows
	l.match()
	l.at = max(0, min(at, len(l.hits)-1))
}

// Done tells that the list was left or a key of Keys was pressed.
func (l *List) Done() bool { return l.done || l.chosen != "" }

// Left tells that the list was left.
func (l *List) Left() bool { return l.done }

// Taken is the row and the key that were chosen since the last call; row is -1
// when no row is there, key "" when none was pressed.
func (l *List) Taken() (row int, key string) {
	key, l.chosen = l.chosen, ""
	return l.Row(), key
}

// Row is the index of the row at the cursor, -1 for none.
func (l *List) Row() int {
	if l.at < len(l.hits) {
		return l.hits[l.at]
	}
	return -1
}

func (l *List) match() {
	l.hits = l.hits[:0]
	words := strings.Fields(strings.ToLower(l.filter))
	for i, r := range l.Rows {
		text := strings.ToLower(r.Label + " " + r.Detail + " " + r.Section + " " + r.Right)
		fits := true
		for _, w := range words {
			fits = fits && strings.Contains(text, w)
		}
		if fits {
			l.hits = append(l.hits, i)
		}
	}
	l.at = max(0, min(l.at, len(l.hits)-1))
}

// Handle moves, filters and takes keys.
func (l *List) Handle(ev input.Event) bool {
	switch ev := ev.(type) {
	case input.Mouse:
		switch ev.Kind {
		case input.WheelUp:
			l.step(-3)
		case input.WheelDown:
			l.step(3)
		case input.Click, input.Release, input.Drag:
			return false
		}
		return true
	case input.Press:
		return l.press(ev)
	case input.Paste:
		l.filter += plain.Line(strings.TrimSpace(ev.Text))
		l.match()
		return true
	case input.Focus, input.Resize, input.Resumed, input.Ended:
	}
	return false
}

func (l *List) step(by int) {
	l.at = max(0, min(l.at+by, len(l.hits)-1))
	l.scroll = 0
}

func (l *List) press(p input.Press) bool {
	l.Note = ""
	switch p.Key {
	case "up", "ctrl+p":
		l.step(-1)
	case "down", "ctrl+n":
		l.step(1)
	case "pgup":
		l.step(-10)
	case "pgdown":
		l.step(10)
	case "home":
		l.step(-len(l.hits))
	case "end":
		l.step(len(l.hits))
	case "shift+up", "ctrl+up":
		l.scroll = max(0, l.scroll-3)
	case "shift+down", "ctrl+down":
		l.scroll += 3
	case "esc", "ctrl+c":
		if l.filter != "" && p.Key == "esc" {
			l.filter = ""
			l.match()
			return true
		}
		l.done = true
	case "backspace":
		if r := []rune(l.filter); len(r) > 0 {
			l.filter = string(r[:len(r)-1])
			l.match()
		}
	default:
		return l.other(p)
	}
	return true
}

// other takes the keys that act; letters filter once something was typed.
func (l *List) other(p input.Press) bool {
	for _, k := range l.Keys {
		if k.Key == p.Key && (l.filter == "" || len(p.Key) > 1) {
			l.chosen = p.Key
			return true
		}
	}
	if p.Text == "" {
		return false
	}
	l.filter += plain.Line(p.Text)
	l.at, l.scroll = 0, 0
	l.match()
	return true
}

// Draw shows title, rows and, where there is room, the preview.
func (l *List) Draw(width, height int) frame.Frame {
	head := []style.Line{{{Text: " " + plain.Line(l.Title), Role: style.Heading}}}
	if l.filter != "" {
		head[0] = append(head[0], style.Span{Text: "  ⌕ " + l.filter, Role: style.Accent})
	} else if len(l.Rows) > 12 {
		head[0] = append(head[0], style.Span{Text: fmt.Sprintf("  %d · type to filter", len(l.Rows)), Role: style.Dim})
	}
	if l.Intro != nil && height > 12 {
		for _, x := range l.Intro(width - 2) {
			head = append(head, append(style.Line{{Text: " "}}, x...))
		}
	}
	foot := []style.Line{l.foot()}
	room := max(1, height-len(head)-len(foot))
	rows := l.lines(width, min(room, max(3, l.share(room))))
	out := append(head, rows...)
	if l.Preview != nil && room-len(rows) > 3 && l.Row() >= 0 {
		out = append(out, l.preview(width, room-len(rows))...)
	}
	out = append(out, foot...)
	f := frame.Frame{}
	for _, x := range out[:min(len(out), max(1, height))] {
		f.Lines = append(f.Lines, x.Cut(width))
	}
	return f
}

// share is how many of the lines the rows take beside a preview.
func (l *List) share(room int) int {
	if l.Preview == nil {
		return room
	}
	return room / 2
}

func (l *List) preview(width, room int) []style.Line {
	out := []style.Line{style.Text(style.Rule, " "+strings.Repeat("┄", max(1, width-2)))}
	lines := l.Preview(l.Row(), width-4)
	room -= 2
	l.scroll = max(0, min(l.scroll, len(lines)-room))
	for _, x := range lines[l.scroll:min(len(lines), l.scroll+room)] {
		out = append(out, append(style.Line{{Text: "  "}}, x...))
	}
	if len(lines) > room {
		out = append(out, style.Text(style.Dim, fmt.Sprintf("  %d of %d lines (shift+down)", min(len(lines), l.scroll+room), len(lines))))
	}
	return out
}

// lines are the rows around the cursor, with their sections.
func (l *List) lines(width, room int) []style.Line {
	if len(l.hits) == 0 {
		text := l.Empty
		if l.filter != "" {
			text = "nothing fits " + l.filter
		}
		return style.Wrap(style.Text(style.Dim, "   "+plain.Line(text)), width)
	}
	var out []style.Line
	section, cursor := "", 0
	from := max(0, l.at-room)
	for i := from; i < min(len(l.hits), l.at+room); i++ {
		r := l.Rows[l.hits[i]]
		if r.Section != section || i == from && r.Section != "" {
			section = r.Section
			out = append(out, style.Text(style.Dim, "   "+plain.Line(section)))
		}
		if i == l.at {
			cursor = len(out)
		}
		out = append(out, l.row(r, i == l.at, width))
	}
	if cursor < l.top || l.top > len(out) {
		l.top = max(0, cursor-1)
	}
	l.top = max(l.top, cursor-room+1)
	l.top = max(0, min(l.top, len(out)-room))
	return out[l.top:min(len(out), l.top+room)]
}

func (l *List) row(r Row, here bool, width int) style.Line {
	lead, role := "   ", style.Plain
	if here {
		lead, role = " › ", style.Selected
	}
	out := style.Line{{Text: lead, Role: style.Accent}}
	if r.Mark != "" {
		out = append(out, style.Span{Text: r.Mark + " ", Role: r.MarkRole})
	}
	right := plain.Line(r.Right)
	room := width - style.Width(right) - 2
	out = append(out, style.Span{Text: plain.Line(r.Label), Role: role})
	if r.Detail != "" {
		out = append(out, style.Span{Text: "  " + plain.Line(r.Detail), Role: style.Dim})
	}
	if right == "" || room < 20 {
		return out.Cut(width)
	}
	out = out.Cut(room)
	return append(out, style.Span{Text: strings.Repeat(" ", max(1, width-out.Width()-style.Width(right)-1)) + right, Role: style.Dim})
}

func (l *List) foot() style.Line {
	if l.Note != "" {
		return style.Text(style.Warning, " "+plain.Line(l.Note))
	}
	var parts []string
	for _, k := range l.Keys {
		parts = append(parts, k.Key+" "+k.Name)
	}
	return style.Text(style.Dim, " "+strings.Join(append(parts, "esc leaves"), " · "))
}
