package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// render writes a result the way ripgrep prints it, with paths below root.
func render(root string, r GrepResult) string {
	var b strings.Builder
	rel := func(path string) string {
		p, err := filepath.Rel(root, path)
		if err != nil {
			return path
		}
		return filepath.ToSlash(p)
	}
	for _, l := range r.Lines {
		switch l.Kind {
		case LineMatch:
			fmt.Fprintf(&b, "%s:%d:%s\n", rel(l.Path), l.Number, l.Text)
		case LineContext:
			fmt.Fprintf(&b, "%s-%d-%s\n", rel(l.Path), l.Number, l.Text)
		case LineBreak:
			b.WriteString("--\n")
		case LineBinary:
			fmt.Fprintf(&b, "%s: binary\n", rel(l.Path))
		}
	}
	for _, f := range r.Files {
		fmt.Fprintf(&b, "%s:%d\n", rel(f.Path), f.Count)
	}
	return b.String()
}

func mustGrep(t *testing.T, q GrepQuery) GrepResult {
	t.Helper()
	r, err := Engine{}.Grep(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestGrepModes(t *testing.T) {
	isolate(t)
	root := plant(t, map[string]string{
		"a.go":     "one\ntwo foo\nthree\nfour\nfoo bar foo\nsix",
		"b.txt":    "foo\r\nFOO\n",
		"sub/c.go": "caf\u00e9 foo\nbar\n",
	})
	for name, tc := range map[string]struct {
		q    GrepQuery
		want string
	}{
		"content":       {GrepQuery{Pattern: "foo", Mode: ModeContent}, "a.go:2:two foo\na.go:5:foo bar foo\nb.txt:1:foo\r\nsub/c.go:1:caf\u00e9 foo\n"},
		"ignore case":   {GrepQuery{Pattern: "^foo", IgnoreCase: true, Mode: ModeContent, Globs: []string{"b*"}}, "b.txt:1:foo\r\nb.txt:2:FOO\n"},
		"count":         {GrepQuery{Pattern: "foo", Mode: ModeCount}, "a.go:2\nb.txt:1\nsub/c.go:1\n"},
		"only matching": {GrepQuery{Pattern: "foo|ba.", Mode: ModeContent, OnlyMatching: true, Type: "go"}, "a.go:2:foo\na.go:5:foo\na.go:5:bar\na.go:5:foo\nsub/c.go:1:foo\nsub/c.go:2:bar\n"},
		"context":       {GrepQuery{Pattern: "foo", Mode: ModeContent, Before: 1, Globs: []string{"/a.go"}}, "a.go-1-one\na.go:2:two foo\n--\na.go-4-four\na.go:5:foo bar foo\n"},
		"joined":        {GrepQuery{Pattern: "foo", Mode: ModeContent, After: 2, Type: "go"}, "a.go:2:two foo\na.go-3-three\na.go-4-four\na.go:5:foo bar foo\na.go-6-six\n--\nsub/c.go:1:caf\u00e9 foo\nsub/c.go-2-bar\n"},
		"multiline":     {GrepQuery{Pattern: "three.*foo bar", Multiline: true, Mode: ModeContent}, "a.go:3:three\na.go:4:four\na.go:5:foo bar foo\n"},
		"unicode word":  {GrepQuery{Pattern: `caf\b`, Mode: ModeContent}, ""},
		"unicode class": {GrepQuery{Pattern: `^\w+ foo`, Mode: ModeContent}, "a.go:2:two foo\nsub/c.go:1:caf\u00e9 foo\n"},
		"window":        {GrepQuery{Pattern: "foo", Mode: ModeContent, HeadLimit: 2, Offset: 1}, "a.go:5:foo bar foo\nb.txt:1:foo\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			tc.q.Root = root
			if d := cmp.Diff(tc.want, render(root, mustGrep(t, tc.q))); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func TestGrepFilesNewestFirstThenByPath(t *testing.T) {
	isolate(t)
	root := plant(t, map[string]string{"a": "x", "b": "x", "c": "x", "d": "x"})
	now := time.Now()
	for i, name := range []string{"c", "a", "d", "b"} { // a and d share a time
		at := now.Add(-time.Hour * time.Duration((i+1)/2))
		if err := os.Chtimes(filepath.Join(root, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	r := mustGrep(t, GrepQuery{Root: root, Pattern: "x", HeadLimit: 2, Offset: 1})
	if got := render(root, r); got != "a:1\nd:1\n" || r.TotalFiles != 4 || !r.Truncated {
		t.Errorf("got %q, total %d, truncated %v", got, r.TotalFiles, r.Truncated)
	}
}

func TestGrepCountsEverythingWhenCut(t *testing.T) {
	isolate(t)
	root := plant(t, map[string]string{"a": "x\nx\n", "b": "x\n", "c": "x\nx\nx\n"})
	r := mustGrep(t, GrepQuery{Root: root, Pattern: "x", Mode: ModeCount, HeadLimit: 1})
	if got := render(root, r); got != "a:2\n" || r.TotalMatches != 6 || r.TotalFiles != 3 || !r.Truncated {
		t.Errorf("got %q, %+v", got, r)
	}
}

func TestGrepTruncatedOnlyWhenMoreExists(t *testing.T) {
	isolate(t)
	root := plant(t, map[string]string{"a": "x\nx\n", "b": "x\n"})
	for limit, want := range map[int]bool{1: true, 2: true, 3: false, 0: false} {
		r := mustGrep(t, GrepQuery{Root: root, Pattern: "x", Mode: ModeContent, HeadLimit: limit})
		if r.Truncated != want {
			t.Errorf("limit %d: truncated = %v", limit, r.Truncated)
		}
	}
}

func TestGrepCutsLongLines(t *testing.T) {
	isolate(t)
	root := plant(t, map[string]string{"a": "needle" + strings.Repeat("y", 2<<20)})
	r := mustGrep(t, GrepQuery{Root: root, Pattern: "needle", Mode: ModeContent, MaxLineBytes: 100})
	if len(r.Lines) != 1 || len(r.Lines[0].Text) != 100 || r.Lines[0].Omitted != 2<<20+6-100 {
		t.Errorf("got %d lines, omitted %d", len(r.Lines), r.Lines[0].Omitted)
	}
}

func TestGrepExcludeHidesFoldersAndFiles(t *testing.T) {
	isolate(t)
	root := plant(t, map[string]string{"open.txt": "key", "secret/a.txt": "key", "b.key": "key"})
	q := GrepQuery{Root: root, Pattern: "key", Mode: ModeCount, Exclude: func(path string) bool {
		return strings.HasSuffix(path, "secret") || strings.HasSuffix(path, ".key")
	}}
	if got := render(root, mustGrep(t, q)); got != "open.txt:1\n" {
		t.Errorf("got %q", got)
	}
}

func TestGrepIgnoredFileNamedDirectly(t *testing.T) {
	isolate(t)
	root := plant(t, map[string]string{".git/HEAD": "", ".gitignore": "x.log\nout/\n", "x.log": "hit\n", "out/y": "hit\n", "k": "hit\n"})
	if got := render(root, mustGrep(t, GrepQuery{Root: root, Pattern: "hit", Mode: ModeCount})); got != "k:1\n" {
		t.Errorf("tree: %q", got)
	}
	for _, name := range []string{"x.log", "out"} {
		q := GrepQuery{Root: filepath.Join(root, name), Pattern: "hit", Mode: ModeCount}
		if r := mustGrep(t, q); r.TotalMatches != 1 {
			t.Errorf("%s named directly: %+v", name, r)
		}
	}
}

func TestGrepBinaryAndEncodings(t *testing.T) {
	isolate(t)
	root := plant(t, map[string]string{
		"bin":   "some text\nneedle\n\x00\n",
		"u16le": "\xff\xfen\x00e\x00e\x00d\x00l\x00e\x00\n\x00",
		"u16be": "\xfe\xff\x00n\x00e\x00e\x00d\x00l\x00e",
		"bom":   "\ufeffneedle\n",
		"latin": "\xe4 needle \xff\n",
	})
	want := "bom:1:needle\nlatin:1:\xe4 needle \xff\nu16be:1:needle\nu16le:1:needle\n"
	if got := render(root, mustGrep(t, GrepQuery{Root: root, Pattern: "needle", Mode: ModeContent})); got != want {
		t.Errorf("got %q", got)
	}
	if got := render(root, mustGrep(t, GrepQuery{Root: root, Pattern: "^needle", Mode: ModeCount})); got != "bom:1\nu16be:1\nu16le:1\n" {
		t.Errorf("anchored behind the mark: %q", got)
	}
	named := GrepQuery{Root: filepath.Join(root, "bin"), Pattern: "needle", Mode: ModeContent}
	if got := render(root, mustGrep(t, named)); got != "bin: binary\n" {
		t.Errorf("binary file by name: %q", got)
	}
}

func TestGrepErrors(t *testing.T) {
	root := plant(t, map[string]string{"f": "x"})
	var pattern *PatternError
	_, err := Engine{}.Grep(context.Background(), GrepQuery{Root: root, Pattern: "foo("})
	if want := "regex parse error:\n    foo(\n       ^\nerror: unclosed group"; !errors.As(err, &pattern) || err.Error() != want {
		t.Errorf("pattern: %v", err)
	}
	var unknown *UnknownTypeError
	_, err = Engine{}.Grep(context.Background(), GrepQuery{Root: root, Pattern: "x", Type: "tsx"})
	if !errors.As(err, &unknown) || !strings.Contains(err.Error(), "ts") {
		t.Errorf("type: %v", err)
	}
	var glob *GlobError
	if _, err = (Engine{}).Grep(context.Background(), GrepQuery{Root: root, Pattern: "x", Globs: []string{"{a"}}); !errors.As(err, &glob) {
		t.Errorf("glob: %v", err)
	}
	_, err = Engine{}.Grep(context.Background(), GrepQuery{Root: filepath.Join(root, "no"), Pattern: "x"})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing root: %v", err)
	}
	if _, err = (Engine{}).Grep(context.Background(), GrepQuery{Root: "rel", Pattern: "x"}); err == nil {
		t.Error("a relative root was accepted")
	}
}

func TestGrepStopsWithContext(t *testing.T) {
	isolate(t)
	root := plantMany(t, 300)
	ctx, cancel := context.WithCancel(context.Background())
	q := GrepQuery{Root: root, Pattern: "ctx", Exclude: func(string) bool { cancel(); return false }}
	if _, err := (Engine{}).Grep(ctx, q); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := (Engine{}).Glob(ctx, GlobQuery{Root: root, Pattern: "*"}); !errors.Is(err, context.Canceled) {
		t.Errorf("glob: got %v", err)
	}
}

func TestGrepContentEqualsCountOnLargeFile(t *testing.T) {
	isolate(t)
	var b strings.Builder
	for i := range 50_000 { // several buffers
		fmt.Fprintf(&b, "line %d %s\n", i, strings.Repeat("z", i%61))
	}
	root := plant(t, map[string]string{"big": b.String()})
	r := mustGrep(t, GrepQuery{Root: root, Pattern: `\b\d*777\b`, Mode: ModeContent, Before: 2, After: 2})
	matches := 0
	for _, l := range r.Lines {
		if l.Kind == LineBreak {
			continue
		}
		if !strings.HasPrefix(l.Text, fmt.Sprintf("line %d ", l.Number-1)) {
			t.Fatalf("line %d has the text %q", l.Number, l.Text)
		}
		if l.Kind == LineMatch {
			matches++
		}
	}
	if matches != 50 || len(r.Lines) != 50*5+49 {
		t.Errorf("%d matches in %d lines", matches, len(r.Lines))
	}
}
