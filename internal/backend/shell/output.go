package shell

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Excerpt is the beginning and the end of an output file.
type Excerpt struct {
	Head, Tail []byte // raw bytes, cut between characters; Tail is empty when Head is all
	Omitted    int64  // bytes between them
	Size       int64  // of the file when it was read
}

// ReadExcerpt reads at most head bytes from the beginning of a file and at most
// tail bytes from its end. Its cost does not depend on the file's size.
func ReadExcerpt(path string, head, tail int) (Excerpt, error) {
	f, err := os.Open(path)
	if err != nil {
		return Excerpt{}, fmt.Errorf("read command output: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Excerpt{}, fmt.Errorf("read command output: %w", err)
	}
	e := Excerpt{Size: info.Size()}
	if e.Size <= int64(head)+int64(tail) {
		e.Head, err = readRange(f, 0, int(e.Size))
		return e, err
	}
	if e.Head, err = readRange(f, 0, head); err != nil {
		return Excerpt{}, err
	}
	if e.Tail, err = readRange(f, e.Size-int64(tail), tail); err != nil {
		return Excerpt{}, err
	}
	e.Head = e.Head[:len(e.Head)-partialEnd(e.Head)]
	e.Tail = e.Tail[partialStart(e.Tail):]
	e.Omitted = e.Size - int64(len(e.Head)) - int64(len(e.Tail))
	return e, nil
}

// Text joins both ends, sanitised, with a line that says what is left out.
func (e Excerpt) Text() string {
	if e.Omitted == 0 {
		return Sanitize(e.Head)
	}
	head := Sanitize(e.Head)
	if head != "" && !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	return fmt.Sprintf("%s[… %d bytes left out …]\n%s", head, e.Omitted, Sanitize(e.Tail))
}

// Chunk is one step of reading a growing file.
type Chunk struct {
	Data  []byte // raw bytes
	Next  int64  // the offset to go on from
	Size  int64  // of the file when it was read
	Final bool   // set by Job.Output: the file does not grow any more
}

// ReadChunk reads at most limit bytes from offset. An offset behind the end
// gives an empty chunk. A character is not cut in two unless it alone is
// longer than limit, or the file ends inside it.
func ReadChunk(path string, offset int64, limit int) (Chunk, error) {
	if offset < 0 || limit <= 0 {
		return Chunk{}, fmt.Errorf("read command output: offset %d and limit %d must not be negative or zero", offset, limit)
	}
	f, err := os.Open(path)
	if err != nil {
		return Chunk{}, fmt.Errorf("read command output: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Chunk{}, fmt.Errorf("read command output: %w", err)
	}
	c := Chunk{Next: offset, Size: info.Size()}
	if offset >= c.Size {
		return c, nil
	}
	c.Data, err = readRange(f, offset, int(min(int64(limit), c.Size-offset)))
	if cut := partialEnd(c.Data); cut > 0 && cut < len(c.Data) && offset+int64(len(c.Data)) < c.Size {
		c.Data = c.Data[:len(c.Data)-cut]
	}
	c.Next += int64(len(c.Data))
	return c, err
}

// SaveCopy keeps the bytes of a file in the folder dir, at most MaxSaved of
// them, under a name made of what they are (see fsys.Keep). It returns where,
// and how many.
func SaveCopy(src, dir string) (string, int64, error) {
	in, err := os.Open(src)
	if err != nil {
		return "", 0, fmt.Errorf("save command output: %w", err)
	}
	defer in.Close()
	path, n, err := fsys.Keep(dir, ".txt", io.LimitReader(in, MaxSaved))
	if err != nil {
		return "", 0, fmt.Errorf("save command output: %w", err)
	}
	return path, n, nil
}

// tailLines is the sanitised end of a file: at most n lines of its last 4 KiB.
// A file that cannot be read has none.
func tailLines(path string, n int) string {
	e, err := ReadExcerpt(path, 0, 4<<10)
	if err != nil {
		return ""
	}
	end := e.Tail
	if e.Omitted == 0 {
		end = e.Head
	}
	text := strings.TrimRight(Sanitize(end), "\n")
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// readRange is short when the file is: it may have shrunk.
func readRange(f *os.File, offset int64, n int) ([]byte, error) {
	b := make([]byte, n)
	got, err := f.ReadAt(b, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read command output: %w", err)
	}
	return b[:got], nil
}

// partialEnd is the length of an unfinished UTF-8 sequence at the end of b.
func partialEnd(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		c := b[len(b)-n]
		if utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// partialStart is the number of continuation bytes that b begins with.
func partialStart(b []byte) int {
	n := 0
	for n < len(b) && n < utf8.UTFMax-1 && !utf8.RuneStart(b[n]) {
		n++
	}
	return n
}
