package search

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// literal is a run of bytes that every match contains. Looking for it is many
// times faster than running an automaton, and most patterns have one.
type literal struct {
	text  []byte
	fold  bool // text is lower case, and ASCII letters match in both cases
	exact bool // finding it is a match
	// anchor is the offset of the byte that is looked for when folding: the
	// one that is rarest in source text.
	anchor int
}

// requiredLiteral returns the longest literal of n.
func requiredLiteral(n *node) literal {
	best, run := literal{}, literal{exact: true}
	whole := true
	flush := func() {
		if len(run.text) > len(best.text) {
			best = run
		}
		run = literal{exact: true}
	}
	parts := []*node{n}
	if n.op == opConcat {
		parts = n.sub
	}
	for _, part := range parts {
		if run.extend(part) {
			continue
		}
		inner := nestedLiteral(part)
		if inner.exact && len(inner.text) > 0 && inner.fold == run.fold {
			run.text = append(run.text, inner.text...)
			continue
		}
		whole = false
		flush()
		if len(inner.text) > len(best.text) {
			best = inner
		}
	}
	flush()
	best.exact = best.exact && whole
	return best
}

// extend appends the single character that n matches, in one or both cases.
func (l *literal) extend(n *node) bool {
	if n.op != opSet || n.raw {
		return false
	}
	if len(n.set) == 1 && n.set[0].lo == n.set[0].hi {
		r := n.set[0].lo
		if l.fold && unicode.IsLetter(r) {
			return false
		}
		l.text = utf8.AppendRune(l.text, r)
		return true
	}
	upper := n.set[0].lo
	if len(n.set) != 2 || upper < 'A' || upper > 'Z' ||
		n.set[0].hi != upper || n.set[1] != (runeRange{upper + 32, upper + 32}) {
		return false
	}
	if !l.fold && bytes.ContainsFunc(l.text, unicode.IsLetter) {
		return false
	}
	l.fold = true
	l.text = append(l.text, byte(upper+32))
	return true
}

func nestedLiteral(n *node) literal {
	switch n.op {
	case opConcat:
		return requiredLiteral(n)
	case opSet:
		// A set that the run could not take on can begin one of its own.
		if l := (literal{exact: true}); l.extend(n) {
			return l
		}
	case opRepeat:
		if n.min > 0 {
			l := requiredLiteral(n.sub[0])
			l.exact = l.exact && n.min == 1 && n.max == 1
			return l
		}
	case opEmpty, opAlt, opLook:
	}
	return literal{}
}

// bytesByRarity lists bytes from rare to common in source text; what is not
// listed counts as rare. Of no use as an anchor are those in tooCommon.
const (
	bytesByRarity = `zqjxkvbywgpfmu0123456789_.(),"'-/:;=cdhlnrsaoiet `
	tooCommon     = "taoie "
)

// usable picks the anchor, or drops a literal that would not narrow anything.
func (l literal) usable() literal {
	if !l.fold {
		return l
	}
	rarest := len(bytesByRarity) + 1
	for i, b := range l.text {
		if rank := strings.IndexByte(bytesByRarity, b); rank < rarest {
			l.anchor, rarest = i, rank
		}
	}
	if strings.IndexByte(tooCommon, l.text[l.anchor]) >= 0 {
		return literal{}
	}
	return l
}

// foldWindow bounds how far one case of the anchor is looked for before the
// other one is.
const foldWindow = 1024

// index returns the offset of the first occurrence in b at or after from, or
// -1.
func (l *literal) index(b []byte, from int) int {
	if !l.fold {
		if i := bytes.Index(b[from:], l.text); i >= 0 {
			return from + i
		}
		return -1
	}
	lower := l.text[l.anchor]
	upper := upperByte(lower)
	last := len(b) - len(l.text) + l.anchor // the last place for the anchor
	for at := from + l.anchor; at <= last; {
		window := b[at:min(at+foldWindow, last+1)]
		hit := bytes.IndexByte(window, lower)
		if upper != lower {
			if hit >= 0 {
				window = window[:hit]
			}
			if i := bytes.IndexByte(window, upper); i >= 0 {
				hit = i
			}
		}
		if hit < 0 {
			at += foldWindow
			continue
		}
		if start := at + hit - l.anchor; l.equalAt(b[start:]) {
			return start
		}
		at += hit + 1
	}
	return -1
}

func (l *literal) equalAt(b []byte) bool {
	for i, want := range l.text {
		c := b[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != want {
			return false
		}
	}
	return true
}

func upperByte(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - ('a' - 'A')
	}
	return c
}
