package search

import (
	"container/heap"
	"slices"
	"strings"
	"sync"
)

// ranking keeps the first keep entries of an order, whatever the order in
// which they come. It is a heap whose root is the last entry in order.
type ranking[T any] struct {
	keep    int
	total   int
	compare func(a, b T) int
	entries []T
}

func (r *ranking[T]) Len() int           { return len(r.entries) }
func (r *ranking[T]) Less(i, j int) bool { return r.compare(r.entries[i], r.entries[j]) > 0 }
func (r *ranking[T]) Swap(i, j int)      { r.entries[i], r.entries[j] = r.entries[j], r.entries[i] }
func (r *ranking[T]) Push(x any)         { r.entries = append(r.entries, x.(T)) }

func (r *ranking[T]) Pop() any {
	last := r.entries[len(r.entries)-1]
	r.entries = r.entries[:len(r.entries)-1]
	return last
}

func (r *ranking[T]) add(e T) {
	r.total++
	switch {
	case len(r.entries) < r.keep:
		heap.Push(r, e)
	case r.compare(e, r.entries[0]) < 0:
		r.entries[0] = e
		heap.Fix(r, 0)
	}
}

func (r *ranking[T]) sorted() []T {
	slices.SortFunc(r.entries, r.compare)
	return r.entries
}

// collector gathers what the workers find into one bounded, ordered result.
type collector struct {
	q     *GrepQuery
	skips *skipList

	mu      sync.Mutex
	files   ranking[FileMatch]
	blocks  ranking[fileFound] // of ModeContent
	lines   int                // in blocks
	bytes   int                // in blocks
	dropped bool
	matches int
}

func newCollector(q *GrepQuery, skips *skipList) *collector {
	byPath := func(a, b FileMatch) int { return strings.Compare(a.Path, b.Path) }
	newest := func(a, b FileMatch) int {
		if c := b.ModTime.Compare(a.ModTime); c != 0 {
			return c
		}
		return strings.Compare(a.Path, b.Path)
	}
	c := &collector{q: q, skips: skips}
	c.files = ranking[FileMatch]{keep: q.keep(), compare: pick(q.Mode == ModeFiles, newest, byPath)}
	c.blocks = ranking[fileFound]{
		keep:    q.keep() + 1,
		compare: func(a, b fileFound) int { return strings.Compare(a.path, b.path) },
	}
	return c
}

// wants is false when nothing in the file could be part of the result.
func (c *collector) wants(path string) bool {
	if c.q.Mode != ModeContent {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.full() || path < c.blocks.entries[0].path
}

// full tells that enough lines are there; the next one by path is kept on
// top, to know that there is more.
func (c *collector) full() bool {
	return len(c.blocks.entries) > 0 && (c.lines > c.q.keep() || c.bytes > maxContentBytes)
}

func (c *collector) add(f fileFound) {
	if f.err != nil {
		c.skips.add(f.path, f.err)
	}
	if f.count == 0 {
		return
	}
	match := FileMatch{Path: f.path, Count: f.count}
	if c.q.Mode == ModeFiles {
		match.ModTime = modTime(f.path)
	}
	if f.binary && c.q.Mode == ModeContent {
		f.lines = append(f.lines, Line{Kind: LineBinary, Path: f.path})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.q.Mode != ModeContent {
		c.matches += f.count
		c.files.add(match)
		return
	}
	if len(f.lines) == 0 {
		return
	}
	heap.Push(&c.blocks, f)
	c.lines += c.size(f)
	c.bytes += textBytes(f)
	for len(c.blocks.entries) > 1 {
		last := c.blocks.entries[0]
		rest, restBytes := c.lines-c.size(last), c.bytes-textBytes(last)
		if rest <= c.q.keep() && restBytes <= maxContentBytes {
			break
		}
		heap.Pop(&c.blocks)
		c.lines, c.bytes, c.dropped = rest, restBytes, true
	}
}

// size is the number of lines that f adds, with the break in front of it.
func (c *collector) size(f fileFound) int {
	if c.q.Before+c.q.After > 0 {
		return len(f.lines) + 1
	}
	return len(f.lines)
}

func textBytes(f fileFound) int {
	n := 0
	for _, l := range f.lines {
		n += len(l.Text)
	}
	return n
}

func (c *collector) result() GrepResult {
	r := GrepResult{Skips: c.skips.kept, SkipCount: c.skips.total}
	if c.q.Mode != ModeContent {
		r.TotalFiles, r.TotalMatches = c.files.total, c.matches
		r.Files, r.Truncated = page(c.files.sorted(), c.q.Offset, c.q.keep())
		r.Truncated = r.Truncated || c.files.total > c.q.keep()
		return r
	}
	var lines []Line
	used, cut := 0, c.dropped
	for _, f := range c.blocks.sorted() {
		if len(lines) > 0 && c.q.Before+c.q.After > 0 {
			lines = append(lines, Line{Kind: LineBreak})
		}
		for _, l := range f.lines {
			if used += len(l.Text); used > maxContentBytes {
				cut = true
				break
			}
			lines = append(lines, l)
		}
	}
	r.Lines, r.Truncated = page(lines, c.q.Offset, c.q.keep())
	r.Truncated = r.Truncated || cut
	return r
}
