// Package search globs and greps over a tree: ignore rules, ripgrep when present, own engine when not.
package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Engine searches file trees. The zero value is hew's own engine; its methods
// may be called from several goroutines.
type Engine struct {
	// Ripgrep is the path of a trusted rg program, as FindRipgrep returns it.
	// It is used for Grep in a folder that does not hold it; what it answers
	// equals what the own engine answers, but for text files above
	// MaxFileBytes, which it reads to their end.
	Ripgrep string
}

// Grep runs q. It fails with *PatternError, *GlobError or *UnknownTypeError
// when the query is at fault, with an *fs.PathError when Root cannot be
// searched, and with ctx's error when that ends first. Files and folders that
// cannot be read are left out and reported in Skips.
func (e Engine) Grep(ctx context.Context, q GrepQuery) (GrepResult, error) {
	p, selection, info, err := prepare(&q)
	if err != nil {
		return GrepResult{}, err
	}
	if e.Ripgrep != "" && info.IsDir() && !inside(e.Ripgrep, []string{q.Root}) {
		r, err := ripgrep(ctx, e.Ripgrep, &q)
		if !errors.Is(err, errRefused) {
			return r, err
		}
	}
	skips := &skipList{}
	found := newCollector(&q, skips)
	if !info.IsDir() {
		found.add(newScanner(&q, p).scan(ctx, q.Root, followLinks))
		return found.result(), ctx.Err()
	}
	w := &walk{root: q.Root, selection: selection, ignore: true, exclude: q.Exclude, skips: skips}
	scanners := make([]*scanner, walkers())
	err = w.run(ctx, func(worker int, path string) {
		if !found.wants(path) {
			return
		}
		if scanners[worker] == nil {
			scanners[worker] = newScanner(&q, p)
		}
		if f := scanners[worker].scan(ctx, path, refuseLinks); ctx.Err() == nil {
			found.add(f)
		}
	})
	if err != nil {
		return GrepResult{}, err
	}
	return found.result(), nil
}

// prepare checks q and compiles what both engines need.
func prepare(q *GrepQuery) (*pattern, *selection, os.FileInfo, error) {
	p, err := compilePattern(*q)
	if err != nil {
		return nil, nil, nil, err
	}
	selection, err := newSelection(q.Globs, q.Type)
	if err != nil {
		return nil, nil, nil, err
	}
	if q.Mode != ModeContent {
		q.Before, q.After, q.OnlyMatching = 0, 0, false
	}
	q.Before, q.After = min(max(q.Before, 0), maxEntries), min(max(q.After, 0), maxEntries)
	q.Root = filepath.Clean(q.Root)
	info, err := checkRoot(q.Root)
	return p, selection, info, err
}

func checkRoot(root string) (os.FileInfo, error) {
	if !filepath.IsAbs(root) {
		return nil, fmt.Errorf("search %q: the path is not absolute", root)
	}
	info, err := os.Stat(root)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "search", Path: root, Err: errNotRegular}
	}
	return info, nil
}

func modTime(path string) time.Time {
	st, err := os.Lstat(path)
	if err != nil {
		return time.Time{}
	}
	return st.ModTime()
}
