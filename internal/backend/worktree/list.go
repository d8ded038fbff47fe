package worktree

import (
	"context"
	"fmt"
	"strings"
)

// Entry is one worktree that git knows of.
type Entry struct {
	Dir, Head string
	// Branch is "" for a detached one.
	Branch string
	// Locked tells that somebody keeps it from being removed; Reason is their word.
	Locked bool
	Reason string
}

// List lists the worktrees of a repository, its main one first.
func List(ctx context.Context, git Git, root string) ([]Entry, error) {
	out, err := git(ctx, root, "worktree", "list", "--porcelain")
	if err != nil {
		return nil, fmt.Errorf("list the worktrees of %s: %w", root, err)
	}
	var list []Entry
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		if key == "worktree" {
			list = append(list, Entry{Dir: value})
			continue
		}
		if len(list) == 0 {
			continue
		}
		e := &list[len(list)-1]
		switch key {
		case "HEAD":
			e.Head = value
		case "branch":
			e.Branch = strings.TrimPrefix(value, "refs/heads/")
		case "locked":
			e.Locked, e.Reason = true, value
		}
	}
	return list, nil
}

// Idle tells that removing a worktree of a process that is gone would lose
// nothing: no file differs, and another branch or tag holds what it stands on. It
// returns the tree, ready to be removed.
func (e Entry) Idle(ctx context.Context, git Git, root string) (*Tree, bool, error) {
	t := &Tree{Root: root, Dir: e.Dir, Branch: e.Branch, Base: e.Head}
	if e.Branch == "" || e.Head == "" || t.Lost() {
		return t, false, nil
	}
	changed, err := t.Changed(ctx, git)
	if err != nil || changed {
		return t, false, err
	}
	out, err := git(ctx, root, "for-each-ref", "--contains", e.Head, "--format=%(refname)", "refs/heads", "refs/remotes", "refs/tags")
	if err != nil {
		return t, false, fmt.Errorf("look for what holds the worktree's commit %s: %w", e.Head, err)
	}
	for ref := range strings.Lines(out) {
		if ref = strings.TrimSpace(ref); ref != "" && ref != "refs/heads/"+e.Branch {
			return t, true, nil
		}
	}
	return t, false, nil
}
