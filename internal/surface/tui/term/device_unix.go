//go:build !windows

package term

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

const windowsConsole = false

// deviceName tells terminals apart, "" where that is impossible.
func deviceName(f *os.File) string {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return ""
	}
	return fmt.Sprintf("%x", uint64(st.Rdev))
}

// prepareOutput has nothing to do: a terminal understands escape sequences.
func prepareOutput(*os.File) error { return nil }

// signals are those that concern a terminal.
type signals struct{ ch chan os.Signal }

func watchSignals() *signals {
	s := &signals{make(chan os.Signal, 8)}
	signal.Notify(s.ch, syscall.SIGWINCH, syscall.SIGTSTP, syscall.SIGCONT, syscall.SIGHUP)
	return s
}

func (s *signals) stop() { signal.Stop(s.ch) }

func (s *signals) kind(sig os.Signal) sigKind {
	switch sig {
	case syscall.SIGTSTP:
		return sigStop
	case syscall.SIGCONT:
		return sigGo
	case syscall.SIGHUP:
		return sigGone
	}
	return sigSize
}

// stopSelf stops this process as the signal would have, had nobody asked for it.
func stopSelf() { _ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) }

// Suspend stops hew and whatever runs with it in the foreground, as Ctrl+Z does,
// until the shell continues them.
func (t *Term) Suspend() error {
	if sid, err := unix.Getsid(0); err == nil && sid == os.Getpid() {
		return errors.New("suspend hew: no shell started it that could continue it")
	}
	if err := syscall.Kill(0, syscall.SIGTSTP); err != nil {
		return fmt.Errorf("suspend hew: %w", err)
	}
	return nil
}
