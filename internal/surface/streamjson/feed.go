package streamjson

import (
	"context"

	"github.com/hew-agent/hew/internal/event"
)

// Feed is the input of a Surface whose lines come from several clients: one that
// cannot be understood is an error of its sender and of nobody else.
type Feed struct{ r *reader }

// Feed makes the input of a conversation.
func (s *Surface) Feed() *Feed {
	return &Feed{&reader{host: s.c.Host, inbox: &inbox{wake: make(chan struct{}, 1)}, newID: s.c.NewID, now: s.c.Now}}
}

// Line takes one line in. It does not wait. An error says what is wrong with it.
func (f *Feed) Line(text []byte) error { return f.r.line(text) }

// Close says that nothing follows: what runs is finished, open questions are refused.
func (f *Feed) Close() { f.r.end(nil) }

// Serve runs what comes from the feed in an open conversation, until the feed is
// closed or ctx ends.
func (s *Surface) Serve(ctx context.Context, live *Live, f *Feed) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer s.beside.Wait()
	s.take(live)
	s.c.Host.greet()
	return s.follow(ctx, cancel, f.r.inbox, nil)
}

// Tell writes an event that is not of a run.
func (s *Surface) Tell(body event.Body) {
	ev := event.Event{Body: body}
	s.p.Event(ev)
	s.heard(ev)
}

func (s *Surface) heard(ev event.Event) {
	if s.c.Heard != nil {
		s.c.Heard(ev)
	}
}
