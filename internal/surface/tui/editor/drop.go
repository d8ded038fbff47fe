package editor

import (
	"net/url"
	"strings"
)

// Dropped are the files whose names a terminal pastes when they are dropped on
// it, nil when the text is no such list. Each is absolute or in the home folder:
// quoted, with escaped blanks, or as a file address; many stand on a line or on a
// line each.
func Dropped(text string) []string {
	text = strings.TrimSpace(text)
	if len(text) > maxDropped || text == "" {
		return nil
	}
	var out []string
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = strings.TrimSpace(line)
		if name, ok := whole(line); ok {
			out = append(out, name)
			continue
		}
		words, ok := shellWords(line)
		if !ok {
			return nil
		}
		for _, w := range words {
			name, ok := fileName(w)
			if !ok {
				return nil
			}
			out = append(out, name)
		}
	}
	return out
}

// maxDropped is the longest text that can be a list of dropped files.
const maxDropped = 64 << 10

// whole takes a line that is one name with blanks in it that nobody escaped.
func whole(line string) (string, bool) {
	if strings.ContainsAny(line, `\'"`) && !drive(line) || strings.Contains(line, " /") || strings.Contains(line, " ~/") || strings.Contains(line, " file:") {
		return "", false
	}
	return fileName(line)
}

// fileName is the path that a word means, if it is one from the root or the home.
func fileName(w string) (string, bool) {
	if strings.HasPrefix(w, "file://") {
		u, err := url.Parse(w)
		if err != nil || u.Host != "" && u.Host != "localhost" {
			return "", false
		}
		w = u.Path
		if len(w) > 2 && w[0] == '/' && drive(w[1:]) {
			w = w[1:]
		}
	}
	return w, strings.HasPrefix(w, "/") && len(w) > 1 || strings.HasPrefix(w, "~/") || drive(w)
}

// drive tells of a path of Windows.
func drive(w string) bool {
	return len(w) > 3 && w[1] == ':' && (w[2] == '\\' || w[2] == '/') && (w[0]|0x20 >= 'a' && w[0]|0x20 <= 'z')
}

// shellWords takes a line apart as a shell would, without any meaning of its
// characters but blanks, quotes and the backslash.
func shellWords(line string) (words []string, ok bool) {
	var b strings.Builder
	var quote rune
	open, escaped := false, false
	for _, r := range line {
		switch {
		case escaped:
			b.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, open = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			b.WriteRune(r)
		case r == '\'' || r == '"':
			quote, open = r, true
		case r == ' ' || r == '\t':
			if open {
				words = append(words, b.String())
				b.Reset()
			}
			open = false
		default:
			b.WriteRune(r)
			open = true
		}
	}
	if open {
		words = append(words, b.String())
	}
	return words, quote == 0 && !escaped
}

// IsPicture tells by its name that a file is a picture that models read.
func IsPicture(name string) bool {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return false
	}
	switch strings.ToLower(name[i:]) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp":
		return true
	}
	return false
}
