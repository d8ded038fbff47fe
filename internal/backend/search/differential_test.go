package search

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// needRipgrep returns a ripgrep to compare with, or skips the test.
func needRipgrep(t testing.TB) string {
	t.Helper()
	rg := FindRipgrep(os.Getenv("PATH"), ".")
	if rg == "" {
		t.Skip("left out: differential grep test (needs ripgrep)")
	}
	return rg
}

var diffPatterns = []string{
	"foo", "foo|TODO", "TODO", `\bfoo\b`, `caf\b`, `\w+`, `^\s*$`, "", `foo.bar`, `[A-Z]\w+`, `\d+`, `[^a-z\s]+`, `err != nil$`,
	`^foo`, `(foo|bar)+`, `o{2,}`, `\p{Greek}|\p{Han}`, `\S+\.\S+`, `n.ïve`, `t[oO]do`, `[[:upper:]]{2}`, `(?i)kelvin`, `.`, `a.*b`,
	`\bna`, `fé|ß`, `[a-f&&[^b]]1`, `l.tin`, `\x{fffd}`, `\Bo\b`, `x*`, `\r$`, `nosuchthing`, `(?i:stra)ße`, `longline foo`, `http://`,
}

var diffMultiline = []string{`foo\n`, `foo[\s\S]*?bar`, `\n\n`, `bar\s+foo`, `TODO.*\n.*alpha`, `(?-s)foo.*$\n^`, `\s{3,}`, `alpha.*Beta`}

func randomQuery(g *rand.Rand, root string) GrepQuery {
	q := GrepQuery{Root: root, Pattern: diffPatterns[g.IntN(len(diffPatterns))], Mode: Mode(g.IntN(3))}
	q.IgnoreCase = g.IntN(4) == 0
	if g.IntN(4) == 0 {
		q.Multiline = true
		q.Pattern = diffMultiline[g.IntN(len(diffMultiline))]
	}
	q.OnlyMatching = g.IntN(4) == 0
	if g.IntN(3) == 0 && !q.OnlyMatching {
		q.Before, q.After = g.IntN(4), g.IntN(4)
	}
	globs := []string{"*.go", "!*.go", "**/src/**", "*.{go,rs}", "/src/*", "build/", "!lib", "*", "*.log", "deep/*", "a*", "**/*.txt", "[a-m]*"}
	if g.IntN(3) == 0 {
		q.Globs = append(q.Globs, globs[g.IntN(len(globs))])
		if g.IntN(3) == 0 {
			q.Globs = append(q.Globs, globs[g.IntN(len(globs))])
		}
	}
	if g.IntN(5) == 0 {
		q.Type = []string{"go", "rust", "md", "json", "make", "ts", "readme"}[g.IntN(7)]
	}
	if g.IntN(4) == 0 {
		q.HeadLimit, q.Offset = 1+g.IntN(20), g.IntN(5)
	}
	return q
}

// TestDifferentialRipgrep compares the own engine with ripgrep over generated
// trees: the same lines, counts, files, context and totals.
func TestDifferentialRipgrep(t *testing.T) {
	rg := needRipgrep(t)
	isolate(t)
	trees, queries := 6, 30
	if testing.Short() {
		trees = 3
	}
	for tree := range trees {
		g := rand.New(rand.NewPCG(uint64(tree), 1))
		root := realTempDir(t)
		(&treeGrower{g, t}).grow(root, 0)
		if tree%2 == 0 {
			_ = os.Mkdir(filepath.Join(root, ".git"), 0o755)
		}
		for range queries {
			q := randomQuery(g, root)
			if g.IntN(5) == 0 {
				q.Root = subfolder(g, root)
			}
			want, err := ripgrep(context.Background(), rg, &q)
			if err != nil {
				t.Fatalf("tree %d: ripgrep: %v for %+v", tree, err, q)
			}
			got, err := Engine{}.Grep(context.Background(), q)
			if err != nil {
				t.Fatalf("tree %d: own engine: %v for %+v", tree, err, q)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("tree %d, query %s:\n(-ripgrep +own)\n%s", tree, describe(q), clip(d))
			}
		}
	}
}

func subfolder(g *rand.Rand, root string) string {
	var dirs []string
	_ = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && !strings.Contains(path, ".git") {
			dirs = append(dirs, path)
		}
		return nil
	})
	return dirs[g.IntN(len(dirs))]
}

func describe(q GrepQuery) string {
	q.Root = filepath.Base(q.Root)
	q.Exclude = nil
	return fmt.Sprintf("%+v", q)
}

func clip(s string) string { return s[:min(len(s), 3000)] }

// TestDifferentialPlainOutput compares with ripgrep's plain text output, so
// that a fault in reading its JSON cannot hide one in the own engine.
func TestDifferentialPlainOutput(t *testing.T) {
	rg := needRipgrep(t)
	isolate(t)
	root := realTempDir(t)
	g := rand.New(rand.NewPCG(99, 2))
	(&treeGrower{g, t}).grow(root, 0)
	for _, pattern := range diffPatterns {
		cmd := exec.Command(rg, "--no-config", "--null", "-n", "--no-heading", "--glob=!.git", "-e", pattern, "./")
		cmd.Dir = root
		out, _ := cmd.Output()
		var want []string
		for line := range bytes.SplitSeq(out, []byte("\n")) {
			if len(line) > 0 && !bytes.Contains(line, []byte("WARNING: stopped searching binary")) {
				want = append(want, string(line))
			}
		}
		got, err := Engine{}.Grep(context.Background(), GrepQuery{Root: root, Pattern: pattern, Mode: ModeContent, MaxLineBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, l := range got.Lines {
			rel, _ := filepath.Rel(root, l.Path)
			text := fmt.Sprintf("./%s\x00%d:%s", rel, l.Number, l.Text)
			lines = append(lines, strings.Split(text, "\n")...)
		}
		slices.Sort(want)
		slices.Sort(lines)
		if d := cmp.Diff(want, lines); d != "" {
			t.Errorf("pattern %q (-ripgrep +own)\n%s", pattern, clip(d))
		}
	}
}

// TestDifferentialErrors checks that both refuse the same patterns.
func TestDifferentialErrors(t *testing.T) {
	rg := needRipgrep(t)
	dir := realTempDir(t)
	for _, pattern := range []string{
		"(", ")", "[", "[z-a]", "a{2,1}", "*a", "a**", "interface{}", `\1`, `(?=a)`, `(?<!a)`, `(?P<n>a)`, `(?P<>a)`, `[[:alpha:]]`,
		`[[:nope:]]`, `\p{Nope}`, `\pL`, `\x{110000}`, `\xZZ`, `a\`, `(?z)`, `(?i)a`, `(?i-s:a)`, `x{,3}`, `x{3,}`, `{`, `}`, `]`, `\n`, `[]a]`,
		`[^]a]`, `[a-]`, `[-a]`, `[a--b]`, `[\d-z]`, `(?)`, `(?:)`, `()`, `|`, `a||b`, `\d{2}{3}`, `^*`, `\q`, `\e`, `(?x) a # b`, `x{1,}?`, `a{9999999999}`,
	} {
		cmd := exec.Command(rg, "--no-config", "-e", pattern, "./")
		cmd.Dir = dir
		err := cmd.Run()
		refused := err != nil && cmd.ProcessState.ExitCode() == 2
		_, own := compilePattern(GrepQuery{Pattern: pattern})
		if refused != (own != nil) {
			t.Errorf("pattern %q: ripgrep refuses it: %v; own engine says: %v", pattern, refused, own)
		}
	}
}
