package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
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
}

// edge is how much of each end of a file a summary looks at; third-party
// lists look at as much.
const edge = 64 << 10

// Surface tells which sessions a continuation may pick.
type Surface int

// The surfaces. People continue what people started; a script continues any.
const (
	Interactive Surface = iota
	Headless
)

// List returns the project's sessions, the newest first. Files that are no
// session (no entry, a subagent's log) are left out.
func (s Store) List() ([]Summary, error) {
	dir, err := os.ReadDir(s.Dir())
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, failed("list sessions in", s.Dir(), err)
	}
	var out []Summary
	for _, e := range dir {
		id, ok := strings.CutSuffix(e.Name(), ".jsonl")
		if !ok || !ValidID(id) {
			continue
		}
		if sum, ok := s.summary(id); ok {
			out = append(out, sum)
		}
	}
	slices.SortFunc(out, func(a, b Summary) int {
		if c := b.Modified.Compare(a.Modified); c != 0 {
			return c
		}
		return strings.Compare(b.ID, a.ID)
	})
	return out, nil
}

// Latest returns the session that --continue picks in directory cwd, or
// fs.ErrNotExist. Two directories may share a folder because their names
// differ in punctuation only; the other's sessions are not picked.
func (s Store) Latest(cwd string, from Surface) (Summary, error) {
	all, err := s.List()
	if err != nil {
		return Summary{}, err
	}
	for _, sum := range all {
		collides := sum.Cwd != cwd && Key(sum.Cwd) == Key(cwd)
		headless := strings.HasPrefix(sum.Entrypoint, "sdk")
		if collides || headless && from == Interactive {
			continue
		}
		return sum, nil
	}
	return Summary{}, fmt.Errorf("no conversation to continue in %s: %w", cwd, fs.ErrNotExist)
}

// Ambiguous says that a name leads to several sessions.
type Ambiguous struct {
	Name    string
	Matches []Summary
}

// Error lists the sessions.
func (a *Ambiguous) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q is the name of %d sessions; resume one by its id:", a.Name, len(a.Matches))
	for _, m := range a.Matches {
		fmt.Fprintf(&b, "\n  %s  %s  %s", m.ID, m.Modified.Format(time.DateTime), m.Cwd)
	}
	return b.String()
}

// Find returns the session with an id, or with exactly that title. An id is
// looked up in this project first, then in all others; a title in this project
// only. It is fs.ErrNotExist when there is none, *Ambiguous when several.
func (s Store) Find(name string) (Summary, error) {
	var found []Summary
	var err error
	if ValidID(name) {
		found, err = s.byID(name)
	} else {
		found, err = s.byTitle(name)
	}
	switch {
	case err != nil:
		return Summary{}, err
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return Summary{}, &Ambiguous{Name: name, Matches: found}
	}
	return Summary{}, fmt.Errorf("no session found with id or name %q: %w", name, fs.ErrNotExist)
}

func (s Store) byID(id string) ([]Summary, error) {
	if sum, ok := s.summary(id); ok {
		return []Summary{sum}, nil
	}
	projects, err := os.ReadDir(filepath.Join(s.Home, "projects"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, failed("look for sessions in", s.Home, err)
	}
	var out []Summary
	for _, p := range projects {
		other := Store{Home: s.Home, Project: p.Name()}
		if sum, ok := other.summary(id); ok {
			out = append(out, sum)
		}
	}
	return out, nil
}

// byTitle looks at the ends of the files first, and reads them whole only
// when no end has the title.
func (s Store) byTitle(title string) ([]Summary, error) {
	all, err := s.List()
	if err != nil {
		return nil, err
	}
	match := func(sum Summary) bool { return strings.EqualFold(sum.Title, title) }
	found := slices.DeleteFunc(slices.Clone(all), func(sum Summary) bool { return !match(sum) })
	if len(found) > 0 {
		return found, nil
	}
	for _, sum := range all {
		if sum.Title != "" || sum.Size <= 2*edge {
			continue
		}
		if sum.Title = fullTitle(sum.Path); match(sum) {
			found = append(found, sum)
		}
	}
	return found, nil
}

func fullTitle(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer closeQuietly(f)
	title := ""
	for r := newLineReader(f); ; {
		line, err := r.next()
		if err != nil {
			return title
		}
		if v := gjson.GetBytes(line.bytes, "type"); v.Str == "custom-title" {
			title = or(gjson.GetBytes(line.bytes, "customTitle").String(), title)
		}
	}
}

// summary reads both ends of a session's file; false when there is no such session.
func (s Store) summary(id string) (Summary, bool) {
	out := Summary{ID: id, Path: s.Path(id), Store: s}
	if info, err := os.Stat(out.Path); err != nil || !info.Mode().IsRegular() {
		return out, false
	}
	f, err := os.Open(out.Path)
	if err != nil {
		return out, false
	}
	defer closeQuietly(f)
	info, err := f.Stat()
	if err != nil {
		return out, false
	}
	out.Modified, out.Size = info.ModTime(), info.Size()
	head := make([]byte, min(out.Size, edge))
	if _, err := io.ReadFull(f, head); err != nil {
		return out, false
	}
	var tail []byte
	if from := max(out.Size-edge, int64(len(head))); from < out.Size {
		tail = make([]byte, out.Size-from)
		if _, err := f.ReadAt(tail, from); err != nil {
			return out, false
		}
	}
	seen := false
	for line := range strings.Lines(string(head)) {
		seen = out.head(gjson.Parse(line)) || seen
	}
	for line := range strings.Lines(string(tail)) {
		out.tail(gjson.Parse(line))
	}
	return out, seen || out.LastPrompt != ""
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
	if v.Get("type").Str != "user" {
		return v.Get("uuid").Exists()
	}
	if s.FirstPrompt == "" && !v.Get("isMeta").Bool() && !v.Get("isCompactSummary").Bool() {
		s.FirstPrompt = promptText(v.Get("message.content"))
	}
	return true
}

func (s *Summary) tail(v gjson.Result) {
	switch v.Get("type").Str {
	case "custom-title":
		s.Title = or(v.Get("customTitle").String(), s.Title)
	case "last-prompt":
		s.LastPrompt = or(v.Get("lastPrompt").String(), s.LastPrompt)
	}
}

// promptText is the text of a prompt, "" for a tool result or the text of a command.
func promptText(content gjson.Result) string {
	text := content.String()
	if content.IsArray() {
		text = content.Get(`#(type=="text").text`).String()
	}
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "<command-") || strings.HasPrefix(text, "<local-command-") {
		return ""
	}
	return text
}
