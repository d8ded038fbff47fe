package shellread

import (
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Limits of what is analysed. Beyond MaxChars a text is still read, so that
// deny rules see its parts, but it is Opaque; beyond maxBytes or maxDepth only
// a crude split is made, because the cost of the parser is not bounded there.
const (
	MaxChars = 10_000
	maxBytes = 64 << 10
	maxDepth = 100
	// maxKeywords is how many compound commands may stay open at once.
	maxKeywords = 400
)

// Reader reads and remembers. Its zero value is not usable; see NewReader. It
// is safe for concurrent use.
type Reader struct {
	mu    sync.Mutex
	limit int
	known map[memoKey]*Facts
}

type memoKey struct {
	shell Shell
	text  string
}

// NewReader makes a Reader that remembers the facts of about limit texts.
func NewReader(limit int) *Reader {
	return &Reader{limit: max(limit, 1), known: make(map[memoKey]*Facts)}
}

// Read returns the facts of text. A nil Reader reads without remembering.
func (r *Reader) Read(text string, shell Shell) *Facts {
	if r == nil || len(text) > 4*MaxChars {
		return Read(text, shell)
	}
	key := memoKey{shell, text}
	r.mu.Lock()
	f, ok := r.known[key]
	r.mu.Unlock()
	if ok {
		return f
	}
	f = Read(text, shell)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.known) >= r.limit {
		clear(r.known)
	}
	r.known[key] = f
	return f
}

// Read returns the facts of text. It never fails: what could not be read is an
// Issue of the result.
func Read(text string, shell Shell) *Facts {
	f := &Facts{}
	clean := f.screen(text)
	if len(clean) > maxBytes || depth(clean) > maxDepth || keywords(clean) > maxKeywords {
		f.issue(Opaque, "the command is too large or too deeply nested to be analysed")
		f.Parts = crude(clean[:min(len(clean), maxBytes)])
		if len(clean) > maxBytes {
			f.Parts = append(f.Parts, unknownPart(&Part{}))
		}
		return f
	}
	if utf8.RuneCountInString(clean) > MaxChars {
		f.issue(Opaque, fmt.Sprintf("the command has more than %d characters", MaxChars))
	}
	f.parse(clean, shell)
	return f
}

func (f *Facts) issue(k IssueKind, text string) {
	for _, i := range f.Issues {
		if i.Kind == k && i.Text == text {
			return
		}
	}
	f.Issues = append(f.Issues, Issue{k, text})
}

// screen reports characters that a person cannot see, or that a shell and a
// parser treat differently, and returns the text without NUL bytes.
func (f *Facts) screen(text string) string {
	if !utf8.ValidString(text) {
		f.issue(Opaque, "the command is not valid UTF-8")
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	for _, r := range text {
		if r < utf8.RuneSelf {
			if (r < ' ' && r != '\n' && r != '\t') || r == 0x7f {
				f.issue(Opaque, fmt.Sprintf("the command holds the control character %q", r))
			}
			continue
		}
		if unicode.In(r, unicode.Cf, unicode.Cc, unicode.Co, unicode.Zl, unicode.Zp) || unicode.Is(unicode.Zs, r) {
			f.issue(Opaque, fmt.Sprintf("the command holds the invisible character %U", r))
		}
	}
	return strings.ReplaceAll(text, hole, "")
}

// depth is an upper bound of how deep parentheses and braces nest. Quoted ones
// count too: this runs before the parser, to protect it.
func depth(text string) int {
	deepest, level := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '{':
			level++
			deepest = max(deepest, level)
		case ')', '}':
			level = max(level-1, 0)
		}
	}
	return deepest
}

// keywords is an upper bound of how deep compound commands nest, counted in the
// words of the text wherever they stand.
func keywords(text string) int {
	if len(text) < 3*maxKeywords {
		return 0
	}
	open, deepest := 0, 0
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return r <= ' ' || r == ';' }) {
		switch w {
		case "if", "while", "until", "for", "case", "select", "elif":
			open++
			deepest = max(deepest, open)
		case "fi", "done", "esac":
			open = max(open-1, 0)
		}
	}
	return deepest
}

func (f *Facts) parse(text string, shell Shell) {
	w := &walker{src: text, facts: f, shell: shell}
	stmts, err := statements(text)
	w.continuations()
	w.variables(stmts)
	w.stmts(stmts, startDirs(), context{straight: true})
	if err != nil {
		f.issue(Opaque, "the command cannot be parsed: "+parseFault(err))
		f.Parts = append(f.Parts, crude(text)...)
	}
}

// statements returns the statements up to the first that cannot be parsed. A
// panic of the parser on hostile text counts as one that cannot.
func statements(text string) (list []*syntax.Stmt, err error) {
	defer func() {
		if p := recover(); p != nil {
			list, err = nil, fmt.Errorf("the parser failed: %v", p)
		}
	}()
	for s, fault := range syntax.NewParser(syntax.Variant(syntax.LangBash)).StmtsSeq(strings.NewReader(text)) {
		// The sequence may go on after an error and must not be left early.
		switch {
		case err != nil:
		case fault != nil:
			err = fault
		default:
			list = append(list, s)
		}
	}
	return list, err
}

func parseFault(err error) string {
	s := err.Error()
	if len(s) > 200 {
		s = s[:200]
	}
	return s
}

// crude splits an unparseable text at everything that could separate commands.
// Its parts serve deny and ask rules only.
func crude(text string) []Part {
	var parts []Part
	bare := strings.NewReplacer(`'`, "", `"`, "", `\`, "", "$", hole)
	for _, seg := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(";&|\n(){}`", r) }) {
		var words []Word
		for f := range strings.FieldsSeq(seg) {
			plain := bare.Replace(f)
			w := Word{Text: plain, Source: f}
			if strings.Contains(plain, hole) {
				w.Holes = FromVar
			}
			words = append(words, w)
		}
		for len(words) > 0 && isAssignment(words[0].Text) {
			words = words[1:]
		}
		if len(words) == 0 {
			continue
		}
		p := Part{Words: words, Shadow: true, Why: "not parsed"}
		p.finish()
		parts = append(parts, p)
		parts = append(parts, shadows(&p, 0)...)
		if len(parts) > maxCrude {
			break
		}
	}
	return parts
}

// maxCrude bounds the parts made of an unparseable text.
const maxCrude = 5_000
