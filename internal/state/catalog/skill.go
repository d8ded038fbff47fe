package catalog

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hew-agent/hew/internal/backend/frontmatter"
	"github.com/hew-agent/hew/internal/backend/fsys"
)

// bodyLimit is the size in bytes of the longest body of a definition. More
// than that is no instruction: it would fill the window.
const bodyLimit = 1 << 20

// Skill is a skill or a custom slash command: instructions that enter the
// conversation when they are asked for. Fields as the ecosystem names them.
type Skill struct {
	Origin Origin
	// Name is what is typed after the slash, Label what lists show.
	Name, Label string
	// Description and WhenToUse are what the model chooses by.
	Description, WhenToUse string
	ArgumentHint           string
	// Arguments are the names of the arguments, for `$name`.
	Arguments []string
	// ForModel and ForUser tell who may invoke it.
	ForModel, ForUser bool
	// Allowed are rules that count while the invoking turn lasts, Disallowed
	// tools that are gone for it.
	Allowed, Disallowed []string
	// Model and Effort hold for the rest of the turn, "" for no change.
	Model, Effort string
	// Fork asks for a subagent of type Agent ("" for the default), Background
	// says how it runs, nil for the default.
	Fork       bool
	Agent      string
	Background *bool
	// Hooks are registered when the skill is invoked, nil for none.
	Hooks json.RawMessage
	// Paths are globs: the skill is loaded by itself only beside such files.
	Paths []string
	// Shell runs injected commands, "" for the default.
	Shell string
	// Dir is the skill's folder, "" for a single command file.
	Dir string
	// Root and Data are the plugin's folders, "" for none.
	Root, Data string
	// Held tells that the file stands in a repository that nobody trusts yet: it
	// grants nothing and its hooks do not count. Its commands are judged like any
	// that the model wants to run.
	Held bool

	bundled fs.FS
	options map[string]string // of its plugin
}

// Listing is the text that the model chooses by, cut at 1,536 characters as
// the ecosystem does.
func (s *Skill) Listing() string {
	text := s.Description
	if s.WhenToUse != "" {
		text = strings.TrimSpace(text + " - " + s.WhenToUse)
	}
	const limit = 1536
	if r := []rune(text); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return text
}

// Body reads the instructions. The file is read when it is asked for, so that
// a change of it is seen at once.
func (s *Skill) Body() (string, error) {
	raw, err := s.raw()
	if err != nil {
		return "", fmt.Errorf("read the skill %s: %w", s.Name, err)
	}
	return frontmatter.Parse(raw).Body, nil
}

func (s *Skill) raw() ([]byte, error) {
	if s.bundled != nil {
		return fs.ReadFile(s.bundled, s.Origin.File)
	}
	raw, _, err := fsys.ReadRaw(s.Origin.File, fsys.Limits{MaxBytes: bodyLimit})
	return raw, err
}

// skillOrder is the order of scopes for skills and commands, strongest first.
var skillOrder = []Scope{Managed, User, Project}

const skillFile = "SKILL.md"

func (k *Catalog) loadSkills() {
	files := k.skillFiles()
	commands := k.commandFiles()
	for _, f := range k.heads(files) {
		k.addSkill(k.skill(f, filepath.Dir(f.path)))
	}
	for _, p := range k.c.Plugins {
		k.pluginSkills(p)
	}
	for _, f := range k.heads(commands) {
		k.addSkill(k.skill(f, ""))
	}
	k.bundledSkills()
	k.Skills = k.Skills[:0]
	for _, s := range k.skills {
		k.Skills = append(k.Skills, s)
	}
	byName(k.Skills, func(s *Skill) string { return s.Name })
}

// addSkill keeps the first of a name: places are read from the strongest on.
func (k *Catalog) addSkill(s *Skill) {
	if s == nil {
		return
	}
	stronger, taken := k.skills[s.Name]
	switch {
	case !taken:
		k.skills[s.Name] = s
	case stronger.Origin.File != s.Origin.File:
		k.Hidden = append(k.Hidden, s)
	}
}

func (k *Catalog) skillFiles() []file {
	var out []file
	for _, p := range k.skillPlaces() {
		out = append(out, k.skillsIn(p)...)
	}
	return out
}

func (k *Catalog) skillPlaces() []place {
	var out []place
	for _, s := range skillOrder {
		out = append(out, k.places([]Scope{s}, "skills")...)
		switch {
		case s == User && k.c.User && k.c.Shared != "":
			out = append(out, place{filepath.Join(k.c.Shared, "skills"), Origin{Scope: User}})
		case s == Project:
			for _, dir := range k.projectFolders() {
				out = append(out, place{filepath.Join(dir, ".agents", "skills"), Origin{Scope: Project}})
			}
		}
	}
	return out
}

// skillsIn lists the skills of one folder: every folder in it that may hold a SKILL.md.
func (k *Catalog) skillsIn(p place) []file {
	k.mark(p.dir)
	return skillsAt(p)
}

func skillsAt(p place) []file {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return nil
	}
	var out []file
	for _, e := range entries[:min(len(entries), walkLimit)] {
		dir := filepath.Join(p.dir, e.Name())
		if !isDir(e, dir) {
			continue
		}
		path := filepath.Join(dir, skillFile)
		o := p.origin
		o.File = path
		out = append(out, file{path: path, origin: o, rel: e.Name(), maybe: true})
	}
	return out
}

func (k *Catalog) commandFiles() []file {
	var out []file
	for _, p := range k.places(skillOrder, "commands") {
		out = append(out, k.markdown(p)...)
	}
	return out
}

// skill makes a skill of a file; dir is its folder, "" for a command file.
func (k *Catalog) skill(f file, dir string) *Skill {
	m := f.matter
	if m.Problem != "" {
		k.problem(f.origin, "its front matter is not YAML (%s); it was read line by line", m.Problem)
	}
	name := f.rel[strings.LastIndex(f.rel, "/")+1:]
	if !validName(name) {
		k.problem(f.origin, "the name %q cannot be typed after a slash; rename it", name)
		return nil
	}
	if m.Unread("disallowed-tools") {
		k.problem(f.origin, "its disallowed-tools cannot be read; it is left out")
		return nil
	}
	s := &Skill{
		Origin: f.origin, Name: name, Label: name, Dir: dir,
		Description: m.Text("description"), WhenToUse: m.Text("when_to_use"), ArgumentHint: hint(m),
		Arguments: words(m, "arguments"), Allowed: m.List("allowed-tools"), Disallowed: m.List("disallowed-tools"),
		Model: m.Text("model"), Effort: m.Text("effort"), Fork: m.Text("context") == "fork", Agent: m.Text("agent"),
		Paths: m.List("paths"), Shell: m.Text("shell"),
		Held: f.origin.Scope == Project && !k.c.Trusted,
	}
	if label := m.Text("name"); label != "" && dir != "" {
		s.Label = label
	}
	off, _ := m.Bool("disable-model-invocation")
	shown, said := m.Bool("user-invocable")
	s.ForModel, s.ForUser = !off, shown || !said
	if b, ok := m.Bool("background"); ok {
		s.Background = &b
	}
	s.Hooks = k.hooks(f)
	if s.Description == "" {
		s.Description = firstParagraph(m.Body)
	}
	if s.Model == "inherit" {
		s.Model = ""
	}
	return s
}

// hint is the argument hint as it was written, also in the usual form
// `[a] [b]`, which YAML reads as a list or not at all.
func hint(m frontmatter.Matter) string {
	if list, ok := m.Value("argument-hint").([]any); ok && len(list) > 0 {
		var parts []string
		for _, v := range list {
			parts = append(parts, fmt.Sprint(v))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return m.Text("argument-hint")
}

// words is a list that may also be written as words with spaces between.
func words(m frontmatter.Matter, key string) []string {
	list := m.List(key)
	if len(list) == 1 {
		return strings.Fields(list[0])
	}
	return list
}

// hooks takes a hook configuration from a head as JSON.
func (k *Catalog) hooks(f file) json.RawMessage {
	v := f.matter.Value("hooks")
	if v == nil {
		return nil
	}
	raw, err := json.Marshal(v)
	if err != nil || raw[0] != '{' {
		k.problem(f.origin, "its hooks are not a mapping of events; they are left out")
		return nil
	}
	return raw
}

// validName tells a name that can be typed: no space, no control or slash.
func validName(name string) bool {
	return name != "" && len(name) <= 128 && !strings.HasPrefix(name, "-") && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r == '/' || r == '\\' || r == 0x7f || !printable(r)
	})
}

func printable(r rune) bool { return fsys.Printable(string(r)) == string(r) }

func firstParagraph(body string) string {
	var out []string
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		if line == "" && len(out) > 0 {
			break
		}
		if line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return strings.Join(out, " ")
}

func (k *Catalog) bundledSkills() {
	if k.c.Bundled == nil {
		return
	}
	paths, _ := fs.Glob(k.c.Bundled, "*/"+skillFile) // the pattern is well formed
	for _, path := range paths {
		raw, err := fs.ReadFile(k.c.Bundled, path)
		if err != nil {
			continue
		}
		f := file{path: path, origin: Origin{Scope: Bundled, File: path}, rel: filepath.ToSlash(filepath.Dir(path)), matter: frontmatter.Parse(raw)}
		if s := k.skill(f, ""); s != nil {
			s.bundled = k.c.Bundled
			k.addSkill(s)
		}
	}
}
