//go:build unix

package fsys

import (
	"io/fs"
	"syscall"
)

// openNonblock makes opening a FIFO return at once.
const openNonblock = syscall.O_NONBLOCK

func identify(info fs.FileInfo, st *Status) {
	sys, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	st.Device, st.Inode, st.Links = uint64(sys.Dev), sys.Ino, uint64(sys.Nlink)
	st.uid, st.gid = int(sys.Uid), int(sys.Gid)
}
