package markdown

import (
	"strings"

	"github.com/hew-agent/hew/internal/surface/tui/style"
)

type pieceKind uint8

const (
	textPiece pieceKind = iota
	headPiece
	codePiece // one line of code
	tablePiece
	rulePiece
)

// piece is a finished block, or a part of one that can be drawn alone. It does
// not know how wide the screen is.
type piece struct {
	kind        pieceKind
	text        style.Line
	level       int
	first, rest style.Line // in front of the first line and of the others
	gap         bool       // a blank line stands in front
	lead        style.Line // in front of nothing, on that blank line
	cont        bool       // goes on with what the piece before it began
	more        bool       // the next one goes on with this, on the same line
	grid        *grid
	rows        [][]style.Line
	headless    bool // the first row of the table is one like the others
}

// put finishes a piece inside the containers that are open.
func (p *parser) put(c piece) {
	if !c.cont {
		c.gap = p.any && (p.blank || spaced(p.last) && p.last != headPiece || spaced(c.kind))
		if c.gap {
			c.lead = bars(p.in[:p.same])
		}
	}
	c.first, c.rest = p.prefix()
	p.any, p.blank, p.last, p.same = true, false, c.kind, len(p.in)
	p.out = append(p.out, c)
}

// spaced tells which pieces have air around them whatever the source says.
func spaced(k pieceKind) bool { return k != textPiece }

// bars is what is drawn of containers in a blank line.
func bars(in []container) style.Line {
	var b strings.Builder
	for _, c := range in {
		if c.quote {
			b.WriteString("│ ")
			continue
		}
		b.WriteString(strings.Repeat(" ", c.cells))
	}
	return bare(style.Text(style.Rule, b.String()))
}

// bare is a line without the blanks at its end.
func bare(l style.Line) style.Line {
	for n := len(l); n > 0; n = len(l) {
		text := strings.TrimRight(l[n-1].Text, " ")
		if text == l[n-1].Text {
			break
		}
		last := l[n-1]
		if l = l[: n-1 : n-1]; text != "" {
			last.Text = text
			l = append(l, last)
			break
		}
	}
	return l
}

// prefix is what the containers draw in front of a piece's first line, and of
// its others. An item's mark is drawn once.
func (p *parser) prefix() (first, rest style.Line) {
	for i := range p.in {
		c := &p.in[i]
		if c.quote {
			bar := style.Span{Text: "│ ", Role: style.Rule}
			first, rest = append(first, bar), append(rest, bar)
			continue
		}
		pad := style.Span{Text: strings.Repeat(" ", c.cells)}
		rest = append(rest, pad)
		if c.mark == "" {
			first = append(first, pad)
			continue
		}
		r := style.Dim
		if c.mark == "✔" {
			r = style.Success
		}
		first = append(first, style.Span{Text: c.mark + " ", Role: r})
		c.mark = ""
	}
	return first, rest
}

// layout draws pieces in order.
type layout struct {
	carry style.Line // the last line of a piece that goes on
	grid  *grid      // of the table that goes on
}

func join(a, b style.Line) style.Line { return append(a[:len(a):len(a)], b...) }

// narrowed leaves at least half of the width to the text.
func narrowed(l style.Line, width int) style.Line {
	over := l.Width() - width/2
	for over > 0 {
		over, l = over-style.Width(l[0].Text), l[1:]
	}
	return l
}

func (l *layout) put(out []style.Line, p piece, width int) []style.Line {
	width = max(width, 2)
	if p.gap {
		out = append(out, narrowed(p.lead, width))
	}
	p.first, p.rest = narrowed(p.first, width), narrowed(p.rest, width)
	switch p.kind {
	case textPiece, headPiece:
		return l.prose(out, p, width)
	case codePiece:
		return l.code(out, p, width)
	case tablePiece:
		return l.table(out, p, width)
	case rulePiece:
		n := min(width-p.first.Width(), 60)
		return append(out, join(p.first, style.Text(style.Rule, strings.Repeat("─", n))))
	}
	return out
}

func (l *layout) prose(out []style.Line, p piece, width int) []style.Line {
	if p.cont {
		p.first, l.carry = l.carry, nil
	}
	for i, r := range rows(p.text) {
		lead := p.rest
		if i == 0 {
			lead = p.first
		}
		if len(r) == 0 {
			out = append(out, bare(lead))
			continue
		}
		out = append(out, style.WrapUnder(join(lead, r), width, p.rest)...)
	}
	return l.hold(out, p)
}

// hold keeps the last line back when the next piece goes on in it.
func (l *layout) hold(out []style.Line, p piece) []style.Line {
	if p.more {
		l.carry, out = out[len(out)-1], out[:len(out)-1]
	}
	return out
}

// codeIndent is how far code stands from the text around it.
const codeIndent = 2

func (l *layout) code(out []style.Line, p piece, width int) []style.Line {
	pad := style.Text(style.Plain, strings.Repeat(" ", codeIndent))
	line := join(p.first, pad)
	if l.carry != nil {
		line, l.carry = l.carry, nil
	}
	s := p.text.String()
	if strings.Trim(s, " ") == "" {
		out = append(out, bare(line))
		return l.hold(out, p)
	}
	hang := min(len(s)-len(strings.TrimLeft(s, " "))+2, width/3)
	under := join(p.rest, style.Text(style.Plain, strings.Repeat(" ", codeIndent+hang)))
	out = append(out, style.WrapUnder(join(line, p.text), width, under)...)
	return l.hold(out, p)
}
