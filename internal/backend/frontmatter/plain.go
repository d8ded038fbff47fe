package frontmatter

import (
	"bytes"
	"strings"
)

// plain reads a head in which every line is a key and a text that YAML takes as
// it stands, which most heads are: hundreds of them are read at a start, and the
// YAML library takes most of that time. Anything else is left to it.
func plain(head []byte) (map[string]any, bool) {
	out := map[string]any{}
	for line := range bytes.Lines(head) {
		key, value, ok := strings.Cut(strings.TrimSuffix(string(line), "\n"), ": ")
		if !ok || !plainKey(key) || out[key] != nil {
			return nil, false
		}
		text, ok := plainText(value)
		if !ok {
			return nil, false
		}
		out[key] = text
	}
	return out, len(out) > 0
}

func plainKey(key string) bool {
	for i, c := range []byte(key) {
		if !letter(c) && (i == 0 || c != '-' && c != '_') {
			return false
		}
	}
	return key != "" && len(key) <= 64 && !special(key)
}

// plainText takes printable ASCII that begins with a letter and holds nothing
// that YAML gives a meaning, or such a text in double quotes.
func plainText(value string) (string, bool) {
	quoted := len(value) > 2 && value[0] == '"' && value[len(value)-1] == '"'
	if quoted {
		value = value[1 : len(value)-1]
	}
	if value == "" || !letter(value[0]) || value[len(value)-1] == ' ' || !quoted && special(value) {
		return "", false
	}
	for i := range len(value) {
		switch c := value[i]; {
		case c < ' ' || c > '~' || c == '"' || c == '\\':
			return "", false
		case quoted:
		case c == ':' || c == '#':
			return "", false
		}
	}
	return value, true
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// special tells words that some version of YAML reads as something other than a text.
func special(word string) bool {
	switch strings.ToLower(word) {
	case "true", "false", "yes", "no", "on", "off", "y", "n", "null":
		return true
	}
	return false
}
