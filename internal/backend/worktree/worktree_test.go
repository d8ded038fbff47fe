package worktree

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

func git(t *testing.T) Git {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("left out: git worktrees (needs git)")
	}
	return func(ctx context.Context, dir string, args ...string) (string, error) {
		c := exec.CommandContext(ctx, "git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		c.Dir, c.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		out, err := c.Output()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = errors.New(string(exit.Stderr))
		}
		return string(out), err
	}
}

func must(t *testing.T, g Git, dir string, args ...string) string {
	t.Helper()
	out, err := g(t.Context(), dir, args...)
	if err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
	return out
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func repository(t *testing.T) (Git, string) {
	t.Helper()
	g := git(t)
	root, err := fsys.Real(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	must(t, g, root, "init", "-q", "-b", "main")
	return g, root
}

func commit(t *testing.T, g Git, root string) {
	t.Helper()
	write(t, filepath.Join(root, "a.txt"), "one\n")
	write(t, filepath.Join(root, ".gitignore"), "*.secret\nbuild/\n")
	must(t, g, root, "add", ".")
	must(t, g, root, "commit", "-qm", "first")
}

func create(t *testing.T, g Git, root string) *Tree {
	t.Helper()
	tree, err := Create(t.Context(), Config{Git: g, Root: root, Name: "agent-1", Start: Fresh, Reason: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestUnchangedIsRemoved(t *testing.T) {
	g, root := repository(t)
	commit(t, g, root)
	write(t, filepath.Join(root, "a.txt"), "dirty\n") // a dirty parent
	write(t, filepath.Join(root, ".worktreeinclude"), "*.secret\n")
	write(t, filepath.Join(root, "k.secret"), "s\n")
	write(t, filepath.Join(root, "build/x"), "not named\n")
	before := must(t, g, root, "status", "--porcelain")
	tree := create(t, g, root)
	if got, err := os.ReadFile(filepath.Join(tree.Dir, "a.txt")); err != nil || string(got) != "one\n" {
		t.Errorf("the worktree begins with %q %v", got, err)
	}
	if fsys.KindOf(filepath.Join(tree.Dir, "k.secret")) != fsys.KindRegular || fsys.KindOf(filepath.Join(tree.Dir, "build")) != fsys.KindMissing {
		t.Error(".worktreeinclude did not copy what it names, or more")
	}
	if got := must(t, g, root, "worktree", "list", "--porcelain"); !strings.Contains(got, "locked test") {
		t.Errorf("it is not locked: %s", got)
	}
	if after := must(t, g, root, "status", "--porcelain"); after != before {
		t.Errorf("the parent's state was %q and is %q", before, after)
	}
	if changed, err := tree.Changed(t.Context(), g); changed || err != nil {
		t.Fatalf("changed %v %v", changed, err)
	}
	if err := errors.Join(tree.Unlock(t.Context(), g), tree.Remove(t.Context(), g)); err != nil {
		t.Fatal(err)
	}
	if !tree.Lost() || strings.Contains(must(t, g, root, "branch"), tree.Branch) {
		t.Error("the worktree or its branch is still there")
	}
	if err := tree.Again(t.Context(), Config{Git: g, Root: root, Reason: "again"}); err != nil || tree.Lost() {
		t.Errorf("it cannot be made again: %v", err)
	}
}

func TestChanges(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, g Git, dir string){
		"a new file":   func(t *testing.T, _ Git, dir string) { write(t, filepath.Join(dir, "new"), "x") },
		"another text": func(t *testing.T, _ Git, dir string) { write(t, filepath.Join(dir, "a.txt"), "two\n") },
		"a commit": func(t *testing.T, g Git, dir string) {
			must(t, g, dir, "commit", "-q", "--allow-empty", "-m", "work")
		},
		"another branch":  func(t *testing.T, g Git, dir string) { must(t, g, dir, "checkout", "-qb", "other") },
		"a detached head": func(t *testing.T, g Git, dir string) { must(t, g, dir, "checkout", "-q", "--detach") },
	} {
		t.Run(name, func(t *testing.T) {
			g, root := repository(t)
			commit(t, g, root)
			tree := create(t, g, root)
			change(t, g, tree.Dir)
			if changed, err := tree.Changed(t.Context(), g); !changed || err != nil {
				t.Errorf("changed %v %v", changed, err)
			}
		})
	}
}

func TestPlacesThatCannotBe(t *testing.T) {
	g, root := repository(t)
	if _, err := Create(t.Context(), Config{Git: g, Root: root, Name: "x", Start: Head}); !errors.Is(err, ErrUnborn) {
		t.Errorf("an unborn branch: %v", err)
	}
	commit(t, g, root)
	away := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, ".claude"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(away, filepath.Join(root, ".claude", "worktrees")); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(t.Context(), Config{Git: g, Root: root, Name: "x", Start: Head}); err == nil || !strings.Contains(err.Error(), "is a link") {
		t.Errorf("a link out of the checkout: %v", err)
	}
}

func TestSparseAndSubmodules(t *testing.T) {
	g, root := repository(t)
	commit(t, g, root)
	write(t, filepath.Join(root, "far/b.txt"), "b\n")
	must(t, g, root, "add", ".")
	must(t, g, root, "commit", "-qm", "second")
	inner, err := fsys.Real(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	must(t, g, inner, "init", "-q", "-b", "main")
	commit(t, g, inner)
	must(t, g, root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner, "sub")
	must(t, g, root, "commit", "-qm", "third")
	must(t, g, root, "sparse-checkout", "set", "far")
	tree := create(t, g, root)
	if changed, err := tree.Changed(t.Context(), g); changed || err != nil {
		t.Errorf("a sparse checkout with an empty submodule: changed %v %v", changed, err)
	}
	write(t, filepath.Join(tree.Dir, "sub/work.txt"), "x")
	if changed, err := tree.Changed(t.Context(), g); !changed || err != nil {
		t.Errorf("a submodule with files: changed %v %v", changed, err)
	}
}
