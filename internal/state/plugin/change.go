package plugin

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/hew-agent/hew/internal/state/settings"
)

// Consent is what a person says beforehand about what an update brings.
type Consent int

// The answers.
const (
	AskFirst Consent = iota // what is new waits
	Accept                  // all of it was agreed to
)

// Update brings an installed plugin to the version that its marketplace has now.
// When that would run or be granted something new, it lies ready in the cache
// and the old version stays until it was agreed to.
func (s *Store) Update(ctx context.Context, id ID, consent Consent) (Done, error) {
	var d Done
	err := s.locked(ctx, func() (err error) {
		s.sweep()
		d, err = s.update(ctx, id, consent)
		return err
	})
	if err != nil {
		return d, err
	}
	_, err = s.Sweep()
	return d, err
}

func (s *Store) update(ctx context.Context, id ID, consent Consent) (Done, error) {
	have, ok, err := s.find(id)
	if err != nil || !ok {
		return Done{}, orUnknown(err, id)
	}
	r, err := s.prepare(ctx, id)
	if err != nil {
		return Done{}, fmt.Errorf("update %s: %w", id, err)
	}
	d := Done{ID: id, From: have.Version, To: r.version, Path: r.p.Root, Grants: r.grants, Same: r.p.Root == have.Path}
	a, err := s.agreement(id)
	if err != nil && consent != Accept {
		return d, err
	}
	if consent != Accept {
		if a == nil { // another tool installed it, and no session has seen it yet
			if a, err = s.seen(have); err != nil {
				return d, err
			}
		}
		if d.Waits = a.changes(r.grants); len(d.Waits) > 0 {
			return d, nil
		}
	}
	if d.Same {
		return d, s.agree(id, r.p.Root, r.grants)
	}
	return d, s.exchange(a, id, r, func() error { return s.move(ctx, id, r) })
}

// exchange records another version between two agreements: a kill in the middle
// leaves the old version or the new one, and either is agreed to.
func (s *Store) exchange(old *agreed, id ID, r *ready, record func() error) error {
	if old != nil {
		if err := s.agree(id, "", slices.Concat(old.Grants, r.grants)); err != nil {
			return err
		}
	}
	if err := record(); err != nil {
		return err
	}
	return s.agree(id, r.p.Root, r.grants)
}

// move lets the installations that count here be of another version.
func (s *Store) move(ctx context.Context, id ID, r *ready) error {
	now := s.stamp()
	return s.record(ctx, id, func(list []Installed) []Installed {
		for i := range list {
			if list[i].here(s.project()) {
				list[i].Path, list[i].Version, list[i].Commit, list[i].Updated = r.p.Root, r.version, r.commit, now
			}
		}
		return list
	})
}

// seen is what the installed version has: its installation was the yes to it.
func (s *Store) seen(i Installed) (*agreed, error) {
	p, err := s.read(i)
	if err != nil {
		return &agreed{}, nil // nothing of a broken version runs, so nothing of it was agreed to
	}
	grants, err := p.Grants()
	return &agreed{i.Path, grants}, err
}

// Uninstall takes a plugin out of a scope. Its data go with the last
// installation unless keep says otherwise.
func (s *Store) Uninstall(ctx context.Context, id ID, scope settings.Scope, data Keeping) error {
	return s.locked(ctx, func() error {
		left := 0
		found := false
		err := s.record(ctx, id, func(list []Installed) []Installed {
			list = slices.DeleteFunc(list, func(i Installed) bool {
				mine := i.Scope == scope.String() && i.here(s.project())
				found = found || mine
				return mine
			})
			left = len(list)
			return list
		})
		if err != nil {
			return err
		}
		if !found {
			return fmt.Errorf("%s is not installed in the scope %s: %w; hew plugin list shows what is", id, scope, ErrUnknown)
		}
		if err := s.Settings.Unset(ctx, scope, "enabledPlugins", id.String()); err != nil || left > 0 {
			return err
		}
		if err := os.Remove(s.agreedFile(id)); err != nil && !os.IsNotExist(err) {
			return err
		}
		if err := s.forget(ctx, id); err != nil || data == KeepData {
			return err
		}
		if err := s.Settings.Unset(ctx, settings.User, "pluginConfigs", id.String()); err != nil {
			return err
		}
		return os.RemoveAll(s.Data(id))
	})
}

// Keeping says what becomes of a plugin's data.
type Keeping int

// The choices.
const (
	DropData Keeping = iota
	KeepData
)

// Switch turns a plugin on or off in a scope without touching what is installed.
type Switch int

// The positions.
const (
	Off Switch = iota
	On
)

// Turn sets a switch.
func (s *Store) Turn(ctx context.Context, id ID, scope settings.Scope, to Switch) error {
	if id.Market != SkillsDir {
		list, err := s.Installed()
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(list, func(i Installed) bool { return i.ID == id }) {
			return orUnknown(nil, id)
		}
	}
	if to == On {
		if err := s.forbidden(id); err != nil {
			return err
		}
	}
	return s.Settings.Set(ctx, scope, to == On, "enabledPlugins", id.String())
}

// Prune uninstalls what came as a dependency and is needed no more, and sweeps
// old versions.
func (s *Store) Prune(ctx context.Context) (gone []ID, versions int, err error) {
	for {
		next, err := s.unneeded()
		if err != nil {
			return gone, 0, err
		}
		if next == nil {
			break
		}
		scope, err := ParseScope(next.Scope)
		if err != nil {
			return gone, 0, err
		}
		if err := s.Uninstall(ctx, next.ID, scope, DropData); err != nil {
			return gone, 0, err
		}
		gone = append(gone, next.ID)
	}
	versions, err = s.Sweep()
	return gone, versions, err
}

// unneeded is an installation that nothing needs, nil when there is none.
func (s *Store) unneeded() (*Installed, error) {
	list, err := s.Installed()
	if err != nil {
		return nil, err
	}
	needed := map[ID]bool{}
	for _, i := range list {
		p, err := s.read(i)
		if err != nil {
			continue
		}
		deps, err := Dependencies(p)
		if err != nil {
			continue
		}
		for _, d := range deps {
			if d.ID.Market == "" {
				d.ID.Market = i.ID.Market
			}
			needed[d.ID] = true
		}
	}
	for _, i := range list {
		if i.Needed && !needed[i.ID] && i.here(s.project()) && i.Scope != "managed" {
			return &i, nil
		}
	}
	return nil, nil // nothing to do is no fault
}
