package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"
)

// Typed is one prompt of the history that people recall with the arrow keys.
type Typed struct {
	Display string `json:"display"`
	// Pasted holds long pastes by number.
	Pasted map[string]json.RawMessage `json:"pastedContents"`
	// Timestamp is in milliseconds since 1970.
	Timestamp int64  `json:"timestamp"`
	Project   string `json:"project"`
	SessionID string `json:"sessionId"`
}

// Texts are the long pastes as text.
func (t Typed) Texts() map[int]string {
	var out map[int]string
	for key, raw := range t.Pasted {
		var p struct{ Content string }
		n, err := strconv.Atoi(key)
		if err != nil || json.Unmarshal(raw, &p) != nil || p.Content == "" {
			continue
		}
		if out == nil {
			out = map[int]string{}
		}
		out[n] = p.Content
	}
	return out
}

// History is the prompt history of a configuration home: what was typed into
// interactive sessions, of all projects, one JSON object a line.
type History struct{ path string }

// OpenHistory names the history below the configuration home; it opens nothing.
func OpenHistory(home string) History { return History{filepath.Join(home, "history.jsonl")} }

// Add appends a prompt, unless it is the same as the newest of its project.
func (h History) Add(t Typed) error {
	for old, err := range h.Newest() {
		if err == nil && old.Project == t.Project && old.Display == t.Display {
			return nil
		}
		break
	}
	if t.Pasted == nil {
		t.Pasted = map[string]json.RawMessage{}
	}
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return failed("create the folder of", h.path, err)
	}
	f, err := openAppend(h.path, os.O_CREATE)
	if err != nil {
		return failed("open", h.path, err)
	}
	l := &Log{path: h.path, f: f, disk: f, torn: endsTorn(f)}
	return errors.Join(l.Append(encode(t)), failed("close", h.path, f.Close()))
}

// Newest yields the prompts from the newest to the oldest, reading the file
// backwards in pieces as far as it is asked to. Lines that are no prompt are
// passed over; an error of reading ends it.
func (h History) Newest() iter.Seq2[Typed, error] {
	return func(yield func(Typed, error) bool) {
		f, err := os.Open(h.path)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(Typed{}, failed("read", h.path, err))
			return
		}
		defer closeQuietly(f)
		info, err := f.Stat()
		if err != nil {
			yield(Typed{}, failed("read", h.path, err))
			return
		}
		for line, err := range backwards(f, info.Size()) {
			if err != nil {
				yield(Typed{}, failed("read", h.path, err))
				return
			}
			var t Typed
			if json.Unmarshal(line, &t) != nil || t.Display == "" {
				continue
			}
			if !yield(t, nil) {
				return
			}
		}
	}
}

// stride is how much a backward reader reads at a time.
const stride = 32 << 10

// backwards yields the lines of r from the last to the first, without their
// endings. A line is valid until the next one. Lines over maxLine are passed
// over, the memory in use is bounded by the longest line.
func backwards(r io.ReaderAt, size int64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var rest [][]byte // pieces of a line whose start is further up, last piece first
		length := 0
		for end := size; end > 0; {
			start := max(0, end-stride)
			buf := make([]byte, end-start)
			if n, err := r.ReadAt(buf, start); n < len(buf) {
				yield(nil, err)
				return
			}
			end = start
			for {
				nl := bytes.LastIndexByte(buf, '\n')
				if nl < 0 {
					break
				}
				if !emit(yield, append(rest, buf[nl+1:]), length) {
					return
				}
				rest, length, buf = rest[:0], 0, buf[:nl]
			}
			if length += len(buf); length <= maxLine {
				rest = append(rest, buf)
			} else {
				rest = rest[:0]
			}
		}
		emit(yield, rest, length)
	}
}

// emit joins the pieces of a line and yields it; blank ones are passed over.
func emit(yield func([]byte, error) bool, pieces [][]byte, length int) bool {
	if length > maxLine {
		return true
	}
	var line []byte
	for i := len(pieces) - 1; i >= 0; i-- {
		line = append(line, pieces[i]...)
	}
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return true
	}
	return yield(line, nil)
}
