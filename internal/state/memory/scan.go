package memory

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// scan takes an instruction text apart: clean is the text without block comments
// outside of code, includes are the paths that it includes, as written and in
// their order. Code blocks, code spans and comments include nothing. It takes
// time in proportion to the text, whatever the text is.
func scan(text string) (clean string, includes []string) {
	s := &scanner{rest: text, blank: true}
	if !strings.Contains(text, "@") && !strings.Contains(text, "<!--") {
		return text, nil
	}
	for s.rest != "" {
		s.line()
	}
	s.paragraph()
	return strings.TrimSpace(s.out.String()), s.includes
}

// scanner reads Markdown line by line, just so far as to tell code from prose.
type scanner struct {
	rest     string
	out      strings.Builder
	prose    strings.Builder // the paragraph in work
	includes []string
	fence    string // the run of characters that opened the code block, "" outside
	blank    bool   // the last line was blank or code
	list     bool   // a list item is open: indented lines belong to it
	unclosed bool   // no comment that opens from here on is closed
}

// line takes the next line, or a comment that begins it.
func (s *scanner) line() {
	if s.fence == "" && s.comment() {
		return
	}
	line := s.rest
	if i := strings.IndexByte(line, '\n'); i >= 0 {
		line = line[:i+1]
	}
	s.rest = s.rest[len(line):]
	s.out.WriteString(line)
	body := strings.TrimLeft(line, " \t>")
	switch {
	case s.fence != "":
		if closes(body, s.fence) {
			s.fence, s.blank = "", true
		}
	case opening(body) != "":
		s.paragraph()
		s.fence = opening(body)
	case strings.TrimSpace(line) == "":
		s.paragraph()
		s.blank = true
	case s.blank && !s.list && indented(line):
	default:
		s.item(line)
		s.prose.WriteString(line)
		s.blank = false
	}
}

// comment drops a comment at the beginning of a line, with the line when nothing
// else is on it.
func (s *scanner) comment() bool {
	lead := len(s.rest) - len(strings.TrimLeft(s.rest, " "))
	if s.unclosed || lead > 3 || !strings.HasPrefix(s.rest[lead:], "<!--") {
		return false
	}
	end := strings.Index(s.rest[lead+4:], "-->")
	if end < 0 {
		s.unclosed = true
		return false
	}
	s.paragraph()
	s.rest = s.rest[lead+4+end+3:]
	if after := strings.TrimLeft(s.rest, " \t"); strings.HasPrefix(after, "\n") {
		s.rest = after[1:]
	}
	return true
}

// item notes whether indented lines from here on belong to a list.
func (s *scanner) item(line string) {
	body := strings.TrimLeft(line, " \t")
	digits := strings.TrimLeft(body, "0123456789")
	switch {
	case strings.HasPrefix(body, "- "), strings.HasPrefix(body, "* "), strings.HasPrefix(body, "+ "),
		len(digits) < len(body) && (strings.HasPrefix(digits, ". ") || strings.HasPrefix(digits, ") ")):
		s.list = true
	case len(body) == len(line):
		s.list = false
	}
}

func indented(line string) bool {
	return strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") || strings.HasPrefix(line, " \t") || strings.HasPrefix(line, "  \t") || strings.HasPrefix(line, "   \t")
}

// opening is the run of characters with which a line opens a code block, "" for none.
func opening(line string) string {
	for _, c := range []string{"`", "~"} {
		after := strings.TrimLeft(line, c)
		n := len(line) - len(after)
		if n >= 3 && (c == "~" || !strings.Contains(after, "`")) {
			return line[:n]
		}
	}
	return ""
}

func closes(line, fence string) bool {
	after := strings.TrimLeft(line, fence[:1])
	return len(line)-len(after) >= len(fence) && strings.TrimSpace(after) == ""
}

// paragraph looks for includes in the prose that is complete now.
func (s *scanner) paragraph() {
	text := s.prose.String()
	s.prose.Reset()
	if !strings.Contains(text, "@") {
		return
	}
	closing := spans(text)
	unclosed := false
	for i := 0; i < len(text); {
		switch {
		case text[i] == '\\':
			i += 2
		case text[i] == '`':
			i = pastSpan(text, i, closing)
		case !unclosed && strings.HasPrefix(text[i:], "<!--"):
			end := strings.Index(text[i:], "-->")
			unclosed = end < 0
			i += max(end, 1)
		case text[i] == '@':
			name, n := target(text, i)
			if name != "" {
				s.includes = append(s.includes, name)
			}
			i += n
		default:
			i++
		}
	}
}

// spans finds for each run of backticks the next one of the same length: what
// lies between them is code.
func spans(text string) map[int]int {
	if !strings.Contains(text, "`") {
		return nil
	}
	type run struct{ at, n int }
	var runs []run
	for i := 0; i < len(text); i++ {
		if text[i] == '`' {
			n := ticks(text[i:])
			runs = append(runs, run{i, n})
			i += n
		}
	}
	next, closing := map[int]int{}, map[int]int{}
	for i := len(runs) - 1; i >= 0; i-- {
		r := runs[i]
		if at, ok := next[r.n]; ok {
			closing[r.at] = at + r.n
		}
		next[r.n] = r.at
	}
	return closing
}

func ticks(s string) int { return len(s) - len(strings.TrimLeft(s, "`")) }

// pastSpan is where the text goes on after the run of backticks at i.
func pastSpan(text string, i int, closing map[int]int) int {
	if end, ok := closing[i]; ok {
		return end
	}
	return i + ticks(text[i:])
}

// maxName bounds the length of an included path, in bytes.
const maxName = 1024

// target reads the path after the '@' at i, "" when it is none, and how many
// bytes to go on by. A word, an address or a path before the '@' make it part of
// something else. A backslash keeps a blank in the path.
func target(text string, i int) (name string, n int) {
	if before, _ := utf8.DecodeLastRuneInString(text[:i]); i > 0 && (word(before) || strings.ContainsRune(`@/\.-+`, before)) {
		return "", 1
	}
	var b strings.Builder
	j := i + 1
scan:
	for j < len(text) && j-i <= maxName {
		switch c := text[j]; {
		case c == '\\' && j+1 < len(text) && text[j+1] == ' ':
			b.WriteByte(' ')
			j += 2
		case c <= ' ' || strings.IndexByte("`\"<>|*#", c) >= 0:
			break scan
		default:
			b.WriteByte(c)
			j++
		}
	}
	name = b.String()
	first, _ := utf8.DecodeRuneInString(name)
	ok := j-i <= maxName && name != "/" && (word(first) || first == '.' || first == '/' || first == '-' || strings.HasPrefix(name, "~/"))
	if !ok {
		return "", max(1, j-i)
	}
	return name, j - i
}

func word(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
