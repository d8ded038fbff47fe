package paint

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/charmbracelet/x/vt"
	"github.com/google/go-cmp/cmp"

	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/style"
	"github.com/hew-agent/hew/internal/surface/tui/term"
)

// screen is a virtual terminal that counts what it is sent.
type screen struct {
	t             *testing.T
	emu           *vt.Emulator
	width, height int
	sent          strings.Builder
	writes        int
	parting       string
	parted        bool
}

func newScreen(t *testing.T, width, height int) *screen {
	return &screen{t: t, emu: vt.NewEmulator(width, height), width: width, height: height}
}

func (s *screen) Write(p []byte) (int, error) {
	s.writes++
	s.sent.Write(p)
	return s.emu.Write(p)
}

func (s *screen) Size() (width, height int) { return s.width, s.height }

func (s *screen) Parting(p string) { s.parting = p }

func (s *screen) Parted() bool {
	was := s.parted
	s.parted = false
	return was
}

func (s *screen) resize(width, height int) {
	s.width, s.height = width, height
	s.emu.Resize(width, height)
}

// bytes returns what was sent since the last call.
func (s *screen) bytes() string {
	out := s.sent.String()
	s.sent.Reset()
	return out
}

// text is the scrollback and the screen, without blank lines at the end.
func (s *screen) text() string {
	var lines []string
	for y := range s.emu.ScrollbackLen() {
		if s.emu.IsAltScreen() {
			break
		}
		var b strings.Builder
		for x := 0; x < s.width; x++ {
			c := s.emu.ScrollbackCellAt(x, y)
			if c == nil || c.Content == "" {
				b.WriteString(" ")
				continue
			}
			b.WriteString(c.Content)
			x += max(c.Width-1, 0)
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	for l := range strings.SplitSeq(s.emu.String(), "\n") {
		lines = append(lines, strings.TrimRight(l, " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n ")
}

func (s *screen) shows(want ...string) {
	s.t.Helper()
	if d := cmp.Diff(strings.Join(want, "\n"), s.text()); d != "" {
		s.t.Error(d)
	}
}

func lines(texts ...string) []style.Line {
	var out []style.Line
	for _, t := range texts {
		out = append(out, style.Text(style.Plain, t))
	}
	return out
}

func named(t *testing.T, name string) (Theme, term.Caps) {
	t.Helper()
	c := term.Caps{Colours: term.TrueColour}
	theme, err := ThemeNamed(name, c)
	if err != nil {
		t.Fatal(err)
	}
	return theme, c
}

func live(t *testing.T, p interface{ Live(frame.Frame) error }, row, col int, texts ...string) {
	t.Helper()
	if err := p.Live(frame.Frame{Lines: lines(texts...), Row: row, Col: col, Cursor: row >= 0}); err != nil {
		t.Fatal(err)
	}
}

func TestInline(t *testing.T) {
	s := newScreen(t, 20, 5)
	theme, caps := named(t, "none")
	p := NewInline(s, caps, theme)
	live(t, p, 1, 2, "----", "> ", "----")
	s.shows("----", ">", "----")
	if at := s.emu.CursorPosition(); at.X != 2 || at.Y != 1 {
		t.Error(at)
	}
	s.bytes()
	live(t, p, 1, 2, "----", "> ", "----")
	if got := s.bytes(); got != "" {
		t.Errorf("an unchanged frame writes %q", got)
	}
	live(t, p, 1, 3, "----", "> a", "----")
	if got := s.bytes(); len(got) > 20 {
		t.Errorf("one changed line writes %d bytes: %q", len(got), got)
	}
	p.Commit(lines("one", "two and words that are too long"))
	live(t, p, 1, 3, "----", "> a", "----")
	s.shows("one", "two and words that", "are too long", "----", "> a", "----")
	live(t, p, 0, 3, "> b")
	s.shows("one", "two and words that", "are too long", "> b")
	p.Commit(lines("three"))
	live(t, p, -1, 0)
	s.shows("one", "two and words that", "are too long", "three")
	if !s.emu.CursorHidden() {
		t.Error("there is no cursor in the frame, and one on the screen")
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if at := s.emu.CursorPosition(); at.X != 0 || at.Y != 3 || s.emu.CursorHidden() {
		t.Error("after the end", at)
	}
	if s.writes != 6 {
		t.Errorf("%d writes", s.writes)
	}
}

func TestInlineHigherThanWindow(t *testing.T) {
	s := newScreen(t, 20, 4)
	theme, caps := named(t, "none")
	p := NewInline(s, caps, theme)
	p.Commit(lines("done"))
	live(t, p, 6, 1, "1", "2", "3", "4", "5", "6", "7")
	s.shows("done", "4", "5", "6", "7")
	p.Commit(lines("more"))
	live(t, p, 0, 1, "1", "2")
	s.shows("done", "more", "1", "2")
}

// The region of a frame is erased when the terminal is given back meanwhile.
func TestInlineParting(t *testing.T) {
	s := newScreen(t, 20, 6)
	theme, caps := named(t, "none")
	p := NewInline(s, caps, theme)
	p.Commit(lines("done"))
	live(t, p, 1, 1, "1", "2", "3")
	_, _ = s.emu.Write([]byte(s.parting + "$ fg\r\n"))
	s.parted = true
	p.Resize(20, 6)
	live(t, p, 1, 1, "1", "2", "3")
	s.shows("done", "$ fg", "1", "2", "3")
	p.Resize(20, 6)
	live(t, p, 0, 1, "1", "2")
	s.shows("done", "$ fg", "1", "2")
}

// Whatever is committed stands on the terminal once and in order, with the last
// frame below it, through frames of all heights and windows of all sizes.
func TestInlineRandom(t *testing.T) {
	theme, caps := named(t, "dark")
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := newScreen(t, 30+r.IntN(30), 6+r.IntN(10))
		p := NewInline(s, caps, theme)
		var want, frameNow []string
		count := 0
		word := func() string {
			count++
			return fmt.Sprintf("%d %s", count, []string{"", "ab", "日本語", "👩‍💻 x", strings.Repeat("y", 20), "é"}[r.IntN(6)])
		}
		for range 40 {
			switch r.IntN(6) {
			case 0, 1:
				var add []string
				for range 1 + r.IntN(5) {
					add = append(add, strings.TrimRight(word(), " "))
				}
				want = append(want, add...)
				p.Commit(lines(add...))
			case 2:
				if r.IntN(3) == 0 {
					// This terminal cuts a line that is too long; the height stays, as it forgets lines that it loses.
					s.resize(30+r.IntN(30), s.height)
					p.Resize(s.width, s.height)
				}
			}
			frameNow = nil
			for range 1 + r.IntN(s.height-2) {
				frameNow = append(frameNow, "| "+strings.TrimRight(word(), " "))
			}
			row := r.IntN(len(frameNow)+1) - 1
			live(t, p, row, r.IntN(5), frameNow...)
			got := s.text()
			if all := strings.Join(append(want[:len(want):len(want)], frameNow...), "\n"); got != all {
				t.Fatalf("seed %d: %s", seed, cmp.Diff(all, got))
			}
		}
		if sent := s.bytes(); strings.Contains(sent, "\x1b[3J") || strings.Contains(sent, "\x1b[2J") {
			t.Fatal("the screen was cleared")
		}
	}
}

// Where lines that became too long are wrapped by the terminal, the region is
// erased by the height it has now.
func TestInlineReflow(t *testing.T) {
	s := newScreen(t, 40, 10)
	theme, caps := named(t, "none")
	caps.Reflows = true
	p := NewInline(s, caps, theme)
	rule := strings.Repeat("-", 40)
	p.Commit(lines("done"))
	live(t, p, 2, 2, rule, "a line of twenty-five let", "> ", rule)
	s.bytes()
	s.width = 20
	p.Resize(20, 10)
	live(t, p, 1, 2, "-----", "> ", "-----")
	if got := s.bytes(); !strings.HasPrefix(got, "\r\x1b[4A"+eraseBelow) {
		t.Errorf("two lines of two rows each stand above the cursor: %q", got)
	}
}

func TestInlineStale(t *testing.T) {
	s := newScreen(t, 40, 10)
	theme, caps := named(t, "none")
	p := NewInline(s, caps, theme)
	s.width = 20
	live(t, p, 0, 0, strings.Repeat("-", 40))
	if s.writes != 0 {
		t.Error("a frame for another width was written")
	}
}

func TestSync(t *testing.T) {
	s := newScreen(t, 40, 10)
	theme, caps := named(t, "none")
	caps.Sync = true
	p := NewInline(s, caps, theme)
	live(t, p, 0, 0, "x")
	if got := s.bytes(); !strings.HasPrefix(got, "\x1b[?2026h") || !strings.HasSuffix(got, "\x1b[?2026l") {
		t.Errorf("%q", got)
	}
}

func TestHostileText(t *testing.T) {
	s := newScreen(t, 60, 10)
	theme, caps := named(t, "dark")
	p := NewInline(s, caps, theme)
	bad := "\x1b[2J\x1b]52;c;eA==\a over\rwritten \u202etxt.exe \u009b31m\ttab\nline"
	p.Commit([]style.Line{{{Text: bad, Role: style.ToolName, Link: "https://x\x1b\\\a"}}})
	live(t, p, 0, 1, bad)
	got := s.bytes()
	for _, seq := range []string{"\x1b[2J", "\x1b]52", "\a", "\rw", "\u202e", "\u009b", "\t"} {
		if strings.Contains(got, seq) {
			t.Errorf("%q came through: %q", seq, got)
		}
	}
	if !strings.Contains(got, `\u001b[2J`) {
		t.Error("what was there cannot be seen")
	}
}

func TestLinks(t *testing.T) {
	k := newInk(Theme{}, term.Caps{})
	for to, want := range map[string]string{
		"https://example.org/a?b=c": "https://example.org/a?b=c",
		"http://exämple.org/ü":      "http://ex%C3%A4mple.org/%C3%BC",
		"mailto:a@b.org":            "mailto:a@b.org",
		"file:///tmp/a b":           "file:///tmp/a%20b",
		"file://host/share":         "",
		"javascript:alert(1)":       "",
		"vscode://run":              "",
		"https://a\x1b\\b":          "",
		"https://a\x07":             "",
		"relative":                  "",
	} {
		if got := k.link(to); got != want {
			t.Errorf("link(%q) = %q, want %q", to, got, want)
		}
	}
	d := k.line(style.Line{{Text: "a", Link: "https://x.org"}, {Text: "b", Role: style.Bold, Link: "https://x.org"}, {Text: "c"}}, 10)
	if want := "\x1b]8;;https://x.org\x1b\\ab\x1b]8;;\x1b\\c"; d.text != want || d.width != 3 {
		t.Errorf("%q, %d", d.text, d.width)
	}
}

func TestFull(t *testing.T) {
	s := newScreen(t, 30, 12)
	theme, caps := named(t, "none")
	_, _ = s.emu.Write([]byte("\x1b[?1049h"))
	p := NewFull(s, caps, theme)
	draw := func(row, col int, texts ...string) string {
		if err := p.Draw(frame.Frame{Lines: lines(texts...), Row: row, Col: col, Cursor: row >= 0}); err != nil {
			t.Fatal(err)
		}
		s.shows(texts...)
		return s.bytes()
	}
	var page []string
	for i := range 12 {
		page = append(page, fmt.Sprintf("line number %d", i))
	}
	draw(3, 2, page...)
	if got := draw(3, 2, page...); got != "" {
		t.Errorf("an unchanged frame writes %q", got)
	}
	if at := s.emu.CursorPosition(); at.X != 2 || at.Y != 3 {
		t.Error(at)
	}
	next := append(append(append([]string{}, page[2:10]...), "new", "newer"), page[10:]...)
	if got := draw(3, 2, next...); len(got) > 80 {
		t.Errorf("two lines that scrolled in write %d bytes: %q", len(got), got)
	}
	if got := draw(3, 2, page...); len(got) > 100 {
		t.Errorf("back: %d bytes: %q", len(got), got)
	}
	s.resize(20, 6)
	p.Resize(20, 6)
	draw(-1, 0, page[:6]...)
}

// Every sequence of frames leaves the last one on the screen.
func TestFullRandom(t *testing.T) {
	theme, caps := named(t, "dark")
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 2))
		s := newScreen(t, 30, 14)
		_, _ = s.emu.Write([]byte("\x1b[?1049h"))
		p := NewFull(s, caps, theme)
		var doc []string
		for i := range 60 {
			doc = append(doc, []string{"same", fmt.Sprintf("n %d", i), "日本", "x"}[r.IntN(4)])
		}
		at := 20
		for range 30 {
			at = min(max(at+r.IntN(9)-4, 0), 45)
			show := append(append([]string{}, doc[at:at+11]...), "rule", fmt.Sprint(r.IntN(3)), "end")
			if err := p.Draw(frame.Frame{Lines: lines(show...)}); err != nil {
				t.Fatal(err)
			}
			if got, want := s.text(), strings.Join(show, "\n"); got != want {
				t.Fatalf("seed %d: %s", seed, cmp.Diff(want, got))
			}
		}
	}
}

func TestPlain(t *testing.T) {
	s := newScreen(t, 20, 20)
	p := NewPlain(s)
	live(t, p, 1, 2, "working 1s", "> ")
	live(t, p, 1, 2, "working 2s", "> a")
	live(t, p, 1, 2, "working 2s", "> abc")
	live(t, p, 1, 2, "working 3s", "> ab")
	p.Commit(lines("done and words that are too long"))
	live(t, p, 0, 2, "> ")
	want := "working 1s\r\n>" + " a" + "bc" + "\b \b" + "\r\ndone and words that\r\nare too long\r\n>"
	if got := s.bytes(); got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// The colours of code stand on the background of the change, up to the edge.
func TestBackgroundUnderOtherRoles(t *testing.T) {
	theme, err := ThemeNamed("dark", term.Caps{Colours: term.TrueColour})
	if err != nil {
		t.Fatal(err)
	}
	k := newInk(theme, term.Caps{Colours: term.TrueColour})
	d := k.line(style.Line{{Text: "+ ", Role: style.Added, Back: style.Added}, {Text: "if", Role: style.Keyword, Back: style.Added}, {Text: "x", Role: style.AddedWord, Back: style.Added}, {Text: "y", Back: style.Added}}, 10)
	want := "\x1b[48;2;18;48;31m+ \x1b[m\x1b[38;2;255;139;130;48;2;18;48;31mif\x1b[m\x1b[48;2;29;92;54mx\x1b[m\x1b[48;2;18;48;31my\x1b[m"
	if d.text != want || d.erased() != "\x1b[48;2;18;48;31m\x1b[K\x1b[m"+want {
		t.Errorf("%q", d.erased())
	}
}
