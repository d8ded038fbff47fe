package editor

import (
	"strings"
	"unicode"
)

// span is what a motion or a text object takes in.
type span struct {
	from, to pos // to is behind the last character
	lines    bool
}

// reach is where a motion leads, and what an operator takes on the way there.
type reach struct {
	to        pos
	inclusive bool // the character at to is taken too
	lines     bool
	keep      bool // the wanted column stays
}

// motion finds where c leads; false when it leads nowhere.
func (e *Editor) motion(c command) (reach, bool) {
	b := e.buf
	n := c.times()
	switch c.verb {
	case "h", "left", "backspace":
		to := e.cur
		for range n {
			if to.col == 0 {
				break
			}
			to = b.left(to)
		}
		return reach{to: to}, to != e.cur
	case "l", "right", " ":
		to := e.cur
		for range n {
			if to.col >= len(b.lines[to.row]) {
				break
			}
			to = b.right(to)
		}
		return reach{to: to}, to != e.cur
	case "j", "down", "ctrl+n", "k", "up", "ctrl+p":
		if c.verb == "k" || c.verb == "up" || c.verb == "ctrl+p" {
			n = -n
		}
		row := e.cur.row + n
		if row < 0 || row >= len(b.lines) {
			return reach{}, false
		}
		return reach{to: e.under(row), lines: true, keep: true}, true
	case "0", "home":
		return reach{to: pos{e.cur.row, 0}}, true
	case "^":
		return reach{to: b.indent(e.cur.row)}, true
	case "_":
		row := min(len(b.lines)-1, e.cur.row+n-1)
		return reach{to: b.indent(row), lines: true}, true
	case "$", "end":
		row := min(len(b.lines)-1, e.cur.row+n-1)
		return reach{to: b.eol(row)}, true
	case "gg", "G":
		row := len(b.lines) - 1
		if c.count > 0 {
			row = min(row, c.count-1)
		} else if c.verb == "gg" {
			row = 0
		}
		return reach{to: b.indent(row), lines: true}, true
	case "{", "}":
		return reach{to: b.paragraph(e.cur, c.verb == "}", n)}, true
	case "%":
		to, ok := b.partner(e.cur)
		return reach{to: to, inclusive: true}, ok
	case "f", "F", "t", "T", ";", ",":
		return e.findMotion(c)
	}
	return e.wordMotion(c)
}

// under is the place in a line below or above the wanted column.
func (e *Editor) under(row int) pos {
	if e.want < 0 {
		_, e.want = e.cells(e.buf.lines[e.cur.row][:e.cur.col])
	}
	s, col, used := e.buf.lines[row], 0, 0
	for col < len(s) {
		n := size(s[col:])
		_, w := e.cells(s[col : col+n])
		if used+w > e.want {
			break
		}
		col, used = col+n, used+w
	}
	return pos{row, col}
}

// indent is the first character of a line that is no blank.
func (b buffer) indent(row int) pos {
	s := b.lines[row]
	return pos{row, len(s) - len(strings.TrimLeft(s, " \t"))}
}

// paragraph is the next or last empty line, or the end of the text.
func (b buffer) paragraph(p pos, forward bool, n int) pos {
	row := p.row
	for range n {
		for by := 1; ; by = 1 {
			if !forward {
				by = -1
			}
			row += by
			if row < 0 {
				return pos{}
			}
			if row >= len(b.lines) {
				return b.end()
			}
			if b.lines[row] == "" && b.lines[row-by] != "" {
				break
			}
		}
	}
	return pos{row, 0}
}

// partner is the bracket that belongs to the first one at or behind p in its line.
func (b buffer) partner(p pos) (pos, bool) {
	i := strings.IndexAny(b.lines[p.row][p.col:], "()[]{}")
	if i < 0 {
		return p, false
	}
	at := pos{p.row, p.col + i}
	switch c := b.lines[at.row][at.col]; c {
	case '(', '[', '{':
		return b.closing(b.right(at), c)
	default:
		return b.opening(at, c)
	}
}

const brackets = "()[]{}<>"

// closing is where the bracket that was opened before p by open ends.
func (b buffer) closing(p pos, open byte) (pos, bool) {
	shut := brackets[strings.IndexByte(brackets, open)+1]
	for depth := 1; p.row < len(b.lines); p = (pos{p.row + 1, 0}) {
		for s := b.lines[p.row]; p.col < len(s); p.col++ {
			switch s[p.col] {
			case open:
				depth++
			case shut:
				if depth--; depth == 0 {
					return p, true
				}
			}
		}
	}
	return p, false
}

// opening is where the bracket that shut closes at p or behind it begins.
func (b buffer) opening(p pos, shut byte) (pos, bool) {
	open := brackets[strings.IndexByte(brackets, shut)-1]
	for depth := 1; ; {
		for p.col--; p.col >= 0; p.col-- {
			switch b.lines[p.row][p.col] {
			case shut:
				depth++
			case open:
				if depth--; depth == 0 {
					return p, true
				}
			}
		}
		if p.row--; p.row < 0 {
			return pos{}, false
		}
		p.col = len(b.lines[p.row])
	}
}

// findMotion goes to a character of the line.
func (e *Editor) findMotion(c command) (reach, bool) {
	again := c.verb == ";" || c.verb == ","
	f := c
	if again {
		f = e.vim.find
		f.count = c.count
		if c.verb == "," {
			f.verb = map[string]string{"f": "F", "F": "f", "t": "T", "T": "t"}[f.verb]
		}
	} else {
		e.vim.find = c
	}
	if f.verb == "" {
		return reach{}, false
	}
	at, ok := e.cur, true
	for i := range f.times() {
		at, ok = e.seek(at, f, again && i == 0)
		if !ok {
			return reach{}, false
		}
	}
	switch f.verb {
	case "t":
		at = e.buf.left(at)
	case "T":
		at = e.buf.right(at)
	}
	return reach{to: at, inclusive: f.verb == "f" || f.verb == "t"}, true
}

// seek is the next place of the character; a till that is repeated does not stay
// where it stands.
func (e *Editor) seek(p pos, f command, repeated bool) (pos, bool) {
	s := e.buf.lines[p.row]
	if f.verb == "f" || f.verb == "t" {
		from := min(len(s), p.col)
		if from < len(s) {
			from += size(s[from:])
		}
		if f.verb == "t" && repeated && strings.HasPrefix(s[from:], f.arg) {
			from += len(f.arg)
		}
		i := strings.Index(s[from:], f.arg)
		return pos{p.row, from + i}, i >= 0
	}
	to := p.col
	if f.verb == "T" && repeated && strings.HasSuffix(s[:to], f.arg) {
		to -= len(f.arg)
	}
	i := strings.LastIndex(s[:to], f.arg)
	return pos{p.row, i}, i >= 0
}

// kind sorts characters into blanks (0), words (1) and signs (2); a WORD is all
// that is no blank.
func (b buffer) kind(p pos, big bool) int {
	k := class(b.at(p))
	if big && k == 2 {
		return 1
	}
	return k
}

// wordMotion goes by words; a WORD has signs in it too.
func (e *Editor) wordMotion(c command) (reach, bool) {
	b, to := e.buf, e.cur
	big := len(c.verb) > 0 && unicode.IsUpper(rune(c.verb[len(c.verb)-1]))
	for i := range c.times() {
		before := to
		switch c.verb {
		case "w", "W":
			to = b.nextWord(to, big)
			if last := i == c.times()-1; c.op != "" && last && to.row > before.row {
				// The last word of a line takes the line's end, not the next line.
				if before.col < len(b.lines[before.row]) || c.op == "c" {
					to = b.eol(before.row)
				}
			}
		case "b", "B":
			to = b.wordStart(to, big)
		case "e", "E":
			to = b.wordEnd(to, big)
		case "ge", "gE":
			to = b.lastWordEnd(to, big)
		default:
			return reach{}, false
		}
		if to == before {
			break
		}
	}
	inclusive := strings.ContainsAny(c.verb, "eE")
	return reach{to: to, inclusive: inclusive}, to != e.cur || c.op != ""
}

// nextWord is the start of the next word, or an empty line on the way.
func (b buffer) nextWord(p pos, big bool) pos {
	k := b.kind(p, big)
	for k != 0 && p.col < len(b.lines[p.row]) && b.kind(p, big) == k {
		p = b.right(p)
	}
	for p != b.end() && b.kind(p, big) == 0 {
		row := p.row
		p = b.right(p)
		if p.row > row && b.lines[p.row] == "" {
			return p
		}
	}
	return p
}

// wordStart is the start of this word or the one before.
func (b buffer) wordStart(p pos, big bool) pos {
	for p != (pos{}) {
		p = b.left(p)
		if b.lines[p.row] == "" {
			return p
		}
		if b.kind(p, big) != 0 {
			break
		}
	}
	k := b.kind(p, big)
	for p.col > 0 && b.kind(b.left(p), big) == k {
		p = b.left(p)
	}
	return p
}

// wordEnd is the last character of this word or the next.
func (b buffer) wordEnd(p pos, big bool) pos {
	from := p
	for {
		next := b.right(p)
		if next == p || next == b.end() {
			if from.row == p.row {
				return b.lastOf(p)
			}
			return p
		}
		p = next
		if b.kind(p, big) != 0 {
			break
		}
	}
	k := b.kind(p, big)
	for {
		next := b.right(p)
		if next.row != p.row || next.col >= len(b.lines[next.row]) || b.kind(next, big) != k {
			return p
		}
		p = next
	}
}

// lastOf is the last character of the line of p.
func (b buffer) lastOf(p pos) pos {
	if end := b.eol(p.row); end.col > 0 {
		return b.left(end)
	}
	return pos{p.row, 0}
}

// lastWordEnd is the end of the word before.
func (b buffer) lastWordEnd(p pos, big bool) pos {
	k := b.kind(p, big)
	for k != 0 && p.col > 0 && b.kind(p, big) == k {
		p = b.left(p)
	}
	if k != 0 && b.kind(p, big) == k && p.col == 0 {
		if p.row == 0 {
			return p
		}
		p = b.left(p)
	}
	for p != (pos{}) && b.kind(p, big) == 0 && b.lines[p.row] != "" {
		p = b.left(p)
	}
	return p
}
