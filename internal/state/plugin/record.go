package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/state/settings"
)

// Installed is one installation of a plugin.
type Installed struct {
	ID ID `json:"-"`
	// Scope is user, project, local or managed; Project the folder of the second and third.
	Scope   string `json:"scope"`
	Project string `json:"projectPath,omitempty"`
	Path    string `json:"installPath"`
	Version string `json:"version"`
	At      string `json:"installedAt"`
	Updated string `json:"lastUpdated"`
	Commit  string `json:"gitCommitSha,omitempty"`
	// Needed tells that it came as a dependency: prune takes it when nothing needs it.
	Needed bool `json:"auto,omitempty"`
}

func (s *Store) recordFile() string { return s.dir("installed_plugins.json") }

// Installed lists all installations, in the order of names.
func (s *Store) Installed() ([]Installed, error) {
	var file struct {
		Plugins map[string]json.RawMessage `json:"plugins"`
	}
	if err := readJSON(s.recordFile(), &file); err != nil {
		return nil, err
	}
	var out []Installed
	for _, name := range slices.Sorted(maps.Keys(file.Plugins)) {
		id, err := ParseID(name)
		if err != nil {
			continue // nothing that hew or the ecosystem wrote
		}
		list, err := installs(file.Plugins[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", fsys.Printable(s.recordFile()), name, err)
		}
		for _, i := range list {
			i.ID = id
			out = append(out, i)
		}
	}
	return out, nil
}

// installs reads the list of a plugin; the first version of the file had one
// object instead.
func installs(raw json.RawMessage) (list []Installed, err error) {
	if len(raw) > 0 && raw[0] == '{' {
		list = make([]Installed, 1)
		list[0].Scope = "user"
		return list, json.Unmarshal(raw, &list[0])
	}
	return list, json.Unmarshal(raw, &list)
}

// here tells whether an installation counts in a project.
func (i Installed) here(project string) bool {
	return i.Scope == "user" || i.Scope == "managed" || i.Project == project
}

// find is the installation that counts here: the project's before the user's.
func (s *Store) find(id ID) (Installed, bool, error) {
	list, err := s.Installed()
	if err != nil {
		return Installed{}, false, err
	}
	var best Installed
	found := false
	for _, i := range list {
		if i.ID == id && i.here(s.project()) && (!found || i.Project != "") {
			best, found = i, true
		}
	}
	return best, found, nil
}

func (s *Store) project() string { return settings.CheckoutRoot(s.Settings.Cwd) }

// record changes the list of one plugin.
func (s *Store) record(ctx context.Context, id ID, change func([]Installed) []Installed) error {
	return fsys.UpdateJSON(ctx, s.recordFile(), fsys.WriteOptions{}, func(d *fsys.JSONDoc) error {
		var list []Installed
		if raw, ok := d.Get("plugins", id.String()); ok {
			var err error
			if list, err = installs(raw); err != nil {
				return err
			}
		}
		list = change(list)
		if len(list) == 0 {
			d.Delete("plugins", id.String())
			return nil
		}
		if err := d.Set(2, "version"); err != nil {
			return err
		}
		return d.Set(list, "plugins", id.String())
	})
}

func (s *Store) put(ctx context.Context, i Installed) error {
	return s.record(ctx, i.ID, func(list []Installed) []Installed {
		list = slices.DeleteFunc(list, func(o Installed) bool { return o.Scope == i.Scope && o.Project == i.Project })
		return append(list, i)
	})
}

// orphanMark lies in a version that no record names any more.
const orphanMark = ".orphaned_at"

// Sweep removes versions that nothing has named for two weeks and returns how many.
// Versions are kept that long for sessions that began with them.
func (s *Store) Sweep() (int, error) {
	list, err := s.Installed()
	if err != nil {
		return 0, err // nothing is removed while the record cannot be read
	}
	used := map[string]bool{}
	for _, i := range list {
		used[filepath.Clean(i.Path)] = true
	}
	found, err := filepath.Glob(filepath.Join(s.dir("cache"), "*", "*", "*"))
	if err != nil {
		return 0, err
	}
	n := 0
	for _, dir := range found {
		if filepath.Base(filepath.Dir(filepath.Dir(dir))) == stagingName {
			continue
		}
		gone, err := s.sweepOne(dir, used[dir])
		if err != nil {
			return n, err
		}
		if gone {
			n++
		}
	}
	return n, nil
}

func (s *Store) sweepOne(dir string, used bool) (bool, error) {
	mark := filepath.Join(dir, orphanMark)
	st, err := os.Stat(mark)
	switch {
	case used && err == nil:
		return false, os.Remove(mark)
	case used:
		return false, nil
	case err != nil:
		if fsys.KindOf(dir) != fsys.KindDir {
			return false, nil
		}
		if err := os.WriteFile(mark, nil, 0o644); err != nil {
			return false, err
		}
		return false, os.Chtimes(mark, s.Now(), s.Now())
	case s.Now().Sub(st.ModTime()) < orphanAge:
		return false, nil
	}
	return true, os.RemoveAll(dir)
}
