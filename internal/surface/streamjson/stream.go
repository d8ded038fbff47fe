package streamjson

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/tidwall/gjson"
)

// inbox is what the host has said and nobody has looked at. It has no bound:
// the reader must not wait.
type inbox struct {
	mu     sync.Mutex
	list   []item
	closed bool
	err    error
	wake   chan struct{}
}

func (b *inbox) put(it item) {
	b.mu.Lock()
	b.list = append(b.list, it)
	b.mu.Unlock()
	b.signal()
}

// close says that nothing follows; err is why, nil for the end of the input.
func (b *inbox) close(err error) {
	b.mu.Lock()
	b.closed, b.err = true, err
	b.mu.Unlock()
	b.signal()
}

func (b *inbox) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// next waits for an item; ok is false when there will be none.
func (b *inbox) next(ctx context.Context) (item, bool) {
	for {
		b.mu.Lock()
		if len(b.list) > 0 {
			it := b.list[0]
			b.list[0] = item{}
			b.list = b.list[1:]
			b.mu.Unlock()
			return it, true
		}
		closed := b.closed
		b.mu.Unlock()
		if closed {
			return item{}, false
		}
		select {
		case <-b.wake:
		case <-ctx.Done():
			return item{}, false
		}
	}
}

func (b *inbox) fault() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// rest is what waits for the conversation to be at rest.
type rest struct {
	mu   sync.Mutex
	list []func()
}

func (r *rest) next() func() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.list) == 0 {
		return nil
	}
	do := r.list[0]
	r.list = r.list[1:]
	return do
}

func (s *Surface) between(do func()) {
	s.idle.mu.Lock()
	s.idle.list = append(s.idle.list, do)
	s.idle.mu.Unlock()
	s.stir()
}

func (s *Surface) stir() {
	select {
	case s.stirs <- struct{}{}:
	default:
	}
}

// Stream reads user messages and control requests from in until it ends, and
// runs each prompt. What arrives while a run is under way joins it at its next
// boundary, or becomes a run of its own. The conversation is opened when the
// first line arrives.
func (s *Surface) Stream(ctx context.Context, in io.Reader) error {
	f := s.Feed()
	go f.r.run(in)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer s.beside.Wait()
	first, some := f.r.inbox.next(ctx)
	if err := s.open(ctx, first); err != nil {
		return err
	}
	if !some {
		return s.follow(ctx, cancel, f.r.inbox, nil)
	}
	return s.follow(ctx, cancel, f.r.inbox, &first)
}

// follow serves what is in the box until it is closed, and before it first.
func (s *Surface) follow(ctx context.Context, cancel context.CancelCauseFunc, box *inbox, first *item) error {
	served := make(chan struct{})
	go func() { // ends with the input or ctx
		defer close(served)
		if first != nil {
			s.serve(ctx, *first)
		}
		for it, ok := box.next(ctx); ok; it, ok = box.next(ctx) {
			s.serve(ctx, it)
		}
	}()
	defer func() { cancel(nil); <-served }()
	go func() { // ends with ctx
		select {
		case <-served:
			if s.c.Abandoned != nil && s.c.Abandoned(ctx) {
				cancel(errReaderGone)
			}
		case <-ctx.Done():
		}
	}()
	return s.work(ctx, served, box)
}

// work runs what is queued until the input has ended and all is done.
func (s *Surface) work(ctx context.Context, served <-chan struct{}, box *inbox) error {
	for {
		if err := s.drain(ctx); err != nil {
			return err
		}
		waiting, stop := context.WithCancel(ctx)
		woke := s.wait(waiting)
		var m *msg.Message
		over := false
		select {
		case <-s.stirs:
		case <-s.live.TaskEnded:
		case m = <-woke:
			woke = nil
		case <-served:
			over = true
		case <-ctx.Done():
		}
		stop()
		if woke != nil {
			m = <-woke // what came at the same moment is not lost
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if m != nil {
			if err := s.run(ctx, engine.Input{Message: m, Source: automatic}); err != nil {
				return err
			}
		}
		if over {
			return errors.Join(s.drain(ctx), box.fault())
		}
	}
}

// wait asks in the background what the conversation goes on with. Where there
// is nothing to wait for, the answer comes only when ctx ends: input decides.
func (s *Surface) wait(ctx context.Context) chan *msg.Message {
	woke := make(chan *msg.Message, 1)
	go func() {
		var m *msg.Message
		if s.live.Next != nil {
			m = s.live.Next(ctx)
		}
		if m == nil {
			<-ctx.Done()
		}
		woke <- m
	}()
	return woke
}

var errReaderGone = errors.New("the program that reads the output has ended")

// open opens the conversation for the first line.
func (s *Surface) open(ctx context.Context, first item) error {
	var initialize json.RawMessage
	if gjson.GetBytes(first.request, "subtype").Str == "initialize" {
		initialize = first.request
	}
	live, err := s.c.Open(ctx, initialize)
	if err != nil {
		if initialize != nil {
			s.p.respond(first.id, nil, err)
		}
		return err
	}
	s.take(live)
	if initialize == nil && s.c.Host != nil {
		s.c.Host.greet()
	}
	return nil
}

// serve takes up one line.
func (s *Surface) serve(ctx context.Context, it item) {
	if it.message == nil {
		s.request(ctx, it)
		return
	}
	if !s.held.keep(it.message, s.live.Commands) {
		s.live.Engine.Steer(it.message)
	}
	s.stir()
}

// drain runs what is queued, one prompt after the other, and between them what
// needs the conversation at rest.
func (s *Surface) drain(ctx context.Context) error {
	for ctx.Err() == nil {
		for do := s.idle.next(); do != nil; do = s.idle.next() {
			do()
		}
		s.tasks()
		m := s.queued()
		if m == nil {
			return s.p.Err()
		}
		if err := s.run(ctx, engine.Input{Message: m, Source: "sdk"}); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

func (s *Surface) queued() *msg.Message {
	if m := s.live.Engine.Queued(); m != nil {
		return m
	}
	return s.held.next()
}

// tasks tells what became of background work while nothing ran.
func (s *Surface) tasks() {
	if s.live.Tasks == nil {
		return
	}
	for _, t := range s.live.Tasks() {
		s.Tell(t)
	}
}

// state tells a host that asked for it whether a run is under way.
func (s *Surface) state(now string) {
	if !s.c.States {
		return
	}
	s.p.write(struct {
		envelope
		State string `json:"state"`
		Host  bool   `json:"sdk_host_only"`
	}{s.p.head("system", "session_state_changed"), now, true})
}

// Mirror writes a line of a transcript, for hosts that keep sessions elsewhere.
func (s *Surface) Mirror(path string, line []byte) {
	s.p.write(struct {
		Type    string            `json:"type"`
		File    string            `json:"filePath"`
		Entries []json.RawMessage `json:"entries"`
		UUID    string            `json:"uuid"`
		Session string            `json:"session_id"`
	}{"transcript_mirror", path, []json.RawMessage{line}, s.p.newID(), s.p.id()})
}
