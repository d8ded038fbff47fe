package markdown

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// container is a block quote or a list item around what is being read.
type container struct {
	quote  bool
	indent int    // columns of an item's text
	mark   string // of an item, as it is drawn; "" once it was
	cells  int    // of the mark and the space behind it
	number bool
	empty  bool // nothing was read in the item yet
}

type leafKind uint8

const (
	noLeaf leafKind = iota
	paragraph
	fenced
	indented
	table
)

// leaf is the innermost block that is still open.
type leaf struct {
	kind leafKind
	text string // of a paragraph
	raw  string // its last line as it was written, which the next may make a heading or a table
	// lines counts what a paragraph had; above one it is no heading.
	lines  int
	before int    // of a paragraph: bytes of text in front of its last line
	hard   bool   // its last line ends with a line break
	cont   bool   // the beginning of the paragraph was handed out before
	fence  string // what opened a code block
	margin int    // columns of white space before the fence
	blanks int    // blank lines of indented code, which count when more code follows
	lex    lexer
	grid   *grid
	rows   [][]style.Line
}

// maxDepth is how deep quotes and lists nest. What is deeper is text.
const maxDepth = 24

// Sizes, in bytes and rows, above which the beginning of a block is finished
// although the block goes on. They bound what Open draws.
const (
	maxText = 1024 // of a line that is prose or code
	maxLine = 4096 // of a row of a table, a heading
	maxPara = 1536
	maxRows = 64
)

// parser turns lines into pieces. A copy made by clone goes its own way.
type parser struct {
	in    []container
	leaf  leaf
	out   []piece
	refs  map[string]string
	tail  bool // what is read now may go on
	any   bool // something was put out
	blank bool // a blank line since
	last  pieceKind
	same  int  // how many containers were around the last piece and are still
	part  bool // the line that is read is only a part of one
}

func (p *parser) clone() parser {
	c := *p
	c.in = slices.Clone(p.in)
	c.out = nil
	c.leaf.rows = slices.Clip(p.leaf.rows)
	return c
}

// line reads one line, or the beginning of a very long one.
func (p *parser) line(s string) {
	c := cursor{s: s}
	m := p.match(&c)
	if p.leaf.kind == fenced && p.stays(m) {
		p.codeLine(c)
		return
	}
	if c.blank() {
		p.blankLine(m)
		return
	}
	lazy := p.leaf.kind == paragraph
	for {
		if c.indent() >= 4 && !lazy {
			p.shut(m)
			c.skip(4)
			p.indentedLine(c)
			return
		}
		if c.indent() >= 4 || !p.opensContainer(&c, m) {
			break
		}
		m, lazy = len(p.in), false
		if c.blank() {
			return
		}
	}
	if lazy && m < len(p.in) && !p.starts(c.rest()) {
		m = len(p.in)
	}
	p.shut(m)
	p.leafLine(c)
}

// match walks over the marks of the containers that go on, and counts them.
func (p *parser) match(c *cursor) int {
	for i := range p.in {
		b := &p.in[i]
		n := c.indent()
		switch {
		case b.quote:
			if n > 3 || !strings.HasPrefix(c.rest(), ">") {
				return i
			}
			c.skip(n)
			c.take(1)
			c.skip(1)
		case c.blank():
			if b.empty {
				return i
			}
		case n >= b.indent:
			c.skip(b.indent)
		case b.number && n >= 2 && p.leaf.kind != fenced && bulleted(c.rest()): // a bullet that is not quite far enough to the right
			c.skip(n)
		default:
			return i
		}
		b.empty = false
	}
	return len(p.in)
}

func bulleted(s string) bool {
	mark, ok := listMark(s)
	return ok && !ordered(mark) && !thematic(s)
}

// stays tells whether a code block goes on in a line that only has the marks of
// m containers. Code that stands too far to the left for its list item does.
func (p *parser) stays(m int) bool {
	return !slices.ContainsFunc(p.in[m:], func(c container) bool { return c.quote })
}

// shut closes the containers above the first m, and the leaf with them.
func (p *parser) shut(m int) {
	if m == len(p.in) {
		return
	}
	p.endLeaf()
	for i := m; i < len(p.in); i++ {
		if p.in[i].mark != "" { // an item without anything in it
			p.put(piece{kind: textPiece})
			break
		}
	}
	p.in = p.in[:m]
	p.same = min(p.same, m)
}

// opensContainer reads the mark of a quote or a list item.
func (p *parser) opensContainer(c *cursor, m int) bool {
	s := c.rest()
	if m >= maxDepth {
		return false
	}
	if strings.HasPrefix(s, ">") {
		p.shut(m)
		p.endLeaf()
		c.skip(c.indent())
		c.take(1)
		c.skip(1)
		p.in = append(p.in, container{quote: true, cells: 2})
		return true
	}
	mark, ok := listMark(s)
	if !ok || thematic(s) {
		return false
	}
	if p.leaf.kind == paragraph && m == len(p.in) && (mark == s || ordered(mark) && mark != "1." && mark != "1)") {
		return false
	}
	p.shut(m)
	p.endLeaf()
	outer := c.indent()
	c.skip(outer)
	c.take(len(mark))
	inner := c.indent()
	if inner > 4 || c.blank() {
		inner = 1
	}
	c.skip(inner)
	item := container{indent: outer + len(mark) + inner, mark: p.bullet(mark, c), number: ordered(mark), empty: c.blank()}
	item.cells = style.Width(item.mark) + 1
	p.in = append(p.in, item)
	return true
}

// bullet is how an item's mark is drawn. That of a task stands in for it.
func (p *parser) bullet(mark string, c *cursor) string {
	if box := c.rest(); len(box) > 3 && box[0] == '[' && box[2] == ']' && box[3] == ' ' && strings.IndexByte(" xX", box[1]) >= 0 {
		c.skip(c.indent())
		c.take(3)
		c.skip(1)
		if box[1] == ' ' {
			return "☐"
		}
		return "✔"
	}
	if ordered(mark) {
		if n, err := strconv.Atoi(mark[:len(mark)-1]); err == nil {
			return strconv.Itoa(n) + mark[len(mark)-1:]
		}
		return mark
	}
	depth := 0
	for _, b := range p.in {
		if !b.quote && !b.number {
			depth++
		}
	}
	return [...]string{"•", "◦", "▪"}[depth%3]
}

// starts tells whether a line begins a block that ends a paragraph.
func (p *parser) starts(s string) bool {
	_, _, head := heading(s)
	_, _, fence := fenceStart(s)
	return head || fence || thematic(s)
}

func (p *parser) blankLine(m int) {
	p.shut(m)
	switch p.leaf.kind {
	case indented:
		p.leaf.blanks++
	default:
		p.endLeaf()
	}
	p.blank = true
}

// leafLine reads a line that begins a block or goes on in a paragraph or table.
func (p *parser) leafLine(c cursor) {
	s := c.rest()
	fence, info, isFence := fenceStart(s)
	level, text, isHead := heading(s)
	row := cells(s)
	switch {
	case isFence:
		p.endLeaf()
		word, _, _ := strings.Cut(info, " ")
		p.leaf = leaf{kind: fenced, fence: fence, margin: c.indent(), lex: newLexer(word)}
	case isHead:
		p.endLeaf()
		p.put(piece{kind: headPiece, level: level, text: spans(text, headRole(level), p.refs, p.tail)})
	case p.header(s, row), p.underlined(s):
	case thematic(s):
		p.endLeaf()
		p.put(piece{kind: rulePiece})
	case p.leaf.kind == table && row != nil:
		p.row(row)
	default:
		p.text(c.s)
	}
}

// underlined makes a heading of a paragraph of one line above "===" or "---".
func (p *parser) underlined(s string) bool {
	l := &p.leaf
	if l.kind != paragraph || l.lines != 1 || l.cont || s == "-" || s[0] != '=' && s[0] != '-' || strings.Trim(s, s[:1]) != "" {
		return false
	}
	if s[0] == '-' && strings.IndexByte(".:;,!?", l.raw[len(l.raw)-1]) >= 0 { // a sentence above a rule
		return false
	}
	level := 2
	if s[0] == '=' {
		level = 1
	}
	text := l.text
	p.leaf = leaf{}
	p.put(piece{kind: headPiece, level: level, text: spans(text, headRole(level), p.refs, false)})
	return true
}

func headRole(level int) style.Role {
	if level < 3 {
		return style.Heading
	}
	return style.Bold
}

// indentedLine reads a line of indented code.
func (p *parser) indentedLine(c cursor) {
	if p.leaf.kind != indented {
		p.endLeaf()
		p.leaf = leaf{kind: indented}
	}
	for ; p.leaf.blanks > 0; p.leaf.blanks-- {
		p.blank = false
		p.put(piece{kind: codePiece, cont: true})
	}
	p.put(piece{kind: codePiece, text: style.Text(style.InlineCode, untab(c.s)), cont: p.last == codePiece && !p.blank})
}

// codeLine reads a line of fenced code.
func (p *parser) codeLine(c cursor) {
	s := c.rest()
	if c.indent() < 4 && strings.HasPrefix(s, p.leaf.fence) && strings.Trim(s, s[:1]) == "" {
		p.endLeaf()
		return
	}
	c.skip(min(c.indent(), p.leaf.margin))
	if p.tail && s != "" && len(s) < len(p.leaf.fence) && strings.Trim(s, p.leaf.fence[:1]) == "" {
		return
	}
	p.codeText(c.s, p.leaf.cont)
}

// codeText puts a line of code, or a part of one; cont tells that it is not the
// first of the block.
func (p *parser) codeText(s string, cont bool) {
	p.put(piece{kind: codePiece, text: p.leaf.lex.line(untab(s)), cont: cont, more: p.part})
	p.leaf.cont = true
}

// untab spells tabs out, to columns of four.
func untab(s string) string {
	if strings.IndexByte(s, '\t') < 0 {
		return s
	}
	var b strings.Builder
	col := 0
	for {
		head, rest, more := strings.Cut(s, "\t")
		b.WriteString(head)
		col += style.Width(head)
		if !more {
			return b.String()
		}
		n := 4 - col%4
		b.WriteString("    "[:n])
		col, s = col+n, rest
	}
}
