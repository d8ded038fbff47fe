package messages

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/tidwall/gjson"
)

// maxEvent bounds one event: far above anything the API sends, far below what
// would exhaust memory when a server never ends a line.
const maxEvent = 64 << 20

// errEventTooLarge is reported for an event above maxEvent.
var errEventTooLarge = fmt.Errorf("an event of more than %d MB", maxEvent>>20)

// Splitter cuts a stream of server-sent events into the data of its events.
// Events that lie whole in a chunk are passed on without a copy.
type Splitter struct {
	fn      func(data []byte) error
	line    []byte // a line whose end has not come yet
	data    []byte // data lines of the open event
	own     []byte // memory for data that outlives a chunk
	hasData bool
	begun   bool
}

// NewSplitter calls fn with the data of each event, in order. The bytes are
// only valid during the call. An error of fn ends Feed and is returned by it.
func NewSplitter(fn func(data []byte) error) *Splitter { return &Splitter{fn: fn} }

// Feed takes the next bytes of the stream.
func (s *Splitter) Feed(chunk []byte) error {
	for {
		i := bytes.IndexByte(chunk, '\n')
		if i < 0 {
			break
		}
		line := chunk[:i]
		chunk = chunk[i+1:]
		if len(s.line) > 0 {
			s.line = extend(s.line, line)
			line = s.line
		}
		if err := s.take(bytes.TrimSuffix(line, []byte("\r"))); err != nil {
			return err
		}
		if len(s.line) > 0 {
			s.keep()
			s.line = s.line[:0]
		}
	}
	s.keep()
	s.line = extend(s.line, chunk)
	if len(s.line)+len(s.data) > maxEvent {
		return errEventTooLarge
	}
	return nil
}

// extend appends and, when it must grow, doubles: the runtime's steps of a
// quarter would copy long lines and blocks five times over.
func extend[T []byte | string](dst []byte, more T) []byte {
	if len(dst)+len(more) > cap(dst) {
		dst = slices.Grow(dst, max(len(more), len(dst)))
	}
	return append(dst, more...)
}

// keep moves open data out of memory that is about to be reused.
func (s *Splitter) keep() {
	if !s.hasData {
		return
	}
	if len(s.own) > 0 && len(s.data) > 0 && &s.own[0] == &s.data[0] {
		return
	}
	s.own = append(s.own[:0], s.data...)
	s.data = s.own
}

func (s *Splitter) take(line []byte) error {
	if !s.begun {
		s.begun = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")) // a byte order mark
	}
	if len(line) == 0 {
		return s.dispatch()
	}
	rest, ok := bytes.CutPrefix(line, []byte("data"))
	if !ok {
		return nil // event names, ids and comments: the type is in the data
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(":")); !ok {
		return nil
	}
	rest = bytes.TrimPrefix(rest, []byte(" "))
	if !s.hasData {
		s.data, s.hasData = rest, true
		return nil
	}
	s.keep()
	s.own = append(append(s.own, '\n'), rest...)
	s.data = s.own
	return nil
}

func (s *Splitter) dispatch() error {
	if !s.hasData {
		return nil
	}
	data := s.data
	s.data, s.hasData = nil, false
	return s.fn(data)
}

// End passes on an event whose closing blank line never came, if it is whole.
func (s *Splitter) End() error {
	if len(s.line) > 0 {
		line := bytes.TrimSuffix(s.line, []byte("\r"))
		s.line = nil
		if err := s.take(line); err != nil {
			return err
		}
	}
	if !s.hasData || !gjson.ValidBytes(s.data) {
		return nil
	}
	return s.dispatch()
}

// ErrStopped is returned by a Decoder whose consumer has left.
var ErrStopped = errors.New("the consumer has left")
