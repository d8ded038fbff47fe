package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"
)

// gitDir is where a repository keeps itself.
const gitDir = ".git"

// freshFor is how long before a look a change may lie without being told from
// a later one by its time: the tick of kernels, with room to spare, and for
// file systems that count seconds two of them.
const (
	freshFor     = 60 * time.Millisecond
	freshForSlow = 2 * time.Second
)

// scanner walks trees beside each other and notes what is not as the index says.
type scanner struct {
	index *index
	skip  []string
	limit int
	since time.Time // when the walk began
	// check are files to read whatever their times say; only, when set, are the
	// folders to look into, with nothing below but what is new.
	check, only map[string]bool
	watch       *watcher

	mu      sync.Mutex
	wake    *sync.Cond
	todo    []task
	busy    int
	seen    int
	found   []Change
	failed  []LeftOut
	stopped error
}

// task is one folder to look into.
type task struct {
	dir string
	dev uint64
}

var errTooMany = errors.New("too many files")

// walk looks at the folders and, unless shallow, at all below them.
func (s *scanner) walk(ctx context.Context, dirs []string) ([]Change, error) {
	s.wake = sync.NewCond(&s.mu)
	for _, d := range dirs {
		e, err := lookAt(d)
		if err != nil {
			return nil, fmt.Errorf("look at %s: %w", d, err)
		}
		s.todo = append(s.todo, task{d, e.dev})
	}
	stop := context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.stopped = ctx.Err()
		s.wake.Broadcast()
	})
	defer stop()
	var wg sync.WaitGroup
	for range max(2, runtime.GOMAXPROCS(0)) {
		wg.Go(s.work)
	}
	wg.Wait()
	return s.found, s.stopped
}

func (s *scanner) work() {
	w := &looker{s: s}
	for {
		t, ok := s.next()
		if !ok {
			return
		}
		w.look(t)
		s.done(w)
	}
}

func (s *scanner) next() (task, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.todo) == 0 && s.busy > 0 && s.stopped == nil {
		s.wake.Wait()
	}
	if len(s.todo) == 0 || s.stopped != nil {
		return task{}, false
	}
	t := s.todo[len(s.todo)-1]
	s.todo = s.todo[:len(s.todo)-1]
	s.busy++
	return t, true
}

func (s *scanner) done(w *looker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
	s.todo = append(s.todo, w.deeper...)
	s.found = append(s.found, w.found...)
	s.failed = append(s.failed, w.failed...)
	s.seen += w.seen
	if s.seen > s.limit {
		s.stopped = errTooMany
	}
	w.deeper, w.found, w.failed, w.seen = w.deeper[:0], w.found[:0], w.failed[:0], 0
	if len(s.todo) > 0 || s.busy == 0 || s.stopped != nil {
		s.wake.Broadcast()
	}
}

// looker is one goroutine's part of a walk.
type looker struct {
	s      *scanner
	deeper []task
	found  []Change
	failed []LeftOut
	seen   int
}

// look compares one folder with the index.
func (w *looker) look(t task) {
	if w.s.watch != nil {
		w.s.watch.add(t.dir)
	}
	known := w.s.index.dirs[t.dir]
	dir, err := openDir(t.dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			w.failed = append(w.failed, LeftOut{Path: t.dir, Why: "the folder cannot be read"})
			return
		}
		w.gone(t.dir)
		return
	}
	defer dir.close()
	names, err := dir.names()
	if err != nil {
		w.failed = append(w.failed, LeftOut{Path: t.dir, Why: "the folder cannot be read"})
		return
	}
	met := 0
	for _, name := range names {
		if w.name(t, dir, known, name) {
			met++
		}
	}
	w.seen += len(names)
	if known != nil && met < len(known.names) {
		w.missing(t.dir, known, names)
	}
}

// name looks at one name, and tells whether the index knows it.
func (w *looker) name(t task, dir *openFolder, known *folder, name string) bool {
	var now Entry
	if err := dir.stat(name, &now); err != nil {
		return false // gone since the folder was read: missing notes it
	}
	var old *Entry
	if known != nil {
		old = known.names[name]
	}
	path := ""
	if now.Kind == Folder {
		path = filepath.Join(t.dir, name)
		if name == gitDir || slices.Contains(w.s.skip, path) {
			return false
		}
		if t.dev != 0 && now.dev != t.dev {
			w.failed = append(w.failed, LeftOut{Path: path, Why: "it lies on another file system"})
			return false
		}
		if w.s.only == nil || old == nil || old.Kind != Folder {
			w.deeper = append(w.deeper, task{path, now.dev})
		}
	}
	if old != nil && now.same(old) && len(w.s.check) == 0 {
		return true
	}
	if path == "" {
		path = filepath.Join(t.dir, name)
	}
	if old != nil && now.same(old) && !w.s.check[path] {
		return true
	}
	now.Fresh = now.Kind == File && w.s.fresh(now.Ctime)
	ch := Change{Path: osName(path), After: now}
	if old != nil {
		ch.Before = *old
		if old.Kind == Folder && now.Kind != Folder {
			w.gone(path)
		}
	}
	w.found = append(w.found, ch)
	return old != nil
}

func (s *scanner) fresh(ctime int64) bool {
	room := freshFor
	if ctime%int64(time.Second) == 0 {
		room = freshForSlow
	}
	return ctime > s.since.Add(-room).UnixNano()
}

// missing notes the names that are no longer there.
func (w *looker) missing(dir string, known *folder, names []string) {
	here := make(map[string]bool, len(names))
	for _, n := range names {
		here[n] = true
	}
	for name, e := range known.names {
		if here[name] {
			continue
		}
		path := filepath.Join(dir, name)
		if e.Kind == Folder {
			w.gone(path)
		}
		w.found = append(w.found, Change{Path: osName(path), Before: *e})
	}
}

// gone notes everything below a folder that is no longer there.
func (w *looker) gone(dir string) { w.found = append(w.found, w.s.index.below(dir)...) }
