package shell

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestStateTransitions(t *testing.T) {
	states := []State{Pending, Running, Completed, Failed, Killed}
	legal := map[[2]State]bool{
		{Pending, Running}: true, {Pending, Failed}: true, {Pending, Killed}: true,
		{Running, Completed}: true, {Running, Failed}: true, {Running, Killed}: true,
	}
	for _, from := range states {
		for _, to := range append(states, "", "paused") {
			got, err := from.To(to)
			if want := legal[[2]State{from, to}]; (err == nil) != want {
				t.Errorf("%s to %s: %v", from, to, err)
			}
			if err == nil && got != to || err != nil && got != from {
				t.Errorf("%s to %s gave %s", from, to, got)
			}
			if from.Final() && err == nil {
				t.Errorf("%s is final, but %s followed", from, to)
			}
		}
	}
}

func TestRandomID(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		id := randomID()
		if len(id) != 9 || id[0] != 'b' || strings.Trim(id, idLetters) != "" || seen[id] {
			t.Fatalf("id %q", id)
		}
		seen[id] = true
	}
}

func TestSanitize(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "a\tb\n", "a\tb\n"},
		{"unicode kept", "naïve 日本 👩‍💻 \u2028", "naïve 日本 👩‍💻 \u2028"},
		{"replacement kept", "\ufffd\ufffd", "\ufffd\ufffd"},
		{"crlf", "a\r\nb\rc\r", "a\nb\nc\n"},
		{"colour", "\x1b[1;31mred\x1b[0m", "red"},
		{"cursor", "a\x1b[2J\x1b[10;1Hb\x1b[?25l", "ab"},
		{"title", "\x1b]0;evil\ab\x1b]2;x\x1b\\c", "bc"},
		{"clipboard", "\x1b]52;c;ZXZpbA==\x1b\\x", "x"},
		{"hyperlink", "\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\", "text"},
		{"dcs, apc, pm, sos", "\x1bPq\x1b\\a\x1b_x\x1b\\b\x1b^y\x1b\\c\x1bXz\x1b\\d", "abcd"},
		{"charset, two bytes", "\x1b(Ba\x1b7b\x1bcc\x1b=d", "abcd"},
		{"c1", "\u009b31mred\u009d0;t\u009cx\u0085y", "redx\ufffdy"},
		{"open string keeps the text", "\x1b]0;all\nof it", "0;all\nof it"},
		{"far terminator", "\x1b]" + strings.Repeat("x", 5000) + "\a", strings.Repeat("x", 5000)},
		{"cut csi", "a\x1b[31", "a"},
		{"broken csi", "a\x1b[3\nb", "a\nb"},
		{"nested escape", "\x1b\x1b[31m[31mx", "[31mx"},
		{"lone escape", "a\x1b", "a"},
		{"bell", "a\ab", "ab"},
		{"overstrike", "N\bNA\bA _\bx", "NA x"},
		{"backspace stops at the line", "a\n\b\bb", "a\nb"},
		{"nul", "a\x00b\x00\x01\x02c\x7f", "a\ufffdb\ufffdc\ufffd"},
		{"invalid", "a\xff\xfe\x80b\xc3", "a\ufffdb\ufffd"},
		{"encoded surrogate", "\xed\xa0\x80x", "\ufffdx"},
	}
	for _, tt := range tests {
		if got := Sanitize([]byte(tt.in)); got != tt.want {
			t.Errorf("%s: %q gave %q, want %q", tt.name, tt.in, got, tt.want)
		}
	}
}

func FuzzSanitize(f *testing.F) {
	for _, s := range []string{"a\x1b[31mb", "\x1b]0;x\a", "\u009b1m", "a\bb\r\n", "\xff\x00", "\x1b\x1b]\x1b\\"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		out := Sanitize(in)
		if !utf8.ValidString(out) {
			t.Fatalf("invalid UTF-8: %q", out)
		}
		for _, c := range out {
			if (c < ' ' && c != '\n' && c != '\t') || (c >= 0x7f && c <= 0x9f) {
				t.Fatalf("control character in %q", out)
			}
		}
		if again := Sanitize([]byte(out)); again != out {
			t.Fatalf("%q became %q", out, again)
		}
		if len(out) > 3*len(in) {
			t.Fatalf("%d bytes grew to %d", len(in), len(out))
		}
	})
}

func tempFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadExcerpt(t *testing.T) {
	tests := []struct {
		in, head, tail string
		h, t           int
		omitted        int64
	}{
		{in: "", h: 5, t: 5},
		{in: "0123456789", head: "0123456789", h: 5, t: 5},
		{in: "0123456789a", head: "01234", tail: "6789a", h: 5, t: 5, omitted: 1},
		{in: "ää-öö", head: "ä", tail: "ö", h: 3, t: 3, omitted: 5}, // no character is cut
		{in: "\x80\x80\x80\x80\x80\x80\x80", head: "\x80\x80", tail: "", h: 2, t: 2, omitted: 5},
		{in: "0123456789", tail: "89", t: 2, omitted: 8},
	}
	for _, tt := range tests {
		e, err := ReadExcerpt(tempFile(t, tt.in), tt.h, tt.t)
		if err != nil || string(e.Head) != tt.head || string(e.Tail) != tt.tail || e.Omitted != tt.omitted || e.Size != int64(len(tt.in)) {
			t.Errorf("%q: %q %q %d %d, %v", tt.in, e.Head, e.Tail, e.Omitted, e.Size, err)
		}
	}
	e := Excerpt{Head: []byte("a\x1b[1mb"), Tail: []byte("z\n"), Omitted: 7}
	if got, want := e.Text(), "ab\n[… 7 bytes left out …]\nz\n"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
	if _, err := ReadExcerpt(filepath.Join(t.TempDir(), "no"), 1, 1); err == nil {
		t.Error("a missing file gave no error")
	}
}

func TestReadChunk(t *testing.T) {
	text := "aä日👍\xff\xe6\x97" // ends inside a character
	path := tempFile(t, text)
	for limit := 1; limit <= len(text)+1; limit++ {
		var all []byte
		var at int64
		for {
			c, err := ReadChunk(path, at, limit)
			if err != nil || len(c.Data) > limit || c.Size != int64(len(text)) {
				t.Fatalf("limit %d: %+v, %v", limit, c, err)
			}
			if len(c.Data) == 0 {
				break
			}
			all, at = append(all, c.Data...), c.Next
		}
		if string(all) != text {
			t.Errorf("limit %d: read %q", limit, all)
		}
	}
	if c, err := ReadChunk(path, 1000, 10); err != nil || len(c.Data) != 0 || c.Next != 1000 {
		t.Errorf("behind the end: %+v, %v", c, err)
	}
	for _, bad := range [][2]int{{-1, 1}, {0, 0}} {
		if _, err := ReadChunk(path, int64(bad[0]), bad[1]); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}

func TestSaveCopy(t *testing.T) {
	src := filepath.Join(t.TempDir(), "src")
	f, err := os.Create(src)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(MaxSaved + 10); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	dir := filepath.Join(t.TempDir(), "dst")
	path, n, err := SaveCopy(src, dir)
	if err != nil || n != MaxSaved || filepath.Dir(path) != dir {
		t.Errorf("copied %d to %s, %v", n, path, err)
	}
	if again, _, err := SaveCopy(src, dir); err != nil || again != path {
		t.Errorf("the same output is kept twice: %s, %v", again, err)
	}
}

func TestChildEnv(t *testing.T) {
	abs := t.TempDir()
	list := func(dirs ...string) string { return strings.Join(dirs, string(filepath.ListSeparator)) }
	base := []string{
		"PATH=" + list(".", abs, "", "bin"), "A=1", "A=2", "ANTHROPIC_API_KEY=k", "CLAUDE_CODE_OAUTH_TOKEN=k",
		"OPENAI_API_KEY=k", "HEW_SOME_SECRET=k", "ANTHROPIC_BASE_URL=u", "broken", "CLAUDECODE=0",
	}
	env := childEnv(base, envOverlay{set: map[string]string{"B": "x", "A": "3"}, dir: abs, tag: "t.1."})
	for name, want := range map[string]string{
		"PATH": abs, "A": "3", "B": "x", "ANTHROPIC_API_KEY": "k", "CLAUDECODE": "1", "CLAUDE_CODE_CHILD_SESSION": "1",
		tagVar: "t.1.", "PWD": abs,
	} {
		if got := getenv(env, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	names := map[string]bool{}
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		if names[name] || name == "broken" {
			t.Errorf("%s occurs twice or should not occur", name)
		}
		names[name] = true
	}
	env = childEnv(base, envOverlay{set: map[string]string{"OPENAI_API_KEY": "mine"}, dir: abs, hideSecrets: true})
	for name, want := range map[string]string{
		"ANTHROPIC_API_KEY": "", "CLAUDE_CODE_OAUTH_TOKEN": "", "HEW_SOME_SECRET": "", "OPENAI_API_KEY": "mine", "ANTHROPIC_BASE_URL": "u",
	} {
		if got := getenv(env, name); got != want {
			t.Errorf("hidden: %s is %q, want %q", name, got, want)
		}
	}
}

func TestQuote(t *testing.T) {
	if got, want := Quote(`a'b`), `'a'\''b'`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestKeepSafe(t *testing.T) {
	in := "shopt -s extglob\nshopt -u login_shell\nset -o monitor\nset +o history\nset -o noclobber\nsetopt monitor\n" +
		"f () \n{ \n    set -o errexit\n}\nalias a='set -o vi'\n"
	want := "shopt -s extglob\nset -o noclobber\nf () \n{ \n    set -o errexit\n}\nalias a='set -o vi'\n"
	if got := keepSafe(in); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTailLines(t *testing.T) {
	path := tempFile(t, strings.Repeat("x", 9000)+"\n1\n2\n3\n\n")
	if got := tailLines(path, 2); got != "2\n3" {
		t.Errorf("got %q", got)
	}
	if got := tailLines(filepath.Join(t.TempDir(), "no"), 2); got != "" {
		t.Errorf("a missing file gave %q", got)
	}
}

func BenchmarkSanitize(b *testing.B) {
	in := bytes.Repeat([]byte("\x1b[32mok\x1b[0m  some/path/file.go 0.01s\r\n"), 1000)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		Sanitize(in)
	}
}

func TestSecretNamesAreSeparate(t *testing.T) {
	for name := range strings.FieldsSeq(secretNames) {
		if !isSecret(name) || !isSecret(strings.ToLower(name)) {
			t.Errorf("%s is not found", name)
		}
	}
	for _, name := range []string{"", "PATH", "API_KEY", "ANTHROPIC_BASE_URL", "MY_TOKEN"} {
		if slices.Contains(strings.Fields(secretNames), name) || isSecret(name) {
			t.Errorf("%s counts as a secret", name)
		}
	}
}
