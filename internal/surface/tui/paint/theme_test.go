package paint

import (
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/surface/tui/style"
	"github.com/hew-agent/hew/internal/surface/tui/term"
)

func TestThemes(t *testing.T) {
	if n := len(roleNames()); n != int(style.Roles) {
		t.Fatalf("%d names for %d roles", n, style.Roles)
	}
	caps := term.Caps{Colours: term.TrueColour}
	for _, name := range Themes() {
		theme, err := ThemeNamed(name, caps)
		if err != nil {
			t.Error(err)
		}
		for r, l := range theme.looks {
			back := color.Color(color.RGBA{0, 0, 0, 255})
			if strings.HasPrefix(name, "light") {
				back = color.RGBA{255, 255, 255, 255}
			}
			ink := back
			if strings.HasPrefix(name, "light") {
				ink = color.RGBA{31, 35, 40, 255}
			} else {
				ink = color.RGBA{201, 209, 217, 255}
			}
			if l.bg != nil {
				back = l.bg
			}
			if l.fg != nil {
				ink = l.fg
			}
			if _, rgb := ink.(color.RGBA); !rgb {
				continue // the terminal's own colours
			}
			least := 4.5
			switch {
			case name == "high-contrast":
				least = 7
			case style.Role(r) == style.Rule, style.Role(r) == style.LineNumber:
				least = 3
			}
			if c := ratio(ink, back); c < least {
				t.Errorf("%s, %s: contrast %.1f, want %.1f", name, roleNames()[r], c, least)
			}
		}
	}
}

// ratio is the contrast of WCAG 2.
func ratio(a, b color.Color) float64 {
	light := func(c color.Color) float64 {
		r, g, b, _ := c.RGBA()
		lin := func(v uint32) float64 {
			f := float64(v) / 0xffff
			if f <= 0.04045 {
				return f / 12.92
			}
			return math.Pow((f+0.055)/1.055, 2.4)
		}
		return 0.2126*lin(r) + 0.7152*lin(g) + 0.0722*lin(b)
	}
	x, y := light(a), light(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestThemeFor(t *testing.T) {
	for _, c := range []struct {
		name string
		caps term.Caps
		want string
	}{
		{"", term.Caps{Colours: term.TrueColour}, "dark"},
		{"auto", term.Caps{Colours: term.Indexed, Background: term.Light}, "light"},
		{"light", term.Caps{Colours: term.Sixteen}, "ansi"},
		{"none", term.Caps{Colours: term.Sixteen}, "none"},
		{"dark-ansi", term.Caps{Colours: term.TrueColour}, "ansi"},
		{"dark", term.Caps{}, "none"},
	} {
		got, err := ThemeNamed(c.name, c.caps)
		if err != nil || got.Name != c.want {
			t.Errorf("%+v: %s, %v", c, got.Name, err)
		}
	}
	if _, err := ThemeNamed("nope", term.Caps{Colours: term.TrueColour}); err == nil || !strings.Contains(err.Error(), "there are: auto") {
		t.Error(err)
	}
}

func TestDepths(t *testing.T) {
	theme := Theme{}
	if err := theme.override(map[string]string{"accent": "bold #ff0000 on brightblue"}); err != nil {
		t.Fatal(err)
	}
	for depth, want := range map[term.Depth]string{
		term.TrueColour: "1;38;2;255;0;0;104", term.Indexed: "1;38;5;196;104", term.Sixteen: "1;91;104", term.NoColour: "1",
	} {
		if got := theme.sgr(depth)[style.Accent]; got != want {
			t.Errorf("%d: %q, want %q", depth, got, want)
		}
	}
}

func TestCustomTheme(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("mine", `{"name":"mine","base":"light","overrides":{"accent":"rgb(1,2,3)","dim":"ansi256(7)"}}`)
	write("odd", `{"base":"light","overrides":{"nose":"red","accent":"reddish","dim":"red"}}`)
	write("broken", `{`)
	caps := term.Caps{Colours: term.TrueColour}
	mine, err := Load(dir, "mine", caps)
	if err != nil || mine.Name != "mine" {
		t.Fatal(mine.Name, err)
	}
	sgr := mine.sgr(term.TrueColour)
	if sgr[style.Accent] != "38;2;1;2;3" || sgr[style.Dim] != "38;5;7" || sgr[style.Success] != "38;2;26;127;55" {
		t.Error(sgr)
	}
	odd, err := Load(dir, "odd", caps)
	if err == nil || !strings.Contains(err.Error(), `"nose" is no role`) || !strings.Contains(err.Error(), `"reddish" is neither`) {
		t.Error(err)
	}
	if odd.sgr(term.TrueColour)[style.Dim] != "31" {
		t.Error("what is right in a faulty file is lost")
	}
	for _, name := range []string{"broken", "../mine", "gone"} {
		if got, err := Load(dir, name, caps); err == nil || got.Name != "dark" {
			t.Errorf("%s: %s, %v", name, got.Name, err)
		}
	}
	if got := Custom(dir); len(got) != 3 || got[1] != "mine" {
		t.Error(got)
	}
}
