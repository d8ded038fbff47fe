package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/state/catalog"
)

// agreed is what a person agreed to of a plugin.
type agreed struct {
	// Path is the version that it was last compared with.
	Path   string          `json:"path"`
	Grants []catalog.Grant `json:"grants"`
}

func (s *Store) agreedFile(id ID) string {
	return s.Settings.Home.Own("plugins", "agreed", id.String()+".json")
}

// agreement is nil when nobody has agreed to anything of the plugin yet.
func (s *Store) agreement(id ID) (*agreed, error) {
	path := s.agreedFile(id)
	if fsys.KindOf(path) == fsys.KindMissing {
		return nil, nil // no record and no fault
	}
	a := &agreed{}
	return a, readJSON(path, a)
}

func (s *Store) agree(id ID, path string, grants []catalog.Grant) error {
	raw, err := json.MarshalIndent(agreed{path, grants}, "", " ")
	if err != nil {
		return err
	}
	_, err = fsys.WriteFile(s.agreedFile(id), raw, fsys.WriteOptions{Mode: 0o600})
	return err
}

// Change is something that a version would run or be granted and that nobody agreed to.
type Change struct {
	New catalog.Grant `json:"new"`
	// Old is what was agreed to under that name, empty for what is new.
	Old catalog.Grant `json:"old"`
}

// Diff is the change line by line.
func (c Change) Diff() string {
	out := udiff.Unified("agreed", "now", closed(c.Old.Text), closed(c.New.Text))
	var b strings.Builder
	for i, l := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		if i >= 2 && l != "" && !strings.HasPrefix(l, "@@") { // names of files, places
			b.WriteString(l[:1] + " " + l[1:] + "\n")
		}
	}
	return b.String()
}

func closed(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

// changes are the grants that were not agreed to. What is gone asks nobody.
func (a *agreed) changes(now []catalog.Grant) []Change {
	var out []Change
	for _, g := range now {
		c := Change{New: g}
		same := false
		for _, old := range a.Grants {
			if old.Kind != g.Kind || old.Name != g.Name {
				continue
			}
			same = same || old.Digest == g.Digest
			c.Old = old
		}
		if !same {
			out = append(out, c)
		}
	}
	return out
}

// waiting compares a version with what was agreed to. A plugin that another
// tool installed is agreed to as it is first seen: its installation was the yes.
func (s *Store) waiting(id ID, p *catalog.Plugin) ([]Change, error) {
	a, err := s.agreement(id)
	if err != nil {
		return nil, fmt.Errorf("what was agreed to of %s is not known: %w; hew plugin approve %s agrees anew", id, err, id)
	}
	if a != nil && a.Path == p.Root {
		return nil, nil
	}
	now, err := p.Grants()
	if err != nil {
		return nil, err
	}
	if a != nil {
		if c := a.changes(now); len(c) > 0 {
			return c, nil
		}
	}
	return nil, s.agree(id, p.Root, now)
}

// Waiting lists what the installed version of a plugin waits for.
func (s *Store) Waiting(id ID) ([]Change, error) {
	i, ok, err := s.find(id)
	if err != nil || !ok {
		return nil, err
	}
	p, err := s.read(i)
	if err != nil {
		return nil, err
	}
	return s.waiting(id, p)
}

// Approve agrees to what the installed version runs and is granted.
func (s *Store) Approve(ctx context.Context, id ID) error {
	return s.locked(ctx, func() error {
		i, ok, err := s.find(id)
		if err != nil || !ok {
			return orUnknown(err, id)
		}
		p, err := s.read(i)
		if err != nil {
			return err
		}
		grants, err := p.Grants()
		if err != nil {
			return err
		}
		return s.agree(id, p.Root, grants)
	})
}

func orUnknown(err error, id ID) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("%s is not installed here: %w; hew plugin list shows what is", id, ErrUnknown)
}

// read reads an installed plugin.
func (s *Store) read(i Installed) (*catalog.Plugin, error) {
	p, err := catalog.ReadPlugin(i.Path, i.ID.Name)
	if err != nil {
		return nil, err
	}
	p.Market, p.Data = i.ID.Market, s.Data(i.ID)
	if i.Version != "" {
		p.Version = i.Version
	}
	return p, nil
}

// Summary counts grants for one line: "2 hooks, 1 MCP server".
func Summary(grants []catalog.Grant) string {
	var kinds []string
	count := map[string]int{}
	for _, g := range grants {
		if count[g.Kind]++; !slices.Contains(kinds, g.Kind) {
			kinds = append(kinds, g.Kind)
		}
	}
	for i, k := range kinds {
		kinds[i] = fmt.Sprintf("%d %s", count[k], k)
		if count[k] > 1 {
			kinds[i] += "s"
		}
	}
	return strings.Join(kinds, ", ")
}
