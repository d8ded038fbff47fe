package search

import "unicode/utf8"

// pike simulates the automaton thread by thread. It is slower than the DFA
// but knows where a match starts, prefers alternatives the way Perl does, and
// can look at whole code points for \b. One pike belongs to one goroutine.
type pike struct {
	nfa       *nfa
	cur, next threads
	stack     []int
	first     [256]bool // bytes that can begin a match
	anywhere  bool      // a match can be empty, so no byte may be skipped
}

type threads struct {
	sparseSet
	starts []int // by position in dense
}

func newPike(n *nfa) *pike {
	p := &pike{nfa: n}
	p.cur.sparseSet = newSparseSet(len(n.states))
	p.next.sparseSet = newSparseSet(len(n.states))
	p.findFirst()
	return p
}

// findFirst fills the table of possible first bytes, taking every assertion
// as true.
func (p *pike) findFirst() {
	seen := newSparseSet(len(p.nfa.states))
	seen.add(p.nfa.start)
	for i := 0; i < len(seen.dense); i++ {
		s := &p.nfa.states[seen.dense[i]]
		p.anywhere = p.anywhere || s.op == nfaMatch
		for _, to := range s.out {
			seen.add(to)
		}
		for _, e := range s.edges {
			for b := int(e.lo); b <= int(e.hi); b++ {
				p.first[b] = true
			}
		}
	}
}

// find returns the leftmost match in b that starts at or after at. What lies
// before at is seen by assertions. The third result is false when there is
// none.
func (p *pike) find(b []byte, at int) (start, end int, ok bool) {
	p.cur.reset()
	for pos := at; ; pos++ {
		if len(p.cur.dense) == 0 {
			if ok {
				return start, end, true
			}
			for !p.anywhere && pos < len(b) && !p.first[b[pos]] {
				pos++
			}
		}
		if !ok {
			p.follow(&p.cur, p.nfa.start, pos, b, pos)
		}
		p.next.reset()
		for i, id := range p.cur.dense {
			s := &p.nfa.states[id]
			if s.op == nfaMatch {
				start, end, ok = p.cur.starts[i], pos, true
				break // what follows has a lower preference
			}
			if pos == len(b) {
				continue
			}
			for _, e := range s.edges {
				if e.lo <= b[pos] && b[pos] <= e.hi {
					p.follow(&p.next, e.to, p.cur.starts[i], b, pos+1)
				}
			}
		}
		if pos >= len(b) {
			return start, end, ok
		}
		p.cur, p.next = p.next, p.cur
	}
}

// follow adds the states reachable from id without a byte, best first.
func (p *pike) follow(t *threads, id, start int, b []byte, pos int) {
	p.stack = append(p.stack[:0], id)
	for len(p.stack) > 0 {
		id := p.stack[len(p.stack)-1]
		p.stack = p.stack[:len(p.stack)-1]
		if !t.add(id) {
			continue
		}
		t.starts = append(t.starts, start)
		s := &p.nfa.states[id]
		switch s.op {
		case nfaSplit:
			for i := len(s.out) - 1; i >= 0; i-- {
				p.stack = append(p.stack, s.out[i])
			}
		case nfaLook:
			if assertion(s.look, b, pos) {
				p.stack = append(p.stack, s.out[0])
			}
		case nfaMatch, nfaBytes:
		}
	}
}

func (t *threads) reset() {
	t.clear()
	t.starts = t.starts[:0]
}

func assertion(k lookKind, b []byte, pos int) bool {
	switch k {
	case lookLineStart:
		return pos == 0 || b[pos-1] == '\n'
	case lookLineEnd:
		return pos == len(b) || b[pos] == '\n'
	case lookTextStart:
		return pos == 0
	case lookTextEnd:
		return pos == len(b)
	case lookASCIIWord, lookASCIINotWord:
		before := pos > 0 && isWordByte(b[pos-1])
		after := pos < len(b) && isWordByte(b[pos])
		return (before != after) == (k == lookASCIIWord)
	case lookWord, lookNotWord, lookWordStart, lookWordEnd:
	}
	before, after := wordBefore(b, pos), wordAfter(b, pos)
	switch k {
	case lookWordStart:
		return !before && after
	case lookWordEnd:
		return before && !after
	case lookNotWord:
		return before == after
	default:
		return before != after
	}
}

func wordBefore(b []byte, pos int) bool {
	r, n := utf8.DecodeLastRune(b[:pos])
	return (r != utf8.RuneError || n > 1) && isWordRune(r)
}

func wordAfter(b []byte, pos int) bool {
	r, n := utf8.DecodeRune(b[pos:])
	return (r != utf8.RuneError || n > 1) && isWordRune(r)
}
