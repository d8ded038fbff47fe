package fsys

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// Cause says why an operation on a file failed, so that callers can say what to do next without reading error texts.
type Cause int

// The causes. CauseOther is everything that needs no special words.
const (
	CauseOther        Cause = iota
	CauseMissing            // no such file or folder
	CauseNotDir             // a parent of the path is a file
	CauseIsDir              // a folder where a file is needed
	CauseNotRegular         // FIFO, device or socket: never opened
	CauseLinkLoop           // symbolic links that lead to themselves
	CausePermission         // the user may not do this
	CauseReadOnlyFile       // the file has no write permission for anybody
	CauseReadOnlyFS         // the file system is mounted read-only
	CauseDiskFull           // no space, no inode or over quota
	CauseTooLarge           // over the limit that the caller gave, or the system's
	CauseBinary             // not text
	CauseBadPath            // empty, relative where absolute is needed, NUL byte, too long
	CauseLocked             // the lock was not free in time
	CauseNotPrivate         // a folder in a shared place that is not this user's alone
)

// advice is what a person or a model can do about a cause; "" where the cause speaks for itself.
func (c Cause) advice() string {
	switch c {
	case CauseMissing:
		return "file or folder does not exist"
	case CauseNotDir:
		return "a parent of this path is a file, not a folder"
	case CauseIsDir:
		return "is a directory, not a file"
	case CauseNotRegular:
		return "not a regular file; it was not opened"
	case CauseLinkLoop:
		return "symbolic links lead in a circle; fix the link first"
	case CausePermission:
		return "permission denied; check owner and mode of the file and its folder"
	case CauseReadOnlyFile:
		return "the file is read-only; make it writable first (chmod u+w) if it should change"
	case CauseReadOnlyFS:
		return "the file system is mounted read-only; choose another place"
	case CauseDiskFull:
		return "no space left on device; free some and try again, the old file is unchanged"
	case CauseTooLarge:
		return "too large"
	case CauseBinary:
		return "binary, not text"
	case CauseLocked:
		return "another process holds the lock; try again"
	case CauseNotPrivate:
		return "not a folder of this user alone; remove it, or set TMPDIR to a folder of your own"
	case CauseBadPath, CauseOther:
	}
	return ""
}

// Error is every failure of this package that has to do with a file.
type Error struct {
	Op    string // "read", "write", "resolve", "lock": what was attempted
	Path  string
	Cause Cause
	Err   error // the system's error or the detail; may be nil
}

// Error names operation, path, the way out and the system's words, unless the way out repeats them. Paths with control characters are quoted.
func (e *Error) Error() string {
	parts := []string{e.Op + " " + Printable(e.Path)}
	if a := e.Cause.advice(); a != "" {
		parts = append(parts, a)
	}
	if e.Err != nil {
		if words := bare(e.Err).Error(); !strings.Contains(e.Cause.advice(), words) {
			parts = append(parts, words)
		}
	}
	return strings.Join(parts, ": ")
}

// Unwrap returns the underlying error.
func (e *Error) Unwrap() error { return e.Err }

// bare drops the operation and path that the standard library puts before the system's words: Error has its own.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// Printable returns a path as it may be shown on a terminal: as it is, or quoted when it holds control characters,
// invalid UTF-8 or other invisible runes (a path with a newline must not look like two lines).
func Printable(path string) string {
	quoted := strconv.Quote(path)
	if q := quoted[1 : len(quoted)-1]; strings.ReplaceAll(strings.ReplaceAll(q, `\\`, `\`), `\"`, `"`) == path {
		return path
	}
	return quoted
}

// CauseOf classifies any error of this package or of the os package.
func CauseOf(err error) Cause {
	var own *Error
	if errors.As(err, &own) {
		return own.Cause
	}
	if c := errnoCause(err); c != CauseOther {
		return c
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return CauseMissing
	case errors.Is(err, fs.ErrPermission):
		return CausePermission
	}
	return CauseOther
}

// wrap makes err an *Error once; an *Error passes unchanged.
func wrap(op, path string, err error) error {
	if err == nil {
		return nil
	}
	var own *Error
	if errors.As(err, &own) {
		return err
	}
	return &Error{Op: op, Path: path, Cause: CauseOf(err), Err: err}
}

func kindError(op, path string, k Kind) error {
	e := &Error{Op: op, Path: path, Cause: CauseNotRegular, Err: fmt.Errorf("it is a %s", k)}
	switch k {
	case KindMissing:
		e.Cause, e.Err = CauseMissing, fs.ErrNotExist
	case KindDir:
		e.Cause, e.Err = CauseIsDir, nil
	case KindLinkLoop:
		e.Cause, e.Err = CauseLinkLoop, nil
	case KindRegular, KindFIFO, KindDevice, KindSocket, KindOther:
	}
	return e
}
