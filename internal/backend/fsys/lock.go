package fsys

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lockWait bounds how long a lock is waited for when ctx has no nearer deadline. Holders keep it for milliseconds.
const lockWait = 30 * time.Second

// WithLock runs fn while this process alone holds the lock file, which is created when missing (with its folder) and
// never removed. The kernel frees the lock when its holder ends, however it ends. Two goroutines of one process exclude
// each other too. When the lock is not free within 30 s or ctx ends, fn does not run and the error has CauseLocked.
func WithLock(ctx context.Context, lockPath string, fn func() error) error {
	if err := os.MkdirAll(filepath.Dir(lockPath), 0o777); err != nil {
		return wrap("lock", lockPath, err)
	}
	lock := flock.New(lockPath, flock.SetPermissions(0o666))
	if err := acquire(ctx, lock, lockPath); err != nil {
		return err
	}
	defer unlock(lock)
	return fn()
}

// unlock cannot usefully fail: closing the descriptor frees the lock, and the process's end closes it.
func unlock(l *flock.Flock) { _ = l.Close() }

// acquire polls, from 1 ms up to 20 ms apart: a blocking flock call could not be cancelled.
func acquire(ctx context.Context, l *flock.Flock, name string) error {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		ok, err := l.TryLock()
		if err != nil {
			return wrap("lock", name, err)
		}
		if ok {
			return nil
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return &Error{Op: "lock", Path: name, Cause: CauseLocked, Err: ctx.Err()}
		case <-timer.C:
		}
	}
}

// withFileLock excludes every other hew that changes the same file, without leaving a lock file beside it: it locks the
// folder itself. (A "<file>.lock" next to settings would also be taken for a held lock by other tools of the ecosystem,
// which make folders of that name.) Where folders cannot be locked, as on Windows and some network file systems, a
// lock file named after the target in the temporary folder does it.
func withFileLock(ctx context.Context, real string, fn func() error) error {
	dir := filepath.Dir(real)
	if dirsLockable {
		lock := flock.New(dir, flock.SetFlag(os.O_RDONLY))
		err := acquire(ctx, lock, real)
		if err == nil {
			defer unlock(lock)
			return fn()
		}
		unlock(lock)
		if c := CauseOf(err); c == CauseLocked || c == CausePermission || c == CauseMissing {
			return err
		}
	}
	sum := sha256.Sum256([]byte(real))
	home := filepath.Join(os.TempDir(), fmt.Sprintf("hew-locks-%d", os.Getuid()))
	if err := privateDir(home); err != nil {
		return err
	}
	return WithLock(ctx, filepath.Join(home, hex.EncodeToString(sum[:8])+".lock"), fn)
}

// privateDir makes a folder in a place that all users share, or accepts the one that is there when it is a real folder of
// this user that nobody else can enter: a link or folder that another user planted would have files made where he likes.
func privateDir(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return wrap("lock", dir, err)
	}
	st, err := os.Lstat(dir)
	if err != nil {
		return wrap("lock", dir, err)
	}
	if !st.IsDir() || !private(st) {
		return &Error{Op: "lock", Path: dir, Cause: CauseNotPrivate}
	}
	return nil
}
