package editor

import (
	"sort"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// row is a line of the screen: bytes from to to of a line of the text.
type row struct{ line, from, to int }

// cells is what a piece of text takes on the screen, and shows as.
func (e *Editor) cells(s string) (shown string, width int) {
	if simple(s) {
		return s, len(s)
	}
	var b strings.Builder
	for s != "" {
		n := size(s)
		shown, w := e.cell(s[:n])
		b.WriteString(shown)
		width += w
		s = s[n:]
	}
	return b.String(), width
}

// simple tells of text that shows as it is, a cell a byte.
func simple(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// cell is what one character shows as. Joiners stay, emoji are made of them.
func (e *Editor) cell(c string) (shown string, width int) {
	switch r := []rune(c)[0]; {
	case r == '\t':
		return "    ", 4
	case r < ' ' || r == 0x7f:
		shown = plain.Line(c)
	case isChip(r):
		shown = e.chips.label(r)
	default:
		shown = plain.Text(c)
	}
	return shown, style.Width(shown)
}

// size is the length in bytes of the first character of s, as people see one.
func size(s string) int {
	if len(s) == 1 || s[0] < 0x80 && s[1] < 0x80 {
		return 1
	}
	c, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return max(1, len(c))
}

// rowEnd is where the row of s that begins at from ends, at a blank where that
// is possible. A blank may stand in the cell behind the last.
func (e *Editor) rowEnd(s string, from, width int) int {
	if rest := s[from:]; simple(rest[:min(len(rest), width+1)]) {
		if len(rest) <= width {
			return len(s)
		}
		if i := strings.LastIndexByte(rest[:width+1], ' '); i > 0 {
			return from + i + 1
		}
		return from + width
	}
	used, blank := 0, -1
	for at := from; at < len(s); {
		n := size(s[at:])
		_, w := e.cell(s[at : at+n])
		if s[at] == ' ' {
			blank = at + 1
			if used+w > width {
				return blank
			}
		}
		if used+w > width && at > from {
			if blank > from {
				return blank
			}
			return at
		}
		used += w
		at += n
	}
	return len(s)
}

// laid is where the first rows of a long line begin, as far as somebody has
// looked. It is kept, because a key changes nothing before itself.
type laid struct {
	text   string
	width  int
	starts []int
	whole  bool
}

// longLine is what is wrapped anew with every drawing.
const longLine = 4 << 10

// wrap returns where the rows of a line begin, up to the one with byte col and
// more behind it.
func (e *Editor) wrap(line, width, col, more int) []int {
	s := e.buf.lines[line]
	if len(s) <= longLine {
		l := laid{text: s, width: width}
		e.lay(&l, len(s), 0)
		return l.starts
	}
	for i := range e.laid {
		if l := &e.laid[i]; l.width == width && (l.text == s || related(l.text, s)) {
			l.become(s)
			e.lay(l, col, more)
			return l.starts
		}
	}
	e.laid = append([]laid{{text: s, width: width}}, e.laid[:min(len(e.laid), 3)]...)
	e.lay(&e.laid[0], col, more)
	return e.laid[0].starts
}

// related tells that one text may have become the other by an edit.
func related(a, b string) bool {
	const n = 64
	return len(a) > n && len(b) > n && (a[:n] == b[:n] || a[len(a)-n:] == b[len(b)-n:])
}

// become keeps the rows that are the same in another text: a row depends on what
// stands in it and in the next.
func (l *laid) become(s string) {
	if l.text == s {
		return
	}
	keep := sort.SearchInts(l.starts, common(l.text, s)-64) - 3
	l.starts, l.text, l.whole = l.starts[:max(0, keep)], s, false
}

// lay finds rows up to the one with byte col and more behind it.
func (e *Editor) lay(l *laid, col, more int) {
	at := 0
	if n := len(l.starts); n > 0 {
		at, l.starts = l.starts[n-1], l.starts[:n-1]
		if l.whole {
			l.starts = append(l.starts, at)
			return
		}
	}
	behind := len(l.starts) - sort.SearchInts(l.starts, col+1)
	for {
		l.starts = append(l.starts, at)
		if at > col {
			if behind++; behind > more {
				return
			}
		}
		if at = e.rowEnd(l.text, at, l.width); at >= len(l.text) {
			l.whole = true
			return
		}
	}
}

// common is how many bytes two texts have in common at their start.
func common(a, b string) int {
	const step = 4 << 10
	most, n := min(len(a), len(b)), 0
	for n+step <= most && a[n:n+step] == b[n:n+step] {
		n += step
	}
	for n < most && a[n] == b[n] {
		n++
	}
	return n
}

// rowsOf are the rows of a line that begin with index from, at most n.
func (e *Editor) rowsOf(line int, starts []int, from, n int) []row {
	var rows []row
	for i := from; i < min(len(starts), from+n); i++ {
		to := len(e.buf.lines[line])
		if i+1 < len(starts) {
			to = starts[i+1]
		}
		rows = append(rows, row{line, starts[i], to})
	}
	return rows
}

// rows are those of the screen around the cursor, with the index of the cursor's
// own: at most want before it and behind it, however long the text is.
func (e *Editor) rows(width, want int) (rows []row, at int) {
	starts := e.wrap(e.cur.row, width, e.cur.col, want+1)
	mine := max(0, sort.SearchInts(starts, e.cur.col+1)-1)
	first := max(0, mine-want)
	rows, at = e.rowsOf(e.cur.row, starts, first, mine-first+want+1), mine-first
	for i := e.cur.row - 1; i >= 0 && at < want; i-- {
		s := e.wrap(i, width, len(e.buf.lines[i]), 0)
		from := max(0, len(s)-(want-at))
		more := e.rowsOf(i, s, from, len(s)-from)
		rows = append(more, rows...)
		at += len(more)
	}
	for i := e.cur.row + 1; i < len(e.buf.lines) && len(rows)-at <= want; i++ {
		rows = append(rows, e.rowsOf(i, e.wrap(i, width, 0, want+1), 0, want)...)
	}
	return rows, at
}
