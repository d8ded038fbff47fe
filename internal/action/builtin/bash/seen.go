package bash

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// freshFiles lists the files that the model has seen and that are still as it
// saw them. A command that is known to change nothing needs no such list.
func (c *call) freshFiles() []string {
	if c.facts.ReadOnly() {
		return nil
	}
	return slices.DeleteFunc(c.s.c.Seen.Paths(), func(p string) bool { return c.s.c.Seen.Check(p) == fsys.Changed })
}

// changedSince lists those of the files that are different now.
func (c *call) changedSince(fresh []string) []string {
	changed := slices.DeleteFunc(fresh, func(p string) bool { return c.s.c.Seen.Check(p) != fsys.Changed })
	slices.Sort(changed)
	return changed
}

// maxNamed is the number of changed files that are named.
const maxNamed = 10

func (c *call) changedNote(changed []string) string {
	names := make([]string, 0, maxNamed)
	for _, p := range changed[:min(len(changed), maxNamed)] {
		if rel, err := filepath.Rel(c.env.Cwd, p); err == nil && filepath.IsLocal(rel) {
			p = rel
		}
		names = append(names, fsys.Printable(p))
	}
	list := strings.Join(names, ", ")
	if more := len(changed) - len(names); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return "This command changed files that you have read: " + list + ". Read them again before you rely on their content or edit them."
}

// noteView records that the model has seen a file when the command was nothing
// but a way of showing it and all of it was shown. What was shown decides, not
// the options: each line of the file is the end of the same line of the output,
// so line numbers may stand before it.
func (c *call) noteView(shown string) {
	arg, ok := viewed(c.facts)
	if !ok {
		return
	}
	name := arg.Word.Text
	if !arg.Word.Tilde && strings.HasPrefix(name, "~") {
		name = "./" + name // a quoted tilde is a letter
	}
	path, err := fsys.Abs(c.env.Cwd, name)
	if err != nil {
		return
	}
	t, err := fsys.ReadText(path, fsys.Limits{MaxBytes: int64(4 * c.s.c.MaxOutput)})
	if err != nil || len(t.Raw) == 0 || !showsAll(shown, t.Content) {
		return
	}
	c.s.c.Seen.Record(path, fsys.View{Status: t.Status, Content: bytes.Clone(t.Raw), Extent: fsys.Whole})
}

func showsAll(shown, content string) bool {
	out := strings.Split(strings.TrimSuffix(shown, "\n"), "\n")
	lines := strings.Split(strings.TrimSuffix(content, "\n"), "\n")
	if len(out) != len(lines) {
		return false
	}
	for i, l := range lines {
		if !strings.HasSuffix(out[i], l) {
			return false
		}
	}
	return true
}
