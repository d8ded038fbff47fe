package session

import (
	"encoding/binary"
	"math/bits"
)

// maxDepth bounds nesting, as encoding/json does.
const maxDepth = 10_000

// valid reports whether b is one JSON value, as json.Valid does. It is several
// times as fast on the long strings that transcripts consist of, and a session
// of many megabytes is validated whole before it goes to a model again.
func valid(b []byte) bool {
	i := validValue(b, skipSpace(b, 0), 0)
	return i >= 0 && skipSpace(b, i) == len(b)
}

// validValue returns the index after the value that begins at i, or -1.
func validValue(b []byte, i, depth int) int {
	if i >= len(b) || depth > maxDepth {
		return -1
	}
	switch c := b[i]; {
	case c == '"':
		return validString(b, i+1)
	case c == '{':
		return validList(b, i+1, depth, '}')
	case c == '[':
		return validList(b, i+1, depth, ']')
	case c == 't':
		return validWord(b, i, "true")
	case c == 'f':
		return validWord(b, i, "false")
	case c == 'n':
		return validWord(b, i, "null")
	}
	return validNumber(b, i)
}

func validWord(b []byte, i int, word string) int {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return -1
	}
	return i + len(word)
}

// validList reads the members of an object or array up to its end.
func validList(b []byte, i, depth int, end byte) int {
	i = skipSpace(b, i)
	if i < len(b) && b[i] == end {
		return i + 1
	}
	for {
		if end == '}' {
			if i >= len(b) || b[i] != '"' {
				return -1
			}
			if i = validString(b, i+1); i < 0 {
				return -1
			}
			if i = skipSpace(b, i); i >= len(b) || b[i] != ':' {
				return -1
			}
			i = skipSpace(b, i+1)
		}
		if i = validValue(b, i, depth+1); i < 0 {
			return -1
		}
		i = skipSpace(b, i)
		switch {
		case i < len(b) && b[i] == ',':
			i = skipSpace(b, i+1)
		case i < len(b) && b[i] == end:
			return i + 1
		default:
			return -1
		}
	}
}

// Masks for eight bytes at a time.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plainEnd returns the index of the first byte from i on that a JSON string
// treats specially: a quote, a backslash or a control character; len(b) when
// there is none. It looks at eight bytes at a time. A borrow can only set marks
// above a true one, so the lowest mark is exact.
func plainEnd(b []byte, i int) int {
	for len(b)-i >= 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		quote, slash := x^(ones*'"'), x^(ones*'\\')
		marks := ((x-ones*0x20)&^x | (quote-ones)&^quote | (slash-ones)&^slash) & highs
		if marks != 0 {
			return i + bits.TrailingZeros64(marks)/8
		}
		i += 8
	}
	for i < len(b) && b[i] >= 0x20 && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

// validString returns the index after the closing quote of the string whose
// first byte is at i, or -1.
func validString(b []byte, i int) int {
	for {
		i = plainEnd(b, i)
		switch {
		case i >= len(b) || b[i] < 0x20:
			return -1
		case b[i] == '"':
			return i + 1
		}
		if i = validEscape(b, i+1); i < 0 {
			return -1
		}
	}
}

func validEscape(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 1
	case 'u':
		for k := 1; k <= 4; k++ {
			if i+k >= len(b) || !isHex(b[i+k]) {
				return -1
			}
		}
		return i + 5
	}
	return -1
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func validNumber(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	switch {
	case i < len(b) && b[i] == '0':
		i++
	default:
		if i = validDigits(b, i); i < 0 {
			return -1
		}
	}
	if i < len(b) && b[i] == '.' {
		if i = validDigits(b, i+1); i < 0 {
			return -1
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		return validDigits(b, i)
	}
	return i
}

// validDigits passes at least one digit.
func validDigits(b []byte, i int) int {
	from := i
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	if i == from {
		return -1
	}
	return i
}

// walkObject passes the object at i. consume is called with each key and the
// place of its value and returns the index after the value, -1 for a fault. It
// returns the index after the object, or -1.
func walkObject(b []byte, i int, consume func(key []byte, at int) int) int {
	if i >= len(b) || b[i] != '{' {
		return -1
	}
	if i = skipSpace(b, i+1); i < len(b) && b[i] == '}' {
		return i + 1
	}
	for i < len(b) && b[i] == '"' {
		from := i + 1
		if i = validString(b, from); i < 0 {
			return -1
		}
		key := b[from : i-1]
		if i = skipSpace(b, i); i >= len(b) || b[i] != ':' {
			return -1
		}
		if i = skipSpace(b, i+1); i >= len(b) {
			return -1
		}
		if i = consume(key, i); i < 0 {
			return -1
		}
		i = skipSpace(b, i)
		switch {
		case i < len(b) && b[i] == ',':
			i = skipSpace(b, i+1)
		case i < len(b) && b[i] == '}':
			return i + 1
		default:
			return -1
		}
	}
	return -1
}

// walkArray passes the array at i in the same way.
func walkArray(b []byte, i int, consume func(at int) int) int {
	if i = skipSpace(b, i+1); i < len(b) && b[i] == ']' {
		return i + 1
	}
	for i < len(b) {
		if i = consume(i); i < 0 {
			return -1
		}
		i = skipSpace(b, i)
		switch {
		case i < len(b) && b[i] == ',':
			i = skipSpace(b, i+1)
		case i < len(b) && b[i] == ']':
			return i + 1
		default:
			return -1
		}
	}
	return -1
}
