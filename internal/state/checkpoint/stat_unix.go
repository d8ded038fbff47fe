//go:build unix

package checkpoint

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// openFolder is a folder whose names are looked at without following links.
type openFolder struct{ f *os.File }

func openDir(path string) (*openFolder, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return &openFolder{os.NewFile(uintptr(fd), path)}, nil
}

func (o *openFolder) close() { _ = o.f.Close() } // only read

func (o *openFolder) names() ([]string, error) { return o.f.Readdirnames(-1) }

func (o *openFolder) stat(name string, e *Entry) error { return statAt(int(o.f.Fd()), name, e) }

func statAt(fd int, name string, e *Entry) error {
	var st unix.Stat_t
	if err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	fill(e, &st)
	return nil
}

// lookAt describes one name; a missing one is Absent.
func lookAt(path string) (Entry, error) {
	var e Entry
	err := statAt(unix.AT_FDCWD, path, &e)
	return e, existing(err)
}

func fill(e *Entry, st *unix.Stat_t) {
	mode := uint32(st.Mode)
	e.Mode = fs.FileMode(mode & 0o777)
	if mode&unix.S_ISUID != 0 {
		e.Mode |= fs.ModeSetuid
	}
	if mode&unix.S_ISGID != 0 {
		e.Mode |= fs.ModeSetgid
	}
	if mode&unix.S_ISVTX != 0 {
		e.Mode |= fs.ModeSticky
	}
	e.Size, e.Inode = st.Size, st.Ino
	e.Mtime, e.Ctime = st.Mtim.Nano(), st.Ctim.Nano()
	e.dev, e.links = uint64(st.Dev), uint64(st.Nlink)
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		e.Kind = File
	case unix.S_IFDIR:
		e.Kind, e.Size = Folder, 0
	case unix.S_IFLNK:
		e.Kind, e.Mode = Link, 0
	default:
		e.Kind = Other
	}
}

func existing(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return nil
	}
	return err
}
