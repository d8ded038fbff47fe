package term

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/hew-agent/hew/internal/backend/plain"
)

const (
	pushTitle = "\x1b[22;2t"
	popTitle  = "\x1b[23;2t"
	bell      = "\a"
	clipMost  = 74_000 // bytes that terminals take at once
	titleMost = 200
)

// Title names the terminal's window, until the terminal is given back.
func (t *Term) Title(s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.away || t.closed || !t.caps.known {
		return
	}
	if !t.titled {
		t.titled = true
		t.emit(pushTitle)
	}
	t.emit(ansi.SetWindowTitle(plain.Cut(plain.Line(s), titleMost)))
}

// Channel is a way to call a person to the terminal.
type Channel string

// The channels, as the setting preferredNotifChannel names them.
const (
	Auto     Channel = "auto"
	Bell     Channel = "terminal_bell"
	ITerm    Channel = "iterm2"
	ITermToo Channel = "iterm2_with_bell"
	Kitty    Channel = "kitty"
	Ghostty  Channel = "ghostty"
	Silent   Channel = "notifications_disabled"
)

// Notify calls the person. An unknown channel is Auto: what the terminal is
// known to have, otherwise the bell.
func (t *Term) Notify(by Channel, title, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.away || t.closed || by == Silent {
		return
	}
	title, text = plain.Cut(plain.Line(title), titleMost), plain.Cut(plain.Line(text), titleMost)
	switch by {
	case Bell:
		t.emit(bell)
	case ITerm:
		t.emit(t.pass(osc9(title, text)))
	case ITermToo:
		t.emit(t.pass(osc9(title, text)) + bell)
	case Kitty:
		t.emit(t.pass(osc99(title, text)))
	case Ghostty:
		t.emit(t.pass(osc777(title, text)))
	default:
		t.emit(t.auto(title, text))
	}
}

func (t *Term) auto(title, text string) string {
	program, name := t.env.get("TERM_PROGRAM"), t.env.get("TERM")
	switch {
	case t.caps.Dumb || !t.caps.known:
		return bell
	case t.env.get("KITTY_WINDOW_ID") != "" || name == "xterm-kitty":
		return t.pass(osc99(title, text))
	case program == "iTerm.app" || program == "WezTerm" || t.env.get("LC_TERMINAL") == "iTerm2":
		return t.pass(osc9(title, text))
	case program == "ghostty" || strings.HasPrefix(name, "foot") || strings.HasPrefix(name, "rxvt"):
		return t.pass(osc777(title, text))
	}
	return bell
}

func osc9(title, text string) string { return "\x1b]9;" + title + ": " + text + bell }

func osc99(title, text string) string {
	return "\x1b]99;i=hew:d=0;" + title + "\x1b\\" + "\x1b]99;i=hew:p=body;" + text + "\x1b\\"
}

func osc777(title, text string) string {
	return "\x1b]777;notify;" + strings.ReplaceAll(title, ";", ",") + ";" + strings.ReplaceAll(text, ";", ",") + "\x1b\\"
}

// pass carries a sequence through tmux to the terminal around it.
func (t *Term) pass(s string) string {
	if !t.caps.Tmux {
		return s
	}
	return ansi.TmuxPassthrough(s)
}

// Copy puts text on the person's clipboard. Only for what a person selected.
func (t *Term) Copy(text string) error {
	if len(text) > clipMost {
		return fmt.Errorf("copy %d bytes through the terminal: at most %d fit; use /export for more", len(text), clipMost)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.away || t.closed || !t.caps.known {
		return fmt.Errorf("copy through the terminal: this terminal is not known to have a clipboard")
	}
	s := "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(text)) + bell
	if t.caps.Tmux {
		s += t.pass(s) // one of the two, by tmux's set-clipboard and allow-passthrough
	}
	t.emit(s)
	return nil
}
