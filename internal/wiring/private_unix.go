//go:build unix

package wiring

import (
	"os"
	"syscall"
)

// mine reports whether a folder belongs to this user.
func mine(st os.FileInfo) bool {
	s, ok := st.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Getuid()
}
