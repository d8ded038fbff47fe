package settings

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// sizeLimit is the ecosystem's for one settings file, and for JSON on the command line.
const sizeLimit = 2 << 20

// Config says where settings are looked for.
type Config struct {
	Home Home
	Cwd  string // absolute: the folder that hew was started in
	// LocalRoot is the folder of .claude/settings.local.json; "" finds it: the root of the (main) checkout, else Cwd.
	LocalRoot string
	// ManagedDir holds managed-settings.json and managed-settings.d; "" is the system's folder.
	ManagedDir string
	// FlagSettings is the value of --settings: a file, or a JSON object that begins with "{".
	FlagSettings string
	// HostPolicy is a JSON object of settings by which the host of the session
	// restricts it, "" for none; see HostPolicyFile.
	HostPolicy string
	// Sources limits what is loaded besides managed settings and the command line; nil is all.
	Sources []Scope
	Trust   Trust
	// BaseURLs says that the user has confirmed the addresses of model servers that repository files name.
	BaseURLs Confirmed
}

// Confirmed is a yes or no of the user.
type Confirmed bool

// systemManagedDir is where administrators put managed settings for all tools of the ecosystem.
func systemManagedDir() string {
	switch runtime.GOOS {
	case "darwin":
		return "/Library/Application Support/ClaudeCode"
	case "windows":
		return `C:\Program Files\ClaudeCode`
	}
	return "/etc/claude-code"
}

// Managed is the folder of administrators' files.
func (c Config) Managed() string {
	if c.ManagedDir != "" {
		return c.ManagedDir
	}
	return systemManagedDir()
}

func (c Config) localRoot() string {
	if c.LocalRoot != "" {
		return c.LocalRoot
	}
	return localRoot(c.Cwd)
}

// Path is the file of a scope that hew may write to: User, Project or Local; "" for the others.
func (c Config) Path(s Scope) string {
	switch s {
	case User:
		return c.Home.Settings()
	case Project:
		return filepath.Join(c.Cwd, ".claude", "settings.json")
	case Local:
		return filepath.Join(c.localRoot(), ".claude", "settings.local.json")
	case Flag, Managed:
	}
	return ""
}

// File is one place where settings were looked for.
type File struct {
	Scope  Scope
	Path   string // "" for JSON given on the command line
	State  FileState
	status fsys.Status
}

// FileState says what became of it.
type FileState int

// The states.
const (
	Absent FileState = iota
	Loaded
	Ignored // with a Problem
)

type loader struct {
	c        Config
	files    []File
	sources  []source // weakest first
	held     []HeldKey
	problems []Problem
}

// Load reads and merges all settings. It never fails: what cannot be used is told in the problems, in the order of the
// files from the weakest to the strongest.
func Load(c Config) (*Settings, []Problem) {
	l := &loader{c: c}
	for _, s := range []Scope{User, Project, Local} {
		if c.Sources == nil || slices.Contains(c.Sources, s) {
			l.scope(s)
		}
	}
	l.flag()
	l.managed()
	return l.result()
}

func (l *loader) result() (*Settings, []Problem) {
	root := newObject(Origin{})
	for _, s := range l.sources {
		root = merge(root, s.root, "")
	}
	for _, t := range tightens {
		if best, changed := t.apply(root.get(t.path), l.sources); changed {
			root = root.with(t.path, best)
		}
	}
	return &Settings{root: root, files: l.files, held: l.held, sources: l.sources}, l.problems
}

// with returns the tree with v at path; what it does not change is shared.
func (n *node) with(path []string, v *node) *node {
	if len(path) == 0 {
		return v
	}
	out := newObject(v.from)
	if n != nil && n.kind == object {
		out.from = n.from
		for _, k := range n.keys {
			out.set(k, n.fields[k])
		}
	}
	out.set(path[0], out.fields[path[0]].with(path[1:], v))
	return out
}

func (l *loader) scope(s Scope) {
	path := l.c.Path(s)
	for _, f := range l.files { // a session in the home folder: its project file is the user's
		if f.Path == path {
			return
		}
	}
	l.file(Origin{Scope: s, File: path})
}

func (l *loader) flag() {
	v := l.c.FlagSettings
	if v == "" {
		return
	}
	if strings.HasPrefix(strings.TrimSpace(v), "{") {
		l.files = append(l.files, File{Scope: Flag})
		if len(v) > sizeLimit {
			l.ignore(Origin{Scope: Flag}, 0, 0, "larger than 2 MiB; put it into a file of less")
			return
		}
		l.text(Origin{Scope: Flag}, []byte(v))
		return
	}
	path, err := fsys.Abs(l.c.Cwd, v)
	if err == nil && fsys.KindOf(path) == fsys.KindMissing {
		err = &fsys.Error{Op: "read", Path: path, Cause: fsys.CauseMissing}
	}
	if err != nil {
		l.files = append(l.files, File{Scope: Flag, Path: v})
		l.ignore(Origin{Scope: Flag, File: v}, 0, 0, err.Error())
		return
	}
	l.file(Origin{Scope: Flag, File: path})
}

// managed reads the main file, then the drop-ins in alphabetical order; a later one wins.
func (l *loader) managed() {
	l.hostPolicy()
	dir := l.c.Managed()
	l.file(Origin{Scope: Managed, File: filepath.Join(dir, "managed-settings.json")})
	dropIns := filepath.Join(dir, "managed-settings.d")
	entries, err := os.ReadDir(dropIns)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.ignore(Origin{Scope: Managed, File: dropIns}, 0, 0, err.Error())
	}
	if st, err := fsys.Stat(dropIns); err == nil {
		// The folder itself is watched for new files; it holds no settings.
		l.files = append(l.files, File{Scope: Managed, Path: dropIns, State: Absent, status: st})
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".json") && !strings.HasPrefix(name, ".") {
			l.file(Origin{Scope: Managed, File: filepath.Join(dropIns, name)})
		}
	}
}

func (l *loader) file(from Origin) {
	raw, st, err := fsys.ReadRaw(from.File, fsys.Limits{MaxBytes: sizeLimit})
	l.files = append(l.files, File{Scope: from.Scope, Path: from.File, status: st})
	if fsys.CauseOf(err) == fsys.CauseMissing {
		return
	}
	if err != nil {
		l.ignore(from, 0, 0, readFault(err))
		return
	}
	l.text(from, raw)
}

func readFault(err error) string {
	if fsys.CauseOf(err) == fsys.CauseTooLarge {
		return "larger than 2 MiB; nothing of it counts"
	}
	return err.Error()
}

// text parses and clears one file and adds it to the sources.
func (l *loader) text(from Origin, raw []byte) { l.source(from, raw, l.fromRepo(from)) }

func (l *loader) source(from Origin, raw []byte, repo bool) {
	var bad *fsys.InvalidJSONError
	if err := fsys.CheckJSON(raw); errors.As(err, &bad) {
		l.ignore(from, bad.Line, bad.Col, bad.Reason+"; nothing of the file counts until it is mended")
		return
	}
	root, err := parse(raw, from)
	if err != nil {
		l.ignore(from, 0, 0, err.Error())
		return
	}
	c := checker{src: source{from: from, root: root, repo: repo}, trust: l.c.Trust, urls: l.c.BaseURLs, tracked: func() bool { return l.tracked(from) }}
	c.object(root, "")
	l.problems = append(l.problems, c.problems...)
	l.held = append(l.held, c.held...)
	l.sources = append(l.sources, c.src)
	l.files[len(l.files)-1].State = Loaded
}

func (l *loader) ignore(from Origin, line, col int, text string) {
	l.problems = append(l.problems, Problem{Severity: FileIgnored, Scope: from.Scope, File: from.File, Line: line, Col: col, Text: text})
	if n := len(l.files); n > 0 && l.files[n-1].Path == from.File {
		l.files[n-1].State = Ignored
	}
}

// fromRepo: the project file is the repository's; the local file is when git tracks it or its folder is a link.
func (l *loader) fromRepo(from Origin) bool {
	switch from.Scope {
	case Project:
		return true
	case Local:
		return l.c.Trust != Trusted && l.tracked(from) // in a trusted folder the answer changes nothing
	case User, Flag, Managed:
	}
	return false
}

// tracked reports whether the local file came with the repository.
func (l *loader) tracked(from Origin) bool {
	if st, err := os.Lstat(filepath.Dir(from.File)); err != nil || st.Mode()&fs.ModeSymlink != 0 {
		return true
	}
	repo, ok := findRepository(l.c.localRoot())
	if !ok {
		return false
	}
	rel, err := filepath.Rel(repo.root, from.File)
	return err != nil || repo.gitTracks(filepath.ToSlash(rel))
}
