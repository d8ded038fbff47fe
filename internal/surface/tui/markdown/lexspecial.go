package markdown

import (
	"strings"
	"unicode/utf8"

	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// special reads what only some languages have.
func (w *words) special(c byte) bool {
	switch c {
	case '\'':
		return w.is(runes) && w.rune()
	case '$':
		return w.is(dollars) && w.variable()
	case '@':
		return w.is(sigils) && w.named(style.Type)
	case ':':
		return w.is(symbols) && w.last != ':' && w.named(style.Number)
	case '#':
		return w.hash()
	case '<':
		return w.is(heredocs) && w.heredoc()
	case '/':
		return w.is(regexps) && w.regexp()
	case '[':
		return w.is(assigns) && w.head && w.all(style.Type)
	case '-':
		return w.is(commands) && (w.i == 0 || w.s[w.i-1] == ' ') && w.named(style.Number)
	}
	return false
}

// near is as much of the rest of a line as the end of something short is looked
// for in: a line of megabytes costs no more than its length.
func near(s string) string { return s[:min(len(s), 400)] }

func (w *words) all(r style.Role) bool {
	w.put(r, len(w.s)-w.i)
	return true
}

// named reads a sign and the name behind it.
func (w *words) named(r style.Role) bool {
	rest := w.s[w.i+1:]
	skip := len(rest) - len(strings.TrimLeft(rest, w.s[w.i:w.i+1]))
	n := w.x.name(rest[skip:])
	if n == 0 {
		return false
	}
	if r == style.Number && w.is(commands) { // options are --like-this
		for skip+n < len(rest) {
			if k := w.x.name(rest[skip+n:]); k > 0 {
				n += k
			} else if rest[skip+n] == '-' {
				n++
			} else {
				break
			}
		}
	}
	w.put(r, 1+skip+n)
	return true
}

// rune reads 'x', or the name of a lifetime.
func (w *words) rune() bool {
	rest := w.s[w.i+1:]
	if strings.HasPrefix(rest, `\`) {
		if end := strings.IndexByte(rest[min(2, len(rest)):], '\''); end >= 0 && end < 10 {
			w.put(style.String, 1+min(2, len(rest))+end+1)
			return true
		}
		return false
	}
	if _, n := utf8.DecodeRuneInString(rest); n > 0 && strings.HasPrefix(rest[n:], "'") {
		w.put(style.String, 1+n+1)
		return true
	}
	if n := w.x.name(rest); n > 0 && w.x.lang.word == "" {
		w.put(style.Type, 1+n)
		return true
	}
	return false
}

// variable reads $name, ${…} and $(.
func (w *words) variable() bool {
	rest := w.s[w.i+1:]
	if strings.HasPrefix(rest, "{") {
		if end := strings.IndexByte(near(rest), '}'); end >= 0 {
			w.put(style.Type, 1+end+1)
			return true
		}
		return false
	}
	n := w.x.name(rest)
	if n == 0 && rest != "" && strings.IndexByte("?!#@*$-", rest[0]) >= 0 {
		n = 1
	}
	if n == 0 {
		return false
	}
	w.put(style.Type, 1+n)
	return true
}

// hash reads a directive of C, an attribute of Rust, a colour of a style sheet.
func (w *words) hash() bool {
	rest := w.s[w.i+1:]
	switch {
	case w.is(directive) && w.head:
		word := strings.TrimLeft(rest, " ")
		n := len(rest) - len(word) + w.x.name(word)
		w.put(style.Keyword, 1+n)
		if tail := w.s[w.i:]; strings.HasPrefix(strings.TrimLeft(tail, " "), "<") {
			w.all(style.String)
		}
		return true
	case w.is(bang) && (strings.HasPrefix(rest, "[") || strings.HasPrefix(rest, "![")):
		if end := strings.IndexByte(near(rest), ']'); end >= 0 {
			w.put(style.Comment, 1+end+1)
			return true
		}
	case w.is(units):
		if n := w.x.name(rest); n > 0 {
			w.put(style.Number, 1+n)
			return true
		}
	}
	return false
}

// heredoc reads <<END; the lines up to END are a string.
func (w *words) heredoc() bool {
	rest, ok := strings.CutPrefix(w.s[w.i:], "<<")
	if !ok {
		return false
	}
	rest = strings.TrimLeft(rest, "-~ ")
	word := strings.TrimLeft(rest, `'"`)
	n := w.x.name(word)
	if n == 0 || word[0] >= '0' && word[0] <= '9' || strings.HasPrefix(w.s[w.i:], "<<<") || strings.HasPrefix(w.s[w.i:], "<< ") {
		return false
	}
	w.x.until = word[:n]
	end := len(w.s) - len(word) + n
	if end < len(w.s) && (w.s[end] == '\'' || w.s[end] == '"') {
		end++
	}
	w.put(style.String, end-w.i)
	return true
}

// regexp reads /…/ where a value may stand.
func (w *words) regexp() bool {
	if w.last != 0 && strings.IndexByte("(,=:[!&|?{};+~", w.last) < 0 {
		return false
	}
	rest := near(w.s[w.i+1:])
	class := false
	for n := 0; n < len(rest); n++ {
		switch c := rest[n]; {
		case c == '\\':
			n++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			if n == 0 {
				return false
			}
			n++
			w.put(style.String, 1+n+w.x.name(rest[n:]))
			return true
		}
	}
	return false
}

// readKeyed reads a line of YAML: a key, then a value.
func readKeyed(x *lexer, b *paints, s string) {
	text := strings.TrimLeft(s, " ")
	for strings.HasPrefix(text, "- ") {
		text = strings.TrimLeft(text[2:], " ")
	}
	lead := len(s) - len(text)
	b.put(style.Operator, s[:lead])
	if strings.HasPrefix(text, "---") || strings.HasPrefix(text, "%") {
		b.put(style.Comment, text)
		return
	}
	if n := strings.IndexByte(text, ':'); n > 0 && x.open == 0 && (n == len(text)-1 || text[n+1] == ' ') && !strings.ContainsAny(text[:1], "#[{&*!|>") {
		b.put(style.Function, text[:n])
		b.put(style.Operator, ":")
		text = text[n+1:]
	}
	readWords(x, b, text)
}

// readTarget reads a line of a makefile.
func readTarget(x *lexer, b *paints, s string) {
	if s != "" && s[0] != ' ' && s[0] != '\t' && s[0] != '#' {
		name := strings.TrimRight(s[:len(s)-len(strings.TrimLeft(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./%$() "))], " ")
		rest := strings.TrimLeft(s[len(name):], " ")
		switch {
		case rest != "" && (rest[0] == '=' || strings.IndexByte(":?+!", rest[0]) >= 0 && strings.HasPrefix(strings.TrimLeft(rest, ":"), "=") || strings.HasPrefix(rest[1:], "=")):
			b.put(style.Type, name)
			s = s[len(name):]
		case strings.HasPrefix(rest, ":"):
			b.put(style.Function, name)
			s = s[len(name):]
		}
	}
	readWords(x, b, s)
}

// readInstruction reads a line of a Dockerfile.
func readInstruction(x *lexer, b *paints, s string) {
	text := strings.TrimLeft(s, " ")
	word, _, _ := strings.Cut(text, " ")
	if x.open == 0 && has(x.lang.keywords, strings.ToLower(word)) {
		b.put(style.Plain, s[:len(s)-len(text)])
		b.put(style.Keyword, word)
		s = text[len(word):]
	}
	plain := *x.lang
	plain.keywords = " as "
	readWords(&lexer{lang: &plain}, b, s)
}

// readPatch reads a line of a diff.
func readPatch(_ *lexer, b *paints, s string) {
	r := style.Plain
	switch {
	case strings.HasPrefix(s, "+++"), strings.HasPrefix(s, "---"), strings.HasPrefix(s, "diff "):
		r = style.Bold
	case strings.HasPrefix(s, "index "), strings.HasPrefix(s, `\ `):
		r = style.Dim
	case strings.HasPrefix(s, "@@"):
		r = style.Accent
	case strings.HasPrefix(s, "+"), strings.HasPrefix(s, ">"):
		r = style.Added
	case strings.HasPrefix(s, "-"), strings.HasPrefix(s, "<"):
		r = style.Removed
	}
	b.put(r, s)
}

// readDoc reads a line of Markdown's source.
func readDoc(x *lexer, b *paints, s string) {
	text := strings.TrimLeft(s, " ")
	_, _, fence := fenceStart(text)
	_, _, head := heading(text)
	switch {
	case fence:
		x.tag = !x.tag
		b.put(style.Comment, s)
	case x.tag:
		b.put(style.String, s)
	case head:
		b.put(style.Heading, s)
	case strings.HasPrefix(text, ">"):
		b.put(style.Quote, s)
	default:
		mark, ok := listMark(text)
		if !ok {
			mark = ""
		}
		n := len(s) - len(text) + len(mark)
		b.put(style.Operator, s[:n])
		readWords(x, b, s[n:])
	}
}

// readTags reads a line of HTML or XML.
func readTags(x *lexer, b *paints, s string) {
	i := 0
	if x.open > 0 {
		i = x.closeQuote(b, s, 0, 0)
	}
	for i < len(s) {
		rest := s[i:]
		switch {
		case !x.tag && strings.HasPrefix(rest, "<!--"):
			x.open, x.depth = 1, 1
			i = x.closeQuote(b, s, i, i+4)
		case !x.tag && len(rest) > 1 && rest[0] == '<' && (rest[1] == '/' || rest[1] == '!' || rest[1] == '?' || x.name(rest[1:]) > 0):
			n := 1 + len(rest[1:]) - len(strings.TrimLeft(rest[1:], "/!?"))
			n += x.name(rest[n:])
			x.tag = true
			b.put(style.Keyword, rest[:n])
			i += n
		case !x.tag:
			n := strings.IndexByte(rest[1:], '<') + 1
			if n == 0 {
				n = len(rest)
			}
			b.put(style.Plain, rest[:n])
			i += n
		default:
			i += x.attribute(b, s, i)
		}
	}
}

// attribute reads one thing inside a tag.
func (x *lexer) attribute(b *paints, s string, i int) int {
	rest := s[i:]
	switch c := rest[0]; c {
	case '>':
		x.tag = false
		b.put(style.Keyword, ">")
	case '"', '\'':
		x.open, x.depth = 2, 1
		if c == '\'' {
			x.open = 3
		}
		return x.closeQuote(b, s, i, i+1) - i
	case '/', '?':
		b.put(style.Keyword, rest[:1])
	default:
		if n := x.name(rest); n > 0 {
			b.put(style.Function, rest[:n])
			return n
		}
		_, n := utf8.DecodeRuneInString(rest)
		b.put(style.Plain, rest[:n])
		return n
	}
	return 1
}

// readRules reads a line of a style sheet.
func readRules(x *lexer, b *paints, s string) {
	w := words{x: x, b: b, s: s, head: true}
	if x.open > 0 {
		w.i = x.closeQuote(b, s, 0, 0)
	}
	for w.i < len(s) {
		c, rest := s[w.i], s[w.i:]
		n := x.name(rest)
		switch {
		case n > 0 && (c < '0' || c > '9') && strings.HasPrefix(strings.TrimLeft(rest[n:], " "), ":") && !strings.HasSuffix(s, "{") && !strings.HasSuffix(s, ","):
			w.put(style.Function, n)
		case (c == '.' || c == '#' && !strings.Contains(s[max(0, w.i-400):w.i], ":")) && len(rest) > 1 && x.name(rest[1:]) > 0 && (rest[1] > '9' || rest[1] < '0'):
			w.put(style.Type, 1+x.name(rest[1:]))
		case c == '@' && x.name(rest[1:]) > 0:
			w.put(style.Keyword, 1+x.name(rest[1:]))
		default:
			w.token()
		}
		w.last = s[w.i-1]
	}
}
