package editor

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/surface/tui/input"
	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// The rows of a long line after an edit are those that it would have anew.
func TestRowsOfALongLineStayTrue(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	for _, piece := range []string{"word and more ", "日本語の文 ", "x", "é\u0301\t👩‍👩‍👧 ab"} {
		e := New(Config{})
		e.Set(strings.Repeat(piece, 12_000/len(piece)))
		for range 60 {
			s := e.buf.lines[0]
			at := r.IntN(len(s))
			for at > 0 && s[at]&0xc0 == 0x80 {
				at--
			}
			e.cur = pos{0, at}
			switch r.IntN(3) {
			case 0:
				e.buf.insert(e.cur, strings.Repeat("ab c", r.IntN(40)))
			case 1:
				e.buf.insert(e.cur, "字 ")
			case 2:
				to := min(len(s), at+r.IntN(300))
				for to < len(s) && s[to]&0xc0 == 0x80 {
					to++
				}
				e.buf.cut(e.cur, pos{0, to})
			}
			width := 20 + 40*r.IntN(2)
			kept := e.wrap(0, width, e.cur.col, r.IntN(5))
			fresh := laid{text: e.buf.lines[0], width: width}
			e.lay(&fresh, len(fresh.text), 0)
			if len(kept) > len(fresh.starts) || !slices.Equal(kept, fresh.starts[:len(kept)]) {
				t.Fatalf("%q: the rows differ\n%v\n%v", piece, kept, fresh.starts)
			}
			if n := len(kept); n < len(fresh.starts) && kept[n-1] <= e.cur.col {
				t.Fatalf("%q: the row of the cursor is not there: %v", piece, kept)
			}
		}
	}
}

func TestWrapping(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		width int
		rows  string
	}{
		{"one two three", 8, "one two |three"},
		{"one two", 7, "one two"},
		{"one two ", 7, "one two "},
		{"one two x", 7, "one two |x"},
		{"abcdefghij", 4, "abcd|efgh|ij"},
		{"日本語", 5, "日本|語"},
		{"日本 語", 4, "日本 |語"},
		{"a\tb", 4, "a|\t|b"},
		{"", 4, ""},
	} {
		e := New(Config{})
		e.Set(c.text)
		var rows []string
		starts := e.wrap(0, c.width, len(c.text), 0)
		for _, r := range e.rowsOf(0, starts, 0, len(starts)) {
			rows = append(rows, c.text[r.from:r.to])
		}
		if got := strings.Join(rows, "|"); got != c.rows {
			t.Errorf("%q in %d: %q, want %q", c.text, c.width, got, c.rows)
		}
	}
}

func TestTheCursorStandsWhereItIsDrawn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text     string
		width    int
		row, col int
	}{
		{"|", 20, 0, 2},
		{"abc|", 20, 0, 5},
		{"日本|語", 20, 0, 6},
		{"e\u0301|x", 20, 0, 3},
		{"👩‍👩‍👧|", 20, 0, 4},
		{"one two |three", 11, 1, 2},
		{"a\nb|", 20, 1, 3},
		{"\tx|", 20, 0, 7},
	} {
		e := New(Config{})
		at(e, c.text)
		if f := e.Draw(c.width, 10); f.Row != c.row || f.Col != c.col || !f.Cursor {
			t.Errorf("%q: %d,%d, want %d,%d", c.text, f.Row, f.Col, c.row, c.col)
		}
	}
}

func TestUndoTakesBackEverything(t *testing.T) {
	t.Parallel()
	e := New(Config{})
	r := rand.New(rand.NewPCG(1, 2))
	all := []string{"ctrl+k", "ctrl+u", "ctrl+w", "ctrl+y", "alt+y", "alt+d", "backspace", "delete", "ctrl+j", "'some_words", "up", "down", "ctrl+a", "alt+b", "right", "alt+u", "'日本"}
	for range 300 {
		keys(e, all[r.IntN(len(all))])
		if r.IntN(20) == 0 {
			e.Handle(input.Paste{Text: "pasted\ntext"})
		}
	}
	end := e.buf.String()
	undone := 0
	for len(e.undo) > 0 {
		keys(e, "ctrl+_")
		undone++
	}
	if !e.Empty() || undone < 50 {
		t.Errorf("%d steps back: %q", undone, e.buf.String())
	}
	for len(e.redo) > 0 {
		keys(e, "alt+_")
	}
	if got := e.buf.String(); got != end {
		t.Errorf("forward again: %q, want %q", got, end)
	}
}

func BenchmarkKeyInAMegabyte(b *testing.B) {
	for name, line := range map[string]string{
		"lines": "some words of a line that is long enough to wrap once or twice on a small screen of 80\n",
		"line":  "some words of one single line that never ends ",
		"wide":  "日本語の長い文が続く、",
	} {
		for _, where := range []string{"start", "middle", "end"} {
			b.Run(fmt.Sprint(name, "/", where), func(b *testing.B) {
				e := New(Config{})
				e.Set(strings.Repeat(line, (1<<20)/len(line)))
				switch where {
				case "start":
					e.cur = pos{}
				case "middle":
					e.cur = pos{len(e.buf.lines) / 2, len(line) * (len(e.buf.lines[len(e.buf.lines)/2]) / 2 / len(line))}
				}
				e.Draw(80, 12)
				for b.Loop() {
					keys(e, "x")
					e.Draw(80, 12)
				}
			})
		}
	}
}

func TestWhatIsSelectedStandsOut(t *testing.T) {
	t.Parallel()
	e := vimEditor("one |two three")
	e.Handle(input.Paste{Text: strings.Repeat("long\n", 5)})
	press(e, "v2b")
	l := e.Draw(60, 5).Lines[0]
	var selected strings.Builder
	for _, s := range l {
		if s.Role == style.Selected {
			selected.WriteString(s.Text)
		}
	}
	if selected.String() != "one [Pasted text #1 +5 lines]t" {
		t.Errorf("%q of %q", selected.String(), l.String())
	}
}

func TestHints(t *testing.T) {
	t.Parallel()
	e := New(Config{Hint: func(line string) string {
		if line == "/deploy " {
			return "<place>"
		}
		return ""
	}})
	e.Suggest("fix the\x1b test")
	if got := e.Draw(60, 5).Lines[0].String(); got != `❯ fix the\u001b test` {
		t.Errorf("%q", got)
	}
	keys(e, "tab")
	if got := e.Draft().Text; got != "fix the\x1b test" {
		t.Errorf("%q", got)
	}
	e.Set("/deploy ")
	if got := e.Draw(60, 5).Lines[0].String(); got != "❯ /deploy <place>" {
		t.Errorf("%q", got)
	}
	keys(e, "'x")
	if got := e.Draw(60, 5).Lines[0].String(); got != "❯ /deploy x" {
		t.Errorf("%q", got)
	}
}
