package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmatcuk/doublestar/v4"
)

func TestWildcard(t *testing.T) {
	for _, tc := range []struct {
		glob, path string
		want       bool
	}{
		{"*.go", "a.go", true},
		{"*.go", "x/a.go", false},
		{"**/*.go", "a.go", true},
		{"**/*.go", "x/y/a.go", true},
		{"a/**/b", "a/b", true},
		{"a/**/b", "a/x/y/b", true},
		{"a/**/b", "ab", false},
		{"a/**", "a", false},
		{"a/**", "a/b/c", true},
		{"**", "x/y", true},
		{"a**b", "axxb", true},
		{"a**b", "ax/b", false},
		{"*.{ts,tsx}", "a.tsx", true},
		{"{a,b/c}/d", "b/c/d", true},
		{"{a,{b,c}}", "c", true},
		{"[!a-c]x", "dx", true},
		{"[^a-c]x", "ax", false},
		{"[]]x", "]x", true},
		{"[a-]x", "-x", true},
		{`\*x`, "*x", true},
		{`\*x`, "ax", false},
		{"?", "\u00e9", true},
		{"[\u00e0-\u00ff]", "\u00e9", true},
		{"*a*b*c", "xaybzc", true},
		{"*a*b*c", "xaybz", false},
		{"**/x/**/y", "x/x/z/y", true},
		{"", "", true},
	} {
		w, err := compileWildcard(tc.glob)
		if err != nil {
			t.Errorf("%s: %v", tc.glob, err)
			continue
		}
		if got := w.match(tc.path); got != tc.want {
			t.Errorf("%s on %s: %v", tc.glob, tc.path, got)
		}
	}
	for _, bad := range []string{"{a", "a}", "[a", `a\`, "[z-a]", strings.Repeat("{a,b}", 20), strings.Repeat("{", 50) + strings.Repeat("}", 50)} {
		if _, err := compileWildcard(bad); err == nil {
			t.Errorf("%.30s was accepted", bad)
		}
	}
}

// TestWildcardEqualsDoublestar compares on patterns that mean the same in
// both dialects (a final "/**" does not).
func TestWildcardEqualsDoublestar(t *testing.T) {
	g := rand.New(rand.NewPCG(3, 3))
	segments := []string{"a", "b", "*", "**", "a*", "*b", "?", "[ab]", "a?b", "*a*"}
	names := []string{"a", "b", "ab", "aab", "ba", "acb"}
	for range 20_000 {
		var glob, path []string
		for range 1 + g.IntN(4) {
			glob = append(glob, segments[g.IntN(len(segments))])
		}
		if glob[len(glob)-1] == "**" {
			glob = append(glob, "*")
		}
		for range 1 + g.IntN(4) {
			path = append(path, names[g.IntN(len(names))])
		}
		pattern, name := strings.Join(glob, "/"), strings.Join(path, "/")
		w, err := compileWildcard(pattern)
		if err != nil {
			t.Fatal(err)
		}
		want, err := doublestar.Match(pattern, name)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.match(name); got != want {
			t.Fatalf("%s on %s: %v, want %v", pattern, name, got, want)
		}
	}
}

func FuzzWildcard(f *testing.F) {
	f.Add("a/**/{b,c}*[!x]", "a/q/bz")
	f.Add(`\[[]-]**`, "x")
	f.Fuzz(func(t *testing.T, glob, path string) {
		w, err := compileWildcard(glob)
		if err != nil {
			return
		}
		w.match(path)
		path = strings.ToValidUTF8(path, "\ufffd")
		// A name that is only quoted matches itself.
		var quoted strings.Builder
		for _, r := range path {
			if strings.ContainsRune(`*?[]{}\,!-`, r) {
				quoted.WriteByte('\\')
			}
			quoted.WriteRune(r)
		}
		if q, err := compileWildcard(quoted.String()); err != nil || !q.match(path) && !strings.Contains(path, "**") {
			t.Fatalf("%q does not match itself: %v", quoted.String(), err)
		}
	})
}

func TestIgnoreRules(t *testing.T) {
	rules := parseIgnore("\ufeff*.log\n!keep.log\n/top\nbuild/\ndocs/*.md\n**/gen/x\n# no\n\\#yes\nspace \nspace2\\ \nfoo/**\n[bad\n*.tmp\r\n")
	for _, tc := range []struct {
		path string
		dir  bool
		want verdict
	}{
		{"a.log", false, ignored},
		{"x/a.log", false, ignored},
		{"x/keep.log", false, allowed},
		{"top", false, ignored},
		{"x/top", false, undecided},
		{"build", true, ignored},
		{"build", false, undecided},
		{"x/build", true, ignored},
		{"docs/a.md", false, ignored},
		{"x/docs/a.md", false, undecided},
		{"gen/x", false, ignored},
		{"a/b/gen/x", false, ignored},
		{"# no", false, undecided},
		{"#yes", false, ignored},
		{"space", false, ignored},
		{"space2 ", false, ignored},
		{"foo", true, undecided},
		{"foo/a", false, ignored},
		{"q.tmp", false, ignored},
	} {
		if got := rules.match(tc.path, tc.dir); got != tc.want {
			t.Errorf("%s (dir %v): %d, want %d", tc.path, tc.dir, got, tc.want)
		}
	}
}

func FuzzParseIgnore(f *testing.F) {
	for _, r := range growRules {
		f.Add(r+"\n!a", "src/a.go")
	}
	f.Fuzz(func(t *testing.T, text, path string) {
		rules := parseIgnore(text)
		got := rules.match(path, true)
		// The index of plain names must not change what the rules say.
		want := undecided
		for _, r := range rules.rules {
			if r.glob.match(path) {
				want = pick(r.allow, allowed, ignored)
			}
		}
		if got != want {
			t.Fatalf("rules %q on %q: %d, one by one %d", text, path, got, want)
		}
	})
}

func globbed(t *testing.T, q GlobQuery) string {
	t.Helper()
	r, err := Engine{}.Glob(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range r.Paths {
		rel, _ := filepath.Rel(q.Root, p)
		out = append(out, filepath.ToSlash(rel))
	}
	return fmt.Sprintf("%s of %d", strings.Join(out, " "), r.Total)
}

func TestGlob(t *testing.T) {
	isolate(t)
	root := plant(t, map[string]string{
		"a.go": "", "b/c.go": "", "b/d.txt": "", ".h/e.go": "", "out/f.go": "", ".git/g.go": "", ".gitignore": "out/\n",
	})
	now := time.Now()
	for i, name := range []string{"out/f.go", "a.go", ".h/e.go", "b/c.go"} {
		at := now.Add(time.Duration(i-10) * time.Hour)
		if err := os.Chtimes(filepath.Join(root, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		q    GlobQuery
		want string
	}{
		"oldest first": {GlobQuery{Pattern: "**/*.go"}, "out/f.go a.go .h/e.go b/c.go of 4"},
		"newest first": {GlobQuery{Pattern: "*.go", Order: NewestFirst}, "b/c.go .h/e.go a.go out/f.go of 4"},
		"limit":        {GlobQuery{Pattern: "*.go", Limit: 2}, "out/f.go a.go of 4"},
		"like grep":    {GlobQuery{Pattern: "**/c*", Rules: IgnoreLikeGrep}, "b/c.go of 1"},
		"subfolder":    {GlobQuery{Pattern: "b/*"}, "b/c.go b/d.txt of 2"},
		"absolute":     {GlobQuery{Pattern: root + "/b/*.go"}, "b/c.go of 1"},
		"file":         {GlobQuery{Pattern: root + "/a.go"}, "a.go of 1"},
		"gone":         {GlobQuery{Pattern: root + "/nope/*.go"}, " of 0"},
		"exclude":      {GlobQuery{Pattern: "*.go", Exclude: func(p string) bool { return filepath.Base(p) == "b" }}, "out/f.go a.go .h/e.go of 3"},
		"braces":       {GlobQuery{Pattern: "b/*.{go,txt}"}, "b/c.go b/d.txt of 2"},
	} {
		t.Run(name, func(t *testing.T) {
			tc.q.Root = root
			if got := globbed(t, tc.q); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestSplitGlob(t *testing.T) {
	for _, tc := range [][4]string{
		{"/p", "**/*.go", "/p", "**/*.go"},
		{"/p", "./x/*", "/p", "x/*"},
		{"/p", "../q/*.go", "/q", "/*.go"},
		{"/p", "/etc/*.conf", "/etc", "/*.conf"},
		{"/p", "/etc/{a,b}/c", "/etc", "/{a,b}/c"},
		{"/p/q", "..", "/p", "**"},
		{"/p", "/etc/", "/etc", "**"},
	} {
		root, rest := SplitGlob(tc[0], tc[1])
		if got := []string{filepath.ToSlash(root), rest}; !slices.Equal(got, tc[2:]) && os.PathSeparator == '/' {
			t.Errorf("SplitGlob(%q, %q) = %q", tc[0], tc[1], got)
		}
	}
}

func TestGlobalExcludes(t *testing.T) {
	isolate(t)
	home := os.Getenv("HOME")
	write(t, filepath.Join(home, ".gitconfig"), "[core]\n\texcludesFile = ~/my-ignore\n")
	write(t, filepath.Join(home, "my-ignore"), "*.bak\n")
	root := plant(t, map[string]string{".git/info/exclude": "local.txt\n", "a.bak": "hit", "local.txt": "hit", "k": "hit"})
	if got := render(root, mustGrep(t, GrepQuery{Root: root, Pattern: "hit", Mode: ModeCount})); got != "k:1\n" {
		t.Errorf("got %q", got)
	}
}

func TestFilesLeavesOutWhatIsIgnored(t *testing.T) {
	isolate(t)
	root := plant(t, map[string]string{
		".git/HEAD": "ref", ".gitignore": "dist/\n*.log\n", "main.go": "", ".github/ci.yml": "", "dist/out.js": "", "a/b.log": "", "a/c.go": "",
	})
	found := make(chan string, 10)
	if err := Files(context.Background(), root, func(path string) { found <- path }); err != nil {
		t.Fatal(err)
	}
	close(found)
	var got []string
	for path := range found {
		got = append(got, path)
	}
	slices.Sort(got)
	if want := []string{".github/ci.yml", ".gitignore", "a/c.go", "main.go"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if err := Files(context.Background(), filepath.Join(root, "main.go"), func(string) {}); err == nil {
		t.Error("a file is listed as a folder")
	}
}
