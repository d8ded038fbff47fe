package dialog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/input"
	"github.com/hew-agent/hew/internal/surface/tui/style"
)

func sessions() List {
	return List{
		Title: "Resume a session", Empty: "no sessions yet",
		Rows: []Row{
			{Label: "Fix the failing test", Detail: "main", Right: "2 min ago", Section: "Today", Mark: "●", MarkRole: style.Accent},
			{Label: "Write the parser", Detail: "feature/parser", Right: "3 h ago", Section: "Today"},
			{Label: "日本語の長い名前のセッション", Right: "1 d ago", Section: "Earlier"},
		},
		Keys: []Key{{"enter", "opens"}, {"d", "deletes"}, {"r", "renames"}},
		Preview: func(row, width int) []style.Line {
			return paragraph(style.Plain, strings.Repeat(fmt.Sprint("prompt ", row, "\n"), 30), width)
		},
	}
}

func tree() List {
	return List{Title: "Agents", Keys: []Key{{"x", "stops"}}, Many: true, Rows: []Row{
		{Label: "explorer", Mark: "◐"},
		{Label: "reads files", Depth: 1},
		{Label: "deeper", Depth: 2},
		{Label: "tester", Mark: "✓"},
	}}
}

func numbered1(n int) []style.Line {
	var out []style.Line
	for i := range n {
		out = append(out, style.Text(style.Plain, fmt.Sprintf("line %d of the text", i+1)))
	}
	return out
}

func TestGenericPictures(t *testing.T) {
	shares := []Share{{"system prompt", 3200}, {"tools", 14100}, {"memory", 40}, {"messages", 88000}, {"MCP tools", 0}}
	for name, c := range map[string]struct {
		make func() frame.Widget
		keys string
	}{
		"list":          {func() frame.Widget { l := sessions(); return NewList(l, 1) }, ""},
		"list-filtered": {func() frame.Widget { l := sessions(); return NewList(l, 0) }, "/ w p"},
		"list-empty":    {func() frame.Widget { return NewList(List{Title: "Hooks", Empty: "no hooks are set"}, 0) }, ""},
		"tree":          {func() frame.Widget { l := tree(); return NewList(l, 0) }, "space down left"},
		"pager": {func() frame.Widget {
			return &Pager{Title: "Transcript", Lines: func(int) []style.Line { return numbered1(100) }}
		}, "/ t e x t enter n"},
		"pager-wide": {func() frame.Widget {
			return &Pager{Title: "Wide", Lines: func(int) []style.Line { return []style.Line{style.Text(style.Plain, strings.Repeat("0123456789", 30))} }}
		}, "right right"},
		"field":        {func() frame.Widget { return NewField(Field{Label: "Name", Value: strings.Repeat("日本語 ", 30)}) }, "left left"},
		"field-secret": {func() frame.Widget { return NewField(Field{Label: "Key", Secret: true, Value: "sk-secret"}) }, ""},
		"meter": {func() frame.Widget {
			return &Pager{Title: "Context", Lines: func(width int) []style.Line { return Meter(shares, 200000, width) }}
		}, ""},
		"firstrun": {func() frame.Widget {
			return NewFirstRun(FirstRunConfig{Found: "ANTHROPIC_API_KEY"}, newClock().options())
		}, ""},
	} {
		golden(t, name, func(draw func(frame.Widget)) frame.Widget {
			w := c.make()
			draw(w)
			for k := range strings.FieldsSeq(c.keys) {
				ev := input.Press{Key: k}
				if len(k) == 1 {
					ev.Text = k
				}
				w.Handle(ev)
				draw(w)
			}
			return w
		})
	}
}

func TestListFilters(t *testing.T) {
	l := sessions()
	w := NewList(l, 0)
	k := newClock()
	for keys, want := range map[string][]int{"": {0, 1, 2}, "p a r": {1}, "/ d": {0, 1, 2}, "m a i n": {0}, "f x t": {0}, "/ t": {0, 1}, "q": nil} {
		press(w, k, strings.Fields(keys)...)
		if !slices.Equal(w.hits, want) {
			t.Errorf("%q finds %v, want %v", keys, w.hits, want)
		}
		press(w, k, "esc")
		if w.Left() != (keys == "") {
			t.Errorf("%q: esc leaves %v", keys, w.Left())
		}
		w.done = false
	}
	press(w, k, "d")
	if row, key := w.Taken(); row != 0 || key != "d" {
		t.Errorf("took %d %q", row, key)
	}
	press(w, k, "/", "d")
	if _, key := w.Taken(); key != "" {
		t.Errorf("a letter of the filter acted: %q", key)
	}
}

func TestTreeFolds(t *testing.T) {
	l := tree()
	w, k := NewList(l, 1), newClock()
	for _, c := range []struct {
		key  string
		row  int
		hits []int
	}{
		{"left", 1, []int{0, 1, 3}},
		{"left", 0, []int{0, 1, 3}},
		{"left", 0, []int{0, 3}},
		{"right", 0, []int{0, 1, 3}},
		{"down", 1, []int{0, 1, 3}},
		{"right", 1, []int{0, 1, 2, 3}},
		{"G", 3, []int{0, 1, 2, 3}},
		{"k", 2, []int{0, 1, 2, 3}},
	} {
		press(w, k, c.key)
		if w.Row() != c.row || !slices.Equal(w.hits, c.hits) {
			t.Errorf("%s: at %d of %v, want %d of %v", c.key, w.Row(), w.hits, c.row, c.hits)
		}
	}
	press(w, k, "space", "g", "space", "G", "space", "space")
	if got := w.Ticked(); !slices.Equal(got, []int{0, 2}) {
		t.Error(got)
	}
}

func TestListMouse(t *testing.T) {
	l := sessions()
	w := NewList(l, 0)
	w.Draw(80, 24)
	w.Handle(input.Mouse{Y: 3, Kind: input.Click})
	if w.Row() != 1 || w.Done() {
		t.Errorf("a click chose row %d", w.Row())
	}
	w.Draw(80, 24)
	w.Handle(input.Mouse{Y: 1, Kind: input.Click}) // a section
	w.Handle(input.Mouse{Y: 3, Kind: input.Click})
	if row, key := w.Taken(); row != 1 || key != "enter" {
		t.Errorf("a second click took %d %q", row, key)
	}
}

// Ten thousand rows are filtered and drawn in the time of a key.
func BenchmarkList(b *testing.B) {
	l := List{Title: "Many"}
	for i := range 10_000 {
		l.Rows = append(l.Rows, Row{Label: fmt.Sprintf("session %d about the parser", i), Detail: "feature/branch"})
	}
	w := NewList(l, 5000)
	for b.Loop() {
		w.Handle(input.Press{Key: "x", Text: "7"})
		w.Draw(200, 60)
		w.Handle(input.Press{Key: "backspace"})
	}
}

func TestPagerSearches(t *testing.T) {
	p := &Pager{Lines: func(int) []style.Line { return numbered1(300) }}
	p.Draw(80, 24)
	k := newClock()
	for _, c := range []struct {
		keys string
		top  int
	}{
		{"/ 7 7 enter", 76},
		{"n", 176},
		{"n", 276},
		{"n", 76},
		{"N", 276},
		{"g", 0},
		{"G", 278},
		{"k", 277},
		{"pgup", 255},
		{"/ L I N E enter", 255},
		{"g / l i n e enter n", 1},
	} {
		if press(p, k, strings.Fields(c.keys)...); p.top != c.top {
			t.Errorf("%s: at %d, want %d", c.keys, p.top, c.top)
		}
	}
}

func TestHighlight(t *testing.T) {
	l := style.Line{{Text: "abc", Role: style.Dim}, {Text: "def", Role: style.Bold}, {Text: "abc", Role: style.Plain}}
	p := Pager{query: "cd"}
	want := style.Line{
		{Text: "ab", Role: style.Dim}, {Text: "c", Role: style.Selected}, {Text: "d", Role: style.Selected}, {Text: "ef", Role: style.Bold}, {Text: "abc", Role: style.Plain},
	}
	if d := cmp.Diff(want, highlight(l, p.found(l.String()))); d != "" {
		t.Error(d)
	}
}

func TestFieldEdits(t *testing.T) {
	for keys, want := range map[string]string{
		"a b c":                       "abc",
		"a b left x":                  "axb",
		"a b home x":                  "xab",
		"a b home delete":             "b",
		"a space b c ctrl+w x":        "a x",
		"a b c left ctrl+k":           "ab",
		"a b c left ctrl+u":           "c",
		"e\u0301 日 backspace x":       "e\u0301x",
		"👩\u200d💻 a left backspace b": "ba",
		"\x1b[31m a":                  "[31ma",
	} {
		f, k := NewField(Field{}), newClock()
		for s := range strings.FieldsSeq(keys) {
			if strings.ContainsAny(s, "\u0301\u200d\x1b") {
				f.Handle(input.Press{Key: "x", Text: s})
				continue
			}
			press(f, k, s)
		}
		if f.Value != want {
			t.Errorf("%q: %q, want %q", keys, f.Value, want)
		}
	}
	f := NewField(Field{})
	f.Handle(input.Paste{Text: "  one\r\ntwo\nthree\n"})
	if f.Value != "one two three" || f.Done() {
		t.Errorf("%q", f.Value)
	}
}

func TestMeterFits(t *testing.T) {
	for width := 1; width < 220; width++ {
		for _, shares := range [][]Share{nil, {{"a", 1}}, {{"a", 5}, {"b", 1000}}, {{"too much", 3000}}, {{"none", 0}, {"wrong", -4}}} {
			cells := 0
			for _, l := range Meter(shares, 1000, width) {
				if l.Width() > width {
					t.Fatalf("%d cells at %d", l.Width(), width)
				}
				if s := strings.TrimSpace(l.String()); strings.Trim(s, "■□") == "" {
					cells += len([]rune(s))
				}
			}
			if width >= 40 && cells < 80 {
				t.Errorf("%d cells at width %d", cells, width)
			}
		}
	}
	got := spread([]Share{{"a", 1}, {"b", 333}, {"c", 333}, {"d", 333}}, 1000, 100)
	if want := []int{1, 33, 33, 33}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestFirstRun(t *testing.T) {
	var shown []string
	for _, c := range []struct {
		keys string
		want Setup
	}{
		{"1 enter 1", Setup{Access: FoundKey, Theme: "dark"}},
		{"2 enter k e y enter down enter 2", Setup{Access: TypedKey, Key: "key", Theme: "light", Trust: Yes}},
		{"3 h enter ctrl+u h t t p : / / g enter enter enter 3", Setup{Access: OwnGateway, Address: "http://g", Theme: "dark", Trust: NoGoOn}},
		{"2 x esc 4 enter 1", Setup{Theme: "dark"}},
	} {
		k := newClock()
		f := NewFirstRun(FirstRunConfig{
			Found: "A_KEY", Themes: []string{"dark", "light"}, Trust: NewTrust("/p", nil, k.options()),
			Sample: func(width int) []style.Line { return numbered1(3) }, Show: func(s string) { shown = append(shown, s) },
		}, k.options())
		ready(f, k)
		for s := range strings.FieldsSeq(c.keys) {
			press(f, k, s)
			k.pass(1e9)
		}
		if d := cmp.Diff(c.want, f.Setup()); d != "" || !f.Done() || f.Left() {
			t.Errorf("%s: done %v %s\n%s", c.keys, f.Done(), d, picture(f.Draw(80, 24)))
		}
	}
	if !slices.Equal(shown, []string{"light"}) {
		t.Error(shown)
	}
}

func TestTabLine(t *testing.T) {
	names := []string{"Allow", "Ask", "Deny", "Folders", "A very long name of a tab"}
	for _, c := range []struct {
		at, width int
		want      string
	}{{0, 80, " Allow   Ask   Deny   Folders   A very long name of a tab"}, {4, 40, "‹Folders   A very long name of a tab"}, {4, 10, "‹A very l…"}, {1, 12, "‹Ask   Deny…"}} {
		if got := strings.TrimRight(TabLine(names, c.at, c.width).String(), " "); got != c.want {
			t.Errorf("%d at %d: %q", c.at, c.width, got)
		}
	}
}
