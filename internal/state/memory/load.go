package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/state/settings"
)

const (
	claudeFile = "CLAUDE.md"
	localFile  = "CLAUDE.local.md"
	agentsFile = "AGENTS.md"
	ownFolder  = ".claude"
	rules      = "rules"
)

// Instructions are the files of one conversation: those that were read at the
// start, and what is known of those that are read later. It is not safe for
// concurrent use.
type Instructions struct {
	l             *loader
	files         []File          // of the start
	notes         []Note          // of the start
	seen, visited map[string]bool // as they were after the start
	waiting       []rule
}

// Load reads the files in the order of their scopes and, within a project,
// from the root down to the working directory. A missing file is no note.
func Load(c Config) *Instructions {
	l := &loader{c: c, disk: c.Disk, seen: map[string]bool{}, visited: map[string]bool{}}
	if l.disk == nil {
		l.disk = &Disk{}
	}
	at := origin{reason: AtStart}
	if c.Managed != "" {
		at.dir = c.Managed
		l.take(filepath.Join(c.Managed, claudeFile), Managed, at)
	}
	if text := strings.TrimSpace(strings.ToValidUTF8(c.ManagedText, "\ufffd")); text != "" {
		l.files = append(l.files, File{Path: "managed settings", Scope: Managed, Text: text, Size: int64(len(text)), Reason: AtStart})
	}
	if c.Home != "" {
		at.dir = c.Home
		l.folder(User, []string{filepath.Join(c.Home, claudeFile)}, c.Agents != AgentsNever, at)
		l.rulesIn(filepath.Join(c.Home, rules), User, at)
	}
	l.project()
	l.disk = &Disk{} // what is read later is read as it is then
	return &Instructions{l, slices.Clip(l.files), slices.Clip(l.notes), maps.Clone(l.seen), maps.Clone(l.visited), slices.Clone(l.waiting)}
}

// project reads the folders from the root down to the working directory, and
// the further working directories.
func (l *loader) project() {
	c := l.c
	dirs := append(upward(c.Cwd), c.Roots...)
	l.agents = c.Agents != AgentsNever
	if c.Agents == AgentsPerProject {
		l.agents = !slices.ContainsFunc(dirs, func(dir string) bool { return l.has(l.claudeFiles(dir)) })
	}
	for _, dir := range dirs {
		l.dir(dir, origin{reason: AtStart})
	}
}

// Files are the files of the start, in the order in which the model sees them.
func (in *Instructions) Files() []File { return in.files }

// Notes tell of files that were left out at the start, and of odd ones.
func (in *Instructions) Notes() []Note { return in.notes }

// Outside lists what files of the project include from outside of it, allowed
// or not.
func (in *Instructions) Outside() []Include { return in.l.outside }

// upward lists dir and all folders above it, the root first.
func upward(dir string) []string {
	var out []string
	for dir != "" {
		out = append(out, dir)
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	slices.Reverse(out)
	return out
}

// origin is how a file was come by.
type origin struct {
	reason Reason
	// dir is the folder whose file it is; base is where a rule's paths start, ""
	// for the checkout.
	dir, base       string
	parent, trigger string
	depth           int
	rule            bool
	matched         bool // a rule's paths have matched
}

type loader struct {
	c       Config
	disk    *Disk
	files   []File
	notes   []Note
	outside []Include
	waiting []rule
	agents  bool
	root    string          // see checkout
	seen    map[string]bool // real paths of files
	visited map[string]bool // folders
	lookups int
	total   int
}

func (l *loader) note(path, format string, args ...any) {
	l.notes = append(l.notes, Note{Path: path, Text: fmt.Sprintf(format, args...)})
}

func (l *loader) quiet(path, format string, args ...any) {
	l.notes = append(l.notes, Note{Path: path, Text: fmt.Sprintf(format, args...), Quiet: true})
}

// checkout is the folder that the project's files may include from: looked for
// when it matters, since most projects include nothing.
func (l *loader) checkout() string {
	if l.root == "" {
		l.root = settings.CheckoutRoot(l.c.Cwd)
	}
	return l.root
}

// dir reads what one folder of a project has, once.
func (l *loader) dir(dir string, at origin) {
	if l.visited[dir] {
		return
	}
	l.visited[dir] = true
	at.dir, at.base = dir, dir
	l.folder(Project, l.claudeFiles(dir), l.agents, at)
	if own := l.own(dir); own != "" {
		l.rulesIn(filepath.Join(own, rules), Project, at)
	}
	l.take(filepath.Join(dir, localFile), Local, at)
}

// own is the folder for the ecosystem's files in dir, "" when there is none or
// when it is the configuration home of a user whose projects lie in the home
// directory: that one has the name of a project's folder and is not one.
func (l *loader) own(dir string) string {
	own := filepath.Join(dir, ownFolder)
	if own == l.c.Home || l.disk.kind(own) != fsys.KindDir {
		return ""
	}
	return own
}

func (l *loader) claudeFiles(dir string) []string {
	files := []string{filepath.Join(dir, claudeFile)}
	if own := l.own(dir); own != "" {
		files = append(files, filepath.Join(own, claudeFile))
	}
	return files
}

// folder reads the named files of one folder, and AGENTS.md when it is wanted there.
func (l *loader) folder(s Scope, paths []string, agents bool, at origin) {
	has := l.has(paths)
	for _, path := range paths {
		l.take(path, s, at)
	}
	path := filepath.Join(at.dir, agentsFile)
	switch {
	case agents && (!has || l.c.Agents == AgentsAlways):
		l.take(path, s, at)
	case l.c.Thorough && l.disk.kind(path) == fsys.KindRegular && !l.seen[l.disk.read(path).real]:
		why := "a CLAUDE.md of this project is read instead (see agentsMd)"
		if l.c.Agents == AgentsNever {
			why = "agentsMd is never"
		}
		l.quiet(path, "%s", why)
	}
}

// has reports whether one of the files is there and is to be read.
func (l *loader) has(paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool {
		if l.disk.kind(path) != fsys.KindRegular || l.excluded(path) {
			return false
		}
		r := l.disk.read(path)
		return r.err != nil || !l.seen[r.real]
	})
}

func (l *loader) excluded(path string) bool {
	return slices.ContainsFunc(l.c.Exclude, func(glob string) bool {
		return doublestar.MatchUnvalidated(filepath.ToSlash(glob), filepath.ToSlash(path))
	})
}

// take adds one file, once, whatever names lead to it, and what it includes.
func (l *loader) take(path string, s Scope, at origin) {
	if slices.Contains(l.c.Without, s) {
		return
	}
	r := l.disk.read(path)
	switch {
	case errors.Is(r.err, fs.ErrNotExist):
		if at.reason == Included {
			l.quiet(path, "it is included by %s and does not exist", fsys.Printable(at.parent))
		}
		return
	case s != Managed && l.excluded(path):
		l.quiet(path, "claudeMdExcludes names it")
		return
	case r.err != nil:
		l.notes = append(l.notes, Note{Path: path, Text: r.err.Error(), Quiet: at.reason == Included && fsys.CauseOf(r.err) == fsys.CauseIsDir})
		return
	case l.seen[r.real] || !l.inside(path, r.real, s):
		return
	}
	f := File{Path: path, Scope: s, Text: r.text, Size: r.size, Reason: at.reason, Parent: at.parent, Trigger: at.trigger}
	if at.rule && !l.ruled(&f, r.real, at) {
		return
	}
	l.seen[r.real] = true
	var includes []string
	f.Text, includes = scan(f.Text)
	if f.Text != "" && !l.add(f) {
		return
	}
	l.include(f, includes, at)
}

func (l *loader) add(f File) bool {
	if l.total += len(f.Text); l.total > maxTotal {
		l.total -= len(f.Text)
		l.note(f.Path, "with it the instructions would exceed %d MB", maxTotal>>20)
		return false
	}
	l.files = append(l.files, f)
	return true
}

// inside refuses a file of an untrusted checkout that is really elsewhere.
func (l *loader) inside(path, real string, s Scope) bool {
	if !l.c.Untrusted || s == Managed || s == User || !fsys.Within(l.checkout(), path) || fsys.Within(l.checkout(), real) {
		return true
	}
	l.seen[real] = true
	l.note(path, "it links to %s, outside this folder, which is not trusted (see hew trust)", fsys.Printable(real))
	return false
}

// include reads what a file includes, depth first.
func (l *loader) include(from File, names []string, at origin) {
	if len(names) == 0 {
		return
	}
	at = origin{reason: Included, dir: at.dir, parent: from.Path, trigger: at.trigger, depth: at.depth + 1}
	for _, name := range names {
		path, ok := l.locate(from.Path, name)
		if !ok {
			l.note(from.Path, "from here on its includes: at most %d names are looked up", maxLookups)
			return
		}
		switch {
		case path == "":
		case at.depth > maxDepth:
			if l.disk.kind(path) == fsys.KindRegular {
				l.note(path, "%s includes it, and includes go %d files deep", fsys.Printable(from.Path), maxDepth)
			}
		case l.allowed(path, name, from, at.dir):
			l.take(path, from.Scope, at)
		}
	}
}

// locate finds the file that a name leads to, "" for none. A name at the end of
// a sentence or in brackets counts without what follows it, when there is no
// such file otherwise. ok is false when too many names were looked up.
func (l *loader) locate(from, name string) (path string, ok bool) {
	dir := filepath.Dir(from)
	for {
		if l.lookups++; l.lookups > maxLookups {
			return "", l.lookups > maxLookups+1 // told once
		}
		path, err := fsys.Abs(dir, filepath.FromSlash(name))
		if err != nil {
			return "", true
		}
		shorter := strings.TrimRight(name, ".,;:!?)]}'_")
		if l.disk.kind(path) != fsys.KindMissing || shorter == name || shorter == "" {
			return path, true
		}
		name = shorter
	}
}

// allowed tells whether a file may include another: one of the user's or the
// administrator's any, one of the project what lies in the checkout or in the
// folder that it stands for, and elsewhere what the user has agreed to.
func (l *loader) allowed(path, name string, from File, dir string) bool {
	if from.Scope == User || from.Scope == Managed || l.disk.kind(path) == fsys.KindMissing {
		return true
	}
	real, err := fsys.Real(path)
	if err != nil {
		l.note(path, "%v", err)
		return false
	}
	if fsys.Within(l.checkout(), real) || fsys.Within(dir, real) {
		return true
	}
	l.outside = append(l.outside, Include{Real: real, From: from.Path, Name: name})
	if l.c.Outside != nil && l.c.Outside(real) {
		return true
	}
	l.note(path, "%s includes it from outside this project, which needs your yes (see hew trust)", fsys.Printable(from.Path))
	return false
}
