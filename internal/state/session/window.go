package session

import (
	"bytes"
	"errors"
	"io"

	"github.com/tidwall/gjson"
)

// A long session has been compacted many times, and what is alive of it is its
// end. From a file over wholeFile only that is indexed: a first pass looks for
// the last boundary, parsing nothing, and the window begins there, or with the
// first message that the boundary kept. When the live conversation turns out
// to lead out of the window, the whole file is indexed after all, so the answer
// is the same.

// window is the part of a file that a loader indexes.
type window struct {
	at    string // the entry that the conversation ends with, "" for the newest
	alone bool   // see loader.alone
	from  int64  // of the first line
	line  int    // its number, from 0
	// side are entries without a place in the chain that stand before it.
	side []lineRef
}

// errNoWindow says that the whole file must be indexed.
var errNoWindow = errors.New("the live conversation does not lie at the end of the file")

// findWindow is errNoWindow for a file without a compaction.
func findWindow(t *transcript) (window, error) {
	var w window
	found := false
	var boundary rawLine
	var meta []byte
	for r := newLineReader(t.all()); ; {
		line, err := r.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return w, err
		}
		if bytes.Contains(line.bytes, []byte(`"compact_boundary"`)) && isBoundary(line.bytes) {
			found, boundary, meta = true, line, bytes.Clone(line.bytes)
		} else if len(line.bytes) <= maxSide && !bytes.Contains(line.bytes, []byte(`"uuid"`)) {
			w.side = append(w.side, lineRef{line.off, len(line.bytes)})
		}
	}
	if !found {
		return w, errNoWindow
	}
	w.from, w.line = boundary.off, boundary.no-1
	if head := headOf(meta); head != "" {
		from, err := lineOf(t, boundary.off, head)
		if err != nil {
			return w, err
		}
		n, err := countLines(io.NewSectionReader(t, from, boundary.off-from))
		if err != nil {
			return w, err
		}
		w.from, w.line = from, w.line-n
	}
	return w, nil
}

// maxSide is the longest line that may be an entry beside the chain.
const maxSide = 64 << 10

func isBoundary(line []byte) bool {
	v := gjson.GetManyBytes(line, "type", "subtype", "isSidechain")
	return v[0].Str == "system" && v[1].Str == "compact_boundary" && !v[2].Bool()
}

// headOf is the first message that a boundary kept, "" when it kept none.
func headOf(line []byte) string {
	meta := gjson.GetBytes(line, "compactMetadata")
	for _, path := range []string{"preservedMessages.uuids.0", "preservedMessages.allUuids.0", "preservedSegment.headUuid"} {
		if head := meta.Get(path).String(); head != "" {
			return head
		}
	}
	return ""
}

// lineOf finds the entry with that uuid before end. What a compaction keeps
// stands shortly before it; much further up nobody looks.
func lineOf(t *transcript, end int64, uuid string) (int64, error) {
	for back := int64(4 << 20); back <= wholeFile; back *= 8 {
		from := max(0, end-back)
		at, err := lineIn(t, from, end, uuid)
		if err != nil || at >= 0 {
			return at, err
		}
		if from == 0 {
			break
		}
	}
	return 0, errNoWindow
}

// lineIn is the offset of the entry between from and end, -1 when it is not there.
func lineIn(t *transcript, from, end int64, uuid string) (int64, error) {
	quoted := encode(uuid)
	for r := newLineReader(io.NewSectionReader(t, from, end-from)); ; {
		line, err := r.next()
		if errors.Is(err, io.EOF) {
			return -1, nil
		}
		if err != nil {
			return -1, err
		}
		// The first line of a piece is cut, and then no JSON with a uuid of its own.
		if bytes.Contains(line.bytes, quoted) && valid(line.bytes) && gjson.GetBytes(line.bytes, "uuid").String() == uuid {
			return from + line.off, nil
		}
	}
}

func countLines(r io.Reader) (int, error) {
	buf := make([]byte, 256<<10)
	n := 0
	for {
		k, err := r.Read(buf)
		n += bytes.Count(buf[:k], []byte{'\n'})
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// early takes in what stands before the window and counts whatever its age.
func (l *loader) early(side []lineRef) error {
	for _, at := range side {
		if at.off >= l.base {
			return nil
		}
		line, err := l.readFile(at.off, at.size)
		if err != nil {
			return err
		}
		v := gjson.GetManyBytes(line, "type", "permissionMode", "mode")
		switch v[0].Str {
		case "custom-title", "ai-title", "last-prompt", "cost-state", "request-prefix", "permission-mode", "mode":
			l.sideEntry(v[0].Str, or(v[1].String(), v[2].String()), at)
		}
	}
	return nil
}
