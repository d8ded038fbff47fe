package files

import (
	"bytes"
	"cmp"
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"github.com/junegunn/fzf/src/algo"
	"github.com/junegunn/fzf/src/util"
)

// scheme prepares the matcher for paths, once.
var scheme = sync.OnceValue(func() bool { return algo.Init("path") })

// hit is a path that matches, with what decides about its place.
type hit struct {
	path  []byte
	score int
	inner bool // the match does not lie in the last name
}

func (a hit) compare(b hit) int {
	if a.score != b.score {
		return cmp.Compare(b.score, a.score)
	}
	if a.inner != b.inner {
		if a.inner {
			return 1
		}
		return -1
	}
	if len(a.path) != len(b.path) {
		return cmp.Compare(len(a.path), len(b.path))
	}
	return bytes.Compare(a.path, b.path)
}

// matcher scores paths against one query.
type matcher struct {
	pattern []rune
	word    []byte // the pattern when it is ASCII; then it matches letters with accents too
	mask    uint64
	exact   bool // an upper case letter was typed: case counts
	slab    *util.Slab
}

func newMatcher(query string) *matcher {
	scheme()
	m := &matcher{exact: capital(query), slab: util.MakeSlab(100*1024, 2048)}
	if !m.exact {
		query = strings.ToLower(query)
	}
	m.pattern = []rune(query)
	for i := range len(query) {
		if query[i] < 0x80 {
			m.mask |= bit(query[i])
		}
	}
	if len(m.pattern) == len(query) {
		m.word = []byte(query)
	}
	return m
}

func capital(query string) bool { return strings.IndexFunc(query, unicode.IsUpper) >= 0 }

// fuzzy scores a path in which the pattern's characters stand in their order.
func (m *matcher) fuzzy(path []byte) (hit, bool) {
	text := util.ToChars(path)
	r, _ := algo.FuzzyMatchV2(m.exact, m.word != nil, true, &text, m.pattern, false, m.slab)
	if r.Start < 0 {
		return hit{}, false
	}
	at := r.Start
	if !text.IsBytes() {
		at = len(string([]rune(string(path))[:at]))
	}
	return hit{path: path, score: r.Score, inner: at < base(path)}, true
}

// What the matcher gives for a whole word, which is all that plain takes.
const (
	perLetter    = 16
	afterSlash   = 9 // for each letter, twice for the first
	afterOther   = 8
	wholeNameTop = 4 // of hew's own: the pattern begins the last name
)

// plain scores a path in which the pattern stands whole at the start of a word.
// That is most of what people mean, and costs a tenth of fuzzy.
func (m *matcher) plain(path []byte) (hit, bool) {
	if len(m.word) == 0 || len(path) < len(m.word) {
		return hit{}, false
	}
	top := base(path)
	found := hit{score: -1}
	for i := len(path) - len(m.word); i >= 0; i-- {
		if !m.starts(path[i:]) || !boundary(path, i) {
			continue
		}
		bonus := afterOther
		if i == 0 || path[i-1] == '/' {
			bonus = afterSlash
		}
		score := perLetter*len(m.word) + bonus*(len(m.word)+1)
		if i == top {
			score += wholeNameTop
		}
		if h := (hit{path: path, score: score, inner: i < top}); found.score < 0 || h.compare(found) < 0 {
			found = h
		}
	}
	return found, found.score >= 0
}

func (m *matcher) starts(s []byte) bool {
	for i, c := range m.word {
		d := s[i]
		if !m.exact && d >= 'A' && d <= 'Z' {
			d += 'a' - 'A'
		}
		if c != d {
			return false
		}
	}
	return true
}

// boundary tells that a word of the path begins at i.
func boundary(path []byte, i int) bool {
	if i == 0 {
		return true
	}
	before, c := path[i-1], path[i]
	switch {
	case before >= 'a' && before <= 'z', before >= '0' && before <= '9':
		return c >= 'A' && c <= 'Z'
	case before >= 'A' && before <= 'Z', before >= 0x80:
		return false
	}
	return true
}

// best keeps the first hits of the order.
type best struct {
	limit int
	hits  []hit
}

func (b *best) add(h hit) {
	if len(b.hits) < b.limit {
		b.hits = append(b.hits, h)
		if len(b.hits) == b.limit {
			slices.SortFunc(b.hits, hit.compare)
		}
		return
	}
	if h.compare(b.hits[b.limit-1]) >= 0 {
		return
	}
	i, _ := slices.BinarySearchFunc(b.hits, h, hit.compare)
	copy(b.hits[i+1:], b.hits[i:b.limit-1])
	b.hits[i] = h
}

// narrowed is which paths of each chunk can match a query, and so any longer
// one; nil for a chunk that was not full.
type narrowed struct {
	query string
	in    [][]uint16
}

// search is one ranking of all paths.
type search struct {
	chunks []*chunk
	query  string
	among  [][]uint16
	tops   []best
}

// rank returns the best paths for query and what can match it. It looks only at
// what prior has left, where that fits. A cancelled search returns nothing.
func rank(ctx context.Context, chunks []*chunk, query string, limit int, prior *narrowed) ([]hit, *narrowed) {
	s := &search{chunks: chunks, query: query, among: make([][]uint16, len(chunks))}
	if prior != nil && strings.HasPrefix(query, prior.query) && capital(query) == capital(prior.query) {
		copy(s.among, prior.in)
	}
	s.tops = make([]best, min(max(1, runtime.GOMAXPROCS(0)), max(1, len(chunks))))
	for i := range s.tops {
		s.tops[i].limit = limit
	}
	s.each(ctx, func(m *matcher, top *best, c *chunk, among []uint16) []uint16 { return c.words(m, top, among) })
	found := 0
	for _, t := range s.tops {
		found += len(t.hits)
	}
	if found < limit {
		s.each(ctx, func(m *matcher, top *best, c *chunk, among []uint16) []uint16 { return c.letters(m, top, among) })
	}
	if ctx.Err() != nil {
		return nil, nil
	}
	var all []hit
	for _, t := range s.tops {
		all = append(all, t.hits...)
	}
	slices.SortFunc(all, hit.compare)
	left := &narrowed{query: query, in: s.among}
	for i, c := range chunks {
		if len(c.ends) < chunkPaths {
			left.in[i] = nil
		}
	}
	return all[:min(limit, len(all))], left
}

// each runs do on every chunk, on all processors, and keeps what it leaves.
func (s *search) each(ctx context.Context, do func(m *matcher, top *best, c *chunk, among []uint16) []uint16) {
	var next atomic.Int64
	var group sync.WaitGroup
	for w := range s.tops {
		group.Go(func() {
			m := newMatcher(s.query)
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(s.chunks) {
					return
				}
				s.among[i] = do(m, &s.tops[w], s.chunks[i], s.among[i])
			}
		})
	}
	group.Wait()
}

// words takes the paths with the pattern at the start of a word, and returns
// those that can match at all.
func (c *chunk) words(m *matcher, top *best, among []uint16) []uint16 {
	if among == nil {
		among = make([]uint16, 0, len(c.ends))
		for i, mask := range c.masks {
			if mask&m.mask == m.mask {
				among = append(among, uint16(i))
			}
		}
	} else {
		among = slices.DeleteFunc(slices.Clone(among), func(i uint16) bool { return c.masks[i]&m.mask != m.mask })
	}
	for _, i := range among {
		if h, ok := m.plain(c.path(int(i))); ok {
			top.add(h)
		}
	}
	return among
}

// letters takes the other paths, and returns those that match.
func (c *chunk) letters(m *matcher, top *best, among []uint16) []uint16 {
	left := among[:0]
	for _, i := range among {
		path := c.path(int(i))
		if _, ok := m.plain(path); ok {
			left = append(left, i)
		} else if h, ok := m.fuzzy(path); ok {
			top.add(h)
			left = append(left, i)
		}
	}
	return left
}
