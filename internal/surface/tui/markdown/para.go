package markdown

import (
	"strings"

	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// flowing is how wide a line is, in cells, that its author filled before he
// began the next; a shorter one ends where he wanted it to.
const flowing = 60

// text adds a line to the paragraph, or begins one.
func (p *parser) text(s string) {
	s = strings.TrimLeft(s, " \t")
	t := strings.TrimRight(s, " \t")
	hard := len(s)-len(t) >= 2
	if n := len(t) - len(strings.TrimRight(t, "\\")); n%2 == 1 && !p.tail {
		t, hard = t[:len(t)-1], true
	}
	p.define(t)
	l := &p.leaf
	if l.kind != paragraph {
		p.endLeaf()
		*l = leaf{kind: paragraph, text: t}
	} else {
		glue := " "
		if l.hard || style.Width(l.raw) < flowing {
			glue = "\n"
		}
		l.before = len(l.text)
		l.text += glue + t
	}
	l.raw, l.hard = t, hard
	l.lines++
	p.bound()
}

// more reads a further part of a very long line.
func (p *parser) more(s string) {
	l := &p.leaf
	if l.kind == fenced {
		p.codeText(s, true)
		return
	}
	if l.kind != paragraph {
		if s != "" {
			p.text(s)
		}
		return
	}
	l.text += s
	l.raw, l.lines, l.hard = s, l.lines+2, false
	p.bound()
}

// bound hands out the beginning of a paragraph that grows long.
func (p *parser) bound() {
	l := &p.leaf
	for len(l.text) > maxPara {
		n := seam(l.text)
		p.put(piece{kind: textPiece, text: spans(l.text[:n], p.prose(), p.refs, false), cont: l.cont, more: true})
		l.text, l.cont = l.text[n:], true
		l.before = max(l.before-n, 0)
	}
}

// seam is where a long text can be cut: behind a sentence and where no mark is
// open if there is such a place, else at white space.
func seam(s string) int {
	n, ticks, stars := 0, 0, 0
	for i := range maxPara {
		switch s[i] {
		case '`':
			ticks++
		case '*':
			stars++
		case ' ', '\n':
			if i < maxPara/2 {
				continue
			}
			if n = i; ticks%2 == 0 && stars%2 == 0 && strings.IndexByte(".!?:", s[i-1]) >= 0 {
				return n
			}
		}
	}
	if n > 0 {
		return n
	}
	return edge(s, maxPara)
}

// define notes the address of "[label]: address" for the links that follow.
func (p *parser) define(s string) {
	if p.tail || !strings.HasPrefix(s, "[") || strings.HasPrefix(s, "[^") {
		return
	}
	label, to, ok := strings.Cut(s[1:], "]:")
	to, _, _ = strings.Cut(strings.TrimSpace(to), " ")
	if !ok || to == "" || len(p.refs) > 1000 {
		return
	}
	if p.refs == nil {
		p.refs = map[string]string{}
	}
	if _, known := p.refs[refLabel(label)]; !known {
		p.refs[refLabel(label)] = strings.Trim(to, "<>")
	}
}

func (p *parser) prose() style.Role {
	for _, c := range p.in {
		if c.quote {
			return style.Quote
		}
	}
	return style.Plain
}

// endLeaf puts out what is open.
func (p *parser) endLeaf() {
	l := p.leaf
	p.leaf = leaf{}
	switch l.kind {
	case paragraph:
		if p.tail && l.lines == 1 && !l.cont && strings.HasPrefix(l.text, "|") { // the first line of a table
			g, row := newGrid(make([]byte, max(len(cells(l.text)), 1))), cells(l.text)
			p.put(piece{kind: tablePiece, grid: g, rows: [][]style.Line{p.fit(g, row)}})
			return
		}
		p.put(piece{kind: textPiece, text: spans(l.text, p.prose(), p.refs, p.tail), cont: l.cont})
	case table:
		if len(l.rows) > 0 {
			p.put(piece{kind: tablePiece, grid: l.grid, rows: l.rows, cont: l.cont})
		}
	case noLeaf, fenced, indented:
	}
}

// end closes everything.
func (p *parser) end() {
	p.endLeaf()
	p.shut(0)
}
