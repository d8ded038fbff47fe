package editor

import (
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/surface/tui/input"
)

// at sets text with the cursor at the bar.
func at(e *Editor, s string) {
	before, after, _ := strings.Cut(s, "|")
	e.buf = newBuffer(before)
	e.cur = e.buf.end()
	e.buf.splice(e.cur, after)
}

// shown is the text with a bar at the cursor.
func shown(e *Editor) string {
	b := newBuffer(e.buf.String())
	b.insert(e.cur, "|")
	return e.chips.draft(b.String()).Shown
}

// keys presses keys by name; a word in quotes is typed.
func keys(e *Editor, list string) Outcome {
	last := None
	for k := range strings.FieldsSeq(list) {
		if text, ok := strings.CutPrefix(k, "'"); ok {
			for _, r := range strings.ReplaceAll(text, "_", " ") {
				last = e.Handle(input.Press{Key: string(r), Text: string(r)})
			}
			continue
		}
		p := input.Press{Key: k}
		switch {
		case k == "space":
			p.Text = " "
		case len([]rune(k)) == 1:
			p.Text = k
		}
		last = e.Handle(p)
	}
	return last
}

func TestEditing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, keys, after string }{
		{"|", "'hello", "hello|"},
		{"one two|", "ctrl+a ctrl+k", "|"},
		{"one two|", "ctrl+w", "one |"},
		{"one two|", "alt+b alt+b ctrl+k ctrl+y", "one two|"},
		{"one two|", "ctrl+w ctrl+w ctrl+y", "one two|"},
		{"a|", "ctrl+w 'x ctrl+w ctrl+y alt+y", "a|"},
		{"one|", "ctrl+j 'two up", "one|\ntwo"},
		{"abcd\nx\nabcd|", "up up", "abcd|\nx\nabcd"},
		{"e\u0301x|", "backspace backspace", "|"},
		{"👩‍👩‍👧x|", "left backspace", "|x"},
		{"日本|", "left", "日|本"},
		{"ab|", "backspace ctrl+_", "ab|"},
		{"|", "'ab_cd ctrl+_", "ab |"},
		{"one\\|", "enter", "one\n|"},
		{"one\n|two", "backspace", "one|two"},
		{"one|\ntwo", "delete", "one|two"},
		{"one|\ntwo", "ctrl+k", "one|two"},
		{"foo bar|", "alt+b alt+u", "foo BAR|"},
	} {
		e := New(Config{})
		at(e, c.before)
		keys(e, c.keys)
		if got := shown(e); got != c.after {
			t.Errorf("%q, %s: %q, want %q", c.before, c.keys, got, c.after)
		}
	}
}

func TestEnterSubmits(t *testing.T) {
	t.Parallel()
	e := New(Config{})
	if o := keys(e, "'x enter"); o != Submit || e.Draft().Text != "x" {
		t.Error(o, e.Draft())
	}
}

func TestALongPasteIsAChip(t *testing.T) {
	t.Parallel()
	e := New(Config{})
	long := strings.Repeat("line\n", 40)
	keys(e, "'see_")
	e.Handle(input.Paste{Text: strings.ReplaceAll(long, "\n", "\r")})
	keys(e, "'_now")
	d := e.Draft()
	if d.Text != "see "+long+" now" || d.Shown != "see [Pasted text #1 +40 lines] now" || d.Pastes[1] != long {
		t.Errorf("%+v", d)
	}
	keys(e, "ctrl+a right right right right")
	e.cur = e.buf.right(e.cur)
	keys(e, "backspace")
	if got := e.Draft().Shown; got != "see  now" {
		t.Errorf("one key does not take the chip away: %q", got)
	}
	e.SetDraft(d)
	if again := e.Draft(); again.Text != d.Text || again.Shown != d.Shown {
		t.Errorf("a draft does not come back: %+v", again)
	}
	e.Set("")
	e.Handle(input.Paste{Text: "a\nb"})
	if got := e.Draft().Shown; got != "a\nb" {
		t.Errorf("a short paste is %q", got)
	}
}

func TestHistoryKeepsTheDraft(t *testing.T) {
	t.Parallel()
	e := New(Config{Recall: func(string) []Entry { return []Entry{{Text: "newest"}, {Text: "older\nlines"}} }})
	keys(e, "'draft up")
	if got := shown(e); got != "newest|" {
		t.Error(got)
	}
	keys(e, "up")
	if got := shown(e); got != "older|\nlines" {
		t.Error(got)
	}
	if o := keys(e, "up"); o != Leave {
		t.Error("beyond the oldest:", o)
	}
	keys(e, "down down down")
	if got := e.Draft().Text; got != "draft" {
		t.Error(got)
	}
	keys(e, "ctrl+r 'old enter")
	if got := e.Draft().Text; got != "older\nlines" {
		t.Error(got)
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	e := New(Config{Complete: func(kind byte, q string) []Candidate {
		var out []Candidate
		for _, n := range []string{"main.go", "make.sh"} {
			if strings.HasPrefix(n, q) && kind == '@' {
				out = append(out, Candidate{Text: "@" + n, Label: n})
			}
		}
		return out
	}})
	keys(e, "'look_at_@ma down tab 'x")
	if got := shown(e); got != "look at @make.sh x|" {
		t.Error(got)
	}
	keys(e, "ctrl+u '@ma esc 'i")
	if e.MenuOpen() {
		t.Error("the menu opens again for a word that it was closed for")
	}
}

func TestDrawFits(t *testing.T) {
	t.Parallel()
	hostile := "a\tb\x1b[31m 日本語 " + strings.Repeat("wide字", 400) + "\u202e x\n" + strings.Repeat("line\n", 300)
	for _, size := range [][2]int{{40, 10}, {80, 24}, {200, 60}, {9, 2}} {
		e := New(Config{})
		e.Set(hostile)
		for range 50 {
			f := e.Draw(size[0], size[1])
			if len(f.Lines) > size[1] {
				t.Fatalf("%v: %d lines", size, len(f.Lines))
			}
			for _, l := range f.Lines {
				if l.Width() > size[0] || strings.ContainsAny(l.String(), "\x1b\u202e\t") {
					t.Fatalf("%v: %q is %d wide", size, l.String(), l.Width())
				}
			}
			if f.Row >= len(f.Lines) || f.Col >= size[0] {
				t.Fatalf("%v: cursor at %d,%d of %d lines", size, f.Row, f.Col, len(f.Lines))
			}
			keys(e, "up")
		}
	}
}
