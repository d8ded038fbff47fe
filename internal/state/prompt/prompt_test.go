package prompt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hew-agent/hew/internal/state/memory"
)

func TestSystemIsShortAndStable(t *testing.T) {
	c := Config{Env: Environment{Cwd: "/w", Roots: []string{"/x\ny"}, Platform: "linux/amd64", Git: &Git{Branch: "main"}}}
	one, two := System(c), System(c)
	if d := cmp.Diff(one, two); d != "" {
		t.Error(d)
	}
	if len(one) != 2 || len(one[0]) > 3584 {
		t.Errorf("%d blocks, %d bytes", len(one), len(one[0]))
	}
	want := "# Environment\nWorking directory: /w\nAlso a working directory: /x y\nPlatform: linux/amd64\n" +
		"Git, as it was at the start of this conversation (it is not updated):\nBranch: main\nWorking tree: clean"
	if d := cmp.Diff(want, one[1]); d != "" {
		t.Error(d)
	}
	if strings.Contains(System(Config{Env: Environment{Cwd: "/w"}})[1], "Git") {
		t.Error("git text without git state")
	}
}

func TestSystemReplaceAndAppend(t *testing.T) {
	c := Config{Replace: " mine \xff\n", Append: "more"}
	if d := cmp.Diff([]string{"mine \ufffd", "more"}, System(c)); d != "" {
		t.Error(d)
	}
	c.Replace = ""
	if got := System(c); len(got) != 3 || got[2] != "more" {
		t.Errorf("%q", got)
	}
}

func TestReadGit(t *testing.T) {
	long := strings.Repeat("é", 300)
	var status strings.Builder
	status.WriteString("## feat/x...origin/feat/x [ahead 1]\n")
	for i := range 50 {
		fmt.Fprintf(&status, " M file%d\n", i)
	}
	run := func(_ context.Context, args ...string) (string, error) {
		if !slices.Contains(args, "core.fsmonitor=false") {
			t.Error("git may start a program that the repository names")
		}
		if slices.Contains(args, "config") {
			return "", nil
		}
		if slices.Contains(args, "log") {
			return "abc one\nabd " + long + "\n", nil
		}
		return status.String(), nil
	}
	g := ReadGit(context.Background(), run)
	if g.Branch != "feat/x" || len(g.Status) != 40 || g.More != 10 || len(g.Commits) != 2 || len([]rune(g.Commits[1])) != 201 {
		t.Errorf("%+v", g)
	}
	if text := g.text(); !strings.Contains(text, "   M file0\n") || !strings.Contains(text, "… and 10 more\n") || !strings.Contains(text, "  abc one\n") {
		t.Error(text)
	}
	broken := func(context.Context, ...string) (string, error) { return "", errors.New("not a repository") }
	if ReadGit(context.Background(), broken) != nil {
		t.Error("state without a repository")
	}
	empty := func(_ context.Context, args ...string) (string, error) {
		if slices.Contains(args, "log") {
			return "", errors.New("no commits")
		}
		return "## No commits yet on main\n", nil
	}
	if g := ReadGit(context.Background(), empty); g.Branch != "main" || g.Commits != nil || g.More != 0 {
		t.Errorf("%+v", g)
	}
}

func TestBranchOf(t *testing.T) {
	for in, want := range map[string]string{
		"## main": "main", "## a/b...o/a/b": "a/b", "## HEAD (no branch)": "HEAD", "": "HEAD", "junk": "HEAD", "## ": "HEAD",
		"## Initial commit on x": "x", "## m...o/m [gone]": "m", "## No commits yet on main...origin/main": "main",
	} {
		if got := branchOf(in); got != want {
			t.Errorf("branchOf(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestContext(t *testing.T) {
	at := time.Date(2026, 11, 30, 23, 0, 0, 0, time.UTC)
	files := []memory.File{{Path: "/h/CLAUDE.md", Scope: memory.User, Text: "u"}, {Path: "/w/AGENTS.md", Scope: memory.Project, Text: "p"}}
	m := Context("id", at, files)
	text := m.Text()
	if !m.Meta || m.ID != "id" || string(m.JSON()) != string(Context("id", at, files).JSON()) {
		t.Errorf("%+v", m)
	}
	for _, want := range []string{
		"<system-reminder>\n", "\nContents of /h/CLAUDE.md (the user's private instructions for all projects):\n\nu\n\n",
		"Contents of /w/AGENTS.md (project instructions, checked into the repository):\n\np\n\n", "Today's date is 2026-11-30.\n</system-reminder>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
	if strings.Index(text, "/h/") > strings.Index(text, "/w/") {
		t.Error("order")
	}
	if got := Context("id", at, nil).Text(); got != "<system-reminder>\nToday's date is 2026-11-30.\n</system-reminder>" {
		t.Error(got)
	}
}
