package search

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// typesText names file types, one a line: the name, then globs of file names.
// Names are those of ripgrep's --type, since models write them from memory.
//
//go:embed types.txt
var typesText string

var fileTypes = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for line := range strings.Lines(typesText) {
		if f := strings.Fields(line); len(f) > 1 {
			out[f[0]] = f[1:]
		}
	}
	return out
})

// UnknownTypeError reports a file type that is not in the table.
type UnknownTypeError struct {
	Type string
	Near []string // known names that look alike
}

func (e *UnknownTypeError) Error() string {
	msg := fmt.Sprintf("unrecognized file type: %s", e.Type)
	if len(e.Near) > 0 {
		msg += " (known: " + strings.Join(e.Near, ", ") + ")"
	}
	return msg + "; use glob to select files by name instead"
}

// typeGlobs returns the globs of a file type.
func typeGlobs(name string) ([]string, error) {
	if globs, ok := fileTypes()[name]; ok {
		return globs, nil
	}
	e := &UnknownTypeError{Type: name}
	bare := strings.ToLower(strings.TrimPrefix(name, "."))
	for known, globs := range fileTypes() {
		if known == bare || slices.Contains(globs, "*."+bare) || len(bare) > 2 && strings.HasPrefix(known, bare[:3]) {
			e.Near = append(e.Near, known)
		}
	}
	slices.Sort(e.Near)
	e.Near = e.Near[:min(len(e.Near), 8)]
	return nil, e
}
