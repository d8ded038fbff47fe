package search

import (
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"
)

// runeRange is a closed interval of code points.
type runeRange struct{ lo, hi rune }

// runeSet is a set of code points as sorted, disjoint, non-adjacent ranges.
// A nil set is empty.
type runeSet []runeRange

func newRuneSet(ranges ...runeRange) runeSet {
	s := make(runeSet, 0, len(ranges))
	for _, r := range ranges {
		if r.lo <= r.hi {
			s = append(s, r)
		}
	}
	slices.SortFunc(s, func(a, b runeRange) int { return int(a.lo) - int(b.lo) })
	out := s[:0]
	for _, r := range s {
		if n := len(out); n > 0 && r.lo <= out[n-1].hi+1 {
			out[n-1].hi = max(out[n-1].hi, r.hi)
			continue
		}
		out = append(out, r)
	}
	return out
}

func singleRune(r rune) runeSet { return runeSet{{r, r}} }

func (s runeSet) union(t runeSet) runeSet { return newRuneSet(slices.Concat(s, t)...) }

// negate returns the complement of s in 0..limit.
func (s runeSet) negate(limit rune) runeSet {
	var out runeSet
	next := rune(0)
	for _, r := range s {
		if r.lo > next {
			out = append(out, runeRange{next, min(r.lo-1, limit)})
		}
		next = r.hi + 1
	}
	if next <= limit {
		out = append(out, runeRange{next, limit})
	}
	return out
}

func (s runeSet) intersect(t runeSet) runeSet {
	var out runeSet
	for i, j := 0, 0; i < len(s) && j < len(t); {
		lo, hi := max(s[i].lo, t[j].lo), min(s[i].hi, t[j].hi)
		if lo <= hi {
			out = append(out, runeRange{lo, hi})
		}
		if s[i].hi < t[j].hi {
			i++
		} else {
			j++
		}
	}
	return out
}

func (s runeSet) subtract(t runeSet) runeSet {
	return s.intersect(t.negate(utf8.MaxRune))
}

func (s runeSet) contains(r rune) bool {
	_, found := slices.BinarySearchFunc(s, r, func(e runeRange, r rune) int {
		if e.hi < r {
			return -1
		}
		if e.lo > r {
			return 1
		}
		return 0
	})
	return found
}

// fold adds the simple case variants of every member.
func (s runeSet) fold() runeSet {
	out := slices.Clone(s)
	for _, r := range s {
		if r.hi-r.lo < 64 {
			for c := r.lo; c <= r.hi; c++ {
				for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
					out = append(out, runeRange{f, f})
				}
			}
			continue
		}
		cased := casedRunes()
		i, _ := slices.BinarySearch(cased, r.lo)
		for ; i < len(cased) && cased[i] <= r.hi; i++ {
			c := cased[i]
			for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
				out = append(out, runeRange{f, f})
			}
		}
	}
	return newRuneSet(out...)
}

func (s runeSet) foldASCII() runeSet {
	out := slices.Clone(s)
	for c := rune('a'); c <= 'z'; c++ {
		if s.contains(c) || s.contains(c-32) {
			out = append(out, runeRange{c, c}, runeRange{c - 32, c - 32})
		}
	}
	return newRuneSet(out...)
}

// casedRunes lists every code point that has another simple case form.
var casedRunes = sync.OnceValue(func() []rune {
	var out []rune
	for r := range rune(0x1F000) {
		if unicode.SimpleFold(r) != r {
			out = append(out, r)
		}
	}
	return out
})

func tableSet(tables ...*unicode.RangeTable) runeSet {
	var out []runeRange
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			out = append(out, runeRange{lo, hi})
			return
		}
		for c := lo; c <= hi; c += stride {
			out = append(out, runeRange{c, c})
		}
	}
	for _, t := range tables {
		for _, r := range t.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	return newRuneSet(out...)
}

// The Perl classes follow Unicode TR18 as ripgrep's regex engine does, so they
// are wider than those of package regexp, which are ASCII only.
var (
	wordSet = sync.OnceValue(func() runeSet {
		return alphabeticSet().union(tableSet(unicode.M, unicode.Nd, unicode.Pc)).union(runeSet{{0x200c, 0x200d}})
	})
	digitSet      = sync.OnceValue(func() runeSet { return tableSet(unicode.Nd) })
	spaceSet      = sync.OnceValue(func() runeSet { return tableSet(unicode.White_Space) })
	alphabeticSet = sync.OnceValue(func() runeSet {
		return tableSet(unicode.L, unicode.Nl, unicode.Other_Alphabetic)
	})
)

func asciiWordSet() runeSet { return runeSet{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}} }

func asciiSpaceSet() runeSet { return runeSet{{'\t', '\r'}, {' ', ' '}} }

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return isWordByte(byte(r))
	}
	return wordSet().contains(r)
}

func isWordByte(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// posixSet returns the ASCII class of that POSIX name.
func posixSet(name string) (runeSet, bool) {
	switch name {
	case "alnum":
		return runeSet{{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}, true
	case "alpha":
		return runeSet{{'A', 'Z'}, {'a', 'z'}}, true
	case "ascii":
		return runeSet{{0, 0x7f}}, true
	case "blank":
		return runeSet{{'\t', '\t'}, {' ', ' '}}, true
	case "cntrl":
		return runeSet{{0, 0x1f}, {0x7f, 0x7f}}, true
	case "digit":
		return runeSet{{'0', '9'}}, true
	case "graph":
		return runeSet{{'!', '~'}}, true
	case "lower":
		return runeSet{{'a', 'z'}}, true
	case "print":
		return runeSet{{' ', '~'}}, true
	case "punct":
		return runeSet{{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}, true
	case "space":
		return asciiSpaceSet(), true
	case "upper":
		return runeSet{{'A', 'Z'}}, true
	case "word":
		return asciiWordSet(), true
	case "xdigit":
		return runeSet{{'0', '9'}, {'A', 'F'}, {'a', 'f'}}, true
	}
	return nil, false
}
