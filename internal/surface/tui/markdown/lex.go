package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// language says how code of a language is read.
type language struct {
	// names are its labels and the ends of its files' names; all the lists are
	// words between blanks, with a blank at both ends.
	names    string
	keywords string
	types    string
	consts   string
	comments string  // what begins a comment that the line ends
	quotes   []quote // strings and comments of several lines, the longer opening before the shorter
	word     string  // what belongs to words besides letters, digits and "_"
	has      trait
	// read takes a line, nil for readWords.
	read func(*lexer, *paints, string)
}

// quote is text between two signs.
type quote struct {
	open, close string
	escape      byte // takes the meaning of what follows; the closing sign itself where doubling does
	lines       bool // goes on in the next line
	nests       bool
	role        style.Role
}

// trait is something that a language has, beyond its words.
type trait uint32

const (
	capitals  trait = 1 << iota // types begin with a capital letter
	anyCase                     // keywords in small or capital letters
	runes                       // 'x' is a character, 'x a lifetime or a name
	dollars                     // $variables
	sigils                      // @annotations and @variables
	directive                   // # at the start of a line begins a directive
	hashWord                    // a comment's # begins a word
	commands                    // the first word is a command
	heredocs                    // <<END
	regexps                     // /literals/
	bang                        // name!(…) is a call
	keys                        // name: and "name": are keys
	assigns                     // name = at the start of a line is a key; [name] a section
	symbols                     // :name is a constant
	colons                      // name: at the start of a line is a target
	units                       // numbers have units, # begins a colour
)

// lexer gives the words of code their roles, a line at a time. It is copied to
// look ahead.
type lexer struct {
	lang  *language
	open  int    // the quote that is open, counted from one
	depth int    // of nested comments; of braces in style sheets
	until string // the line that ends a here-document
	tag   bool   // inside a tag
}

// paints collects the spans of a line, which are put in order and without gaps.
type paints struct {
	line string
	from int // of the last span in line
	at   int // what was put
	out  style.Line
}

// put gives the next characters their role. A nil paints only reads.
func (b *paints) put(r style.Role, s string) {
	if s == "" || b == nil {
		return
	}
	if n := len(b.out); n > 0 && b.out[n-1].Role == r {
		b.at += len(s)
		b.out[n-1].Text = b.line[b.from:b.at]
		return
	}
	b.from = b.at
	b.at += len(s)
	b.out = append(b.out, style.Span{Text: s, Role: r})
}

// newLexer reads code of the language with this label, or without roles where
// it is not known.
func newLexer(label string) lexer {
	label = strings.ToLower(strings.Trim(label, "{}. "))
	if label == "" || strings.ContainsRune(label, ' ') {
		return lexer{}
	}
	for i := range languages {
		if has(languages[i].names, label) {
			return lexer{lang: languages[i]}
		}
	}
	return lexer{}
}

// lexerOf reads the code of a file.
func lexerOf(path string) lexer {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	if x := newLexer(name); x.lang != nil {
		return x
	}
	return newLexer(name[strings.LastIndexByte(name, '.')+1:])
}

// has tells whether a list holds a word.
func has(list, word string) bool {
	for at := 0; ; {
		n := strings.Index(list[at:], word)
		if n < 0 || word == "" {
			return false
		}
		n += at
		if n > 0 && list[n-1] == ' ' && list[n+len(word)] == ' ' {
			return true
		}
		at = n + 1
	}
}

// line gives the roles of a line. The spans together are the line.
func (x *lexer) line(s string) style.Line {
	if x.lang == nil {
		return style.Text(style.Plain, s)
	}
	b := &paints{line: s}
	if x.lang.read != nil {
		x.lang.read(x, b, s)
	} else {
		readWords(x, b, s)
	}
	return b.out
}

// readWords reads a line of a language that has words, strings and comments.
func readWords(x *lexer, b *paints, s string) {
	if x.until != "" {
		if strings.Trim(s, "\t ") == x.until {
			x.until = ""
		}
		b.put(style.String, s)
		return
	}
	w := words{x: x, b: b, s: s, head: true}
	if x.open > 0 {
		w.i = x.closeQuote(b, s, 0, 0)
	}
	for w.i < len(s) {
		w.token()
	}
}

// closeQuote reads from i to the end of the open quote, or of the line. from is
// where the quote began in this line.
func (x *lexer) closeQuote(b *paints, s string, from, i int) int {
	q := &x.lang.quotes[x.open-1]
	for i < len(s) {
		switch {
		case q.escape == '\\' && s[i] == '\\':
			i = min(i+2, len(s))
		case strings.HasPrefix(s[i:], q.close):
			i += len(q.close)
			if q.escape == q.close[0] && i < len(s) && s[i] == q.escape {
				i++
				continue
			}
			if x.depth--; x.depth <= 0 {
				x.open, x.depth = 0, 0
				b.put(q.role, s[from:i])
				return i
			}
		case q.nests && strings.HasPrefix(s[i:], q.open):
			x.depth++
			i += len(q.open)
		default:
			i++
		}
	}
	if !q.lines && !(q.escape == '\\' && strings.HasSuffix(s, `\`)) {
		x.open, x.depth = 0, 0
	}
	b.put(q.role, s[from:])
	return len(s)
}

// words is a line that is being read.
type words struct {
	x    *lexer
	b    *paints
	s    string
	i    int
	head bool // nothing but white space was read, or a command may follow
	last byte // the last sign or letter before i, 0 for none
}

func (w *words) put(r style.Role, n int) {
	w.b.put(r, w.s[w.i:w.i+n])
	w.i += n
}

func (w *words) is(t trait) bool { return w.x.lang.has&t != 0 }

func (w *words) token() {
	s, i := w.s, w.i
	c := s[i]
	if c == ' ' {
		w.put(style.Plain, 1)
		return
	}
	if w.comment() || w.quoted() || w.special(c) {
		w.head = false
		w.last = s[w.i-1]
		return
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	switch {
	case c >= '0' && c <= '9':
		w.put(style.Number, w.number())
		w.head = false
	case unicode.IsLetter(r) || c == '_' || strings.IndexByte(w.x.lang.word, c) >= 0:
		w.word()
	case strings.IndexByte("+*/%=<>!&|^~?:-", c) >= 0:
		w.put(style.Operator, 1)
		w.head = c == '|' || c == '&'
	default:
		w.put(style.Plain, n)
		w.head = c == ';' || c == '(' || c == '{'
	}
	w.last = s[w.i-1]
}

// comment reads a comment to the end of the line.
func (w *words) comment() bool {
	rest := w.s[w.i:]
	for list := w.x.lang.comments; list != ""; {
		var sign string
		sign, list, _ = strings.Cut(strings.TrimLeft(list, " "), " ")
		if sign == "" || !strings.HasPrefix(rest, sign) || sign == "#" && w.is(hashWord) && w.i > 0 && strings.IndexByte(" \t;&|(", w.s[w.i-1]) < 0 {
			continue
		}
		if w.blockComment(rest) {
			return false
		}
		w.put(style.Comment, len(rest))
		return true
	}
	return false
}

// blockComment tells whether a quote begins with what begins a comment, as in Lua.
func (w *words) blockComment(rest string) bool {
	for _, q := range w.x.lang.quotes {
		if q.role == style.Comment && strings.HasPrefix(rest, q.open) {
			return true
		}
	}
	return false
}

func (w *words) quoted() bool {
	for k, q := range w.x.lang.quotes {
		if !strings.HasPrefix(w.s[w.i:], q.open) {
			continue
		}
		w.x.open, w.x.depth = k+1, 1
		from := w.i
		w.i = w.x.closeQuote(nil, w.s, from, from+len(q.open))
		r := q.role
		if w.is(keys) && r == style.String && strings.HasPrefix(strings.TrimLeft(w.s[w.i:], " "), ":") {
			r = style.Function
		}
		w.b.put(r, w.s[from:w.i])
		return true
	}
	return false
}

// number is the length of the number at i.
func (w *words) number() int {
	s := w.s[w.i:]
	n := 1
	for n < len(s) {
		c := s[n]
		switch {
		case c >= '0' && c <= '9', c == '_', c|0x20 >= 'a' && c|0x20 <= 'z', c == '%' && w.is(units):
		case c == '.' && n+1 < len(s) && s[n+1] >= '0' && s[n+1] <= '9':
		case (c == '+' || c == '-') && s[n-1]|0x20 == 'e' && n > 1 && s[1]|0x20 != 'x' && n+1 < len(s) && s[n+1] >= '0' && s[n+1] <= '9':
		default:
			return n
		}
		n++
	}
	return n
}

// name is the length of the word at the start of s.
func (x *lexer) name(s string) int {
	n := 0
	for n < len(s) {
		c := s[n]
		if c < utf8.RuneSelf {
			if c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || strings.IndexByte(x.lang.word, c) >= 0 {
				n++
				continue
			}
			return n
		}
		r, k := utf8.DecodeRuneInString(s[n:])
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) {
			return n
		}
		n += k
	}
	return n
}

// word reads a word and decides by what it is, and what follows, what it means.
func (w *words) word() {
	l := w.x.lang
	n := max(w.x.name(w.s[w.i:]), 1)
	word, rest := w.s[w.i:w.i+n], w.s[w.i+n:]
	head := w.head
	w.head = false
	key := word
	if w.is(anyCase) {
		key = strings.ToLower(word)
	}
	next := byte(0)
	if rest != "" {
		next = rest[0]
	}
	after := strings.TrimLeft(rest, " ")
	switch {
	case w.last == '.' && next != '(' && !w.is(capitals):
		w.put(style.Plain, n)
	case n <= 2 && (next == '"' || next == '\'' && n == 1) && len(l.quotes) > 0 && w.last != '.': // r"…", f'…'
		w.put(style.String, n)
	case w.is(keys) && strings.HasPrefix(after, ":") && !strings.HasPrefix(after, "::"):
		w.put(style.Function, n)
	case has(l.keywords, key):
		w.put(style.Keyword, n)
		w.head = w.is(commands)
	case has(l.types, key):
		w.put(style.Type, n)
	case has(l.consts, key):
		w.put(style.Number, n)
	case w.is(assigns|commands) && head && strings.HasPrefix(after, "=") && (!w.is(commands) || next == '='):
		w.put(style.Type, n)
	case w.is(commands) && head:
		w.put(style.Function, n)
	case w.is(bang) && (strings.HasPrefix(rest, "!(") || strings.HasPrefix(rest, "![") || strings.HasPrefix(rest, "! {")):
		w.put(style.Function, n+1)
	case next == '(':
		w.put(style.Function, n)
	case w.is(capitals) && unicode.IsUpper(first(word)):
		w.put(style.Type, n)
	default:
		w.put(style.Plain, n)
	}
}

func first(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}
