package checkpoint

import (
	"cmp"
	"context"
	"os"
	"runtime"
	"slices"
	"sync"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// save finds a place for the bytes of every file that has come or changed, and
// drops what turns out not to have changed at all. Small files go first, so
// that the limits leave out as few as possible.
func (t *Tracker) save(ctx context.Context, found []Change, pin bool) []Change {
	files := make([]*Change, 0, len(found))
	for i := range found {
		ch := &found[i]
		switch ch.After.Kind {
		case File:
			files = append(files, ch)
		case Link:
			target, err := os.Readlink(string(ch.Path))
			if err != nil {
				ch.After.Kind = Other // gone or changed again: the next scan finds it
			}
			ch.After.Target = osName(target)
		case Absent, Folder, Other:
		}
	}
	slices.SortStableFunc(files, smaller)
	if !pin {
		files = t.inGit(ctx, files)
	}
	each(files, func(ch *Change) { t.keep(ch) })
	return slices.DeleteFunc(found, func(ch Change) bool {
		t.index.put(string(ch.Path), ch.After)
		return ch.After.Equal(&ch.Before)
	})
}

func smaller(a, b *Change) int { return cmp.Compare(a.After.Size, b.After.Size) }

// each calls do for all files, some beside each other.
func each(files []*Change, do func(*Change)) {
	next := make(chan *Change)
	var wg sync.WaitGroup
	for range min(len(files), max(2, runtime.GOMAXPROCS(0))) {
		wg.Go(func() {
			for ch := range next {
				do(ch)
			}
		})
	}
	for _, ch := range files {
		next <- ch
	}
	close(next)
	wg.Wait()
}

// keep copies the bytes of one file.
func (t *Tracker) keep(ch *Change) {
	e, old := &ch.After, &ch.Before
	if e.Sum == "" && old.Sum != "" && old.Size == e.Size { // perhaps only its times are new
		if sum, _, err := sums(string(ch.Path), ""); err == nil {
			e.Sum = sum
		}
	}
	if e.Sum != "" && e.Sum == old.Sum && old.Where != "" {
		e.Where = old.Where
		return
	}
	if e.Sum != "" && t.store.has(e.Sum) {
		e.Where = "s"
		return
	}
	sum, err := t.store.keep(string(ch.Path), e.Size)
	if err != nil {
		e.Why = reason(err)
		return
	}
	if e.Sum != "" && e.Sum != sum {
		e.Fresh = true // it changes under our hands
	}
	e.Sum, e.Where = sum, "s"
}

func (s *store) has(sum string) bool {
	_, err := os.Lstat(s.path(sum))
	return err == nil
}

// smallest is the size from which it pays to ask whether git has a file: one
// process answers for all of them, but it takes some milliseconds.
const smallest = 16

// inGit marks the files whose bytes the repository's object store holds, and
// returns the others. Only what its files hold counts, not what the index
// says: filters may make of a blob other bytes than the file's.
func (t *Tracker) inGit(ctx context.Context, files []*Change) []*Change {
	byRoot := map[string][]*Change{}
	var rest []*Change
	for _, ch := range files {
		root := t.rootOf(string(ch.Path))
		if root == "" || t.git(ctx, root) == nil || ch.After.Size > t.c.Limits.File {
			rest = append(rest, ch)
			continue
		}
		byRoot[root] = append(byRoot[root], ch)
	}
	for root, group := range byRoot {
		if len(group) < smallest && total(group) < 1<<20 {
			rest = append(rest, group...)
			continue
		}
		rest = append(rest, held(ctx, t.git(ctx, root), group)...)
	}
	slices.SortStableFunc(rest, smaller)
	return rest
}

func total(group []*Change) (n int64) {
	for _, ch := range group {
		n += ch.After.Size
	}
	return n
}

// held asks a repository for the files, and returns those that it does not hold.
func held(ctx context.Context, g Git, group []*Change) []*Change {
	blobs := make(map[*Change]string, len(group))
	var mu sync.Mutex
	each(group, func(ch *Change) {
		sum, blob, err := sums(string(ch.Path), g.Format())
		if err != nil {
			return
		}
		ch.After.Sum = sum
		mu.Lock()
		defer mu.Unlock()
		blobs[ch] = blob
	})
	ids := make([]string, 0, len(blobs))
	for _, id := range blobs {
		if id != "" {
			ids = append(ids, id)
		}
	}
	has, err := g.Held(ctx, ids)
	if err != nil {
		has = nil // then everything is copied
	}
	return slices.DeleteFunc(group, func(ch *Change) bool {
		if id := blobs[ch]; id != "" && has[id] {
			ch.After.Where = "g" + id
			return true
		}
		return false
	})
}

// git is the repository of a root, asked for once.
func (t *Tracker) git(ctx context.Context, root string) Git {
	if t.c.Git == nil {
		return nil
	}
	g, ok := t.gits[root]
	if !ok {
		g = t.c.Git(ctx, root)
		t.gits[root] = g
	}
	return g
}

func (t *Tracker) rootOf(path string) string {
	for _, r := range t.roots() {
		if fsys.Within(r, path) {
			return r
		}
	}
	return ""
}
