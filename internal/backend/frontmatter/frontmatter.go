// Package frontmatter splits YAML front matter from Markdown and reads it the way people write it.
//
// Skills, agents, commands, rules and output styles are Markdown files with a
// YAML head that people write by hand. Most heads in the wild are YAML; many
// are nearly so (`description: Use when: asked`, `globs: **/*.ts`). Strict YAML
// is tried first; a head that is not YAML is read line by line, and the
// problem is reported instead of the file being lost.
package frontmatter

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Limit is the size in bytes of the longest head that is read. A longer one is
// reported and contributes nothing.
const Limit = 64 << 10

// Matter is a Markdown text taken apart.
type Matter struct {
	// Body is the text after the head: the whole text when it has no head.
	Body string
	// Problem says why the head was not read as YAML, "" when it was. Fields
	// then holds what a reading line by line found.
	Problem string
	fields  map[string]any
}

// Parse takes a text apart. It never fails: a text without a head is all body.
func Parse(text []byte) Matter {
	head, body, ok := split(text)
	m := Matter{Body: string(body)}
	if !ok {
		return m
	}
	if len(head) > Limit {
		m.Problem = fmt.Sprintf("the front matter is longer than %d bytes", Limit)
		return m
	}
	if fields, ok := plain(head); ok {
		m.fields = fields
		return m
	}
	err := yaml.Unmarshal(head, &m.fields)
	if err != nil {
		m.Problem = strings.TrimPrefix(err.Error(), "yaml: ")
		m.fields = lenient(string(head))
	}
	return m
}

// Unfinished tells that a text begins a head and does not end it: there may be
// more of it.
func Unfinished(text []byte) bool {
	_, _, ok := split(text)
	return !ok && bytes.HasPrefix(bytes.TrimPrefix(text, []byte("\uFEFF")), []byte("---"))
}

// split finds the head between a first line `---` and the next such line.
func split(text []byte) (head, body []byte, ok bool) {
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	first, rest, more := bytes.Cut(text, []byte("\n"))
	if !more || string(bytes.TrimRight(first, " \t\r")) != "---" {
		return nil, text, false
	}
	for at := 0; at < len(rest); {
		end := bytes.IndexByte(rest[at:], '\n')
		next := len(rest)
		if end >= 0 {
			next = at + end + 1
		}
		if string(bytes.TrimRight(rest[at:next], " \t\r\n")) == "---" {
			return rest[:at], bytes.TrimLeft(rest[next:], "\r\n"), true
		}
		at = next
	}
	return nil, text, false
}

// lenient reads `key: rest of the line`, with `- item` lines under a key as its list.
func lenient(head string) map[string]any {
	out := map[string]any{}
	last := ""
	for line := range strings.Lines(head) {
		line = strings.TrimRight(line, " \t\r\n")
		word := strings.TrimSpace(line)
		if word == "" || strings.HasPrefix(word, "#") {
			continue
		}
		if item, ok := strings.CutPrefix(word, "- "); ok && last != "" {
			list, _ := out[last].([]any)
			out[last] = append(list, unquote(strings.TrimSpace(item)))
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		if !ok || key != strings.TrimSpace(key) || strings.ContainsAny(key, " \t\"'{[") {
			continue // a continuation or noise: it names no key
		}
		last = key
		if value = strings.TrimSpace(value); unclosed(value) {
			out[key] = nil
		} else {
			out[key] = unquote(value)
		}
	}
	return out
}

// unclosed tells a value that opens a bracket and never closes it: what it
// would have held is not known, so it holds nothing.
func unclosed(value string) bool {
	return strings.HasPrefix(value, "[") && !strings.Contains(value, "]") ||
		strings.HasPrefix(value, "{") && !strings.Contains(value, "}")
}

func unquote(value string) string {
	if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
		return value[1 : n-1]
	}
	return value
}

// Has reports whether the head names a key at all.
func (m Matter) Has(key string) bool { _, ok := m.fields[key]; return ok }

// Unread reports whether a key stands in the head with a value of which List
// makes less than is written: a mapping, a list of them, a bracket that is never
// closed. A restriction that cannot be read must not count as none.
func (m Matter) Unread(key string) bool {
	v, there := m.fields[key]
	switch v := v.(type) {
	case nil:
		return there && m.Problem != ""
	case map[string]any, map[any]any:
		return true
	case []any:
		return slices.ContainsFunc(v, func(e any) bool {
			switch e.(type) {
			case map[string]any, map[any]any, []any:
				return true
			}
			return false
		})
	}
	return false
}

// Value is the decoded value of a key: string, bool, int, float64, []any,
// map[string]any or nil.
func (m Matter) Value(key string) any { return m.fields[key] }

// Text is a key's value as text, "" when it is absent or not a scalar.
func (m Matter) Text(key string) string { return scalar(m.fields[key]) }

// Bool is a key's value as a truth value; ok is false when it is absent or not
// one of true/false, yes/no, on/off, 1/0 in any case.
func (m Matter) Bool(key string) (value, ok bool) {
	switch strings.ToLower(m.Text(key)) {
	case "true", "yes", "on", "1":
		return true, true
	case "false", "no", "off", "0":
		return false, true
	}
	return false, false
}

// Int is a key's value as a whole number; ok is false when it is not one.
func (m Matter) Int(key string) (value int, ok bool) {
	n, err := strconv.Atoi(m.Text(key))
	return n, err == nil
}

// List is a key's value as texts: a YAML list, or one text cut at commas that
// stand outside parentheses, so that `Bash(a, b), Read` has two entries.
func (m Matter) List(key string) []string {
	if list, ok := m.fields[key].([]any); ok {
		var out []string
		for _, v := range list {
			if s := strings.TrimSpace(scalar(v)); s != "" {
				out = append(out, s)
			}
		}
		return out
	}
	text := m.Text(key)
	if bare, ok := strings.CutPrefix(text, "["); ok && m.Problem != "" {
		text = strings.TrimSuffix(bare, "]") // a YAML list in a head that is not YAML
	}
	return commas(text)
}

func commas(text string) []string {
	var out []string
	depth, start := 0, 0
	take := func(end int) {
		if s := unquote(strings.TrimSpace(text[start:end])); s != "" {
			out = append(out, s)
		}
		start = end + 1
	}
	for i := range len(text) {
		switch text[i] {
		case '(', '{':
			depth++
		case ')', '}':
			depth--
		case ',':
			if depth <= 0 {
				take(i)
			}
		}
	}
	if start <= len(text) {
		take(len(text))
	}
	return out
}

func scalar(v any) string {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case fmt.Stringer:
		return v.String()
	}
	return ""
}
