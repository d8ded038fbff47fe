package checkpoint

import (
	"bytes"
	"encoding/binary"
	"errors"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// watcher lets the kernel say in which folders something has changed. Nothing
// runs meanwhile: the kernel's queue is read when somebody asks.
type watcher struct {
	fd int

	mu    sync.Mutex
	dirs  map[int32]string
	lost  bool // the queue ran over, or a folder could not be watched
	known map[string]bool
	// full tells that the kernel watches no more folders for this user.
	full bool
}

// watched are the events after which a folder must be looked into: any change
// of a name in it, of a mode, and of bytes. The kernel tells of bytes that were
// written through a mapping when the file is closed.
const watched = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_MODIFY | unix.IN_ATTRIB |
	unix.IN_CLOSE_WRITE | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW | unix.IN_EXCL_UNLINK

// newWatcher is nil where the kernel has no watcher to give.
func newWatcher() *watcher {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil
	}
	return &watcher{fd: fd, dirs: map[int32]string{}, known: map[string]bool{}}
}

// add watches a folder; it is called before the folder is read, so that no
// change falls in between.
func (w *watcher) add(dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost || w.known[dir] {
		return
	}
	wd, err := unix.InotifyAddWatch(w.fd, dir, watched)
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
		return // gone: its parent has said so
	case err != nil:
		w.lost, w.full = true, true
		return
	}
	w.dirs[int32(wd)] = dir
	w.known[dir] = true
}

// dirty returns the folders in which something has happened since the last
// call. all means that this is not known: then everything must be looked at,
// with a new watcher.
func (w *watcher) dirty() (dirs map[string]bool, all bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	dirs = map[string]bool{}
	buf := make([]byte, 64<<10)
	for !w.lost {
		n, err := unix.Read(w.fd, buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if errors.Is(err, unix.EAGAIN) || n == 0 && err == nil {
			break
		}
		if err != nil {
			return nil, true
		}
		w.events(buf[:n], dirs)
	}
	return dirs, w.lost
}

// events takes apart what the kernel wrote: descriptor, mask, cookie and
// length, four bytes each, and a name.
func (w *watcher) events(b []byte, dirs map[string]bool) {
	for len(b) >= unix.SizeofInotifyEvent {
		wd := int32(binary.NativeEndian.Uint32(b))
		mask := binary.NativeEndian.Uint32(b[4:])
		length := int(binary.NativeEndian.Uint32(b[12:]))
		rest := b[unix.SizeofInotifyEvent:]
		if length > len(rest) {
			w.lost = true
			return
		}
		name := string(bytes.TrimRight(rest[:length], "\x00"))
		b = rest[length:]
		w.event(wd, mask, name, dirs)
	}
}

func (w *watcher) event(wd int32, mask uint32, name string, dirs map[string]bool) {
	dir, ok := w.dirs[wd]
	switch {
	case mask&unix.IN_Q_OVERFLOW != 0:
		w.lost = true
	case !ok:
	case mask&unix.IN_IGNORED != 0:
		delete(w.dirs, wd)
		delete(w.known, dir)
		dirs[dir] = true // another folder may have its name by now
		w.lost = w.lost || !w.known[filepath.Dir(dir)] && !dirs[filepath.Dir(dir)]
	case mask&unix.IN_MOVE_SELF != 0:
		// Everything below has another path now, and the descriptors would go on
		// telling the old ones.
		w.lost = true
	case mask&(unix.IN_MOVED_FROM|unix.IN_MOVED_TO) != 0 && mask&unix.IN_ISDIR != 0:
		w.lost = true
	case name == gitDir && mask&unix.IN_ISDIR != 0:
	default:
		dirs[dir] = true
	}
}

func (w *watcher) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = unix.Close(w.fd) // nothing is written to it
	w.lost = true
}
