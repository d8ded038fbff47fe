package fsys

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// EOL is how the lines of a text end.
type EOL int

// The line endings. A text without any line end counts as LF.
const (
	LF EOL = iota
	CRLF
	CR
	Mixed // more than one kind
)

// String returns the bytes of the ending; Mixed gives "\n".
func (e EOL) String() string { return [...]string{"\n", "\r\n", "\r", "\n"}[e] }

// Text is a text file: its bytes, and the same decoded for people and models. Content is UTF-8 without byte order mark;
// CRLF is "\n" in it, and so is CR in a text that has no other ending. Nothing else is normalised. Treat as read-only.
type Text struct {
	Path         string // as given to ReadText
	Raw          []byte
	Status       Status // of the open file that Raw was read from
	Encoding     Encoding
	EOL          EOL
	FinalNewline bool // the last line is ended (an empty text has none)
	Content      string
	// Undecodable counts bytes or units that are not valid in Encoding; each is U+FFFD in Content. They survive edits
	// around them.
	Undecodable int
}

// Limits bound ReadText; zero values mean no bound.
type Limits struct {
	MaxBytes int64
}

// TooLargeError is the detail inside an *Error with CauseTooLarge.
type TooLargeError struct {
	Size, Limit int64
}

// Error names both sizes.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%d bytes, the limit is %d; read a part of it instead", e.Size, e.Limit)
}

// ReadText reads a whole regular file as text. Errors are *Error: CauseMissing, CauseIsDir, CauseNotRegular,
// CauseTooLarge (with a *TooLargeError; a sparse file is refused by its size, unread), CauseBinary, CausePermission.
func ReadText(path string, lim Limits) (*Text, error) {
	raw, st, err := ReadRaw(path, lim)
	if err != nil {
		return nil, err
	}
	t, err := Decode(raw)
	if err != nil {
		return nil, &Error{Op: "read", Path: path, Cause: CauseBinary, Err: err}
	}
	t.Path, t.Status = path, st
	return t, nil
}

// ReadRaw reads all bytes of a regular file, with the errors of ReadText except CauseBinary.
func ReadRaw(path string, lim Limits) (raw []byte, st Status, err error) {
	f, st, err := OpenRegular(path)
	if err != nil {
		return nil, st, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if lim.MaxBytes > 0 && st.Size > lim.MaxBytes {
		return nil, st, &Error{Op: "read", Path: path, Cause: CauseTooLarge, Err: &TooLargeError{Size: st.Size, Limit: lim.MaxBytes}}
	}
	var buf bytes.Buffer
	buf.Grow(int(min(st.Size, 64<<20)) + bytes.MinRead)
	// Files in /proc claim size 0 and a file may grow while it is read: the limit holds for what comes, too.
	var src io.Reader = f
	if lim.MaxBytes > 0 {
		src = io.LimitReader(f, lim.MaxBytes+1)
	}
	if _, err := buf.ReadFrom(src); err != nil {
		return nil, st, wrap("read", path, err)
	}
	if n := int64(buf.Len()); lim.MaxBytes > 0 && n > lim.MaxBytes {
		return nil, st, &Error{Op: "read", Path: path, Cause: CauseTooLarge, Err: &TooLargeError{Size: n, Limit: lim.MaxBytes}}
	}
	return buf.Bytes(), st, nil
}

// Decode recognises encoding and line endings of raw, which the Text keeps. It fails when raw is binary.
func Decode(raw []byte) (*Text, error) {
	enc, err := detect(raw)
	if err != nil {
		return nil, err
	}
	t := &Text{Raw: raw, Encoding: enc}
	body := raw[enc.bomLen():]
	if enc.isUTF8() && bytes.IndexByte(body, '\r') < 0 && utf8.Valid(body) {
		t.Content = string(body)
	} else if err := t.decodeUnits(); err != nil {
		return nil, err
	}
	t.FinalNewline = strings.HasSuffix(t.Content, "\n")
	return t, nil
}

func (t *Text) decodeUnits() error {
	var lf, crlf, cr, odd, all int
	for u := range t.units(Mixed) {
		switch {
		case u.size > t.Encoding.width() && u.r == '\n':
			crlf++
		case u.r == '\n':
			lf++
		case u.r == '\r':
			cr++
		}
		if u.bad {
			t.Undecodable++
		}
		if u.bad || isControl(u.r) {
			odd++
		}
		all++
	}
	// A mark or zero bytes in the right places do not make UTF-16 of a binary file.
	if t.Encoding.width() == 2 && odd*20 > all {
		return errControl
	}
	t.EOL = eolOf(lf, crlf, cr)
	var b strings.Builder
	b.Grow(len(t.Raw))
	for u := range t.units(t.EOL) {
		b.WriteRune(u.r)
	}
	t.Content = b.String()
	return nil
}

func eolOf(lf, crlf, cr int) EOL {
	switch {
	case crlf > 0 && lf == 0 && cr == 0:
		return CRLF
	case cr > 0 && lf == 0 && crlf == 0:
		return CR
	case crlf > 0 || cr > 0:
		return Mixed
	}
	return LF
}

// unit is one rune of Content and the raw bytes that it stands for: a CRLF pair is one "\n" unit.
type unit struct {
	r    rune
	size int // raw bytes
	bad  bool
}

// units walks the raw bytes after the byte order mark. eol is needed to know whether a lone CR is a line end.
func (t *Text) units(eol EOL) func(yield func(unit) bool) {
	return func(yield func(unit) bool) {
		rest := t.Raw[t.Encoding.bomLen():]
		for len(rest) > 0 {
			u := t.Encoding.next(rest)
			if u.r == '\r' {
				if eol == CR {
					u.r = '\n'
				} else if n := t.Encoding.next(rest[u.size:]); n.r == '\n' {
					u = unit{r: '\n', size: u.size + n.size}
				}
			}
			rest = rest[u.size:]
			if !yield(u) {
				return
			}
		}
	}
}

var (
	errNUL     = errors.New("it holds NUL bytes")
	errControl = errors.New("it holds control bytes that no text has")
)

// sniffLen is how far into a file a NUL makes it binary; git looks at as many bytes.
const sniffLen = 8000

func detect(raw []byte) (Encoding, error) {
	switch {
	case bytes.HasPrefix(raw, []byte(bomUTF8)):
		return UTF8BOM, nil
	case bytes.HasPrefix(raw, []byte(bomLE)):
		return UTF16LE, nil
	case bytes.HasPrefix(raw, []byte(bomBE)):
		return UTF16BE, nil
	}
	head := raw[:min(len(raw), sniffLen)]
	if bytes.IndexByte(head, 0) >= 0 {
		return detectUTF16(head)
	}
	multi, bad, ctrl := 0, 0, 0
	if utf8.Valid(raw) {
		return UTF8, nil
	}
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRune(raw[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			bad++
		case n > 1:
			multi++
		case isControl(r):
			ctrl++
		}
		i += n
	}
	if ctrl*20 > len(raw) {
		return UTF8, errControl
	}
	if multi > bad { // UTF-8 with damage, not another encoding
		return UTF8, nil
	}
	return Latin1, nil
}

// detectUTF16 recognises UTF-16 without a mark by its zero high bytes: mostly Latin text, in which one of the two byte
// positions is zero for at least seven units in ten and the other never.
func detectUTF16(head []byte) (Encoding, error) {
	var zero [2]int
	for i, c := range head {
		if c == 0 {
			zero[i%2]++
		}
	}
	units := len(head) / 2
	enough := func(n int) bool { return units > 1 && n*10 >= units*7 }
	switch {
	case zero[0] == 0 && enough(zero[1]):
		return UTF16LENoBOM, nil
	case zero[1] == 0 && enough(zero[0]):
		return UTF16BENoBOM, nil
	}
	return UTF8, errNUL
}

// isControl reports characters that texts hold at most by accident.
func isControl(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\v\f\r\b\x1b", r) }
