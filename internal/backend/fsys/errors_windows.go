package fsys

import (
	"errors"

	"golang.org/x/sys/windows"
)

func errnoCause(err error) Cause {
	var no windows.Errno
	if !errors.As(err, &no) {
		return CauseOther
	}
	switch no {
	case windows.ERROR_DIRECTORY:
		return CauseNotDir
	case windows.ERROR_CANT_RESOLVE_FILENAME:
		return CauseLinkLoop
	case windows.ERROR_WRITE_PROTECT:
		return CauseReadOnlyFS
	case windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED:
		return CauseDiskFull
	case windows.ERROR_INVALID_NAME, windows.ERROR_BAD_PATHNAME, windows.ERROR_FILENAME_EXCED_RANGE:
		return CauseBadPath
	}
	return CauseOther
}
