package search

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// nodeOp says what a node of a parsed pattern is.
type nodeOp uint8

const (
	opEmpty  nodeOp = iota // matches the empty string
	opSet                  // one code point (or raw byte) out of set
	opConcat               // sub in order
	opAlt                  // first of sub that matches
	opRepeat               // sub[0], min to max times; max -1 is no limit
	opLook                 // a zero-width assertion
)

type lookKind uint8

const (
	lookLineStart lookKind = iota
	lookLineEnd
	lookTextStart
	lookTextEnd
	lookWord
	lookNotWord
	lookWordStart
	lookWordEnd
	lookASCIIWord
	lookASCIINotWord
)

// node is a parsed pattern. raw marks a set of bytes (the (?-u) mode) in
// place of code points.
type node struct {
	op       nodeOp
	sub      []*node
	min, max int
	lazy     bool
	raw      bool
	set      runeSet
	look     lookKind
}

// PatternError is a regular expression that could not be used. Its text is
// laid out the way ripgrep prints its own diagnostics, so a model that knows
// ripgrep understands it.
type PatternError struct {
	Pattern string
	Offset  int // in bytes; -1 when the fault has no place
	Msg     string
}

func (e *PatternError) Error() string {
	if e.Offset < 0 {
		return e.Msg
	}
	if strings.Contains(e.Pattern, "\n") {
		return fmt.Sprintf("regex parse error at byte %d of %q\nerror: %s", e.Offset, e.Pattern, e.Msg)
	}
	col := utf8.RuneCountInString(e.Pattern[:min(e.Offset, len(e.Pattern))])
	return fmt.Sprintf("regex parse error:\n    %s\n    %s^\nerror: %s", e.Pattern, strings.Repeat(" ", col), e.Msg)
}

// rxFlags is the state of the inline flags (?imsUxu).
type rxFlags struct{ fold, multi, dotAll, swap, verbose, ascii bool }

// rxParser reads Rust-flavoured regular expressions: the flavour that
// ripgrep takes and models write. Errors travel as panics of *PatternError
// inside the parser only.
type rxParser struct {
	src   string
	pos   int
	flags rxFlags
	depth int
}

// maxNesting bounds recursion, as a pattern comes from a model.
const maxNesting = 200

func parsePattern(src string, flags rxFlags) (n *node, err error) {
	p := &rxParser{src: src, flags: flags}
	defer func() {
		if r := recover(); r != nil {
			pe, ok := r.(*PatternError)
			if !ok {
				panic(r)
			}
			n, err = nil, pe
		}
	}()
	if !utf8.ValidString(src) {
		p.fail(0, "pattern is not valid UTF-8")
	}
	n = p.alternation()
	if p.pos < len(p.src) {
		p.fail(p.pos, "unopened group")
	}
	return n, nil
}

func (p *rxParser) fail(at int, format string, args ...any) {
	panic(&PatternError{Pattern: p.src, Offset: at, Msg: fmt.Sprintf(format, args...)})
}

func (p *rxParser) more() bool { return p.pos < len(p.src) }

func (p *rxParser) peek() byte {
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

func (p *rxParser) eat(prefix string) bool {
	if strings.HasPrefix(p.src[p.pos:], prefix) {
		p.pos += len(prefix)
		return true
	}
	return false
}

func (p *rxParser) rune() rune {
	r, n := utf8.DecodeRuneInString(p.src[p.pos:])
	p.pos += n
	return r
}

func (p *rxParser) alternation() *node {
	if p.depth++; p.depth > maxNesting {
		p.fail(p.pos, "the pattern nests deeper than %d levels", maxNesting)
	}
	defer func() { p.depth-- }()
	branches := []*node{p.concat()}
	for p.more() && p.peek() == '|' {
		p.pos++
		branches = append(branches, p.concat())
	}
	if len(branches) == 1 {
		return branches[0]
	}
	return &node{op: opAlt, sub: branches}
}

func (p *rxParser) concat() *node {
	var parts []*node
	for {
		p.skipVerbose()
		if !p.more() || p.peek() == '|' || p.peek() == ')' {
			break
		}
		n := p.atom()
		if n == nil {
			continue // inline flags stand for nothing
		}
		parts = append(parts, p.quantifiers(n))
	}
	switch len(parts) {
	case 0:
		return &node{op: opEmpty}
	case 1:
		return parts[0]
	}
	return &node{op: opConcat, sub: parts}
}

func (p *rxParser) skipVerbose() {
	for p.flags.verbose && p.more() {
		switch p.peek() {
		case ' ', '\t', '\n', '\r', '\v', '\f':
			p.pos++
		case '#':
			nl := strings.IndexByte(p.src[p.pos:], '\n')
			if nl < 0 {
				nl = len(p.src) - p.pos - 1
			}
			p.pos += nl + 1
		default:
			return
		}
	}
}

// atom returns nil for a group of inline flags alone.
func (p *rxParser) atom() *node {
	switch p.peek() {
	case '(':
		return p.group()
	case '[':
		return p.class()
	case '\\':
		return p.escapeNode()
	case '*', '+', '?', '{':
		p.fail(p.pos, "repetition operator missing expression")
	case '.':
		p.pos++
		return p.dot()
	case '^':
		p.pos++
		return lookNode(pick(p.flags.multi, lookLineStart, lookTextStart))
	case '$':
		p.pos++
		return lookNode(pick(p.flags.multi, lookLineEnd, lookTextEnd))
	}
	return p.literal(p.rune())
}

func pick[T any](cond bool, yes, no T) T {
	if cond {
		return yes
	}
	return no
}

func lookNode(k lookKind) *node { return &node{op: opLook, look: k} }

func (p *rxParser) dot() *node {
	limit := pick(p.flags.ascii, rune(0xff), utf8.MaxRune)
	n := &node{op: opSet, raw: p.flags.ascii}
	n.set = pick(p.flags.dotAll, runeSet(nil), singleRune('\n')).negate(limit)
	return n
}

func (p *rxParser) literal(r rune) *node {
	s := singleRune(r)
	if p.flags.fold && p.flags.ascii {
		s = s.foldASCII()
	} else if p.flags.fold {
		s = s.fold()
	}
	return &node{op: opSet, set: s}
}

func (p *rxParser) group() *node {
	open := p.pos
	p.pos++ // (
	saved := p.flags
	if p.eat("?") {
		for _, look := range []string{"=", "!", "<=", "<!"} {
			if strings.HasPrefix(p.src[p.pos:], look) {
				p.fail(open, "look-around, including look-ahead and look-behind, is not supported")
			}
		}
		if p.eat("P<") || p.eat("<") {
			p.groupName()
		} else if done := p.inlineFlags(open); done {
			return nil
		}
	}
	n := p.alternation()
	if !p.eat(")") {
		p.fail(open, "unclosed group")
	}
	p.flags = saved
	return n
}

func (p *rxParser) groupName() {
	start := p.pos
	end := strings.IndexByte(p.src[start:], '>')
	if end < 0 {
		p.fail(start, "unclosed capture group name")
	}
	name := p.src[start : start+end]
	if name == "" {
		p.fail(start, "empty capture group name")
	}
	for i, r := range name {
		if !isWordRune(r) && (i == 0 || r != '.' && r != '[' && r != ']') || i == 0 && r >= '0' && r <= '9' {
			p.fail(start+i, "invalid capture group character")
		}
	}
	p.pos = start + end + 1
}

// inlineFlags reads "i-s:" or "i-s)". It reports true for the second form,
// whose flags last to the end of the enclosing group.
func (p *rxParser) inlineFlags(open int) bool {
	on := true
	for p.more() {
		at := p.pos
		switch c := p.rune(); c {
		case 'i':
			p.flags.fold = on
		case 'm':
			p.flags.multi = on
		case 's':
			p.flags.dotAll = on
		case 'U':
			p.flags.swap = on
		case 'x':
			p.flags.verbose = on
		case 'u':
			p.flags.ascii = !on
		case 'R':
			if on {
				p.fail(at, "the CRLF flag is not supported here; match the carriage return with \\r?")
			}
		case '-':
			if !on {
				p.fail(at, "flag negation operator repeated")
			}
			on = false
		case ':':
			return false
		case ')':
			if p.pos-open == len("(?)") {
				p.fail(open, "repetition operator missing expression")
			}
			return true
		default:
			p.fail(at, "unrecognized flag")
		}
	}
	p.fail(open, "unclosed group")
	return false
}
