//go:build unix

package fsys

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// mayWrite asks the system before a rename would silently step over the file's own permission.
func mayWrite(path string) error {
	if err := unix.Access(path, unix.W_OK); err != nil {
		return &os.PathError{Op: "access", Path: path, Err: err}
	}
	return nil
}

// syncDir makes a rename durable. Some file systems cannot sync a folder; the rename itself has happened.
func syncDir(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	_ = d.Sync()
	_ = d.Close()
}

func processDead(pid int) bool {
	return pid > 0 && errors.Is(unix.Kill(pid, 0), unix.ESRCH)
}
