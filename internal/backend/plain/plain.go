// Package plain makes foreign text harmless to show: the one place that escapes what could steer a terminal or hide itself.
//
// Text comes from models, repositories, hooks, servers and the command line.
// What it says is kept; what would move a cursor, ring, colour, reorder
// (U+202E and its like) or carry invisible words is written as \u001b, an escape
// that JSON reads back as the same character.
package plain

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Text makes s harmless and keeps its lines: tabs, newlines and the carriage
// return in front of one stay. An invalid byte becomes U+FFFD.
func Text(s string) string { return escape(s, steers) }

// Line is Text for one line: newlines and tabs are escaped too, and what has no
// sign of its own.
func Line(s string) string { return escape(s, unseen) }

// Cut is Clip for a line with little room: an ellipsis alone shows the cut.
func Cut(s string, max int) string {
	if len(s) <= max {
		return s
	}
	return s[:edge(s, max)] + "…"
}

// Clip cuts s after max bytes, where that can be seen.
func Clip(s string, max int) string {
	if len(s) <= max {
		return s
	}
	cut := edge(s, max)
	return fmt.Sprintf("%s… (%d more bytes)", s[:cut], len(s)-cut)
}

// edge is the last place at or before max where a character of s begins.
func edge(s string, max int) int {
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return max
}

// steers tells whether a character acts on a screen instead of standing on it.
// Joiners and the marks of right-to-left prose act on their neighbours alone.
func steers(r rune) bool {
	switch r {
	case '\n', '\t', 0x00ad, 0x061c, 0x200c, 0x200d, 0x200e, 0x200f, 0x2060:
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

func unseen(r rune) bool { return r != ' ' && r != utf8.RuneError && !unicode.IsPrint(r) }

func escape(s string, bad func(rune) bool) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, bad) < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\r' && strings.HasPrefix(s[i+1:], "\n") && !bad('\n'):
			b.WriteByte('\r')
		case bad(r):
			put(&b, r)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

func put(b *strings.Builder, r rune) {
	if r > 0xffff { // a pair of surrogates, as JSON writes it
		r -= 0x10000
		fmt.Fprintf(b, `\u%04x`, 0xd800+r>>10)
		r = 0xdc00 + r&0x3ff
	}
	fmt.Fprintf(b, `\u%04x`, r)
}

// Writer passes text on as Text does. It is safe for concurrent use. A
// character or a line end may come in two writes; Flush writes what never got
// its rest.
type Writer struct {
	mu   sync.Mutex
	w    io.Writer
	rest []byte
}

// NewWriter makes a Writer in front of w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write writes p, except a tail that may be the first part of something.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := p
	if len(w.rest) > 0 {
		all = append(w.rest, p...)
	}
	keep := tail(all)
	w.rest = append([]byte(nil), all[len(all)-keep:]...)
	if _, err := io.WriteString(w.w, Text(string(all[:len(all)-keep]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what was kept back.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	rest := w.rest
	w.rest = nil
	_, err := io.WriteString(w.w, Text(string(rest)))
	return err
}

// tail is how many bytes at the end may be the beginning of something: a
// character without its last bytes, or a carriage return.
func tail(b []byte) int {
	if len(b) > 0 && b[len(b)-1] == '\r' {
		return 1
	}
	for n := 1; n <= min(utf8.UTFMax-1, len(b)); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}
