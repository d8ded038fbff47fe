package shellread

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// builder collects the value of one word.
type builder struct {
	text, pat strings.Builder
	glob      bool
	holes     Origin
}

func (b *builder) literal(s string) {
	b.text.WriteString(s)
	b.pat.WriteString(escapeGlob(s))
}

func (b *builder) unknown(o Origin) {
	b.holes |= o
	b.text.WriteString(hole)
	b.pat.WriteString(hole)
}

func escapeGlob(s string) string {
	if !strings.ContainsAny(s, `*?[]\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(`*?[]\`, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// words evaluates n as the shell would before running: one word, or several
// when braces expand.
func (w *walker) words(n *syntax.Word, in Dirs, ctx context) []Word {
	src := w.source(n)
	if !strings.Contains(src, "{") {
		return []Word{w.word(n, src, in, ctx)}
	}
	all := []*syntax.Word{n}
	if braced := splitBraces(n); braced != nil {
		expanded, ok := expandBraces(braced)
		if !ok {
			w.facts.issue(Construct, "a large or unusual brace expansion")
			return []Word{{Text: hole, Source: src, Holes: FromVar, Braced: true}}
		}
		all = expanded
	}
	out := make([]Word, 0, len(all))
	for _, e := range all {
		v := w.word(e, src, in, ctx)
		v.Braced = len(all) > 1
		out = append(out, v)
	}
	return out
}

// splitBraces returns a copy of n with its braces split, or nil when it has none.
func splitBraces(n *syntax.Word) *syntax.Word {
	c := &syntax.Word{Parts: append([]syntax.WordPart(nil), n.Parts...)}
	if !syntax.SplitBraces(c) {
		return nil
	}
	return c
}

// maxBraces bounds what one word may expand to; more is treated as unknown text.
const maxBraces = 64

func expandBraces(n *syntax.Word) ([]*syntax.Word, bool) {
	out := []*syntax.Word{{}}
	for _, part := range n.Parts {
		br, ok := part.(*syntax.BraceExp)
		if !ok {
			for _, o := range out {
				o.Parts = append(o.Parts, part)
			}
			continue
		}
		elems, ok := braceElems(br)
		if !ok || len(out)*len(elems) > maxBraces {
			return nil, false
		}
		next := make([]*syntax.Word, 0, len(out)*len(elems))
		for _, o := range out {
			for _, e := range elems {
				parts := append(append([]syntax.WordPart(nil), o.Parts...), e.Parts...)
				next = append(next, &syntax.Word{Parts: parts})
			}
		}
		out = next
	}
	return out, true
}

func braceElems(br *syntax.BraceExp) ([]*syntax.Word, bool) {
	if br.Sequence {
		return braceSequence(br)
	}
	var elems []*syntax.Word
	for _, e := range br.Elems {
		sub, ok := expandBraces(e)
		if !ok {
			return nil, false
		}
		elems = append(elems, sub...)
	}
	return elems, len(elems) <= maxBraces
}

// word evaluates n without brace expansion. Parts inside substitutions are
// walked and added to the facts.
func (w *walker) word(n *syntax.Word, src string, in Dirs, ctx context) Word {
	if len(n.Parts) == 1 {
		if lit, ok := n.Parts[0].(*syntax.Lit); ok && !strings.ContainsAny(lit.Value, "\\*?[~=^#") {
			return Word{Text: lit.Value, Source: src}
		}
	}
	b := &builder{}
	tilde := w.leadingTilde(n, b)
	for _, p := range n.Parts {
		w.part(b, p, false, in, ctx)
	}
	out := Word{Text: b.text.String(), Source: src, Holes: b.holes, Tilde: tilde}
	if b.glob {
		out.Pattern = b.pat.String()
	}
	return out
}

// leadingTilde reports a leading ~ or ~/ that the shell expands to the home
// directory. Any other tilde prefix names a directory that is not known here.
func (w *walker) leadingTilde(n *syntax.Word, b *builder) bool {
	if len(n.Parts) == 0 {
		return false
	}
	lit, ok := n.Parts[0].(*syntax.Lit)
	if !ok {
		return false
	}
	if w.shell == Zsh && strings.HasPrefix(lit.Value, "=") {
		w.facts.issue(Construct, "a word that zsh expands to a program's path")
	}
	if !strings.HasPrefix(lit.Value, "~") {
		return false
	}
	if lit.Value == "~" && len(n.Parts) == 1 || strings.HasPrefix(lit.Value, "~/") {
		return true
	}
	b.holes |= FromVar
	b.text.WriteString(hole)
	b.pat.WriteString(hole)
	return false
}

func (w *walker) part(b *builder, p syntax.WordPart, quoted bool, in Dirs, ctx context) {
	switch p := p.(type) {
	case *syntax.Lit:
		if quoted {
			b.literal(unescapeQuoted(p.Value))
			return
		}
		w.bareLit(b, p.Value)
	case *syntax.SglQuoted:
		w.singleQuoted(b, p)
	case *syntax.DblQuoted:
		if p.Dollar {
			// The text may be replaced by a translation.
			w.facts.issue(Construct, `a translated string ($"…")`)
		}
		for _, q := range p.Parts {
			w.part(b, q, true, in, ctx)
		}
	case *syntax.ParamExp:
		w.param(b, p, quoted, in, ctx)
	case *syntax.CmdSubst:
		w.substitution(b, p, in, ctx)
	case *syntax.ArithmExp:
		if !w.arithmetic(p.X, in, ctx) {
			w.facts.issue(Construct, "arithmetic that is not made of plain numbers")
		}
		b.unknown(FromNumber)
	case *syntax.ProcSubst:
		w.stmts(p.Stmts, in, ctx.nested("process substitution"))
		if p.Op != syntax.CmdIn {
			w.facts.issue(Construct, "a process substitution that is written to")
		}
		b.literal("/dev/fd/")
		b.unknown(FromProc)
	case *syntax.ExtGlob:
		w.facts.issue(Construct, "an extended glob")
		b.glob = true
		b.unknown(FromVar)
	case *syntax.BraceExp:
		w.facts.issue(Construct, "an unusual brace expansion")
		b.unknown(FromVar)
	}
}

// bareLit adds unquoted literal text: backslashes are removed, active globs noted.
func (w *walker) bareLit(b *builder, s string) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' && i+1 < len(s) {
			i++
			if s[i] != '\n' {
				b.literal(s[i : i+1])
			}
			continue
		}
		if c == '*' || c == '?' || (c == '[' && strings.IndexByte(s[i:], ']') > 0) {
			b.glob = true
			b.text.WriteByte(c)
			b.pat.WriteByte(c)
			if c == '[' {
				// The class is kept verbatim in the pattern.
				end := i + strings.IndexByte(s[i:], ']')
				b.text.WriteString(s[i+1 : end+1])
				b.pat.WriteString(s[i+1 : end+1])
				i = end
			}
			continue
		}
		if w.shell == Zsh && (c == '^' || c == '#' || c == '~' && i > 0) {
			w.facts.issue(Construct, "a character that zsh may expand")
		}
		b.text.WriteByte(c)
		if c == ']' {
			b.pat.WriteByte('\\')
		}
		b.pat.WriteByte(c)
	}
}

func (w *walker) singleQuoted(b *builder, p *syntax.SglQuoted) {
	if !p.Dollar {
		b.literal(p.Value)
		return
	}
	s, ok := ansiC(p.Value)
	if !ok {
		w.facts.issue(Construct, "an escape in $'…' that is not understood")
		b.unknown(FromVar)
		return
	}
	b.literal(s)
}

// unescapeQuoted removes the backslashes that are special between double quotes.
func unescapeQuoted(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// param adds the value of a parameter expansion: known variables of this very
// text resolve, numbers are numbers, the rest is a hole.
func (w *walker) param(b *builder, p *syntax.ParamExp, quoted bool, in Dirs, ctx context) {
	if w.simpleParam(p) {
		name := p.Param.Value
		if v, ok := w.vars[name]; ok && v.usable(quoted) {
			b.text.WriteString(v.text)
			if v.pattern != "" {
				b.glob = true
				b.pat.WriteString(v.pattern)
				return
			}
			b.pat.WriteString(escapeGlob(v.text))
			return
		}
		switch name {
		case "?", "#", "$":
			b.unknown(FromNumber)
		default:
			b.unknown(FromVar)
		}
		return
	}
	w.paramParts(p, in, ctx)
	if p.Length && p.Index == nil && p.Param != nil && p.Exp == nil && p.Slice == nil && p.Repl == nil && !p.Excl {
		b.unknown(FromNumber)
		return
	}
	// ${x@P} runs code, ${!x} names another variable, ${x:y} does arithmetic.
	w.facts.issue(Construct, "a parameter expansion that is more than a name")
	b.unknown(FromVar)
}

func (w *walker) simpleParam(p *syntax.ParamExp) bool {
	return p.Param != nil && p.Flags == nil && !p.Excl && !p.Length && !p.Width && !p.IsSet &&
		p.Split == syntax.OptUnset && p.GlobSubst == syntax.OptUnset && p.RcExpand == syntax.OptUnset &&
		p.NestedParam == nil && p.Index == nil && len(p.Modifiers) == 0 &&
		p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil
}

// paramParts walks the words inside an expansion for the commands they hold.
func (w *walker) paramParts(p *syntax.ParamExp, in Dirs, ctx context) {
	sink := &builder{}
	visit := func(n *syntax.Word) {
		if n == nil {
			return
		}
		for _, q := range n.Parts {
			w.part(sink, q, true, in, ctx)
		}
	}
	if p.NestedParam != nil {
		w.part(sink, p.NestedParam, true, in, ctx)
	}
	w.arithmetic(p.Index, in, ctx)
	if p.Slice != nil {
		w.arithmetic(p.Slice.Offset, in, ctx)
		w.arithmetic(p.Slice.Length, in, ctx)
	}
	if p.Repl != nil {
		visit(p.Repl.Orig)
		visit(p.Repl.With)
	}
	if p.Exp != nil {
		visit(p.Exp.Word)
	}
}

// substitution adds the output of a command substitution. One idiom has a fixed
// value: cat of a here-document that expands nothing.
func (w *walker) substitution(b *builder, p *syntax.CmdSubst, in Dirs, ctx context) {
	if text, ok := w.fixedHeredoc(p, in, ctx); ok {
		b.literal(strings.TrimRight(text, "\n"))
		return
	}
	if p.TempFile || p.ReplyVar {
		w.facts.issue(Construct, "an unusual command substitution")
	}
	w.stmts(p.Stmts, in, ctx.nested("command substitution"))
	b.unknown(FromSubst)
}

func (w *walker) fixedHeredoc(p *syntax.CmdSubst, in Dirs, ctx context) (string, bool) {
	if len(p.Stmts) != 1 || p.TempFile || p.ReplyVar || w.functions {
		return "", false
	}
	s := p.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Negated || s.Background || len(call.Assigns) > 0 || len(call.Args) != 1 || call.Args[0].Lit() != "cat" || len(s.Redirs) != 1 {
		return "", false
	}
	r := s.Redirs[0]
	if r.N != nil || r.Hdoc == nil {
		return "", false
	}
	return heredocText(r)
}

// heredocText returns the body of a here-document that expands nothing.
func heredocText(r *syntax.Redirect) (string, bool) {
	quoted := quotedDelimiter(r.Word)
	if r.Hdoc == nil {
		return "", true
	}
	var b strings.Builder
	for _, p := range r.Hdoc.Parts {
		lit, ok := p.(*syntax.Lit)
		if !ok || (!quoted && strings.ContainsAny(lit.Value, "\\")) {
			return "", false
		}
		b.WriteString(lit.Value)
	}
	return b.String(), true
}

func quotedDelimiter(n *syntax.Word) bool {
	for _, p := range n.Parts {
		lit, ok := p.(*syntax.Lit)
		if !ok || strings.Contains(lit.Value, `\`) {
			return true
		}
	}
	return false
}
