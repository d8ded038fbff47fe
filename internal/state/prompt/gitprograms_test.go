package prompt

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestPlainKey(t *testing.T) {
	for _, key := range []string{
		"core.repositoryformatversion", "core.bare", "remote.origin.url", "remote.a.b c.fetch", "branch.main.remote", "branch.a.b.merge", "user.email",
		"submodule.x.url", "extensions.worktreeconfig", "http.https://github.com/.extraheader", "diff.renames", "diff.go.xfuncname", "gc.auto",
	} {
		if !plainKey(key) {
			t.Errorf("%s counts as naming a program", key)
		}
	}
	for _, key := range []string{
		"core.fsmonitor", "core.hookspath", "core.pager", "core.sshcommand", "core.editor", "core.askpass", "core.gitproxy", "core.worktree", "core.alternaterefscommand",
		"pager.log", "diff.external", "diff.x.command", "diff.x.textconv", "filter.x.clean", "filter.x.smudge", "filter.x.process", "gpg.program", "gpg.ssh.program",
		"credential.helper", "credential.https://x.helper", "alias.status", "include.path", "includeif.gitdir:/.path", "remote.origin.uploadpack", "remote.origin.vcs",
		"remote.origin.promisor", "extensions.partialclone", "submodule.x.update", "log.showsignature", "status.submodulesummary", "hook.x.command", "protocol.ext.allow",
		"lfs.customtransfer.x.path", "merge.x.driver", "url.ext::sh.insteadof", "url.core.bare", "new.thing", "core", "", "diff.core.bare.command", "diff.renames.command",
	} {
		if plainKey(key) {
			t.Errorf("%s counts as naming no program", key)
		}
	}
}

func TestNamedProgram(t *testing.T) {
	for list, want := range map[string]string{
		"": "", "global\x00core.pager\x00system\x00credential.helper\x00command\x00core.fsmonitor\x00local\x00core.bare\x00": "",
		"local\x00core.bare\x00local\x00core.pager\x00": "core.pager", "worktree\x00diff.external\x00": "diff.external", "unknown\x00alias.x\x00": "alias.x",
	} {
		if got, err := namedProgram(list); got != want || err != nil {
			t.Errorf("%q: %q, %v", list, got, err)
		}
	}
	if _, err := namedProgram("local\x00core.bare\x00local\x00"); err == nil {
		t.Error("a list that is cut is no error")
	}
}

func TestGitProgramsOfHostileRepository(t *testing.T) {
	dir, ran := hostile(t)
	if why := GitPrograms(t.Context(), gitIn(dir), dir, os.Getenv); !strings.Contains(why, "may start a program") {
		t.Errorf("reason %q", why)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the question itself started the program")
	}
}

func TestGitProgramsWithoutAnswer(t *testing.T) {
	dir := t.TempDir()
	none := func(string) string { return "" }
	fails := func(context.Context, ...string) (string, error) { return "", errors.New("no answer") }
	if why := GitPrograms(t.Context(), fails, dir, none); why != "" {
		t.Errorf("without a repository: %q", why)
	}
	put(t, filepath.Join(dir, ".git", "HEAD"), "")
	sub := filepath.Join(dir, "a", "b")
	if why := GitPrograms(t.Context(), fails, sub, none); why == "" {
		t.Error("no answer counts as harmless")
	}
	if why := GitPrograms(t.Context(), nil, sub, none); why == "" {
		t.Error("no git counts as harmless")
	}
	odd := func(context.Context, ...string) (string, error) { return "/a\n/b\n/c\n/d\n", nil }
	if why := GitPrograms(t.Context(), odd, sub, none); why == "" {
		t.Error("an odd answer counts as harmless")
	}
}

func TestGitProgramsOfWorktreesAndBareRepositories(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("left out: repositories (needs git)")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	root := t.TempDir()
	plain, bare, tree := filepath.Join(root, "plain"), filepath.Join(root, "bare"), filepath.Join(root, "tree")
	for _, args := range [][]string{
		{"init", "-q", plain},
		{"init", "-q", "--bare", bare},
		{"-C", plain, "-c", "user.name=a", "-c", "user.email=a@b.invalid", "commit", "-q", "--allow-empty", "-m", "one"},
		{"-C", plain, "worktree", "add", "-q", tree},
	} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	put(t, filepath.Join(plain, "sub", "a.txt"), "one\n")
	for dir, harmless := range map[string]bool{plain: true, filepath.Join(plain, "sub"): true, bare: false, filepath.Join(plain, ".git"): false, tree: false} {
		if why := GitPrograms(t.Context(), gitIn(dir), dir, os.Getenv); (why == "") != harmless {
			t.Errorf("%s: reason %q", dir, why)
		}
	}
}
