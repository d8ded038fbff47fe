package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hew-agent/hew/internal/surface/tui/keys"
	"github.com/hew-agent/hew/internal/wiring"
)

// bindingsName is the person's file of key bindings, in the configuration home.
const bindingsName = "keybindings.json"

// bindingsFile reads the key bindings again when their file has changed.
type bindingsFile struct {
	path string
	at   time.Time
	size int64
	had  bool
}

func (b *bindingsFile) read() (changes keys.Changes, problems []string, changed bool) {
	info, err := os.Stat(b.path)
	if err != nil {
		changed, b.had = b.had, false
		if changed && !errors.Is(err, fs.ErrNotExist) {
			problems = []string{err.Error()}
		}
		return nil, problems, changed
	}
	if b.had && info.ModTime().Equal(b.at) && info.Size() == b.size {
		return nil, nil, false
	}
	b.had, b.at, b.size = true, info.ModTime(), info.Size()
	changes, problems = readBindings(b.path)
	return changes, problems, true
}

// maxBindings is the largest file of key bindings that is read.
const maxBindings = 1 << 20

// readBindings reads a file of key bindings, with what is wrong in it.
func readBindings(path string) (keys.Changes, []string) {
	info, err := os.Stat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxBindings) {
		err = errors.New("no file, or larger than 1 MiB")
	}
	var raw []byte
	if err == nil {
		raw, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, []string{err.Error()}
	}
	changes, found := keys.Parse(raw)
	var problems []string
	for _, p := range found {
		problems = append(problems, p.String())
	}
	return changes, problems
}

// bindingFindings is what hew config lint says of the key bindings.
func bindingFindings(w wiring.Options) []wiring.Finding {
	path := ""
	if g, err := wiring.Survey(w); err == nil {
		path = filepath.Join(g.Home, bindingsName)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || path == "" {
		return nil
	}
	var out []wiring.Finding
	_, problems := readBindings(path)
	for _, p := range problems {
		out = append(out, wiring.Finding{Wrong: true, About: "keys", Text: path + ": " + p})
	}
	return out
}
