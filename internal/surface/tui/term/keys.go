package term

import (
	"strings"
	"unicode"

	uv "github.com/charmbracelet/ultraviolet"

	"github.com/hew-agent/hew/internal/surface/tui/input"
)

// keyName is the name of a key without a character, "" for keys that mean
// nothing to hew: modifiers alone, media keys.
func keyName(code rune) string {
	switch code {
	case uv.KeyUp, uv.KeyKpUp:
		return "up"
	case uv.KeyDown, uv.KeyKpDown:
		return "down"
	case uv.KeyLeft, uv.KeyKpLeft:
		return "left"
	case uv.KeyRight, uv.KeyKpRight:
		return "right"
	case uv.KeyHome, uv.KeyKpHome, uv.KeyFind:
		return "home"
	case uv.KeyEnd, uv.KeyKpEnd, uv.KeySelect:
		return "end"
	case uv.KeyPgUp, uv.KeyKpPgUp:
		return "pgup"
	case uv.KeyPgDown, uv.KeyKpPgDown:
		return "pgdown"
	case uv.KeyInsert, uv.KeyKpInsert:
		return "insert"
	case uv.KeyDelete, uv.KeyKpDelete:
		return "delete"
	case uv.KeyEnter, uv.KeyKpEnter:
		return "enter"
	}
	switch code {
	case uv.KeyTab:
		return "tab"
	case uv.KeyEscape:
		return "esc"
	case uv.KeySpace:
		return "space"
	case uv.KeyBackspace:
		return "backspace"
	case uv.KeyF1, uv.KeyF2, uv.KeyF3, uv.KeyF4, uv.KeyF5, uv.KeyF6, uv.KeyF7, uv.KeyF8, uv.KeyF9:
		return "f" + string('1'+code-uv.KeyF1)
	case uv.KeyF10:
		return "f10"
	case uv.KeyF11:
		return "f11"
	case uv.KeyF12:
		return "f12"
	}
	return ""
}

// keypad is the character of a key of the number pad, 0 for other keys.
func keypad(code rune) rune {
	if code >= uv.KeyKp0 && code <= uv.KeyKp9 {
		return '0' + code - uv.KeyKp0
	}
	switch code {
	case uv.KeyKpPlus:
		return '+'
	case uv.KeyKpMinus:
		return '-'
	case uv.KeyKpMultiply:
		return '*'
	case uv.KeyKpDivide:
		return '/'
	case uv.KeyKpDecimal:
		return '.'
	case uv.KeyKpComma, uv.KeyKpSep:
		return ','
	case uv.KeyKpEqual:
		return '='
	}
	return 0
}

// press names a key. It is false for keys that mean nothing to hew.
func press(k uv.Key) (input.Press, bool) {
	ctrl, super := k.Mod.Contains(uv.ModCtrl), k.Mod.Contains(uv.ModSuper) || k.Mod.Contains(uv.ModHyper)
	alt, shift := k.Mod.Contains(uv.ModAlt) || k.Mod.Contains(uv.ModMeta), k.Mod.Contains(uv.ModShift)
	typed := !ctrl && !alt && !super
	if r := keypad(k.Code); r != 0 {
		k.Code = r
		if k.Text == "" {
			k.Text = string(r)
		}
	}
	name := keyName(k.Code)
	switch {
	case typed && name == "space":
		return input.Press{Key: "space", Text: " "}, true
	case typed && name == "" && k.Text != "":
		return input.Press{Key: k.Text, Text: k.Text}, true
	case name == "" && unicode.IsPrint(k.Code):
		name = string(unicode.ToLower(k.Code))
		if typed { // a terminal that names the key only: shift and the letter
			text := name
			if shift {
				text = string(unicode.ToUpper(k.Code))
			}
			return input.Press{Key: text, Text: text}, true
		}
	case name == "":
		return input.Press{}, false
	}
	var b strings.Builder
	for _, m := range []struct {
		on   bool
		name string
	}{{ctrl, "ctrl+"}, {alt, "alt+"}, {shift, "shift+"}, {super, "super+"}} {
		if m.on {
			b.WriteString(m.name)
		}
	}
	return input.Press{Key: b.String() + name}, true
}
