package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/backend/shell"
)

// stdio is a server that is a process of this machine.
type stdio struct {
	peer *shell.Served
	in   *lineReader
	mu   sync.Mutex // one message at a time
	once sync.Once
	err  error
}

// launch starts the process of an entry whose variables are filled in.
func (c *Config) launch(ctx context.Context, e Entry) (*stdio, error) {
	path := e.Command
	if !filepath.IsAbs(path) {
		found, err := c.Find(path)
		if err != nil {
			return nil, err
		}
		path = found
	}
	env := map[string]string{"CLAUDE_PROJECT_DIR": c.Dir}
	maps.Copy(env, e.Env)
	peer, err := c.Runner.Serve(ctx, shell.Server{
		Argv: append([]string{path}, e.Args...), Dir: c.Dir, Env: env, HideSecrets: c.HideSecrets, Unconfined: true,
	})
	if err != nil {
		return nil, err
	}
	return &stdio{peer: peer, in: newLineReader(peer.Stdout, maxMessage)}, nil
}

// Receive returns the next line.
func (s *stdio) Receive(context.Context) ([]byte, error) {
	raw, err := s.in.next()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read from the server: %w", err)
	}
	return raw, err
}

// Send writes a line. A server that does not read its input cannot hold the
// sender longer than ctx.
func (s *stdio) Send(ctx context.Context, message []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = s.peer.Stdin.SetWriteDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := s.peer.Stdin.Write(append(message[:len(message):len(message)], '\n')); err != nil {
		// Half a message may have gone out: the server cannot be talked to any more.
		return errors.Join(fmt.Errorf("write to the server: %w", err), s.peer.Stdin.Close())
	}
	return nil
}

// Close ends the process and all that descends from it.
func (s *stdio) Close() error {
	s.once.Do(func() {
		_ = s.peer.Stdin.Close() // a polite server ends by this
		s.settle()
		s.err = s.peer.Stop()
	})
	return s.err
}

// settle waits a moment for the process to end by itself.
func (s *stdio) settle() {
	t := time.NewTimer(closeGrace)
	defer t.Stop()
	select {
	case <-s.peer.Done():
	case <-t.C:
	}
}

// obituary says how the process ended and what it said last; "" while it runs.
func (s *stdio) obituary() string {
	select {
	case <-s.peer.Done():
	default:
		return ""
	}
	code, signal := s.peer.Exit()
	how := fmt.Sprintf("exit code %d", code)
	if signal != "" {
		how = "signal " + signal
	}
	text, err := s.peer.Errors(lastWords)
	if err != nil {
		return how
	}
	if said := line(shell.Sanitize(text), lastWords); said != "" {
		return how + ": " + said
	}
	return how
}

// lastWords is how much of a server's standard error is told, in bytes.
const lastWords = 400
