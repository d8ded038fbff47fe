package memory

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree makes files below a temporary folder and returns its real path.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func found(t *testing.T, root string, c Config) []string {
	t.Helper()
	in := Load(c)
	return shown(t, root, in.Files(), in.Notes())
}

func shown(t *testing.T, root string, files []File, notes []Note) []string {
	t.Helper()
	var out []string
	for _, f := range files {
		rel, err := filepath.Rel(root, f.Path)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(f.Scope)+" "+filepath.ToSlash(rel)+" "+f.Text)
	}
	for _, n := range notes {
		if n.Quiet {
			continue
		}
		rel, _ := filepath.Rel(root, n.Path)
		out = append(out, "note "+filepath.ToSlash(rel)+" "+n.Text)
	}
	return out
}

func TestOrder(t *testing.T) {
	root := tree(t, map[string]string{
		"etc/CLAUDE.md": "m", "home/CLAUDE.md": "u", "home/AGENTS.md": "no",
		"w/CLAUDE.md": "p1", "w/.claude/CLAUDE.md": "p2", "w/CLAUDE.local.md": "l1", "w/AGENTS.md": "no",
		"w/a/AGENTS.md": "p3", "w/a/b/CLAUDE.md": "\ufeff\r\np4\r\nq\r\n\r\n", "w/a/b/CLAUDE.local.md": "l2", "w/a/b/c/CLAUDE.md": "below",
	})
	c := Config{Managed: root + "/etc", Home: root + "/home", Cwd: filepath.Join(root, "w", "a", "b"), Agents: AgentsPerFolder}
	want := []string{
		"Managed etc/CLAUDE.md m", "User home/CLAUDE.md u", "Project w/CLAUDE.md p1", "Project w/.claude/CLAUDE.md p2", "Local w/CLAUDE.local.md l1",
		"Project w/a/AGENTS.md p3", "Project w/a/b/CLAUDE.md p4\nq", "Local w/a/b/CLAUDE.local.md l2",
	}
	if d := cmp.Diff(want, found(t, root, c)); d != "" {
		t.Error(d)
	}
	c.Without = []Scope{Project, Local}
	if d := cmp.Diff(want[:2], found(t, root, c)); d != "" {
		t.Error(d)
	}
	c.Without = nil
	c.Exclude = []string{root + "/w/**", root + "/etc/*.md", "[bad"}
	if d := cmp.Diff(want[:2], found(t, root, c)); d != "" {
		t.Errorf("excluded: %s", d)
	}
	c.Managed, c.ManagedText = "", " from settings\n"
	if files := Load(c).Files(); len(files) != 2 || files[0].Path != "managed settings" || files[0].Text != "from settings" {
		t.Errorf("managed text: %v", files)
	}
}

func TestAgentsModes(t *testing.T) {
	root := tree(t, map[string]string{"w/CLAUDE.md": "c", "w/AGENTS.md": "a1", "w/sub/AGENTS.md": "a2", "v/AGENTS.md": "a3"})
	c1, a1, a2, a3 := "Project w/CLAUDE.md c", "Project w/AGENTS.md a1", "Project w/sub/AGENTS.md a2", "Project v/AGENTS.md a3"
	for mode, want := range map[AgentsMode][2][]string{
		AgentsPerFolder:  {{c1, a2}, {a3}},
		AgentsPerProject: {{c1}, {a3}},
		AgentsAlways:     {{c1, a1, a2}, {a3}},
		AgentsNever:      {{c1}, nil},
	} {
		for i, dir := range []string{"w/sub", "v"} {
			got := found(t, root, Config{Cwd: filepath.Join(root, filepath.FromSlash(dir)), Agents: mode})
			if d := cmp.Diff(want[i], got); d != "" {
				t.Errorf("mode %d in %s: %s", mode, dir, d)
			}
		}
	}
}

// TestHomeAboveTheProject: the user's file is met again on the way down and is
// neither read twice nor taken for a project's.
func TestHomeAboveTheProject(t *testing.T) {
	root := tree(t, map[string]string{"h/.claude/CLAUDE.md": "u", "h/AGENTS.md": "a", "h/w/x.txt": ""})
	got := found(t, root, Config{Home: filepath.Join(root, "h", ".claude"), Cwd: filepath.Join(root, "h", "w")})
	if d := cmp.Diff([]string{"User h/.claude/CLAUDE.md u", "Project h/AGENTS.md a"}, got); d != "" {
		t.Error(d)
	}
}

func TestUnusableFiles(t *testing.T) {
	root := tree(t, map[string]string{
		"a/CLAUDE.md": "x\x00y", "a/b/CLAUDE.md": "\xff\xfea\x01", "a/b/c/CLAUDE.md": strings.Repeat("x", maxFile+1),
		"a/b/c/d/CLAUDE.md": " \n\t", "a/b/c/d/e/CLAUDE.md/x": "", "a/b/c/d/e/f/CLAUDE.md": "good",
	})
	dir := filepath.Join(root, "a/b/c/d/e/f")
	if runtime.GOOS != "windows" {
		if err := os.Symlink(filepath.Join(dir, "CLAUDE.md"), filepath.Join(dir, "CLAUDE.local.md")); err != nil {
			t.Fatal(err)
		}
	}
	got := found(t, root, Config{Cwd: dir})
	want := []string{"Project a/b/c/d/e/f/CLAUDE.md good", "note a/CLAUDE.md it is binary", "note a/b/CLAUDE.md it is not UTF-8", "note a/b/c/CLAUDE.md it has 4194305", "note a/b/c/d/e/CLAUDE.md read"}
	if len(got) != len(want) {
		t.Fatalf("%q", got)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("got %q, want %q", got[i], want[i])
		}
	}
}

func TestTotalIsBounded(t *testing.T) {
	big := strings.Repeat("x", maxFile)
	root := tree(t, map[string]string{"CLAUDE.md": big, "a/CLAUDE.md": big, "a/b/CLAUDE.md": big, "a/b/c/CLAUDE.md": "small"})
	in := Load(Config{Cwd: filepath.Join(root, "a", "b", "c")})
	files, notes := in.Files(), in.Notes()
	if len(files) != 2 || len(notes) != 2 || !strings.Contains(notes[0].String(), "exceed 8 MB") {
		t.Errorf("%d files, %v", len(files), notes)
	}
}

func TestLinksOutOfAnUntrustedCheckout(t *testing.T) {
	root := tree(t, map[string]string{"key": "secret", "up/real.md": "above", "up/w/docs/agents.md": "inside", "up/w/x/a.txt": ""})
	for link, to := range map[string]string{"up/CLAUDE.md": "real.md", "up/w/CLAUDE.md": "../../key", "up/w/CLAUDE.local.md": "docs/agents.md", "up/w/.claude": "../../up"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Skip("left out: links out of a checkout (needs symbolic links): ", err)
		}
	}
	if err := os.Mkdir(filepath.Join(root, "up", "w", ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := Config{Cwd: filepath.Join(root, "up", "w", "x"), Untrusted: true}
	out := filepath.Join(root, "key")
	want := []string{
		"Project up/CLAUDE.md above", "Local up/w/CLAUDE.local.md inside",
		"note up/w/CLAUDE.md it links to " + out + ", outside this folder, which is not trusted (see hew trust)",
	}
	if d := cmp.Diff(want, found(t, root, c)); d != "" {
		t.Error(d)
	}
	c.Untrusted = false
	want = []string{"Project up/CLAUDE.md above", "Project up/w/CLAUDE.md secret", "Local up/w/CLAUDE.local.md inside"}
	if d := cmp.Diff(want, found(t, root, c)); d != "" {
		t.Error(d)
	}
}
