package editor

import (
	"strings"
	"unicode/utf8"

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
		l := style.Line{{Text: "  "}}
		if r.line == 0 && r.from == 0 {
			l = style.Line{{Text: "❯ ", Role: e.role(style.Accent)}}
		}
		l = append(l, e.spans(r)...)
		if i == at-from {
			f.Col = min(lead+e.column(r), width-1)
			l = append(l, e.hint()...)
		}
		f.Lines = append(f.Lines, l.Cut(width))
	}
	f.Lines = append(f.Lines, menu...)
	return f
}

// hint is what stands dim behind the cursor: a suggestion in an empty editor, or
// the arguments of a command.
func (e *Editor) hint() style.Line {
	text := ""
	switch {
	case e.Empty():
		text = e.ghost
	case e.c.Hint != nil && e.Prefix() == '/' && len(e.buf.lines) == 1 && e.cur == e.buf.end() && e.cur.col < longQuery:
		text = e.c.Hint(e.buf.lines[0])
	}
	if text == "" {
		return nil
	}
	return style.Text(style.Dim, plain.Line(text))
}

// role is how the text looks: what is no prompt stands out.
func (e *Editor) role(usual style.Role) style.Role {
	switch e.Prefix() {
	case '!':
		return style.Warning
	case '#':
		return style.Thought
	}
	return usual
}

// spans draws a row, with what is selected.
func (e *Editor) spans(r row) style.Line {
	if !e.vim.visual() {
		return e.roles(r, e.role(style.Plain))
	}
	s := e.selection()
	here := func(p pos) int {
		switch {
		case p.row < r.line:
			return r.from
		case p.row > r.line:
			return r.to
		}
		return max(r.from, min(r.to, p.col))
	}
	from, to := here(s.from), here(s.to)
	l := e.roles(row{r.line, r.from, from}, style.Plain)
	l = append(l, e.roles(row{r.line, from, to}, style.Selected)...)
	if e.buf.lines[r.line] == "" && s.from.row <= r.line && r.line <= s.to.row {
		l = append(l, style.Span{Text: " ", Role: style.Selected})
	}
	return append(l, e.roles(row{r.line, to, r.to}, style.Plain)...)
}

// roles draws a piece of text; chips stand out.
func (e *Editor) roles(r row, base style.Role) style.Line {
	if r.from >= r.to {
		return nil
	}
	s := e.buf.lines[r.line][r.from:r.to]
	var l style.Line
	for s != "" {
		n := strings.IndexFunc(s, isChip)
		if n == 0 {
			_, n = utf8.DecodeRuneInString(s)
			role := style.Accent
			if base == style.Selected {
				role = base
			}
			shown, _ := e.cells(s[:n])
			l, s = append(l, style.Span{Text: shown, Role: role}), s[n:]
			continue
		}
		if n < 0 {
			n = len(s)
		}
		shown, _ := e.cells(s[:n])
		l, s = append(l, style.Span{Text: shown, Role: base}), s[n:]
	}
	return l
}
