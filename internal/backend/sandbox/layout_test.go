package sandbox

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// place makes files (and folders, where the name ends with a slash) in a new folder.
func place(t *testing.T, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(root, name)
		if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(path, 0o755)
		} else {
			err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// picture is a layout with the root's name taken out.
func picture(t *testing.T, p Policy, root string) []string {
	t.Helper()
	p, err := p.resolved()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, s := range p.layout("") {
		if !within(s.Path, root) {
			continue
		}
		out = append(out, strings.TrimSpace(string(s.Do)+" "+strings.TrimPrefix(s.Path, root)+" "+s.Make))
	}
	return out
}

func needPosix(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("left out: layouts (needs a system with a sandbox)")
	}
}

func TestLayout(t *testing.T) {
	needPosix(t)
	root := place(t, map[string]string{
		"w/.git/config": "", "w/.git/hooks/": "", "w/.git/modules/m/config": "", "w/.envrc": "", "w/.claude/x": "", "w/deep/secret": "", "tmp/": "",
		"h/.ssh/id": "", "h/.config/gh/hosts.yml": "", "h/more/": "", "w/own/": "",
	})
	at := func(s string) string { return filepath.Join(root, s) }
	got := picture(t, Policy{
		Roots: []string{at("w")}, Tmp: at("tmp"), Home: at("h"), Write: []string{at("h/more"), at("w/.claude/x"), at("gone")},
		Protect: []string{at("w/own"), at("h/.claude")}, DenyRead: []string{at("w/deep/*")}, AllowRead: []string{at("h/.config/gh/hosts.yml")},
	}, root)
	want := []string{
		"rw /tmp", "rw /w",
		"rw /h/more", "hide /h/.ssh",
		"ro /w/.claude", "ro /w/.envrc", "pin /w/.git", "ro /w/.idea dir", "ro /w/.mcp.json dir", "ro /w/.vscode dir", "ro /w/HEAD dir", "pin /w/deep", "ro /w/own",
		"hide /h/.config/gh", "ro /w/.git/config", "ro /w/.git/hooks", "hide /w/deep/secret",
		"ro /h/.config/gh/hosts.yml", "ro /w/.git/modules/m/config",
	}
	// Within one depth the order does not matter, and the pins of modules are not the point.
	got = slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(s, "pin /w/.git/modules") })
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestLayoutWithoutRepository(t *testing.T) {
	needPosix(t)
	root := place(t, nil)
	got := picture(t, Policy{Roots: []string{root}}, root)
	if !slices.Contains(got, "ro /.git dir") {
		t.Errorf("nothing holds .git: %q", got)
	}
	bare := place(t, map[string]string{"HEAD": "", "objects/": "", "refs/": "", "config": ""})
	got = picture(t, Policy{Roots: []string{bare}}, bare)
	if !slices.Contains(got, "ro /config") || !slices.Contains(got, "ro /hooks dir") {
		t.Errorf("a bare repository's settings are open: %q", got)
	}
}

// TestWorktree: the shared folder of a linked worktree is writable, but only
// where it knows the worktree.
func TestWorktree(t *testing.T) {
	needPosix(t)
	root := place(t, map[string]string{"main/.git/worktrees/w/commondir": "../..", "main/.git/config": "", "main/.git/hooks/": "", "w/": "", "evil/": ""})
	mark := "gitdir: " + root + "/main/.git/worktrees/w\n"
	for path, text := range map[string]string{"w/.git": mark, "evil/.git": mark, "main/.git/worktrees/w/gitdir": root + "/w/.git\n"} {
		if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := picture(t, Policy{Roots: []string{root + "/w"}}, root)
	for _, want := range []string{"rw /main/.git", "ro /main/.git/hooks", "ro /main/.git/config", "ro /w/.git"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is missing in %q", want, got)
		}
	}
	for _, s := range picture(t, Policy{Roots: []string{root + "/evil"}}, root) {
		if strings.Contains(s, "main") {
			t.Errorf("a .git file that came with a folder opened %q", s)
		}
	}
}

func TestResolved(t *testing.T) {
	needPosix(t)
	root := place(t, map[string]string{"real/": ""})
	if err := os.Symlink("real", root+"/link"); err != nil {
		t.Fatal(err)
	}
	p, err := Policy{Roots: []string{root + "/link"}, Write: []string{root + "/not/there"}}.resolved()
	if err != nil || len(p.Roots) != 1 || p.Roots[0] != root+"/real" || len(p.Write) != 0 {
		t.Errorf("%+v %v", p, err)
	}
	if _, err := (Policy{Write: []string{"rel"}}).resolved(); err == nil {
		t.Error("a relative path is accepted")
	}
}

func TestSeatbelt(t *testing.T) {
	needPosix(t)
	steps := []step{
		{Path: "/w", Do: expose},
		{Path: "/h/.ssh", Do: hide},
		{Path: "/w/.git", Do: pin},
		{Path: "/w/.claude", Do: freeze, Make: "dir"},
		{Path: `/w/a "quoted" \ name`, Do: freeze},
		{Path: "/h/.ssh/config", Do: freeze},
	}
	got := seatbelt(Policy{}, steps, 3128) + "\n; files open, unix sockets, no network\n" + seatbelt(Policy{FilesOpen: true, UnixSockets: true}, nil, 0)
	golden := "testdata/profile.sb"
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(golden, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the profile has changed (-update writes it):\n%s", got)
	}
	if strings.Count(got, "(") != strings.Count(got, ")") {
		t.Error("parentheses do not match")
	}
}

func TestEnviron(t *testing.T) {
	s := &Sandbox{cfg: Config{Policy: Policy{Tmp: "/t"}, Unset: []string{"TOKEN"}}, relay: &relay{addr: "127.0.0.1:3128"}}
	got := s.environ([]string{"A=1", "TOKEN=x", "TMPDIR=/old", "http_proxy=http://corp", "TOKENS=y"})
	for _, want := range []string{"A=1", "TOKENS=y", "TMPDIR=/t", "http_proxy=http://127.0.0.1:3128", "HTTPS_PROXY=http://127.0.0.1:3128"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing in %q", want, got)
		}
	}
	for _, e := range got {
		if strings.HasPrefix(e, "TOKEN=") || e == "TMPDIR=/old" || strings.Contains(e, "corp") {
			t.Errorf("%s is still there", e)
		}
	}
}
