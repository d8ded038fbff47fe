package builtin

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/tool"
)

func TestWriteCreatesAndUpdates(t *testing.T) {
	b := newBench(t, Config{})
	p := b.path("a/b/new.txt")
	r := b.run("Write", in{"file_path": p, "content": "one\n"})
	d := data(t, r)
	if d["type"] != "create" || d["filePath"] != p || d["content"] != "one\n" || d["originalFile"] != nil || !strings.HasPrefix(text(r), "Created") {
		t.Errorf("%s %s", text(r), r.Data)
	}
	if string(mustField(t, r, "structuredPatch")) == "null" {
		t.Error("patch is null, not a list")
	}
	r = b.run("Write", in{"file_path": p, "content": "two\n"})
	d = data(t, r)
	if d["type"] != "update" || d["originalFile"] != "one\n" || !strings.HasPrefix(text(r), "Updated") || b.content("a/b/new.txt") != "two\n" {
		t.Errorf("%s %s", text(r), r.Data)
	}
	if v := r.View.(tool.DiffView); v.Old != "one\n" || v.New != "two\n" || v.Created {
		t.Errorf("%+v", v)
	}
}

func mustField(t *testing.T, r tool.Result, key string) json.RawMessage {
	t.Helper()
	var v map[string]json.RawMessage
	if err := json.Unmarshal(r.Data, &v); err != nil {
		t.Fatal(err)
	}
	return v[key]
}

func TestWriteNeedsARead(t *testing.T) {
	b := newBench(t, Config{})
	p := b.write("f", "a\nb\n")
	b.bad("Write", in{"file_path": p, "content": "x"}, "<tool_use_error>", "has not been read yet", "Read", "Edit")
	b.ok("Read", in{"file_path": p, "limit": 1})
	b.bad("Write", in{"file_path": p, "content": "x"}, "Only a part")
	b.ok("Read", in{"file_path": p})
	b.write("f", "a\nc\n")
	b.bad("Write", in{"file_path": p, "content": "x"}, "has changed since it was read")
	b.ok("Read", in{"file_path": p})
	b.ok("Write", in{"file_path": p, "content": "x"})
	b.ok("Write", in{"file_path": p, "content": "y"})
	if b.content("f") != "y" {
		t.Errorf("%q", b.content("f"))
	}
	b.bad("Write", in{"file_path": b.write("bin", "a\x00\x00\x00b"), "content": "x"}, "binary")
	b.bad("Write", in{"file_path": p, "content": "a\x00b"}, "NUL")
	b.bad("Write", in{"file_path": b.dir, "content": "x"}, "directory")
	b.bad("Write", in{"file_path": p + "/below", "content": "x"}, "file")
	b.bad("Write", in{"file_path": p}, "`content` is missing")
}

func TestWriteKeepsEncodingAndLineEndings(t *testing.T) {
	for name, c := range map[string]struct{ before, content, after string }{
		"crlf":        {"a\r\nb\r\n", "a\nx\nb\n", "a\r\nx\r\nb\r\n"},
		"crlf given":  {"a\r\nb\r\n", "a\r\nx\r\n", "a\r\nx\r\n"},
		"mixed":       {"a\r\nb\nc\r\n", "a\nb\nx\nc\n", "a\r\nb\nx\nc\r\n"},
		"bom":         {"\xef\xbb\xbfa\n", "b\n", "\xef\xbb\xbfb\n"},
		"utf-16":      {utf16le("a\r\nb"), "ü\nb", utf16le("ü\r\nb")},
		"latin-1":     {"caf\xe9\nx\n", "café\ny\n", "caf\xe9\ny\n"},
		"invalid":     {"ü ü ü \xff\nx\n", "ü ü ü \uFFFD\ny\n", "ü ü ü \xff\ny\n"},
		"lf, literal": {"a\n", "b\r\n", "b\r\n"},
		"empty":       {"", "b\n", "b\n"},
		"to empty":    {"a\r\nb\r\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, Config{})
			p := b.write("f", c.before)
			b.ok("Read", in{"file_path": p})
			b.ok("Write", in{"file_path": p, "content": c.content})
			if got := b.content("f"); got != c.after {
				t.Errorf("%q, want %q", got, c.after)
			}
		})
	}
}

func TestCancelledWriteDoesNotBegin(t *testing.T) {
	b := newBench(t, Config{})
	c, err := b.plan("Write", in{"file_path": b.path("f"), "content": "x"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := contextEnded(t)
	defer cancel()
	if r := c.Run(ctx, nil); !r.IsError {
		t.Error("written")
	}
	if len(listing(b.dir)) != 0 {
		t.Errorf("left %v", listing(b.dir))
	}
}
