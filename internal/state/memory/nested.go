package memory

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Read tells that the model has read a file, by its absolute name, and returns
// what that brings in: the files of the folders between the working directory
// and the file, then the rules whose paths cover it. Each comes once.
func (in *Instructions) Read(path string) ([]File, []Note) {
	l := in.l
	l.disk = &Disk{}
	l.lookups = 0
	files, notes := len(l.files), len(l.notes)
	names := []string{path}
	if real, err := fsys.Real(path); err == nil && real != path {
		names = append(names, real)
	}
	for _, name := range names {
		for _, base := range append([]string{l.c.Cwd}, l.c.Roots...) {
			l.between(base, name)
		}
		l.match(name)
	}
	came, told := slices.Clone(l.files[files:]), slices.Clone(l.notes[notes:])
	l.files, l.notes = l.files[:files], l.notes[:notes]
	return came, told
}

// between reads the folders below base that lead to a file.
func (l *loader) between(base, path string) {
	if base == "" || !fsys.Within(base, path) {
		return
	}
	for _, dir := range upward(filepath.Dir(path)) {
		if dir != base && fsys.Within(base, dir) {
			l.dir(dir, origin{reason: Nested, trigger: path})
		}
	}
}

// match reads the waiting rules that cover a file.
func (l *loader) match(path string) {
	waiting := l.waiting
	l.waiting = nil
	for _, r := range waiting {
		if !r.covers(path) {
			l.waiting = append(l.waiting, r)
			continue
		}
		delete(l.seen, r.real)
		r.at.reason, r.at.trigger, r.at.matched = Matched, path, true
		l.take(r.file.Path, r.file.Scope, r.at)
	}
}

// Waiting are the rules that no file has brought in so far.
func (in *Instructions) Waiting() []File {
	var out []File
	for _, r := range in.l.waiting {
		out = append(out, r.file)
	}
	return out
}

// Given tells that the model has these files already, by the names in File.Path:
// an earlier part of the conversation brought them in.
func (in *Instructions) Given(paths []string) {
	for _, p := range paths {
		if real, err := fsys.Real(p); err == nil {
			in.l.seen[real] = true
			in.l.waiting = slices.DeleteFunc(in.l.waiting, func(r rule) bool { return r.real == real })
		}
	}
}

// Forget tells that the model has lost what came in after the start: what a
// later reading brings in comes again.
func (in *Instructions) Forget() {
	in.l.seen, in.l.visited, in.l.waiting = maps.Clone(in.seen), maps.Clone(in.visited), slices.Clone(in.waiting)
}
