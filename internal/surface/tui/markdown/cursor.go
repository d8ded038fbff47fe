package markdown

import "strings"

// cursor walks over the beginning of a line, in columns: a tab leads to the
// next multiple of four.
type cursor struct {
	s   string
	col int
}

// indent is how many columns of white space come next.
func (c cursor) indent() int {
	col := c.col
	for i := 0; i < len(c.s); i++ {
		switch c.s[i] {
		case ' ':
			col++
		case '\t':
			col += 4 - col%4
		default:
			return col - c.col
		}
	}
	return col - c.col
}

func (c cursor) blank() bool { return strings.Trim(c.s, " \t") == "" }

// rest is the line without its white space.
func (c cursor) rest() string { return strings.Trim(c.s, " \t") }

// skip walks over n columns of white space, or as many as there are.
func (c *cursor) skip(n int) {
	for n > 0 && c.s != "" {
		switch c.s[0] {
		case ' ':
			c.s, c.col, n = c.s[1:], c.col+1, n-1
		case '\t':
			wide := 4 - c.col%4
			if wide > n { // the rest of the tab is spaces
				c.s, c.col = strings.Repeat(" ", wide-n)+c.s[1:], c.col+n
				return
			}
			c.s, c.col, n = c.s[1:], c.col+wide, n-wide
		default:
			return
		}
	}
}

// take walks over n bytes that are no white space.
func (c *cursor) take(n int) { c.s, c.col = c.s[n:], c.col+n }

// listMark reads the mark of a list item, without the space behind it.
func listMark(s string) (mark string, ok bool) {
	n := 0
	for n < len(s) && n < 10 && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	switch {
	case n == 0 && s != "" && strings.IndexByte("-*+", s[0]) >= 0:
		n = 1
	case n > 0 && n < 10 && n < len(s) && (s[n] == '.' || s[n] == ')'):
		n++
	default:
		return "", false
	}
	return s[:n], n == len(s) || s[n] == ' ' || s[n] == '\t'
}

func ordered(mark string) bool { return mark[0] <= '9' && mark[0] >= '0' }

// thematic tells whether a line is a rule: three or more of a kind.
func thematic(s string) bool {
	if s == "" || strings.IndexByte("-*_", s[0]) < 0 {
		return false
	}
	n := strings.Count(s, s[:1])
	return n >= 3 && n+strings.Count(s, " ")+strings.Count(s, "\t") == len(s)
}

// heading reads "## text".
func heading(s string) (level int, text string, ok bool) {
	for level < len(s) && s[level] == '#' {
		level++
	}
	if level == 0 || level > 6 || level < len(s) && s[level] != ' ' && s[level] != '\t' {
		return 0, "", false
	}
	text = strings.Trim(s[level:], " \t")
	if t := strings.TrimRight(text, "#"); t == "" || strings.HasSuffix(t, " ") {
		text = strings.TrimRight(t, " \t")
	}
	return level, text, true
}

// fenceStart reads the line that opens a code block.
func fenceStart(s string) (fence, info string, ok bool) {
	if s == "" || s[0] != '`' && s[0] != '~' {
		return "", "", false
	}
	n := run(s, 0)
	info = strings.Trim(s[n:], " \t")
	if n < 3 || s[0] == '`' && strings.IndexByte(info, '`') >= 0 {
		return "", "", false
	}
	return s[:n], info, true
}

// cells splits a row of a table. It is nil where s has no bar.
func cells(s string) []string {
	s = strings.Trim(s, " \t")
	if strings.IndexByte(s, '|') < 0 {
		return nil
	}
	s = strings.TrimPrefix(s, "|")
	var out []string
	var b strings.Builder
	ticks := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == '|':
			i++
		case s[i] == '`':
			ticks = !ticks && strings.IndexByte(s[i+1:], '`') >= 0
		case s[i] == '|' && !ticks:
			out = append(out, strings.Trim(b.String(), " \t"))
			b.Reset()
			if i == len(s)-1 {
				return out
			}
			continue
		}
		b.WriteByte(s[i])
	}
	return append(out, strings.Trim(b.String(), " \t"))
}

// alignments reads the line under the header of a table: 'l', 'r' or 'c' a column.
func alignments(s string) []byte {
	s = strings.Trim(s, " \t")
	if s == "" || strings.Trim(s, "|:- \t") != "" || strings.IndexByte(s, '-') < 0 {
		return nil
	}
	list := cells(s)
	if list == nil {
		list = []string{s}
	}
	var out []byte
	for _, c := range list {
		body := strings.TrimSuffix(strings.TrimPrefix(c, ":"), ":")
		if body == "" || strings.Trim(body, "-") != "" {
			return nil
		}
		switch {
		case c[0] == ':' && c[len(c)-1] == ':':
			out = append(out, 'c')
		case c[len(c)-1] == ':':
			out = append(out, 'r')
		default:
			out = append(out, 'l')
		}
	}
	return out
}
