package search

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

func (p *rxParser) limit() rune { return pick(p.flags.ascii, rune(0xff), utf8.MaxRune) }

func (p *rxParser) foldSet(s runeSet) runeSet {
	if !p.flags.fold {
		return s
	}
	if p.flags.ascii {
		return s.foldASCII()
	}
	return s.fold()
}

// setNode wraps s; in (?-u) mode members above 0x7f are raw bytes.
func (p *rxParser) setNode(s runeSet) *node {
	return &node{op: opSet, set: s, raw: p.flags.ascii && len(s) > 0 && s[len(s)-1].hi > 0x7f}
}

func (p *rxParser) class() *node { return p.setNode(p.bracket()) }

// bracket reads one [...] with nesting, set operators and POSIX names.
func (p *rxParser) bracket() runeSet {
	open := p.pos
	if p.depth++; p.depth > maxNesting {
		p.fail(open, "the pattern nests deeper than %d levels", maxNesting)
	}
	defer func() { p.depth-- }()
	p.pos++ // [
	negated := p.eat("^")
	var acc, cur runeSet
	op := byte(0)
	combine := func() {
		cur = p.foldSet(cur)
		switch op {
		case 0:
			acc = cur
		case '&':
			acc = acc.intersect(cur)
		case '-':
			acc = acc.subtract(cur)
		case '~':
			acc = acc.union(cur).subtract(acc.intersect(cur))
		}
		cur = nil
	}
	for first := true; ; first = false {
		p.skipVerbose()
		if !p.more() {
			p.fail(open, "unclosed character class")
		}
		if p.peek() == ']' && !first {
			p.pos++
			break
		}
		if c := p.peek(); !first && (c == '&' || c == '-' || c == '~') && p.eat(string([]byte{c, c})) {
			combine()
			op = c
			continue
		}
		cur = cur.union(p.classItem())
	}
	combine()
	if negated {
		return acc.negate(p.limit())
	}
	return acc
}

// classItem reads one member of a class: a nested class, a named one, a
// character or a range.
func (p *rxParser) classItem() runeSet {
	if p.peek() == '[' {
		if s, ok := p.posix(); ok {
			return s
		}
		return p.bracket()
	}
	at := p.pos
	lo, set := p.classAtom()
	rest := p.src[p.pos:]
	if !strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, "-]") || strings.HasPrefix(rest, "--") {
		return pick(set != nil, set, singleRune(lo))
	}
	p.pos++
	if !p.more() {
		p.fail(at, "unclosed character class")
	}
	hi, high := p.classAtom()
	if set != nil || high != nil {
		p.fail(at, "invalid range boundary, must be a literal")
	}
	if lo > hi {
		p.fail(at, "invalid character class range, the start must be <= the end")
	}
	return runeSet{{lo, hi}}
}

// classAtom returns either one rune or, for \d and its like, a set.
func (p *rxParser) classAtom() (rune, runeSet) {
	if p.peek() != '\\' {
		return p.rune(), nil
	}
	return p.escape(true)
}

func (p *rxParser) posix() (runeSet, bool) {
	rest, ok := strings.CutPrefix(p.src[p.pos:], "[:")
	if !ok {
		return nil, false
	}
	end := strings.Index(rest, ":]")
	if end < 0 {
		return nil, false
	}
	name, negated := strings.CutPrefix(rest[:end], "^")
	s, ok := posixSet(name)
	if !ok {
		return nil, false
	}
	p.pos += len("[:") + end + len(":]")
	s = p.foldSet(s)
	if negated {
		s = s.negate(p.limit())
	}
	return s, true
}

func (p *rxParser) escapeNode() *node {
	at := p.pos
	if len(p.src) > at+1 {
		if k, ok := p.lookEscape(p.src[at+1]); ok {
			return lookNode(k)
		}
	}
	r, set := p.escape(false)
	if set != nil {
		return p.setNode(set)
	}
	if p.flags.ascii && r > 0x7f && strings.HasPrefix(p.src[at:], `\x`) {
		return &node{op: opSet, set: singleRune(r), raw: r <= 0xff}
	}
	return p.literal(r)
}

func (p *rxParser) lookEscape(c byte) (lookKind, bool) {
	rest := p.src[p.pos+2:]
	kind, width := lookWord, 2
	switch {
	case c == 'A':
		kind = lookTextStart
	case c == 'z':
		kind = lookTextEnd
	case c == '<':
		kind = lookWordStart
	case c == '>':
		kind = lookWordEnd
	case c == 'b' && strings.HasPrefix(rest, "{start}"):
		kind, width = lookWordStart, len(`\b{start}`)
	case c == 'b' && strings.HasPrefix(rest, "{end}"):
		kind, width = lookWordEnd, len(`\b{end}`)
	case c == 'b':
		kind = pick(p.flags.ascii, lookASCIIWord, lookWord)
	case c == 'B':
		kind = pick(p.flags.ascii, lookASCIINotWord, lookNotWord)
	default:
		return 0, false
	}
	p.pos += width
	return kind, true
}

func (p *rxParser) escape(inClass bool) (rune, runeSet) {
	at := p.pos
	p.pos++ // backslash
	if !p.more() {
		p.fail(at, "incomplete escape sequence, reached end of pattern prematurely")
	}
	switch c := p.rune(); c {
	case 'a':
		return '\a', nil
	case 'f':
		return '\f', nil
	case 't':
		return '\t', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 'v':
		return '\v', nil
	case 'x':
		return p.hex(at, 2), nil
	case 'u':
		return p.hex(at, 4), nil
	case 'U':
		return p.hex(at, 8), nil
	case 'd', 'D', 's', 'S', 'w', 'W':
		return 0, p.perlSet(c)
	case 'p', 'P':
		return 0, p.property(at, c == 'P')
	default:
		if c >= '0' && c <= '9' {
			p.fail(at, "backreferences are not supported")
		}
		if c >= utf8.RuneSelf || isWordByte(byte(c)) && c != '_' || inClass && (c == '<' || c == '>') {
			p.fail(at, "unrecognized escape sequence")
		}
		return c, nil
	}
}

func (p *rxParser) perlSet(c rune) runeSet {
	var s runeSet
	switch c {
	case 'd', 'D':
		s = pick(p.flags.ascii, runeSet{{'0', '9'}}, digitSet())
	case 's', 'S':
		s = pick(p.flags.ascii, asciiSpaceSet(), spaceSet())
	default:
		s = pick(p.flags.ascii, asciiWordSet(), wordSet())
	}
	if c < 'a' {
		return s.negate(p.limit())
	}
	return s
}

func (p *rxParser) hex(at, digits int) rune {
	var text string
	if p.eat("{") {
		end := strings.IndexByte(p.src[p.pos:], '}')
		if end < 0 {
			p.fail(at, "incomplete escape sequence, reached end of pattern prematurely")
		}
		text = p.src[p.pos : p.pos+end]
		p.pos += end + 1
	} else {
		if p.pos+digits > len(p.src) {
			p.fail(at, "incomplete escape sequence, reached end of pattern prematurely")
		}
		text = p.src[p.pos : p.pos+digits]
		p.pos += digits
	}
	n, err := strconv.ParseUint(text, 16, 32)
	if err != nil {
		p.fail(at, "invalid hexadecimal digit")
	}
	if n > utf8.MaxRune || n >= 0xd800 && n <= 0xdfff {
		p.fail(at, "hexadecimal literal is not a Unicode scalar value")
	}
	return rune(n)
}

func (p *rxParser) property(at int, negated bool) runeSet {
	if p.flags.ascii {
		p.fail(at, "Unicode not allowed here")
	}
	if !p.more() {
		p.fail(at, "incomplete escape sequence, reached end of pattern prematurely")
	}
	var name string
	if p.eat("{") {
		end := strings.IndexByte(p.src[p.pos:], '}')
		if end < 0 {
			p.fail(at, "incomplete escape sequence, reached end of pattern prematurely")
		}
		name = p.src[p.pos : p.pos+end]
		p.pos += end + 1
	} else {
		name = string(p.rune())
	}
	name, caret := strings.CutPrefix(name, "^")
	s, ok := propertySet(name)
	if !ok {
		p.fail(at, "Unicode property not found")
	}
	s = p.foldSet(s)
	if caret != negated {
		s = s.negate(utf8.MaxRune)
	}
	return append(runeSet{}, s...) // never nil: nil would mean "one rune"
}
