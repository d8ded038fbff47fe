package editor

import (
	"slices"
	"strings"
	"unicode"
)

// pos is a place between two characters: a line, and bytes in it.
type pos struct{ row, col int }

func (p pos) before(q pos) bool { return p.row < q.row || p.row == q.row && p.col < q.col }

// buffer is text as lines, and a log of what was done to it.
type buffer struct {
	lines []string
	log   []change
}

// change is text that was put in at a place, or taken out there.
type change struct {
	at   pos
	text string
	out  bool
}

func newBuffer(text string) buffer { return buffer{lines: strings.Split(text, "\n")} }

func (b buffer) String() string { return strings.Join(b.lines, "\n") }

func (b buffer) end() pos {
	r := len(b.lines) - 1
	return pos{r, len(b.lines[r])}
}

func (b buffer) empty() bool { return len(b.lines) == 1 && b.lines[0] == "" }

// eol is the end of a line.
func (b buffer) eol(row int) pos { return pos{row, len(b.lines[row])} }

// insert puts text at p and returns where it ends.
func (b *buffer) insert(p pos, text string) pos {
	if text == "" {
		return p
	}
	b.log = append(b.log, change{at: p, text: text})
	return b.splice(p, text)
}

func (b *buffer) splice(p pos, text string) pos {
	line := b.lines[p.row]
	head, tail := line[:p.col], line[p.col:]
	parts := strings.Split(text, "\n")
	if len(parts) == 1 {
		b.lines[p.row] = head + text + tail
		return pos{p.row, p.col + len(text)}
	}
	last := len(parts) - 1
	end := pos{p.row + last, len(parts[last])}
	parts[0] = head + parts[0]
	parts[last] += tail
	b.lines = slices.Replace(b.lines, p.row, p.row+1, parts...)
	return end
}

// cut takes the text between two places out and returns it.
func (b *buffer) cut(from, to pos) string {
	if to.before(from) {
		from, to = to, from
	}
	if from == to {
		return ""
	}
	text := b.text(from, to)
	b.log = append(b.log, change{at: from, text: text, out: true})
	b.drop(from, to)
	return text
}

func (b *buffer) drop(from, to pos) {
	joined := b.lines[from.row][:from.col] + b.lines[to.row][to.col:]
	b.lines = slices.Replace(b.lines, from.row, to.row+1, joined)
}

// do makes a change again, and returns the place behind it.
func (b *buffer) do(c change) pos {
	if !c.out {
		return b.splice(c.at, c.text)
	}
	to := pos{c.at.row, c.at.col + len(c.text)}
	if n := strings.Count(c.text, "\n"); n > 0 {
		to = pos{c.at.row + n, len(c.text) - strings.LastIndexByte(c.text, '\n') - 1}
	}
	b.drop(c.at, to)
	return c.at
}

// undo takes a change back.
func (b *buffer) undo(c change) {
	c.out = !c.out
	b.do(c)
}

// text is what stands between two places.
func (b buffer) text(from, to pos) string {
	if from.row == to.row {
		return b.lines[from.row][from.col:to.col]
	}
	parts := []string{b.lines[from.row][from.col:]}
	parts = append(parts, b.lines[from.row+1:to.row]...)
	return strings.Join(append(parts, b.lines[to.row][:to.col]), "\n")
}

// right is the place behind the character at p, in the next line behind the last.
func (b buffer) right(p pos) pos {
	line := b.lines[p.row]
	if p.col < len(line) {
		return pos{p.row, p.col + size(line[p.col:])}
	}
	if p.row+1 < len(b.lines) {
		return pos{p.row + 1, 0}
	}
	return p
}

// left is the place before the character in front of p.
func (b buffer) left(p pos) pos {
	if p.col == 0 {
		if p.row == 0 {
			return p
		}
		return pos{p.row - 1, len(b.lines[p.row-1])}
	}
	line := b.lines[p.row]
	// Characters are found from the front. One begins at an ASCII character for
	// sure, and elsewhere at one that is far enough away.
	from := p.col - 1
	for from > 0 && p.col-from < 256 && line[from] >= 0x80 {
		from--
	}
	for from > 0 && line[from]&0xc0 == 0x80 {
		from--
	}
	for at := from; ; {
		n := size(line[at:])
		if at+n >= p.col {
			return pos{p.row, at}
		}
		at += n
	}
}

// class sorts characters for movement by words.
func class(r rune) int {
	switch {
	case unicode.IsSpace(r):
		return 0
	case unicode.IsLetter(r), unicode.IsDigit(r), r == '_':
		return 1
	}
	return 2
}

func (b buffer) at(p pos) rune {
	line := b.lines[p.row]
	if p.col >= len(line) {
		return '\n'
	}
	for _, r := range line[p.col:] {
		return r
	}
	return '\n'
}

// wordRight is the end of the word at or behind p.
func (b buffer) wordRight(p pos) pos {
	for p.before(b.end()) && class(b.at(p)) != 1 {
		p = b.right(p)
	}
	for p.before(b.end()) && class(b.at(p)) == 1 {
		p = b.right(p)
	}
	return p
}

// wordLeft is the start of the word before p.
func (b buffer) wordLeft(p pos) pos {
	for (pos{}).before(p) && class(b.at(b.left(p))) != 1 {
		p = b.left(p)
	}
	for (pos{}).before(p) && class(b.at(b.left(p))) == 1 {
		p = b.left(p)
	}
	return p
}

// blankLeft is the start of the blank-delimited word before p.
func (b buffer) blankLeft(p pos) pos {
	for (pos{}).before(p) && class(b.at(b.left(p))) == 0 {
		p = b.left(p)
	}
	for (pos{}).before(p) && class(b.at(b.left(p))) != 0 {
		p = b.left(p)
	}
	return p
}
