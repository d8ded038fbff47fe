package shellread

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// ansiC decodes the body of $'…' as bash does. ok is false for an escape that
// is not understood or that would yield a NUL.
func ansiC(s string) (string, bool) {
	if !strings.Contains(s, `\`) {
		return s, true
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		n, ok := ansiEscape(&b, s[i:])
		if !ok {
			return "", false
		}
		i += n - 1
	}
	return b.String(), utf8.ValidString(b.String()) && !strings.Contains(b.String(), hole)
}

const simpleEscapes = "a\a" + "b\b" + "e\x1b" + "E\x1b" + "f\f" + "n\n" + "r\r" + "t\t" + "v\v" + `\\` + "''" + `""` + "??"

// ansiEscape writes the value of the escape at the start of s, which follows a
// backslash, and returns how many bytes it takes.
func ansiEscape(b *strings.Builder, s string) (int, bool) {
	for i := 0; i < len(simpleEscapes); i += 2 {
		if simpleEscapes[i] == s[0] {
			b.WriteByte(simpleEscapes[i+1])
			return 1, true
		}
	}
	switch c := s[0]; {
	case c >= '0' && c <= '7':
		n := digits(s, 3, "01234567")
		v, _ := strconv.ParseUint(s[:n], 8, 16)
		b.WriteByte(byte(v))
		return n, byte(v) != 0
	case c == 'x':
		n := digits(s[1:], 2, hexDigits)
		v, err := strconv.ParseUint(s[1:1+n], 16, 8)
		b.WriteByte(byte(v))
		return 1 + n, err == nil && v != 0
	case c == 'u' || c == 'U':
		most := 4
		if c == 'U' {
			most = 8
		}
		n := digits(s[1:], most, hexDigits)
		v, err := strconv.ParseUint(s[1:1+n], 16, 32)
		b.WriteRune(rune(v))
		return 1 + n, err == nil && v != 0 && v <= utf8.MaxRune
	}
	return 0, false
}

const hexDigits = "0123456789abcdefABCDEF"

func digits(s string, most int, set string) int {
	n := 0
	for n < len(s) && n < most && strings.IndexByte(set, s[n]) >= 0 {
		n++
	}
	return n
}
