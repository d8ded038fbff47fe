package search

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// IgnoreRules says what a Glob does with ignore files and hidden files.
type IgnoreRules uint8

const (
	// IgnoreNothing lists hidden and ignored files too.
	IgnoreNothing IgnoreRules = iota
	// IgnoreLikeGrep leaves out what Grep would leave out.
	IgnoreLikeGrep
)

// Order is the order of a GlobResult.
type Order uint8

const (
	// OldestFirst puts the file that was modified longest ago first.
	OldestFirst Order = iota
	// NewestFirst puts the file that was modified last first.
	NewestFirst
)

// GlobQuery asks for the files under Root whose path matches Pattern.
type GlobQuery struct {
	Root string // absolute path of a folder
	// Pattern is a gitignore-style glob relative to Root: one without '/'
	// matches names at any depth. An absolute one, or one that begins with
	// "..", moves the root: see SplitGlob.
	Pattern string
	Rules   IgnoreRules
	Order   Order
	Limit   int // 0 asks for as many as the engine's own limit allows
	// Exclude hides paths, as in GrepQuery.
	Exclude func(path string) bool
}

// GlobResult holds absolute paths, by modification time and then by path.
type GlobResult struct {
	Paths     []string
	Total     int // matches, whatever Limit says
	Skips     []Skip
	SkipCount int
}

// Glob runs q; its errors are those of Grep.
func (e Engine) Glob(ctx context.Context, q GlobQuery) (GlobResult, error) {
	root, pattern := SplitGlob(q.Root, q.Pattern)
	info, err := checkRoot(root)
	if errors.Is(err, fs.ErrNotExist) && root != filepath.Clean(q.Root) {
		return GlobResult{}, nil // the pattern, not the caller, named the folder
	}
	if err != nil {
		return GlobResult{}, err
	}
	if !info.IsDir() {
		return GlobResult{}, &fs.PathError{Op: "search", Path: root, Err: syscall.ENOTDIR}
	}
	if q.Rules == IgnoreNothing {
		root, pattern = narrow(root, pattern, q.Exclude)
	}
	selection, err := newSelection([]string{pattern}, "")
	if err != nil {
		return GlobResult{}, err
	}
	limit := pick(q.Limit > 0, min(q.Limit, maxEntries), maxEntries)
	var mu sync.Mutex
	found := ranking[FileMatch]{keep: limit, compare: func(a, b FileMatch) int {
		c := a.ModTime.Compare(b.ModTime)
		if q.Order == NewestFirst {
			c = -c
		}
		if c != 0 {
			return c
		}
		return strings.Compare(a.Path, b.Path)
	}}
	skips := &skipList{}
	w := &walk{
		root: root, selection: selection, exclude: q.Exclude, skips: skips,
		ignore: q.Rules == IgnoreLikeGrep,
	}
	err = w.run(ctx, func(_ int, path string) {
		m := FileMatch{Path: path, ModTime: modTime(path)}
		mu.Lock()
		defer mu.Unlock()
		found.add(m)
	})
	if err != nil {
		return GlobResult{}, err
	}
	r := GlobResult{Total: found.total, Skips: skips.kept, SkipCount: skips.total}
	for _, m := range found.sorted() {
		r.Paths = append(r.Paths, m.Path)
	}
	return r, nil
}

// narrow moves the root down the literal folders that a pattern begins with,
// so that the rest of the tree need not be listed.
func narrow(root, pattern string, exclude func(string) bool) (newRoot, rest string) {
	for {
		head, tail, more := strings.Cut(strings.TrimPrefix(pattern, "/"), "/")
		if !more || tail == "" || head == "" || strings.ContainsAny(head, `*?[]{}\!#`) || versionControl[head] {
			return root, pattern
		}
		next := filepath.Join(root, head)
		if st, err := os.Lstat(next); err != nil || !st.IsDir() || exclude != nil && exclude(next) {
			return root, pattern
		}
		root, pattern = next, "/"+tail
	}
}

// SplitGlob resolves the leading folders of an absolute pattern, or of one
// that starts with "..", so that a caller can check its right to search root.
// Other patterns come back as they are.
func SplitGlob(root, pattern string) (newRoot, rest string) {
	slashed := filepath.ToSlash(pattern)
	pattern = strings.TrimPrefix(slashed, "./")
	if !filepath.IsAbs(slashed) && pattern != ".." && !strings.HasPrefix(pattern, "../") {
		return filepath.Clean(root), pattern
	}
	if filepath.IsAbs(slashed) {
		root = filepath.VolumeName(slashed) + string(filepath.Separator)
		pattern = strings.TrimLeft(slashed[len(filepath.VolumeName(slashed)):], "/")
	}
	for pattern != "" {
		head, tail, more := strings.Cut(pattern, "/")
		if strings.ContainsAny(head, `*?[{\`) || !more {
			break
		}
		root, pattern = filepath.Join(root, head), tail
	}
	if pattern == ".." {
		return filepath.Join(root, ".."), "**"
	}
	if pattern == "" {
		return filepath.Clean(root), "**"
	}
	return filepath.Clean(root), "/" + pattern
}
