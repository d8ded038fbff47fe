package search

import (
	"slices"
	"unsafe"
)

// dfa decides whether and where a line matches, building its states as bytes
// ask for them. One dfa belongs to one goroutine; the nfa behind it is shared.
//
// A state is the set of automaton leaves that are alive plus what the previous
// byte was. Assertions are resolved when the next byte is known, so a match is
// seen one byte late, and every search starts anywhere (unanchored).
type dfa struct {
	nfa     *nfa
	classOf [256]uint8
	rep     []int // one byte of every class; the last entry is end of input
	stride  uint32
	trans   []uint32
	kernels []dfaKernel
	index   map[string]uint32
	starts  [2]uint32 // by dfaFrom
	set     sparseSet
	stack   []int
	key     []byte
}

type dfaKernel struct {
	leaves []int
	prev   prevByte
}

// prevByte is what an assertion needs to know of the byte before.
type prevByte uint8

const (
	prevOther prevByte = iota
	prevWord
	prevLine // line feed
	prevText // start of the text
)

// The first rows of the table are not states but verdicts.
const (
	dfaUnknown = 0 // not built yet
	dfaFound   = 1 // a match ended before the byte just read
	dfaQuit    = 2 // a byte whose meaning for \b this automaton cannot know
	dfaSpecial = 3
)

// maxDFABytes bounds one cache; past it the cache is emptied and refilled.
const maxDFABytes = 4 << 20

const endOfInput = 256

func newDFA(n *nfa) *dfa {
	d := &dfa{nfa: n, set: newSparseSet(len(n.states))}
	d.buildClasses()
	d.reset()
	return d
}

func (d *dfa) buildClasses() {
	var cut [257]bool
	mark := func(lo, hi byte) { cut[lo], cut[int(hi)+1] = true, true }
	for _, s := range d.nfa.states {
		for _, e := range s.edges {
			mark(e.lo, e.hi)
		}
	}
	if d.nfa.hasLook {
		mark('\n', '\n')
		mark(0x80, 0xff)
		for _, r := range asciiWordSet() {
			mark(byte(r.lo), byte(r.hi))
		}
	}
	class := 0
	for b := range 256 {
		if b == 0 || cut[b] {
			d.rep = append(d.rep, b)
			class = len(d.rep) - 1
		}
		d.classOf[b] = uint8(class)
	}
	d.rep = append(d.rep, endOfInput)
	d.stride = uint32(len(d.rep))
}

func (d *dfa) reset() {
	d.trans = append(d.trans[:0], make([]uint32, dfaSpecial*d.stride)...)
	d.kernels = append(d.kernels[:0], make([]dfaKernel, dfaSpecial)...)
	d.index = map[string]uint32{}
	for i, prev := range []prevByte{prevLine, prevText} {
		d.set.clear()
		d.close(d.nfa.start)
		d.starts[i] = d.intern(prev)
	}
}

// close adds the leaves that are reachable from id without a byte and without
// passing an assertion.
func (d *dfa) close(id int) {
	d.stack = append(d.stack[:0], id)
	for len(d.stack) > 0 {
		id := d.stack[len(d.stack)-1]
		d.stack = d.stack[:len(d.stack)-1]
		if !d.set.add(id) {
			continue
		}
		if s := &d.nfa.states[id]; s.op == nfaSplit {
			d.stack = append(d.stack, s.out...)
		}
	}
}

// intern returns the row of the state that d.set holds.
func (d *dfa) intern(prev prevByte) uint32 {
	if !d.nfa.hasLook {
		prev = prevOther
	}
	leaves := make([]int, 0, len(d.set.dense))
	for _, id := range d.set.dense {
		if d.nfa.states[id].op != nfaSplit {
			leaves = append(leaves, id)
		}
	}
	slices.Sort(leaves)
	d.key = append(d.key[:0], byte(prev))
	for _, id := range leaves {
		d.key = append(d.key, byte(id), byte(id>>8), byte(id>>16))
	}
	if row, ok := d.index[string(d.key)]; ok {
		return row
	}
	row := uint32(len(d.trans))
	d.trans = append(d.trans, make([]uint32, d.stride)...)
	d.kernels = append(d.kernels, dfaKernel{leaves, prev})
	d.index[string(d.key)] = row
	return row
}

func (d *dfa) full() bool {
	used := len(d.trans)*4 + len(d.kernels)*int(unsafe.Sizeof(dfaKernel{}))
	if n := len(d.kernels); n > 0 {
		used += n * (len(d.kernels[n-1].leaves)*11 + 64) // leaves and key, roughly
	}
	return used > maxDFABytes
}

// step computes, and records, where row goes on byte class c.
func (d *dfa) step(row, c uint32) uint32 {
	kernel := d.kernels[row/d.stride]
	b := d.rep[c]
	to := d.next(kernel, b)
	if d.full() {
		// The caller goes on in a state of the fresh cache.
		if to < dfaSpecial*d.stride {
			return to
		}
		kept := d.kernels[to/d.stride]
		d.reset()
		d.set.clear()
		for _, id := range kept.leaves {
			d.set.add(id)
		}
		return d.intern(kept.prev)
	}
	d.trans[row+c] = to
	return to
}

func (d *dfa) next(k dfaKernel, b int) uint32 {
	if d.nfa.unicodeB && b >= 0x80 && b != endOfInput {
		return dfaQuit * d.stride
	}
	leaves := d.resolve(k, b)
	d.set.clear()
	prev := prevOther
	switch {
	case b == '\n':
		prev = prevLine
	case b < 256 && isWordByte(byte(b)):
		prev = prevWord
	}
	for _, id := range leaves {
		s := &d.nfa.states[id]
		if s.op == nfaMatch {
			return dfaFound * d.stride
		}
		for _, e := range s.edges {
			if b != endOfInput && int(e.lo) <= b && b <= int(e.hi) {
				d.close(e.to)
			}
		}
	}
	d.close(d.nfa.start)
	return d.intern(prev)
}

// resolve passes the assertions of k that hold before byte b.
func (d *dfa) resolve(k dfaKernel, b int) []int {
	if !d.nfa.hasLook {
		return k.leaves
	}
	d.set.clear()
	for _, id := range k.leaves {
		d.set.add(id)
	}
	for i := 0; i < len(d.set.dense); i++ {
		s := &d.nfa.states[d.set.dense[i]]
		if s.op == nfaLook && lookHolds(s.look, k.prev, b) {
			d.close(s.out[0])
		}
	}
	return slices.Clone(d.set.dense)
}

func lookHolds(k lookKind, prev prevByte, b int) bool {
	before := prev == prevWord
	after := b < 256 && isWordByte(byte(b))
	switch k {
	case lookLineStart:
		return prev >= prevLine
	case lookLineEnd:
		return b == '\n' || b == endOfInput
	case lookTextStart:
		return prev == prevText
	case lookTextEnd:
		return b == endOfInput
	case lookWord, lookASCIIWord:
		return before != after
	case lookNotWord, lookASCIINotWord:
		return before == after
	case lookWordStart:
		return !before && after
	case lookWordEnd:
		return before && !after
	}
	return false
}

// dfaFrom says what stands before the first byte of a search.
type dfaFrom uint8

const (
	fromLine dfaFrom = iota
	fromText
)

type dfaVerdict uint8

const (
	dfaNone dfaVerdict = iota
	dfaMatched
	dfaGaveUp
)

// find looks for the end of the match that ends first in b[at:]. The offset it
// returns lies at the match's end, or at the byte where it gave up.
func (d *dfa) find(b []byte, at int, from dfaFrom) (int, dfaVerdict) {
	row := d.starts[from]
	trans := d.trans
	special := dfaSpecial * d.stride
	for i := at; i < len(b); i++ {
		c := uint32(d.classOf[b[i]])
		to := trans[row+c]
		if to < special {
			if to == 0 {
				to = d.step(row, c)
				trans = d.trans
			}
			switch to {
			case dfaFound * d.stride:
				return i, dfaMatched
			case dfaQuit * d.stride:
				return i, dfaGaveUp
			}
		}
		row = to
	}
	to := d.trans[row+d.stride-1]
	if to == 0 {
		to = d.step(row, d.stride-1)
	}
	if to == dfaFound*d.stride {
		return len(b), dfaMatched
	}
	return len(b), dfaNone
}

// sparseSet is a set of small integers with constant-time clearing.
type sparseSet struct {
	dense  []int
	sparse []int32
}

func newSparseSet(n int) sparseSet {
	return sparseSet{dense: make([]int, 0, min(n, 64)), sparse: make([]int32, n)}
}

func (s *sparseSet) add(id int) bool {
	if i := int(s.sparse[id]); i < len(s.dense) && s.dense[i] == id {
		return false
	}
	s.sparse[id] = int32(len(s.dense))
	s.dense = append(s.dense, id)
	return true
}

func (s *sparseSet) clear() { s.dense = s.dense[:0] }
