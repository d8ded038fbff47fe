package session

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/tidwall/gjson"
)

// maxLine is the longest line that is looked at. A request may have 32 MB, so
// no longer line can hold a message; it is skipped without being buffered.
const maxLine = 256 << 20

// lineReader yields the lines of a file with their offsets. A line's bytes
// are valid until the next call.
type lineReader struct {
	r    *bufio.Reader // nil when all of the file is in data
	data []byte
	long []byte
	off  int64 // of the byte after the last line returned
	no   int
}

// rawLine is one line without its ending.
type rawLine struct {
	bytes []byte
	off   int64
	no    int // 1-based
	// ended is false for a last line without a newline, tooLong for one over maxLine (bytes is then empty).
	ended, tooLong bool
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 256<<10)}
}

// next returns the next line, or io.EOF.
func (l *lineReader) next() (rawLine, error) {
	if l.r == nil {
		return l.inMemory()
	}
	out := rawLine{off: l.off, no: l.no + 1}
	l.long = l.long[:0]
	size := int64(0)
	for {
		part, err := l.r.ReadSlice('\n')
		size += int64(len(part))
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) && !errors.Is(err, io.EOF) {
			return out, err
		}
		out.ended = err == nil
		switch {
		case out.ended && len(l.long) == 0 && !out.tooLong:
			out.bytes = part
		case size > maxLine:
			out.tooLong, l.long = true, nil
		default:
			l.long = append(l.long, part...)
			out.bytes = l.long
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if size == 0 {
			return out, io.EOF
		}
		break
	}
	l.off += size
	l.no++
	if out.tooLong {
		out.bytes = nil
		return out, nil
	}
	out.trim()
	return out, nil
}

func (l *lineReader) inMemory() (rawLine, error) {
	rest := l.data[l.off:]
	if len(rest) == 0 {
		return rawLine{}, io.EOF
	}
	l.no++
	out := rawLine{off: l.off, no: l.no, bytes: rest}
	if n := bytes.IndexByte(rest, '\n'); n >= 0 {
		out.bytes, out.ended = rest[:n+1], true
	}
	l.off += int64(len(out.bytes))
	out.trim()
	return out, nil
}

// trim drops the line ending and, on the first line, a byte order mark.
func (l *rawLine) trim() {
	l.bytes = bytes.TrimSuffix(l.bytes, []byte("\n"))
	l.bytes = bytes.TrimSuffix(l.bytes, []byte("\r"))
	if l.no == 1 {
		if rest, ok := bytes.CutPrefix(l.bytes, []byte("\xef\xbb\xbf")); ok {
			l.bytes = rest
			l.off += 3
		}
	}
}

// eachField calls visit with every member of the JSON object in line, values
// as they stand, until visit returns false. It reports whether the line was
// one object as far as it was read: strings and brackets are balanced and
// nothing follows. It skips nested values instead of parsing them (text of
// megabytes costs a search for its quote), so what it accepts may still be
// invalid deeper down; lines that become messages are validated then.
func eachField(line []byte, visit func(key, val []byte) bool) bool {
	i := skipSpace(line, 0)
	if i >= len(line) || line[i] != '{' {
		return false
	}
	i = skipSpace(line, i+1)
	if i < len(line) && line[i] == '}' {
		return skipSpace(line, i+1) == len(line)
	}
	for {
		if i >= len(line) || line[i] != '"' {
			return false
		}
		keyEnd := stringEnd(line, i)
		if keyEnd < 0 {
			return false
		}
		key := line[i+1 : keyEnd-1]
		i = skipSpace(line, keyEnd)
		if i >= len(line) || line[i] != ':' {
			return false
		}
		i = skipSpace(line, i+1)
		end := valueEnd(line, i)
		if end < 0 {
			return false
		}
		if !visit(key, line[i:end]) {
			return true
		}
		i = skipSpace(line, end)
		switch {
		case i < len(line) && line[i] == ',':
			i = skipSpace(line, i+1)
		case i < len(line) && line[i] == '}':
			return skipSpace(line, i+1) == len(line)
		default:
			return false
		}
	}
}

// eachElement calls visit with every element of the JSON array in list, as far
// as it is one.
func eachElement(list []byte, visit func(val []byte) bool) {
	i := skipSpace(list, 0)
	if i >= len(list) || list[i] != '[' {
		return
	}
	for i = skipSpace(list, i+1); i < len(list) && list[i] != ']'; i = skipSpace(list, i) {
		end := valueEnd(list, i)
		if end < 0 || !visit(list[i:end]) {
			return
		}
		if i = skipSpace(list, end); i < len(list) && list[i] == ',' {
			i++
		}
	}
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// stringEnd returns the index after the closing quote of the string that
// opens at i, or -1.
func stringEnd(b []byte, i int) int {
	for at := i + 1; ; {
		n := bytes.IndexByte(b[at:], '"')
		if n < 0 {
			return -1
		}
		q := at + n
		slashes := 0
		for k := q - 1; k > i && b[k] == '\\'; k-- {
			slashes++
		}
		if slashes%2 == 0 {
			return q + 1
		}
		at = q + 1
	}
}

// valueEnd returns the index after the value that begins at i, or -1.
func valueEnd(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return stringEnd(b, i)
	case '{', '[':
		return nestedEnd(b, i)
	}
	end := i
	for end < len(b) && !bytes.ContainsRune([]byte(",}] \t\r\n"), rune(b[end])) {
		end++
	}
	if end == i {
		return -1
	}
	return end
}

func nestedEnd(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = stringEnd(b, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// str is the string that val holds, "" for any other value.
func str(val []byte) string {
	if len(val) < 2 || val[0] != '"' {
		return ""
	}
	if bytes.IndexByte(val, '\\') < 0 {
		return string(val[1 : len(val)-1])
	}
	return gjson.ParseBytes(val).String()
}
