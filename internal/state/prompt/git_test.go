package prompt

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// gitIn runs the real git as hew does.
func gitIn(dir string) RunGit {
	return func(ctx context.Context, args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir, cmd.Env = dir, os.Environ()
		for k, v := range GitEnv() {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
		out, err := cmd.Output()
		return string(out), err
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// hostile is a repository whose configuration names a program wherever git
// takes one; the program leaves the file ran.
func hostile(t *testing.T) (dir, ran string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("left out: a hostile repository (needs git)")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	dir = t.TempDir()
	ran = filepath.Join(t.TempDir(), "ran")
	evil := filepath.Join(t.TempDir(), "evil")
	put(t, evil, "#!/bin/sh\necho \"$0 $*\" >> "+ran+"\nexit 0\n")
	for _, args := range [][]string{
		{"init", "-q", "-b", "main", "."},
		{"config", "user.email", "$(touch " + ran + ")@x"},
		{"config", "user.name", "x"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	put(t, filepath.Join(dir, "a.txt"), "one\n")
	for _, args := range [][]string{{"add", "."}, {"commit", "-q", "-m", "first"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	config, err := os.ReadFile(filepath.Join(dir, ".git", "config"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, ".git", "config"), string(config)+strings.ReplaceAll(`
[core]
	fsmonitor = EVIL
	hooksPath = HOOKS
	pager = EVIL
	sshCommand = EVIL
	askPass = EVIL
	editor = EVIL
	alternateRefsCommand = EVIL
[diff]
	external = EVIL
[diff "d"]
	textconv = EVIL
	command = EVIL
[filter "f"]
	clean = EVIL
	smudge = EVIL
	required = true
[filter "p.q r"]
	process = EVIL
	required = true
[credential]
	helper = EVIL
[gpg]
	program = EVIL
[log]
	showSignature = true
[status]
	submoduleSummary = true
[alias]
	status = !EVIL
	log = !EVIL
[include]
	path = more
[remote "origin"]
	url = https://me:secret@example.org/x.git
	uploadpack = EVIL
	promisor = true
[extensions]
	partialClone = origin
`, "EVIL", evil))
	put(t, filepath.Join(dir, ".git", "more"), "[filter \"g\"]\n\tclean = "+evil+"\n")
	put(t, filepath.Join(dir, ".gitattributes"), "a.txt filter=f diff=d\nb.txt filter=p.q\\ r\n*.g filter=g\n")
	for _, hook := range []string{"post-index-change", "pre-commit", "post-checkout", "reference-transaction"} {
		put(t, filepath.Join(dir, ".git", "hooks", hook), "#!/bin/sh\necho hook >> "+ran+"\n")
	}
	put(t, filepath.Join(dir, "a.txt"), "two\n") // of the same size, so that git has to read it
	return dir, ran
}

func TestHostileRepositoryRunsNothing(t *testing.T) {
	dir, ran := hostile(t)
	cmd := exec.Command("git", "status", "--short") // the set-up does what it says
	cmd.Dir = dir
	_ = cmd.Run()
	if _, err := os.Stat(ran); err != nil {
		t.Fatal("the repository is harmless, so the test shows nothing")
	}
	if err := os.Remove(ran); err != nil {
		t.Fatal(err)
	}
	g := ReadGit(t.Context(), gitIn(dir))
	if g == nil || g.Branch != "main" || !slices.Contains(g.Status, " M a.txt") || len(g.Commits) != 1 {
		t.Errorf("state %+v", g)
	}
	remotes := ReadRemotes(t.Context(), gitIn(dir))
	if !slices.Equal(remotes, []string{"origin https://example.org/x.git"}) {
		t.Errorf("remotes %v", remotes)
	}
	if said, err := os.ReadFile(ran); err == nil {
		t.Errorf("git ran %s", said)
	}
}

// A clone that lacks objects would have git start the remote's program to fetch them.
func TestLackingObjectsAreNotFetched(t *testing.T) {
	dir, ran := hostile(t)
	cmd := exec.Command("git", "rev-parse", "HEAD^{tree}")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	id := strings.TrimSpace(string(out))
	if err := os.Remove(filepath.Join(dir, ".git", "objects", id[:2], id[2:])); err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile(filepath.Join(dir, ".git", "config"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, ".git", "config"), strings.Replace(string(config), "https://me:secret@example.org/x.git", dir, 1))
	cmd = exec.Command("git", "-c", "core.fsmonitor=false", "cat-file", "-p", id) // the set-up does what it says
	cmd.Dir = dir
	_ = cmd.Run()
	if _, err := os.Stat(ran); err != nil {
		t.Fatal("nothing is fetched, so the test shows nothing")
	}
	_ = os.Remove(ran)
	_ = ReadGit(t.Context(), gitIn(dir)) // may find nothing
	if said, err := os.ReadFile(ran); err == nil {
		t.Errorf("git ran %s", said)
	}
}

func TestBareRepositoryInTheFolder(t *testing.T) {
	dir, ran := hostile(t)
	_ = os.Remove(ran)
	plain := t.TempDir()
	if err := os.CopyFS(plain, os.DirFS(filepath.Join(dir, ".git"))); err != nil {
		t.Fatal(err)
	}
	if g := ReadGit(t.Context(), gitIn(plain)); g != nil {
		t.Errorf("a folder's own files count as a repository: %+v", g)
	}
	if said, err := os.ReadFile(ran); err == nil {
		t.Errorf("git ran %s", said)
	}
}

func TestProgramsAreSwitchedOff(t *testing.T) {
	got, err := programs("core.bare\x00filter.a.b.clean\x00filter.a.b.process\x00filter.x\x00hook.h.command\x00")
	want := []string{
		"-c", "filter.a.b.clean=", "-c", "filter.a.b.smudge=", "-c", "filter.a.b.process=", "-c", "filter.a.b.required=false",
		"-c", "hook.h.enabled=false",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for _, keys := range []string{"filter.a=b.clean\x00", "filter.a\nb.clean\x00"} {
		if _, err := programs(keys); err == nil {
			t.Errorf("%q passes", keys)
		}
	}
}
