package memory

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hew-agent/hew/internal/backend/frontmatter"
	"github.com/hew-agent/hew/internal/backend/fsys"
)

// rule waits for a file that its paths cover.
type rule struct {
	file     File
	real     string
	at       origin
	patterns []string
}

// rulesIn reads the rules of a folder and all folders below it, in the order of
// their names.
func (l *loader) rulesIn(dir string, s Scope, at origin) {
	if slices.Contains(l.c.Without, s) {
		return
	}
	w := ruleWalk{l: l, folders: map[string]bool{}}
	w.dir(dir, 0)
	at.rule = true
	for _, path := range w.found {
		l.take(path, s, at)
	}
}

// ruleWalk follows links; each folder is walked once.
type ruleWalk struct {
	l       *loader
	folders map[string]bool // real paths
	found   []string
	full    bool
}

func (w *ruleWalk) dir(dir string, depth int) {
	if w.l.disk.kind(dir) != fsys.KindDir {
		return
	}
	real, err := fsys.Real(dir)
	if err == nil && w.folders[real] {
		return
	}
	w.folders[real] = true
	var list []string
	if err == nil {
		list, err = w.l.disk.list(dir)
	}
	switch {
	case err != nil:
		w.l.note(dir, "%v", err)
	case depth > maxFolders:
		w.l.note(dir, "folders of rules go %d deep", maxFolders)
	default:
		w.each(dir, list, depth)
	}
}

func (w *ruleWalk) each(dir string, list []string, depth int) {
	for _, name := range list {
		path := filepath.Join(dir, name)
		switch {
		case w.full:
			return
		case len(w.found) >= maxRules || len(w.folders) > maxRules:
			w.full = true
			w.l.note(path, "a folder of rules may hold %d files; this and what follows is not read", maxRules)
		case strings.EqualFold(filepath.Ext(name), ".md"):
			w.found = append(w.found, path)
		default:
			w.dir(path, depth+1)
		}
	}
}

// ruled takes a rule's front matter off and says whether the rule counts now.
// One with paths waits until a file is read that they cover.
func (l *loader) ruled(f *File, real string, at origin) bool {
	m := frontmatter.Parse([]byte(f.Text))
	f.Text, f.Globs = strings.TrimSpace(m.Body), m.List("paths")
	if at.matched {
		return true
	}
	if m.Problem != "" {
		l.notes = append(l.notes, Note{Path: f.Path, Kept: true, Text: "its front matter is not valid YAML and is read line by line: " + m.Problem})
	}
	if len(f.Globs) == 0 {
		return true
	}
	l.seen[real] = true
	r := rule{file: *f, real: real, at: at}
	if r.at.base == "" {
		r.at.base = l.checkout()
	}
	for _, g := range f.Globs {
		r.patterns = append(r.patterns, braces(g)...)
	}
	if len(r.patterns) > maxPatterns {
		r.patterns = f.Globs
		l.notes = append(l.notes, Note{Path: f.Path, Kept: true, Text: fmt.Sprintf("its paths stand for more than %d patterns; braces in them count as they are written", maxPatterns)})
	}
	l.waiting = append(l.waiting, r)
	l.promised(*f, at)
	return false
}

// promised notes what a waiting rule would include from outside, so that the
// user can agree to it.
func (l *loader) promised(f File, at origin) {
	if f.Scope == User || f.Scope == Managed {
		return
	}
	_, names := scan(f.Text)
	for _, name := range names {
		path, ok := l.locate(f.Path, name)
		if !ok || path == "" || l.disk.kind(path) == fsys.KindMissing {
			continue
		}
		if real, err := fsys.Real(path); err == nil && !fsys.Within(l.checkout(), real) && !fsys.Within(at.dir, real) {
			l.outside = append(l.outside, Include{Real: real, From: f.Path, Name: name})
		}
	}
}

// covers tells whether the rule is about a file.
func (r rule) covers(path string) bool {
	rel, err := filepath.Rel(r.at.base, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return false
	}
	rel = filepath.ToSlash(rel)
	return slices.ContainsFunc(r.patterns, func(p string) bool {
		ok, err := doublestar.Match(p, rel)
		return ok && err == nil // a pattern that is none matches nothing
	})
}

// Bounds of what the paths of one rule may stand for, the documented ones of
// the ecosystem.
const (
	maxPatterns = 1000
	maxPattern  = 4 << 20 // bytes of all patterns of one glob
)

// braces expands {a,b} in a glob: a nested choice would let a short pattern take
// long to match. What stands for too much stays as it is, its braces plain
// characters; so do braces that are not closed.
func braces(glob string) []string {
	glob = strings.TrimPrefix(filepath.ToSlash(glob), "./")
	done, todo := []string{}, []string{glob}
	size := 0
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		from, parts, to := choice(p)
		if parts == nil {
			done = append(done, p)
			size += len(p)
		}
		if len(done)+len(todo)+len(parts) > maxPatterns || size+len(parts)*len(p) > maxPattern {
			return []string{literal(glob)}
		}
		for _, part := range slices.Backward(parts) {
			todo = append(todo, p[:from]+part+p[to:])
		}
	}
	for i, p := range done {
		done[i] = literal(p)
	}
	return done
}

// literal escapes the braces of a pattern.
func literal(p string) string {
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		switch {
		case p[i] == '\\' && i+1 < len(p):
			b.WriteByte(p[i])
			i++
		case p[i] == '{' || p[i] == '}':
			b.WriteByte('\\')
		}
		b.WriteByte(p[i])
	}
	return b.String()
}

// choice finds the first closed {…,…} of a pattern and takes it apart.
func choice(p string) (from int, parts []string, to int) {
	from = -1
	depth, start := 0, 0
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '{':
			if depth++; depth == 1 {
				from, start, parts = i, i+1, nil
			}
		case ',':
			if depth == 1 {
				parts, start = append(parts, p[start:i]), i+1
			}
		case '}':
			if depth--; depth == 0 && parts != nil {
				return from, append(parts, p[start:i]), i + 1
			}
			depth = max(depth, 0)
		}
	}
	return 0, nil, 0
}
