// Package catalog reads agents, skills, commands, output styles, plugins from disk, with provenance.
//
// All of them are Markdown files that people own and share. Loading reads
// heads only and runs nothing; a file that is broken is a Problem for a
// person and never keeps the others from loading. What stands behind a name is
// decided here, once: the nearest and most trusted place wins, and what lost
// is still told.
package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hew-agent/hew/internal/backend/frontmatter"
	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Scope says whose a definition is.
type Scope string

// The scopes.
const (
	Managed Scope = "managed" // of the machine's administrator
	Flag    Scope = "flag"    // of this run's command line
	User    Scope = "user"    // of the user, for all projects
	Project Scope = "project" // of the repository
	Plugged Scope = "plugin"  // of an installed plugin
	Bundled Scope = "bundled" // of hew itself
)

// Origin is where a definition stands.
type Origin struct {
	Scope Scope
	// File is its file, "" for what is built in or given on the command line.
	File string
	// Plugin is the name of the plugin that brought it, "" for none.
	Plugin string
}

// String is what a person needs to find the place.
func (o Origin) String() string {
	where := string(o.Scope)
	if o.Plugin != "" {
		where += " " + o.Plugin
	}
	if o.File == "" {
		return where
	}
	return where + " " + fsys.Printable(o.File)
}

// Problem is something wrong with a definition, in words for its author.
type Problem struct {
	Origin Origin
	Text   string
}

// String is one line.
func (p Problem) String() string { return p.Origin.String() + ": " + p.Text }

// Config says where definitions are looked for. Folders that do not exist are
// no problem.
type Config struct {
	// Home is the configuration home, Managed the administrator's folder; "" for none.
	Home, Managed string
	// Shared is the folder of the Agent Skills standard in the user's home
	// (`~/.agents`), "" for none.
	Shared string
	// Cwd is where hew was started and Root the root of its checkout, both
	// canonical; without Project neither is looked at.
	Cwd, Root string
	// Added are additional working directories.
	Added []string
	// User and Project tell which scopes are read (--setting-sources).
	User, Project bool
	// Trusted tells that a person agreed to what the folder brings: what a
	// project's file grants or runs is held back otherwise.
	Trusted bool
	// Plugins are the enabled plugins, in their order.
	Plugins []*Plugin
	// Agents is the JSON object of --agents, "" for none.
	Agents string
	// Bundled holds hew's own skills, each a folder with a SKILL.md. Optional.
	Bundled fs.FS
	// BuiltIn are hew's own agents, the weakest of all.
	BuiltIn []*Agent
}

// Catalog is what was found, each list in the order of names.
type Catalog struct {
	Skills []*Skill
	Agents []*Agent
	Styles []*Style
	// Problems are in the order of places.
	Problems []Problem

	// Hidden are skills that a stronger one of their name hides.
	Hidden []*Skill
	// HiddenAgents are agents that a stronger one of their name hides.
	HiddenAgents []*Agent

	c      Config
	skills map[string]*Skill
	mu     sync.RWMutex
	late   map[string]*Skill // those of nested folders; guarded by mu
	marks  map[string]mark   // what was read; guarded by mu
}

// Load finds everything. It never fails.
func Load(c Config) *Catalog {
	k := &Catalog{c: c, skills: map[string]*Skill{}, late: map[string]*Skill{}, marks: map[string]mark{}}
	k.loadSkills()
	k.loadAgents()
	k.loadStyles()
	return k
}

func (k *Catalog) problem(o Origin, format string, args ...any) {
	k.Problems = append(k.Problems, Problem{o, fmt.Sprintf(format, args...)})
}

// place is a folder of definitions.
type place struct {
	dir    string
	origin Origin
}

// places lists the folders `parts` of all scopes, strongest first: managed,
// then those between, each with the nearest project folder first.
func (k *Catalog) places(order []Scope, parts ...string) []place {
	var out []place
	add := func(s Scope, base string) {
		if base != "" {
			out = append(out, place{filepath.Join(append([]string{base}, parts...)...), Origin{Scope: s}})
		}
	}
	for _, s := range order {
		switch s {
		case Managed:
			if k.c.Managed != "" {
				add(s, filepath.Join(k.c.Managed, ".claude"))
			}
		case User:
			if k.c.User {
				add(s, k.c.Home)
			}
		case Project:
			for _, dir := range k.projectFolders() {
				add(s, filepath.Join(dir, ".claude"))
			}
		case Flag, Plugged, Bundled:
			// These have no fixed folder; their loaders add them.
		}
	}
	return out
}

// projectFolders lists the folders from cwd up to the checkout's root, then
// the additional directories.
func (k *Catalog) projectFolders() []string {
	if !k.c.Project || k.c.Cwd == "" {
		return slices.Clone(k.c.Added)
	}
	var out []string
	for dir := k.c.Cwd; ; dir = filepath.Dir(dir) {
		out = append(out, dir)
		if dir == k.c.Root || dir == filepath.Dir(dir) || !fsys.Within(k.c.Root, dir) {
			break
		}
	}
	return append(out, k.c.Added...)
}

// file is a definition's file after its head was read.
type file struct {
	path   string // as found
	origin Origin
	rel    string // slash path below the place, without the extension
	maybe  bool   // its absence is no problem: opening it is the cheapest look
	matter frontmatter.Matter
	mark   mark
	err    error
}

// How much of a file is read at the start, in bytes: what most heads need, with
// enough of the body for a first paragraph, and the longest head.
const (
	usualSize = 8 << 10
	headSize  = frontmatter.Limit + 4<<10
)

// readAll reads the heads of files side by side: five hundred of them are part
// of the start.
func readAll(files []file) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(2*runtime.GOMAXPROCS(0), len(files)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(files)); i = next.Add(1) - 1 {
				f := &files[i]
				f.matter, f.mark, f.err = readHead(f.path)
			}
		})
	}
	wg.Wait()
}

func readHead(path string) (frontmatter.Matter, mark, error) {
	raw, st, err := fsys.ReadHead(path, usualSize)
	if err == nil && st.Size > int64(len(raw)) && frontmatter.Unfinished(raw) {
		raw, st, err = fsys.ReadHead(path, headSize)
	}
	if err != nil {
		return frontmatter.Matter{}, markOf(path), err
	}
	return frontmatter.Parse(raw), mark{size: st.Size, time: st.ModTime.UnixNano()}, nil
}

// walkLimit is how many files one folder of definitions may hold; what lies
// deeper than walkDepth is not looked at. Both keep a link to a large tree
// from being read at every start.
const (
	walkLimit = 5000
	walkDepth = 6
)

// markdown lists the *.md files below a folder, in the order of their names.
// Links to folders are followed, each real folder once.
func (k *Catalog) markdown(p place) []file {
	var out []file
	seen := map[string]bool{}
	var walk func(dir, rel string, depth int)
	walk = func(dir, rel string, depth int) {
		k.mark(dir)
		entries, err := os.ReadDir(dir)
		if err != nil || depth > walkDepth || len(out) >= walkLimit {
			return
		}
		real, err := fsys.Real(dir)
		if err != nil || seen[real] {
			return
		}
		seen[real] = true
		for _, e := range entries {
			name, path := e.Name(), filepath.Join(dir, e.Name())
			if isDir(e, path) {
				walk(path, rel+name+"/", depth+1)
				continue
			}
			if base, ok := strings.CutSuffix(name, ".md"); ok && base != "" {
				o := p.origin
				o.File = path
				out = append(out, file{path: path, origin: o, rel: rel + base})
			}
		}
	}
	walk(p.dir, "", 0)
	if len(out) >= walkLimit {
		k.problem(Origin{Scope: p.origin.Scope, File: p.dir}, "holds more than %d files; the rest is not read", walkLimit)
	}
	return out
}

// isDir tells a folder or a link to one.
func isDir(e fs.DirEntry, path string) bool {
	if e.IsDir() {
		return true
	}
	if e.Type()&fs.ModeSymlink == 0 {
		return false
	}
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// heads reads the heads of files and drops those that cannot be read, with a problem each.
func (k *Catalog) heads(files []file) []file {
	readAll(files)
	k.marked(files)
	return k.usable(files)
}

// read is heads for a caller that holds the lock.
func (k *Catalog) read(files []file) []file {
	readAll(files)
	for _, f := range files {
		k.marks[f.path] = f.mark
	}
	return k.usable(files)
}

func (k *Catalog) usable(files []file) []file {
	return slices.DeleteFunc(files, func(f file) bool {
		if f.err != nil && (!f.maybe || !errors.Is(f.err, fs.ErrNotExist)) {
			k.problem(f.origin, "cannot be read: %v", f.err)
		}
		return f.err != nil
	})
}

func byName[T any](list []T, name func(T) string) {
	slices.SortFunc(list, func(a, b T) int { return cmp.Compare(name(a), name(b)) })
}
