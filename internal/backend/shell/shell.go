// Package shell holds process groups, output spill, background jobs, cwd capture.
//
// Every command is a fresh process in a session (and so a process group) of
// its own, without a terminal and with an empty stdin. What one command can
// leave behind is found again by three marks: parent links, the session id,
// and a tag in the environment (see target). The tag is why hew does not make
// itself a child subreaper: that switch is process-wide, it would hand hew
// every orphan of every program it runs, and a Go program cannot wait for "any
// child" without racing os/exec. What escapes all three marks at once (a
// daemon started under a cleared environment) is not found.
//
// When hew itself is killed, a reaper that was started beside the first command
// ends all that the marks find (see ReaperArg); Windows ends the whole job
// object. Programs that hew knows to be tidy, and Runners without a reaper, have
// on Linux the kernel's parent-death signal for the shell (sent from a thread
// that lives as long as the Runner, because the signal is bound to the thread
// that forked); what the shell started loses the reader of its output pipe.
package shell

import (
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

const (
	// MaxOutput is the size in bytes at which a command is killed for what it
	// writes (loop.md §5: 5 GB).
	MaxOutput int64 = 5 << 30
	// MaxSaved is the largest saved copy of an output, in bytes (loop.md §5).
	MaxSaved int64 = 64 << 20

	defaultGrace         = time.Second
	defaultProgressEvery = 500 * time.Millisecond
	defaultSnapshotLimit = 5 * time.Second
	// killLimit bounds the wait after SIGKILL; with the default grace it keeps
	// a kill under two seconds even when a process cannot die (disk sleep).
	killLimit = 800 * time.Millisecond
)

// ErrClosed is returned for work given to a closed Runner.
var ErrClosed = errors.New("shell: closed")

// Clock is the time source of a Runner.
type Clock interface {
	Now() time.Time
	After(d time.Duration) <-chan time.Time
}

type wallClock struct{}

func (wallClock) Now() time.Time                         { return time.Now() }
func (wallClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// Wrap turns the argv and environment of a child into those of a confined one.
// argv[0] is an absolute path and must be one in the answer. An error refuses
// the start: a command that cannot be confined does not run. On Unix the
// wrapper must hand inherited descriptors on, or the working directory of the
// command is not seen (it then counts as unchanged).
type Wrap func(argv, env []string) ([]string, []string, error)

// Config is what a Runner needs; the zero value works.
type Config struct {
	// Shell is the absolute path of the wanted shell (CLAUDE_CODE_SHELL); when
	// empty or unusable bash is looked for, then /bin/sh.
	Shell string
	// NoSnapshot leaves the user's interactive start-up file unread.
	NoSnapshot bool
	// Env is the environment that children inherit; nil means hew's own, taken
	// when New is called.
	Env []string
	// OutputDir holds output files of commands which name none. It must not be
	// inside a folder that the model may write. Empty: a private temporary
	// folder that Close removes.
	OutputDir string
	// Reaper is the argv, by absolute path, of a program that calls Reap (see
	// ReaperCommand). Nil leaves only the platform's own means against commands
	// that outlive a killed hew.
	Reaper []string
	// Wrap confines every child unless its Command or Program says Unconfined.
	Wrap Wrap
	// Notice is told once about each thing that was left out (an unusable
	// shell, a start-up file that could not be read). It may be called from
	// several goroutines.
	Notice func(text string)
	// NewID makes job ids; they must be unique in a session and fit a file
	// name. Nil: "b" and eight random letters or digits.
	NewID func() string
	// Clock drives timeouts and progress. Nil: the wall clock.
	Clock Clock
	// Grace is the time between SIGTERM and SIGKILL. 0: one second.
	Grace time.Duration
	// ProgressEvery is the least time between two progress reports of one
	// command. 0: half a second.
	ProgressEvery time.Duration
	// SnapshotTimeout bounds the reading of the start-up file. 0: 5 s.
	SnapshotTimeout time.Duration
	// MaxOutput overrides the constant of that name. 0: the constant.
	MaxOutput int64
}

// Runner starts commands and owns everything that they leave behind. It is
// safe for concurrent use. Its zero value is not usable; see New.
type Runner struct {
	cfg    Config
	tag    string // first part of every child's tag
	shell  func() string
	spawn  spawner
	reaper reaper
	// unreaped is done once the user knows that there is no reaper.
	unreaped sync.Once
	wg       sync.WaitGroup
	scratch  scratch

	snapshot snapshot

	mu        sync.Mutex
	closed    bool
	ended     chan struct{} // Close has done its work
	serial    int
	begun     bool                  // a process was started:
	first     procID                // the first one
	untidy    bool                  // one that was started may have left others behind
	active    map[*process]struct{} // shell not yet reaped
	lingering map[*process]struct{} // shell ended, its platform handle is still needed
	captures  map[*capture]struct{} // still collecting, maybe for leftovers
	jobs      []*Job                // in order of start
}

// New makes a Runner. It starts nothing and touches no file: the shell is
// looked up, and the start-up file read, when the first command comes.
func New(cfg Config) *Runner {
	if cfg.Env == nil {
		cfg.Env = os.Environ()
	}
	if cfg.Notice == nil {
		cfg.Notice = func(string) {}
	}
	if cfg.NewID == nil {
		cfg.NewID = randomID
	}
	if cfg.Clock == nil {
		cfg.Clock = wallClock{}
	}
	cfg.Grace = orDefault(cfg.Grace, defaultGrace)
	cfg.ProgressEvery = orDefault(cfg.ProgressEvery, defaultProgressEvery)
	cfg.SnapshotTimeout = orDefault(cfg.SnapshotTimeout, defaultSnapshotLimit)
	cfg.MaxOutput = orDefault(cfg.MaxOutput, MaxOutput)
	r := &Runner{
		cfg:       cfg,
		tag:       rand.Text()[:12] + ".",
		ended:     make(chan struct{}),
		active:    map[*process]struct{}{},
		lingering: map[*process]struct{}{},
		captures:  map[*capture]struct{}{},
		snapshot:  snapshot{turn: make(chan struct{}, 1)},
	}
	r.reaper.argv, r.reaper.tag = cfg.Reaper, r.tag
	r.shell = sync.OnceValue(func() string { return findShell(cfg) })
	return r
}

func orDefault[T ~int64](v, def T) T {
	if v <= 0 {
		return def
	}
	return v
}

// Shell is the absolute path of the shell that commands run in.
func (r *Runner) Shell() string { return r.shell() }

// Close ends every process that the Runner started and that can be found, and
// returns within about two seconds. Work that is under way is reported as
// killed; later work gets ErrClosed. The private folder with output files is
// removed. Close may be called more than once.
func (r *Runner) Close() error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		<-r.ended
		return nil
	}
	r.closed = true
	procs := append(slices.Collect(maps.Keys(r.active)), slices.Collect(maps.Keys(r.lingering))...)
	search := r.untidy || len(procs) > 0
	first := r.first
	r.mu.Unlock()
	defer close(r.ended)
	var stubborn error
	if search {
		for _, p := range procs {
			p.setCause(CauseStopped)
		}
		stubborn = terminate(target{roots: procs, tag: r.tag, oldest: first}, r.cfg.Grace, killLimit)
		r.closeCaptures()
	}
	if stubborn == nil {
		r.wg.Wait()
	}
	for _, p := range procs {
		if stubborn != nil { // a goroutine waits for what cannot die: leave it behind
			p.abandon()
		}
		p.sys.close()
	}
	r.spawn.stop()
	r.reaper.stop()
	return errors.Join(stubborn, r.scratch.remove())
}

// closeCaptures ends the collectors of processes which no longer exist (or
// could not be ended: those lose their reader).
func (r *Runner) closeCaptures() {
	r.mu.Lock()
	captures := slices.Collect(maps.Keys(r.captures))
	r.mu.Unlock()
	for _, c := range captures {
		c.close()
	}
}

func (r *Runner) forget(p *process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.active, p)
	if p.sys.lingers() {
		r.lingering[p] = struct{}{}
		return
	}
	p.sys.close()
}

func (r *Runner) forgetCapture(c *capture) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.captures, c)
}

// nextTag marks one command; the dots keep one tag from being the prefix of
// another.
func (r *Runner) nextTag() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.serial++
	return fmt.Sprintf("%s%d.", r.tag, r.serial)
}

const idLetters = "0123456789abcdefghijklmnopqrstuvwxyz"

func randomID() string {
	var raw [8]byte
	_, _ = rand.Read(raw[:]) // crypto/rand.Read never fails: it ends the program
	id := []byte{'b'}
	for _, b := range raw {
		id = append(id, idLetters[int(b)%len(idLetters)])
	}
	return string(id)
}

// scratch is a private folder that exists from its first use to Close.
type scratch struct {
	mu   sync.Mutex
	path string
}

func (s *scratch) dir() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.path != "" {
		return s.path, nil
	}
	path, err := os.MkdirTemp("", "hew-shell-")
	if err != nil {
		return "", fmt.Errorf("make a folder for command output: %w", err)
	}
	s.path = path
	return path, nil
}

func (s *scratch) write(name string, text []byte) (string, error) {
	dir, err := s.dir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return "", fmt.Errorf("write a helper file of the shell: %w", err)
	}
	return path, nil
}

func (s *scratch) remove() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.path == "" {
		return nil
	}
	path := s.path
	s.path = ""
	if err := os.RemoveAll(path); err != nil {
		return fmt.Errorf("remove the folder of command output: %w", err)
	}
	return nil
}
