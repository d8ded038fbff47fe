//go:build unix

package fsys

import (
	"os"
	"syscall"
)

const dirsLockable = true

// private tells whether a folder is this user's and closed to everybody else.
func private(st os.FileInfo) bool {
	s, ok := st.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Getuid() && st.Mode().Perm()&0o077 == 0
}
