package markdown

import (
	"slices"
	"strings"
	"unicode"

	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// grid is what the rows of a table share.
type grid struct {
	align []byte
	wide  []int // cells of each column's widest text
	head  []style.Line
}

func newGrid(align []byte) *grid { return &grid{align: align, wide: make([]int, len(align))} }

// header makes a table of the paragraph's last line when s is the line that
// tells how its columns are aligned.
func (p *parser) header(s string, row []string) bool {
	l := p.leaf
	if l.kind != paragraph || row == nil || l.raw == "" {
		return false
	}
	align := alignments(s)
	names := cells(l.raw)
	if align == nil || len(names) != len(align) {
		return false
	}
	if l.before > 0 || l.cont {
		p.put(piece{kind: textPiece, text: spans(l.text[:l.before], p.prose(), p.refs, false), cont: l.cont})
	}
	g := newGrid(align)
	p.leaf = leaf{kind: table, grid: g}
	p.row(names)
	return true
}

// row adds a row to the table. The rows of a long one are put out as they come.
func (p *parser) row(list []string) {
	l := &p.leaf
	r := p.fit(l.grid, list)
	l.rows = append(l.rows, r)
	if l.cont || len(l.rows) == maxRows {
		p.put(piece{kind: tablePiece, grid: l.grid, rows: l.rows, cont: l.cont})
		l.rows, l.cont = nil, true
	}
}

// fit reads the cells of a row, as many as there are columns.
func (p *parser) fit(g *grid, list []string) []style.Line {
	r := make([]style.Line, len(g.align))
	for i := range r {
		if i < len(list) {
			r[i] = spans(list[i], style.Plain, p.refs, p.tail && i == len(list)-1)
		}
	}
	return r
}

// Widths, in cells, of what stands between two columns and of the narrowest
// column that is still worth one.
const (
	columnGap = 2
	narrowest = 8
)

// table draws rows. The first of a table's rows is its header.
func (l *layout) table(out []style.Line, p piece, width int) []style.Line {
	width -= p.first.Width()
	if !p.cont {
		l.grid = measure(p.grid, p.rows)
	}
	g := l.grid
	wide := shrink(g.wide, width-columnGap*(len(g.wide)-1))
	if wide == nil {
		return l.stacked(out, p, width)
	}
	first := p.first
	put := func(line style.Line) {
		out = append(out, join(first, line))
		first = p.rest
	}
	for i, r := range p.rows {
		head := i == 0 && !p.cont && !p.headless
		if head {
			r = emboldened(r)
		}
		for _, line := range drawRow(r, wide, g.align) {
			put(line)
		}
		if head {
			put(underline(wide))
		}
	}
	return out
}

// measure notes the widths of a table's columns.
func measure(g *grid, list [][]style.Line) *grid {
	m := &grid{align: g.align, wide: make([]int, len(g.align)), head: list[0]}
	for _, r := range list {
		for i, c := range r {
			for _, part := range rows(c) {
				m.wide[i] = max(m.wide[i], part.Width(), 1)
			}
		}
	}
	return m
}

// shrink fits the columns into width cells, the widest first; nil where they do not fit.
func shrink(wide []int, width int) []int {
	total, least := 0, 0
	for _, n := range wide {
		total += n
		least += min(n, narrowest)
	}
	if total <= width {
		return wide
	}
	if least > width {
		return nil
	}
	limit := slices.Max(wide)
	for fill(wide, limit) > width {
		limit--
	}
	out := make([]int, len(wide))
	left := width - fill(wide, limit)
	for i, n := range wide {
		out[i] = min(n, limit)
		if n > limit && left > 0 {
			out[i]++
			left--
		}
	}
	return out
}

func fill(wide []int, limit int) int {
	sum := 0
	for _, n := range wide {
		sum += min(n, limit)
	}
	return sum
}

func emboldened(r []style.Line) []style.Line {
	out := make([]style.Line, len(r))
	for i, c := range r {
		for _, s := range c {
			if s.Role == style.Plain {
				s.Role = style.Bold
			}
			out[i] = append(out[i], s)
		}
	}
	return out
}

func underline(wide []int) style.Line {
	var b strings.Builder
	for i, n := range wide {
		if i > 0 {
			b.WriteString(strings.Repeat(" ", columnGap))
		}
		b.WriteString(strings.Repeat("─", n))
	}
	return style.Text(style.Rule, b.String())
}

// drawRow is a row of a table in as many lines as its longest cell takes.
func drawRow(r []style.Line, wide []int, align []byte) []style.Line {
	cols := make([][]style.Line, len(r))
	high := 1
	for i, c := range r {
		for _, part := range rows(c) {
			cols[i] = append(cols[i], style.Wrap(part, wide[i])...)
		}
		high = max(high, len(cols[i]))
	}
	out := make([]style.Line, high)
	for y := range out {
		gap := 0
		for i := range cols {
			var c style.Line
			if y < len(cols[i]) {
				c = cols[i][y]
			}
			room := wide[i] - c.Width()
			left := 0
			switch align[i] {
			case 'r':
				left = room
			case 'c':
				left = room / 2
			}
			if len(c) > 0 {
				out[y] = append(out[y], style.Span{Text: strings.Repeat(" ", gap+left)})
				out[y] = append(out[y], isolate(c)...)
				gap, left, room = 0, 0, room-left
			}
			gap += room + columnGap
		}
	}
	return out
}

// isolate keeps the words of a right-to-left cell in its column: a terminal that
// reorders text would take the neighbour's words as part of the same run.
func isolate(c style.Line) style.Line {
	for _, s := range c {
		if strings.ContainsFunc(s.Text, rightToLeft) {
			return append(c[:len(c):len(c)], style.Span{Text: "\u200e"})
		}
	}
	return c
}

func rightToLeft(r rune) bool {
	return r >= 0x590 && unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko)
}

// stacked draws rows as lists of names and values, for a table that is too wide.
func (l *layout) stacked(out []style.Line, p piece, width int) []style.Line {
	body, named := p.rows, true
	if p.headless {
		named = false
	} else if !p.cont {
		if body = body[1:]; len(body) == 0 {
			body, named = p.rows, false
		}
	}
	first, under := p.first, join(p.rest, style.Text(style.Plain, "  "))
	for i, r := range body {
		if i > 0 || p.cont {
			out = append(out, bare(p.rest))
		}
		for j, c := range r {
			line := first
			if named {
				line = join(line, style.Text(style.Bold, l.grid.head[j].String()+": "))
			}
			for _, part := range rows(c) {
				out = append(out, style.WrapUnder(join(line, part), width+p.first.Width(), under)...)
				line = under
			}
			first = p.rest
		}
	}
	return out
}
