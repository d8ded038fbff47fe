package shellread

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// continuations reports backslashes at line ends that bash and the parser take
// differently: bash ends a comment at the end of the line whatever precedes it,
// joins $ and ( across lines, and looks for the end of an expanding
// here-document in joined lines.
func (w *walker) continuations() {
	if !strings.Contains(w.src, "\\\n") {
		return
	}
	if strings.Contains(w.src, "$\\\n") {
		w.facts.issue(Opaque, "a line ends between $ and what belongs to it")
	}
	// Only a whole file keeps every comment.
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(w.src), "")
	if err != nil {
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Comment:
			if strings.Contains(n.Text, "\n") || strings.HasSuffix(n.Text, `\`) {
				w.facts.issue(Opaque, "a comment ends in a backslash")
			}
		case *syntax.Redirect:
			if n.Hdoc != nil && !quotedDelimiter(n.Word) && joinsDelimiter(w.source(n.Hdoc), n.Word.Lit()) {
				w.facts.issue(Opaque, "a here-document whose lines join into its end")
			}
		}
		return true
	})
}

// joinsDelimiter reports whether joining the lines of a here-document as bash
// does moves its end.
func joinsDelimiter(body, delimiter string) bool {
	// The parser counts the line of the delimiter in.
	body = body[:strings.LastIndexByte(body, '\n')+1]
	var line strings.Builder
	ends := func() bool { return strings.TrimLeft(line.String(), "\t") == delimiter }
	for i := 0; i < len(body); i++ {
		switch {
		case body[i] == '\\' && i+1 < len(body) && body[i+1] == '\n':
			i++
			if i+1 == len(body) {
				return true
			}
		case body[i] == '\\' && i+1 < len(body):
			line.WriteString(body[i : i+2])
			i++
		case body[i] == '\n':
			if ends() {
				return true
			}
			line.Reset()
		default:
			line.WriteByte(body[i])
		}
	}
	return ends()
}

// plainDelimiter accepts the spellings of a here-document's end that every
// shell reads alike.
func plainDelimiter(n *syntax.Word) bool {
	if len(n.Parts) != 1 {
		return false
	}
	text := ""
	switch p := n.Parts[0].(type) {
	case *syntax.Lit:
		text = strings.TrimPrefix(p.Value, `\`)
	case *syntax.SglQuoted:
		if p.Dollar {
			return false
		}
		text = p.Value
	case *syntax.DblQuoted:
		if p.Dollar || len(p.Parts) != 1 {
			return false
		}
		lit, ok := p.Parts[0].(*syntax.Lit)
		if !ok {
			return false
		}
		text = lit.Value
	}
	return text != "" && strings.Trim(text, letters+"_.!+-") == ""
}
