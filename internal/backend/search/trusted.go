package search

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// FindRipgrep looks for rg on pathList (the value of PATH) and returns its
// resolved path, or "". A program that a repository or another user could
// have put there is not taken: entries must be absolute, lie outside of every
// folder in untrusted (the working folder, the project), and neither the
// program nor a folder on the way to it may be writable for others.
func FindRipgrep(pathList string, untrusted ...string) string {
	return FindProgram("rg", pathList, untrusted...)
}

// FindProgram does for any program what FindRipgrep does for rg.
func FindProgram(name, pathList string, untrusted ...string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	for _, dir := range filepath.SplitList(pathList) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, name)
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue
		}
		st, err := os.Stat(real)
		if err != nil || !st.Mode().IsRegular() || runtime.GOOS != "windows" && st.Mode()&0o111 == 0 {
			continue
		}
		if inside(path, untrusted) || inside(real, untrusted) || !onlyOurs(path) || !onlyOurs(real) {
			continue
		}
		return real
	}
	return ""
}

// inside tells whether path lies in one of dirs, or in what they link to.
func inside(path string, dirs []string) bool {
	for _, dir := range dirs {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			real = dir
		}
		for _, d := range []string{dir, real} {
			rel, err := filepath.Rel(d, path)
			if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
				return true
			}
		}
	}
	return false
}

// onlyOurs tells whether nobody but the user and the system can replace path.
func onlyOurs(path string) bool {
	if runtime.GOOS == "windows" {
		return true // mode bits say nothing there
	}
	for {
		st, err := os.Lstat(path)
		if err != nil {
			return false
		}
		if st.Mode()&fs.ModeSymlink == 0 && (st.Mode().Perm()&0o002 != 0 || !ownedByUs(st)) {
			return false
		}
		parent := filepath.Dir(path)
		if parent == path {
			return true
		}
		path = parent
	}
}
