package session

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hew-agent/hew/internal/msg"
)

// line builds one JSON object member by member. Messages go in byte for byte,
// which no struct encoder would leave them: a resumed request must repeat the
// bytes that the model's cache holds.
type line struct{ b []byte }

func newLine() *line { return &line{b: append(make([]byte, 0, 1024), '{')} }

func (l *line) key(k string) {
	if len(l.b) > 1 {
		l.b = append(l.b, ',')
	}
	l.b = append(append(append(l.b, '"'), k...), '"', ':')
}

// str adds a string; opt does so only when it is not empty.
func (l *line) str(k, v string) *line {
	l.key(k)
	l.b = appendString(l.b, v)
	return l
}

func (l *line) opt(k, v string) *line {
	if v == "" {
		return l
	}
	return l.str(k, v)
}

// strOrNull adds a string, or null for the empty one.
func (l *line) strOrNull(k, v string) *line {
	if v == "" {
		return l.raw(k, []byte("null"))
	}
	return l.str(k, v)
}

func (l *line) flag(k string, v bool) *line {
	if v {
		return l.raw(k, []byte("true"))
	}
	return l.raw(k, []byte("false"))
}

// raw adds a JSON value as it is. A newline in it, which JSON allows between
// tokens only, becomes a space: a line is a line.
func (l *line) raw(k string, v []byte) *line {
	l.key(k)
	at := len(l.b)
	l.b = append(l.b, v...)
	flatten(l.b[at:])
	return l
}

// val encodes a value of hew's own, which cannot fail.
func (l *line) val(k string, v any) *line { return l.raw(k, encode(v)) }

func (l *line) done() []byte { return append(l.b, '}') }

func flatten(b []byte) {
	if bytes.IndexByte(b, '\n') < 0 && bytes.IndexByte(b, '\r') < 0 {
		return
	}
	for i, c := range b {
		if c == '\n' || c == '\r' {
			b[i] = ' '
		}
	}
}

func encode(v any) []byte {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return []byte("null")
	}
	return bytes.TrimRight(buf.Bytes(), "\n")
}

// appendString quotes s; text without anything to escape, the usual id or name, takes the short way.
func appendString(dst []byte, s string) []byte {
	for _, c := range []byte(s) {
		if c < 0x20 || c == '"' || c == '\\' || c >= 0x7f {
			return append(dst, encode(s)...)
		}
	}
	return append(append(append(dst, '"'), s...), '"')
}

// stampTime is the form of timestamps on disk: ISO, milliseconds, UTC.
func stampTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// content is the value of message.content: a plain string for one plain text,
// as people read it most easily, else the list of blocks. Both come back as
// the same bytes.
func content(blocks []msg.Block) []byte {
	if len(blocks) == 1 {
		// Invalid UTF-8 would come back as another spelling of the replacement character.
		if t, ok := blocks[0].(*msg.Text); ok && utf8.ValidString(t.Text) {
			text := encode(t.Text)
			if string(t.JSON()) == `{"type":"text","text":`+string(text)+`}` {
				return text
			}
		}
	}
	return blockList(blocks)
}

func blockList(blocks []msg.Block) []byte {
	out := []byte{'['}
	for i, b := range blocks {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, b.JSON()...)
	}
	return append(out, ']')
}

// semver makes a version that readers accept: they drop lines whose version
// does not begin with three numbers.
func semver(v string) string {
	v = strings.TrimPrefix(v, "v")
	rest, dots := v, 0
	for rest != "" {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		if digits == 0 {
			break
		}
		if dots == 2 {
			return v
		}
		if rest = rest[digits:]; !strings.HasPrefix(rest, ".") {
			break
		}
		rest = rest[1:]
		dots++
	}
	if v == "" {
		return "0.0.0"
	}
	return "0.0.0-" + v
}

// replyUsage is the usage of a line. Until the reply is complete its output
// tokens are left out: readers count each line that has them, and de-duplicate
// by message id, so the one line that counts must be the one with the final
// figures (docs/adr/0009).
func replyUsage(r *msg.Reply) []byte {
	u := newLine().
		val("input_tokens", r.Usage.InputTokens).
		val("cache_creation_input_tokens", r.Usage.CacheCreationInputTokens).
		val("cache_read_input_tokens", r.Usage.CacheReadInputTokens)
	if r.Final {
		u.val("output_tokens", r.Usage.OutputTokens)
	}
	if r.Usage.CacheCreation != (msg.CacheCreation{}) {
		u.val("cache_creation", r.Usage.CacheCreation)
	}
	if r.Usage.ServerToolUse != (msg.ServerToolUse{}) {
		u.val("server_tool_use", r.Usage.ServerToolUse)
	}
	return u.done()
}
