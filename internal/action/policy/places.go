package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/action/policy/shellread"
	"github.com/hew-agent/hew/internal/tool"
)

// place is one file under every name that leads to it.
type place struct {
	// names are absolute and clean; the last one is the real name, with all
	// links resolved.
	names []string
	// lost places could not be resolved: nothing may be allowed there.
	lost bool
}

// locator finds places for one request.
type locator struct {
	s     *Snapshot
	paths Paths
	cwd   string
	roots []string // real names of the working directories, when first needed
}

func (s *Snapshot) locator(r Request) *locator {
	cwd := clean(r.Cwd)
	if cwd == "" {
		cwd = clean(s.cfg.Project)
	}
	return &locator{s: s, paths: r.Paths, cwd: cwd}
}

func (l *locator) resolve(p string) (string, bool) {
	if l.paths == nil {
		return clean(p), true
	}
	return l.paths.Resolve(p)
}

// absolute expands ~ and joins with dir without cleaning, so that links can be
// resolved in the order in which they stand.
func (l *locator) join(dir, p string, tilde bool) string {
	p = slashed(p)
	switch {
	case tilde && (p == "~" || strings.HasPrefix(p, "~/")):
		return l.s.home + p[1:]
	case strings.HasPrefix(p, "/"):
		return p
	case p == "":
		return dir
	}
	return dir + "/" + p
}

// slashed turns a Windows path into the form /c/x that is used inside.
func slashed(p string) string {
	if d := windowsDrive(p); d != "" {
		return "/" + d
	}
	return p
}

// absolute is used for settings, whose paths may start with ~.
func (s *Snapshot) absolute(p, dir string) string {
	p = slashed(p)
	switch {
	case p == "~" || strings.HasPrefix(p, "~/"):
		p = s.home + p[1:]
	case !strings.HasPrefix(p, "/"):
		p = dir + "/" + p
	}
	return path.Clean(p)
}

// file is the place of a path in a tool's input.
func (l *locator) file(p string) place { return l.at(l.cwd, l.cwd, p, true) }

// at is the place of p below a directory known by a logical and a real name.
func (l *locator) at(logical, physical, p string, tilde bool) place {
	real, ok := l.resolve(l.join(physical, p, tilde))
	names := []string{path.Clean(l.join(logical, p, tilde))}
	if q := path.Clean(l.join(physical, p, tilde)); q != names[0] {
		names = append(names, q)
	}
	if !ok {
		return place{names: names, lost: true}
	}
	return place{names: append(names, path.Clean(real))}
}

// inside reports whether a place lies in the working directories by all its names.
func (l *locator) inside(pl place) bool {
	if pl.lost {
		return false
	}
	if l.roots == nil {
		for _, r := range l.s.roots {
			l.roots = append(l.roots, l.s.fold(r))
			if real, ok := l.resolve(r); ok {
				l.roots = append(l.roots, l.s.fold(clean(real)))
			}
		}
	}
	for _, n := range pl.names {
		n = l.s.fold(n)
		if !slices.ContainsFunc(l.roots, func(r string) bool { return below(n, r) }) {
			return false
		}
	}
	return true
}

// output reports whether a place is output of the session itself, or a note, by all its names.
func (l *locator) output(pl place) bool {
	return l.within(pl, l.s.cfg.Output) != nil || l.within(pl, l.s.cfg.Notes) != nil
}

// within returns the names of a place from the folders that it lies in, nil when
// one of its names lies in none of them.
func (l *locator) within(pl place, dirs []string) []string {
	if pl.lost || len(dirs) == 0 {
		return nil
	}
	var rest []string
	for _, n := range pl.names {
		i := slices.IndexFunc(dirs, func(dir string) bool { return l.ownDir(n, dir) != "" })
		if i < 0 {
			return nil
		}
		rest = append(rest, l.s.fold(n)[len(l.ownDir(n, dirs[i])):])
	}
	return rest
}

// ownDir is the name of dir that the other name lies below, "" for none.
func (l *locator) ownDir(name, dir string) string {
	named := l.s.fold(clean(dir))
	if below(l.s.fold(name), named) {
		return named
	}
	if real, ok := l.resolve(clean(dir)); ok && below(l.s.fold(name), l.s.fold(clean(real))) {
		return l.s.fold(clean(real))
	}
	return ""
}

// below reports whether p is dir or lies in it.
func below(p, dir string) bool {
	return dir != "" && (p == dir || dir == "/" || strings.HasPrefix(p, dir) && p[len(dir)] == '/')
}

// directory is a possible current directory of a part.
type directory struct{ logical, physical string }

// directories follows the cd chains of a part.
func (l *locator) directories(d shellread.Dirs) []directory {
	start, _ := l.resolve(l.cwd)
	if start == "" {
		start = l.cwd
	}
	if len(d.Chains) == 0 {
		return []directory{{l.cwd, start}}
	}
	var out []directory
	for _, chain := range d.Chains {
		at := directory{l.cwd, start}
		for _, step := range chain {
			next := directory{logical: path.Clean(l.join(at.logical, step, true))}
			// bash follows the logical name, so the real one is found from it.
			real, ok := l.resolve(l.join(at.logical, step, true))
			if !ok {
				real = next.logical
			}
			next.physical = path.Clean(real)
			at = next
		}
		if !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	return out
}

// rulesOn reports the first rule of a list that covers the place.
func (l *locator) rulesOn(rules []*Rule, pl place, needAll bool) *Rule {
	if len(rules) == 0 {
		return nil
	}
	split := make([][]string, len(pl.names))
	for i, n := range pl.names {
		split[i] = segments(l.s.fold(n))
	}
	for _, r := range rules {
		if r.unused || r.param != "" {
			continue
		}
		if l.covers(r, split, needAll) {
			return r
		}
	}
	return nil
}

func (l *locator) covers(r *Rule, names [][]string, needAll bool) bool {
	if r.whole() {
		return true
	}
	for _, n := range names {
		hit := r.path.match(n)
		if !hit && r.path.relative && r.Behavior != tool.Allow && l.cwd != l.s.cfg.Project {
			moved := r.path
			moved.base = segments(l.s.fold(l.cwd))
			hit = moved.match(n)
		}
		if hit != needAll {
			return hit
		}
	}
	return needAll && len(names) > 0
}
