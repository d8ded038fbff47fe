package session

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Redacted stands for what was taken out.
const Redacted = "[redacted]"

// Redaction counts what was taken out of a session.
type Redaction struct {
	// Places is how many matches were replaced, Files in how many files.
	Places, Files int
}

// Redact takes every match of what out of a session: the strings of its
// transcript and of its subagents', the results in side files, its prompts in
// the prompt history. It rewrites these files, each whole or not at all, and
// moves what the forks in all refer to. It is a *Busy while a process has the
// session or such a fork open.
func (s Summary) Redact(what *regexp.Regexp, all []Summary) (Redaction, error) {
	r := redactor{what: what, session: s.ID}
	var forks []Summary
	for _, f := range all {
		if f.Refers != nil && f.Refers.Session == s.ID && f.Refers.Project == s.Store.Project {
			forks = append(forks, f)
		}
	}
	// A copy first: after the rewriting, their counts of bytes would lead nowhere.
	for _, f := range forks {
		if err := f.Detach(); err != nil {
			return r.Redaction, fmt.Errorf("fork %s refers to this session: %w", f.ID, err)
		}
	}
	err := s.rewrite("redact", func(w io.Writer, t *transcript) error {
		last := t.parts[len(t.parts)-1]
		return r.lines(w, io.NewSectionReader(last.r, 0, last.size))
	})
	if err != nil {
		return r.Redaction, err
	}
	err = errors.Join(r.folder(s.Store.Folder(s.ID)), r.history(filepath.Join(s.Store.Home, "history.jsonl")), s.Store.forget())
	return r.Redaction, errors.Join(err, s.Store.log("redact", s.ID, fmt.Sprintf("%d places in %d files", r.Places, r.Files)))
}

type redactor struct {
	Redaction
	what    *regexp.Regexp
	session string
}

// lines copies lines with the matches in their strings replaced.
func (r *redactor) lines(w io.Writer, in io.Reader) error {
	before := r.Places
	for lines := newLineReader(in); ; {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if line.tooLong {
			return fmt.Errorf("line %d is longer than %d MB and cannot be looked through; nothing was changed", line.no, maxLine>>20)
		}
		out := r.line(line.bytes)
		if line.ended {
			out = append(out[:len(out):len(out)], '\n')
		}
		if _, err := w.Write(out); err != nil {
			return err
		}
	}
	if r.Places > before {
		r.Files++
	}
	return nil
}

// line replaces matches in the strings of a line; in what is no JSON, anywhere.
func (r *redactor) line(line []byte) []byte {
	before := r.Places
	if !valid(line) {
		return r.text(line)
	}
	var out []byte
	key := ""
	for i := 0; i < len(line); {
		q := bytes.IndexByte(line[i:], '"')
		if q < 0 {
			out = append(out, line[i:]...)
			break
		}
		end := stringEnd(line, i+q)
		token := line[i+q : end]
		out = append(out, line[i:i+q]...)
		i = end
		if after := skipSpace(line, end); after < len(line) && line[after] == ':' {
			key = str(token)
		} else if !structural(key) {
			token = r.quoted(token)
		}
		out = append(out, token...)
	}
	if r.Places > before {
		return unsigned(out)
	}
	return line
}

// structural tells the fields that hold the file together; no words of people stand in them.
func structural(key string) bool {
	switch key {
	case "uuid", "parentUuid", "logicalParentUuid", "sourceToolAssistantUUID", "sessionId", "messageUuid", "leafUuid", "promptId", "messageId",
		"headUuid", "anchorUuid", "tailUuid", "uuids", "allUuids", "retractedUuids", "rewoundTo", "rewoundFrom", "agentId", "project",
		"type", "subtype", "role", "id", "tool_use_id", "requestId", "timestamp", "version", "cwd", "entrypoint", "userType", "client",
		"signature", "media_type", "model", "stop_reason":
		return true
	}
	return false
}

// quoted replaces the matches in one string.
func (r *redactor) quoted(token []byte) []byte {
	text := str(token)
	found := r.what.FindAllStringIndex(text, -1)
	if len(found) == 0 {
		return token
	}
	r.Places += len(found)
	return encode(r.what.ReplaceAllLiteralString(text, Redacted))
}

func (r *redactor) text(b []byte) []byte {
	n := len(r.what.FindAllIndex(b, -1))
	if n == 0 {
		return b
	}
	r.Places += n
	return r.what.ReplaceAllLiteral(b, []byte(Redacted))
}

// unsigned turns the thinking of a changed line into text: its signature would
// no longer fit, and the model API would refuse the whole conversation.
func unsigned(line []byte) []byte {
	v := gjson.GetBytes(line, `message.content`)
	if !v.IsArray() || v.Index == 0 || v.Get(`#(type=="thinking")`).Raw == "" {
		return line
	}
	out := append([]byte{}, line[:v.Index]...)
	out = append(out, `[{"type":"text","text":"[redacted thinking]"}]`...)
	return append(out, line[v.Index+len(v.Raw):]...)
}

// folder goes through the files beside a transcript.
func (r *redactor) folder(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		return r.file(path, func(w io.Writer, in io.Reader) error {
			switch filepath.Ext(path) {
			case ".jsonl", ".json":
				return r.lines(w, in)
			}
			raw, err := io.ReadAll(in)
			if err != nil {
				return err
			}
			before := r.Places
			_, err = w.Write(r.text(raw))
			if r.Places > before {
				r.Files++
			}
			return err
		})
	})
}

// file rewrites path when something in it changes.
func (r *redactor) file(path string, change func(io.Writer, io.Reader) error) error {
	f, _, err := fsys.OpenRegular(path)
	if err != nil {
		return err
	}
	defer closeQuietly(f)
	before := r.Places
	err = replaceWith(path, "redact", func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 256<<10)
		if err := errors.Join(change(b, f), b.Flush()); err != nil {
			return err
		}
		if r.Places == before {
			return errUnchanged
		}
		return nil
	})
	if errors.Is(err, errUnchanged) {
		return nil
	}
	return err
}

var errUnchanged = errors.New("nothing to change")

// history goes through the lines of the session in the prompt history.
func (r *redactor) history(path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return r.file(path, func(w io.Writer, in io.Reader) error {
		before := r.Places
		for lines := newLineReader(in); ; {
			line, err := lines.next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
			out := line.bytes
			if gjson.GetBytes(out, "sessionId").String() == r.session {
				out = r.line(out)
			}
			if _, err := w.Write(append(out[:len(out):len(out)], '\n')); err != nil {
				return err
			}
		}
		if r.Places > before {
			r.Files++
		}
		return nil
	})
}
