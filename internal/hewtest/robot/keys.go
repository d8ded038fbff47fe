//go:build !windows

package robot

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// finals are keys whose sequence ends in a letter, with the number of tilde keys
// in the other table.
var finals = map[string]string{
	"up": "A", "down": "B", "right": "C", "left": "D", "home": "H", "end": "F", "f1": "P", "f2": "Q", "f3": "R", "f4": "S",
}

var tildes = map[string]int{
	"insert": 2, "delete": 3, "pgup": 5, "pgdown": 6, "f5": 15, "f6": 17, "f7": 18, "f8": 19, "f9": 20, "f10": 21, "f11": 23, "f12": 24,
}

var plainKeys = map[string]string{
	"enter": "\r", "tab": "\t", "space": " ", "backspace": "\x7f", "shift+tab": "\x1b[Z", "alt+enter": "\x1b\r", "ctrl+space": "\x00",
	"alt+backspace": "\x1b\x7f", "esc": "\x1b[27u", // not alone, so that it is no part of what follows
}

var codes = map[string]int{"enter": 13, "tab": 9, "space": 32, "backspace": 127, "esc": 27}

// Sequence is what a terminal sends for a key, by the names of input.Press.
func Sequence(name string) (string, error) {
	if s, ok := plainKeys[name]; ok {
		return s, nil
	}
	key, mods := name, 0
	for i, m := range []string{"shift+", "alt+", "ctrl+", "super+"} {
		if len(key) > len(m) && strings.Contains(key[:len(key)-1], m) {
			key, mods = strings.Replace(key, m, "", 1), mods|1<<i
		}
	}
	single := utf8.RuneCountInString(key) == 1
	r, _ := utf8.DecodeRuneInString(key)
	switch {
	case finals[key] != "" && mods == 0:
		return "\x1b[" + finals[key], nil
	case finals[key] != "":
		return fmt.Sprintf("\x1b[1;%d%s", mods+1, finals[key]), nil
	case tildes[key] != 0 && mods == 0:
		return fmt.Sprintf("\x1b[%d~", tildes[key]), nil
	case tildes[key] != 0:
		return fmt.Sprintf("\x1b[%d;%d~", tildes[key], mods+1), nil
	case single && mods == 0:
		return key, nil
	case single && mods == 2 && r < 0x80:
		return "\x1b" + key, nil
	case single && mods == 4 && r >= '@' && r < 0x7f:
		return string(r & 0x1f), nil
	case single:
		return fmt.Sprintf("\x1b[%d;%du", r, mods+1), nil
	case codes[key] != 0:
		return fmt.Sprintf("\x1b[%d;%du", codes[key], mods+1), nil
	}
	return "", fmt.Errorf("there is no key %q; names are those of input.Press, such as ctrl+c, alt+enter, pgup, a", name)
}
