package builtin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/tool"
)

func utf16le(s string) string {
	out := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		out = append(out, byte(u), byte(u>>8))
	}
	return string(out)
}

func TestEditKeepsEveryOtherByte(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for name, c := range map[string]struct{ before, old, new, after string }{
		"plain":               {"a\nb\nc\n", "b", "B", "a\nB\nc\n"},
		"crlf":                {"a\r\nb\r\nc\r\n", "a\nb", "a\nnew\nb", "a\r\nnew\r\nb\r\nc\r\n"},
		"crlf, tabs, 4 lines": {"x\r\n\t\t\tif a {\r\n\t\t\t\tb()\r\n\t\t\t}\r\ny\r\n", "\t\t\tif a {\n\t\t\t\tb()\n\t\t\t}\n", "\t\t\tif c {\n\t\t\t\td()\n\t\t\t}\n", "x\r\n\t\t\tif c {\r\n\t\t\t\td()\r\n\t\t\t}\r\ny\r\n"},
		"crlf in old_string":  {"a\r\nb\r\n", "a\r\nb", "a\r\nc", "a\r\nc\r\n"},
		"crlf model, lf file": {"a\nb\n", "b\n", "c\n", "a\nc\n"},
		"mixed":               {"a\r\nb\nc\r\nd\n", "b\nc\nd", "b\nX\nd", "a\r\nb\nX\r\nd\n"},
		"bom":                 {"\xef\xbb\xbfa\nb\n", "b", "ü", "\xef\xbb\xbfa\nü\n"},
		"utf-16":              {utf16le("eins\r\nzwei ü\r\n"), "zwei ü", "drei é\nvier", utf16le("eins\r\ndrei é\r\nvier\r\n")},
		"latin-1":             {"caf\xe9 a\nna\xefve\n", "café", "thé", "th\xe9 a\nna\xefve\n"},
		"nfd elsewhere":       {"cafe\u0301\nb\n", "b", "c", "cafe\u0301\nc\n"},
		"nfd matched by nfc":  {"cafe\u0301 noir\n", "café noir", "café blanc", "cafe\u0301 blanc\n"},
		"no final newline":    {"a\nb", "b", "c", "a\nc"},
		"2 MB line":           {long + "needle" + long, "needle", "pin", long + "pin" + long},
		"delete a line":       {"a\nb\nc\n", "b\n", "", "a\nc\n"},
		"dollar and regexp":   {"a.*b $1\n", "a.*b $1", "$0 \\1", "$0 \\1\n"},
		"invalid utf-8":       {"ü ü ü \xff\nb\n", "b", "c", "ü ü ü \xff\nc\n"},
		"empty file":          {"", "", "first\n", "first\n"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, Config{})
			p := b.write("f.txt", c.before)
			b.run("Read", in{"file_path": p})
			b.ok("Edit", in{"file_path": p, "old_string": c.old, "new_string": c.new})
			if got := b.content("f.txt"); got != c.after {
				t.Errorf("got %.200q, want %.200q", got, c.after)
			}
		})
	}
}

func TestEditRefusals(t *testing.T) {
	b := newBench(t, Config{})
	p := b.write("main.go", "package main\n\nfunc a() {\n\tone()\n}\n\nfunc b() {\n\tone()\n}\n")
	edit := func(old, new string) in { return in{"file_path": p, "old_string": old, "new_string": new} }
	b.bad("Edit", edit("x", "x"), "<tool_use_error>", "nothing to change")
	b.bad("Edit", edit("\tone()", "\ttwo()"), "2 times", "lines 4, 8", "replace_all")
	b.bad("Edit", edit("func a() {\n    one()\n}", "x"), "not found", "line 3", "→one()", "····one()", "white space only")
	b.bad("Edit", edit("func  a() {", "x"), "line 3", "func·a()·{", "func··a()·{")
	b.bad("Edit", edit("zebra crossing", "x"), "not found", "Nothing in the file resembles", "zebra")
	b.bad("Edit", edit("func c() {\n\tthree()", "x"), "nearest text is at line")
	b.bad("Edit", edit("\x00", "\x00y"), "NUL")
	b.bad("Edit", edit("", "x"), "not empty")
	b.bad("Edit", in{"file_path": b.path("mian.go"), "old_string": "a", "new_string": "b"}, "does not exist", b.dir, "main.go")
	b.bad("Edit", in{"file_path": b.dir, "old_string": "a", "new_string": "b"}, "directory")
	b.bad("Edit", in{"file_path": p, "new_string": "b"}, "InputValidationError", "`old_string` is missing")
	b.write("n.ipynb", "{}")
	b.bad("Edit", in{"file_path": b.path("n.ipynb"), "old_string": "{", "new_string": "b"}, "NotebookEdit")
	b.write("bin", "\x7fELF\x00\x00\x01")
	b.bad("Edit", in{"file_path": b.path("bin"), "old_string": "E", "new_string": "b"}, "binary")
	b.write("latin", "caf\xe9\n")
	b.bad("Edit", in{"file_path": b.path("latin"), "old_string": "café", "new_string": "日本"}, "does not exist in Latin-1")
	if got := b.content("latin"); got != "caf\xe9\n" {
		t.Errorf("a refused edit changed the file: %q", got)
	}
	b.write("aaa", "aaa")
	b.bad("Edit", in{"file_path": b.path("aaa"), "old_string": "aa", "new_string": "b"}, "2 times")
}

func TestFailedMatchShowsInvisibleDifferences(t *testing.T) {
	b := newBench(t, Config{})
	b.write("nbsp", "let\u00a0x = 1;\nlone\rreturn here\n")
	b.bad("Edit", in{"file_path": b.path("nbsp"), "old_string": "let x = 1;", "new_string": "y"}, "let<U+00A0>x", "let·x")
	b.bad("Edit", in{"file_path": b.path("nbsp"), "old_string": "lone return here", "new_string": "y"}, "lone␍return")
	long := strings.Repeat("some text ", 300_000)
	b.write("long", long)
	start := time.Now()
	msg := b.bad("Edit", in{"file_path": b.path("long"), "old_string": "some text some text some other", "new_string": "y"}, "line 1, column")
	if len(msg) > 2000 {
		t.Errorf("error of %d bytes for one long line", len(msg))
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
}

func TestEditCreates(t *testing.T) {
	b := newBench(t, Config{})
	r := b.run("Edit", in{"file_path": b.path("new/deep/f.go"), "old_string": "", "new_string": "package x\n"})
	if r.IsError || b.content("new/deep/f.go") != "package x\n" || !strings.HasPrefix(text(r), "Created") {
		t.Fatalf("%s", text(r))
	}
	if v, ok := r.View.(tool.DiffView); !ok || !v.Created {
		t.Errorf("view %#v", r.View)
	}
	if d := data(t, r); d["originalFile"] != nil {
		t.Errorf("original of a new file: %v", d["originalFile"])
	}
}

func TestEditResult(t *testing.T) {
	b := newBench(t, Config{})
	p := b.write("f", "1\n2\n3\n4\n5\n6\n7\n8\n")
	b.ok("Read", in{"file_path": p})
	r := b.run("Edit", in{"file_path": p, "old_string": "4\n", "new_string": "four\nfour and a half\n"})
	var d struct {
		FilePath, OldString, NewString string
		OriginalFile                   *string
		StructuredPatch                []tool.Hunk
		UserModified, ReplaceAll       *bool
	}
	if err := json.Unmarshal(r.Data, &d); err != nil {
		t.Fatal(err)
	}
	if d.FilePath != p || d.OldString != "4\n" || d.NewString != "four\nfour and a half\n" || *d.OriginalFile != "1\n2\n3\n4\n5\n6\n7\n8\n" || *d.UserModified || *d.ReplaceAll {
		t.Errorf("data %s", r.Data)
	}
	want := []tool.Hunk{{OldStart: 1, OldLines: 7, NewStart: 1, NewLines: 8, Lines: []string{" 1", " 2", " 3", "-4", "+four", "+four and a half", " 5", " 6", " 7"}}}
	if fmt.Sprint(d.StructuredPatch) != fmt.Sprint(want) {
		t.Errorf("patch %+v", d.StructuredPatch)
	}
	if v := r.View.(tool.DiffView); v.Path != p || v.New != "1\n2\n3\nfour\nfour and a half\n5\n6\n7\n8\n" || len(v.Hunks) != 1 {
		t.Errorf("view %+v", v)
	}
	for _, s := range []string{"Updated", "+2 −1", "line 4", "no need to read it again"} {
		if !strings.Contains(text(r), s) {
			t.Errorf("text %q lacks %q", text(r), s)
		}
	}
}

func TestReplaceAll(t *testing.T) {
	b := newBench(t, Config{})
	p := b.write("f", "foo bar\r\nfoo\r\n")
	all := in{"file_path": p, "old_string": "foo", "new_string": "f\nx", "replace_all": true}
	b.bad("Edit", all, "has not been read yet", "2 places")
	b.ok("Read", in{"file_path": p})
	b.ok("Edit", all)
	if got := b.content("f"); got != "f\r\nx bar\r\nf\r\nx\r\n" {
		t.Errorf("%q", got)
	}
}

func TestEditOfUnreadAndChangedFiles(t *testing.T) {
	b := newBench(t, Config{})
	p := b.write("f", "one\ntwo\nthree\n")
	if s := b.ok("Edit", in{"file_path": p, "old_string": "one", "new_string": "1"}); !strings.Contains(s, "not read the rest") {
		t.Errorf("unread: %s", s)
	}
	b.bad("Write", in{"file_path": p, "content": "x"}, "Only a part")
	b.ok("Read", in{"file_path": p})
	b.write("f", "one\ntwo\nthree changed\n")
	if s := b.ok("Edit", in{"file_path": p, "old_string": "two", "new_string": "2"}); !strings.Contains(s, "had changed since you read it") {
		t.Errorf("changed: %s", s)
	}
	b.bad("Write", in{"file_path": p, "content": "x"}, "Only a part")
	b.ok("Read", in{"file_path": p})
	b.write("f", "quite other\n")
	b.bad("Edit", in{"file_path": p, "old_string": "three", "new_string": "3"}, "changed since it was read", "Read")
}

// Calls of one reply are planned together: the second edit finds what the first made.
func TestTwoEditsPlannedTogether(t *testing.T) {
	b := newBench(t, Config{})
	p := b.write("f", "a\n")
	first, err := b.plan("Edit", in{"file_path": p, "old_string": "a", "new_string": "b"})
	if err != nil {
		t.Fatal(err)
	}
	second, err := b.plan("Edit", in{"file_path": p, "old_string": "b", "new_string": "c"})
	if err != nil {
		t.Fatal(err)
	}
	if err := second.(tool.Checker).Check(); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("check before the first ran: %v", err)
	}
	for _, c := range []tool.Call{first, second} {
		if r := c.Run(t.Context(), nil); r.IsError {
			t.Fatal(text(r))
		}
	}
	if b.content("f") != "c\n" {
		t.Errorf("%q", b.content("f"))
	}
}

// Nothing of a file is shown before the gate has decided, unless reading it is free.
func TestCheckKeepsSecrets(t *testing.T) {
	b := newBench(t, Config{Reading: func(tool.Env, string) tool.Behavior { return tool.Ask }})
	p := b.write("secret", "token = abcdef\n")
	c, err := b.plan("Edit", in{"file_path": p, "old_string": "token = x", "new_string": "y"})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.(tool.Checker).Check(); err != nil {
		t.Errorf("check quotes the file: %v", err)
	}
	if n := c.Needs(); len(n) != 1 || n[0] != (tool.Need{Kind: tool.NeedEdit, Path: p}) {
		t.Errorf("needs %v", n)
	}
}

func TestPreviewIsTheDiff(t *testing.T) {
	b := newBench(t, Config{})
	p := b.write("f", "a\nb\n")
	c, err := b.plan("Edit", in{"file_path": p, "old_string": "b", "new_string": "c"})
	if err != nil {
		t.Fatal(err)
	}
	v, ok := c.Preview().(tool.DiffView)
	if !ok || v.Old != "a\nb\n" || v.New != "a\nc\n" || c.Title() != "Edit f" {
		t.Errorf("%+v %q", c.Preview(), c.Title())
	}
	if b.content("f") != "a\nb\n" {
		t.Error("the preview wrote")
	}
}

func TestEditKeepsModeAndLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("left out: mode bits and links (needs a Unix system)")
	}
	b := newBench(t, Config{})
	p := b.write("real.sh", "#!/bin/sh\n")
	if err := os.Chmod(p, 0o754); err != nil {
		t.Fatal(err)
	}
	link := b.path("link.sh")
	if err := os.Symlink("real.sh", link); err != nil {
		t.Fatal(err)
	}
	b.ok("Read", in{"file_path": link})
	b.ok("Edit", in{"file_path": link, "old_string": "sh\n", "new_string": "sh -e\n"})
	st, err := os.Lstat(p)
	if err != nil || st.Mode().Perm() != 0o754 || b.content("real.sh") != "#!/bin/sh -e\n" {
		t.Errorf("%v %v %q", st.Mode(), err, b.content("real.sh"))
	}
	if st, err := os.Lstat(link); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced by a file")
	}
	// A file that was read under its link is known under its own name.
	b.ok("Write", in{"file_path": p, "content": "#!/bin/sh\n"})

	if err := os.Chmod(p, 0o444); err != nil {
		t.Fatal(err)
	}
	b.bad("Edit", in{"file_path": p, "old_string": "sh\n", "new_string": "x\n"}, "read-only", "chmod u+w")
	if b.content("real.sh") != "#!/bin/sh\n" {
		t.Error("a read-only file was changed")
	}
}

// A file that somebody else changes between check and write is checked again.
func TestCommitStartsOverWhenTheFileChanges(t *testing.T) {
	b := newBench(t, Config{})
	p := b.write("f", "a\n")
	b.c.fill()
	tries := 0
	ch, err := b.c.commit(func() (*change, error) {
		tries++
		e := &editing{c: &b.c, env: b.env, path: p, in: editInput{OldString: "a", NewString: "b"}}
		ch, err := e.check()
		if tries == 1 {
			b.write("f", "a, too\n")
		}
		return ch, err
	})
	if err != nil || tries != 2 || b.content("f") != "b, too\n" || ch.content != "b, too\n" {
		t.Errorf("tries %d, %v, %q", tries, err, b.content("f"))
	}
	_, err = b.c.commit(func() (*change, error) {
		e := &editing{c: &b.c, env: b.env, path: p, in: editInput{OldString: "b", NewString: "c"}}
		ch, err := e.check()
		tries++
		b.write("f", "b"+strings.Repeat("!", tries))
		return ch, err
	})
	if err != errRaced || strings.Contains(b.content("f"), "c") {
		t.Errorf("%v %q", err, b.content("f"))
	}
}

func FuzzEditChangesNothingElse(f *testing.F) {
	f.Add([]byte("a\r\nb\nc"), uint16(1), uint16(4), "x\ny")
	f.Add([]byte("\xef\xbb\xbfa\r\nb\r\n"), uint16(0), uint16(3), "ü")
	f.Add([]byte(utf16le("hallo\r\nwelt")), uint16(2), uint16(3), "a\n")
	f.Add([]byte("caf\xe9\ncaf\xe9\n"), uint16(2), uint16(4), "e")
	f.Add([]byte("cafe\u0301 x\n"), uint16(4), uint16(3), "é")
	f.Fuzz(func(t *testing.T, raw []byte, at, n uint16, repl string) {
		old, err := fsys.Decode(raw)
		if err != nil || len(old.Content) == 0 {
			return
		}
		// A piece of the text as the model would see it.
		runes := []rune(old.Content)
		from := int(at) % len(runes)
		want := string(runes[from:min(len(runes), from+1+int(n)%20)])
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		c := Config{}
		c.fill()
		e := &editing{c: &c, path: path, in: editInput{OldString: want, NewString: repl}}
		if want == repl {
			return
		}
		ch, err := e.check()
		after, readErr := os.ReadFile(path)
		if readErr != nil || !bytes.Equal(after, raw) {
			t.Fatalf("check wrote: %v", readErr)
		}
		if err != nil {
			return
		}
		spans, _ := old.Find(want)
		lead, tail := old.Content[:spans[0].Start], old.Content[spans[0].End:]
		// The raw bytes of what stands before and after the match are the same as before.
		head, foot := rawParts(t, old, lead, tail)
		if !bytes.HasPrefix(ch.after, head) || !bytes.HasSuffix(ch.after, foot) || len(ch.after) < len(head)+len(foot) {
			t.Errorf("%q: %q→%q gives %q: bytes around the match changed", raw, want, repl, ch.after)
		}
	})
}

// rawParts finds how many raw bytes lead and tail stand for, by walking the
// raw bytes: independent of how the edit does it.
func rawParts(t *testing.T, text *fsys.Text, lead, tail string) (head, foot []byte) {
	t.Helper()
	for i := range len(text.Raw) + 1 {
		if got, err := fsys.Decode(text.Raw[:i]); head == nil && err == nil && got.Encoding == text.Encoding && got.Content == lead && lead != "" {
			head = text.Raw[:i]
		}
	}
	for i := len(text.Raw); foot == nil && tail != "" && i >= 0; i-- {
		if got, err := fsys.Decode(text.Raw[i:]); err == nil && got.Content == tail {
			foot = text.Raw[i:]
		}
	}
	return head, foot
}
