package paint

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/surface/tui/term"
)

// Custom are the names of a person's own themes: the JSON files of a folder,
// each {"name", "base", "overrides": {"role": "look"}}.
func Custom(folder string) []string {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil
	}
	var out []string
	for _, f := range files {
		out = append(out, strings.TrimSuffix(filepath.Base(f), ".json"))
	}
	slices.Sort(out)
	return out
}

// file is a theme as its file holds it.
type file struct {
	Name      string            `json:"name"`
	Base      string            `json:"base"`
	Overrides map[string]string `json:"overrides"`
}

// Load is the theme of a name: built in, or one of the folder. A fault in a file
// is an error beside a theme that is good to use.
func Load(folder, name string, c term.Caps) (Theme, error) {
	t, err := ThemeNamed(name, c)
	if err == nil || strings.ContainsAny(name, `/\`) || !slices.Contains(Custom(folder), name) {
		return orAuto(t, err, c)
	}
	path := filepath.Join(folder, name+".json")
	raw, err := os.ReadFile(path)
	if err != nil {
		return orAuto(t, fmt.Errorf("read the theme %s: %w", name, err), c)
	}
	var f file
	if err := json.Unmarshal(raw, &f); err != nil {
		return orAuto(t, fmt.Errorf("theme file %s: %w", path, err), c)
	}
	t, err = ThemeNamed(f.Base, c)
	if err != nil {
		t, _ = orAuto(t, nil, c)
		err = fmt.Errorf("theme file %s: base: %w", path, err)
	}
	t.Name = name
	if c.Colours == term.NoColour {
		return t, err
	}
	if over := t.override(f.Overrides); over != nil {
		err = errors.Join(err, fmt.Errorf("theme file %s: %w", path, over))
	}
	return t, err
}

// orAuto replaces a theme that could not be had.
func orAuto(t Theme, err error, c term.Caps) (Theme, error) {
	if t.Name != "" {
		return t, err
	}
	auto, _ := ThemeNamed("auto", c) // the built-in themes have no faults: TestThemes
	return auto, err
}
