package frontmatter

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, text, body, problem, key, want string
	}{
		{"none", "# hello\n", "# hello\n", "", "name", ""},
		{"plain", "---\nname: a\n---\n\nbody\n", "body\n", "", "name", "a"},
		{"crlf and bom", "\uFEFF---\r\nname: a\r\n---\r\nbody", "body", "", "name", "a"},
		{"never closed", "---\nname: a\n", "---\nname: a\n", "", "name", ""},
		{"empty head", "---\n---\nbody", "body", "", "name", ""},
		{"block text", "---\nd: >\n  one\n  two\n---\n", "", "", "d", "one two"},
		{"colon in text", "---\ndescription: Use when: asked\n---\nb", "b", "mapping values", "description", "Use when: asked"},
		{"bare glob", "---\nname: x\nglobs: **/*.ts\n---\nb", "b", "did not find", "globs", "**/*.ts"},
		{"at sign", "---\nd: @x\n---\nb", "b", "cannot start any token", "d", "@x"},
		{"two lists", "---\nargument-hint: [a] [b]\n---\nb", "b", "did not find", "argument-hint", "[a] [b]"},
		{"unclosed list", "---\nname: [a\n---\nb", "b", "did not find", "name", ""},
		{"too long", "---\nname: " + strings.Repeat("a", Limit) + "\n---\nb", "b", "longer than", "name", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := Parse([]byte(c.text))
			if m.Body != c.body {
				t.Errorf("body %q, want %q", m.Body, c.body)
			}
			if (c.problem == "") != (m.Problem == "") || !strings.Contains(m.Problem, c.problem) {
				t.Errorf("problem %q, want %q in it", m.Problem, c.problem)
			}
			if got := m.Text(c.key); got != c.want {
				t.Errorf("%s = %q, want %q", c.key, got, c.want)
			}
		})
	}
}

func TestList(t *testing.T) {
	for text, want := range map[string][]string{
		"tools: Read, Grep":              {"Read", "Grep"},
		"tools: [Read, \"Bash(a, b)\"]":  {"Read", "Bash(a, b)"},
		"tools: Bash(a, b), Read":        {"Bash(a, b)", "Read"},
		"tools:\n  - Read\n  - Grep":     {"Read", "Grep"},
		"d: a: b\ntools: [Read, Edit]":   {"Read", "Edit"},
		"d: a: b\ntools:\n  - Read":      {"Read"},
		"tools: src/**/*.{ts,tsx}, lib":  {"src/**/*.{ts,tsx}", "lib"},
		"tools:":                         nil,
		"other: 1":                       nil,
		"tools: {a: b}":                  nil,
		"tools: [1, true, [nested], ok]": {"1", "true", "ok"},
	} {
		m := Parse([]byte("---\n" + text + "\n---\n"))
		if d := cmp.Diff(want, m.List("tools")); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
}

func TestUnread(t *testing.T) {
	for text, want := range map[string]bool{
		"tools: Read": false, "tools: [Read, 1]": false, "tools:": false, "other: 1": false, "tools: {Read: true}": true, "tools: [{Read: true}]": true,
		"d: a: b\ntools: [Read,\n  Grep]": true, "d: a: b\ntools:\n  - Read": false, "d: a: b\ntools: [Read]": false, "tools: [[Read]]": true,
	} {
		if got := Parse([]byte("---\n" + text + "\n---\n")).Unread("tools"); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestBool(t *testing.T) {
	for text, want := range map[string][2]bool{
		"true": {true, true}, "Yes": {true, true}, "on": {true, true}, "1": {true, true},
		"false": {false, true}, "NO": {false, true}, "off": {false, true}, "0": {false, true},
		"maybe": {false, false}, "": {false, false}, "[true]": {false, false},
	} {
		v, ok := Parse([]byte("---\nk: " + text + "\n---\n")).Bool("k")
		if want != [2]bool{v, ok} {
			t.Errorf("%q: %v %v", text, v, ok)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("---\nname: a\ntools: [b, c]\n---\nbody"))
	f.Add([]byte("---\nd: a: b\n- x\n---\n"))
	f.Add([]byte("---\na: &a [*a]\n---\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m := Parse(text)
		if len(m.Body) > len(text) {
			t.Fatalf("the body has %d bytes, the text %d", len(m.Body), len(text))
		}
		m.Text("name")
		m.List("tools")
		m.Bool("k")
	})
}
