package checkpoint

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// openFolder is a folder whose names are looked at without following links.
type openFolder struct{ dir string }

func openDir(path string) (*openFolder, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return &openFolder{path}, nil
}

func (o *openFolder) close() {}

func (o *openFolder) names() ([]string, error) {
	f, err := os.Open(o.dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

func (o *openFolder) stat(name string, e *Entry) (err error) {
	*e, err = look(filepath.Join(o.dir, name))
	return err
}

// lookAt describes one name; a missing one is Absent.
func lookAt(path string) (Entry, error) {
	e, err := look(path)
	return e, existing(err)
}

// look has no change time to tell: a change that keeps size and time of a
// file shows only when a command names the file.
func look(path string) (Entry, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return Entry{}, err
	}
	e := Entry{Kind: Other, Mode: st.Mode().Perm(), Mtime: st.ModTime().UnixNano(), links: 1}
	switch {
	case st.Mode().IsRegular():
		e.Kind, e.Size = File, st.Size()
	case st.IsDir():
		e.Kind = Folder
	case st.Mode()&fs.ModeSymlink != 0:
		e.Kind, e.Mode = Link, 0
	}
	return e, nil
}

func existing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
