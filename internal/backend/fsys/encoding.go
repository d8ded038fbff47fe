package fsys

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// Encoding is how the bytes of a text stand for characters.
type Encoding int

// The encodings. Latin1 is what browsers call by that name, windows-1252 with the five unassigned bytes as C1 controls,
// so that every byte is one character and back.
const (
	UTF8 Encoding = iota
	UTF8BOM
	UTF16LE // with byte order mark
	UTF16BE // with byte order mark
	UTF16LENoBOM
	UTF16BENoBOM
	Latin1
)

const (
	bomUTF8 = "\xef\xbb\xbf"
	bomLE   = "\xff\xfe"
	bomBE   = "\xfe\xff"
)

// String names the encoding for people.
func (e Encoding) String() string {
	return [...]string{"UTF-8", "UTF-8 with BOM", "UTF-16 LE", "UTF-16 BE", "UTF-16 LE without BOM", "UTF-16 BE without BOM", "Latin-1"}[e]
}

func (e Encoding) isUTF8() bool { return e == UTF8 || e == UTF8BOM }

func (e Encoding) bom() string {
	switch e {
	case UTF8BOM:
		return bomUTF8
	case UTF16LE:
		return bomLE
	case UTF16BE:
		return bomBE
	case UTF8, UTF16LENoBOM, UTF16BENoBOM, Latin1:
	}
	return ""
}

func (e Encoding) bomLen() int { return len(e.bom()) }

// width is the raw size of an ASCII character.
func (e Encoding) width() int {
	switch e {
	case UTF16LE, UTF16BE, UTF16LENoBOM, UTF16BENoBOM:
		return 2
	case UTF8, UTF8BOM, Latin1:
	}
	return 1
}

func (e Encoding) bigEndian() bool { return e == UTF16BE || e == UTF16BENoBOM }

// next decodes the first character of raw; an empty raw gives size 0.
func (e Encoding) next(raw []byte) unit {
	switch {
	case len(raw) == 0:
		return unit{r: utf8.RuneError}
	case e == Latin1:
		return unit{r: latin1Rune(raw[0]), size: 1}
	case e.width() == 2:
		return e.next16(raw)
	}
	r, n := utf8.DecodeRune(raw)
	return unit{r: r, size: n, bad: r == utf8.RuneError && n == 1}
}

func (e Encoding) next16(raw []byte) unit {
	if len(raw) < 2 {
		return unit{r: utf8.RuneError, size: len(raw), bad: true}
	}
	first := e.word(raw)
	if !utf16.IsSurrogate(first) {
		return unit{r: first, size: 2}
	}
	if len(raw) >= 4 {
		if r := utf16.DecodeRune(first, e.word(raw[2:])); r != utf8.RuneError {
			return unit{r: r, size: 4}
		}
	}
	return unit{r: utf8.RuneError, size: 2, bad: true}
}

func (e Encoding) word(raw []byte) rune {
	if e.bigEndian() {
		return rune(raw[0])<<8 | rune(raw[1])
	}
	return rune(raw[1])<<8 | rune(raw[0])
}

// EncodeError says that a text cannot hold a character in the encoding of its file.
type EncodeError struct {
	Rune     rune
	Encoding Encoding
}

// Error names character and encoding and the way out.
func (e *EncodeError) Error() string {
	return fmt.Sprintf("%q (U+%04X) does not exist in %s, the encoding of the file; use another character or convert the file to UTF-8 first", e.Rune, e.Rune, e.Encoding)
}

// Encode is the inverse of Decode for a whole new text: it adds the byte order mark and writes every "\n" as eol (LF
// and Mixed leave it; a "\r\n" in content counts as one line end). It fails with an *EncodeError.
func Encode(content string, e Encoding, eol EOL) ([]byte, error) {
	out := append(make([]byte, 0, len(content)*e.width()+4), e.bom()...)
	if eol == CRLF || eol == CR {
		content = plainEOL(content)
	}
	return e.append(out, content, func() string { return eol.String() })
}

// append encodes s; eol is asked for the ending of every line feed in it.
func (e Encoding) append(out []byte, s string, eol func() string) ([]byte, error) {
	var err error
	for i, r := range s {
		switch {
		case r == '\n':
			for _, c := range eol() {
				out, err = e.appendRune(out, c)
			}
		case r == utf8.RuneError && e.isUTF8():
			// Keep what is there byte by byte: s may hold U+FFFD itself or an invalid byte.
			_, n := utf8.DecodeRuneInString(s[i:])
			out = append(out, s[i:i+n]...)
		default:
			out, err = e.appendRune(out, r)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (e Encoding) appendRune(out []byte, r rune) ([]byte, error) {
	switch {
	case e == Latin1:
		b, ok := latin1Byte(r)
		if !ok {
			return nil, &EncodeError{Rune: r, Encoding: e}
		}
		return append(out, b), nil
	case e.width() == 2:
		for _, w := range utf16.AppendRune(nil, r) {
			if e.bigEndian() {
				out = append(out, byte(w>>8), byte(w))
			} else {
				out = append(out, byte(w), byte(w>>8))
			}
		}
		return out, nil
	}
	return utf8.AppendRune(out, r), nil
}

// latin1High is 0x80–0x9F of windows-1252 as the WHATWG encoding standard maps it.
var latin1High = [32]rune{
	0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D, 0x017D, 0x8F,
	0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D, 0x017E, 0x0178,
}

func latin1Rune(b byte) rune {
	if b >= 0x80 && b < 0xA0 {
		return latin1High[b-0x80]
	}
	return rune(b)
}

func latin1Byte(r rune) (byte, bool) {
	if r < 0x80 || (r >= 0xA0 && r <= 0xFF) {
		return byte(r), true
	}
	for i, h := range latin1High {
		if h == r {
			return byte(0x80 + i), true
		}
	}
	return 0, false
}
