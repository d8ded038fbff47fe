package markdown

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/surface/tui/style"
	"github.com/hew-agent/hew/internal/tool"
)

// marks show in a golden file what has a role, in front of the text.
func golden(t *testing.T, name string, lines []style.Line) {
	t.Helper()
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	path := filepath.Join("testdata", "golden", name)
	if os.Getenv("HEW_GOLDEN") == "write" {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("%s (HEW_GOLDEN=write makes it anew):\n%s\nwant\n%s", name, b.String(), want)
	}
}

// views are one of each kind, and what is hard about them.
func views() map[string]tool.View {
	old := "package a\n\nimport \"fmt\"\n\nfunc main() {\n\tfmt.Println(\"hello, world\")\n}\n" + strings.Repeat("// filler\n", 30) + "var x = 1\n/* a comment\nof two lines */\n"
	changed := strings.NewReplacer("hello, world", "hello, all of you", "var x = 1", "var x, y = 1, 2\nvar long = \""+strings.Repeat("words and ", 12)+"\"", "of two", "of 2").Replace(old)
	return map[string]tool.View{
		"text":     tool.TextView{Text: "first line\n\ttabbed \x1b[31mred\x1b[0m \u202eabc\r\n" + strings.Repeat("many words ", 30) + "\nlast\n\n"},
		"diff":     tool.DiffView{Path: "cmd/main.go", Old: old, New: changed},
		"created":  tool.DiffView{Path: "a/new.py", New: "def f():\n    return None\n", Created: true},
		"deleted":  tool.DiffView{Path: "gone.txt", Old: "one\ntwo\n"},
		"same":     tool.DiffView{Path: "same.txt", Old: "a", New: "a"},
		"terminal": tool.TerminalView{Command: "go test ./... |\n  grep -v ok", Output: "--- FAIL: TestX\n" + strings.Repeat("    x_test.go:12: want 1, got 2\n", 12) + "FAIL\n", ExitCode: 1},
		"todo": tool.ListView{Title: "To-do", Items: []tool.Item{
			{Text: "Read the parser", State: "completed"},
			{Text: "Write the failing test for the last token of the input", State: "completed"},
			{Text: "Repair the loop", State: "in_progress"},
			{Text: "Run everything", State: "pending"},
			{Text: "Write it down", State: "pending"},
		}},
		"found": tool.ListView{Title: "3 files", Items: []tool.Item{{Text: "a.go"}, {Text: "b/c.go"}, {Text: "日本語/名前.go"}}},
		"table": tool.TableView{Header: []string{"Name", "Tokens", "What"}, Rows: [][]string{{"system", "12,000", "the words that hew says first"}, {"日本語", "3", "a wide name"}, {"short"}}},
		"nested": tool.NestedView{Title: "explore: find the parser", Views: []tool.View{
			tool.TextView{Text: "Read parser.go"}, tool.TerminalView{Command: "rg token", Output: "a\nb\nc"}, tool.NestedView{Title: "inner", Views: []tool.View{tool.TextView{Text: "deep"}}},
		}},
	}
}

func TestViews(t *testing.T) {
	for name, v := range views() {
		for _, width := range []int{40, 80, 200} {
			full, short := View(v, width, Options{}), View(v, width, Options{Max: 4, Bare: true})
			for _, l := range append(full[:len(full):len(full)], short...) {
				if l.Width() > width {
					t.Errorf("%s: %q is wider than %d", name, l.String(), width)
				}
				if strings.ContainsAny(l.String(), "\x1b\u202e\n\t") {
					t.Errorf("%s: %q could steer the terminal", name, l.String())
				}
			}
			lines := append(full, style.Line{{Text: "--- short:"}})
			golden(t, fmt.Sprintf("%s.%d", name, width), append(lines, short...))
		}
	}
}

func TestSample(t *testing.T) {
	for _, width := range []int{40, 80, 200} {
		golden(t, fmt.Sprintf("sample.%d", width), Render(sample(t), width))
	}
}

func TestSide(t *testing.T) {
	golden(t, "side.120", Side(views()["diff"].(tool.DiffView), 120, Options{}))
	for _, l := range Side(views()["diff"].(tool.DiffView), 100, Options{Max: 3}) {
		if l.Width() > 100 {
			t.Errorf("%q is too wide", l.String())
		}
	}
}

func TestThinking(t *testing.T) {
	s := "**Planning the change**\n\nI will read `a.go` first.\nThen I write."
	if got := Thinking(s, 30, 1); len(got) != 1 || got[0].String() != "Planning the change** I will …" || got[0][0].Role != style.Thought {
		t.Errorf("%v", got)
	}
	if got := Thinking(s, 30, 0); len(got) != 4 || got[3].String() != "Then I write." || got[3][0].Role != style.Thought {
		t.Errorf("%v", got)
	}
	if got := Thinking(s, 30, 2); len(got) != 3 || got[2].String() != "… +2 lines" {
		t.Errorf("%v", got)
	}
	if got := Thinking(" \n", 30, 0); got != nil {
		t.Errorf("%v", got)
	}
}

func TestWordsOfALine(t *testing.T) {
	show := func(l style.Line) string {
		var b strings.Builder
		for _, s := range l {
			if s.Role == style.AddedWord || s.Role == style.RemovedWord {
				s.Text = "[" + s.Text + "]"
			}
			b.WriteString(s.Text)
		}
		return b.String()
	}
	for _, c := range [][4]string{
		{"return len(a)", "return len(b)", "return len([a])", "return len([b])"},
		{"one two three", "one 2 3 three", "one [two] three", "one [2 3] three"},
		{"a := b", "a := b + c", "a := b", "a := b [+ c]"},
		{"nothing alike", "quite other words", "nothing alike", "quite other words"},
		{"日本 x", "日本 y", "日本 [x]", "日本 [y]"},
	} {
		list := []edit{{kind: '-', text: style.Text(style.Plain, c[0])}, {kind: '+', text: style.Text(style.Plain, c[1])}}
		pairUp(list, c[:2])
		if a, b := show(list[0].text), show(list[1].text); a != c[2] || b != c[3] {
			t.Errorf("%q → %q: %s, %s", c[0], c[1], a, b)
		}
	}
}

// A change of 20,000 lines is cut, with a count, at a cost that what is shown bounds.
func TestHugeDiffIsCutAndCounted(t *testing.T) {
	h := tool.Hunk{OldStart: 1, NewStart: 1}
	for i := range 20000 {
		h.Lines = append(h.Lines, fmt.Sprintf("+line %d", i))
	}
	got := Diff(tool.DiffView{Path: "x", Created: true, Hunks: []tool.Hunk{h}}, 80, Options{Max: 10})
	if len(got) != 12 || got[0].String() != "x new +20000" || got[11].String() != "… +19990 lines" {
		t.Errorf("%d lines, %q … %q", len(got), got[0].String(), got[len(got)-1].String())
	}
	if all := Diff(tool.DiffView{Path: "x", Hunks: []tool.Hunk{h}}, 80, Options{}); len(all) != 20001 {
		t.Errorf("%d lines of 20001", len(all))
	}
}

func FuzzView(f *testing.F) {
	f.Add("a\nb\nc", "a\nB c\nd", 40, 3)
	f.Fuzz(func(t *testing.T, a, b string, width, most int) {
		width, most = 20+max(width, -width, 0)%200, max(most, -most, 0)%30
		d := tool.DiffView{Path: "x.go", Old: a, New: b}
		for _, v := range []tool.View{tool.TextView{Text: a}, d, tool.TerminalView{Command: a, Output: b}, tool.ListView{Title: a, Items: []tool.Item{{Text: b, State: "pending"}}}, tool.TableView{Header: []string{a}, Rows: [][]string{{b, a}}}} {
			out := View(v, width, Options{Max: most})
			if s, ok := v.(tool.DiffView); ok {
				out = append(out, Side(s, width, Options{Max: most})...)
			}
			for _, l := range out {
				if l.Width() > width || strings.ContainsAny(l.String(), "\n\t\r\x1b") {
					t.Fatalf("%q is %d wide, or steers", l.String(), l.Width())
				}
			}
		}
	})
}
