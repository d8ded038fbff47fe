package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Log is a session's transcript, open for appending. A nil *Log is a session
// that is not persisted: every method works and does nothing.
//
// What Append returned nil for survives the end of the process, however it
// ends, because it is with the kernel. It survives a power cut from the next
// Sync on; callers sync at the end of every run.
type Log struct {
	id, path string
	warning  string

	mu   sync.Mutex
	f    *os.File
	disk growing // f
	lock *lock
	// lent is set while the session is lent; lockPath is where its lock was.
	lent     *loan
	lockPath string
	// copied is told every line that was written; see Mirror.
	copied func(path string, line []byte)
	// torn is set while the file does not end with a newline; the next line then begins with one.
	torn bool
	buf  []byte
}

// growing is the part of an *os.File that a full disk shows in; tests stand
// in a disk with little room.
type growing interface {
	Write(p []byte) (int, error)
	Truncate(size int64) error
}

// Exists says that a new session was to have an id that is taken.
type Exists struct{ ID string }

// Error names the ways out.
func (e *Exists) Error() string {
	return fmt.Sprintf("session id %s is already in use; choose another, or continue it with --resume %s", e.ID, e.ID)
}

// Create makes the transcript of a new session. An id that has one is an
// *Exists, unless nothing was ever written there: its process was stopped
// before the first prompt, and there is nothing to continue.
func (s Store) Create(id string) (*Log, error) {
	return s.open(id, os.O_CREATE|os.O_EXCL)
}

// Open opens the transcript of an existing session for appending. It is a
// *Busy when another process has it open, and fs.ErrNotExist when there is none.
func (s Store) Open(id string) (*Log, error) {
	return s.open(id, 0)
}

func (s Store) open(id string, flag int) (*Log, error) {
	if !ValidID(id) {
		return nil, fmt.Errorf("session id %.60q is not a UUID", id)
	}
	path := s.Path(id)
	if flag != 0 {
		if err := os.MkdirAll(s.Dir(), 0o700); err != nil {
			return nil, failed("create the folder of", path, err)
		}
	}
	l := &Log{id: id, path: path, lockPath: s.lockPath(id)}
	var err error
	l.lock, err = acquire(s.lockPath(id), id)
	var busy *Busy
	if errors.As(err, &busy) {
		return nil, busy
	}
	if err != nil {
		// Some network file systems have no locks. The lines of two writers would still be whole.
		l.warning = fmt.Sprintf("session %s is not protected against being opened twice: %v", id, err)
	}
	f, err := openAppend(path, flag)
	if flag != 0 && errors.Is(err, fs.ErrExist) && unused(path) {
		f, err = openAppend(path, 0)
	}
	if err != nil {
		err = errors.Join(err, l.lock.release())
		if flag != 0 && errors.Is(err, fs.ErrExist) {
			return nil, &Exists{ID: id}
		}
		return nil, failed("open", path, err)
	}
	l.f, l.disk = f, f
	l.torn = endsTorn(f)
	return l, nil
}

// openAppend refuses what is no regular file before opening it: a FIFO would block.
func openAppend(path string, flag int) (*os.File, error) {
	if k := fsys.KindOf(path); k != fsys.KindRegular && k != fsys.KindMissing {
		return nil, fmt.Errorf("it is a %s", k)
	}
	return os.OpenFile(path, os.O_RDWR|os.O_APPEND|flag, 0o600)
}

// unused tells that path is an empty file. The session's lock is held, so
// nobody else is about to write to it.
func unused(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() == 0
}

func endsTorn(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	var last [1]byte
	_, err = f.ReadAt(last[:], info.Size()-1)
	return err != nil || last[0] != '\n'
}

// Mirror tells copied each line that is appended from now on, after it is in the
// file and in the order of the file. copied must not keep line, nor append.
func (l *Log) Mirror(copied func(path string, line []byte)) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.copied = copied
}

// ID is the session id, "" for a nil Log.
func (l *Log) ID() string {
	if l == nil {
		return ""
	}
	return l.id
}

// Path is the transcript file, "" for a nil Log.
func (l *Log) Path() string {
	if l == nil {
		return ""
	}
	return l.path
}

// Warning is a sentence for people when the session could not be locked, else "".
func (l *Log) Warning() string {
	if l == nil {
		return ""
	}
	return l.warning
}

// Append writes each line, one JSON object without its newline, with one
// write call. On an error, an *fsys.Error whose cause tells a full disk from
// the rest, the line is not in the file and neither are those after it; the
// file is as parseable as before and a later Append may succeed.
func (l *Log) Append(lines ...[]byte) error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range lines {
		if err := l.write(line); err != nil {
			return failed("append to transcript", l.path, err)
		}
		if l.copied != nil {
			l.copied(l.path, line)
		}
	}
	return nil
}

// keepBuffer is the largest line buffer that is kept for the next line.
const keepBuffer = 1 << 20

func (l *Log) write(line []byte) error {
	if err := errors.Join(l.wake(), l.back()); err != nil {
		return err
	}
	before, err := l.f.Stat()
	if err != nil {
		return err
	}
	l.buf = l.buf[:0]
	if l.torn {
		l.buf = append(l.buf, '\n')
	}
	l.buf = append(append(l.buf, line...), '\n')
	n, err := l.disk.Write(l.buf)
	if cap(l.buf) > keepBuffer {
		l.buf = nil
	}
	if err != nil {
		l.heal(before.Size(), n)
		return err
	}
	l.torn = false
	return nil
}

// heal takes back n bytes of a line that did not fit. Where that is not
// possible, or somebody else has appended since, the piece is closed with a
// newline instead: a reader skips it, and no later line glues to it.
func (l *Log) heal(before int64, n int) {
	if n <= 0 {
		return
	}
	if now, err := l.f.Stat(); err == nil && now.Size() == before+int64(n) && l.disk.Truncate(before) == nil {
		return
	}
	_, err := l.disk.Write([]byte{'\n'})
	l.torn = err != nil
}

// Rest gives the file of a sidechain back to the system until the next line; a
// session may have thousands of subagents that have ended.
func (l *Log) Rest() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil || l.lock != nil || l.lent != nil {
		return nil
	}
	err := errors.Join(l.f.Sync(), l.f.Close())
	l.f, l.disk, l.buf = nil, nil, nil
	return failed("close transcript", l.path, err)
}

// wake opens the file of a log that rests.
func (l *Log) wake() error {
	if l.f != nil {
		return nil
	}
	f, err := openAppend(l.path, 0)
	if err != nil {
		return err
	}
	l.f, l.disk = f, f
	return nil
}

// Sync makes everything appended so far survive a power cut.
func (l *Log) Sync() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return nil
	}
	return failed("sync transcript", l.path, l.f.Sync())
}

// Close syncs, closes and frees the session for other processes.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	if l.f != nil {
		err = errors.Join(l.f.Sync(), l.f.Close())
	}
	err = errors.Join(err, l.lock.release())
	l.lock = nil
	return failed("close transcript", l.path, err)
}

// failed classifies err; nil stays nil.
func failed(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &fsys.Error{Op: op, Path: path, Cause: fsys.CauseOf(err), Err: err}
}

// OpenSidechain opens, and creates when missing, the transcript of a subagent
// of session id. It needs no lock: only the session's owner writes it.
func (s Store) OpenSidechain(id, agent string) (*Log, error) {
	path := s.Sidechain(id, agent)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, failed("create the folder of", path, err)
	}
	f, err := openAppend(path, os.O_CREATE)
	if err != nil {
		return nil, failed("open", path, err)
	}
	return &Log{id: id, path: path, f: f, disk: f, torn: endsTorn(f)}, nil
}
