package editor

import (
	"strings"

	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// lead is the room for the mark before the text.
const lead = 2

// row is a line of the screen: bytes from to to of a line of the text.
type row struct{ line, from, to int }

// cells is what a piece of text takes on the screen, and shows as.
func (e *Editor) cells(s string) (shown string, width int) {
	if strings.IndexFunc(s, special) < 0 {
		return s, style.Width(s)
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\t':
			b.WriteString("    ")
		case isChip(r):
			b.WriteString(e.chips.label(r))
		default:
			b.WriteString(plain.Line(string(r)))
		}
	}
	return b.String(), style.Width(b.String())
}

func special(r rune) bool { return r < ' ' || r == 0x7f || r > 0x7f && isOdd(r) }

// isOdd tells of characters that are not shown as they are.
func isOdd(r rune) bool { return isChip(r) || plain.Line(string(r)) != string(r) }

// wrap cuts a line of the text into rows of width cells, at blanks where it can.
func (e *Editor) wrap(line, width int) []row {
	s := e.buf.lines[line]
	if len(s) <= width && strings.IndexFunc(s, special) < 0 && style.Width(s) <= width {
		return []row{{line, 0, len(s)}}
	}
	var rows []row
	from, used, blank := 0, 0, -1
	for at := 0; at < len(s); {
		n := size(s[at:])
		_, w := e.cells(s[at : at+n])
		if used+w > width && at > from {
			to := at
			if blank > from {
				to = blank
			}
			rows = append(rows, row{line, from, to})
			from, at, used, blank = to, to, 0, -1
			continue
		}
		used += w
		at += n
		if s[at-n] == ' ' {
			blank = at
		}
	}
	return append(rows, row{line, from, len(s)})
}

// rows are those of the screen around the cursor, with the index of the cursor's
// own: at most want before it and behind it, however long the text is.
func (e *Editor) rows(width, want int) (rows []row, at int) {
	mid := e.wrap(e.cur.row, width)
	for i, r := range mid {
		if e.cur.col >= r.from {
			at = i
		}
	}
	rows = mid
	for i := e.cur.row - 1; i >= 0 && at < want; i-- {
		more := e.wrap(i, width)
		rows = append(more, rows...)
		at += len(more)
	}
	for i := e.cur.row + 1; i < len(e.buf.lines) && len(rows)-at <= want; i++ {
		rows = append(rows, e.wrap(i, width)...)
	}
	return rows, at
}

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
