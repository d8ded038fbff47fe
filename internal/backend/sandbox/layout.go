package sandbox

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// action is what is done with one path. Those further down win where two fall
// on the same path.
type action string

const (
	expose action = "rw"   // stays writable
	pin    action = "pin"  // stays what it is, a link or a folder, and cannot be renamed
	freeze action = "ro"   // read-only
	hide   action = "hide" // cannot be read
)

func (a action) rank() int { return slices.Index([]action{expose, pin, freeze, hide}, a) }

// step is one path of a layout. Make tells what stands in for a missing one:
// "dir", "file" (Git cannot bear a folder as its configuration) or "".
type step struct {
	Path string `json:"path"`
	Do   action `json:"do"`
	Make string `json:"make,omitempty"`
}

// layout is the whole picture of the file system, shallow paths first: what
// comes later covers what came before.
type layout struct {
	steps  []step
	policy Policy
	write  []string // real paths of what is writable
}

// layout looks at the file system as it is now.
func (p Policy) layout(private string) []step {
	l := &layout{policy: p, write: slices.Clone(p.Roots)}
	if p.FilesOpen {
		l.hide(private)
		return l.sorted()
	}
	if p.Tmp != "" {
		l.write = append(l.write, p.Tmp)
	}
	guards := l.guards()
	for _, w := range p.Write {
		if !withinAny(w, guards) { // a setting opens no protected place
			l.write = append(l.write, w)
		}
	}
	for _, w := range l.write {
		l.add(step{Path: w, Do: expose})
	}
	for _, g := range guards {
		l.protect(g, 0)
	}
	for _, path := range p.DenyRead {
		l.hide(path)
	}
	l.hide(private)
	for _, path := range p.AllowRead {
		l.show(path)
	}
	return l.sorted()
}

// guards lists the paths that stay read-only inside writable ones.
func (l *layout) guards() []string {
	var out []string
	for _, root := range l.policy.Roots {
		always, existing := protected(root, l.policy.Home)
		for _, name := range always {
			out = append(out, filepath.Join(root, name))
		}
		for _, name := range existing {
			if exists(root, name) {
				out = append(out, filepath.Join(root, name))
			}
		}
	}
	for _, w := range l.policy.Write {
		if filepath.Base(w) == ".git" { // the shared folder of a worktree
			out = append(out, filepath.Join(w, "hooks"), filepath.Join(w, "config"))
		}
	}
	return append(out, l.policy.Protect...)
}

func (l *layout) add(s step) {
	i := slices.IndexFunc(l.steps, func(o step) bool { return o.Path == s.Path })
	switch {
	case i < 0:
		l.steps = append(l.steps, s)
	case s.Do.rank() > l.steps[i].Do.rank():
		l.steps[i].Do = s.Do
	}
}

func (l *layout) sorted() []step {
	slices.SortStableFunc(l.steps, func(a, b step) int {
		return cmp.Or(cmp.Compare(strings.Count(a.Path, "/"), strings.Count(b.Path, "/")), cmp.Compare(a.Path, b.Path))
	})
	return l.steps
}

// maxLinks bounds the links that are followed to one protected path.
const maxLinks = 16

// protect freezes a path and pins every folder and link on the way to it:
// else the folder is renamed and a new one put in its place. Where something is
// missing, the first missing name is held by an empty placeholder.
func (l *layout) protect(path string, links int) {
	path = filepath.Clean(path)
	if l.rootOf(path) == "" {
		path = filepath.Join(anchor(filepath.Dir(path)), filepath.Base(path))
	}
	root := l.rootOf(path)
	if root == "" || root == path || links > maxLinks {
		return // not writable anyway, or the folder that the user asked to be writable
	}
	rest := strings.Split(strings.TrimPrefix(path, root+"/"), "/")
	at := root
	for i, name := range rest {
		at = filepath.Join(at, name)
		info, err := os.Lstat(at)
		last := i == len(rest)-1
		switch {
		case err != nil || isPlaceholder(at):
			l.add(step{Path: at, Do: freeze, Make: placeholder(at)})
			return
		case info.Mode()&fs.ModeSymlink != 0:
			l.add(step{Path: at, Do: pin})
			if target, err := os.Readlink(at); err == nil {
				if !filepath.IsAbs(target) {
					target = filepath.Join(filepath.Dir(at), target)
				}
				l.protect(filepath.Join(append([]string{target}, rest[i+1:]...)...), links+1)
			}
			return
		case last || !info.IsDir():
			l.add(step{Path: at, Do: freeze})
			return
		}
		l.add(step{Path: at, Do: pin})
	}
}

// anchor is the real name of as much of a path as exists.
func anchor(path string) string {
	for rest := ""; ; {
		if r, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Join(r, rest)
		}
		up := filepath.Dir(path)
		if up == path {
			return filepath.Join(path, rest)
		}
		rest, path = filepath.Join(filepath.Base(path), rest), up
	}
}

func placeholder(path string) string {
	if filepath.Base(path) == "config" && filepath.Base(filepath.Dir(path)) == ".git" {
		return "file"
	}
	return "dir"
}

// rootOf is the deepest writable folder that holds the path, "" for none.
func (l *layout) rootOf(path string) string {
	deepest := ""
	for _, w := range l.write {
		if within(path, w) && len(w) > len(deepest) {
			deepest = w
		}
	}
	return deepest
}

// hide takes a path away, with everything that a pattern in it matches, under
// its real name too.
func (l *layout) hide(path string) {
	if path == "" {
		return
	}
	found := []string{path}
	if strings.ContainsAny(path, "*?[") {
		found, _ = filepath.Glob(path)
	}
	for _, f := range found {
		if r, err := filepath.EvalSymlinks(f); err == nil {
			l.pinAbove(r)
			l.add(step{Path: r, Do: hide})
		}
	}
}

// pinAbove keeps the folders above a path in a writable folder where they are:
// under another name the next command would find it open.
func (l *layout) pinAbove(path string) {
	root := l.rootOf(path)
	if root == "" {
		return
	}
	for up := filepath.Dir(path); up != root && within(up, root); up = filepath.Dir(up) {
		l.add(step{Path: up, Do: pin})
	}
}

// show brings a readable path inside a hidden one back, as writable as it was.
func (l *layout) show(path string) {
	covered := slices.ContainsFunc(l.steps, func(s step) bool { return s.Do == hide && within(path, s.Path) })
	if !covered {
		return
	}
	// The more specific path wins; on the very same one allowRead is meant to
	// undo hew's own list, and a deny rule of the user's still holds.
	l.steps = slices.DeleteFunc(l.steps, func(s step) bool {
		return s.Do == hide && s.Path == path && slices.Contains(real(credentials(l.policy.Home)), path)
	})
	do := freeze
	if l.rootOf(path) != "" {
		do = expose
	}
	l.add(step{Path: path, Do: do})
}

// placeholderTime is the mark of a placeholder: nobody has this time by accident.
func placeholderTime() time.Time { return time.Unix(1_000_000_000, 187_187_187) }

// isPlaceholder knows one by its stamp, also one that a killed hew left.
func isPlaceholder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.ModTime().Equal(placeholderTime()) && (info.IsDir() || (info.Mode().IsRegular() && info.Size() == 0))
}
