package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/state/settings"
)

// AddMarket adds a marketplace and returns it. Adding it again from the same
// source brings it up to date. name is what it must be called, "" for whatever it says.
func (s *Store) AddMarket(ctx context.Context, src Source, name string) (*Market, error) {
	if err := s.allowed(src); err != nil {
		return nil, err
	}
	var m *Market
	err := s.locked(ctx, func() (err error) {
		m, err = s.obtain(ctx, src, name)
		return err
	})
	return m, err
}

// obtain fetches a marketplace under its own name and records it.
func (s *Store) obtain(ctx context.Context, src Source, name string) (*Market, error) {
	s.sweep()
	path := src.Path
	staged := ""
	if src.Kind != "directory" && src.Kind != "file" {
		var err error
		if staged, err = s.stage(); err != nil {
			return nil, err
		}
		defer func() { _ = os.RemoveAll(staged) }() // gone already when it was used
		if path, _, err = s.fetch(ctx, src, staged, ""); err != nil {
			return nil, err
		}
	}
	m, err := ReadMarket(path)
	if err != nil {
		return nil, err
	}
	if name != "" && m.Name != name {
		return nil, fmt.Errorf("the marketplace %s calls itself %s; nothing was changed", name, m.Name)
	}
	if err := s.free(m.Name, src); err != nil {
		return nil, err
	}
	if staged != "" {
		to := s.dir("marketplaces", m.Name)
		if fsys.KindOf(path) == fsys.KindRegular {
			to += ".json"
		}
		if err := replaceTree(path, to, s.dir("cache", stagingName, s.NewID())); err != nil {
			return nil, err
		}
		path = to
	}
	if m, err = ReadMarket(path); err != nil {
		return nil, err
	}
	return m, s.recordMarket(ctx, Known{Name: m.Name, Source: src, Path: path, Updated: s.stamp()})
}

func (s *Store) stamp() string { return s.Now().UTC().Format(time.RFC3339) }

// free refuses a name that belongs to a marketplace from elsewhere: its plugins
// would become those of another author.
func (s *Store) free(name string, src Source) error {
	list, err := s.Markets()
	if err != nil {
		return err
	}
	for _, k := range list {
		if k.Name == name && k.Source != src {
			return fmt.Errorf("the name %s belongs to the marketplace from %s; remove that first (hew plugin marketplace remove %s) if this one is meant to take its place", name, k.Source, name)
		}
	}
	return nil
}

func (s *Store) recordMarket(ctx context.Context, k Known) error {
	value := struct {
		Source  Source `json:"source"`
		Path    string `json:"installLocation"`
		Updated string `json:"lastUpdated"`
	}{k.Source, k.Path, k.Updated}
	return fsys.UpdateJSON(ctx, s.knownFile(), fsys.WriteOptions{}, func(d *fsys.JSONDoc) error { return d.Set(value, k.Name) })
}

// UpdateMarket fetches a marketplace anew.
func (s *Store) UpdateMarket(ctx context.Context, name string) (*Market, error) {
	list, err := s.Markets()
	if err != nil {
		return nil, err
	}
	for _, k := range list {
		if k.Name == name {
			return s.AddMarket(ctx, k.Source, name)
		}
	}
	return nil, fmt.Errorf("there is no marketplace %s", fsys.Printable(name))
}

// RemoveMarket forgets a marketplace. It refuses while plugins of it are installed.
func (s *Store) RemoveMarket(ctx context.Context, name string) error {
	return s.locked(ctx, func() error {
		installed, err := s.Installed()
		if err != nil {
			return err
		}
		for _, i := range installed {
			if i.ID.Market == name {
				return fmt.Errorf("%s is installed from %s; uninstall it first", i.ID, name)
			}
		}
		var there bool
		err = fsys.UpdateJSON(ctx, s.knownFile(), fsys.WriteOptions{}, func(d *fsys.JSONDoc) error {
			there = d.Delete(name)
			return nil
		})
		if err != nil || !there {
			return errors.Join(err, missingMarket(there, name))
		}
		if !validName(name) {
			return nil
		}
		return errors.Join(os.RemoveAll(s.dir("marketplaces", name)), os.RemoveAll(s.dir("marketplaces", name+".json")))
	})
}

func missingMarket(there bool, name string) error {
	if there {
		return nil
	}
	return fmt.Errorf("there is no marketplace %s that was added here", fsys.Printable(name))
}

// allowed asks the administrator's lists about the source of a marketplace.
func (s *Store) allowed(src Source) error {
	matches := func(key string) bool {
		for _, e := range s.Values.Elements(key) {
			if e.Top().Scope == settings.Managed && src.matches(e.Raw) {
				return true
			}
		}
		return false
	}
	if matches("blockedMarketplaces") {
		return fmt.Errorf("%w: the administrator has blocked marketplaces from %s (blockedMarketplaces)", ErrRefused, src)
	}
	if _, set := s.Values.Raw("strictKnownMarketplaces"); set && !matches("strictKnownMarketplaces") {
		return fmt.Errorf("%w: the administrator allows certain marketplaces only (strictKnownMarketplaces), not %s", ErrRefused, src)
	}
	return nil
}

// replaceTree puts from in the place of to. Two renames: at a kill between them
// the old one lies in aside, which the next run sweeps, and is fetched anew.
func replaceTree(from, to, aside string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if fsys.KindOf(to) != fsys.KindMissing {
		if err := os.MkdirAll(filepath.Dir(aside), 0o755); err != nil {
			return err
		}
		if err := os.Rename(to, aside); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(aside) }() // swept later when it fails
	}
	return os.Rename(from, to)
}
