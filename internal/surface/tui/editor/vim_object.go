package editor

import "strings"

// object finds a text object such as iw or a(.
func (e *Editor) object(c command) (span, bool) {
	around := c.verb[0] == 'a'
	switch what := c.verb[1:]; what {
	case "w", "W":
		return e.buf.wordObject(e.cur, what == "W", around, c.times()), true
	case "p":
		return e.buf.paragraphObject(e.cur, around, c.times()), true
	case `"`, "'", "`":
		return e.buf.quoted(e.cur, what[0], around)
	case "(", ")", "b":
		return e.buf.bracketed(e.cur, '(', around, c.times())
	case "[", "]":
		return e.buf.bracketed(e.cur, '[', around, c.times())
	case "{", "}", "B":
		return e.buf.bracketed(e.cur, '{', around, c.times())
	case "<", ">":
		return e.buf.bracketed(e.cur, '<', around, c.times())
	}
	return span{}, false
}

// wordObject is the word at p, or the blanks there; around it the blanks behind,
// or else those before.
func (b buffer) wordObject(p pos, big, around bool, n int) span {
	line := b.lines[p.row]
	if line == "" {
		return span{from: p, to: p}
	}
	if p.col >= len(line) {
		p = b.lastOf(p)
	}
	run := func(at pos) pos { // behind the run of one kind that begins at at
		k := b.kind(at, big)
		for at.col < len(line) && b.kind(at, big) == k {
			at = b.right(at)
		}
		return at
	}
	from, k := p, b.kind(p, big)
	for from.col > 0 && b.kind(b.left(from), big) == k {
		from = b.left(from)
	}
	to := from
	for range n {
		if to.col >= len(line) {
			break
		}
		blanks := b.kind(to, big) == 0
		to = run(to)
		if !around || to.col >= len(line) {
			continue
		}
		if blanks || b.kind(to, big) == 0 {
			to = run(to)
		}
	}
	if around && k != 0 && b.kind(b.left(to), big) != 0 {
		for from.col > 0 && b.kind(b.left(from), big) == 0 {
			from = b.left(from)
		}
	}
	return span{from: from, to: to}
}

// paragraphObject is the lines between empty ones; around it the empty ones too.
func (b buffer) paragraphObject(p pos, around bool, n int) span {
	from := p.row
	empty := b.lines[from] == ""
	for from > 0 && (b.lines[from-1] == "") == empty {
		from--
	}
	to := from
	run := func() {
		if to >= len(b.lines) {
			return
		}
		kind := b.lines[to] == ""
		for to < len(b.lines) && (b.lines[to] == "") == kind {
			to++
		}
	}
	for range n {
		run()
		if around {
			run()
		}
	}
	return span{from: pos{from, 0}, to: b.eol(to - 1), lines: true}
}

// quoted is what stands between quotes in the line, at p or behind it.
func (b buffer) quoted(p pos, quote byte, around bool) (span, bool) {
	s := b.lines[p.row]
	var marks []int
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == quote:
			marks = append(marks, i)
		}
	}
	for i := 0; i+1 < len(marks); i += 2 {
		from, to := marks[i], marks[i+1]
		if p.col > to {
			continue
		}
		if !around {
			return span{from: pos{p.row, from + 1}, to: pos{p.row, to}}, true
		}
		end := to + 1
		if rest := strings.TrimLeft(s[end:], " \t"); len(rest) < len(s)-end {
			end = len(s) - len(rest)
		} else {
			from = len(strings.TrimRight(s[:from], " \t"))
		}
		return span{from: pos{p.row, from}, to: pos{p.row, end}}, true
	}
	return span{}, false
}

// bracketed is what stands between the n-th brackets around p.
func (b buffer) bracketed(p pos, open byte, around bool, n int) (span, bool) {
	shut := brackets[strings.IndexByte(brackets, open)+1]
	from := p
	if s := b.lines[p.row]; p.col >= len(s) || s[p.col] != open {
		var ok bool
		if from, ok = b.opening(p, shut); !ok {
			return span{}, false
		}
	}
	for range n - 1 {
		outer, ok := b.opening(from, shut)
		if !ok {
			return span{}, false
		}
		from = outer
	}
	inner := pos{from.row, from.col + 1}
	to, ok := b.closing(inner, open)
	if !ok {
		return span{}, false
	}
	if around {
		return span{from: from, to: pos{to.row, to.col + 1}}, true
	}
	// Brackets on lines of their own keep them.
	if inner.col == len(b.lines[inner.row]) && to.row > inner.row && strings.TrimSpace(b.lines[to.row][:to.col]) == "" {
		if to.row == inner.row+1 {
			return span{from: inner, to: inner}, true
		}
		return span{from: pos{inner.row + 1, 0}, to: b.eol(to.row - 1), lines: true}, true
	}
	return span{from: inner, to: to}, true
}
