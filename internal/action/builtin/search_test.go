package builtin

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/backend/search"
	"github.com/hew-agent/hew/internal/tool"
)

// tree is a small project whose files were modified one after the other.
func tree(b *bench) {
	for i, f := range [][2]string{
		{"b.go", "package b\nfunc B() {}\n"},
		{"a.go", "package a\nfunc A() {}\n// func\n"},
		{"sub/c.go", "package c\n\nvar x = 1\nfunc C() {}\nvar y = 2\n"},
		{"sub/d.txt", "Func in text\n"},
		{"ignored.go", "func ignored() {}\n"},
		{".gitignore", "ignored.go\n"},
	} {
		p := b.write(f[0], f[1])
		at := time.Unix(1_700_000_000+int64(i)*100, 0)
		if err := os.Chtimes(p, at, at); err != nil {
			b.t.Fatal(err)
		}
	}
	if err := os.Mkdir(b.path(".git"), 0o755); err != nil {
		b.t.Fatal(err)
	}
}

func lines(s ...string) string { return strings.Join(s, "\n") }

func sub(name string) string { return filepath.FromSlash(name) }

func TestGlob(t *testing.T) {
	b := newBench(t, Config{})
	tree(b)
	r := b.run("Glob", in{"pattern": "**/*.go"})
	if got, want := text(r), lines("b.go", "a.go", sub("sub/c.go"), "ignored.go"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	d := data(t, r)
	if d["numFiles"] != 4.0 || d["truncated"] != false || d["durationMs"] != 0.0 || len(d["filenames"].([]any)) != 4 {
		t.Errorf("%s", r.Data)
	}
	if got := b.ok("Glob", in{"pattern": "*.txt", "path": b.path("sub")}); got != sub("sub/d.txt") {
		t.Errorf("%q", got)
	}
	if got := b.ok("Glob", in{"pattern": "*.rs"}); got != "No files found" {
		t.Errorf("%q", got)
	}
	b.bad("Glob", in{"pattern": "*", "path": b.path("nope")}, "does not exist")
	b.bad("Glob", in{"pattern": "[", "path": b.dir}, "glob")
	c, err := b.plan("Glob", in{"pattern": "../*.go", "path": b.path("sub")})
	if err != nil || c.Needs()[0].Path != b.dir {
		t.Errorf("a pattern that leads elsewhere needs %v, %v", c.Needs(), err)
	}
	for i := range 130 {
		b.write(fmt.Sprintf("many/f%03d.x", i), "")
	}
	if got := b.ok("Glob", in{"pattern": "*.x"}); strings.Count(got, "\n") != 100 || !strings.HasSuffix(got, "(100 of 130 files shown, 30 not listed: use a more specific pattern or path.)") {
		t.Errorf("%q", got)
	}
}

func TestGrepModes(t *testing.T) {
	b := newBench(t, Config{})
	tree(b)
	c := sub("sub/c.go")
	for name, x := range map[string]struct {
		input in
		want  string
	}{
		"files":          {in{"pattern": "func"}, lines("Found 3 files", c, "a.go", "b.go")},
		"one file":       {in{"pattern": "func B"}, lines("Found 1 file", "b.go")},
		"none":           {in{"pattern": "zzz"}, "No files found"},
		"content":        {in{"pattern": "func", "output_mode": "content"}, lines("a.go:2:func A() {}", "a.go:3:// func", "b.go:2:func B() {}", c+":4:func C() {}")},
		"no numbers":     {in{"pattern": "func C", "output_mode": "content", "-n": false}, c + ":func C() {}"},
		"context":        {in{"pattern": "func C", "output_mode": "content", "-C": 1}, lines(c+"-3-var x = 1", c+":4:func C() {}", c+"-5-var y = 2")},
		"after":          {in{"pattern": "func C", "output_mode": "content", "-A": 1.0}, lines(c+":4:func C() {}", c+"-5-var y = 2")},
		"only":           {in{"pattern": "fun.", "output_mode": "content", "-o": true, "path": "b.go"}, "b.go:2:func"},
		"count":          {in{"pattern": "func", "output_mode": "count"}, lines("a.go:2", "b.go:1", c+":1", "", "Found 4 matches in 3 files")},
		"ignore case":    {in{"pattern": "func", "-i": true, "glob": "*.txt"}, lines("Found 1 file", sub("sub/d.txt"))},
		"type":           {in{"pattern": "package", "type": "go", "path": "sub"}, lines("Found 1 file", c)},
		"globs":          {in{"pattern": "(?i)func", "glob": "*.{txt,md} b.go"}, lines("Found 2 files", sub("sub/d.txt"), "b.go")},
		"multiline":      {in{"pattern": "package b.func", "multiline": true}, lines("Found 1 file", "b.go")},
		"ignored, named": {in{"pattern": "func", "path": "ignored.go", "output_mode": "content"}, "ignored.go:1:func ignored() {}"},
		"head":           {in{"pattern": "func", "output_mode": "content", "head_limit": 1}, lines("a.go:2:func A() {}", "", "(Showing a part of the results: limit: 1)")},
		"head and skip":  {in{"pattern": "func", "output_mode": "content", "head_limit": 1, "offset": 1}, lines("a.go:3:// func", "", "(Showing a part of the results: limit: 1, offset: 1)")},
		"files cut":      {in{"pattern": "func", "head_limit": 1}, lines("Found 3 files (limit: 1)", c)},
		"count cut":      {in{"pattern": "func", "output_mode": "count", "head_limit": 1}, lines("a.go:2", "", "Found 4 matches in 3 files (limit: 1)")},
		"unlimited":      {in{"pattern": "func", "head_limit": 0}, lines("Found 3 files", c, "a.go", "b.go")},
	} {
		if got := b.ok("Grep", x.input); got != x.want {
			t.Errorf("%s: got %q, want %q", name, got, x.want)
		}
	}
	b.bad("Grep", in{"pattern": "a(", "path": b.dir}, "unclosed group")
	b.bad("Grep", in{"pattern": "a", "type": "golang"}, "unrecognized file type")
	b.bad("Grep", in{"pattern": "a", "path": "nope"}, "does not exist")
	b.bad("Grep", in{"pattern": "a", "output_mode": "lines"}, "must be one of")
	d := data(t, b.run("Grep", in{"pattern": "func", "output_mode": "content", "head_limit": 2, "offset": 1}))
	if d["mode"] != "content" || d["numLines"] != 2.0 || d["appliedLimit"] != 2.0 || d["appliedOffset"] != 1.0 || d["numFiles"] != 2.0 {
		t.Errorf("%v", d)
	}
}

func TestSearchesHideWhatRulesDeny(t *testing.T) {
	hidden := func(tool.Env) func(string) bool {
		return func(p string) bool { return strings.HasSuffix(p, "secret.txt") }
	}
	b := newBench(t, Config{Hidden: hidden})
	b.write("secret.txt", "password")
	b.write("open.txt", "password")
	if got := b.ok("Grep", in{"pattern": "password"}); got != "Found 1 file\nopen.txt" {
		t.Errorf("%q", got)
	}
	if got := b.ok("Glob", in{"pattern": "*.txt"}); got != "open.txt" {
		t.Errorf("%q", got)
	}
}

func TestMissingFileNamesNothingUnreadable(t *testing.T) {
	b := newBench(t, Config{Reading: func(_ tool.Env, p string) tool.Behavior {
		if strings.Contains(p, "secret") {
			return tool.Deny
		}
		return tool.Allow
	}})
	b.write("secret1.txt", "x")
	if s := b.bad("Read", in{"file_path": b.path("secret2.txt")}); strings.Contains(s, "secret1") {
		t.Errorf("%s", s)
	}
}

func TestSkippedFilesAreNamed(t *testing.T) {
	env := tool.Env{Cwd: "/w"}
	if got := skipped(env, nil, 0); got != "" {
		t.Errorf("%q", got)
	}
	got := skipped(env, []search.Skip{{Path: "/w/locked", Err: &fs.PathError{Op: "open", Path: "/w/locked", Err: fs.ErrPermission}}}, 3)
	if got != "\n(3 not searched: locked (permission denied))" {
		t.Errorf("%q", got)
	}
}
