package sandbox

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
)

// Streams are what a command reads and writes. Files are handed over as they
// are, so that a terminal stays one.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Run runs argv confined and waits for it. The code of a command that a signal
// ended is 128 and the signal's number. Signals that reach this process
// meanwhile are the command's.
func (s *Sandbox) Run(argv, env []string, dir string, std Streams) (int, error) {
	argv, env, err := s.Wrap(argv, env)
	if err != nil {
		return 0, err
	}
	cmd := &exec.Cmd{Path: argv[0], Args: argv, Env: env, Dir: dir, Stdin: std.In, Stdout: std.Out, Stderr: std.Err, SysProcAttr: bound()}
	// The kernel ends the command with the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	got := make(chan os.Signal, 16)
	signal.Notify(got, handed...)
	defer signal.Stop(got)
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start the sandbox: %w", err)
	}
	done := make(chan struct{})
	go func() {
		for {
			select {
			case sig := <-got:
				if sig != os.Interrupt { // the keyboard's reaches the command by itself
					_ = cmd.Process.Signal(sig)
				}
			case <-done:
				return
			}
		}
	}()
	err = cmd.Wait()
	close(done)
	if cmd.ProcessState == nil {
		return 0, fmt.Errorf("wait for the sandbox: %w", err)
	}
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), nil
	}
	return cmd.ProcessState.ExitCode(), nil
}
