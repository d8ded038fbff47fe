package editor

import (
	"slices"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/surface/tui/input"
)

func TestActionsAreTheEditorsKeys(t *testing.T) {
	t.Parallel()
	e := New(Config{Recall: func(scope string) []Entry { return []Entry{{Text: "from " + scope}} }})
	keys(e, "'one")
	for _, c := range []struct {
		action string
		out    Outcome
		text   string
	}{
		{"chat:newline", Changed, "one\n"},
		{"chat:undo", Changed, "one"},
		{"chat:redo", Changed, "one\n"},
		{"chat:undo", Changed, "one"},
		{"chat:stash", Changed, ""},
		{"chat:stash", Changed, "one"},
		{"chat:submit", Submit, "one"},
		{"chat:externalEditor", EditOutside, "one"},
		{"history:previous", Changed, "from project"},
		{"history:next", Changed, "one"},
		{"chat:cancel", None, "one"},
		{"history:search", Changed, "one"},
		{"historySearch:scope", Changed, "one"},
		{"historySearch:execute", Submit, "from project"},
		{"chat:clearInput", Changed, ""},
	} {
		out, ok := e.Act(c.action)
		if got := e.Draft().Text; !ok || out != c.out || got != c.text {
			t.Errorf("%s: %v %v %q, want %v %q", c.action, ok, out, got, c.out, c.text)
		}
	}
	if _, ok := e.Act("app:exit"); ok {
		t.Error("the editor takes an action that is not its own")
	}
}

func TestContexts(t *testing.T) {
	t.Parallel()
	e := New(Config{
		Recall:   func(string) []Entry { return nil },
		Complete: func(byte, string) []Candidate { return []Candidate{{Text: "/x", Label: "/x"}} },
		Style:    Vim,
	})
	if e.Context() != "Chat" || e.First(input.Press{Key: "a", Text: "a"}) || !e.First(input.Press{Key: "esc"}) {
		t.Error(e.Context())
	}
	keys(e, "'/")
	if e.Context() != "Autocomplete" || e.First(input.Press{Key: "esc"}) {
		t.Error(e.Context())
	}
	keys(e, "esc ctrl+r")
	if e.Context() != "HistorySearch" {
		t.Error(e.Context())
	}
	keys(e, "esc esc")
	if e.Context() != "Chat" || !e.First(input.Press{Key: "ctrl+r"}) || e.First(input.Press{Key: "esc"}) || e.First(input.Press{Key: "ctrl+o"}) {
		t.Error(e.Context(), e.Mode())
	}
}

func TestWhatWasEditedOutsideKeepsItsPictures(t *testing.T) {
	t.Parallel()
	e := New(Config{})
	keys(e, "'see_")
	e.AddImage("/a.png")
	e.Handle(input.Paste{Text: strings.Repeat("long\n", 5)})
	e.Replace(e.Draft().Text + "more\n")
	d := e.Draft()
	if d.Text != "see [Image #1] "+strings.Repeat("long\n", 5)+"more" || d.Images[1] != "/a.png" || len(d.Pastes) != 0 {
		t.Errorf("%+v", d)
	}
	e.Replace("nothing of it")
	if d := e.Draft(); len(d.Images) != 0 {
		t.Errorf("%+v", d)
	}
	keys(e, "ctrl+_")
	if got := e.Draft().Text; !strings.HasSuffix(got, "more") {
		t.Errorf("not to be undone: %q", got)
	}
}

func TestDropped(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]string{
		"/home/a/pic.png":                         {"/home/a/pic.png"},
		" '/home/a/my pic.png' ":                  {"/home/a/my pic.png"},
		`/home/a/my\ pic.png`:                     {"/home/a/my pic.png"},
		`"/home/a/it's.png"`:                      {"/home/a/it's.png"},
		"/home/a/my pic.png":                      {"/home/a/my pic.png"},
		"file:///home/a/my%20pic.png":             {"/home/a/my pic.png"},
		"file://localhost/x.png\r\nfile:///y.png": {"/x.png", "/y.png"},
		"/a.png /b.png":                           {"/a.png", "/b.png"},
		"'/a b.png' '/c d.png'":                   {"/a b.png", "/c d.png"},
		"~/pic.png":                               {"~/pic.png"},
		`C:\Users\me\pic.png`:                     {`C:\Users\me\pic.png`},
		"file:///C:/Users/me/pic.png":             {"C:/Users/me/pic.png"},
		"hello world":                             nil,
		"see /a.png":                              nil,
		"/a.png is broken\nand so on":             nil,
		"file://elsewhere/a.png":                  nil,
		"'/a.png":                                 nil,
		"/":                                       nil,
		"":                                        nil,
		"/x" + strings.Repeat("y", maxDropped):    nil,
	} {
		if got := Dropped(in); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if !IsPicture("/a.PNG") || IsPicture("/png") || IsPicture("/a.svg") {
		t.Error("pictures are told by their extension")
	}
}

func TestTabCompletesShellCommands(t *testing.T) {
	t.Parallel()
	e := New(Config{Complete: func(kind byte, q string) []Candidate {
		if kind == '!' && strings.HasPrefix("make test", q) {
			return []Candidate{{Text: "make test", Label: "make test"}}
		}
		return nil
	}})
	keys(e, "'!ma")
	if e.MenuOpen() {
		t.Error("a shell command is completed without being asked")
	}
	keys(e, "tab")
	if got := shown(e); got != "!make test |" {
		t.Errorf("%q", got)
	}
	if keys(e, "tab") != Changed || e.MenuOpen() {
		t.Error("nothing fits, and a menu is open")
	}
}

func TestSearchShowsTheWholePrompt(t *testing.T) {
	t.Parallel()
	e := New(Config{Recall: func(string) []Entry { return []Entry{{Text: "first\n\x1b[31msecond"}, {Text: "other"}} }})
	keys(e, "ctrl+r")
	var screen []string
	for _, l := range e.Draw(60, 12).Lines {
		screen = append(screen, strings.TrimRight(l.String(), " "))
	}
	if want := `  │ \u001b[31msecond`; !slices.Contains(screen, want) {
		t.Errorf("%q", screen)
	}
	for _, size := range [][2]int{{40, 3}, {9, 1}, {200, 60}} {
		f := e.Draw(size[0], size[1])
		for _, l := range f.Lines {
			if l.Width() > size[0] || len(f.Lines) > size[1] {
				t.Errorf("%v: %q", size, l.String())
			}
		}
	}
}
