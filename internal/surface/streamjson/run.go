package streamjson

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// Config makes a headless run.
type Config struct {
	Engine *engine.Engine
	Out    io.Writer
	Format Format
	// Partial adds raw stream events, Verbose all messages to JSON, Replay the
	// accepted user messages.
	Partial, Verbose, Replay bool
	// Hooks adds the hooks of all events; those of a session's start always show.
	Hooks bool
	Facts func() Facts
	Host  *Host
	Now   func() time.Time
	NewID func() string
}

// Surface is one headless client of one conversation.
type Surface struct {
	c     Config
	p     *Printer
	count int
	last  bool // the last result was an error
}

// New makes the surface.
func New(c Config) *Surface {
	p := &Printer{session: c.Engine.Session(), partial: c.Partial, replay: c.Replay, hooks: c.Hooks, newID: c.NewID, now: c.Now, w: c.Out}
	if c.Host != nil {
		c.Host.attach(p, c.Engine)
	}
	return &Surface{c: c, p: p}
}

// Failed tells whether the last run ended with an error, which makes the
// process's exit code 1.
func (s *Surface) Failed() bool { return s.last }

// Prompt runs one prompt and writes what the format asks for. The error is the
// output's: the reader has gone.
func (s *Surface) Prompt(ctx context.Context, m *msg.Message) error {
	return s.run(ctx, engine.Input{Message: m, Source: "sdk"})
}

func (s *Surface) run(ctx context.Context, in engine.Input) error {
	began := s.c.Now()
	stream := s.c.Format == StreamJSON
	if stream {
		s.p.Init(s.c.Facts())
	}
	for ev := range s.c.Engine.Submit(ctx, in) {
		if stream {
			s.p.Event(ev)
		}
		if d, ok := ev.Body.(event.Done); ok {
			s.end(d.Terminal, s.c.Now().Sub(began))
		}
		if s.p.Err() != nil {
			return s.p.Err()
		}
	}
	return s.p.Err()
}

// end writes the result.
func (s *Surface) end(t event.Terminal, took time.Duration) {
	r := s.p.result(t, s.c.Engine.Costs(), took, s.count)
	s.count++
	s.last = r.IsError
	switch s.c.Format {
	case StreamJSON:
		if r.IsError && r.Subtype == "success" {
			s.p.failure(t)
		}
		s.p.write(r)
	case JSON:
		s.p.write(r)
	case Text:
		s.text(r)
	}
}

func (s *Surface) text(r Result) {
	out := strings.Join(r.Errors, "\n")
	if r.Result != nil {
		out = *r.Result
	}
	if out == "" {
		return
	}
	if !strings.HasSuffix(out, "\n") {
		out += "\n"
	}
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	if _, err := io.WriteString(s.p.w, out); err != nil {
		s.p.err = fmt.Errorf("write to the output: %w", err)
	}
}

// Stream reads user messages and control requests from in until it ends, and
// runs each prompt. What arrives while a run is under way joins it at its next
// boundary, or becomes a run of its own.
func (s *Surface) Stream(ctx context.Context, in io.Reader) error {
	arrived := make(chan struct{}, 1)
	read := make(chan error, 1)
	r := &reader{in: in, host: s.c.Host, newID: s.c.NewID, now: s.c.Now, take: func(m *msg.Message) {
		s.c.Engine.Steer(m)
		select {
		case arrived <- struct{}{}:
		default:
		}
	}}
	go func() { read <- r.run() }()
	for {
		if err := s.drain(ctx); err != nil {
			return err
		}
		select {
		case <-arrived:
		case err := <-read:
			return errors.Join(s.drain(ctx), err)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// drain runs what is queued, one prompt after the other.
func (s *Surface) drain(ctx context.Context) error {
	for ctx.Err() == nil {
		m := s.c.Engine.Queued()
		if m == nil {
			return nil
		}
		if err := s.run(ctx, engine.Input{Message: m, Source: "sdk"}); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}
