package checkpoint

import (
	"path/filepath"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// index is what is known of the trees.
type index struct {
	roots []string
	dirs  map[string]*folder
	// out are the files whose bytes are not saved, and why.
	out map[string]LeftOut
	// linked are files with several names: a change through another name shows
	// in no folder that is watched.
	linked map[string]bool
	count  int
}

// folder is one directory of the index: its names. Its own entry stands in its parent.
type folder struct{ names map[string]*Entry }

// LeftOut is a file that a rewind could not bring back.
type LeftOut struct {
	Path string
	Size int64
	Why  string
}

func newIndex() *index {
	return &index{dirs: map[string]*folder{}, out: map[string]LeftOut{}, linked: map[string]bool{}}
}

// covers tells that path lies in a tree of the index.
func (x *index) covers(path string) bool {
	for _, r := range x.roots {
		if fsys.Within(r, path) {
			return true
		}
	}
	return false
}

func (x *index) get(path string) *Entry {
	if f := x.dirs[filepath.Dir(path)]; f != nil {
		return f.names[filepath.Base(path)]
	}
	return nil
}

// put makes e what is known under path; Absent forgets the name and all below it.
func (x *index) put(path string, e Entry) {
	dir, base := filepath.Split(path)
	dir = filepath.Clean(dir)
	f := x.dirs[dir]
	if e.Kind == Absent {
		if f != nil && f.names[base] != nil {
			delete(f.names, base)
			x.count--
		}
		delete(x.out, path)
		delete(x.linked, path)
		delete(x.dirs, path)
		return
	}
	if f == nil {
		f = &folder{names: map[string]*Entry{}}
		x.dirs[dir] = f
	}
	if f.names[base] == nil {
		x.count++
	}
	f.names[base] = &e
	switch {
	case e.Kind != Folder:
		delete(x.dirs, path)
	case x.dirs[path] == nil:
		x.dirs[path] = &folder{names: map[string]*Entry{}}
	}
	delete(x.out, path)
	if e.Kind == File && e.Where == "" {
		x.out[path] = LeftOut{Path: path, Size: e.Size, Why: e.Why}
	}
	if e.Kind == File && e.links > 1 {
		x.linked[path] = true
	}
}

// below lists everything that is known under a folder, the deepest first.
func (x *index) below(dir string) []Change {
	f := x.dirs[dir]
	if f == nil {
		return nil
	}
	var out []Change
	for name, e := range f.names {
		path := filepath.Join(dir, name)
		if e.Kind == Folder {
			out = append(out, x.below(path)...)
		}
		out = append(out, Change{Path: osName(path), Before: *e})
	}
	return out
}
