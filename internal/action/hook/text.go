package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hew-agent/hew/internal/backend/shell"
)

const (
	// maxText is the number of characters of one text that a hook may put before
	// the model or a person (hooks.md §6).
	maxText = 10_000
	// preview is how many of them stay when the text goes to a file.
	preview = 2_000
)

// bound cuts the texts of an answer and makes them fit to be shown.
func (d *Dispatcher) bound(o *Outcome) {
	for _, at := range []*string{&o.Reason, &o.StopReason, &o.Message, &o.Title, &o.InitialPrompt} {
		*at = d.cut(*at)
	}
	for _, list := range []*[]string{&o.Context, &o.Messages, &o.ClassifierContext} {
		for i, s := range *list {
			(*list)[i] = d.cut(s)
		}
		*list = slices.DeleteFunc(*list, func(s string) bool { return s == "" })
	}
	for i, s := range o.Messages {
		o.Messages[i] = visible(s)
	}
	if o.Display != nil {
		s := clip(visible(*o.Display), maxText)
		o.Display = &s
	}
}

// cut keeps a text short; the whole goes to a file that the text names.
func (d *Dispatcher) cut(s string) string {
	s = shell.Sanitize([]byte(s))
	n := utf8.RuneCountInString(s)
	if n <= maxText {
		return s
	}
	if path, err := d.spill(s); err == nil {
		return clip(s, preview) + fmt.Sprintf("\n[%d characters; the whole text is in %s]", n, path)
	}
	return clip(s, preview) + fmt.Sprintf("\n[%d characters; the rest was cut]", n)
}

func (d *Dispatcher) spill(s string) (string, error) {
	if d.c.SpillDir == "" {
		return "", os.ErrNotExist
	}
	if err := os.MkdirAll(d.c.SpillDir, 0o700); err != nil {
		return "", fmt.Errorf("make the folder of long hook output: %w", err)
	}
	f, err := os.CreateTemp(d.c.SpillDir, "hook-*.txt")
	if err != nil {
		return "", fmt.Errorf("keep long hook output: %w", err)
	}
	_, err = f.WriteString(s)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return "", fmt.Errorf("keep long hook output: %w", err)
	}
	return filepath.Clean(f.Name()), nil
}

// visible drops what could disguise a text on a screen: control characters, and
// marks that change the direction of writing.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f:
			return -1
		}
		return r
	}, shell.Sanitize([]byte(s)))
}
