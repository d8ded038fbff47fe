package session

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/hew-agent/hew/internal/backend/plain"
)

// forkSuffix marks the title that a fork has from its source.
const forkSuffix = " (fork)"

// copyLimit is the size up to which a fork is a copy, which every reader of
// the format understands. A larger source is referred to: nobody waits for a
// gigabyte, or pays for it twice.
const copyLimit = 8 << 20

// Fork makes a session under a new id in this store that continues the one at
// path, which is only read. Up to copyLimit it is a copy: each line keeps its
// fields and their order, whatever they are; only its session id is replaced
// and its origin added (forkedFrom). Above it is a reference. The account is
// left out, as what it counts was spent by the source, and nothing that was
// granted in the source is in a transcript.
func (s Store) Fork(path, newID string) error {
	if !ValidID(newID) {
		return fmt.Errorf("session id %.60q is not a UUID", newID)
	}
	src, err := openTranscript(path)
	if err != nil {
		return fmt.Errorf("fork session: %w", err)
	}
	defer src.close()
	if err := os.MkdirAll(s.Dir(), 0o700); err != nil {
		return failed("create the folder of", s.Path(newID), err)
	}
	if _, err := os.Lstat(s.Path(newID)); err == nil {
		return &Exists{ID: newID}
	}
	write := func(w io.Writer) error { return copyFork(w, src.all(), newID) }
	if src.size > copyLimit {
		line, err := s.refer(path, src, newID)
		if err != nil {
			return fmt.Errorf("fork session: %w", err)
		}
		if line != nil {
			write = func(w io.Writer) error {
				_, err := w.Write(append(line, '\n'))
				return err
			}
		}
	}
	// The list first: a fork without it could lose what it names.
	if err := s.borrow(path, newID); err != nil {
		return fmt.Errorf("fork session: %w", err)
	}
	return replaceWith(s.Path(newID), "write the fork", write)
}

// refer is the first line of a fork of src, nil when it must be a copy because
// the source is outside this home.
func (s Store) refer(path string, src *transcript, newID string) ([]byte, error) {
	dir, name := filepath.Split(path)
	from := Store{Home: s.Home, Project: filepath.Base(dir)}
	id := strings.TrimSuffix(name, ".jsonl")
	if !ValidID(id) || !sameFile(from.Path(id), path) {
		return nil, nil
	}
	last := src.parts[len(src.parts)-1]
	whole, err := wholeLines(last.r, last.size)
	if err != nil || whole == 0 {
		return nil, err
	}
	sum, _ := from.summary(id)
	return encode(referenceLine{
		Type: referenceType, SessionID: newID, ForkedFrom: Reference{Session: id, Project: from.Project, Bytes: whole},
		Cwd: sum.Cwd, Branch: sum.Branch, Entrypoint: sum.Entrypoint,
		First: plain.Cut(sum.FirstPrompt, maxReferencePrompt), LastPrompt: plain.Cut(sum.LastPrompt, maxReferencePrompt), Title: forkTitle(sum.Title),
	}), nil
}

func forkTitle(title string) string {
	if title == "" {
		return ""
	}
	return title + forkSuffix
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// wholeLines is the size of r without a torn last line.
func wholeLines(r io.ReaderAt, size int64) (int64, error) {
	buf := make([]byte, stride)
	for end := size; end > 0; {
		start := max(0, end-stride)
		n, err := r.ReadAt(buf[:end-start], start)
		if int64(n) < end-start {
			return 0, err
		}
		if nl := bytes.LastIndexByte(buf[:n], '\n'); nl >= 0 {
			return start + int64(nl) + 1, nil
		}
		end = start
	}
	return 0, nil
}

// replaceWith makes what write writes the content of path, whole or not at all.
func replaceWith(path, op string, write func(io.Writer) error) error {
	dir, name := filepath.Split(path)
	tmp, err := os.CreateTemp(dir, "."+name+".*.tmp") // mode 0600
	if err != nil {
		return failed(op, path, err)
	}
	err = errors.Join(write(tmp), tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return failed(op, path, errors.Join(err, os.Remove(tmp.Name())))
	}
	return nil
}

func copyFork(dst io.Writer, src io.Reader, id string) error {
	w := bufio.NewWriterSize(dst, 256<<10)
	title := ""
	for r := newLineReader(src); ; {
		line, err := r.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		f := forked(line.bytes, id)
		title = or(f.title, title)
		if f.skip {
			continue
		}
		// bufio keeps its first error and returns it from Flush.
		_, _ = w.Write(f.line)
		_ = w.WriteByte('\n')
	}
	if title != "" {
		l := newLine().str("type", "custom-title").str("customTitle", forkTitle(title)).str("sessionId", id)
		_, _ = w.Write(append(l.done(), '\n'))
	}
	return w.Flush()
}

// forkedLine is a line of the source as it stands in the copy.
type forkedLine struct {
	line  []byte
	skip  bool
	title string
}

// forked rewrites one line. What is no JSON object is copied as it is.
func forked(line []byte, id string) forkedLine {
	out := forkedLine{line: line}
	var session, uuid []byte
	has, origin := false, false
	kindName := ""
	ok := eachField(line, func(key, val []byte) bool {
		switch string(key) {
		case "sessionId":
			if !has {
				session, has = val, true
			}
		case "uuid":
			uuid = val
		case "type":
			kindName = str(val)
		case "customTitle":
			out.title = str(val)
		case "forkedFrom":
			origin = true
		}
		return true
	})
	if !ok || !has {
		return out
	}
	out.skip = kindName == "cost-state" || kindName == "custom-title" || kindName == referenceType
	if kindName != "custom-title" {
		out.title = "" // a reference has its source's title, which is a line of its own there
	}
	at := cap(line) - cap(session) // where session begins: it is a piece of line
	copied := make([]byte, 0, len(line)+160)
	copied = appendString(append(copied, line[:at]...), id)
	copied = append(copied, line[at+len(session):]...)
	if uuid != nil && !origin {
		copied = bytes.TrimRight(copied, " \t")
		copied = append(copied[:len(copied)-1], `,"forkedFrom":{"sessionId":`...)
		copied = append(append(append(copied, session...), `,"messageUuid":`...), uuid...)
		copied = append(copied, '}', '}')
	}
	out.line = copied
	return out
}
