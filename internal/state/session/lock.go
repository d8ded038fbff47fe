package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// Busy says that another process has the session open. Two writers on one
// chain would interleave two conversations.
type Busy struct {
	ID string
	// PID is the holder's process id, 0 when unknown.
	PID int
}

// Error names the ways out.
func (b *Busy) Error() string {
	holder := "another process"
	if b.PID > 0 {
		holder = fmt.Sprintf("process %d", b.PID)
	}
	return fmt.Sprintf("session %s is open in %s; end it first, or continue in a copy with --fork-session", b.ID, holder)
}

// lock is the advisory lock of one session. The kernel frees it when its
// holder ends, however it ends.
type lock struct{ f *flock.Flock }

// acquire never waits: whoever has a session open has it for long. A *Busy
// tells that it is open elsewhere; any other error that locking is impossible.
func acquire(path, id string) (*lock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	for {
		f := flock.New(path, flock.SetPermissions(0o600))
		ok, err := f.TryLock()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if !ok {
			return nil, errors.Join(&Busy{ID: id, PID: holder(path)}, f.Close())
		}
		if current(f, path) {
			// The number is only for the text of Busy; systems with mandatory locks refuse this.
			_ = os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())), 0o600)
			return &lock{f}, nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
}

// current tells whether the locked file is still the one at path: its last
// holder may have removed it between our opening and our locking it.
func current(f *flock.Flock, path string) bool {
	held, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(path)
	return err == nil && os.SameFile(held, now)
}

func holder(path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return pid
}

// release removes the file while the lock is still held, which is what makes
// the removal safe; a file left by a killed holder is taken over by the next.
func (l *lock) release() error {
	if l == nil {
		return nil
	}
	_ = os.Remove(l.f.Path())
	return l.f.Close()
}
