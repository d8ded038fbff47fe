package search

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// pattern is a compiled query pattern, shared by all workers.
type pattern struct {
	nfa     *nfa
	literal literal // every match contains it; empty when none is known
	span    bool    // a match can contain a line feed
}

// compilePattern parses src. Unless multiline, matches never cross lines.
func compilePattern(q GrepQuery) (*pattern, error) {
	root, err := parsePattern(q.Pattern, rxFlags{fold: q.IgnoreCase, multi: true, dotAll: q.Multiline})
	if err != nil {
		return nil, err
	}
	if !q.Multiline {
		if err := stripLineFeeds(root, q.Pattern); err != nil {
			return nil, err
		}
	}
	n, err := compileNFA(root)
	if err != nil {
		return nil, err
	}
	p := &pattern{nfa: n, span: spansLines(root)}
	p.literal = requiredLiteral(root).usable()
	return p, nil
}

// stripLineFeeds removes the line feed from every set, so that a match stays
// in its line; a pattern that asks for one literally is refused, since it
// could never match.
func stripLineFeeds(n *node, src string) error {
	if n.op == opSet && n.set.contains('\n') {
		if len(n.set) == 1 && n.set[0] == (runeRange{'\n', '\n'}) {
			return &PatternError{Pattern: src, Offset: -1, Msg: `the literal "\n" is not allowed in a regex` +
				"\n\nConsider enabling multiline mode. When multiline mode is enabled, new line characters can be matched."}
		}
		n.set = n.set.subtract(singleRune('\n'))
	}
	for _, s := range n.sub {
		if err := stripLineFeeds(s, src); err != nil {
			return err
		}
	}
	return nil
}

func spansLines(n *node) bool {
	if n.op == opSet && n.set.contains('\n') {
		return true
	}
	return slices.ContainsFunc(n.sub, spansLines)
}

// lineMatcher finds matching lines. One belongs to one goroutine.
type lineMatcher struct {
	p    *pattern
	dfa  *dfa
	pike *pike
}

func newLineMatcher(p *pattern) *lineMatcher { return &lineMatcher{p: p} }

// next returns the first line of b[at:] that matches, without its line feed.
// at must be the start of a line, and b must end at the end of a line.
func (m *lineMatcher) next(b []byte, at int) (start, end int, ok bool) {
	if len(m.p.literal.text) > 0 {
		return m.nextWithLiteral(b, at)
	}
	if m.dfa == nil {
		m.dfa = newDFA(m.p.nfa)
	}
	for at < len(b) {
		hit, verdict := m.dfa.find(b, at, fromLine)
		if verdict == dfaNone || hit == len(b) && b[hit-1] == '\n' {
			return 0, 0, false
		}
		start, end = lineAround(b, at, hit)
		if verdict == dfaMatched || m.matchesSlowly(b[start:end]) {
			return start, end, true
		}
		at = end + 1
	}
	return 0, 0, false
}

func (m *lineMatcher) nextWithLiteral(b []byte, at int) (start, end int, ok bool) {
	for at < len(b) {
		hit := m.p.literal.index(b, at)
		if hit < 0 {
			return 0, 0, false
		}
		start, end = lineAround(b, at, hit)
		if m.p.literal.exact || m.matches(b[start:end]) {
			return start, end, true
		}
		at = end + 1
	}
	return 0, 0, false
}

func (m *lineMatcher) matches(line []byte) bool {
	if m.dfa == nil {
		m.dfa = newDFA(m.p.nfa)
	}
	switch _, verdict := m.dfa.find(line, 0, fromLine); verdict {
	case dfaMatched:
		return true
	case dfaGaveUp:
		return m.matchesSlowly(line)
	case dfaNone:
	}
	return false
}

func (m *lineMatcher) matchesSlowly(line []byte) bool {
	_, _, ok := m.spans().find(line, 0)
	return ok
}

func (m *lineMatcher) spans() *pike {
	if m.pike == nil {
		m.pike = newPike(m.p.nfa)
	}
	return m.pike
}

// lineAround returns the line of b that holds offset hit, looking back no
// further than from.
func lineAround(b []byte, from, hit int) (start, end int) {
	start = from + bytes.LastIndexByte(b[from:hit], '\n') + 1
	if nl := bytes.IndexByte(b[hit:], '\n'); nl >= 0 {
		return start, hit + nl
	}
	return start, len(b)
}

// eachSpan calls f with every non-overlapping match in b, in order, until f
// returns false. An empty match right behind another match does not count.
func (m *lineMatcher) eachSpan(b []byte, f func(start, end int) bool) {
	last := -1
	for at := 0; at <= len(b); {
		start, end, ok := m.spans().find(b, at)
		if !ok {
			return
		}
		at = end
		if start == end {
			_, n := utf8.DecodeRune(b[min(end, len(b)):])
			at = end + max(n, 1)
			if end == last {
				continue
			}
		}
		last = end
		if !f(start, end) {
			return
		}
	}
}
