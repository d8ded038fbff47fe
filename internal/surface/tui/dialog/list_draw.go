package dialog

import (
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// beside is the width from which the preview stands at the right of the rows.
const beside = 120

// seen is the preview that was drawn last.
type seen struct {
	row, width int
	lines      []style.Line
}

// Draw shows title, rows and, where there is room, the preview.
func (l *List) Draw(width, height int) frame.Frame {
	head := []style.Line{l.head(width)}
	if l.Intro != nil && height > 12 {
		intro := l.Intro(max(1, width-2))
		head = append(head, indented(intro[:min(len(intro), height/3)], 1)...)
	}
	room := max(1, height-len(head)-1)
	var body []style.Line
	switch {
	case l.Preview == nil || l.Row() < 0 || room < 8:
		body = l.rows(width, room)
	case width >= beside:
		body = l.sides(width, room)
	default:
		body = l.rows(width, max(3, min(room/2, len(l.hits)+l.sections())))
		body = append(body, l.preview(width, room-len(body))...)
	}
	l.first = len(head)
	return fit(frame.Frame{Lines: append(append(head, body...), l.foot(width))}, width, height)
}

func (l *List) head(width int) style.Line {
	out := style.Line{{Text: " " + label(l.Title, width-2), Role: style.Heading}}
	switch {
	case l.filter != "" || l.filtering:
		out = append(out, style.Span{Text: "  ⌕ " + label(l.filter, width), Role: style.Accent})
	case len(l.Rows) > 12:
		out = append(out, style.Span{Text: fmt.Sprintf("  %d · / filters", len(l.Rows)), Role: style.Dim})
	}
	return out
}

// sections is how many headings the rows have, counted as far as a screen goes.
func (l *List) sections() int {
	n, last := 0, ""
	for _, h := range l.hits[:min(len(l.hits), 100)] {
		if s := l.Rows[h].Section; s != last {
			n, last = n+1, s
		}
	}
	return n
}

// about draws the preview of the chosen row, once.
func (l *List) about(width int) []style.Line {
	if row := l.Row(); l.seen.lines == nil || l.seen.row != row || l.seen.width != width {
		l.seen = seen{row, width, l.Preview(row, width)}
		if l.seen.lines == nil {
			l.seen.lines = []style.Line{}
		}
	}
	return l.seen.lines
}

// sides puts the preview to the right of the rows.
func (l *List) sides(width, room int) []style.Line {
	left := width * 2 / 5
	rows := l.rows(left, room)
	lines := l.window(l.about(width-left-4), room)
	out := make([]style.Line, 0, room)
	for i := range max(len(rows), len(lines)) {
		var a, b style.Line
		if i < len(rows) {
			a = fitLine(rows[i], left)
		}
		if i < len(lines) {
			b = lines[i]
		}
		gap := style.Span{Text: strings.Repeat(" ", max(0, left-a.Width()+1))}
		out = append(out, append(append(a[:len(a):len(a)], gap, style.Span{Text: "│ ", Role: style.Rule}), b...))
	}
	return out
}

// preview stands under the rows.
func (l *List) preview(width, room int) []style.Line {
	lines := l.about(max(1, width-4))
	if len(lines) == 0 || room < 3 {
		return nil
	}
	out := []style.Line{style.Text(style.Rule, " "+strings.Repeat("┄", max(1, width-2)))}
	return append(out, indented(l.window(lines, room-1), 2)...)
}

// window is what is shown of a preview, with a last line that says how much that is.
func (l *List) window(lines []style.Line, room int) []style.Line {
	if len(lines) <= room {
		l.scroll = 0
		return lines
	}
	room = max(1, room-1)
	l.scroll = max(0, min(l.scroll, len(lines)-room))
	out := append([]style.Line(nil), lines[l.scroll:l.scroll+room]...)
	return append(out, style.Text(style.Dim, fmt.Sprintf("%d of %d lines (shift+down)", l.scroll+room, len(lines))))
}

// rows are those around the cursor, with their sections.
func (l *List) rows(width, room int) []style.Line {
	l.page, l.drawn = room, nil
	if len(l.hits) == 0 {
		text := l.Empty
		if l.filter != "" {
			text = "nothing fits " + l.filter
		}
		lines := indented(paragraph(style.Dim, label(text, 1000), max(1, width-3)), 3)
		return lines[:min(len(lines), room)]
	}
	var out []style.Line
	var which []int
	section, cursor := "", 0
	from := max(0, l.at-room)
	for i := from; i < min(len(l.hits), l.at+room); i++ {
		r := &l.Rows[l.hits[i]]
		if r.Section != section || i == from && r.Section != "" {
			section = r.Section
			out, which = append(out, style.Text(style.Dim, "   "+label(section, width-3))), append(which, -1)
		}
		if i == l.at {
			cursor = len(out)
		}
		out, which = append(out, l.row(i, width)), append(which, i)
	}
	l.top = max(0, min(l.top, l.at))
	at := cursor - (l.at - l.top) // the first line if the same rows stay in sight
	at = max(min(at, cursor), cursor-room+1)
	if cursor == at && at > 0 && which[at-1] < 0 && room > 1 { // with its section
		at--
	}
	at = max(0, min(at, len(out)-room))
	l.top = l.at - (cursor - at)
	end := min(len(out), at+room)
	l.drawn = which[at:end]
	return out[at:end]
}

func (l *List) row(i, width int) style.Line {
	n := l.hits[i]
	r := &l.Rows[n]
	lead, role := "   ", style.Plain
	if i == l.at {
		lead, role = " › ", style.Selected
	}
	out := style.Line{{Text: lead, Role: style.Accent}}
	if r.Depth > 0 {
		out = append(out, style.Span{Text: strings.Repeat("  ", min(r.Depth, 20)-1) + "└ ", Role: style.Rule})
	}
	if l.Many {
		box := "☐ "
		if l.ticked[n] {
			box = "☑ "
		}
		out = append(out, style.Span{Text: box, Role: style.Accent})
	}
	if r.Mark != "" {
		out = append(out, style.Span{Text: label(r.Mark, 4) + " ", Role: r.MarkRole})
	}
	out = append(out, style.Span{Text: label(r.Label, width), Role: role})
	if l.folded[n] {
		out = append(out, style.Span{Text: " …", Role: style.Dim})
	}
	if r.Detail != "" {
		out = append(out, style.Span{Text: "  " + label(r.Detail, width), Role: style.Dim})
	}
	right := label(r.Right, width/2)
	room := width - style.Width(right) - 2
	if right == "" || room < 20 {
		return out
	}
	out = fitLine(out, room)
	gap := strings.Repeat(" ", max(1, width-out.Width()-style.Width(right)-1))
	return append(out, style.Span{Text: gap + right, Role: style.Dim})
}

func (l *List) foot(width int) style.Line {
	if l.Note != "" {
		return style.Text(style.Warning, " "+label(l.Note, width-1))
	}
	var keys []string
	for _, k := range l.Keys {
		keys = append(keys, label(k.Key+" "+k.Name, 60))
	}
	if l.Many {
		keys = append(keys, "space ticks")
	}
	return hints(append(keys, "esc leaves"), width)
}
