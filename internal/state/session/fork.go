package session

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Fork copies the session at path into this store under a new id. It streams:
// each line keeps its fields and their order, whatever they are; only its
// session id is replaced and its origin added (forkedFrom). The account is
// left out, as what it counts was spent by the source, and nothing that was
// granted in the source is in a transcript. The source is only read.
func (s Store) Fork(path, newID string) error {
	if !ValidID(newID) {
		return fmt.Errorf("session id %.60q is not a UUID", newID)
	}
	src, _, err := fsys.OpenRegular(path)
	if err != nil {
		return fmt.Errorf("fork session: %w", err)
	}
	defer closeQuietly(src)
	if err := os.MkdirAll(s.Dir(), 0o700); err != nil {
		return failed("create the folder of", s.Path(newID), err)
	}
	if _, err := os.Lstat(s.Path(newID)); err == nil {
		return &Exists{ID: newID}
	}
	tmp := filepath.Join(s.Dir(), "."+newID+".fork")
	dst, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return failed("write the fork", tmp, err)
	}
	err = errors.Join(copyFork(dst, src, newID), dst.Sync(), dst.Close())
	if err == nil {
		err = os.Rename(tmp, s.Path(newID))
	}
	if err != nil {
		return failed("write the fork", tmp, errors.Join(err, os.Remove(tmp)))
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
		l := newLine().str("type", "custom-title").str("customTitle", title+" (fork)").str("sessionId", id)
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
	out.skip = kindName == "cost-state" || kindName == "custom-title"
	if kindName != "custom-title" {
		out.title = ""
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
