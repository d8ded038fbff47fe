package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/state/catalog"
	"github.com/hew-agent/hew/internal/state/settings"
)

// Done is what became of one plugin.
type Done struct {
	ID ID
	// From and To are versions; From is "" for a first installation.
	From, To string
	Path     string
	// Needed tells that it came because another one depends on it.
	Needed bool
	// Grants are what it runs and is granted, Waits what of it waits for a yes:
	// then the old version stays.
	Grants []catalog.Grant
	Waits  []Change
	// Same tells that there was nothing to do.
	Same bool
	// Missing are the options that it wants to be told.
	Missing []string
}

// ready is a version that lies in the cache.
type ready struct {
	p       *catalog.Plugin
	commit  string
	version string
	grants  []catalog.Grant
}

// Resolve completes the name of a plugin by the only marketplace that has it.
func (s *Store) Resolve(id ID) (ID, error) {
	if id.Market != "" {
		return id, nil
	}
	markets, err := s.Markets()
	if err != nil {
		return id, err
	}
	var found []string
	for _, k := range markets {
		if m, _, err := s.Market(k.Name); err == nil && m.Find(id.Name) != nil {
			found = append(found, k.Name)
		}
	}
	switch len(found) {
	case 0:
		return id, fmt.Errorf("no marketplace that was added has a plugin %s: %w; hew plugin list --available shows what there is", id.Name, ErrUnknown)
	case 1:
		return ID{id.Name, found[0]}, nil
	}
	return id, fmt.Errorf("%s is in several marketplaces (%s): write %s@MARKETPLACE", id.Name, strings.Join(found, ", "), id.Name)
}

// ParseScope reads user, project, local or managed.
func ParseScope(name string) (settings.Scope, error) {
	switch name {
	case "", "user":
		return settings.User, nil
	case "project":
		return settings.Project, nil
	case "local":
		return settings.Local, nil
	case "managed":
		return 0, errors.New("managed plugins are set by the administrator, in enabledPlugins of the managed settings")
	}
	return 0, fmt.Errorf("scope %q: choose user, project or local", name)
}

// Install installs a plugin and what it depends on, and turns it on in the
// settings of a scope.
func (s *Store) Install(ctx context.Context, id ID, scope settings.Scope) ([]Done, error) {
	id, err := s.Resolve(id)
	if err != nil {
		return nil, err
	}
	if err := s.forbidden(id); err != nil {
		return nil, err
	}
	var out []Done
	err = s.locked(ctx, func() error {
		s.sweep()
		in := &installation{s: s, scope: scope, seen: map[ID]bool{}}
		err := in.install(ctx, id, "")
		out = in.done
		return err
	})
	if err != nil {
		return out, err
	}
	_, err = s.Sweep()
	return out, err
}

// forbidden says whether the administrator has switched a plugin off.
func (s *Store) forbidden(id ID) error {
	on, set := s.Values.Bool("enabledPlugins", id.String())
	if o, _ := s.Values.Origin("enabledPlugins", id.String()); set && !on && o.Scope == settings.Managed {
		return fmt.Errorf("%w: the administrator has switched %s off", ErrRefused, id)
	}
	return nil
}

type installation struct {
	s     *Store
	scope settings.Scope
	seen  map[ID]bool
	done  []Done
}

// install installs one plugin; by names the plugin that needs it, "" for none.
// Dependencies come first, so that nothing is on that cannot work.
func (in *installation) install(ctx context.Context, id ID, by string) error {
	if in.seen[id] { // a circle, or two that need the same
		return nil
	}
	in.seen[id] = true
	r, err := in.s.prepare(ctx, id)
	if err != nil {
		return fmt.Errorf("install %s: %w", id, err)
	}
	if err := in.dependencies(ctx, id, r.p); err != nil {
		return err
	}
	old, had, err := in.s.find(id)
	if err != nil {
		return err
	}
	now := in.s.stamp()
	rec := Installed{ID: id, Scope: in.scope.String(), Path: r.p.Root, Version: r.version, At: now, Updated: now, Commit: r.commit, Needed: by != "" && (!had || old.Needed)}
	if in.scope != settings.User {
		rec.Project = in.s.project()
	}
	agreed, err := in.s.agreement(id)
	if err != nil {
		agreed = nil // a broken record: this installation is the yes
	}
	if err := in.s.exchange(agreed, id, r, func() error { return in.s.put(ctx, rec) }); err != nil {
		return err
	}
	if err := in.s.Settings.Set(ctx, in.scope, true, "enabledPlugins", id.String()); err != nil {
		return err
	}
	if err := os.MkdirAll(in.s.Data(id), 0o700); err != nil {
		return err
	}
	d := Done{ID: id, To: r.version, Path: r.p.Root, Needed: by != "", Grants: r.grants}
	if had {
		d.From = old.Version
	}
	in.done = append(in.done, d)
	return nil
}

func (in *installation) dependencies(ctx context.Context, id ID, p *catalog.Plugin) error {
	deps, err := Dependencies(p)
	if err != nil {
		return fmt.Errorf("install %s: %w", id, err)
	}
	for _, d := range deps {
		if err := in.dependency(ctx, id, d); err != nil {
			return err
		}
	}
	return nil
}

func (in *installation) dependency(ctx context.Context, id ID, d Dependency) error {
	if d.ID.Market == "" {
		d.ID.Market = id.Market
	}
	if d.ID.Market != id.Market {
		m, _, err := in.s.Market(id.Market)
		if err != nil {
			return err
		}
		if !slices.Contains(m.Foreign, d.ID.Market) {
			return fmt.Errorf("%s needs %s, and its marketplace does not allow plugins of %s (allowCrossMarketplaceDependenciesOn); install %s yourself if you trust it", id, d.ID, d.ID.Market, d.ID)
		}
	}
	have, ok, err := in.s.find(d.ID)
	if err != nil {
		return err
	}
	if ok {
		if fits, err := d.fits(have.Version); err != nil || fits {
			return err
		}
	}
	if err := in.install(ctx, d.ID, id.String()); err != nil {
		return fmt.Errorf("%s needs %s: %w", id, d.ID, err)
	}
	have, _, err = in.s.find(d.ID)
	if err != nil {
		return err
	}
	if fits, err := d.fits(have.Version); err != nil || !fits {
		return errors.Join(err, fmt.Errorf("%s needs %s %s, and the marketplace has %s", id, d.ID, d.Version, have.Version))
	}
	return nil
}

// Dependency is a plugin that another one needs.
type Dependency struct {
	ID      ID
	Version string // a range, "" for any
}

func (d Dependency) fits(version string) (bool, error) {
	if d.Version == "" {
		return true, nil
	}
	return Fits(version, d.Version)
}

// Dependencies reads what a plugin needs.
func Dependencies(p *catalog.Plugin) ([]Dependency, error) {
	var m struct {
		List []json.RawMessage `json:"dependencies"`
	}
	if p.Manifest == nil {
		return nil, nil
	}
	if err := json.Unmarshal(p.Manifest, &m); err != nil {
		return nil, errors.New(`"dependencies" must be a list`)
	}
	var out []Dependency
	for _, raw := range m.List {
		var name string
		var d struct{ Name, Version, Marketplace string }
		if json.Unmarshal(raw, &name) != nil && json.Unmarshal(raw, &d) != nil {
			return nil, fmt.Errorf("\"dependencies\": %s is neither a name nor an object with a name", raw)
		}
		if name != "" {
			d.Name = name
		}
		id, err := ParseID(d.Name)
		if err != nil {
			return nil, fmt.Errorf("\"dependencies\": %w", err)
		}
		if d.Marketplace != "" {
			id.Market = d.Marketplace
		}
		if _, err := Fits("0.0.0", d.Version); err != nil {
			return nil, fmt.Errorf("\"dependencies\": %s: %w", id, err)
		}
		out = append(out, Dependency{id, d.Version})
	}
	return out, nil
}

// prepare brings the present version of a plugin into the cache.
func (s *Store) prepare(ctx context.Context, id ID) (*ready, error) {
	m, known, err := s.Market(id.Market)
	if err != nil {
		return nil, err
	}
	if err := s.allowed(known.Source); err != nil {
		return nil, err
	}
	l := m.Find(id.Name)
	if l == nil {
		return nil, fmt.Errorf("the marketplace %s has no plugin %s: %w", id.Market, id.Name, ErrUnknown)
	}
	if l.Err != nil {
		return nil, l.Err
	}
	staged, err := s.stage()
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(staged) }() // the sweep takes what is left
	tree, commit, err := s.fetch(ctx, l.Source, staged, m.Root)
	if err != nil {
		return nil, err
	}
	if err := l.complete(tree); err != nil {
		return nil, err
	}
	p, err := catalog.ReadPlugin(tree, id.Name)
	if err != nil {
		return nil, err
	}
	if p.Name != id.Name {
		return nil, fmt.Errorf("the marketplace calls it %s and its manifest %s; nothing was installed", id.Name, fsys.Printable(p.Name))
	}
	if err := checkOptions(p); err != nil {
		return nil, err
	}
	return s.keep(id, l, p, tree, commit)
}

// keep moves a tree to its place in the cache.
func (s *Store) keep(id ID, l *Listed, p *catalog.Plugin, tree, commit string) (*ready, error) {
	sum, err := digest(tree)
	if err != nil {
		return nil, err
	}
	version := firstOf(p.Version, l.Version, commit[:min(12, len(commit))], sum[:12])
	to := s.dir("cache", id.Market, id.Name, folderName(version))
	if fsys.KindOf(to) != fsys.KindMissing {
		have, err := digest(to)
		if err != nil {
			return nil, err
		}
		if have != sum { // other content under the same version: sessions may still use the old one
			to += "+" + sum[:8]
		}
	}
	if fsys.KindOf(to) == fsys.KindMissing {
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return nil, err
		}
		if err := os.Rename(tree, to); err != nil {
			return nil, fmt.Errorf("put the plugin into the cache: %w", err)
		}
	}
	if p, err = catalog.ReadPlugin(to, id.Name); err != nil {
		return nil, err
	}
	grants, err := p.Grants()
	return &ready{p, commit, version, grants}, err
}

func firstOf(list ...string) string {
	for _, v := range list {
		if v != "" {
			return v
		}
	}
	return ""
}

// folderName is a version as the name of a folder.
func folderName(version string) string {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_+", r) {
			return r
		}
		return '-'
	}, version)
	name = strings.Trim(name[:min(len(name), maxName)], ".")
	if name == "" {
		return "unknown"
	}
	return name
}

// own are the keys of an entry that are no part of a manifest.
var own = map[string]bool{"source": true, "category": true, "tags": true, "strict": true}

// complete writes the manifest of a plugin that has none, or whose marketplace
// says that the entry decides.
func (l *Listed) complete(tree string) error {
	path := filepath.Join(tree, filepath.FromSlash(catalog.ManifestFile))
	have := fsys.KindOf(path) != fsys.KindMissing
	if have && l.Strict {
		return nil
	}
	var entry map[string]json.RawMessage
	if err := json.Unmarshal(l.Entry, &entry); err != nil {
		return err
	}
	merged := map[string]json.RawMessage{}
	if have {
		if raw, _, err := fsys.ReadRaw(path, fsys.Limits{MaxBytes: maxMarket}); err != nil {
			return err
		} else if err := json.Unmarshal(raw, &merged); err != nil {
			return fmt.Errorf("manifest %s: %w", catalog.ManifestFile, err)
		}
	}
	for key, v := range entry {
		if own[key] {
			continue
		}
		if _, both := merged[key]; both && component(key) {
			return fmt.Errorf("%q stands in the plugin's manifest and in the marketplace's entry, which says \"strict\": false", key)
		}
		merged[key] = v
	}
	raw, err := json.MarshalIndent(merged, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, raw, 0o644)
}

func component(key string) bool {
	switch key {
	case "commands", "agents", "skills", "hooks", "mcpServers", "lspServers", "outputStyles":
		return true
	}
	return false
}
