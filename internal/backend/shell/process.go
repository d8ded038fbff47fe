package shell

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// Cause says why hew ended a process.
type Cause string

const (
	CauseNone      Cause = ""          // it ended by itself
	CauseTimeout   Cause = "timeout"   // its time was over
	CauseInterrupt Cause = "interrupt" // the caller's context was cancelled
	CauseStopped   Cause = "stopped"   // Stop or Close
	CauseOverflow  Cause = "overflow"  // it wrote more than MaxOutput
)

// target is a set of processes: the roots, their descendants, their sessions,
// and whatever carries the tag in its environment (so also what left the
// session and lost its parent).
type target struct {
	roots []*process
	tag   string // every tag that begins with it
	// oldest is the first process that was started for the target: what is
	// older than it is not asked for its tag.
	oldest procID
}

// launch is what a new process is made of.
type launch struct {
	argv           []string
	env            map[string]string
	hide           bool
	dir            string
	unconfined     bool
	tidy           bool            // see Program.Tidy
	stdin          *os.File        // nil: empty
	pipe           *os.File        // standard output, when it does not go to stdout
	stdout, stderr *capture        // the same one when merged
	over           <-chan struct{} // kills the process when closed
	where          *cwdProbe       // nil: not asked
	outPath        string
	progress       func(Progress)
}

// process is one started program with its tree.
type process struct {
	r              *Runner
	cmd            *exec.Cmd
	id             procID
	tag            string
	sys            sysProcess
	tidy           bool
	reaped         bool // the reaper is to know of it
	stdout, stderr *capture
	where          *cwdProbe
	outPath        string
	over           <-chan struct{}
	began          time.Time

	exited    chan struct{} // shell reaped and its output in the file; what follows is then fixed
	code      int
	signal    string
	cwd       string
	left      []Process
	leftIDs   []procID // the same, safe against reused pids
	endedAt   time.Time
	abandoned chan struct{} // nobody waits any longer: it cannot be ended
	giveUp    sync.Once

	killing sync.Mutex // held while the tree is being ended
	mu      sync.Mutex
	cause   Cause

	reporting sync.Mutex
	progress  func(Progress)
}

// launch starts a process and the two goroutines that look after it.
func (r *Runner) launch(l launch) (*process, error) {
	tag := r.nextTag()
	argv, env := l.argv, childEnv(r.cfg.Env, envOverlay{set: l.env, dir: l.dir, tag: tag, hideSecrets: l.hide})
	if r.cfg.Wrap != nil && !l.unconfined {
		var err error
		if argv, env, err = r.cfg.Wrap(argv, env); err != nil {
			return nil, fmt.Errorf("confine the command: %w", err)
		}
	}
	if len(argv) == 0 || !filepath.IsAbs(argv[0]) {
		return nil, fmt.Errorf("start %q: a program must be named by its absolute path", argv)
	}
	cmd := &exec.Cmd{Path: argv[0], Args: argv, Env: env, Dir: l.dir, Stdout: l.stdout.child(), Stderr: l.stderr.child()}
	if l.stdin != nil {
		cmd.Stdin = l.stdin
	}
	if l.pipe != nil {
		cmd.Stdout = l.pipe
	}
	reaped := !l.tidy && r.reaped()
	cmd.SysProcAttr = sysProcAttr(reaped)
	l.where.attach(cmd)
	p := &process{
		r: r, cmd: cmd, tag: tag, tidy: l.tidy, reaped: reaped, stdout: l.stdout, stderr: l.stderr, where: l.where, outPath: l.outPath,
		over: l.over, cwd: l.dir, progress: l.progress, exited: make(chan struct{}), abandoned: make(chan struct{}),
	}
	if err := r.launchLocked(p); err != nil {
		return nil, fmt.Errorf("start %s in %s: %w", argv[0], l.dir, err)
	}
	return p, nil
}

// reaped tells whether a reaper stands by for the next process. Without one
// only the platform's own means remain, which the user is told.
func (r *Runner) reaped() bool {
	err := r.reaper.ready()
	if err != nil && !errors.Is(err, errNoReaper) {
		r.unreaped.Do(func() {
			r.cfg.Notice(fmt.Sprintf("%v; should hew be killed, commands that never write may outlive it", err))
		})
	}
	return err == nil
}

// launchLocked forks under the lock, so that Close sees either no process or
// a whole one.
func (r *Runner) launchLocked(p *process) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	p.began = r.cfg.Clock.Now()
	if err := r.spawn.start(p.cmd); err != nil {
		return err
	}
	p.id = identify(p.cmd.Process.Pid)
	if p.reaped {
		r.reaper.watch(p.id)
	}
	p.sys.adopt(p.cmd.Process.Pid)
	p.where.started()
	r.active[p] = struct{}{}
	if !r.begun {
		r.begun, r.first = true, p.id
	}
	r.untidy = r.untidy || !p.tidy
	for _, c := range p.captures() {
		r.captures[c] = struct{}{}
		r.wg.Go(func() {
			c.collect()
			r.forgetCapture(c)
		})
	}
	r.wg.Go(p.wait)
	r.wg.Go(p.watch)
	return nil
}

// drop frees what a failed start leaves open.
func (l launch) drop() {
	l.stdout.drop()
	if l.stderr != l.stdout {
		l.stderr.drop()
	}
	l.where.drop()
}

func (p *process) captures() []*capture {
	if p.stdout == p.stderr {
		return []*capture{p.stdout}
	}
	return []*capture{p.stdout, p.stderr}
}

// wait reaps the shell and fixes the result.
func (p *process) wait() {
	err := p.cmd.Wait()
	p.code, p.signal = exitOf(p.cmd.ProcessState, err)
	for _, c := range p.captures() {
		c.settle()
	}
	p.cwd = p.where.read(p.cwd)
	if !p.tidy {
		p.left, p.leftIDs = leftovers(p)
	}
	if p.reaped {
		p.r.reaper.ended(p.id, p.leftIDs)
	}
	p.endedAt = p.r.cfg.Clock.Now()
	p.r.forget(p)
	close(p.exited)
}

// watch reports progress and stops a process that writes too much.
func (p *process) watch() {
	every := p.r.cfg.ProgressEvery
	tick := p.r.cfg.Clock.After(every)
	over := p.over
	for {
		select {
		case <-p.exited:
			return
		case <-p.abandoned:
			return
		case <-over:
			over = nil
			_ = p.kill(CauseOverflow) // a failure abandons the process, which Run reports
		case <-tick:
			p.stdout.poll()
			p.report()
			tick = p.r.cfg.Clock.After(every)
		}
	}
}

func (p *process) report() {
	p.reporting.Lock()
	defer p.reporting.Unlock()
	if p.progress == nil {
		return
	}
	p.progress(Progress{Elapsed: p.took(), Size: p.stdout.size(), Tail: tailLines(p.outPath, 5)})
}

// silence ends progress reports; one that is under way is waited for.
func (p *process) silence() {
	p.reporting.Lock()
	defer p.reporting.Unlock()
	p.progress = nil
}

func (p *process) ended() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

func (p *process) took() time.Duration {
	if p.ended() {
		return p.endedAt.Sub(p.began)
	}
	return p.r.cfg.Clock.Now().Sub(p.began)
}

// setCause notes the first reason for ending a process that still runs.
func (p *process) setCause(c Cause) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cause == CauseNone && !p.ended() {
		p.cause = c
	}
}

// kill ends the whole tree and returns when it is gone, also when the shell
// had ended before and only leftovers remain.
func (p *process) kill(c Cause) error {
	p.killing.Lock()
	defer p.killing.Unlock()
	p.setCause(c)
	err := terminate(target{roots: []*process{p}, tag: p.tag, oldest: p.id}, p.r.cfg.Grace, killLimit)
	if err != nil {
		p.abandon()
		return err
	}
	<-p.exited
	return nil
}

func (p *process) abandon() {
	if !p.ended() {
		p.giveUp.Do(func() { close(p.abandoned) })
	}
}

// endCause waits for a kill that is under way and tells its reason.
func (p *process) endCause() Cause {
	p.killing.Lock()
	defer p.killing.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cause
}

var errStubborn = errors.New("some processes of the command did not end after SIGKILL; look for them with ps")

func (p *process) outcome(c Command) (Outcome, error) {
	cause := p.endCause()
	if !p.ended() {
		return Outcome{}, errStubborn
	}
	o := Outcome{
		ExitCode: p.code, Signal: p.signal, Cwd: p.cwd, OutputFile: p.outPath, Size: p.stdout.size(),
		Took: p.took(), Left: p.left, OutputErr: p.stdout.lost(),
		TimedOut: cause == CauseTimeout, Overflow: cause == CauseOverflow,
		Interrupted: cause == CauseInterrupt || cause == CauseStopped,
	}
	if cause != CauseNone {
		o.Cwd, o.Left = c.Dir, nil
	}
	return o, nil
}
