package style

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// tabStop is how far apart the columns are to which a tab leads.
const tabStop = 4

// Wrap fits a line into width cells, at word boundaries where there are any.
// Continuation lines stand under the text of the first one: below its
// indentation and the mark of a list item. Tabs become spaces. A line that fits
// comes back as it is; an empty one as one empty line.
func Wrap(l Line, width int) []Line {
	return WrapUnder(l, width, Text(Plain, strings.Repeat(" ", hang(l.start(), width))))
}

// WrapUnder is Wrap with lead at the start of each continuation line, such as
// the bar of a quotation.
func WrapUnder(l Line, width int, lead Line) []Line {
	width = max(width, 1)
	if l.Width() <= width && !l.holds('\t') {
		return []Line{l}
	}
	if lead.Width() >= width {
		lead = nil
	}
	w := wrapper{from: l, width: width, lead: lead, indent: lead.Width()}
	for i, s := range l {
		w.span(i, s.Text)
	}
	w.place()
	return append(w.done, w.text())
}

// part is a run of bytes of a span, or other text in its look.
type part struct {
	span, from, to int
	instead        string
}

// wrapper holds the line being filled, the blanks after it and the word after those.
type wrapper struct {
	from          Line
	width, indent int
	lead          Line
	done          []Line
	line          []part
	at            int // cells of line
	gap, word     []part
	gapped, long  int // cells of gap and word
	wide          bool
}

func (w *wrapper) span(i int, text string) {
	for at := 0; at < len(text); {
		n, cells := chunk(text[at:], w.width-w.indent)
		w.take(part{span: i, from: at, to: at + n}, text[at:at+n], cells)
		at += n
	}
}

// chunk is the length in bytes and cells of the first character of s, or of its
// first plain letters up to room: a word need not be taken apart to be moved.
func chunk(s string, room int) (n, cells int) {
	for n < len(s) && n < room && s[n] > ' ' && s[n] < 0x7f {
		n++
	}
	if n > 0 && n < len(s) && s[n] >= 0x80 { // a mark may stand on the last letter
		n--
	}
	if n > 0 {
		return n, n
	}
	if s[0] < 0x80 && (len(s) == 1 || s[1] < 0x80) {
		return 1, 1
	}
	c, cells := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return max(len(c), 1), max(cells, 1)
}

func (w *wrapper) take(p part, text string, cells int) {
	switch text {
	case " ", "\t":
		w.place()
		if text == "\t" {
			cells = tabStop - (w.at+w.gapped)%tabStop
			p.instead = strings.Repeat(" ", cells)
		}
		w.gap, w.gapped = push(w.gap, p), w.gapped+cells
		return
	}
	room := w.width - w.indent
	if cells > room {
		p.instead, text, cells = "?", "?", 1
	}
	wide := cells > 1 && text[0] >= 0x80
	if w.long+cells > room || (wide || w.wide) && w.long > 0 && !strings.Contains(closers, text) {
		w.place()
	}
	w.word, w.long, w.wide = push(w.word, p), w.long+cells, wide
}

// closers never begin a line, although the text before them may end one.
const closers = "、。，．！？：；）」』】〉》,.!?:;)]}'\"”’"

// place puts the word behind the gap, or on a new line where it does not fit.
func (w *wrapper) place() {
	if len(w.word) == 0 {
		return
	}
	if w.at+w.gapped+w.long > w.width {
		if w.at > 0 {
			w.newLine()
		}
		w.gap, w.gapped = w.gap[:0], 0
	}
	for _, p := range w.gap {
		w.line = push(w.line, p)
	}
	for _, p := range w.word {
		w.line = push(w.line, p)
	}
	w.at += w.gapped + w.long
	w.gap, w.gapped, w.word, w.long, w.wide = w.gap[:0], 0, w.word[:0], 0, false
}

func (w *wrapper) newLine() {
	w.done = append(w.done, w.text())
	w.line, w.at = w.line[:0], w.indent
}

// text is the line that was filled.
func (w *wrapper) text() Line {
	var l Line
	if len(w.done) > 0 {
		l = append(l, w.lead...)
	}
	for _, p := range w.line {
		s := w.from[p.span]
		if s.Text = s.Text[p.from:p.to]; p.instead != "" {
			s.Text = p.instead
		}
		if n := len(l); n > 0 && l[n-1].Alike(s) {
			l[n-1].Text += s.Text
			continue
		}
		l = append(l, s)
	}
	return l
}

// push appends p, joined with the last part where the two follow each other.
func push(list []part, p part) []part {
	if n := len(list); n > 0 && p.instead == "" && list[n-1].instead == "" && list[n-1].span == p.span && list[n-1].to == p.from {
		list[n-1].to = p.to
		return list
	}
	return append(list, p)
}

// marks begin the items of lists, which stand behind them.
const marks = "-*+•·●○◦▪⎿❯>└├"

// start is as much of the line's text as hang looks at.
func (l Line) start() string {
	var b strings.Builder
	for _, s := range l {
		if b.Len() > 200 {
			break
		}
		b.WriteString(s.Text)
	}
	return b.String()
}

// hang is how far the text of a line stands from its edge, in cells; none where
// that would leave too little of the width.
func hang(s string, width int) int {
	text := strings.TrimLeft(s, " ")
	n := len(s) - len(text)
	mark, rest, _ := strings.Cut(text, " ")
	digits := strings.TrimLeft(mark, "0123456789")
	item := mark != "" && (digits == "." || digits == ")") && len(mark) > 1 && len(mark) < 6
	if r := []rune(mark); item || len(r) == 1 && strings.ContainsRune(marks, r[0]) {
		n += Width(mark) + 1 + len(rest) - len(strings.TrimLeft(rest, " "))
	}
	if n > width/2 {
		return 0
	}
	return n
}

func (l Line) holds(c byte) bool {
	for _, s := range l {
		if strings.IndexByte(s.Text, c) >= 0 {
			return true
		}
	}
	return false
}
