package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/state/settings"
)

// Sources of a record: the user's word to hew, or a mark of another tool, which
// says nothing about where keys may go.
const (
	byUser   = "user"
	bySource = "mark"
)

// maxRecord bounds the file of a record, in bytes.
const maxRecord = 32 << 20

// record is what was agreed to in one repository, or folder outside git.
type record struct {
	Version int    `json:"version"`
	Key     string `json:"folder"`
	Source  string `json:"source"`
	Items   []Item `json:"items"`
}

const recordVersion = 1

func recordPath(h settings.Home, key string) string {
	sum := sha256.Sum256([]byte(key))
	return h.Own("trust", hex.EncodeToString(sum[:12])+".json")
}

// readRecord returns nil when there is none. One that cannot be read is an
// error: it must not look like the first sight of a folder.
func readRecord(h settings.Home, key string) (*record, error) {
	path := recordPath(h, key)
	raw, _, err := fsys.ReadRaw(path, fsys.Limits{MaxBytes: maxRecord})
	if fsys.CauseOf(err) == fsys.CauseMissing {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var r record
	if err := json.Unmarshal(raw, &r); err != nil || r.Version != recordVersion || r.Key != key {
		return nil, fmt.Errorf("the trust record %s is damaged; look at the folder with hew trust, then accept it anew", fsys.Printable(path))
	}
	return &r, nil
}

func (r *record) write(h settings.Home) error {
	r.Version = recordVersion
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the trust record of %s: %w", fsys.Printable(r.Key), err)
	}
	path := recordPath(h, r.Key)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("keep the trust record: %w", err)
	}
	if _, err := fsys.WriteFile(path, append(data, '\n'), fsys.WriteOptions{Mode: 0o600}); err != nil {
		return fmt.Errorf("keep the trust record: %w", err)
	}
	return nil
}

// Change is one difference between what was agreed to and what is there.
type Change struct {
	// Old is zero for what is new, New for what is gone.
	Old, New Item
}

// asks tells whether a change needs a new yes: what is gone does not.
func (c Change) asks() bool { return c.New.Kind != "" }

// Diff shows a change line by line, "-" before what was agreed to and "+" before
// what is there. What is equal at both ends is left out.
func (c Change) Diff() string {
	oldLines, newLines := textLines(c.Old), textLines(c.New)
	for len(oldLines) > 0 && len(newLines) > 0 && oldLines[0] == newLines[0] {
		oldLines, newLines = oldLines[1:], newLines[1:]
	}
	for len(oldLines) > 0 && len(newLines) > 0 && oldLines[len(oldLines)-1] == newLines[len(newLines)-1] {
		oldLines, newLines = oldLines[:len(oldLines)-1], newLines[:len(newLines)-1]
	}
	var b strings.Builder
	for _, l := range oldLines {
		b.WriteString("- " + l + "\n")
	}
	for _, l := range newLines {
		b.WriteString("+ " + l + "\n")
	}
	return b.String()
}

func textLines(it Item) []string {
	if it.Kind == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(it.Text, "\n"), "\n")
}

// changes pairs items by what they are: kind, name and file. Several of one name
// (two hooks of one event) are paired by their content first.
func changes(agreed, now []Item) []Change {
	type place struct {
		kind       Kind
		name, file string
	}
	left := map[place][]Item{}
	for _, it := range agreed {
		p := place{it.Kind, it.Name, it.File}
		left[p] = append(left[p], it)
	}
	var fresh []Item
	folders := map[string]bool{}
	for _, it := range now {
		folders[it.Folder] = true
		p := place{it.Kind, it.Name, it.File}
		if i := indexOf(left[p], it.Digest); i >= 0 {
			left[p] = append(left[p][:i:i], left[p][i+1:]...)
			continue
		}
		fresh = append(fresh, it)
	}
	var out []Change
	for _, it := range fresh {
		p := place{it.Kind, it.Name, it.File}
		c := Change{New: it}
		if olds := left[p]; len(olds) > 0 {
			c.Old, left[p] = olds[0], olds[1:]
		}
		out = append(out, c)
	}
	for _, it := range agreed {
		p := place{it.Kind, it.Name, it.File}
		if i := indexOf(left[p], it.Digest); i >= 0 && folders[it.Folder] {
			left[p] = append(left[p][:i:i], left[p][i+1:]...)
			out = append(out, Change{Old: it})
		}
	}
	return out
}

func indexOf(items []Item, digest string) int {
	for i, it := range items {
		if it.Digest == digest {
			return i
		}
	}
	return -1
}
