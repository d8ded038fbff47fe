package editor

import (
	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// lead is the room for the mark before the text.
const lead = 2

func (e *Editor) inner() int { return max(1, e.width-lead-1) }

// column is where the cursor stands in its row, in cells.
func (e *Editor) column(r row) int {
	_, w := e.cells(e.buf.lines[r.line][r.from:e.cur.col])
	return w
}

// move goes a row up or down; false at the edge of the text.
func (e *Editor) move(by int) bool {
	rows, at := e.rows(e.inner(), 1)
	if e.want < 0 {
		e.want = e.column(rows[at])
	}
	to := at + by
	if to < 0 || to >= len(rows) {
		return false
	}
	r := rows[to]
	s := e.buf.lines[r.line]
	col, used := r.from, 0
	for col < r.to {
		n := size(s[col:])
		_, w := e.cells(s[col : col+n])
		if used+w > e.want {
			break
		}
		if col+n == r.to && r.to < len(s) {
			break // the end of a wrapped row is the start of the next
		}
		col, used = col+n, used+w
	}
	e.cur = pos{r.line, col}
	return true
}

// Draw shows the part of the text around the cursor, and a menu under it.
func (e *Editor) Draw(width, height int) frame.Frame {
	e.width = max(8, width)
	if e.search != nil {
		return e.drawSearch(width, height)
	}
	menu := e.menu.draw(width, max(0, min(8, height-1)))
	room := max(1, height-len(menu))
	rows, at := e.rows(e.inner(), room)
	from := max(0, min(at-room/2, len(rows)-room))
	rows = rows[from:min(len(rows), from+room)]
	f := frame.Frame{Cursor: true, Row: at - from}
	for i, r := range rows {
		shown, _ := e.cells(e.buf.lines[r.line][r.from:r.to])
		mark := "  "
		if r.line == 0 && r.from == 0 {
			mark = e.mark()
		}
		l := style.Line{{Text: mark, Role: style.Accent}}
		l = append(l, e.roles(shown)...)
		if i == at-from {
			f.Col = lead + e.column(r)
		}
		f.Lines = append(f.Lines, l.Cut(width))
	}
	if e.Empty() && e.ghost != "" {
		f.Lines[0] = append(f.Lines[0], style.Span{Text: plain.Line(e.ghost), Role: style.Dim}).Cut(width)
	}
	f.Col = min(f.Col, width-1)
	f.Lines = append(f.Lines, menu...)
	return f
}

func (e *Editor) mark() string {
	switch e.Prefix() {
	case '!':
		return "! "
	case '#':
		return "# "
	}
	return "❯ "
}

// roles colours a row: chips and what is no prompt stand out.
func (e *Editor) roles(shown string) style.Line {
	base := style.Plain
	switch e.Prefix() {
	case '!':
		base = style.Warning
	case '#':
		base = style.Thought
	}
	if len(e.chips.kinds) == 0 {
		return style.Text(base, shown)
	}
	var out style.Line
	at := 0
	for _, m := range labels().FindAllStringIndex(shown, -1) {
		out = append(out, style.Span{Text: shown[at:m[0]], Role: base}, style.Span{Text: shown[m[0]:m[1]], Role: style.Accent})
		at = m[1]
	}
	return append(out, style.Span{Text: shown[at:], Role: base})
}
