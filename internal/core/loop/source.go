package loop

import (
	"context"
	"iter"

	"github.com/hew-agent/hew/internal/backend/provider"
)

// source is the stream of one reply. The loop pulls it itself as long as it has
// nobody else to hear: handing each small delta from one goroutine to another
// costs more than all the rest that is done with it. From the first call that
// runs while the reply still arrives, a goroutine pulls. Either way the stream
// stands still while the loop is busy.
type source struct {
	next  func() (provider.Part, error, bool)
	stop  func()    // frees the stream; only after await has told its end
	parts chan item // nil until the goroutine pulls; closed at the end of the stream
}

// item is what the loop waits for: one of its fields is set.
type item struct {
	part   provider.Part
	err    error
	report *report
}

func newSource(stream iter.Seq2[provider.Part, error]) *source {
	s := &source{}
	s.next, s.stop = iter.Pull2(stream)
	return s
}

// await returns the next item, and false at the end of the stream. busy tells
// that calls run, whose reports are to be heard.
func (s *source) await(ctx context.Context, busy bool, reports <-chan report) (item, bool) {
	if s.parts == nil && !busy {
		if ctx.Err() != nil {
			return item{}, false
		}
		part, err, more := s.next()
		return item{part: part, err: err}, more
	}
	if s.parts == nil {
		s.parts = make(chan item)
		go s.pump(ctx)
	}
	select {
	case it, more := <-s.parts:
		return it, more
	case e := <-reports:
		return item{report: &e}, true
	}
}

func (s *source) pump(ctx context.Context) {
	defer close(s.parts)
	for {
		part, err, more := s.next()
		if !more {
			return
		}
		select {
		case s.parts <- item{part: part, err: err}:
		case <-ctx.Done():
			return
		}
	}
}
