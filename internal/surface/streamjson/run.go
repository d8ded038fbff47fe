package streamjson

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
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
	// Open opens the conversation of a stream when its first line arrives. The
	// request is nil unless that line asks to initialize.
	Open func(ctx context.Context, initialize json.RawMessage) (*Live, error)

	Out    io.Writer
	Format Format
	// Partial adds raw stream events, Verbose all messages to JSON, Replay the
	// accepted user messages.
	Partial, Verbose, Replay bool
	// Hooks adds the hooks of all events; those of a session's start always show.
	Hooks bool
	// States adds a line when a run begins and one when hew waits for a message.
	States bool
	// Abandoned returns true once nobody reads the output any more, and false when
	// ctx ends. It is asked when the input has ended. Optional.
	Abandoned func(ctx context.Context) bool
	// Heard is told each event after its lines were written. Optional.
	Heard func(event.Event)
	// Warn tells a person of a notice that is more than news; text and JSON have
	// no line for it. Optional.
	Warn func(text string)
	// Host is the program at the other end of a stream, else nil.
	Host  *Host
	Now   func() time.Time
	NewID func() string
}

// Surface is one headless client of one conversation.
type Surface struct {
	c      Config
	p      *Printer
	live   *Live
	model  string // of the start
	count  int
	last   bool // the last result was an error
	before map[string]modelUsage
	held   held
	idle   rest
	beside sync.WaitGroup
	stirs  chan struct{} // something is queued
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

func (h *held) ids() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for _, m := range h.list {
		out = append(out, m.ID)
	}
	return out
}

// drop takes a message out; false when it is not held.
func (h *held) drop(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.list, func(m *msg.Message) bool { return m.ID == id })
	if i < 0 {
		return false
	}
	h.list = slices.Delete(h.list, i, i+1)
	return true
}

// New makes the surface.
func New(c Config) *Surface {
	s := &Surface{c: c, stirs: make(chan struct{}, 1), before: map[string]modelUsage{}}
	s.p = &Printer{session: func() string { return "" }, partial: c.Partial, replay: c.Replay, hooks: c.Hooks, newID: c.NewID, now: c.Now, w: c.Out}
	if c.Host != nil {
		c.Host.attach(s.p)
	}
	return s
}

// take takes up the open conversation.
func (s *Surface) take(l *Live) {
	s.p.mu.Lock()
	s.p.session = l.Engine.Session
	s.p.forward = l.ForwardText
	s.p.mu.Unlock()
	s.live, s.model = l, l.Engine.Model().ID
}

// Failed tells whether the last run ended with an error, which makes the
// process's exit code 1.
func (s *Surface) Failed() bool { return s.last }

// Prompt runs one prompt, then what the conversation goes on with by itself,
// and writes what the format asks for; nil takes up the call that a hook has put
// off. The error is the output's: the reader has gone.
func (s *Surface) Prompt(ctx context.Context, l *Live, m *msg.Message) error {
	s.take(l)
	source := "sdk"
	for {
		if err := s.run(ctx, engine.Input{Message: m, Source: source}); err != nil {
			return err
		}
		m, source = nil, automatic
		if s.live.Next != nil && !s.last {
			m = s.live.Next(ctx)
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
	var commands []string
	session := s.live.Engine.Session()
	if stream {
		s.state("running")
		f := s.live.Facts()
		commands = f.Commands
		s.p.Init(f)
	}
	var end *event.Terminal
	for again := &in; again != nil; {
		in = *again
		if end = s.consume(ctx, in); end == nil || s.p.Err() != nil {
			return s.p.Err()
		}
		again = s.refused(ctx, *end, in)
	}
	if stream {
		s.cleared(session)
		s.commandsChanged(commands)
	}
	s.end(*end, s.c.Now().Sub(began))
	if stream {
		s.state("idle")
	}
	return s.p.Err()
}

// consume writes what a run says and returns how it ended; nil when nobody reads.
func (s *Surface) consume(ctx context.Context, in engine.Input) (end *event.Terminal) {
	submit := s.live.Engine.Submit
	if s.live.Commands != nil && in.Message != nil {
		submit = s.live.Commands.Submit
	}
	for ev := range submit(ctx, in) {
		if s.c.Format == StreamJSON {
			s.p.Event(ev)
		} else {
			s.aside(ev.Body)
		}
		s.heard(ev)
		if d, ok := ev.Body.(event.Done); ok {
			end = &d.Terminal
		}
		if s.p.Err() != nil {
			return nil
		}
	}
	return end
}

// aside takes in what the formats of one result have no line for.
func (s *Surface) aside(body event.Body) {
	if t, ok := body.(event.TaskChanged); ok {
		s.p.meet(t)
	}
	if n, ok := body.(event.Notice); ok && n.Level != event.Info && s.c.Warn != nil {
		first, _, _ := strings.Cut(n.Text, "\n")
		s.c.Warn(first)
	}
}

// end writes the result.
func (s *Surface) end(t event.Terminal, took time.Duration) {
	r := s.p.result(t, s.live.Engine.Costs(), took, s.count)
	r.Queued = len(s.live.Engine.Waiting()) + len(s.held.ids())
	r.Since, s.before = since(s.before, r.ModelUsage), r.ModelUsage
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
