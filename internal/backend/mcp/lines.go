package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// lineReader reads messages that stand on a line each. A line that is longer
// than limit is not kept; when it was the answer to a request, an error with
// the same id takes its place, so that the one who waits learns of it.
type lineReader struct {
	r     *bufio.Reader
	limit int
}

func newLineReader(r io.Reader, limit int) *lineReader {
	return &lineReader{bufio.NewReaderSize(r, 64<<10), limit}
}

func (l *lineReader) next() ([]byte, error) {
	var whole []byte
	for {
		part, err := l.r.ReadSlice('\n')
		if len(whole)+len(part) > l.limit {
			return l.tooLong(whole, part, err)
		}
		whole = append(whole, part...)
		switch {
		case err == nil:
			return whole, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case len(whole) > 0 && errors.Is(err, io.EOF):
			return whole, nil
		default:
			return nil, err
		}
	}
}

func (l *lineReader) tooLong(whole, part []byte, err error) ([]byte, error) {
	var s idScan
	s.feed(whole)
	s.feed(part)
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = l.r.ReadSlice('\n')
		s.feed(part)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(s.id) == 0 || s.method {
		return nil, nil
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"the answer was larger than %d MB and was thrown away"}}`, s.id, l.limit>>20), nil
}

// idScan finds the id of a message without keeping the message. It trusts the
// text to be JSON; of anything else it finds nothing or an id that nobody waits for.
type idScan struct {
	depth     int
	quoted    bool
	escaped   bool
	key, word []byte
	id        []byte
	method    bool
}

// maxWord bounds the keys and ids that are looked at, in bytes.
const maxWord = 200

func (s *idScan) feed(b []byte) {
	for len(b) > 0 {
		if s.quoted && !s.escaped && (s.depth != 1 || len(s.word) >= maxWord) { // nothing of this text is kept
			end := bytes.IndexAny(b, `"\`)
			if end < 0 {
				return
			}
			b = b[end:]
		}
		s.step(b[0])
		b = b[1:]
	}
}

func (s *idScan) step(c byte) {
	if s.quoted {
		s.keep(c)
		switch {
		case s.escaped:
			s.escaped = false
		case c == '\\':
			s.escaped = true
		case c == '"':
			s.quoted = false
		}
		return
	}
	switch c {
	case '"':
		s.quoted = true
		s.keep(c)
	case '{', '[':
		s.depth++
	case '}', ']':
		if s.depth == 1 {
			s.member()
		}
		s.depth--
	case ':':
		if s.depth == 1 {
			s.key, s.word = append(s.key[:0], s.word...), s.word[:0]
		}
	case ',':
		if s.depth == 1 {
			s.member()
		}
	case ' ', '\t', '\n', '\r':
	default:
		s.keep(c)
	}
}

func (s *idScan) keep(c byte) {
	if s.depth == 1 && len(s.word) < maxWord {
		s.word = append(s.word, c)
	}
}

func (s *idScan) member() {
	switch {
	case bytes.Equal(s.key, []byte(`"id"`)) && len(s.word) < maxWord:
		s.id = append(s.id[:0], s.word...)
	case bytes.Equal(s.key, []byte(`"method"`)):
		s.method = true
	}
	s.key, s.word = s.key[:0], s.word[:0]
}
