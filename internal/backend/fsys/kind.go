package fsys

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// Kind is what a name leads to, links followed.
type Kind int

// The kinds. Only KindRegular is ever opened by this package: opening a FIFO blocks and opening a device has effects.
const (
	KindMissing Kind = iota
	KindRegular
	KindDir
	KindFIFO
	KindDevice // block or character device
	KindSocket
	KindLinkLoop
	KindOther
)

// String names the kind for an error text.
func (k Kind) String() string {
	return [...]string{"missing file", "regular file", "directory", "named pipe (FIFO)", "device", "socket", "symbolic link loop", "special file"}[k]
}

// Status is what the file system says about a name without opening it.
type Status struct {
	Kind    Kind
	Size    int64 // bytes as the file claims; a sparse file claims more than it uses
	Mode    fs.FileMode
	ModTime time.Time
	Device  uint64 // with Inode the file's identity; 0 where the system has none
	Inode   uint64
	Links   uint64 // hard links; 1 where unknown
	uid     int
	gid     int
}

// Exists reports whether the name leads to anything.
func (s Status) Exists() bool { return s.Kind != KindMissing }

// KindOf is Stat for callers who need only the kind; what cannot be looked at is KindOther.
func KindOf(path string) Kind {
	st, err := Stat(path)
	if err != nil {
		return KindOther
	}
	return st.Kind
}

// Stat looks at a name, links followed, and opens nothing. A missing file and a link loop are kinds, not errors; an
// error means that the name cannot be looked at (an unsearchable folder, a name that is too long).
func Stat(path string) (Status, error) {
	info, err := os.Stat(path)
	if err != nil {
		switch CauseOf(err) {
		case CauseLinkLoop:
			return Status{Kind: KindLinkLoop}, nil
		case CauseMissing, CauseNotDir:
			return Status{Kind: KindMissing}, nil
		default:
			return Status{}, wrap("look at", path, err)
		}
	}
	return statusOf(info), nil
}

func statusOf(info fs.FileInfo) Status {
	st := Status{Kind: kindOfMode(info.Mode()), Size: info.Size(), Mode: info.Mode(), ModTime: info.ModTime(), Links: 1, uid: -1, gid: -1}
	identify(info, &st)
	return st
}

func kindOfMode(m fs.FileMode) Kind {
	switch {
	case m.IsRegular():
		return KindRegular
	case m.IsDir():
		return KindDir
	case m&fs.ModeNamedPipe != 0:
		return KindFIFO
	case m&(fs.ModeDevice|fs.ModeCharDevice) != 0:
		return KindDevice
	case m&fs.ModeSocket != 0:
		return KindSocket
	}
	return KindOther
}

// OpenRegular opens a regular file for reading; everything else is refused with a typed *Error before and again after
// opening, so that a name swapped for a FIFO in between neither blocks nor is read. The caller closes the file.
func OpenRegular(path string) (*os.File, Status, error) {
	st, err := Stat(path)
	if err != nil {
		return nil, Status{}, err
	}
	if st.Kind != KindRegular {
		return nil, st, kindError("read", path, st.Kind)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, st, wrap("read", path, err)
	}
	info, err := f.Stat()
	if err == nil {
		if st = statusOf(info); st.Kind != KindRegular {
			err = kindError("read", path, st.Kind)
		}
	}
	if err != nil {
		return nil, st, errors.Join(wrap("read", path, err), f.Close())
	}
	// Some files of /proc call themselves regular and wait for ever, such as kmsg. Those can be polled, so that a deadline
	// holds; for true files there is none, and none is needed.
	_ = f.SetReadDeadline(time.Now().Add(readPatience))
	return f, st, nil
}

// readPatience is how long a file that is no true file may keep its reader waiting.
const readPatience = 3 * time.Second
