package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// copyTree copies a folder of a plugin. Links stay links when they lead to
// something inside; everything else that is no plain file is an error. Git's own
// folder is left out.
func copyTree(from, to string) error {
	root, err := fsys.Real(from)
	if err != nil {
		return err
	}
	c := &copier{root: root, to: to}
	return filepath.WalkDir(root, c.entry)
}

type copier struct {
	root, to string
	count    int
	bytes    int64
}

func (c *copier) entry(path string, d fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(c.root, path)
	if err != nil {
		return err
	}
	if d.Name() == ".git" && rel != "." {
		if d.IsDir() {
			return filepath.SkipDir
		}
		return nil
	}
	if c.count++; c.count > maxEntries {
		return fmt.Errorf("%s holds more than %d files", fsys.Printable(c.root), maxEntries)
	}
	target := filepath.Join(c.to, rel)
	switch {
	case d.IsDir():
		return os.MkdirAll(target, 0o755)
	case d.Type()&fs.ModeSymlink != 0:
		return c.link(path, rel, target)
	case d.Type().IsRegular():
		return c.file(path, target)
	}
	return fmt.Errorf("%s is neither a file, a folder nor a link", fsys.Printable(rel))
}

func (c *copier) link(path, rel, target string) error {
	real, err := fsys.Real(path)
	if err != nil || !fsys.Within(c.root, real) {
		return fmt.Errorf("the link %s leads out of the plugin", fsys.Printable(filepath.ToSlash(rel)))
	}
	inside, err := filepath.Rel(filepath.Dir(path), real)
	if err != nil {
		return err
	}
	return os.Symlink(inside, target)
}

func (c *copier) file(path, target string) (err error) {
	in, st, err := fsys.OpenRegular(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if c.bytes += st.Size; c.bytes > maxUnpack {
		return fmt.Errorf("%s is larger than %d MB", fsys.Printable(c.root), maxUnpack>>20)
	}
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644|info.Mode()&0o111)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, io.LimitReader(in, maxUnpack))
	return err
}

// digest is the content of a folder as one hexadecimal number: names, modes that
// matter, and bytes.
func digest(dir string) (string, error) {
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || rel == orphanMark {
			return err
		}
		fmt.Fprintf(h, "%q %v\n", filepath.ToSlash(rel), d.Type())
		if d.Type()&fs.ModeSymlink != 0 {
			to, err := os.Readlink(path)
			fmt.Fprintf(h, "%q\n", to)
			return err
		}
		return hashFile(h, path)
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

func hashFile(h io.Writer, path string) (err error) {
	f, st, err := fsys.OpenRegular(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	fmt.Fprintf(h, "%d %v\n", st.Size, info.Mode()&0o111 != 0)
	_, err = io.Copy(h, f)
	return err
}
