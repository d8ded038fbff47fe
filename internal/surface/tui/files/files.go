// Package files is the files of a folder, ranked against what is typed.
package files

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// Match is a file or folder that fits a query.
type Match struct {
	// Path is relative to the folder, with slashes, and one at the end of a folder's.
	Path string
	Dir  bool
}

// maxPath is the longest path that is kept.
const maxPath = 4096

// Index is the paths of a folder. Its methods may be called from several
// goroutines.
type Index struct {
	mu    sync.RWMutex
	paths *store // what is searched
	next  *store // what a walk fills; the same as paths during the first one
	dirs  map[string]bool
	full  bool
	most  int // paths that are kept, maxPaths when 0
	prior *narrowed
	of    *store // that prior speaks of
}

// Fill walks the folder anew: walk calls add, from any goroutine, with the path
// of each file. The first walk can be searched while it goes on, a later one
// takes the place of the paths before it when it has ended well.
func (x *Index) Fill(ctx context.Context, walk func(ctx context.Context, add func(path string)) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	x.mu.Lock()
	x.next, x.dirs, x.full = &store{most: cmp.Or(x.most, maxPaths)}, map[string]bool{}, false
	if x.paths == nil {
		x.paths = x.next
	}
	x.mu.Unlock()
	err := walk(ctx, func(path string) {
		if !x.add(path) {
			stop()
		}
	})
	x.mu.Lock()
	defer x.mu.Unlock()
	if err == nil || x.full {
		x.paths, err = x.next, nil
	}
	x.next, x.dirs = nil, nil
	return err
}

func (x *Index) add(path string) bool {
	if len(path) > maxPath || !typable(path) {
		return true
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.full = x.full || !x.next.add(path)
	for dir := path; !x.full; {
		i := strings.LastIndexByte(dir, '/')
		if i < 0 || x.dirs[dir[:i]] {
			break
		}
		x.full = !x.next.add(dir[:i+1])
		dir = strings.Clone(dir[:i])
		x.dirs[dir] = true
	}
	return !x.full
}

// typable tells whether a prompt can name the path: a name that breaks the line
// or is no text cannot be written there.
func typable(path string) bool {
	return utf8.ValidString(path) && strings.IndexFunc(path, unicode.IsControl) < 0
}

// Len is how many paths there are, and whether there are more than are kept.
func (x *Index) Len() (n int, full bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.paths == nil {
		return 0, false
	}
	return x.paths.n, x.full
}

// Find returns the limit best paths for a query, none when ctx ends first. The
// paths nearest to the top are best for no query at all.
func (x *Index) Find(ctx context.Context, query string, limit int) []Match {
	query = strings.TrimPrefix(strings.ReplaceAll(query, `\`, "/"), "./")
	x.mu.RLock()
	paths, prior := x.paths, x.prior
	if x.of != paths {
		prior = nil
	}
	var chunks []*chunk
	if paths != nil {
		chunks = slices.Clone(paths.chunks)
		if n := len(chunks); n > 0 { // the last one may grow meanwhile
			last := *chunks[n-1]
			chunks[n-1] = &last
		}
	}
	x.mu.RUnlock()
	if query == "" {
		return matches(shallow(ctx, chunks, limit))
	}
	hits, left := rank(ctx, chunks, query, limit, prior)
	if left != nil {
		x.mu.Lock()
		x.prior, x.of = left, paths
		x.mu.Unlock()
	}
	return matches(hits)
}

func matches(hits []hit) []Match {
	var out []Match
	for _, h := range hits {
		out = append(out, Match{Path: string(h.path), Dir: h.path[len(h.path)-1] == '/'})
	}
	return out
}

// shallow returns the paths with the fewest folders above them, in their order.
func shallow(ctx context.Context, chunks []*chunk, limit int) []hit {
	top := best{limit: limit}
	for _, c := range chunks {
		if ctx.Err() != nil {
			return nil
		}
		for i := range c.ends {
			p := c.path(i)
			top.add(hit{path: p, score: -bytes.Count(p[:len(p)-1], []byte("/"))})
		}
	}
	slices.SortFunc(top.hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), bytes.Compare(a.path, b.path))
	})
	return top.hits
}

// Config makes a Finder. All fields but Changed are required.
type Config struct {
	// Walk lists the files, as Index.Fill wants it.
	Walk func(ctx context.Context, add func(path string)) error
	// Changed is called, from another goroutine, when Ask has more to tell.
	Changed func()
	Now     func() time.Time
}

const (
	// quick is how many paths are ranked at once, while a person waits for a key.
	quick = 50_000
	// stale is the age at which the paths are walked anew when they are asked for.
	stale = 15 * time.Second
	// shown is how many matches Ask returns.
	shown = 100
)

// Finder answers from an Index that it keeps fresh, without ever making a person
// wait: in a large folder Ask returns what is known and Changed tells of more.
// Nothing is read before the first Ask.
type Finder struct {
	c     Config
	index Index
	ctx   context.Context // the life of the work that Close ends
	close context.CancelFunc
	work  sync.WaitGroup

	mu      sync.Mutex
	walking bool
	walked  time.Time
	cancel  context.CancelFunc // of the search under way
	query   string             // that answer belongs to
	asked   string
	answer  []Match
	known   bool
}

// NewFinder makes a Finder; Close ends its work.
func NewFinder(c Config) *Finder {
	f := &Finder{c: c}
	f.ctx, f.close = context.WithCancel(context.Background())
	return f
}

// Close ends what goes on in the background and waits for it.
func (f *Finder) Close() {
	f.close()
	f.work.Wait()
}

// Ask returns the best matches that are known now. A new query cancels the
// search for the one before.
func (f *Finder) Ask(query string) []Match {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ctx.Err() != nil {
		return nil
	}
	if !f.walking && (f.walked.IsZero() || query == "" && f.c.Now().Sub(f.walked) > stale) {
		f.walking = true
		f.work.Go(f.walk)
	}
	if f.known && f.query == query {
		return f.answer
	}
	n, _ := f.index.Len()
	if n <= quick {
		f.stop()
		f.answer, f.query, f.asked, f.known = f.index.Find(f.ctx, query, shown), query, query, true
		return f.answer
	}
	if f.cancel == nil || f.asked != query {
		f.stop()
		ctx, cancel := context.WithCancel(f.ctx)
		f.cancel, f.asked = cancel, query
		f.work.Go(func() { f.search(ctx, query) })
	}
	return f.answer
}

func (f *Finder) stop() {
	if f.cancel != nil {
		f.cancel()
		f.cancel = nil
	}
}

func (f *Finder) search(ctx context.Context, query string) {
	found := f.index.Find(ctx, query, shown)
	f.mu.Lock()
	fits := ctx.Err() == nil
	if fits {
		f.answer, f.query, f.known, f.cancel = found, query, true, nil
	}
	f.mu.Unlock()
	if fits {
		f.changed()
	}
}

func (f *Finder) changed() {
	if f.c.Changed != nil {
		f.c.Changed()
	}
}

// walk fills the index and tells of it: soon after the start, and at the end.
func (f *Finder) walk() {
	told := 0
	var mu sync.Mutex
	_ = f.index.Fill(f.ctx, func(ctx context.Context, add func(string)) error { // a folder that cannot be read has no matches
		n := 0
		return f.c.Walk(ctx, func(path string) {
			add(path)
			mu.Lock()
			n++
			tell := n >= 1000 && n >= 4*told
			if tell {
				told = n
			}
			mu.Unlock()
			if tell {
				f.forget()
			}
		})
	})
	f.mu.Lock()
	f.walking, f.walked = false, f.c.Now()
	f.mu.Unlock()
	if f.ctx.Err() == nil {
		f.forget()
	}
}

// forget makes the next Ask look again.
func (f *Finder) forget() {
	f.mu.Lock()
	f.known = false
	f.mu.Unlock()
	f.changed()
}
