//go:build unix

package fsys

import (
	"errors"

	"golang.org/x/sys/unix"
)

func errnoCause(err error) Cause {
	var no unix.Errno
	if !errors.As(err, &no) {
		return CauseOther
	}
	switch no {
	case unix.ENOTDIR:
		return CauseNotDir
	case unix.EISDIR:
		return CauseIsDir
	case unix.ELOOP:
		return CauseLinkLoop
	case unix.EROFS:
		return CauseReadOnlyFS
	case unix.ENOSPC, unix.EDQUOT:
		return CauseDiskFull
	case unix.EFBIG:
		return CauseTooLarge
	case unix.ENAMETOOLONG:
		return CauseBadPath
	}
	return CauseOther
}
