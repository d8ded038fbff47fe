package plugin

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Bounds of a plugin, whatever way it comes.
const (
	maxArchive = 128 << 20 // compressed, in bytes
	maxUnpack  = 256 << 20 // all files together, in bytes
	maxEntries = 20_000
	maxDepth   = 32
)

// unpacker writes the entries of an archive below a folder. Nothing leaves the
// folder, and no link is made: archives of plugins need none.
type unpacker struct {
	dir   string
	most  int64 // bytes of all files together
	bytes int64
	count int
}

// unpack writes the files of a zip or tar.gz archive into dir, so many bytes at most.
func unpack(data []byte, dir string, most int64) error {
	u := &unpacker{dir: dir, most: most}
	switch {
	case bytes.HasPrefix(data, []byte("PK\x03\x04")):
		return u.zip(data)
	case bytes.HasPrefix(data, []byte{0x1f, 0x8b}):
		return u.tar(data)
	}
	return errors.New("the archive is neither a zip nor a tar.gz file")
}

func (u *unpacker) zip(data []byte) error {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return fmt.Errorf("read the zip archive: %w", err)
	}
	for _, f := range r.File {
		if err := u.zipped(f); err != nil {
			return err
		}
	}
	return nil
}

func (u *unpacker) zipped(f *zip.File) (err error) {
	mode := f.Mode()
	switch {
	case mode.IsDir():
		return u.folder(f.Name)
	case !mode.IsRegular():
		return notPlain(f.Name)
	}
	in, err := f.Open()
	if err != nil {
		return fmt.Errorf("read %s of the archive: %w", fsys.Printable(f.Name), err)
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	return u.file(f.Name, mode, in)
}

func (u *unpacker) tar(data []byte) error {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("read the tar.gz archive: %w", err)
	}
	r := tar.NewReader(z)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the tar.gz archive: %w", err)
		}
		switch h.Typeflag {
		case tar.TypeDir:
			err = u.folder(h.Name)
		case tar.TypeReg:
			err = u.file(h.Name, h.FileInfo().Mode(), r)
		case tar.TypeXGlobalHeader:
		default:
			err = notPlain(h.Name)
		}
		if err != nil {
			return err
		}
	}
}

func notPlain(name string) error {
	return fmt.Errorf("the archive holds %s, which is neither a file nor a folder; links and devices are not unpacked", fsys.Printable(name))
}

// place is where an entry goes; it cannot lie outside.
func (u *unpacker) place(name string) (string, error) {
	if u.count++; u.count > maxEntries {
		return "", fmt.Errorf("the archive holds more than %d entries", maxEntries)
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/")
	if name == "" || name == "." {
		return u.dir, nil
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) || strings.ContainsAny(name, "\\\x00") || strings.Count(name, "/") > maxDepth {
		return "", fmt.Errorf("the archive holds the path %s, which leads out of it or is no path", fsys.Printable(name))
	}
	return filepath.Join(u.dir, filepath.FromSlash(name)), nil
}

func (u *unpacker) folder(name string) error {
	path, err := u.place(name)
	if err != nil {
		return err
	}
	return os.MkdirAll(path, 0o755)
}

func (u *unpacker) file(name string, mode fs.FileMode, in io.Reader) (err error) {
	path, err := u.place(name)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	// O_EXCL: a name that stands twice would make what was checked and what runs two things.
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644|mode&0o111)
	if err != nil {
		return fmt.Errorf("unpack %s: %w", fsys.Printable(name), err)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	n, err := io.Copy(out, io.LimitReader(in, u.most-u.bytes+1))
	if err != nil {
		return fmt.Errorf("unpack %s: %w", fsys.Printable(name), err)
	}
	if u.bytes += n; u.bytes > u.most {
		return fmt.Errorf("the archive unpacks to more than %d MB", u.most>>20)
	}
	return nil
}

// single is the only folder of dir when nothing lies beside it: archives often
// hold everything in one folder.
func single(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || !entries[0].IsDir() || strings.HasPrefix(entries[0].Name(), ".") || isComponent(entries[0].Name()) {
		return dir
	}
	return filepath.Join(dir, entries[0].Name())
}

func isComponent(name string) bool {
	switch name {
	case "skills", "commands", "agents", "hooks", "output-styles", "bin":
		return true
	}
	return false
}
