package shell

import (
	"bytes"
	"unicode/utf8"
)

// Sanitize makes the output of a program harmless as text for a model and for
// a screen. It does exactly this, in one pass:
//
//   - CR LF and a lone CR become LF (no line is lost to an overwriting one);
//   - a backspace removes the character before it on the same line, as on a
//     screen (bold text of man pages);
//   - terminal sequences are removed: CSI, OSC, DCS, SOS, PM, APC, and ESC with
//     its intermediate and final bytes, each also with its one-character C1
//     introducer. A string sequence (OSC and the four after it) counts as one
//     only when it ends, by BEL or ST, within 4096 bytes and on its own line;
//     otherwise only its introducer is removed and the text stays;
//   - BEL is removed;
//   - every run of other control characters (C0 except TAB and LF, DEL, C1) and
//     bytes that are not UTF-8 becomes one U+FFFD.
//
// Everything else is kept as it is. The answer is valid UTF-8 without control
// characters other than TAB and LF, and Sanitize leaves it unchanged.
func Sanitize(b []byte) string {
	if plain(b) {
		return string(b)
	}
	s := sanitizer{in: b}
	s.out.Grow(len(b))
	for len(s.in) > 0 {
		s.step()
	}
	return s.out.String()
}

// plain is the common case: nothing to do.
func plain(b []byte) bool {
	for _, c := range b {
		if (c < ' ' && c != '\n' && c != '\t') || c >= 0x7f {
			return false
		}
	}
	return true
}

type sanitizer struct {
	in  []byte
	out bytes.Buffer
	run bool // the last thing written is a U+FFFD of ours
}

func (s *sanitizer) step() {
	c, n := utf8.DecodeRune(s.in)
	switch {
	case c == '\n' || c == '\t':
		s.keep(n)
	case c == '\r':
		s.in = bytes.TrimPrefix(s.in[1:], []byte{'\n'})
		s.put("\n")
	case c == '\b':
		s.in = s.in[1:]
		s.erase()
	case c == '\a':
		s.in = s.in[1:]
	case c == 0x1b:
		s.in = s.in[escape(s.in):]
	case c == utf8.RuneError && n <= 1, c < ' ', c == 0x7f:
		s.in = s.in[n:]
		s.replace()
	case c >= 0x80 && c <= 0x9f:
		s.in = s.in[n:]
		if m := sequence(byte(c)-0x40, s.in); m >= 0 {
			s.in = s.in[m:]
		} else {
			s.replace()
		}
	default:
		s.keep(n)
	}
}

func (s *sanitizer) keep(n int) {
	s.out.Write(s.in[:n])
	s.in, s.run = s.in[n:], false
}

func (s *sanitizer) put(text string) {
	s.out.WriteString(text)
	s.run = false
}

func (s *sanitizer) replace() {
	if !s.run {
		s.out.WriteRune(utf8.RuneError)
	}
	s.run = true
}

func (s *sanitizer) erase() {
	if c, n := utf8.DecodeLastRune(s.out.Bytes()); n > 0 && c != '\n' {
		s.out.Truncate(s.out.Len() - n)
		s.run = false
	}
}

// escape is the length of the sequence that begins with ESC at in[0].
func escape(in []byte) int {
	if len(in) == 1 {
		return 1
	}
	if n := sequence(in[1], in[2:]); n >= 0 {
		return 2 + n
	}
	n := 1
	for n < len(in) && in[n] >= 0x20 && in[n] <= 0x2f { // intermediates, as in ESC ( B
		n++
	}
	if n < len(in) && in[n] >= 0x30 && in[n] <= 0x7e {
		n++
	}
	return n
}

// sequence is how many bytes after the introducer belong to a CSI or string
// sequence, or -1 when intro (the byte after ESC) begins neither.
func sequence(intro byte, rest []byte) int {
	switch intro {
	case '[':
		return csi(rest)
	case ']', 'P', 'X', '^', '_':
		return stringEnd(rest)
	}
	return -1
}

// csi is parameters and intermediates (0x20 to 0x3f) and one final byte; a
// sequence broken by anything else ends before it.
func csi(rest []byte) int {
	n := 0
	for n < len(rest) && rest[n] >= 0x20 && rest[n] <= 0x3f {
		n++
	}
	if n < len(rest) && rest[n] >= 0x40 && rest[n] <= 0x7e {
		n++
	}
	return n
}

const maxStringSequence = 4096

// stringEnd is the length up to and with BEL or ST, or 0 when neither comes
// soon enough.
func stringEnd(rest []byte) int {
	rest = rest[:min(len(rest), maxStringSequence)]
	if line := bytes.IndexByte(rest, '\n'); line >= 0 {
		rest = rest[:line]
	}
	end := 0
	for _, mark := range []string{"\a", "\x1b\\", "\u009c"} {
		if at := bytes.Index(rest, []byte(mark)); at >= 0 && (end == 0 || at+len(mark) < end) {
			end = at + len(mark)
		}
	}
	return end
}
