package streamjson

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/core/command"
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
	// Commands runs slash commands; nil sends them to the model as text.
	Commands *command.Book
	Host     *Host
	// Next waits for what the conversation goes on with by itself between two
	// runs; nil tells that there is nothing, or no patience left. Optional.
	Next  func(ctx context.Context) *msg.Message
	Now   func() time.Time
	NewID func() string
}

// Surface is one headless client of one conversation.
type Surface struct {
	c     Config
	p     *Printer
	count int
	last  bool // the last result was an error
	held  held
	// unsaid is the newest result of a run of one prompt: formats that have one
	// result say the last.
	unsaid *Result
}

// held are messages that must not join a run under way: commands, and what was
// said after them.
type held struct {
	mu   sync.Mutex
	list []*msg.Message
}

// keep takes a message in when it is a command or when one waits already.
func (h *held) keep(m *msg.Message, b *command.Book) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.list) == 0 && (b == nil || !b.Calls(m)) {
		return false
	}
	h.list = append(h.list, m)
	return true
}

// next takes the oldest message, nil for none.
func (h *held) next() *msg.Message {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.list) == 0 {
		return nil
	}
	m := h.list[0]
	h.list = h.list[1:]
	return m
}

// New makes the surface.
func New(c Config) *Surface {
	p := &Printer{session: c.Engine.Session, partial: c.Partial, replay: c.Replay, hooks: c.Hooks, newID: c.NewID, now: c.Now, w: c.Out}
	if c.Host != nil {
		c.Host.attach(p, c.Engine)
	}
	return &Surface{c: c, p: p}
}

// Failed tells whether the last run ended with an error, which makes the
// process's exit code 1.
func (s *Surface) Failed() bool { return s.last }

// Prompt runs one prompt, then what the conversation goes on with by itself,
// and writes what the format asks for; nil takes up the call that a hook has put
// off. The error is the output's: the reader has gone.
func (s *Surface) Prompt(ctx context.Context, m *msg.Message) error {
	source := "sdk"
	for {
		if err := s.run(ctx, engine.Input{Message: m, Source: source}); err != nil {
			return err
		}
		m, source = nil, automatic
		if s.c.Next != nil && !s.last {
			m = s.c.Next(ctx)
		}
		if m == nil {
			return s.say()
		}
	}
}

// automatic is the source of prompts that nobody typed.
const automatic = "automatic"

func (s *Surface) run(ctx context.Context, in engine.Input) error {
	began := s.c.Now()
	stream := s.c.Format == StreamJSON
	if stream {
		s.p.Init(s.c.Facts())
	}
	submit := s.c.Engine.Submit
	if s.c.Commands != nil && in.Message != nil {
		submit = s.c.Commands.Submit
	}
	for ev := range submit(ctx, in) {
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
	case JSON, Text:
		s.unsaid = &r
	}
}

// say writes the result of the formats that have one.
func (s *Surface) say() error {
	r := s.unsaid
	s.unsaid = nil
	switch {
	case r == nil:
	case s.c.Format == Text:
		s.text(*r)
	default:
		s.p.write(*r)
	}
	return s.p.Err()
}

// text writes the answer for people; what must be exact to the byte is in the
// JSON formats.
func (s *Surface) text(r Result) {
	out := strings.Join(r.Errors, "\n")
	if r.Result != nil {
		out = *r.Result
	}
	if out == "" {
		return
	}
	out = plain.Text(out)
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
		if !s.held.keep(m, s.c.Commands) {
			s.c.Engine.Steer(m)
		}
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
		waiting, stop := context.WithCancel(ctx)
		woke := s.wait(waiting)
		var m *msg.Message
		var err error
		over := false
		select {
		case <-arrived:
		case m = <-woke:
			woke = nil
		case err = <-read:
			over = true
		case <-ctx.Done():
			over, err = true, context.Cause(ctx)
		}
		stop()
		if woke != nil && s.c.Next != nil {
			m = <-woke // what came at the same moment is not lost
		}
		if m != nil && ctx.Err() == nil {
			err = errors.Join(err, s.run(ctx, engine.Input{Message: m, Source: automatic}))
		}
		if over && ctx.Err() == nil {
			return errors.Join(s.drain(ctx), err)
		}
		if err != nil {
			return err
		}
	}
}

// wait asks in the background what the conversation goes on with. Where there
// is nothing to wait for, the answer comes only when ctx ends: input decides.
func (s *Surface) wait(ctx context.Context) chan *msg.Message {
	woke := make(chan *msg.Message, 1)
	if s.c.Next == nil {
		return woke
	}
	go func() {
		m := s.c.Next(ctx)
		if m == nil {
			<-ctx.Done()
		}
		woke <- m
	}()
	return woke
}

// drain runs what is queued, one prompt after the other.
func (s *Surface) drain(ctx context.Context) error {
	for ctx.Err() == nil {
		m := s.c.Engine.Queued()
		if m == nil {
			m = s.held.next()
		}
		if m == nil {
			return nil
		}
		if err := s.run(ctx, engine.Input{Message: m, Source: "sdk"}); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}
