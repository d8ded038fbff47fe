// Package fsys — canonical paths, atomic writes, read-state table, before-images.
//
// Every tool, permission check and settings writer names and changes files through it, so that what was checked is
// what is opened, and a failed write leaves the old file whole.
package fsys

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// maxLinks is how many symbolic links one name may pass through before Real reports a loop; the Linux kernel's bound.
const maxLinks = 40

// Location is one file under both names: the one it was asked for by and the one it has with every link resolved.
// A permission rule that names either must be found, so callers check both.
type Location struct {
	Name string // absolute and lexically clean, links kept
	Real string // absolute, every link resolved as far as the path exists
}

// Linked reports whether the two names differ.
func (l Location) Linked() bool { return l.Name != l.Real }

// Locate is Abs followed by Real.
func Locate(cwd, path string) (Location, error) {
	name, err := Abs(cwd, path)
	if err != nil {
		return Location{}, err
	}
	real, err := Real(name)
	if err != nil {
		return Location{Name: name}, err
	}
	return Location{Name: name, Real: real}, nil
}

// Abs returns path as an absolute, lexically clean name: "~" and "~/x" are the home directory, a relative path is taken
// from cwd. It opens nothing. An empty path and one with a NUL byte are refused with CauseBadPath.
func Abs(cwd, path string) (string, error) {
	if path == "" {
		return "", &Error{Op: "resolve", Path: path, Cause: CauseBadPath, Err: errors.New("the path is empty")}
	}
	if strings.ContainsRune(path, 0) {
		return "", &Error{Op: "resolve", Path: path, Cause: CauseBadPath, Err: errors.New("the path holds a NUL byte")}
	}
	if rest, ok := afterTilde(path); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", &Error{Op: "resolve", Path: path, Cause: CauseBadPath, Err: err}
		}
		return filepath.Join(home, rest), nil
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	if !filepath.IsAbs(cwd) {
		return "", &Error{Op: "resolve", Path: path, Cause: CauseBadPath, Err: errors.New("a relative path needs an absolute working directory")}
	}
	return filepath.Join(cwd, path), nil
}

func afterTilde(path string) (string, bool) {
	if path == "~" {
		return "", true
	}
	if strings.HasPrefix(path, "~/") || (runtime.GOOS == "windows" && strings.HasPrefix(path, `~\`)) {
		return path[2:], true
	}
	return "", false
}

// Real returns the canonical name of an absolute path: links are resolved for the longest prefix that exists and the
// rest is appended, so that a file still to be created has one too (a dangling link gives its target's name).
// ".." is taken the way the operating system takes it, after links. A link loop is an *Error with CauseLinkLoop; a
// folder that may not be searched is one with CausePermission. Letter case is kept as given.
func Real(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", &Error{Op: "resolve", Path: path, Cause: CauseBadPath, Err: errors.New("the path is not absolute")}
	}
	root, todo := splitRoot(path)
	done, links := root, 0
	for len(todo) > 0 {
		part := todo[0]
		todo = todo[1:]
		if part == ".." {
			done = filepath.Dir(done)
			continue
		}
		next := filepath.Join(done, part)
		target, err := readLink(next)
		if err != nil {
			return "", wrap("resolve", path, err)
		}
		if target == "" {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", &Error{Op: "resolve", Path: path, Cause: CauseLinkLoop, Err: errors.New("too many symbolic links")}
		}
		linkRoot, parts := splitRoot(target)
		if linkRoot != "" {
			done = linkRoot
		}
		todo = append(parts, todo...)
	}
	return done, nil
}

// readLink returns the target of a link, "" for what is no link or does not exist.
func readLink(path string) (string, error) {
	st, err := os.Lstat(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || CauseOf(err) == CauseNotDir {
			return "", nil
		}
		return "", err
	}
	// Windows junctions come as irregular files that Readlink understands.
	if st.Mode()&(fs.ModeSymlink|fs.ModeIrregular) == 0 {
		return "", nil
	}
	target, err := os.Readlink(path)
	if err != nil && st.Mode()&fs.ModeIrregular != 0 {
		return "", nil
	}
	return target, err
}

// splitRoot cuts a path into its root ("" when relative) and its components; "." and empty ones are dropped.
func splitRoot(path string) (root string, parts []string) {
	vol := filepath.VolumeName(path)
	rest := path[len(vol):]
	if rest != "" && os.IsPathSeparator(rest[0]) {
		root = vol + string(filepath.Separator)
	}
	for part := range strings.FieldsFuncSeq(rest, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) }) {
		if part != "." {
			parts = append(parts, part)
		}
	}
	return root, parts
}

// Within reports whether path is root or lies below it. Both must be clean and absolute and of the same kind (both
// Location.Name or both Location.Real): it compares text and opens nothing. Windows names compare without case.
func Within(root, path string) bool {
	if sameName(root, path) {
		return true
	}
	sep := string(filepath.Separator)
	if !strings.HasSuffix(root, sep) {
		root += sep
	}
	return len(path) > len(root) && sameName(root, path[:len(root)])
}

func sameName(a, b string) bool {
	if runtime.GOOS == "windows" {
		return strings.EqualFold(a, b)
	}
	return a == b
}
