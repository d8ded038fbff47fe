package term

import (
	"image/color"
	"strconv"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// Depth is how many colours a terminal shows.
type Depth uint8

// The depths.
const (
	NoColour Depth = iota
	Sixteen
	Indexed // 256
	TrueColour
)

// Shade is the brightness of the background.
type Shade uint8

// The shades.
const (
	UnknownShade Shade = iota
	Dark
	Light
)

// Caps is what a terminal can do, as far as it is known.
type Caps struct {
	// Dumb terminals get text alone, line after line.
	Dumb    bool
	Colours Depth
	// Background is what the terminal, or COLORFGBG, said.
	Background Shade
	// Sync is synchronized output: a frame appears at once.
	Sync bool
	// Graphemes tells that widths are those of whole characters, as style.Width counts.
	Graphemes bool
	// Kitty is the keyboard protocol that tells Shift+Enter from Enter.
	Kitty bool
	// Reflows tells that lines which became too long for the window are wrapped anew.
	Reflows bool
	// Tmux tells that tmux stands between hew and the terminal.
	Tmux bool

	known bool // of a family that answers questions and ignores what it does not know
	asked bool // questions are open
}

// environ is a process's environment.
type environ []string

func (e environ) get(name string) string {
	for i := len(e) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(e[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// families are the beginnings of TERM of terminals that answer questions.
var families = []string{
	"xterm", "screen", "tmux", "rxvt", "alacritty", "foot", "kitty", "wezterm", "ghostty", "konsole", "vte", "st-", "contour",
	"mintty", "iterm", "gnome", "rio", "ms-terminal", "stterm", "mlterm", "nsterm",
}

// rich are terminals that show all colours without saying so in COLORTERM.
var rich = []string{"kitty", "alacritty", "foot", "wezterm", "ghostty", "iterm", "contour", "rio", "konsole"}

func begins(s string, with []string) bool {
	for _, w := range with {
		if strings.HasPrefix(s, w) || strings.HasPrefix(s, "xterm-"+w) {
			return true
		}
	}
	return false
}

// caps is what the environment tells.
func (e environ) caps() Caps {
	name := strings.ToLower(e.get("TERM"))
	c := Caps{Tmux: e.get("TMUX") != "" || strings.HasPrefix(name, "tmux")}
	switch {
	case name == "dumb", name == "" && !windowsConsole:
		c.Dumb = true
		return c
	case begins(name, families), name == "":
		c.known = true
	}
	c.Reflows = c.known && e.get("XTERM_VERSION") == "" && (c.Tmux || !strings.HasPrefix(name, "screen"))
	c.Colours = e.depth(name)
	if e.get("NO_COLOR") != "" {
		c.Colours = NoColour
	}
	if fg, bg, ok := strings.Cut(e.get("COLORFGBG"), ";"); ok && fg != "" {
		if i := strings.LastIndexByte(bg, ';'); i >= 0 {
			bg = bg[i+1:]
		}
		if n, err := strconv.Atoi(bg); err == nil {
			c.Background = Dark
			if n == 7 || n > 8 {
				c.Background = Light
			}
		}
	}
	return c
}

func (e environ) depth(name string) Depth {
	colour, program := strings.ToLower(e.get("COLORTERM")), e.get("TERM_PROGRAM")
	switch {
	case colour == "truecolor", colour == "24bit", strings.HasSuffix(name, "-direct"), begins(name, rich), program == "iTerm.app",
		program == "WezTerm", program == "ghostty", e.get("WT_SESSION") != "", name == "" && windowsConsole:
		return TrueColour
	case strings.Contains(name, "256"), program == "Apple_Terminal", colour != "":
		return Indexed
	case strings.HasPrefix(name, "vt"):
		return NoColour
	}
	return Sixteen
}

// questions asks what the terminal can do; the last one is answered by all, so
// that its answer ends the wait for the others.
func (c *Caps) questions() string {
	if !c.known || c.asked {
		return ""
	}
	c.asked = true
	return ansi.RequestMode(ansi.ModeSynchronizedOutput) + ansi.RequestMode(ansi.ModeUnicodeCore) +
		ansi.RequestKittyKeyboard + ansi.RequestBackgroundColor + ansi.RequestPrimaryDeviceAttributes
}

// hear learns from one answer.
func (c *Caps) hear(answer uv.Event) {
	switch a := answer.(type) {
	case uv.ModeReportEvent:
		can := a.Value == ansi.ModeSet || a.Value == ansi.ModeReset || a.Value == ansi.ModePermanentlySet
		switch a.Mode {
		case ansi.ModeSynchronizedOutput:
			c.Sync = can
		case ansi.ModeUnicodeCore:
			c.Graphemes = can
		}
	case uv.KeyboardEnhancementsEvent:
		c.Kitty = true
	case uv.BackgroundColorEvent:
		if a.Color != nil {
			c.Background = shade(a.Color)
		}
	case uv.PrimaryDeviceAttributesEvent:
		c.asked = false
	}
}

// shade judges as an eye does: green counts most, blue least.
func shade(c color.Color) Shade {
	r, g, b, _ := c.RGBA()
	if 299*r+587*g+114*b > 1000*0x7fff {
		return Light
	}
	return Dark
}

// modes are those that this terminal should be in.
func (c Caps) modes() []mode {
	if c.Dumb {
		return nil
	}
	out := []mode{{ansi.SetModeBracketedPaste, ansi.ResetModeBracketedPaste}}
	if !c.known {
		return out
	}
	out = append(out, mode{ansi.SetModeFocusEvent, ansi.ResetModeFocusEvent})
	if c.Kitty {
		out = append(out, mode{ansi.PushKittyKeyboard(ansi.KittyDisambiguateEscapeCodes), ansi.PopKittyKeyboard(1)})
	}
	if c.Tmux && !c.Kitty {
		out = append(out, mode{ansi.SetModifyOtherKeys1, ansi.ResetModifyOtherKeys})
	}
	if c.Graphemes {
		out = append(out, mode{ansi.SetModeUnicodeCore, ansi.ResetModeUnicodeCore})
	}
	if windowsConsole {
		out = append(out, mode{ansi.SetModeInBandResize, ansi.ResetModeInBandResize})
	}
	return out
}
