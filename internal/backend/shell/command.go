package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// OnTimeout says what happens to a command that reaches its Timeout.
type OnTimeout int

const (
	// Kill ends the whole process tree: SIGTERM, then SIGKILL.
	Kill OnTimeout = iota
	// Detach lets the same process run on as a Job.
	Detach
)

// Command is one command line for the shell.
type Command struct {
	// Text is run by the shell as one script; it may hold several lines.
	Text string
	// Dir is the absolute working directory.
	Dir string
	// Env is laid over the inherited environment.
	Env map[string]string
	// HideSecrets keeps keys of model providers out of the inherited
	// environment (CLAUDE_CODE_SUBPROCESS_ENV_SCRUB). Env still wins.
	HideSecrets bool
	// Sources are scripts that the shell reads before Text, in order; those
	// which cannot be read are skipped (CLAUDE_ENV_FILE and its like).
	Sources []string
	// Timeout of 0 means none. A Job is killed by it, whatever OnTimeout says.
	Timeout   time.Duration
	OnTimeout OnTimeout
	// DetachLimit is how long a detached command may go on before it is
	// killed; 0 means until Stop or Close.
	DetachLimit time.Duration
	// Leave lets the command run on as a Job when it is closed. Optional.
	Leave <-chan struct{}
	// OutputFile gets stdout and stderr, merged in order. It is an absolute
	// path of a file that does not exist yet. Empty: a file in the Runner's
	// output folder. The caller removes the file when it is of no more use.
	OutputFile string
	// Progress, when set, is called at most once per Config.ProgressEvery,
	// never after Run has returned, and not for a Job. It must not block.
	Progress func(Progress)
	// Unconfined leaves Config.Wrap out.
	Unconfined bool
}

// Progress is a look at a running command.
type Progress struct {
	Elapsed time.Duration
	Size    int64  // bytes of output so far
	Tail    string // last lines of it, sanitised, at most five
}

// Outcome is how a command ended, or that it goes on in the background.
type Outcome struct {
	// ExitCode is the shell's; 128+n when signal n ended the shell, -1 when
	// there is none (never started because ctx was done, or detached).
	ExitCode int
	// Signal is the name of the signal that ended the shell ("SIGTERM"), else
	// empty. A command inside the shell that died by a signal shows only as
	// exit code 128+n, as in any shell.
	Signal string
	// Cwd is the physical path of the shell's directory at its end; it is
	// Command.Dir when unknown (killed, exec'ed away, directory removed).
	Cwd        string
	OutputFile string
	Size       int64 // bytes in OutputFile
	Took       time.Duration

	TimedOut    bool // reached its Timeout: killed, or see Detached
	Interrupted bool // ctx was cancelled, or the Runner closed
	Overflow    bool // killed for writing more than Config.MaxOutput
	// Detached is the Job that the command became.
	Detached *Job
	// Left lists what the command started and left running behind the shell.
	// On Windows it is always empty.
	Left []Process
	// OutputErr says that output was lost on its way to the file (disk full);
	// the command itself was not disturbed.
	OutputErr error
}

// Process is a running process of the system.
type Process struct {
	PID  int
	Name string // as the kernel abbreviates it
}

// Run runs one command and returns when its shell ends: not later, even if
// processes in the background hold on to the output. Cancelling ctx kills
// the whole tree and gives an Outcome with Interrupted; an error means that
// the command did not run (or, after a kill, that it could not be ended).
func (r *Runner) Run(ctx context.Context, c Command) (Outcome, error) {
	if ctx.Err() != nil {
		return Outcome{ExitCode: -1, Cwd: c.Dir, Interrupted: true}, nil
	}
	id := r.cfg.NewID()
	p, err := r.start(ctx, c, id, c.Progress)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return Outcome{ExitCode: -1, Cwd: c.Dir, Interrupted: true}, nil
	}
	if err != nil {
		return Outcome{}, err
	}
	defer p.silence()
	select {
	case <-p.exited:
	case <-p.abandoned:
	case <-ctx.Done():
		err = p.kill(CauseInterrupt)
	case <-r.after(c.Timeout):
		if p.ended() {
			break
		}
		if c.OnTimeout == Detach {
			out := r.detach(p, c, id)
			out.TimedOut = true
			return out, nil
		}
		err = p.kill(CauseTimeout)
	case <-c.Leave:
		if !p.ended() {
			return r.detach(p, c, id), nil
		}
	}
	if err != nil {
		return Outcome{}, err
	}
	return p.outcome(c)
}

// Start runs a command in the background from its beginning. ctx bounds only
// the start. The Job ends by itself, by its Timeout, by Stop or by Close.
func (r *Runner) Start(ctx context.Context, c Command) (*Job, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	id := r.cfg.NewID()
	j := newJob(id, c.Text, r.cfg.Clock)
	p, err := r.start(ctx, c, id, nil)
	if err != nil {
		return nil, err
	}
	r.adopt(j, p, c.Timeout)
	return j, nil
}

// after is a timer, or nil (which never fires) when there is no limit.
func (r *Runner) after(d time.Duration) <-chan time.Time {
	if d <= 0 {
		return nil
	}
	return r.cfg.Clock.After(d)
}

func (r *Runner) detach(p *process, c Command, id string) Outcome {
	p.silence()
	j := newJob(id, c.Text, r.cfg.Clock)
	j.status.Started = p.began
	r.adopt(j, p, c.DetachLimit)
	return Outcome{
		ExitCode: -1, Cwd: c.Dir, OutputFile: p.outPath, Size: p.stdout.size(), Took: p.took(),
		Detached: j,
	}
}

// start makes the process of a command: script, environment, output file.
func (r *Runner) start(ctx context.Context, c Command, id string, progress func(Progress)) (*process, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	snap, err := r.snapshotPath(ctx)
	if err != nil {
		return nil, err
	}
	path, file, err := r.openOutput(c.OutputFile, id)
	if err != nil {
		return nil, err
	}
	l := launch{
		env: c.Env, hide: c.HideSecrets, dir: c.Dir, unconfined: c.Unconfined, outPath: path, progress: progress,
	}
	p, err := r.startInto(file, l, c, id, snap)
	if err != nil {
		_ = os.Remove(path) // empty: nothing ran
		return nil, err
	}
	return p, nil
}

func (r *Runner) startInto(file *os.File, l launch, c Command, id, snap string) (_ *process, err error) {
	defer func() {
		if err != nil {
			l.drop()
		}
	}()
	if l.stdout, err = newCapture(file, r.cfg.MaxOutput); err != nil {
		return nil, err
	}
	l.stderr, l.over = l.stdout, l.stdout.over
	k := shellKind(r.Shell())
	if l.where, err = newCwdProbe(&r.scratch, id, k); err != nil {
		return nil, err
	}
	text, err := r.spill(id, script(k, c, snap, l.where.sink()))
	if err != nil {
		return nil, err
	}
	l.argv = []string{r.Shell(), "-c", text}
	return r.launch(l)
}

func (c Command) check() error {
	if strings.ContainsRune(c.Text, 0) {
		return errors.New("the command holds a NUL byte, which no shell accepts: write it as an escape such as \\0")
	}
	return checkDir(c.Dir)
}

func checkDir(dir string) error {
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("working directory %q is not an absolute path", dir)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("enter the working directory of the command: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("working directory %s is not a folder", dir)
	}
	return nil
}

// openOutput makes the output file. It appends, and refuses a file that is
// already there: never write through what somebody else has put in place.
func (r *Runner) openOutput(path, id string) (string, *os.File, error) {
	if path == "" {
		dir := r.cfg.OutputDir
		if dir == "" {
			var err error
			if dir, err = r.scratch.dir(); err != nil {
				return "", nil, err
			}
		} else if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", nil, fmt.Errorf("make the folder of command output: %w", err)
		}
		path = filepath.Join(dir, id+".output")
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", nil, fmt.Errorf("open the output file of the command: %w", err)
	}
	return path, f, nil
}

// maxScript is the longest script that goes on the command line: Linux refuses
// a single argument of 128 KiB.
const maxScript = 96 << 10

// spill moves a long script into a file and returns one that reads it.
func (r *Runner) spill(id, text string) (string, error) {
	if len(text) <= maxScript {
		return text, nil
	}
	path, err := r.scratch.write(id+".sh", []byte(text))
	if err != nil {
		return "", err
	}
	return ". " + Quote(slashed(path)), nil
}
