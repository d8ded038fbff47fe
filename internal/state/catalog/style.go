package catalog

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/backend/frontmatter"
	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Style is an output style: how the model is asked to answer.
type Style struct {
	Origin            Origin
	Name, Description string
	// KeepCoding keeps the part of the system prompt about software work.
	KeepCoding bool
	// Forced tells that its plugin turns it on by itself.
	Forced bool

	prompt string
}

// BuiltInStyle makes one of hew's own styles.
func BuiltInStyle(name, description, prompt string) *Style {
	return &Style{Origin: Origin{Scope: Bundled}, Name: name, Description: description, KeepCoding: true, prompt: prompt}
}

// Prompt is what the style adds to the system prompt.
func (s *Style) Prompt() (string, error) {
	if s.Origin.File == "" {
		return s.prompt, nil
	}
	raw, _, err := fsys.ReadRaw(s.Origin.File, fsys.Limits{MaxBytes: bodyLimit})
	if err != nil {
		return "", fmt.Errorf("read the output style %s: %w", s.Name, err)
	}
	return strings.TrimSpace(frontmatter.Parse(raw).Body), nil
}

// Style finds an output style by its name in any case, nil when there is none.
func (k *Catalog) Style(name string) *Style {
	i := slices.IndexFunc(k.Styles, func(s *Style) bool { return strings.EqualFold(s.Name, name) })
	if i < 0 {
		return nil
	}
	return k.Styles[i]
}

func (k *Catalog) loadStyles() {
	var files []file
	for _, p := range k.places([]Scope{Managed, Project, User}, "output-styles") {
		files = append(files, k.markdown(p)...)
	}
	for _, f := range k.heads(files) {
		k.addStyle(k.style(f, ""))
	}
	for _, p := range k.c.Plugins {
		for _, dir := range p.Styles {
			for _, f := range k.heads(k.markdown(place{dir, p.origin(dir)})) {
				k.addStyle(k.style(f, p.Name+":"))
			}
		}
	}
	byName(k.Styles, func(s *Style) string { return s.Name })
}

func (k *Catalog) addStyle(s *Style) {
	if k.Style(s.Name) == nil {
		k.Styles = append(k.Styles, s)
	}
}

func (k *Catalog) style(f file, prefix string) *Style {
	m := f.matter
	if m.Problem != "" {
		k.problem(f.origin, "its front matter is not YAML (%s); it was read line by line", m.Problem)
	}
	s := &Style{Origin: f.origin, Name: m.Text("name"), Description: m.Text("description")}
	if s.Name == "" {
		s.Name = filepath.Base(filepath.FromSlash(f.rel))
	}
	s.Name = prefix + s.Name
	s.KeepCoding, _ = m.Bool("keep-coding-instructions")
	if f.origin.Plugin != "" {
		s.Forced, _ = m.Bool("force-for-plugin")
	}
	return s
}
