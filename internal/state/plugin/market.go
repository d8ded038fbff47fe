package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// MarketFile is where a marketplace's list lies, a slash path from its root.
const MarketFile = ".claude-plugin/marketplace.json"

// maxMarket bounds a marketplace's list, in bytes.
const maxMarket = 16 << 20

// Market is a marketplace: a list of plugins and where each comes from.
type Market struct {
	Name, Description, Owner string
	// Root is the folder that relative sources count from, "" when the list is alone.
	Root    string
	Plugins []Listed
	// Foreign are the marketplaces whose plugins may be dependencies.
	Foreign []string
	// Renames maps old names of plugins to present ones.
	Renames map[string]string
	// Faults are entries that cannot be used, in words for the author.
	Faults []string
}

// Listed is one plugin of a marketplace.
type Listed struct {
	Name, Version, Description, Category string
	Source                               Source
	// Err says why the source cannot be used; the entry is listed all the same.
	Err error
	// Strict tells that the plugin's own manifest decides; else the entry does.
	Strict bool
	// Entry is all of it, word for word.
	Entry json.RawMessage
}

type wireMarket struct {
	Name  string `json:"name"`
	Owner *struct {
		Name string `json:"name"`
	} `json:"owner"`
	Description string            `json:"description"`
	Plugins     []json.RawMessage `json:"plugins"`
	Metadata    struct {
		Description string `json:"description"`
		PluginRoot  string `json:"pluginRoot"`
	} `json:"metadata"`
	Foreign []string          `json:"allowCrossMarketplaceDependenciesOn"`
	Renames map[string]string `json:"renames"`
}

// ReadMarket reads the marketplace of a folder, or a list alone.
func ReadMarket(path string) (*Market, error) {
	root := ""
	if fsys.KindOf(path) == fsys.KindDir {
		root, path = path, filepath.Join(path, filepath.FromSlash(MarketFile))
	}
	raw, _, err := fsys.ReadRaw(path, fsys.Limits{MaxBytes: maxMarket})
	if err != nil {
		return nil, fmt.Errorf("read the marketplace: %w", err)
	}
	m, err := parseMarket(raw)
	if err != nil {
		return nil, fmt.Errorf("marketplace %s: %w", fsys.Printable(path), err)
	}
	m.Root = root
	return m, nil
}

func parseMarket(raw []byte) (*Market, error) {
	if err := fsys.CheckJSON(raw); err != nil {
		return nil, err
	}
	var w wireMarket
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, err
	}
	switch {
	case !validName(w.Name):
		return nil, fmt.Errorf("its name %q is not made of letters, digits, dots, - and _ (at most %d)", fsys.Printable(w.Name), maxName)
	case w.Name == SkillsDir || w.Name == Inline:
		return nil, fmt.Errorf("the name %s is reserved", w.Name)
	case w.Owner == nil || w.Owner.Name == "":
		return nil, errors.New(`it has no "owner" with a "name"`)
	case w.Plugins == nil:
		return nil, errors.New(`it has no list "plugins"`)
	}
	m := &Market{Name: w.Name, Description: w.Description, Owner: w.Owner.Name, Foreign: w.Foreign, Renames: w.Renames}
	if m.Description == "" {
		m.Description = w.Metadata.Description
	}
	for i, entry := range w.Plugins {
		if err := m.add(entry, w.Metadata.PluginRoot); err != nil {
			m.Faults = append(m.Faults, fmt.Sprintf("plugins[%d]: %v", i, err))
		}
	}
	return m, nil
}

func (m *Market) add(entry json.RawMessage, root string) error {
	var e struct {
		Name        string          `json:"name"`
		Version     string          `json:"version"`
		Description string          `json:"description"`
		Category    string          `json:"category"`
		Source      json.RawMessage `json:"source"`
		Strict      *bool           `json:"strict"`
	}
	if err := json.Unmarshal(entry, &e); err != nil {
		return err
	}
	if !validName(e.Name) {
		return fmt.Errorf("the name %q is not made of letters, digits, dots, - and _", fsys.Printable(e.Name))
	}
	if m.Find(e.Name) != nil {
		return fmt.Errorf("the name %s stands twice; the first counts", e.Name)
	}
	if e.Source == nil {
		return fmt.Errorf("%s has no \"source\"", e.Name)
	}
	l := Listed{Name: e.Name, Version: e.Version, Description: e.Description, Category: e.Category, Strict: e.Strict == nil || *e.Strict, Entry: entry}
	l.Source, l.Err = parseSource(e.Source)
	if l.Source.Kind == "relative" && root != "" {
		joined, err := relative("./" + filepath.ToSlash(filepath.Join(root, l.Source.Path)))
		if err != nil {
			l.Err = err
		}
		l.Source = joined
	}
	m.Plugins = append(m.Plugins, l)
	return nil
}

// Find is the plugin of a name or of its former name, nil when there is none.
func (m *Market) Find(name string) *Listed {
	if to, ok := m.Renames[name]; ok {
		name = to
	}
	i := slices.IndexFunc(m.Plugins, func(l Listed) bool { return l.Name == name })
	if i < 0 {
		return nil
	}
	return &m.Plugins[i]
}

// Known is a marketplace that was added.
type Known struct {
	Name    string `json:"name"`
	Source  Source `json:"source"`
	Path    string `json:"installLocation"`
	Updated string `json:"lastUpdated"`
	// Declared tells that settings name it and nobody has added it yet.
	Declared bool `json:"declared,omitempty"`
}

func (s *Store) knownFile() string { return s.dir("known_marketplaces.json") }

// Markets lists the marketplaces, those that settings name included.
func (s *Store) Markets() ([]Known, error) {
	var file map[string]Known
	if err := readJSON(s.knownFile(), &file); err != nil {
		return nil, err
	}
	var out []Known
	for _, name := range slices.Sorted(maps.Keys(file)) {
		k := file[name]
		k.Name = name
		out = append(out, k)
	}
	for _, name := range s.Values.Keys("extraKnownMarketplaces") {
		if _, have := file[name]; have {
			continue
		}
		var e struct {
			Source Source `json:"source"`
		}
		if _, err := s.Values.Decode(&e, "extraKnownMarketplaces", name); err != nil || e.Source.check() != nil {
			s.notice("extraKnownMarketplaces: %s has no source that hew can use", fsys.Printable(name))
			continue
		}
		out = append(out, Known{Name: name, Source: e.Source, Declared: true})
	}
	return out, nil
}

// Market reads a marketplace that was added.
func (s *Store) Market(name string) (*Market, Known, error) {
	list, err := s.Markets()
	if err != nil {
		return nil, Known{}, err
	}
	for _, k := range list {
		if k.Name != name {
			continue
		}
		if k.Declared {
			return nil, k, fmt.Errorf("the settings name the marketplace %s (%s), which was not added yet: hew plugin marketplace add %s", name, k.Source, name)
		}
		m, err := ReadMarket(k.Path)
		if err == nil && m.Name != name {
			err = fmt.Errorf("the marketplace that was added as %s now calls itself %s; remove it and add it again if you agree", name, m.Name)
		}
		return m, k, err
	}
	return nil, Known{}, fmt.Errorf("there is no marketplace %s; hew plugin marketplace list shows those that were added", fsys.Printable(name))
}

// readJSON reads a file of the store; one that is missing is empty.
func readJSON(path string, out any) error {
	raw, _, err := fsys.ReadRaw(path, fsys.Limits{MaxBytes: maxMarket})
	if fsys.CauseOf(err) == fsys.CauseMissing || err == nil && len(raw) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("%s: %w", fsys.Printable(path), err)
	}
	return nil
}
