package app

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// signalled is the cancellation cause of a signal.
type signalled struct {
	name   string
	number int
}

func (s *signalled) Error() string { return "stopped by " + s.name }

// signals makes TERM, INT and HUP end the run softly: children gone, transcript
// whole. A second signal ends the process at once. A vanished reader of the
// output is an ordinary write error, not a signal.
func signals(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	// Asking for SIGPIPE, and not ignoring it, turns it into an error of the
	// write without handing an ignored signal down to every child.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ch := make(chan os.Signal, 2)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		select {
		case s := <-ch:
			cancel(cause(s))
		case <-done:
			return
		}
		select {
		case s := <-ch:
			os.Exit(128 + cause(s).number)
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(ch)
		close(done)
		cancel(nil)
	}
}

func cause(s os.Signal) *signalled {
	n, ok := s.(syscall.Signal)
	if !ok {
		return &signalled{s.String(), 2}
	}
	return &signalled{fmt.Sprintf("signal %d (%s)", int(n), s), int(n)}
}

// secure is the start-up security set-up: no program is ever found through the
// current directory, here or in a child.
func secure() {
	// os.Setenv cannot fail for a constant name without NUL and '='.
	_ = os.Setenv("NoDefaultCurrentDirectoryInExePath", "1")
}
