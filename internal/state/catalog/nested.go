package catalog

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Find is the skill or command of a name, nil when there is none.
func (k *Catalog) Find(name string) *Skill {
	if s := k.skills[name]; s != nil {
		return s
	}
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.late[name]
}

// All are the skills of the start and those that Nested has found, by name.
func (k *Catalog) All() []*Skill {
	k.mu.RLock()
	defer k.mu.RUnlock()
	out := slices.Clone(k.Skills)
	for _, s := range k.late {
		out = append(out, s)
	}
	byName(out, func(s *Skill) string { return s.Name })
	return out
}

// Nested finds the skills of the folders between the start folder and the file
// at path, when one is read or edited there, and returns the new ones. On a
// clash of names they are called `sub/dir:name`. It is safe for concurrent use.
func (k *Catalog) Nested(path string) []*Skill {
	if !k.c.Project || k.c.Cwd == "" || !fsys.Within(k.c.Cwd, path) {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	var added []*Skill
	for dir := filepath.Dir(path); dir != k.c.Cwd && fsys.Within(k.c.Cwd, dir); dir = filepath.Dir(dir) {
		for _, sub := range []string{".claude", ".agents"} {
			found := filepath.Join(dir, sub, "skills")
			if _, known := k.marks[found]; known {
				continue
			}
			k.marks[found] = markOf(found)
			for _, f := range k.read(skillsAt(place{found, Origin{Scope: Project}})) {
				if s := k.nested(f, dir); s != nil {
					added = append(added, s)
				}
			}
		}
	}
	return added
}

func (k *Catalog) nested(f file, dir string) *Skill {
	s := k.skill(f, filepath.Dir(f.path))
	if s == nil {
		return nil
	}
	if k.skills[s.Name] != nil || k.late[s.Name] != nil {
		rel, err := filepath.Rel(k.c.Cwd, dir)
		if err != nil {
			return nil
		}
		s.Name = filepath.ToSlash(rel) + ":" + s.Name
	}
	if k.skills[s.Name] != nil || k.late[s.Name] != nil {
		return nil
	}
	k.late[s.Name] = s
	return s
}

// Covers tells whether the skill's paths cover a file; those are globs below
// the start folder, and a glob without a slash fits at any depth.
func (k *Catalog) Covers(s *Skill, path string) bool {
	rel, err := filepath.Rel(k.c.Cwd, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return false
	}
	rel = filepath.ToSlash(rel)
	return slices.ContainsFunc(s.Paths, func(glob string) bool {
		glob = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(glob), "./"), "/")
		if strings.HasSuffix(glob, "/") {
			glob += "**"
		}
		if !strings.Contains(glob, "/") {
			glob = "**/" + glob
		}
		ok, err := doublestar.Match(glob, rel)
		return err == nil && ok
	})
}
