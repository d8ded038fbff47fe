package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName bounds names of servers, maxFull the whole name of a tool: the
// longest that the model API takes.
const (
	maxName = 64
	maxFull = 128
)

func odd(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
}

// Normal is a server's name as it stands in the names of its tools. It holds no
// "__" and begins and ends with none of "_", so that mcp__server__tool has one
// reading only.
func Normal(server string) string {
	s := plain(server)
	for strings.Contains(s, "__") {
		s = strings.ReplaceAll(s, "__", "_")
	}
	return strings.Trim(s, "_")
}

// FullName is the name of a tool or prompt for the model; server is normal.
func FullName(server, name string) string {
	full := "mcp__" + server + "__" + plain(name)
	if len(full) <= maxFull {
		return full
	}
	sum := sha256.Sum256([]byte(name))
	tail := "_" + hex.EncodeToString(sum[:4])
	return full[:maxFull-len(tail)] + tail
}

func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if odd(r) {
			return '_'
		}
		return r
	}, s)
}

// clean makes a text of a server fit for a model and a screen: no control
// characters beside newline and tab, nothing invisible or that turns the
// direction of writing, no tag characters; at most limit bytes.
func clean(s string, limit int) string {
	if len(s) > 4*limit {
		s = s[:4*limit] // bounds the work; cut again below
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r' || unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == utf8.RuneError, r >= 0xE0000 && r <= 0xE0FFF:
			return -1
		}
		return r
	}, s)
	return clip(s, limit)
}

// clip cuts s to at most limit bytes, at the end of a rune, and says that it did.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const mark = "… [cut]"
	n := max(limit-len(mark), 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + mark
}

// line is clean, on one line.
func line(s string, limit int) string {
	return strings.Join(strings.Fields(clean(s, limit)), " ")
}
