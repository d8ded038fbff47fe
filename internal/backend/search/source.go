package search

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"unicode/utf16"
	"unicode/utf8"
)

// linkPolicy says whether openFile follows a symbolic link.
type linkPolicy uint8

const (
	refuseLinks linkPolicy = iota
	followLinks
)

type fileStat struct {
	regular bool
	size    int64
}

var (
	errNotRegular = errors.New("not a regular file")
	errTooLong    = errors.New("a line is longer than 64 MiB")
	errTooLarge   = errors.New("larger than 64 MiB, which is the limit for multiline search and UTF-16")
	errCut        = errors.New("only the first 1 GiB was searched")
)

// Limits of the own engine. MaxFileBytes keeps a sparse or runaway file from
// being read for ever; what lies behind is reported as not searched.
const (
	// chunkBytes equals ripgrep's buffer, because a NUL makes the search stop
	// before the buffer that it is read into. (ripgrep keeps a buffer that a
	// former file made it enlarge, so its own answers vary for a NUL behind
	// the first 64 KiB; hew's do not.)
	chunkBytes = 64 << 10
	// MaxFileBytes is how much of one file is searched.
	MaxFileBytes = 1 << 30
	// maxHeldBytes is the longest line, and the largest file where all of it
	// must be in memory.
	maxHeldBytes = 64 << 20
	// keepBytes is the largest buffer that a worker keeps between files.
	keepBytes = 4 << 20
)

// source gives out a file in runs of whole lines. buf[lo:hi] is what it holds.
type source struct {
	file     *rawFile
	buf      []byte
	hi       int
	read     int64
	limit    int64 // of read
	eof      bool
	cut      bool // limit was reached
	explicit bool // named by the caller: a NUL is a line end, not the end
	binary   bool // a NUL was seen
}

// fill reads once more behind hi. How much depends on this file alone, not on
// what a former file has made of the buffer, so that a NUL is always judged
// with the same bytes before it.
func (s *source) fill() error {
	room := chunkBytes
	for room <= s.hi {
		room *= 2
	}
	if room > maxHeldBytes {
		return errTooLong
	}
	if len(s.buf) < room {
		s.buf = append(s.buf, make([]byte, room-len(s.buf))...)
	}
	n, err := s.file.Read(s.buf[s.hi:room])
	if err != nil {
		return err
	}
	if s.read += int64(n); s.read >= s.limit {
		s.cut, s.eof = true, true
	}
	if n == 0 {
		s.eof = true
		return nil
	}
	fresh := s.buf[s.hi : s.hi+n]
	s.hi += n
	s.judge(fresh)
	return nil
}

// judge looks for NUL bytes in what was just read.
func (s *source) judge(fresh []byte) {
	at := bytes.IndexByte(fresh, 0)
	if at < 0 {
		return
	}
	s.binary = true
	if !s.explicit {
		s.eof = true
		return
	}
	for i, b := range fresh[at:] {
		if b == 0 {
			fresh[at+i] = '\n'
		}
	}
}

// refused tells that the file turned out to be binary and nobody asked for it
// by name: the rest, from the buffer with the NUL on, is not searched.
func (s *source) refused() bool { return s.binary && !s.explicit }

// lines reads until at least one more whole line, or the end, is in
// buf[from:]. It returns where the last whole line ends.
func (s *source) lines(ctx context.Context, from int) (end int, err error) {
	for searched := from; !s.eof; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if err := s.fill(); err != nil {
			return 0, err
		}
		if nl := bytes.LastIndexByte(s.buf[searched:s.hi], '\n'); nl >= 0 && !s.eof {
			return searched + nl + 1, nil
		}
		searched = s.hi
	}
	return s.hi, nil
}

// discard drops buf[:n].
func (s *source) discard(n int) {
	copy(s.buf, s.buf[n:s.hi])
	s.hi -= n
}

// all reads the rest of the file into the buffer, without judging NULs.
func (s *source) all(ctx context.Context) error {
	for !s.eof {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.hi == len(s.buf) {
			if len(s.buf) >= maxHeldBytes {
				return errTooLarge
			}
			s.buf = append(s.buf, make([]byte, max(len(s.buf), chunkBytes))...)
		}
		n, err := s.file.Read(s.buf[s.hi:])
		if err != nil {
			return err
		}
		s.hi += n
		s.eof = n == 0
	}
	return nil
}

// byteOrder returns the order that a UTF-16 byte order mark announces.
func byteOrder(b []byte) binary.ByteOrder {
	switch {
	case len(b) < 2:
	case b[0] == 0xff && b[1] == 0xfe:
		return binary.LittleEndian
	case b[0] == 0xfe && b[1] == 0xff:
		return binary.BigEndian
	}
	return nil
}

// decodeUTF16 returns b, without its mark, as UTF-8. Broken pairs become
// U+FFFD.
func decodeUTF16(b []byte, order binary.ByteOrder) []byte {
	out := make([]byte, 0, len(b))
	for i := 2; i < len(b); i += 2 {
		if i+1 == len(b) {
			return utf8.AppendRune(out, utf8.RuneError)
		}
		r := rune(order.Uint16(b[i:]))
		if utf16.IsSurrogate(r) {
			pair := utf8.RuneError
			if i+3 < len(b) {
				pair = utf16.DecodeRune(r, rune(order.Uint16(b[i+2:])))
			}
			if pair != utf8.RuneError {
				i += 2
			}
			r = pair
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}
