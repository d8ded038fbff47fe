package checkpoint

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// site is a folder under a tracker.
type site struct {
	*testing.T
	root, home string
	tracker    *Tracker
	uses       int
}

func newSite(t *testing.T, change func(*Config)) *site {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &site{T: t, root: filepath.Join(dir, "work"), home: filepath.Join(dir, "home")}
	if err := os.Mkdir(s.root, 0o755); err != nil {
		t.Fatal(err)
	}
	s.open(change)
	return s
}

func (s *site) open(change func(*Config)) {
	s.Helper()
	c := Config{Dir: s.home, Roots: []string{s.root}, Limits: DefaultLimits(), Now: time.Now}
	if change != nil {
		change(&c)
	}
	tr, err := Open(c)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = tr.Close() })
	s.tracker = tr
}

func (s *site) write(name, text string, mode fs.FileMode) {
	s.Helper()
	path := filepath.Join(s.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		s.Fatal(err)
	}
}

// run lets a shell command run as a call of the model would.
func (s *site) run(command string) Cover {
	s.Helper()
	s.uses++
	use := fmt.Sprint("use", s.uses)
	cover, err := s.tracker.Before(s.Context(), Command{Use: use, Text: command})
	if err != nil {
		s.Fatal(err)
	}
	s.shell(command)
	if err := s.tracker.After(End{Use: use}); err != nil {
		s.Fatal(err)
	}
	return cover
}

func (s *site) shell(command string) {
	s.Helper()
	c := exec.CommandContext(s.Context(), "bash", "-c", command)
	c.Dir = s.root
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b.test", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b.test")
	if out, err := c.CombinedOutput(); err != nil {
		s.Fatalf("%s: %v\n%s", command, err, out)
	}
}

func (s *site) rewind(to string) *Report {
	s.Helper()
	r, err := s.tracker.Rewind(context.Background(), Point{Prompt: to})
	if err != nil {
		s.Fatal(err)
	}
	return r
}

// tree is everything below the root but .git: kind, mode, bytes.
func (s *site) tree() map[string]string {
	s.Helper()
	return treeOf(s.T, s.root)
}

func treeOf(t testing.TB, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == gitDir {
			return fs.SkipDir
		}
		st, err := os.Lstat(path)
		if err != nil {
			return err
		}
		text := ""
		switch {
		case st.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(data)
		case st.Mode()&fs.ModeSymlink != 0:
			if text, err = os.Readlink(path); err != nil {
				return err
			}
		}
		rel, err := filepath.Rel(root, path)
		out[rel] = fmt.Sprintf("%v %q", st.Mode(), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (s *site) same(want map[string]string) {
	s.Helper()
	if diff := cmp.Diff(want, s.tree()); diff != "" {
		s.Fatalf("the tree is not as before (-want +got):\n%s", diff)
	}
}

func clean(t *testing.T, r *Report) {
	t.Helper()
	if len(r.Failed)+len(r.Lost)+len(r.Kept) > 0 {
		t.Fatalf("failed %v, lost %v, kept %v", r.Failed, r.Lost, r.Kept)
	}
}

// setUp makes a folder with files of all four kinds.
func (s *site) setUp(git bool) {
	s.write("tracked.txt", "committed\n", 0o644)
	s.write("bin/run.sh", "#!/bin/sh\necho hi\n", 0o755)
	s.write("dir/deep/a.txt", "deep a\n", 0o640)
	s.write(".gitignore", "ignored/\n*.log\n", 0o644)
	for i := range 20 {
		s.write(fmt.Sprintf("many/f%02d.txt", i), fmt.Sprintf("file %d\n", i), 0o644)
	}
	s.shell("ln -s tracked.txt link; ln -s nowhere dangling")
	if git {
		s.shell("git init -q . && git add -A && git commit -qm one")
	}
	s.write("tracked.txt", "committed\nunstaged\n", 0o644)
	s.write("staged.txt", "staged\n", 0o644)
	s.write("dir/deep/a.txt", "deep a, staged\n", 0o640)
	if git {
		s.shell("git add staged.txt dir/deep/a.txt")
	}
	s.write("untracked.txt", "untracked\n", 0o600)
	s.write("new/untracked.bin", "\x00\x01\xff", 0o755)
	s.write("ignored/cache.dat", "ignored\n", 0o444)
	s.write("debug.log", "log\n", 0o644)
	s.shell("mkdir -p empty/folder; chmod 700 empty/folder")
}

// destructive are the commands of the undo matrix.
var destructive = []struct {
	name, command string
	git           bool
	needs         string
}{
	{"reset hard", "git reset -q --hard", true, ""},
	{"clean", "git clean -fdxq", true, ""},
	{"clean ignored only", "git clean -fXdq -- ignored", true, ""},
	{"checkout path", "git checkout -q -- .", true, ""},
	{"checkout force", "git checkout -q -f HEAD", true, ""},
	{"restore", "git restore --staged --worktree .", true, ""},
	{"stash with untracked", "git stash push -q --all && git stash drop -q", true, ""},
	{"git rm", "git rm -rqf tracked.txt dir many", true, ""},
	{"git mv", "git mv -f staged.txt tracked.txt", true, ""},
	{"switch", "git switch -q -f -c other && git commit -qam x && git rm -q tracked.txt && git commit -qm y", true, ""},
	{"rm recursive", "rm -rf dir new ignored many", false, ""},
	{"rm all", "rm -rf -- * .gitignore", false, ""},
	{"rm one", "rm -f untracked.txt link dangling", false, ""},
	{"mv over", "mv -f untracked.txt tracked.txt", false, ""},
	{"mv folder", "mv dir ignored/", false, ""},
	{"cp over", "cp -f bin/run.sh untracked.txt", false, ""},
	{"redirect", "echo gone > tracked.txt; : > untracked.txt", false, ""},
	{"truncate", "truncate -s 0 debug.log new/untracked.bin", false, ""},
	{"find delete", "find dir many new *.txt -type f -delete", false, ""},
	{"sed in place", "sed -i s/e/E/ tracked.txt untracked.txt debug.log", false, ""},
	{"dd", "dd if=/dev/zero of=debug.log bs=1 count=3 conv=notrunc status=none", false, ""},
	{"rsync delete", "mkdir x && mv x .. && rsync -a --delete ../x/ many/ && rmdir ../x", false, "rsync"},
	{"tee", "echo new | tee tracked.txt untracked.txt > made.txt", false, ""},
	{"chmod", "chmod -R u-w,o+r dir new; chmod 000 debug.log; chmod 500 many", false, ""},
	{"link over", "ln -sf /etc/passwd tracked.txt; ln -sfn bin link", false, ""},
	{"file to folder", "rm tracked.txt && mkdir tracked.txt && echo x > tracked.txt/x", false, ""},
	{"folder to link", "rm -r dir && ln -s /tmp dir", false, ""},
	{"same size and time", "cp -p debug.log ../k && printf XXX | dd of=debug.log conv=notrunc status=none && touch -r ../k debug.log && rm ../k", false, ""},
	{"rename", "mv tracked.txt t2 && mv untracked.txt tracked.txt && mv t2 untracked.txt", false, ""},
	{"script", "python3 -c 'import os,shutil; shutil.rmtree(\"dir\"); os.remove(\"debug.log\"); open(\"made\",\"w\").write(\"x\")'", false, "python3"},
}

func TestUndoMatrix(t *testing.T) {
	for _, git := range []bool{true, false} {
		for i, c := range destructive {
			if c.git && !git {
				continue
			}
			watch := (i%2 == 0) == git // each command with and without a watcher
			t.Run(fmt.Sprintf("git=%v/watch=%v/%s", git, watch, c.name), func(t *testing.T) {
				t.Parallel()
				if c.needs != "" {
					if _, err := exec.LookPath(c.needs); err != nil {
						t.Skip("left out: a row of the undo matrix (needs " + c.needs + ")")
					}
				}
				undoOne(t, git, watch, c.command)
			})
		}
	}
}

func undoOne(t *testing.T, git, watch bool, command string) {
	s := newSite(t, func(c *Config) {
		c.Watch = watch
		if git {
			c.Git = func(context.Context, string) Git { return testGit{c.Roots[0]} }
		}
	})
	s.setUp(git)
	want := s.tree()
	s.tracker.Prompt("m1")
	s.run("true") // what follows changes a tree that is known already
	s.tracker.Prompt("m2")
	s.run(command)
	clean(t, s.rewind("m2"))
	s.same(want)
}

// testGit is git as the wiring has it, without its care.
type testGit struct{ dir string }

func (testGit) Format() string { return "sha1" }

func (g testGit) run(in string, args ...string) ([]byte, error) {
	c := exec.Command("git", append([]string{"-C", g.dir}, args...)...)
	c.Stdin = strings.NewReader(in)
	return c.Output()
}

func (g testGit) Held(_ context.Context, ids []string) (map[string]bool, error) {
	out, err := g.run(strings.Join(ids, "\n")+"\n", "cat-file", "--batch-check=%(objectname) %(objecttype)")
	has := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		if id, kind, _ := strings.Cut(strings.TrimSpace(line), " "); kind == "blob" {
			has[id] = true
		}
	}
	return has, err
}

func (g testGit) Contents(_ context.Context, ids []string) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, id := range ids {
		data, err := g.run("", "cat-file", "blob", id)
		if err == nil {
			out[id] = data
		}
	}
	return out, nil
}
