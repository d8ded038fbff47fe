package search

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// walk visits the files of a tree with several workers. It follows no
// symbolic link and hands on regular files only, so nothing that could block
// (a FIFO, a device) is ever opened.
type walk struct {
	root      string // absolute
	rootLen   int    // of root with a '/' at its end
	selection *selection
	ignore    bool // obey ignore files and leave hidden files out
	hidden    bool // with ignore: hidden files are not left out
	chain     *ignoreDir
	global    *ruleSet
	exclude   func(path string) bool
	skips     *skipList

	mu      sync.Mutex
	ready   sync.Cond
	queue   []walkJob // used as a stack: depth first keeps it short
	pending int       // jobs queued or being worked on
	stopped bool
}

// walkJob is a folder to list, or a batch of files of one.
type walkJob struct {
	dir   string // absolute
	chain *ignoreDir
	files []string // names in dir; nil means that dir is to be listed
}

// fileBatch is how many files of one folder a worker takes at a time, so that
// a flat folder of thousands is shared out too.
const fileBatch = 32

// versionControl lists the folders that no search enters unless it is started
// in them.
var versionControl = map[string]bool{".git": true, ".hg": true, ".svn": true, ".jj": true, ".bzr": true, ".sl": true}

// walkers is the number of workers: file systems answer from the page cache
// or wait, and both profit from more workers than processors.
func walkers() int { return min(2*runtime.GOMAXPROCS(0), 12) }

// run calls visit, from several goroutines, with the absolute path of every
// selected file; worker says which of walkers() calls. It returns when all
// have ended.
func (w *walk) run(ctx context.Context, visit func(worker int, path string)) error {
	w.ready.L = &w.mu
	w.rootLen = len(slashBase(w.root))
	if w.ignore {
		w.chain, w.global = parentChain(w.root), globalRules()
	}
	w.push(walkJob{dir: w.root, chain: w.chain})
	stop := context.AfterFunc(ctx, w.stop)
	defer stop()
	var group sync.WaitGroup
	for i := range walkers() {
		group.Go(func() { w.work(ctx, i, visit) })
	}
	group.Wait()
	return ctx.Err()
}

func (w *walk) push(jobs ...walkJob) {
	w.mu.Lock()
	w.queue = append(w.queue, jobs...)
	w.pending += len(jobs)
	w.mu.Unlock()
	if len(jobs) > 1 {
		w.ready.Broadcast()
	} else {
		w.ready.Signal()
	}
}

func (w *walk) stop() {
	w.mu.Lock()
	w.stopped = true
	w.mu.Unlock()
	w.ready.Broadcast()
}

func (w *walk) pop() (walkJob, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.queue) == 0 && w.pending > 0 && !w.stopped {
		w.ready.Wait()
	}
	if w.stopped || len(w.queue) == 0 {
		return walkJob{}, false
	}
	job := w.queue[len(w.queue)-1]
	w.queue[len(w.queue)-1] = walkJob{}
	w.queue = w.queue[:len(w.queue)-1]
	return job, true
}

func (w *walk) finish() {
	w.mu.Lock()
	w.pending--
	last := w.pending == 0
	w.mu.Unlock()
	if last {
		w.ready.Broadcast()
	}
}

func (w *walk) work(ctx context.Context, worker int, visit func(int, string)) {
	for {
		job, ok := w.pop()
		if !ok {
			return
		}
		if job.files == nil {
			w.list(job)
		}
		for _, name := range job.files {
			if ctx.Err() != nil {
				break
			}
			visit(worker, job.dir+string(filepath.Separator)+name)
		}
		w.finish()
	}
}

// list reads one folder and queues what it holds.
func (w *walk) list(job walkJob) {
	entries, err := readFolder(job.dir)
	if err != nil {
		w.skips.add(job.dir, err)
	}
	dir := strings.TrimSuffix(job.dir, string(filepath.Separator))
	chain := job.chain
	if w.ignore {
		chain = chain.enter(job.dir, func(name string) bool { return hasEntry(entries, name) })
	}
	var jobs []walkJob
	var files []string
	base := slashBase(dir)
	for _, e := range entries {
		if t := e.Type(); !t.IsDir() && !t.IsRegular() || !w.selects(chain, base, e) {
			continue
		}
		path := dir + string(filepath.Separator) + e.Name()
		if w.exclude != nil && w.exclude(path) {
			continue
		}
		if e.IsDir() {
			jobs = append(jobs, walkJob{dir: path, chain: chain})
			continue
		}
		files = append(files, e.Name())
	}
	for len(files) > 0 {
		n := min(len(files), fileBatch)
		jobs = append(jobs, walkJob{dir: dir, files: files[:n]})
		files = files[n:]
	}
	if len(jobs) > 0 {
		w.push(jobs...)
	}
}

func hasEntry(entries []fs.DirEntry, name string) bool {
	for _, e := range entries {
		if e.Name() == name {
			return true
		}
	}
	return false
}

// selects decides in ripgrep's order: globs beat everything; then ignore
// files, then types, of which each can also bring a hidden file back.
func (w *walk) selects(chain *ignoreDir, base string, e fs.DirEntry) bool {
	name, isDir := e.Name(), e.IsDir()
	if versionControl[name] {
		return false
	}
	path := base + name
	rel := path[w.rootLen:]
	if v := w.selection.byGlob(rel, isDir); v != undecided {
		return v == allowed
	}
	back := false
	if w.ignore {
		v := chain.match(path, isDir)
		if v == undecided && w.global != nil && chain.inRepo() {
			v = w.global.match(rel, isDir)
		}
		if v == ignored {
			return false
		}
		back = v == allowed
	}
	switch w.selection.byType(name, isDir) {
	case ignored:
		return false
	case allowed:
		back = true
	case undecided:
	}
	return back || !w.ignore || w.hidden || !strings.HasPrefix(name, ".")
}

// readFolder lists dir in no particular order. What could be read before an
// error is returned with it.
func readFolder(dir string) ([]fs.DirEntry, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

// Skip is a file or folder that a search had to leave out.
type Skip struct {
	Path string
	Err  error
}

// maxSkips bounds how many skips are kept with their paths.
const maxSkips = 20

type skipList struct {
	mu    sync.Mutex
	kept  []Skip
	total int
}

// add records a skip. A file that has vanished meanwhile is none.
func (l *skipList) add(path string, err error) {
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err // the path is in Skip already
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.total++; len(l.kept) < maxSkips {
		l.kept = append(l.kept, Skip{path, err})
	}
}
