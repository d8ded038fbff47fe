// Package worktree makes temporary git worktrees, tells whether anything was done in them, and removes those in which nothing was.
//
// A worktree shares the repository's objects and branches, and nothing else:
// what is not committed in the checkout is not in it. Nothing is ever copied
// back; what was done there stays there, under a branch with a name.
package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Git runs git in a folder and returns what it printed. It starts no program
// that the repository's configuration names.
type Git func(ctx context.Context, dir string, args ...string) (string, error)

// Folder is where worktrees are, below the root of the checkout. It ignores
// itself, so that the checkout's own state does not show it.
const Folder = ".claude/worktrees"

// Prefix begins the names of branches.
const Prefix = "worktree-"

// Start says what a worktree begins with.
type Start string

// The starts: the default branch of the remote, as it was fetched last; or what
// the checkout stands on.
const (
	Fresh Start = "fresh"
	Head  Start = "head"
)

// Tree is one worktree.
type Tree struct {
	// Root is the checkout that it was made of, Dir its own folder; both canonical.
	Root, Dir string
	// Branch is its branch, Base the commit that it began with.
	Branch, Base string
}

// Config makes a worktree.
type Config struct {
	Git Git
	// Root is the root of the checkout, canonical. Name is that of the folder.
	Root, Name string
	Start      Start
	// Reason says who has it locked.
	Reason string
}

// ErrUnborn says that there is no commit to begin with.
var ErrUnborn = errors.New("the repository has no commit yet, so there is nothing to make a worktree of: make a first commit, or work without isolation")

// Create makes a worktree, locked, on a branch of its own, and copies the ignored
// files that .worktreeinclude names.
func Create(ctx context.Context, c Config) (*Tree, error) {
	base, err := c.base(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := folder(c.Root)
	if err != nil {
		return nil, err
	}
	t := &Tree{Root: c.Root, Dir: filepath.Join(dir, c.Name), Branch: Prefix + c.Name, Base: base}
	if err := t.add(ctx, c, "-b", t.Branch, t.Dir, base); err != nil {
		return nil, err
	}
	return t, nil
}

// Again makes a worktree anew that was removed because nothing was done in it.
func (t *Tree) Again(ctx context.Context, c Config) error {
	if _, err := folder(t.Root); err != nil {
		return err
	}
	return t.add(ctx, c, "-B", t.Branch, t.Dir, t.Base)
}

func (t *Tree) add(ctx context.Context, c Config, args ...string) error {
	all := append([]string{"worktree", "add", "--quiet", "--lock", "--reason", c.Reason}, args...)
	if _, err := c.Git(ctx, t.Root, all...); err != nil {
		return fmt.Errorf("make the worktree %s: %w", t.Dir, err)
	}
	if err := t.include(ctx, c.Git); err != nil {
		return fmt.Errorf("copy what .worktreeinclude names: %w", err)
	}
	return nil
}

// base is the commit to begin with.
func (c Config) base(ctx context.Context) (string, error) {
	names := []string{"HEAD"}
	if c.Start == Fresh {
		names = []string{"refs/remotes/origin/HEAD", "HEAD"}
	}
	for _, n := range names {
		if out, err := c.Git(ctx, c.Root, "rev-parse", "--verify", "--quiet", n+"^{commit}"); err == nil {
			return strings.TrimSpace(out), nil
		}
	}
	return "", ErrUnborn
}

// folder is the folder of worktrees. A link that leads out of the checkout is refused.
func folder(root string) (string, error) {
	dir := filepath.Join(root, filepath.FromSlash(Folder))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the folder of worktrees: %w", err)
	}
	real, err := fsys.Real(dir)
	if err != nil {
		return "", fmt.Errorf("the folder of worktrees: %w", err)
	}
	if real != dir {
		return "", fmt.Errorf("the folder of worktrees %s is a link to %s; remove the link", dir, real)
	}
	ignore := filepath.Join(dir, ".gitignore")
	if fsys.KindOf(ignore) != fsys.KindMissing {
		return dir, nil
	}
	if _, err := fsys.WriteFile(ignore, []byte("*\n"), fsys.WriteOptions{Mode: 0o644}); err != nil {
		return "", fmt.Errorf("keep worktrees out of the checkout's state: %w", err)
	}
	return dir, nil
}

// Lost tells that the worktree is gone, or is no worktree any more.
func (t *Tree) Lost() bool {
	return fsys.KindOf(t.Dir) != fsys.KindDir || fsys.KindOf(filepath.Join(t.Dir, ".git")) != fsys.KindRegular
}

// Changed tells whether anything was done: a commit, another branch, a file that
// differs or is new. Ignored files do not count. A populated submodule does: hew
// does not look into it.
func (t *Tree) Changed(ctx context.Context, git Git) (bool, error) {
	head, err := git(ctx, t.Dir, "rev-parse", "--verify", "--quiet", "HEAD")
	if err != nil {
		return true, fmt.Errorf("look at the worktree %s: %w", t.Dir, err)
	}
	on, err := git(ctx, t.Dir, "symbolic-ref", "--quiet", "HEAD")
	if err != nil || strings.TrimSpace(on) != "refs/heads/"+t.Branch || strings.TrimSpace(head) != t.Base {
		return true, nil
	}
	out, err := git(ctx, t.Dir, "status", "--porcelain", "-z", "--untracked-files=all", "--ignore-submodules=all")
	if err != nil {
		return true, fmt.Errorf("look at the worktree %s: %w", t.Dir, err)
	}
	if out != "" {
		return true, nil
	}
	return t.populated(ctx, git)
}

// populated tells whether a submodule has files.
func (t *Tree) populated(ctx context.Context, git Git) (bool, error) {
	if fsys.KindOf(filepath.Join(t.Dir, ".gitmodules")) == fsys.KindMissing {
		return false, nil
	}
	out, err := git(ctx, t.Dir, "ls-files", "--stage", "-z")
	if err != nil {
		return true, fmt.Errorf("look at the submodules of %s: %w", t.Dir, err)
	}
	for line := range strings.SplitSeq(out, "\x00") {
		head, path, _ := strings.Cut(line, "\t")
		if !strings.HasPrefix(head, "160000 ") {
			continue
		}
		if entries, err := os.ReadDir(filepath.Join(t.Dir, filepath.FromSlash(path))); err == nil && len(entries) > 0 {
			return true, nil
		}
	}
	return false, nil
}

// Lock keeps everybody from removing the worktree while it is in use.
func (t *Tree) Lock(ctx context.Context, git Git, reason string) error {
	_, err := git(ctx, t.Root, "worktree", "lock", "--reason", reason, t.Dir)
	return err
}

// Unlock leaves the worktree to its user.
func (t *Tree) Unlock(ctx context.Context, git Git) error {
	_, err := git(ctx, t.Root, "worktree", "unlock", t.Dir)
	return err
}

// Remove takes away a worktree in which nothing was done, and its branch.
func (t *Tree) Remove(ctx context.Context, git Git) error {
	if _, err := git(ctx, t.Root, "worktree", "remove", "--force", t.Dir); err != nil {
		return fmt.Errorf("remove the worktree %s: %w", t.Dir, err)
	}
	// Only while it still is where it began: another one may have committed there.
	if _, err := git(ctx, t.Root, "update-ref", "-d", "refs/heads/"+t.Branch, t.Base); err != nil {
		return fmt.Errorf("remove the branch %s: %w", t.Branch, err)
	}
	return nil
}

// Discard takes away a worktree and its branch with whatever is in them.
func (t *Tree) Discard(ctx context.Context, git Git) error {
	if _, err := git(ctx, t.Root, "worktree", "remove", "--force", t.Dir); err != nil {
		return fmt.Errorf("remove the worktree %s: %w", t.Dir, err)
	}
	if _, err := git(ctx, t.Root, "update-ref", "-d", "refs/heads/"+t.Branch); err != nil {
		return fmt.Errorf("remove the branch %s: %w", t.Branch, err)
	}
	return nil
}

// Bounds of what .worktreeinclude copies.
const (
	maxIncluded      = 10_000
	maxIncludedBytes = 1 << 30
)

// include copies the files of the checkout that git ignores and .worktreeinclude
// names. Links are left out.
func (t *Tree) include(ctx context.Context, git Git) error {
	list := filepath.Join(t.Root, ".worktreeinclude")
	if fsys.KindOf(list) != fsys.KindRegular {
		return nil
	}
	named, err := git(ctx, t.Root, "ls-files", "-z", "--others", "--ignored", "--exclude-from="+list)
	if err != nil {
		return err
	}
	ignored, err := git(ctx, t.Root, "ls-files", "-z", "--others", "--ignored", "--exclude-standard")
	if err != nil {
		return err
	}
	is := map[string]bool{}
	for p := range strings.SplitSeq(ignored, "\x00") {
		is[p] = true
	}
	n, bytes := 0, int64(0)
	for p := range strings.SplitSeq(named, "\x00") {
		if p == "" || !is[p] || strings.HasPrefix(p, Folder+"/") || !filepath.IsLocal(filepath.FromSlash(p)) {
			continue
		}
		size, err := t.copy(filepath.FromSlash(p))
		if err != nil {
			return err
		}
		if n, bytes = n+1, bytes+size; n > maxIncluded || bytes > maxIncludedBytes {
			return fmt.Errorf("it names more than %d files or %d MB", maxIncluded, maxIncludedBytes>>20)
		}
	}
	return nil
}

func (t *Tree) copy(rel string) (n int64, err error) {
	from, to := filepath.Join(t.Root, rel), filepath.Join(t.Dir, rel)
	if real, err := fsys.Real(from); err != nil || real != from || fsys.KindOf(from) != fsys.KindRegular {
		return 0, nil // a link, or gone: never what a worktree should get
	}
	in, st, err := fsys.OpenRegular(from)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return 0, err
	}
	if real, err := fsys.Real(filepath.Dir(to)); err != nil || !fsys.Within(t.Dir, real) {
		return 0, fmt.Errorf("%s leads out of the worktree", rel)
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, st.Mode.Perm())
	if errors.Is(err, os.ErrExist) {
		return 0, nil // the branch has it
	}
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	return io.Copy(out, in)
}
