package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Server is a program that runs beside the session and talks with hew over its
// standard streams, such as an MCP server.
type Server struct {
	// Argv is the program, by absolute path (see LookPath), and its arguments.
	Argv []string
	// Dir is the absolute working directory.
	Dir string
	// Env and HideSecrets are those of Command.
	Env         map[string]string
	HideSecrets bool
	// Unconfined leaves Config.Wrap out.
	Unconfined bool
	// MaxErrors is how many bytes of its standard error are kept; the rest is
	// thrown away without disturbing it. 0: 1 MiB.
	MaxErrors int64
}

// Served is a running Server. Its tree is ended by Stop, by the Runner's Close,
// and, when hew is killed, by the reaper, however deep the wrappers are.
type Served struct {
	// Stdin and Stdout are hew's ends of the program's streams. Closing Stdin
	// asks a polite server to end.
	Stdin, Stdout *os.File

	p *process
}

// Serve starts a program. ctx bounds only the start.
func (r *Runner) Serve(ctx context.Context, s Server) (*Served, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := checkDir(s.Dir); err != nil {
		return nil, err
	}
	if s.MaxErrors <= 0 {
		s.MaxErrors = defaultProgramOutput
	}
	dir, err := r.programDir()
	if err != nil {
		return nil, err
	}
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make the input pipe of a server: %w", err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		_, _ = inR.Close(), inW.Close()
		return nil, fmt.Errorf("make the output pipe of a server: %w", err)
	}
	p, err := r.startServer(s, dir, inR, outW)
	_, _ = inR.Close(), outW.Close() // the program's ends
	if err != nil {
		_, _, _ = inW.Close(), outR.Close(), os.RemoveAll(dir)
		return nil, err
	}
	return &Served{Stdin: inW, Stdout: outR, p: p}, nil
}

func (r *Runner) startServer(s Server, dir string, in, out *os.File) (*process, error) {
	errs, err := captureIn(dir, "err", s.MaxErrors)
	if err != nil {
		return nil, err
	}
	l := launch{
		argv: s.Argv, env: s.Env, hide: s.HideSecrets, dir: s.Dir, unconfined: s.Unconfined,
		stdin: in, pipe: out, stdout: errs, stderr: errs, outPath: filepath.Join(dir, "err"),
	}
	p, err := r.launch(l)
	if err != nil {
		l.drop()
		return nil, err
	}
	return p, nil
}

// PID is the number of the program that was started, which may be a wrapper.
func (s *Served) PID() int { return s.p.id.pid }

// Done is closed when the program that was started has ended.
func (s *Served) Done() <-chan struct{} { return s.p.exited }

// Exit is how the program ended: its exit code, 128+n after signal n, whose
// name is then the second. It may be asked once Done is closed.
func (s *Served) Exit() (int, string) {
	<-s.p.exited
	return s.p.code, s.p.signal
}

// Errors is what the program wrote to its standard error so far, at most the
// last limit bytes of what is kept.
func (s *Served) Errors(limit int64) ([]byte, error) {
	size := s.p.stderr.size()
	c, err := ReadChunk(s.p.outPath, max(0, size-limit), int(limit))
	if err != nil {
		return nil, err
	}
	return c.Data, nil
}

// Stop ends the program's whole tree and returns when it is gone, within about
// two seconds, and frees the streams. It may be called more than once.
func (s *Served) Stop() error {
	err := s.p.kill(CauseStopped)
	for _, f := range []*os.File{s.Stdin, s.Stdout} {
		if e := f.Close(); e != nil && !errors.Is(e, os.ErrClosed) {
			err = errors.Join(err, e)
		}
	}
	if err != nil {
		return fmt.Errorf("stop the server %s: %w", filepath.Base(s.p.cmd.Path), err)
	}
	return nil
}
