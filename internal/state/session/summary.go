package session

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/plain"
)

// Summary is what a list shows of a session. It is read from both ends of the
// file, so that a list of large sessions is quick.
type Summary struct {
	ID, Path string
	// Store is where the session lives.
	Store    Store
	Modified time.Time
	Size     int64
	// Cwd is where it was started, Branch the branch at that time.
	Cwd, Branch, Entrypoint string
	// Title is the name that it was given, LastPrompt and FirstPrompt its prompts when found.
	Title, LastPrompt, FirstPrompt string
	// Tag is the newest tag that the session was given.
	Tag string
	// ForkOf is the session that this one was forked from, "" for none. Refers
	// is set when its history stands in that one's file.
	ForkOf string
	Refers *Reference
	// Problem says why the file cannot be read; nothing but its name is then known.
	Problem string
}

// edge is how much of each end of a file a summary looks at; third-party
// lists look at as much.
const edge = 64 << 10

// summary reads both ends of a session's file; false when there is no such session.
func (s Store) summary(id string) (Summary, bool) {
	out := Summary{ID: id, Path: s.Path(id), Store: s}
	st, err := fsys.Stat(out.Path)
	if err == nil && st.Kind != fsys.KindRegular {
		return out, false
	}
	out.Modified, out.Size = st.ModTime, st.Size
	ok, err := out.read()
	if err != nil {
		out.Problem = err.Error()
		return out, true
	}
	return out, ok
}

// read looks at both ends of the file.
func (s *Summary) read() (bool, error) {
	f, st, err := fsys.OpenRegular(s.Path)
	if err != nil {
		return false, err
	}
	defer closeQuietly(f)
	s.Modified, s.Size = st.ModTime, st.Size
	head := make([]byte, min(s.Size, edge))
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return false, failed("read transcript", s.Path, err)
	}
	head = head[:n]
	var tail []byte
	if from := max(s.Size-edge, int64(n)); from < s.Size {
		tail = make([]byte, s.Size-from)
		n, err := f.ReadAt(tail, from)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, failed("read transcript", s.Path, err)
		}
		tail = tail[:n]
	}
	seen := s.refers(head)
	for line := range bytes.Lines(head) {
		if line = bytes.TrimSpace(line); opens(line) { // the last may be cut and still has its first fields
			seen = s.head(gjson.ParseBytes(line)) || seen
		}
	}
	for line := range bytes.Lines(tail) {
		if line = bytes.TrimSpace(line); opens(line) && bytes.HasSuffix(line, []byte("}")) {
			s.tail(gjson.ParseBytes(line))
		}
	}
	return seen || s.LastPrompt != "", nil
}

// opens tells whether a line begins as an object; other bytes are not looked at.
func opens(line []byte) bool {
	return bytes.HasPrefix(line, []byte("{")) || bytes.HasPrefix(line, []byte("\xef\xbb\xbf{"))
}

// refers takes in the first line of a fork by reference.
func (s *Summary) refers(head []byte) bool {
	line, _, ok := reference(head)
	if !ok {
		return false
	}
	s.Refers, s.ForkOf = &line.ForkedFrom, line.ForkedFrom.Session
	s.Cwd, s.Branch, s.Entrypoint = line.Cwd, line.Branch, line.Entrypoint
	s.FirstPrompt, s.LastPrompt, s.Title = line.First, line.LastPrompt, line.Title
	return true
}

// head takes in a line of the beginning and reports whether it belongs to a conversation.
func (s *Summary) head(v gjson.Result) bool {
	s.tail(v)
	if v.Get("isSidechain").Bool() {
		return false
	}
	s.Cwd = or(s.Cwd, v.Get("cwd").String())
	s.Branch = or(s.Branch, v.Get("gitBranch").String())
	s.Entrypoint = or(s.Entrypoint, v.Get("entrypoint").String())
	s.ForkOf = or(s.ForkOf, v.Get("forkedFrom.sessionId").String())
	if v.Get("type").Str != "user" {
		return v.Get("uuid").Exists()
	}
	if s.FirstPrompt == "" && !v.Get("isMeta").Bool() && !v.Get("isCompactSummary").Bool() {
		s.FirstPrompt = plain.Cut(promptText(v.Get("message.content")), maxReferencePrompt)
	}
	return true
}

func (s *Summary) tail(v gjson.Result) {
	switch v.Get("type").Str {
	case "tag":
		s.Tag = v.Get("tag").String()
	case "custom-title":
		s.Title = or(v.Get("customTitle").String(), s.Title)
	case "last-prompt":
		s.LastPrompt = or(plain.Cut(typed(v.Get("lastPrompt").String()), maxReferencePrompt), s.LastPrompt)
	}
}

// typed is what a person typed: of a skill or custom command its call, without
// the text that it stands for.
func typed(text string) string {
	rest, ok := strings.CutPrefix(text, "<command-message>")
	if !ok {
		return text
	}
	name, ok := between(rest, "<command-name>", "</command-name>")
	if !ok {
		return text
	}
	args, _ := between(rest, "<command-args>", "</command-args>")
	return strings.TrimSpace(name + " " + args)
}

// between is what stands between the first open and the close behind it.
func between(s, open, end string) (string, bool) {
	_, s, found := strings.Cut(s, open)
	s, _, ended := strings.Cut(s, end)
	return s, found && ended
}

// promptText is the text of a prompt, "" for a tool result or the text of a local command.
func promptText(content gjson.Result) string {
	text := content.String()
	if content.IsArray() {
		text = content.Get(`#(type=="text").text`).String()
	}
	text = typed(strings.TrimSpace(text))
	if strings.HasPrefix(text, "<command-") || strings.HasPrefix(text, "<local-command-") {
		return ""
	}
	return text
}
