package search

import (
	"context"
	"io/fs"
	"path/filepath"
	"syscall"
)

// Files visits every file under root that the ignore rules leave, hidden ones
// too, in no order. visit gets a slash path relative to root, from several
// goroutines at once. Folders that cannot be read are passed over.
func Files(ctx context.Context, root string, visit func(path string)) error {
	root = filepath.Clean(root)
	info, err := checkRoot(root)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &fs.PathError{Op: "list", Path: root, Err: syscall.ENOTDIR}
	}
	w := &walk{root: root, selection: &selection{}, skips: &skipList{}, ignore: true, hidden: true}
	cut := len(slashBase(root))
	return w.run(ctx, func(_ int, path string) { visit(filepath.ToSlash(path[cut:])) })
}
