//go:build unix

package search

import (
	"io/fs"
	"os"
	"syscall"
)

// ownedByUs tells whether the user or root owns the file.
func ownedByUs(st fs.FileInfo) bool {
	sys, ok := st.Sys().(*syscall.Stat_t)
	return ok && (sys.Uid == 0 || int(sys.Uid) == os.Getuid())
}
