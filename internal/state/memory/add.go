package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Addition is one line that a person adds to an instruction file.
type Addition struct {
	// Path is the file, absolute; it is created when it does not exist.
	Path string
	// Within, when set, is the folder that the file must really lie in: a repository
	// could have put a link in its place.
	Within string
	// Lock is a lock file that all additions share.
	Lock string
	Text string
}

// maxAddition bounds the line, in bytes.
const maxAddition = 4 << 10

// Add appends the line, as an entry of a list, and leaves every other byte of the
// file as it is. When it fails the file is as it was.
func Add(ctx context.Context, a Addition) error {
	line, err := a.line()
	if err != nil {
		return err
	}
	real, err := fsys.Real(a.Path)
	if err != nil {
		return err
	}
	if a.Within != "" && !fsys.Within(a.Within, real) {
		return fmt.Errorf("nothing is added to %s: it links to %s, outside this project; edit that file yourself if it is meant", fsys.Printable(a.Path), fsys.Printable(real))
	}
	return fsys.WithLock(ctx, a.Lock, func() error {
		raw, _, err := fsys.ReadRaw(real, fsys.Limits{MaxBytes: maxFile})
		if err != nil && fsys.CauseOf(err) != fsys.CauseMissing {
			return err
		}
		if _, err := textOf(raw); err != nil {
			return fmt.Errorf("nothing is added to %s: %w", fsys.Printable(a.Path), err)
		}
		_, err = fsys.WriteFile(real, appended(raw, line), fsys.WriteOptions{})
		return err
	})
}

// line is the text as one entry of a list.
func (a Addition) line() (string, error) {
	text := strings.Join(strings.Fields(a.Text), " ")
	text = strings.TrimSpace(strings.TrimPrefix(text, "- "))
	switch {
	case text == "" || text == "-":
		return "", errors.New("there is nothing to remember: write it after the sign")
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return "", errors.New("what is to be remembered is not text")
	case len(text) > maxAddition:
		return "", fmt.Errorf("what is to be remembered has %d bytes; an entry has one line of at most %d", len(text), maxAddition)
	}
	return "- " + text, nil
}

// appended keeps the file's way to end lines.
func appended(raw []byte, line string) []byte {
	end := "\n"
	if strings.Contains(string(raw), "\r\n") {
		end = "\r\n"
	}
	out := append([]byte(nil), raw...)
	if n := len(out); n > 0 && out[n-1] != '\n' {
		out = append(out, end...)
	}
	return append(out, line+end...)
}
