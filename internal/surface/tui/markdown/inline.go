package markdown

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// mark is a set of what inline Markdown makes of text.
type mark uint8

const (
	bold mark = 1 << iota
	italic
	strike
	code
	linked
)

// maxInline is the length of text, in bytes, above which marks are not looked for.
const maxInline = 32 << 10

// node is a run of text, or a run of delimiters that may become marks.
type node struct {
	text        string
	marks       mark
	link        string
	delim       byte // '*', '_' or '~' for a run of these
	count, orig int  // delimiters left, and at first
	opens       bool
	closes      bool
}

// bracket is a '[' that may begin a link.
type bracket struct {
	node, at int // index of its node, offset behind it
	image    bool
	dead     bool
}

// inline reads a paragraph's text. '\n' in it is a line break.
type inline struct {
	s     string
	nodes []node
	open  []bracket
	refs  map[string]string
	ticks map[int]int // length of a run of backticks: where the last one begins
	// tail tells that the text goes on: what is open at its end is drawn as it
	// will most likely end.
	tail bool
}

// spans reads s, which has passed plain.Text.
func spans(s string, base style.Role, refs map[string]string, tail bool) style.Line {
	if len(s) > maxInline || !strings.ContainsAny(s, "\\`*_~[]<&:") {
		return style.Text(base, s)
	}
	in := &inline{s: s, refs: refs, tail: tail, nodes: make([]node, 0, 8+len(s)/32)}
	if tail {
		in.s = trimOpen(s)
	}
	in.scan()
	in.emphasis(0)
	if tail {
		in.assume()
	}
	return in.line(base)
}

// trimOpen takes from the end of s what is only the beginning of a mark.
func trimOpen(s string) string {
	t := strings.TrimRight(s, "*_~`")
	t = strings.TrimSuffix(strings.TrimSuffix(t, "["), "!")
	if n := strings.LastIndexAny(t, "\\&<"); n >= 0 && len(t)-n < 8 && !strings.ContainsAny(t[n+1:], "; >") {
		if t[n] != '\\' || n == len(t)-1 {
			t = t[:n]
		}
	}
	if n := strings.LastIndexByte(t, 'h'); n >= 0 && len(t)-n >= 4 && strings.HasPrefix("https://", t[n:]) {
		t = strings.TrimSuffix(t[:n], "<")
	}
	return t
}

func (in *inline) scan() {
	from := 0
	for i := 0; i < len(in.s); {
		n := in.special(i, from)
		if n == 0 {
			i++
			continue
		}
		i += n
		from = i
	}
	in.text(from, len(in.s))
}

// special reads what begins at i and is not plain text, and puts the text since
// from before it. It returns its length, or 0.
func (in *inline) special(i, from int) int {
	s := in.s
	switch s[i] {
	case '\\':
		if i+1 < len(s) && punct(s[i+1]) {
			in.text(from, i)
			in.nodes = append(in.nodes, node{text: s[i+1 : i+2]})
			return 2
		}
	case '`':
		return in.codeSpan(i, from)
	case '*', '_', '~':
		return in.delimiters(i, from)
	case '!':
		if strings.HasPrefix(s[i:], "![") {
			in.text(from, i)
			return in.openBracket(i, 2)
		}
	case '[':
		in.text(from, i)
		return in.openBracket(i, 1)
	case ']':
		in.text(from, i)
		return in.closeBracket(i)
	case '<':
		return in.angle(i, from)
	case '&':
		if r, n := entity(s[i:]); n > 0 {
			in.text(from, i)
			in.nodes = append(in.nodes, node{text: r})
			return n
		}
	case 'h':
		if n := address(s, i); n > 0 {
			in.text(from, i)
			in.nodes = append(in.nodes, node{text: s[i : i+n], marks: linked, link: s[i : i+n]})
			return n
		}
	}
	return 0
}

func (in *inline) text(from, to int) {
	if from < to {
		in.nodes = append(in.nodes, node{text: in.s[from:to]})
	}
}

func run(s string, i int) int {
	n := 1
	for i+n < len(s) && s[i+n] == s[i] {
		n++
	}
	return n
}

func (in *inline) codeSpan(i, from int) int {
	n := run(in.s, i)
	if in.ticks == nil {
		in.ticks = map[int]int{}
		for j := i; j < len(in.s); {
			if in.s[j] != '`' {
				j++
				continue
			}
			k := run(in.s, j)
			in.ticks[k] = j
			j += k
		}
	}
	in.text(from, i)
	for j := i + n; j <= in.ticks[n]; {
		if in.s[j] != '`' {
			j++
			continue
		}
		k := run(in.s, j)
		if k == n {
			in.nodes = append(in.nodes, node{text: codeText(in.s[i+n : j]), marks: code})
			return j + k - i
		}
		j += k
	}
	if in.tail && len(in.s)-i < 400 {
		in.nodes = append(in.nodes, node{text: codeText(in.s[i+n:]), marks: code})
		return len(in.s) - i
	}
	in.nodes = append(in.nodes, node{text: in.s[i : i+n]})
	return n
}

func codeText(s string) string {
	s = strings.ReplaceAll(s, "\n", " ")
	if len(s) > 2 && s[0] == ' ' && s[len(s)-1] == ' ' && strings.Trim(s, " ") != "" {
		s = s[1 : len(s)-1]
	}
	return s
}

func (in *inline) delimiters(i, from int) int {
	s, n := in.s, run(in.s, i)
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+n:])
	spaceBefore, spaceAfter := i == 0 || unicode.IsSpace(before), i+n == len(s) || unicode.IsSpace(after)
	signBefore, signAfter := sign(before), sign(after)
	left := !spaceAfter && (!signAfter || spaceBefore || signBefore)
	right := !spaceBefore && (!signBefore || spaceAfter || signAfter)
	d := node{text: s[i : i+n], delim: s[i], count: n, orig: n, opens: left, closes: right}
	switch s[i] {
	case '_':
		d.opens, d.closes = left && (!right || signBefore), right && (!left || signAfter)
	case '~':
		if n != 2 {
			return 0
		}
	}
	in.text(from, i)
	in.nodes = append(in.nodes, d)
	return n
}

func sign(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

// punct tells whether a backslash can take the meaning of c away.
func punct(c byte) bool {
	return c > ' ' && c < 0x7f && !('0' <= c && c <= '9') && !('a' <= c|0x20 && c|0x20 <= 'z')
}

// emphasis pairs the delimiters from a node on, as CommonMark does.
func (in *inline) emphasis(from int) {
	var bottom [3][2][3]int // by kind, by whether the closer also opens, by its count modulo 3
	for c := from; c < len(in.nodes); c++ {
		for in.nodes[c].delim != 0 && in.nodes[c].closes && in.nodes[c].count > 0 {
			kind := strings.IndexByte("*_~", in.nodes[c].delim)
			both := 0
			if in.nodes[c].opens {
				both = 1
			}
			low := &bottom[kind][both][in.nodes[c].orig%3]
			o := in.opener(c, max(from, *low))
			if o < 0 {
				*low = c
				break
			}
			in.pair(o, c)
		}
	}
}

func (in *inline) opener(c, low int) int {
	closer := &in.nodes[c]
	for o := c - 1; o >= low; o-- {
		n := &in.nodes[o]
		if n.delim != closer.delim || !n.opens || n.count == 0 {
			continue
		}
		if (n.closes || closer.opens) && (n.orig+closer.orig)%3 == 0 && (n.orig%3 != 0 || closer.orig%3 != 0) {
			continue
		}
		return o
	}
	return -1
}

func (in *inline) pair(o, c int) {
	n, m := 1, italic
	switch {
	case in.nodes[o].delim == '~':
		n, m = 2, strike
	case in.nodes[o].count > 1 && in.nodes[c].count > 1:
		n, m = 2, bold
	}
	in.nodes[o].count -= n
	in.nodes[c].count -= n
	for i := o + 1; i < c; i++ {
		in.nodes[i].marks |= m
		if in.nodes[i].delim != 0 { // what was not paired inside stays as it is written
			in.nodes[i].opens, in.nodes[i].closes = false, false
		}
	}
}

// assume marks the text from each delimiter that is still open to the end.
func (in *inline) assume() {
	back := 0
	for i := len(in.nodes) - 1; i >= 0; i-- {
		n := &in.nodes[i]
		back += len(n.text)
		if n.delim == 0 || !n.opens || n.count == 0 || back > 600 || n.count == 1 && back > 200 || i == len(in.nodes)-1 {
			continue
		}
		m := bold
		if n.delim == '~' {
			m = strike
		} else if n.count == 1 {
			m = italic
		}
		n.count = 0
		for j := i + 1; j < len(in.nodes); j++ {
			in.nodes[j].marks |= m
		}
	}
	if k := len(in.open); k > 0 {
		in.assumeLink(in.open[k-1])
	}
}

// line makes spans of the nodes.
func (in *inline) line(base style.Role) style.Line {
	var out style.Line
	for _, n := range in.nodes {
		if n.delim != 0 {
			n.text = n.text[:n.count]
		}
		if n.text == "" {
			continue
		}
		s := style.Span{Text: n.text, Role: role(n.marks, base), Link: plain.Line(n.link)}
		if k := len(out); k > 0 && out[k-1].Alike(s) {
			out[k-1].Text += s.Text
			continue
		}
		out = append(out, s)
	}
	return out
}

func role(m mark, base style.Role) style.Role {
	switch {
	case m&code != 0:
		return style.InlineCode
	case m&linked != 0:
		return style.Link
	case m&bold != 0 && base != style.Heading:
		return style.Bold
	case m&italic != 0 && base != style.Heading:
		return style.Italic
	case m&strike != 0:
		return style.Strike
	}
	return base
}

// entities are the character references that people write. The many others stay as they are.
func entity(s string) (string, int) {
	end := strings.IndexByte(s[:min(len(s), 12)], ';')
	if end < 2 {
		return "", 0
	}
	name := s[1:end]
	if name[0] != '#' {
		r := entityNames(name)
		if r == "" {
			return "", 0
		}
		return r, end + 1
	}
	digits, radix := name[1:], 10
	if strings.HasPrefix(digits, "x") || strings.HasPrefix(digits, "X") {
		digits, radix = digits[1:], 16
	}
	n, err := strconv.ParseUint(digits, radix, 32)
	if err != nil || n == 0 || n > unicode.MaxRune {
		return "", 0
	}
	return plain.Line(string(rune(n))), end + 1
}

func entityNames(name string) string {
	const table = " amp=& lt=< gt=> quot=\" apos=' nbsp=\u00a0 copy=© reg=® trade=™ hellip=… mdash=— ndash=– larr=← rarr=→ uarr=↑ darr=↓ times=× middot=· bull=• deg=° plusmn=± le=≤ ge=≥ ne=≠ laquo=« raquo=» ldquo=“ rdquo=” lsquo=‘ rsquo=’ euro=€ check=✓ "
	if strings.ContainsAny(name, " =") {
		return ""
	}
	_, rest, ok := strings.Cut(table, " "+name+"=")
	if !ok {
		return ""
	}
	r, _, _ := strings.Cut(rest, " ")
	return r
}
