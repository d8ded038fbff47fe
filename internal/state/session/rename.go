package session

import (
	"errors"
	"strings"
	"unicode"
)

// maxTitle is how long a session's name may be, in characters.
const maxTitle = 200

// CleanTitle makes a name fit for one line: control characters become spaces,
// and it is cut at 200 characters.
func CleanTitle(title string) string {
	title = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(title, "\uFFFD")))
	if r := []rune(title); len(r) > maxTitle {
		title = strings.TrimSpace(string(r[:maxTitle]))
	}
	return title
}

// Rename gives the session a name. The entry hangs in no chain and is written
// with one write call, so a running session can be renamed, too.
func (s Summary) Rename(title string) error { return s.side("custom-title", "customTitle", title) }

// SetTag gives the session a tag; "" takes it away.
func (s Summary) SetTag(tag string) error { return s.side("tag", "tag", tag) }

func (s Summary) side(kind, field, value string) error {
	f, err := openAppend(s.Path, 0)
	if err != nil {
		return failed("open", s.Path, err)
	}
	l := &Log{id: s.ID, path: s.Path, f: f, disk: f, torn: endsTorn(f)}
	line := newLine().str("type", kind).str(field, CleanTitle(value)).str("sessionId", s.ID).done()
	return errors.Join(l.Append(line), failed("close", s.Path, f.Close()))
}
