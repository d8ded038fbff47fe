package memory

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestScan(t *testing.T) {
	for text, want := range map[string]string{
		"see @a.md and @./b.md, @~/c.md @/d.md": "a.md ./b.md, ~/c.md /d.md",
		"mail me@x.org, a@b.md, @@x, x/@y":      "",
		"(@a.md) \"@b.md\" **@c.md**":           "a.md) b.md c.md",
		"`@a.md` ``@b`@c`` @d.md":               "d.md",
		"`@a.md\nstill code` @b.md":             "b.md",
		"a ` alone @a.md":                       "a.md",
		"```\n@a.md\n```\n@b.md":                "b.md",
		"~~~~ md\n@a.md\n~~~\n@b.md\n~~~~\n@c":  "c",
		"```\n@never closed.md":                 "",
		"> ```\n> @a.md\n> ```\n> @b.md":        "b.md",
		"```not a fence``` @a.md":               "a.md",
		"x\n\n    @code.md\n\ny @b.md":          "b.md",
		"    @first.md":                         "",
		"- item\n\n    @part-of-item.md":        "part-of-item.md",
		"words\n    @lazy.md":                   "lazy.md",
		"<!-- @a.md -->\n@b.md":                 "b.md",
		"x <!-- @a.md --> @b.md":                "b.md",
		"x <!-- @a.md":                          "a.md",
		`@my\ notes/a.md and \@b.md`:            "my notes/a.md",
		"@a.md#part @-x @é.md @~user @/":        "a.md -x é.md",
		"@" + strings.Repeat("x", 2000):         "",
	} {
		_, got := scan(text)
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%q includes %q, want %q", text, s, want)
		}
	}
}

func TestBlockCommentsAreNotShown(t *testing.T) {
	for text, want := range map[string]string{
		"a\n<!-- for people\n\nonly -->\nb":         "a\nb",
		"<!-- x --> b":                              "b",
		"a <!-- inline -->":                         "a <!-- inline -->",
		"```\n<!-- code -->\n```":                   "```\n<!-- code -->\n```",
		"<!-- not closed\nb":                        "<!-- not closed\nb",
		"<!-- 1 --><!-- 2 -->\nb":                   "b",
		"    <!-- indented @x.md -->":               "<!-- indented @x.md -->",
		"a\n" + strings.Repeat("<!--\n", 200) + "b": "a\n" + strings.Repeat("<!--\n", 200) + "b",
	} {
		if got, _ := scan(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// Whatever a text is, it is read in one pass, shows nothing that is not in it,
// and includes nothing that it does not name.
func FuzzScan(f *testing.F) {
	for _, s := range []string{"@a `@b` <!-- @c -->\n```\n@d\n```\n", "<!--\n<!--\n-->", "- x\n\n\t@a\\ b", "> ~~~\n@\x00é@\\", strings.Repeat("`", 9) + "@a" + strings.Repeat("`", 8)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		clean, includes := scan(text)
		if len(clean) > len(text) || strings.Count(clean, "@") > strings.Count(text, "@") {
			t.Errorf("%q became %q", text, clean)
		}
		if len(includes) > strings.Count(text, "@") {
			t.Errorf("%q includes %q", text, includes)
		}
		for _, name := range includes {
			if name == "" || strings.ContainsAny(name, "\n\t`") || !strings.Contains(strings.ReplaceAll(text, `\ `, " "), name) {
				t.Errorf("%q includes %q", text, name)
			}
		}
		if again, _ := scan(text); again != clean {
			t.Errorf("%q read twice differs", text)
		}
	})
}

func TestIncludes(t *testing.T) {
	root := tree(t, map[string]string{
		"h/u.md": "by tilde", "h/.claude/CLAUDE.md": "user @../../out/secret.md", "out/secret.md": "outside",
		"w/CLAUDE.md":      "p @docs/a.md, @missing.md @./b.md and @~/u.md @" + "ABS/w/c.md `@code.md` @docs",
		"w/docs/a.md":      "a @../CLAUDE.md @deep/1.md",
		"w/docs/deep/1.md": "one @2.md", "w/docs/deep/2.md": "two @3.md", "w/docs/deep/3.md": "three @4.md", "w/docs/deep/4.md": "four",
		"w/b.md": "b", "w/c.md": "c", "w/code.md": "no", "w/.git/HEAD": "",
		"w/sub/CLAUDE.md": "s @../b.md @../../out/secret.md",
	})
	t.Setenv("HOME", filepath.Join(root, "h"))
	t.Setenv("USERPROFILE", filepath.Join(root, "h"))
	rewrite(t, filepath.Join(root, "w", "CLAUDE.md"), "ABS", filepath.ToSlash(root))
	c := Config{Home: filepath.Join(root, "h", ".claude"), Cwd: filepath.Join(root, "w", "sub")}
	got := names2(t, root, Load(c))
	want := []string{
		"User h/.claude/CLAUDE.md", "User out/secret.md", "Project w/CLAUDE.md", "Project w/docs/a.md", "Project w/docs/deep/1.md", "Project w/docs/deep/2.md", "Project w/docs/deep/3.md",
		"Project w/b.md", "Project w/c.md", "Project w/sub/CLAUDE.md",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	in := Load(c)
	var told []string
	for _, n := range in.Notes() {
		rel, _ := filepath.Rel(root, n.Path)
		told = append(told, filepath.ToSlash(rel)+" "+strings.ReplaceAll(n.Text, root, ""))
	}
	want = []string{
		"w/docs/deep/4.md /w/docs/deep/3.md includes it, and includes go 4 files deep",
		"w/missing.md it is included by /w/CLAUDE.md and does not exist",
		"h/u.md /w/CLAUDE.md includes it from outside this project, which needs your yes (see hew trust)",
		"w/docs read " + "/w/docs: is a directory, not a file",
		"out/secret.md /w/sub/CLAUDE.md includes it from outside this project, which needs your yes (see hew trust)",
	}
	if d := cmp.Diff(want, told); d != "" {
		t.Error(d)
	}
	if out := in.Outside(); len(out) != 2 || out[0].Real != filepath.Join(root, "h", "u.md") || out[1].Name != "../../out/secret.md" {
		t.Errorf("outside: %v", out)
	}
	c.Outside = func(real string) bool { return real == filepath.Join(root, "h", "u.md") }
	if got := names2(t, root, Load(c)); !strings.Contains(strings.Join(got, ","), "Project h/u.md") {
		t.Errorf("agreed to and not read: %v", got)
	}
}

func rewrite(t *testing.T, path, old, text string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(raw), old, text)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func names2(t *testing.T, root string, in *Instructions) []string {
	t.Helper()
	return brief(t, root, in.Files())
}

func brief(t *testing.T, root string, files []File) []string {
	t.Helper()
	var out []string
	for _, f := range files {
		rel, err := filepath.Rel(root, f.Path)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(f.Scope)+" "+filepath.ToSlash(rel))
	}
	return out
}

// However many names a file includes, only so many are looked up, and it is said.
func TestIncludesAreBounded(t *testing.T) {
	root := tree(t, map[string]string{"CLAUDE.md": strings.Repeat("@no/such ", 50_000)})
	in := Load(Config{Cwd: root})
	told := 0
	for _, n := range in.Notes() {
		if !n.Quiet {
			told++
		}
	}
	if len(in.Files()) != 1 || told != 1 {
		t.Errorf("%d files, %d notes", len(in.Files()), told)
	}
}
