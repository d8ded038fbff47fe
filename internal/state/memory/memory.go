// Package memory reads the CLAUDE.md / AGENTS.md hierarchy, rules, imports, auto memory.
//
// Instruction files are plain text that people own: they are found by place
// and name, read once a session and given to the model word for word. What
// they ask for is advice to the model; what must hold is a permission rule.
package memory

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Scope says whose instructions a file holds.
type Scope string

// The scopes, in the order in which files are read. Nothing overrides: what
// comes later is nearer and weighs more with the model.
const (
	Managed Scope = "Managed" // of the machine's administrator
	User    Scope = "User"    // of the user, for all projects
	Project Scope = "Project" // of the project, for everybody
	Local   Scope = "Local"   // of the user, for this project
)

// Label names the scope to the model.
func (s Scope) Label() string {
	switch s {
	case Managed:
		return "set by the administrator of this machine"
	case User:
		return "the user's private instructions for all projects"
	case Project:
		return "project instructions, checked into the repository"
	case Local:
		return "the user's private instructions for this project, not checked in"
	}
	return string(s)
}

// AgentsMode says when AGENTS.md is read.
type AgentsMode int

// The modes.
const (
	// AgentsPerFolder reads it in each folder that has no CLAUDE.md.
	AgentsPerFolder AgentsMode = iota
	// AgentsPerProject reads it only when no folder of the project has a CLAUDE.md.
	AgentsPerProject
	// AgentsAlways reads it beside CLAUDE.md.
	AgentsAlways
	// AgentsNever reads none.
	AgentsNever
)

// Config says where to look.
type Config struct {
	// Managed is the folder of the administrator's file, "" for none;
	// ManagedText is what the managed settings say instead, "" for nothing.
	Managed, ManagedText string
	// Home is the configuration home, "" for none.
	Home string
	// Cwd is the working directory, absolute and canonical. Its own and all
	// folders above it belong to the project.
	Cwd    string
	Agents AgentsMode
	// Within is the root of a checkout that is not trusted: a file found in it
	// that a link takes from outside is left out. "" bounds nothing.
	Within string
	// Without lists scopes that are not read.
	Without []Scope
	// Exclude lists globs of absolute paths that are left out; managed files are immune.
	Exclude []string
}

// File is one instruction file as the model sees it.
type File struct {
	// Path is absolute, under the name it was found by; for ManagedText it says so in words.
	Path  string
	Scope Scope
	// Text is valid UTF-8 with plain line ends and without surrounding blank lines.
	Text string
}

// Note is a file that was left out, and why.
type Note struct{ Path, Text string }

// String is the note as a sentence.
func (n Note) String() string {
	return fmt.Sprintf("instructions in %s are left out: %s", fsys.Printable(n.Path), n.Text)
}

// Bounds of what is read, in bytes. The single one is the documented bound of
// the ecosystem.
const (
	maxFile  = 4 << 20
	maxTotal = 8 << 20
)

// Load reads the files in the order of their scopes and, within a project,
// from the root down to the working directory. A missing file is no note.
func Load(c Config) ([]File, []Note) {
	l := &loader{c: c, seen: map[string]bool{}, absent: map[string]bool{}}
	if c.Managed != "" {
		l.read(filepath.Join(c.Managed, claudeFile), Managed)
	}
	if text := strings.TrimSpace(strings.ToValidUTF8(c.ManagedText, "\ufffd")); text != "" {
		l.files = append(l.files, File{"managed settings", Managed, text})
	}
	if c.Home != "" {
		l.folder(c.Home, User, []string{claudeFile}, c.Agents != AgentsNever)
	}
	dirs := upward(c.Cwd)
	agents := c.Agents != AgentsNever
	if c.Agents == AgentsPerProject {
		agents = !slices.ContainsFunc(dirs, func(dir string) bool { return l.has(dir, projectFiles()) })
	}
	for _, dir := range dirs {
		l.folder(dir, Project, projectFiles(), agents)
		l.read(filepath.Join(dir, localFile), Local)
	}
	return l.files, l.notes
}

const (
	claudeFile = "CLAUDE.md"
	localFile  = "CLAUDE.local.md"
	agentsFile = "AGENTS.md"
)

func projectFiles() []string { return []string{claudeFile, filepath.Join(".claude", claudeFile)} }

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

type loader struct {
	c     Config
	files []File
	notes []Note
	seen  map[string]bool // real paths
	// absent are names that were looked at and lead to nothing. Most names do
	// not exist, and each is asked for several times.
	absent map[string]bool
	total  int
}

// folder reads the named files of one folder, and AGENTS.md when it is wanted there.
func (l *loader) folder(dir string, s Scope, names []string, agents bool) {
	has := l.has(dir, names)
	for _, name := range names {
		l.read(filepath.Join(dir, name), s)
	}
	if agents && (!has || l.c.Agents == AgentsAlways) {
		l.read(filepath.Join(dir, agentsFile), s)
	}
}

// has reports whether a folder has one of the files that is to be read. The
// configuration home of a user whose projects lie in the home directory has
// the name of a project's file; it is not one.
func (l *loader) has(dir string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		path := filepath.Join(dir, name)
		if l.kind(path) != fsys.KindRegular || l.excluded(path) {
			return false
		}
		real, err := fsys.Real(path)
		return err == nil && !l.seen[real]
	})
}

func (l *loader) kind(path string) fsys.Kind {
	if l.absent[path] {
		return fsys.KindMissing
	}
	k := fsys.KindOf(path)
	l.absent[path] = k == fsys.KindMissing
	return k
}

func (l *loader) excluded(path string) bool {
	return slices.ContainsFunc(l.c.Exclude, func(glob string) bool {
		return doublestar.MatchUnvalidated(filepath.ToSlash(glob), filepath.ToSlash(path))
	})
}

// read adds one file, once, whatever names lead to it.
func (l *loader) read(path string, s Scope) {
	if slices.Contains(l.c.Without, s) || s != Managed && l.excluded(path) {
		return
	}
	if l.absent[path] {
		return
	}
	text, err := readText(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		l.notes = append(l.notes, Note{path, err.Error()})
		return
	}
	real, err := fsys.Real(path)
	if err != nil || l.seen[real] {
		return
	}
	l.seen[real] = true
	if l.c.Within != "" && s != Managed && s != User && fsys.Within(l.c.Within, path) && !fsys.Within(l.c.Within, real) {
		l.notes = append(l.notes, Note{path, "it links to " + fsys.Printable(real) + ", outside this folder, which is not trusted (see hew trust)"})
		return
	}
	if text == "" {
		return
	}
	if l.total += len(text); l.total > maxTotal {
		l.total -= len(text)
		l.notes = append(l.notes, Note{path, fmt.Sprintf("with it the instructions would exceed %d MB", maxTotal>>20)})
		return
	}
	l.files = append(l.files, File{path, s, text})
}

// readText reads a text file; a missing one is fs.ErrNotExist.
func readText(path string) (string, error) {
	f, st, err := fsys.OpenRegular(path)
	if err != nil {
		if st.Kind == fsys.KindMissing && fsys.CauseOf(err) == fsys.CauseMissing {
			return "", fs.ErrNotExist
		}
		return "", err
	}
	defer func() { _ = f.Close() }() // only read
	if st.Size > maxFile {
		return "", fmt.Errorf("it has %d bytes, the limit is %d MB", st.Size, maxFile>>20)
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return "", fmt.Errorf("reading failed: %w", err)
	}
	text := strings.TrimPrefix(string(raw), "\ufeff")
	switch {
	case len(raw) > maxFile:
		return "", fmt.Errorf("it has more than %d MB", maxFile>>20)
	case strings.ContainsRune(text, 0):
		return "", errors.New("it is binary")
	case !utf8.ValidString(text):
		return "", errors.New("it is not UTF-8 text")
	}
	return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")), nil
}
