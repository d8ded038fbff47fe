package shell

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// defaultProgramOutput bounds what is kept of a program's output, in bytes.
const defaultProgramOutput = 1 << 20

// Program is a helper that hew runs for itself: a hook, a key helper, git.
// Its two outputs are kept apart and in memory.
type Program struct {
	// Argv is the program, by absolute path (see LookPath), and its arguments.
	// A shell line is {runner.Shell(), "-c", line}.
	Argv []string
	// Dir is the absolute working directory.
	Dir string
	// Env and HideSecrets are those of Command.
	Env         map[string]string
	HideSecrets bool
	// Stdin is what the program reads; nil is empty input.
	Stdin []byte
	// Timeout of 0 means none; after it the tree is killed.
	Timeout time.Duration
	// MaxOutput is how many bytes of each output are kept; the rest is thrown
	// away without disturbing the program. 0: 1 MiB.
	MaxOutput int64
	// Unconfined leaves Config.Wrap out.
	Unconfined bool
	// Tidy tells that the program is known to leave no process behind: when it
	// has ended, the process table is not searched for any.
	Tidy bool
}

// Result is how a Program ended; ExitCode and Signal are those of Outcome.
type Result struct {
	Stdout, Stderr []byte
	ExitCode       int
	Signal         string
	Took           time.Duration
	Truncated      bool // an output was longer than MaxOutput
	TimedOut       bool
	Interrupted    bool // ctx was cancelled, or the Runner closed
}

// Exec runs a program and returns when it has ended, not when its inherited
// outputs close. Cancelling ctx kills the whole tree; an error means that it
// did not run.
func (r *Runner) Exec(ctx context.Context, prog Program) (Result, error) {
	if ctx.Err() != nil {
		return Result{ExitCode: -1, Interrupted: true}, nil
	}
	if err := checkDir(prog.Dir); err != nil {
		return Result{}, err
	}
	if prog.MaxOutput <= 0 {
		prog.MaxOutput = defaultProgramOutput
	}
	dir, err := r.programDir()
	if err != nil {
		return Result{}, err
	}
	defer os.RemoveAll(dir)
	p, err := r.startProgram(prog, dir)
	if err != nil {
		return Result{}, err
	}
	select {
	case <-p.exited:
	case <-p.abandoned:
	case <-ctx.Done():
		err = p.kill(CauseInterrupt)
	case <-r.after(prog.Timeout):
		err = p.kill(CauseTimeout)
	}
	if err != nil {
		return Result{}, err
	}
	return p.result(prog, dir)
}

// programDir holds the streams of one program while it runs.
func (r *Runner) programDir() (string, error) {
	root, err := r.scratch.dir()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(root, "run-")
	if err != nil {
		return "", fmt.Errorf("make a folder for program output: %w", err)
	}
	return dir, nil
}

func (r *Runner) startProgram(prog Program, dir string) (_ *process, err error) {
	l := launch{argv: prog.Argv, env: prog.Env, hide: prog.HideSecrets, dir: prog.Dir, unconfined: prog.Unconfined, tidy: prog.Tidy}
	defer func() {
		if err != nil {
			l.drop()
		}
	}()
	if l.stdout, err = captureIn(dir, "out", prog.MaxOutput); err != nil {
		return nil, err
	}
	if l.stderr, err = captureIn(dir, "err", prog.MaxOutput); err != nil {
		return nil, err
	}
	if prog.Stdin != nil {
		if l.stdin, err = inputFile(filepath.Join(dir, "in"), prog.Stdin); err != nil {
			return nil, err
		}
		defer l.stdin.Close()
	}
	return r.launch(l)
}

func captureIn(dir, name string, limit int64) (*capture, error) {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make a file for program output: %w", err)
	}
	return newCapture(f, limit+1) // one more byte tells that there was more
}

// inputFile gives input as a file, not a pipe: nobody has to feed it, and a
// program that does not read it does no harm.
func inputFile(path string, b []byte) (*os.File, error) {
	if err := os.WriteFile(path, b, 0o600); err != nil {
		return nil, fmt.Errorf("write the input of a program: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the input of a program: %w", err)
	}
	return f, nil
}

func (p *process) result(prog Program, dir string) (Result, error) {
	cause := p.endCause()
	if !p.ended() {
		return Result{}, errStubborn
	}
	res := Result{
		ExitCode: p.code, Signal: p.signal, Took: p.took(), TimedOut: cause == CauseTimeout,
		Interrupted: cause == CauseInterrupt || cause == CauseStopped,
	}
	for name, to := range map[string]*[]byte{"out": &res.Stdout, "err": &res.Stderr} {
		b, err := readUpTo(filepath.Join(dir, name), prog.MaxOutput+1)
		if err != nil {
			return Result{}, err
		}
		if int64(len(b)) > prog.MaxOutput {
			b, res.Truncated = b[:prog.MaxOutput], true
		}
		*to = b
	}
	return res, nil
}

func readUpTo(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read program output: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		return nil, fmt.Errorf("read program output: %w", err)
	}
	return b, nil
}
