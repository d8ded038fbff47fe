package memory

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hew-agent/hew/internal/backend/frontmatter"
)

func TestRulesAndNestedFiles(t *testing.T) {
	root := tree(t, map[string]string{
		"h/.claude/CLAUDE.md": "u", "h/.claude/rules/all.md": "ur", "h/.claude/rules/go.md": "---\npaths: '**/*.go'\n---\nuser go",
		"w/.git/HEAD": "", "w/CLAUDE.md": "p", "w/.claude/rules/b.md": "b", "w/.claude/rules/a/deep.md": "---\nowner: x\n---\ndeep",
		"w/.claude/rules/ts.md":     "---\npaths:\n  - src/**/*.{ts,tsx}\n  - \"[bad\"\n---\nts @../../ts-more.md",
		"w/.claude/rules/note.txt":  "no rule",
		"w/.claude/rules/sloppy.md": "---\npaths: **/*.sloppy\nx: [\n---\nsloppy",
		"w/CLAUDE.local.md":         "l", "w/ts-more.md": "more",
		"w/src/CLAUDE.md": "src", "w/src/CLAUDE.local.md": "srcl", "w/src/.claude/rules/n.md": "nested rule", "w/src/.claude/rules/p.md": "---\npaths: ui/*.ts\n---\nui",
		"w/src/ui/AGENTS.md": "not read", "w/src/ui/x.ts": "", "w/src/main.go": "", "o/x.go": "",
	})
	c := Config{Home: filepath.Join(root, "h", ".claude"), Cwd: filepath.Join(root, "w")}
	in := Load(c)
	want := []string{
		"User h/.claude/CLAUDE.md u", "User h/.claude/rules/all.md ur", "Project w/CLAUDE.md p",
		"Project w/.claude/rules/a/deep.md deep", "Project w/.claude/rules/b.md b", "Local w/CLAUDE.local.md l",
	}
	got := shown(t, root, in.Files(), in.Notes())
	if d := cmp.Diff(want, got[:len(want)]); d != "" {
		t.Error(d)
	}
	if n := got[len(want):]; len(n) != 1 || !strings.HasPrefix(n[0], "note w/.claude/rules/sloppy.md its front matter is not valid YAML") {
		t.Errorf("notes %q", n)
	}
	read := func(name string) []string {
		files, notes := in.Read(filepath.Join(root, filepath.FromSlash(name)))
		return shown(t, root, files, notes)
	}
	steps := []struct {
		name string
		want []string
	}{
		{"o/x.go", nil},
		{"w/README.md", nil},
		{"w/src/ui/x.ts", []string{"Project w/src/CLAUDE.md src", "Project w/src/.claude/rules/n.md nested rule", "Local w/src/CLAUDE.local.md srcl", "Project w/.claude/rules/ts.md ts @../../ts-more.md", "Project w/ts-more.md more", "Project w/src/.claude/rules/p.md ui"}},
		{"w/src/ui/x.ts", nil},
		{"w/src/main.go", []string{"User h/.claude/rules/go.md user go"}},
		{"w/x.sloppy", []string{"Project w/.claude/rules/sloppy.md sloppy"}},
	}
	for _, s := range steps {
		if d := cmp.Diff(s.want, read(s.name)); d != "" {
			t.Errorf("after %s: %s", s.name, d)
		}
	}
	in.Forget()
	if d := cmp.Diff(steps[2].want, read("w/src/ui/x.ts")); d != "" {
		t.Errorf("after a compaction: %s", d)
	}
	if len(in.Waiting()) != 2 {
		t.Errorf("waiting: %v", in.Waiting())
	}
	c.Without = []Scope{Project}
	in = Load(c)
	if d := cmp.Diff([]string{"Local w/src/CLAUDE.local.md srcl"}, read("w/src/ui/x.ts")); d != "" {
		t.Errorf("without the project's: %s", d)
	}
}

func TestNestedAgentsFiles(t *testing.T) {
	root := tree(t, map[string]string{"w/AGENTS.md": "a", "w/sub/AGENTS.md": "b", "w/sub/x": "", "w/both/AGENTS.md": "no", "w/both/CLAUDE.md": "c", "w/both/x": ""})
	in := Load(Config{Cwd: filepath.Join(root, "w")})
	files, _ := in.Read(filepath.Join(root, "w", "sub", "x"))
	more, _ := in.Read(filepath.Join(root, "w", "both", "x"))
	want := []string{"Project w/sub/AGENTS.md", "Project w/both/CLAUDE.md"}
	if d := cmp.Diff(want, brief(t, root, append(files, more...))); d != "" {
		t.Error(d)
	}
	if f := files[0]; f.Reason != Nested || f.Trigger != filepath.Join(root, "w", "sub", "x") {
		t.Errorf("%+v", f)
	}
}

func TestFurtherWorkingDirectories(t *testing.T) {
	root := tree(t, map[string]string{"w/x": "", "o/CLAUDE.md": "o", "o/sub/CLAUDE.md": "os", "o/sub/x": "", "CLAUDE.md": "top"})
	in := Load(Config{Cwd: filepath.Join(root, "w"), Roots: []string{filepath.Join(root, "o")}})
	files, _ := in.Read(filepath.Join(root, "o", "sub", "x"))
	want := []string{"Project CLAUDE.md", "Project o/CLAUDE.md", "Project o/sub/CLAUDE.md"}
	if d := cmp.Diff(want, brief(t, root, append(in.Files(), files...))); d != "" {
		t.Error(d)
	}
}

func TestFoldersOfRulesThatLeadInCircles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("left out: circles of links (needs symbolic links)")
	}
	root := tree(t, map[string]string{"w/.claude/rules/a/x.md": "x", "far/y.md": "y", "w/.git/HEAD": ""})
	for link, to := range map[string]string{
		"w/.claude/rules/a/up": "..", "w/.claude/rules/self.md": "self.md", "w/.claude/rules/far": "../../../far", "w/.claude/rules/gone.md": "gone",
		"w/.claude/rules/dir.md": "a",
	} {
		if err := os.Symlink(to, filepath.Join(root, filepath.FromSlash(link))); err != nil {
			t.Fatal(err)
		}
	}
	in := Load(Config{Cwd: filepath.Join(root, "w")})
	if d := cmp.Diff([]string{"Project w/.claude/rules/a/x.md", "Project w/.claude/rules/far/y.md"}, brief(t, root, in.Files())); d != "" {
		t.Error(d)
	}
	if len(in.Notes()) != 2 {
		t.Errorf("notes: %v", in.Notes())
	}
	in = Load(Config{Cwd: filepath.Join(root, "w"), Untrusted: true})
	if d := cmp.Diff([]string{"Project w/.claude/rules/a/x.md"}, brief(t, root, in.Files())); d != "" {
		t.Errorf("untrusted: %s", d)
	}
}

func TestBraces(t *testing.T) {
	wide := strings.Repeat("{a,b}", 12)
	for glob, want := range map[string]string{
		"src/*.{ts,tsx}": "src/*.ts src/*.tsx", "./a": "a", "{a,{b,c}}/{d,e}": "a/d a/e b/d b/e c/d c/e",
		"{a": `\{a`, "a}": `a\}`, "{a}": `\{a\}`, `\{a,b\}`: `\{a,b\}`, "{,x}y": "y xy", wide: literal(wide),
	} {
		if got := strings.Join(braces(glob), " "); got != want {
			t.Errorf("%s: %s, want %s", glob, got, want)
		}
	}
}

// Whatever a rule says, reading it ends, and covers never panics.
func FuzzRule(f *testing.F) {
	for _, s := range []string{"---\npaths: [a, 'b{c,d}']\n---\nx", "---\npaths:\n- \"[\"\n- **/{a,b}{c,d}\n---\n@x", "---\npaths: {a: 1}\n", "---\n---\n---"} {
		f.Add(s, "a/b.go")
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		l := &loader{c: Config{Cwd: "/w"}, disk: &Disk{}, root: "/w", seen: map[string]bool{}}
		file := File{Path: "/w/r.md", Scope: User, Text: text}
		now := l.ruled(&file, "/w/r.md", origin{rule: true, base: "/w"})
		if now == (len(l.waiting) == 1) {
			t.Fatal("a rule either counts or waits")
		}
		if now && len(frontmatter.Parse([]byte(text)).List("paths")) > 0 {
			t.Error("a rule with paths counts at once")
		}
		for _, r := range l.waiting {
			if len(r.patterns) > maxPatterns+len(r.file.Globs) {
				t.Errorf("%d patterns", len(r.patterns))
			}
			r.covers(filepath.Join("/w", name))
		}
	})
}
