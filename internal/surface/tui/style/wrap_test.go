package style

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hew-agent/hew/internal/backend/plain"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		name, in string
		width    int
		want     []string
	}{
		{"fits", "  as it is ", 11, []string{"  as it is "}},
		{"empty", "", 5, []string{""}},
		{"words", "one two three", 8, []string{"one two", "three"}},
		{"inner blanks stay", "a   b  c", 6, []string{"a   b", "c"}},
		{"indentation", "  one two three", 9, []string{"  one two", "  three"}},
		{"list", "- one two", 7, []string{"- one", "  two"}},
		{"number", "12. one two", 8, []string{"12. one", "    two"}},
		{"long word", "see abcdefghijkl", 6, []string{"see", "abcdef", "ghijkl"}},
		{"long word in a list", "- abcdefgh", 6, []string{"- abcd", "  efgh"}},
		{"too deep", "         abc def", 8, []string{"abc def"}},
		{"tab", "a\tb", 9, []string{"a   b"}},
		{"wide", "日本語。日本", 6, []string{"日本", "語。日", "本"}},
		{"wide after a word", "ab日本", 4, []string{"ab日", "本"}},
		{"no room", "日", 1, []string{"?"}},
		{"joined", "a 👩\u200d💻👩\u200d💻", 4, []string{"a 👩\u200d💻", "👩\u200d💻"}},
		{"mark", "abc e\u0301e\u0301e\u0301", 4, []string{"abc", "e\u0301e\u0301e\u0301"}},
		{"right to left", "שלום עולם", 5, []string{"שלום", "עולם"}},
	} {
		var got []string
		for _, l := range Wrap(Text(Plain, c.in), c.width) {
			got = append(got, l.String())
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func TestWrapKeepsRoles(t *testing.T) {
	in := Line{{Text: "say ", Role: Dim}, {Text: "bold", Role: Bold}, {Text: "ly now", Role: Plain, Link: "http://x"}}
	want := []Line{
		{{Text: "say", Role: Dim}},
		{{Text: "| ", Role: Quote}, {Text: "bold", Role: Bold}, {Text: "ly", Role: Plain, Link: "http://x"}},
		{{Text: "| ", Role: Quote}, {Text: "now", Role: Plain, Link: "http://x"}},
	}
	if d := cmp.Diff(want, WrapUnder(in, 9, Text(Quote, "| "))); d != "" {
		t.Error(d)
	}
}

// A line of many megabytes is wrapped in a time that grows with its length.
func TestWrapLongLine(t *testing.T) {
	if n := len(Wrap(Text(Plain, strings.Repeat("word ", 200_000)), 80)); n != 12_500 {
		t.Errorf("%d lines", n)
	}
	if n := len(Wrap(Text(Plain, strings.Repeat("x", 1_000_000)), 80)); n != 12_500 {
		t.Errorf("%d lines", n)
	}
}

func FuzzWrap(f *testing.F) {
	f.Add("- one two 日本語。 👩\u200d💻\t\x1b[31m", "x", 7)
	f.Add("e\u0301", "\u0301", 1)
	f.Fuzz(func(t *testing.T, a, b string, width int) {
		width = min(max(width, 1), 300)
		a, b = strings.ReplaceAll(plain.Text(a), "\n", " "), strings.ReplaceAll(plain.Text(b), "\n", " ")
		a, b = strings.ReplaceAll(a, "\r", " "), strings.ReplaceAll(b, "\r", " ")
		in := Line{{Text: a}, {Text: b, Role: Bold}}
		var kept strings.Builder
		for _, l := range Wrap(in, width) {
			if l.Width() > width {
				t.Fatalf("%q is wider than %d", l, width)
			}
			kept.WriteString(l.String())
		}
		if width < 4 { // wide characters may have lost their place
			return
		}
		letters := func(s string) string {
			return strings.Map(func(r rune) rune {
				if r == ' ' || r == '\t' {
					return -1
				}
				return r
			}, s)
		}
		if got, want := letters(kept.String()), letters(a+b); got != want {
			t.Fatalf("%q became %q", want, got)
		}
	})
}
