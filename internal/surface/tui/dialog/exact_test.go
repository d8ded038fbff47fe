package dialog

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hew-agent/hew/internal/surface/tui/style"
)

func TestExact(t *testing.T) {
	for _, c := range []struct {
		name, text string
		width      int
		want       []string
	}{
		{"as it is", "ls  -l", 10, []string{"ls  -l"}},
		{"lines", "a\nb\n", 10, []string{"a", "b", ""}},
		{"wrapped", "one two three", 10, []string{"one two ", "┊ three"}},
		{"no blank near the edge", "abcdefghijklmnop", 10, []string{"abcdefghij", "┊ klmnop"}},
		{"blanks", "a" + strings.Repeat(" ", 25) + "b", 40, []string{"a⟨25 spaces⟩b"}},
		{"few blanks", "a" + strings.Repeat(" ", 24) + "b", 40, []string{"a" + strings.Repeat(" ", 24) + "b"}},
		{"indentation", strings.Repeat(" ", 30) + "b", 40, []string{strings.Repeat(" ", 30) + "b"}},
		{"tabs", "\tx" + strings.Repeat("\t", 30), 40, []string{"⇥ x⟨30 tabs⟩"}},
		{"both", "x" + strings.Repeat("\t ", 30), 40, []string{"x⟨60 blanks⟩"}},
		{"void", "a\n\n\nb\n\n\n\n\nc", 40, []string{"a", "", "", "b", "⟨4 empty lines⟩", "c"}},
		{"steering", "a\x1b[2J\rb", 40, []string{`a\u001b[2J\u000db`}},
		{"hidden", "a\u3164\u200b\ufe0f\u00a0b", 60, []string{`a\u3164\u200b\ufe0f\u00a0b`}},
		{"wide", "日本語日本語", 8, []string{"日本語日", "┊ 本語"}},
	} {
		var got []string
		for _, l := range exact(c.text, "", style.Plain, c.width) {
			got = append(got, l.String())
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func TestExactMarksThePart(t *testing.T) {
	want := []style.Line{
		{{Text: "cd x && "}, {Text: "git", Role: style.Warning}},
		{{Text: "push", Role: style.Warning}, {Text: " | cat"}},
	}
	if d := cmp.Diff(want, exact("cd x && git\npush | cat", "git\npush", style.Plain, 40)); d != "" {
		t.Error(d)
	}
}

// No letter is lost, whatever the width.
func FuzzExact(f *testing.F) {
	f.Add("echo a b && rm -rf /\n\n日本\u200d\x1b[1m", 8)
	f.Add(strings.Repeat("x ", 60), 2)
	f.Add("e\u0301\u0301👩\u200d💻🇩🇪", 3)
	f.Fuzz(func(t *testing.T, text string, width int) {
		width = min(max(width, 8), 300)
		letters := strings.NewReplacer(" ", "", "⇥", "", "┊", "", "⟨", "", "⟩", "")
		var got strings.Builder
		for _, l := range exact(text, "", style.Plain, width) {
			if l.Width() > width {
				t.Fatalf("%q is wider than %d", l.String(), width)
			}
			got.WriteString(letters.Replace(l.String()))
		}
		var want strings.Builder
		void := 0
		for line := range strings.SplitSeq(text, "\n") {
			if line == "" {
				void++
			} else {
				void = 0
			}
			if void > longVoid {
				return // counted
			}
			want.WriteString(letters.Replace(spans(line, style.Plain, -1, -1).String()))
		}
		if got.String() != want.String() {
			t.Fatalf("%q became %q", want.String(), got.String())
		}
	})
}
