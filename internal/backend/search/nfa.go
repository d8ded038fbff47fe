package search

import (
	"errors"
	"slices"
	"unicode/utf8"
)

// nfa is a Thompson automaton over bytes. Matching bytes and not code points
// lets the DFA run straight over file content, and makes bytes that are not
// UTF-8 match nothing, as ripgrep's engine has it.
type nfa struct {
	states   []nfaState
	start    int
	hasLook  bool
	unicodeB bool // has a word assertion that needs the neighbouring code points
}

type nfaOp uint8

const (
	nfaMatch nfaOp = iota
	nfaSplit       // out, in order of preference
	nfaLook        // look, then out[0]
	nfaBytes       // one byte out of edges
)

type nfaState struct {
	op    nfaOp
	look  lookKind
	out   []int
	edges []byteEdge
}

type byteEdge struct {
	lo, hi byte
	to     int
}

// maxNFAStates bounds what a pattern such as (\w{500}){500} may cost.
const maxNFAStates = 300_000

var errPatternTooBig = errors.New("compiled regex exceeds size limit: use smaller repetition counts")

// compileNFA builds the automaton for n.
func compileNFA(n *node) (*nfa, error) {
	c := &nfaCompiler{classes: map[*node]compiledClass{}}
	match := c.add(nfaState{op: nfaMatch})
	c.nfa.start = c.compile(n, match)
	if c.tooBig {
		return nil, &PatternError{Offset: -1, Msg: errPatternTooBig.Error()}
	}
	return &c.nfa, nil
}

type nfaCompiler struct {
	nfa     nfa
	tooBig  bool
	classes map[*node]compiledClass
}

// compiledClass says which states a class was compiled to.
type compiledClass struct{ first, end, entry, next int }

func (c *nfaCompiler) add(s nfaState) int {
	if len(c.nfa.states) >= maxNFAStates {
		c.tooBig = true
		return 0
	}
	c.nfa.states = append(c.nfa.states, s)
	return len(c.nfa.states) - 1
}

// compile returns the entry state of n followed by next.
func (c *nfaCompiler) compile(n *node, next int) int {
	if c.tooBig {
		return next
	}
	switch n.op {
	case opEmpty:
		return next
	case opSet:
		return c.compileSet(n, next)
	case opConcat:
		for i := len(n.sub) - 1; i >= 0; i-- {
			next = c.compile(n.sub[i], next)
		}
		return next
	case opAlt:
		out := make([]int, len(n.sub))
		for i, s := range n.sub {
			out[i] = c.compile(s, next)
		}
		return c.add(nfaState{op: nfaSplit, out: out})
	case opRepeat:
		return c.compileRepeat(n, next)
	case opLook:
		return c.compileLook(n.look, next)
	}
	return next
}

func (c *nfaCompiler) compileLook(k lookKind, next int) int {
	c.nfa.hasLook = true
	switch k {
	case lookWord, lookNotWord, lookWordStart, lookWordEnd:
		c.nfa.unicodeB = true
	case lookLineStart, lookLineEnd, lookTextStart, lookTextEnd, lookASCIIWord, lookASCIINotWord:
	}
	return c.add(nfaState{op: nfaLook, look: k, out: []int{next}})
}

func (c *nfaCompiler) split(body, next int, lazy bool) int {
	if lazy {
		return c.add(nfaState{op: nfaSplit, out: []int{next, body}})
	}
	return c.add(nfaState{op: nfaSplit, out: []int{body, next}})
}

func (c *nfaCompiler) compileRepeat(n *node, next int) int {
	sub := n.sub[0]
	entry := next
	required := n.min
	switch {
	case n.max < 0:
		loop := c.add(nfaState{op: nfaSplit})
		body := c.compile(sub, loop)
		if n.lazy {
			c.nfa.states[loop].out = []int{next, body}
		} else {
			c.nfa.states[loop].out = []int{body, next}
		}
		entry = loop
		if required > 0 {
			entry = body
			required--
		}
	default:
		for range n.max - n.min {
			if entry = c.split(c.compile(sub, entry), next, n.lazy); c.tooBig {
				return next
			}
		}
	}
	for range required {
		if entry = c.compile(sub, entry); c.tooBig {
			return next
		}
	}
	return entry
}

func (c *nfaCompiler) compileSet(n *node, next int) int {
	if len(n.set) == 1 && n.set[0].lo == n.set[0].hi && !n.raw {
		return c.compileRune(n.set[0].lo, next)
	}
	if n.raw {
		var edges []byteEdge
		for _, r := range n.set {
			edges = append(edges, byteEdge{byte(r.lo), byte(min(r.hi, 0xff)), next})
		}
		return c.add(nfaState{op: nfaBytes, edges: edges})
	}
	if made, ok := c.classes[n]; ok {
		return c.repeatClass(made, next)
	}
	var seqs [][]byteEdge
	for _, r := range n.set {
		seqs = appendUTF8(seqs, r.lo, r.hi)
	}
	made := compiledClass{first: len(c.nfa.states), next: next}
	made.entry = c.compileSeqs(seqs, next, map[string]int{})
	made.end = len(c.nfa.states)
	c.classes[n] = made
	return made.entry
}

// repeatClass copies the states of a class that was compiled before, with
// another continuation: cutting a class such as \w into bytes is the costly
// part of compiling it.
func (c *nfaCompiler) repeatClass(made compiledClass, next int) int {
	move := len(c.nfa.states) - made.first
	for id := made.first; id < made.end && !c.tooBig; id++ {
		edges := slices.Clone(c.nfa.states[id].edges)
		for i := range edges {
			if edges[i].to == made.next {
				edges[i].to = next
			} else {
				edges[i].to += move
			}
		}
		c.add(nfaState{op: nfaBytes, edges: edges})
	}
	return made.entry + move
}

func (c *nfaCompiler) compileRune(r rune, next int) int {
	var buf [utf8.UTFMax]byte
	n := utf8.EncodeRune(buf[:], r)
	for i := n - 1; i >= 0; i-- {
		next = c.add(nfaState{op: nfaBytes, edges: []byteEdge{{buf[i], buf[i], next}}})
	}
	return next
}

// compileSeqs turns sorted byte sequences into a tree whose equal tails are
// shared. Leading ranges of two sequences are equal or disjoint, which
// follows from how appendUTF8 cuts them.
func (c *nfaCompiler) compileSeqs(seqs [][]byteEdge, next int, tails map[string]int) int {
	key := seqsKey(seqs)
	if id, ok := tails[key]; ok {
		return id
	}
	var edges []byteEdge
	for i := 0; i < len(seqs); {
		head := seqs[i][0]
		j := i
		var rest [][]byteEdge
		for ; j < len(seqs) && seqs[j][0] == head; j++ {
			if len(seqs[j]) > 1 {
				rest = append(rest, seqs[j][1:])
			}
		}
		i = j
		head.to = next
		if len(rest) > 0 {
			head.to = c.compileSeqs(rest, next, tails)
		}
		if n := len(edges); n > 0 && edges[n-1].to == head.to && edges[n-1].hi+1 == head.lo {
			edges[n-1].hi = head.hi
			continue
		}
		edges = append(edges, head)
	}
	id := c.add(nfaState{op: nfaBytes, edges: edges})
	tails[key] = id
	return id
}

func seqsKey(seqs [][]byteEdge) string {
	key := make([]byte, 0, len(seqs)*8)
	for _, s := range seqs {
		for _, e := range s {
			key = append(key, e.lo, e.hi)
		}
		key = append(key, 0xff, 0x00) // an impossible range ends a sequence
	}
	return string(key)
}

// appendUTF8 appends the byte-range sequences that together match exactly the
// UTF-8 encodings of lo..hi, surrogates left out.
func appendUTF8(seqs [][]byteEdge, lo, hi rune) [][]byteEdge {
	if lo > hi {
		return seqs
	}
	if lo < 0xe000 && hi > 0xd7ff {
		seqs = appendUTF8(seqs, lo, min(hi, 0xd7ff))
		return appendUTF8(seqs, max(lo, 0xe000), hi)
	}
	for _, top := range []rune{0x7f, 0x7ff, 0xffff} {
		if lo <= top && top < hi {
			return appendUTF8(appendUTF8(seqs, lo, top), top+1, hi)
		}
	}
	if hi > 0x7f {
		for i := 1; i < utf8.UTFMax; i++ {
			mask := rune(1)<<(6*i) - 1
			if lo&^mask == hi&^mask {
				continue
			}
			if lo&mask != 0 {
				return appendUTF8(appendUTF8(seqs, lo, lo|mask), lo|mask+1, hi)
			}
			if hi&mask != mask {
				return appendUTF8(appendUTF8(seqs, lo, hi&^mask-1), hi&^mask, hi)
			}
		}
	}
	var a, b [utf8.UTFMax]byte
	n := utf8.EncodeRune(a[:], lo)
	utf8.EncodeRune(b[:], hi)
	seq := make([]byteEdge, n)
	for i := range seq {
		seq[i] = byteEdge{lo: a[i], hi: b[i]}
	}
	return append(seqs, seq)
}
