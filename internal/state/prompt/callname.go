package prompt

import "strings"

// What the API takes as the id and the name of a call: letters, digits, "_"
// and "-". Other endpoints make up ids such as "functions.run:0", and a session
// may go from one of them to the API. The longest name is the API's; the longest
// id only keeps a made-up one in bounds.
const (
	maxToolName = 128
	maxCallID   = 256
)

// plainName returns s without what the API refuses; an s that it takes comes
// back as it is.
func plainName(s string, limit int) string {
	if len(s) <= limit && strings.IndexFunc(s, refused) < 0 {
		return s
	}
	plain := strings.Map(func(c rune) rune {
		if refused(c) {
			return '_'
		}
		return c
	}, s)
	return plain[:min(len(plain), limit)]
}

func refused(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-'
}
