package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Large results of tools stand in side files, each named by the digest of its
// bytes, in a folder of the session that made them. A transcript names the
// path, and what a fork repeats of its source names the source's; so such a
// folder outlives its session as long as a fork needs it.

// borrowedName is the file in a fork's folder that lists the sessions whose
// results its history names, a line each: project/session.
const borrowedName = "results-of"

func (s Store) borrowedPath(id string) string { return filepath.Join(s.Folder(id), borrowedName) }

// lender is a session whose results another one names.
type lender struct {
	store Store
	id    string
}

func (l lender) line() string { return l.store.Project + "/" + l.id }

// lenders are the sessions whose results the history of id names. A list that
// is missing or damaged is as good as an empty one.
func (s Store) lenders(id string) []lender {
	raw, err := os.ReadFile(s.borrowedPath(id))
	if err != nil {
		return nil
	}
	var out []lender
	for line := range strings.Lines(string(raw)) {
		project, from, ok := strings.Cut(strings.TrimSpace(line), "/")
		if ok && ValidID(from) && project != "" && filepath.Base(project) == project && !strings.HasPrefix(project, ".") {
			out = append(out, lender{Store{Home: s.Home, Project: project}, from})
		}
	}
	return out
}

// Borrowed are the folders of other sessions' results that the history of id names.
func (s Store) Borrowed(id string) []string {
	var out []string
	for _, l := range s.lenders(id) {
		out = append(out, l.store.Results(l.id))
	}
	return out
}

// borrow notes that the session id, a fork of the session at path, names its
// results, and those that it names itself.
func (s Store) borrow(path, id string) error {
	dir, name := filepath.Split(path)
	from := lender{Store{Home: s.Home, Project: filepath.Base(dir)}, strings.TrimSuffix(name, ".jsonl")}
	if !ValidID(from.id) || !sameFile(from.store.Path(from.id), path) {
		return nil // a file of another home: nothing here removes it
	}
	lines := []string{}
	for _, l := range append(from.store.lenders(from.id), from) {
		if fsys.KindOf(l.store.Results(l.id)) == fsys.KindDir {
			lines = append(lines, l.line())
		}
	}
	if len(lines) == 0 {
		return nil
	}
	if err := os.MkdirAll(s.Folder(id), 0o700); err != nil {
		return failed("create the folder of", s.Path(id), err)
	}
	_, err := fsys.WriteFile(s.borrowedPath(id), []byte(strings.Join(lines, "\n")+"\n"), fsys.WriteOptions{Mode: 0o600})
	return err
}

// needed tells that a session in all other than l itself, one that is still
// there, names results of l.
func (l lender) needed(all []Summary) bool {
	return slices.ContainsFunc(all, func(f Summary) bool {
		if f.ForkOf == "" || f.ID == l.id || fsys.KindOf(f.Path) != fsys.KindRegular {
			return false
		}
		return f.ForkOf == l.id || slices.ContainsFunc(f.Store.lenders(f.ID), func(o lender) bool { return o.line() == l.line() })
	})
}

// dropFolder removes the folder of a session; its results stay while a fork
// needs them, and those that only it still needed go.
func (s Summary) dropFolder(all []Summary) error {
	lent := s.Store.lenders(s.ID)
	if err := (lender{s.Store, s.ID}).drop(all); err != nil {
		return err
	}
	all = slices.DeleteFunc(slices.Clone(all), func(f Summary) bool { return f.ID == s.ID && f.Store == s.Store })
	for _, l := range lent {
		if fsys.KindOf(l.store.Path(l.id)) != fsys.KindMissing {
			continue
		}
		if err := l.drop(all); err != nil {
			return err
		}
	}
	return nil
}

// drop removes the folder of a session that is gone, but not what is needed.
func (l lender) drop(all []Summary) error {
	dir := l.store.Folder(l.id)
	if !l.needed(all) {
		return failed("remove", dir, os.RemoveAll(dir))
	}
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err = failed("read", dir, err)
	for _, e := range list {
		if path := filepath.Join(dir, e.Name()); path != l.store.Results(l.id) {
			err = errors.Join(err, failed("remove", path, os.RemoveAll(path)))
		}
	}
	return err
}
