package builtin

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/tool"
)

func TestReadText(t *testing.T) {
	b := newBench(t, Config{})
	p := b.write("a.txt", "one\ntwo\nthree\n")
	r := b.run("Read", in{"file_path": p})
	if text(r) != "1\tone\n2\ttwo\n3\tthree\n4\t" {
		t.Errorf("%q", text(r))
	}
	f := data(t, r)["file"].(map[string]any)
	if data(t, r)["type"] != "text" || f["filePath"] != p || f["content"] != "one\ntwo\nthree\n" || f["numLines"] != 4.0 || f["startLine"] != 1.0 || f["totalLines"] != 4.0 {
		t.Errorf("data %v", f)
	}
	if got := b.ok("Read", in{"file_path": "a.txt", "offset": 2, "limit": 1}); got != "2\ttwo" {
		t.Errorf("%q", got)
	}
	if got := b.ok("Read", in{"file_path": p, "offset": 3}); got != "3\tthree\n4\t" {
		t.Errorf("%q", got)
	}
	if got := b.ok("Read", in{"file_path": p, "offset": 0, "limit": 1}); got != "1\tone" {
		t.Errorf("%q", got)
	}
	if got := b.ok("Read", in{"file_path": p, "offset": 9}); !strings.Contains(got, "<system-reminder>") || !strings.Contains(got, "3 lines") {
		t.Errorf("%q", got)
	}
	b.write("empty", "")
	if got := b.ok("Read", in{"file_path": b.path("empty")}); !strings.HasPrefix(got, "<system-reminder>") || !strings.Contains(got, "empty") {
		t.Errorf("%q", got)
	}
	for _, n := range b.run("Read", in{"file_path": b.path("empty")}).Content {
		if len(n.JSON()) == 0 {
			t.Error("empty block")
		}
	}
}

func TestReadDecodes(t *testing.T) {
	b := newBench(t, Config{})
	for name, c := range map[string]struct{ raw, want string }{
		"utf-16":  {utf16le("grün\r\nb"), "1\tgrün\n2\tb"},
		"latin-1": {"gr\xfcn\n", "1\tgrün\n2\t"},
		"bom":     {"\xef\xbb\xbfa", "1\ta"},
		"crlf":    {"a\r\nb\r\n", "1\ta\n2\tb\n3\t"},
		"cr":      {"a\rb", "1\ta\n2\tb"},
		"long":    {strings.Repeat("y", 5000), "1\t" + strings.Repeat("y", 5000)},
	} {
		if got := b.ok("Read", in{"file_path": b.write(name, c.raw)}); got != c.want {
			t.Errorf("%s: %.100q", name, got)
		}
	}
	if got := b.ok("Read", in{"file_path": b.write("bad", "üüüü\xff\n")}); !strings.Contains(got, "1 bytes of the file are not valid UTF-8") {
		t.Errorf("%q", got)
	}
}

func TestReadGates(t *testing.T) {
	b := newBench(t, Config{})
	line := "all work and no play makes it a dull line\n" // 42 bytes
	big := b.write("big", strings.Repeat(line, 4000))     // 168 KB, about 55,000 tokens with numbers
	r := b.run("Read", in{"file_path": big})
	if r.IsError || len(r.Content) != 2 {
		t.Fatalf("%d blocks, %.200s", len(r.Content), text(r))
	}
	f := data(t, r)["file"].(map[string]any)
	n := int(f["numLines"].(float64))
	notice := text(tool.Result{Content: r.Content[1:]})
	for _, want := range []string{"PARTIAL view", fmt.Sprintf("lines 1-%d of 4001", n), fmt.Sprintf("offset %d", n+1), "allow_large"} {
		if !strings.Contains(notice, want) {
			t.Errorf("notice %q lacks %q", notice, want)
		}
	}
	if got := tokens(len(text(tool.Result{Content: r.Content[:1]}))); got > 25_000 || got < 23_000 {
		t.Errorf("first page has %d tokens", got)
	}
	b.bad("Write", in{"file_path": big, "content": "x"}, "Only a part")
	b.bad("Read", in{"file_path": big, "offset": 1, "limit": 4000}, "tokens", "25000")
	if got := b.ok("Read", in{"file_path": big, "allow_large": true}); !strings.HasSuffix(got, "4001\t") {
		t.Errorf("allow_large: %.100q", got[len(got)-100:])
	}
	b.ok("Write", in{"file_path": big, "content": "x"})

	huge := b.write("huge", strings.Repeat(line, 10_000))
	b.bad("Read", in{"file_path": huge}, "410.2 KB", "256.0 KB", "offset", "Grep")
	b.ok("Read", in{"file_path": huge, "offset": 5000, "limit": 3})
	one := b.write("one", strings.Repeat("z", 200_000))
	b.bad("Read", in{"file_path": one}, "line 1 alone", "Grep")
}

func TestReadOfWhatIsNoTextFile(t *testing.T) {
	b := newBench(t, Config{})
	b.write("pkg/config.go", "x")
	b.bad("Read", in{"file_path": b.path("pkg/confg.go")}, "File does not exist", "Current directory: "+b.dir, b.path("pkg/config.go"))
	b.bad("Read", in{"file_path": "/nowhere/pkg/config.go"}, "Did you mean "+b.path("pkg/config.go"))
	b.bad("Read", in{"file_path": b.path("no/such/dir/f")}, "does not exist either")
	b.bad("Read", in{"file_path": b.path("pkg")}, "EISDIR", "Glob")
	b.bad("Read", in{"file_path": b.path("pkg/config.go/x")}, "does not exist")
	b.bad("Read", in{"file_path": ""}, "empty")
	b.bad("Read", in{"file_path": "a\x00b"}, "NUL")
	b.bad("Read", in{"file_path": b.write("elf", "\x7fELF\x01\x00\x00\x00")}, "binary", "program made for them")
	b.bad("Read", in{"file_path": b.write("x", "y"), "pages": "1"}, "not a PDF")
	b.bad("Read", in{"file_path": b.path("x"), "pages": "a-b"}, "pages must be")
	b.bad("Read", in{"file_path": b.path("x"), "pages": "1-40"}, "at most 20")
	b.bad("Read", in{"file_path": b.path("x"), "limit": 0}, "InputValidationError")
	odd := b.write("line\nbreak", "content")
	if got := b.ok("Read", in{"file_path": odd}); got != "1\tcontent" {
		t.Errorf("%q", got)
	}
	sparse := b.write("sparse", "")
	if err := os.Truncate(sparse, 20<<30); err != nil {
		t.Fatal(err)
	}
	b.bad("Read", in{"file_path": sparse}, "20.0 GB")
	b.bad("Read", in{"file_path": sparse, "allow_large": true}, "20.0 GB")
	b.bad("Read", in{"file_path": sparse, "offset": 7, "limit": 2}, "NUL")
	b.bad("Edit", in{"file_path": sparse, "old_string": "a", "new_string": "b"}, "too large")
	b.bad("Grep", in{"pattern": "(", "path": b.dir}, "regex parse error")
}

// A range of a file that is too large to load costs only the range.
func TestReadStreams(t *testing.T) {
	b := newBench(t, Config{Limits: Limits{LoadBytes: 1000}})
	var s strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&s, "line %d\n", i+1)
	}
	p := b.write("log", s.String())
	got := b.ok("Read", in{"file_path": p, "offset": 500, "limit": 2})
	if !strings.HasPrefix(got, "500\tline 500\n501\tline 501\n<system-reminder>") {
		t.Errorf("%q", got)
	}
	if got := b.ok("Read", in{"file_path": p, "offset": 5000, "limit": 2}); !strings.Contains(got, "1000 lines") {
		t.Errorf("%q", got)
	}
	if got := b.ok("Read", in{"file_path": p, "offset": 999}); !strings.HasPrefix(got, "999\tline 999\n1000\tline 1000\n<") {
		t.Errorf("%q", got)
	}
	b.bad("Write", in{"file_path": p, "content": ""}, "too large")
	if f := b.c.Seen.Check(p); f != fsys.PartialView {
		t.Errorf("freshness %v", f)
	}
	wide := b.write("wide", "a\n"+strings.Repeat("x", 300_000))
	b.bad("Read", in{"file_path": wide, "offset": 2, "limit": 1}, "more than")
}

func TestReadNotesWhatWasSeen(t *testing.T) {
	b := newBench(t, Config{})
	p := b.write("f", "a\nb\n")
	for _, c := range []struct {
		input in
		want  fsys.Freshness
	}{
		{in{"file_path": p, "limit": 1}, fsys.PartialView},
		{in{"file_path": p, "offset": 1, "limit": 2}, fsys.Fresh},
		{in{"file_path": p, "limit": 1}, fsys.Fresh},
	} {
		b.ok("Read", c.input)
		if got := b.c.Seen.Check(p); got != c.want {
			t.Errorf("after %v: %v, want %v", c.input, got, c.want)
		}
	}
}

func TestReadTraits(t *testing.T) {
	b := newBench(t, Config{})
	for name, input := range map[string]any{"Read": in{"file_path": "/x"}, "Glob": in{"pattern": "/x/*"}, "Grep": in{"pattern": "a", "path": "/x"}} {
		c, err := b.plan(name, input)
		if err != nil {
			t.Fatal(err)
		}
		if tr := c.Traits(); !tr.ReadOnly || !tr.ConcurrencySafe {
			t.Errorf("%s: %+v", name, tr)
		}
		if n := c.Needs(); len(n) != 1 || n[0] != (tool.Need{Kind: tool.NeedRead, Path: "/x"}) {
			t.Errorf("%s: needs %v", name, n)
		}
	}
}
