package paint

import (
	"errors"
	"fmt"
	"image/color"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/hew-agent/hew/internal/surface/tui/style"
	"github.com/hew-agent/hew/internal/surface/tui/term"
)

// Theme says how each role looks.
type Theme struct {
	Name  string
	looks [style.Roles]look
}

// look is a colour on a background, with attributes.
type look struct {
	fg, bg color.Color
	attrs  string // parameters of SGR, joined by ;
}

// Themes are the names of the built-in themes. "auto" is dark or light by the
// terminal's background.
func Themes() []string {
	return []string{"auto", "dark", "light", "dark-daltonized", "light-daltonized", "high-contrast", "ansi", "none"}
}

// ThemeNamed is a built-in theme. With few colours it is ansi or none, whatever
// its name.
func ThemeNamed(name string, c term.Caps) (Theme, error) {
	if name == "" || name == "auto" {
		name = "dark"
		if c.Background == term.Light {
			name = "light"
		}
	}
	switch {
	case c.Colours == term.NoColour || c.Dumb:
		name = "none"
	case c.Colours == term.Sixteen || name == "dark-ansi" || name == "light-ansi":
		if name != "none" {
			name = "ansi"
		}
	}
	looks, ok := builtIn()[name]
	if !ok {
		return Theme{}, fmt.Errorf("theme %q does not exist; there are: %s", name, strings.Join(Themes(), ", "))
	}
	t := Theme{Name: name}
	if err := t.override(looks); err != nil {
		return Theme{}, err
	}
	return t, nil
}

// override changes the looks of some roles, each written as words: a colour,
// "on" and another for the background, and attributes.
func (t *Theme) override(looks map[string]string) error {
	var errs []error
	for name, words := range looks {
		i := slices.Index(roleNames(), name)
		if i < 0 {
			errs = append(errs, fmt.Errorf("%q is no role; the roles are: %s", name, strings.Join(roleNames(), ", ")))
			continue
		}
		l, err := parseLook(words)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
			continue
		}
		t.looks[i] = l
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// roleNames are the roles as theme files call them, in the order of style.Role.
func roleNames() []string {
	return []string{
		"plain", "dim", "bold", "italic", "strike", "accent", "heading", "link", "quote", "inlineCode", "user", "thought", "toolName",
		"success", "warning", "failure", "added", "addedWord", "removed", "removedWord", "lineNumber", "rule", "selected", "keyword",
		"string", "comment", "number", "function", "type", "operator", "modeEdit", "modePlan", "modeFree",
	}
}

// names are the sixteen colours that every terminal has its own idea of.
var names = []string{
	"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
	"brightblack", "brightred", "brightgreen", "brightyellow", "brightblue", "brightmagenta", "brightcyan", "brightwhite",
}

func parseLook(words string) (look, error) {
	var l look
	var attrs []string
	back := false
	for w := range strings.FieldsSeq(words) {
		switch w {
		case "on":
			back = true
			continue
		case "bold":
			attrs = append(attrs, "1")
		case "dim":
			attrs = append(attrs, "2")
		case "italic":
			attrs = append(attrs, "3")
		case "underline":
			attrs = append(attrs, "4")
		case "reverse":
			attrs = append(attrs, "7")
		case "strike":
			attrs = append(attrs, "9")
		default:
			c, err := parseColour(w)
			if err != nil {
				return look{}, err
			}
			if back {
				l.bg = c
			} else {
				l.fg = c
			}
		}
		back = false
	}
	l.attrs = strings.Join(attrs, ";")
	return l, nil
}

func parseColour(w string) (color.Color, error) {
	if i := slices.Index(names, strings.TrimPrefix(w, "ansi:")); i >= 0 {
		return ansi.BasicColor(i), nil
	}
	if n, ok := strings.CutPrefix(w, "ansi256("); ok {
		if v, err := strconv.ParseUint(strings.TrimSuffix(n, ")"), 10, 8); err == nil {
			return ansi.IndexedColor(v), nil
		}
	}
	if n, ok := strings.CutPrefix(w, "rgb("); ok {
		var r, g, b uint8
		if _, err := fmt.Sscanf(n, "%d,%d,%d)", &r, &g, &b); err == nil {
			return color.RGBA{r, g, b, 0xff}, nil
		}
	}
	if n, ok := strings.CutPrefix(w, "#"); ok && len(n) == 6 {
		if v, err := strconv.ParseUint(n, 16, 32); err == nil {
			return color.RGBA{byte(v >> 16), byte(v >> 8), byte(v), 0xff}, nil
		}
	}
	return nil, fmt.Errorf("%q is neither a colour (#rrggbb, rgb(r,g,b), ansi256(n) or a name such as brightred) nor bold, dim, italic, underline, reverse or strike", w)
}

// sgr are the parameters that switch each role on, "" for none.
func (t Theme) sgr(depth term.Depth) [style.Roles]string {
	var out [style.Roles]string
	for i, l := range t.looks {
		parts := []string{l.attrs, paramOf(l.fg, depth, 30), paramOf(l.bg, depth, 40)}
		out[i] = strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ";")
	}
	return out
}

// paramOf is a colour as SGR parameters; ground is 30 for text, 40 behind it.
func paramOf(c color.Color, depth term.Depth, ground int) string {
	if c == nil || depth == term.NoColour {
		return ""
	}
	if depth == term.Sixteen {
		c = ansi.Convert16(c)
	}
	if rgb, ok := c.(color.RGBA); ok {
		if depth == term.TrueColour {
			return fmt.Sprintf("%d;2;%d;%d;%d", ground+8, rgb.R, rgb.G, rgb.B)
		}
		c = ansi.Convert256(c)
	}
	if b, ok := c.(ansi.BasicColor); ok {
		if b > 7 {
			return strconv.Itoa(ground + 60 + int(b) - 8)
		}
		return strconv.Itoa(ground + int(b))
	}
	if i, ok := c.(ansi.IndexedColor); ok {
		return fmt.Sprintf("%d;5;%d", ground+8, i)
	}
	return ""
}
