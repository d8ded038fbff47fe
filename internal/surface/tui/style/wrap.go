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
	w := wrapper{width: width, lead: lead, indent: lead.Width()}
	for _, s := range l {
		w.span(s)
	}
	w.place()
	return append(w.done, w.line)
}

// wrapper holds the line being filled, the blanks after it and the word after those.
type wrapper struct {
	width, indent int
	lead          Line
	done          []Line
	line          Line
	at            int // cells of line
	gap, word     Line
	gapped, long  int // cells of gap and word
	wide          bool
}

func (w *wrapper) span(s Span) {
	for text := s.Text; text != ""; {
		n, cells := chunk(text, w.width-w.indent)
		w.take(Span{Text: text[:n], Role: s.Role, Link: s.Link, Back: s.Back}, cells)
		text = text[n:]
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

func (w *wrapper) take(s Span, cells int) {
	switch s.Text {
	case " ", "\t":
		w.place()
		if s.Text == "\t" {
			cells = tabStop - (w.at+w.gapped)%tabStop
			s.Text = strings.Repeat(" ", cells)
		}
		w.gap, w.gapped = push(w.gap, s), w.gapped+cells
		return
	}
	room := w.width - w.indent
	if cells > room {
		s.Text, cells = "?", 1
	}
	wide := cells > 1 && s.Text[0] >= 0x80
	if w.long+cells > room || (wide || w.wide) && w.long > 0 && !strings.Contains(closers, s.Text) {
		w.place()
	}
	w.word, w.long, w.wide = push(w.word, s), w.long+cells, wide
}

// closers never begin a line, although the text before them may end one.
const closers = "、。，．！？：；）」』】〉》,.!?:;)]}'\"”’"

// place puts the word behind the gap, or on a new line where it does not fit.
func (w *wrapper) place() {
	if w.long == 0 && len(w.word) == 0 {
		return
	}
	if w.at+w.gapped+w.long > w.width {
		if w.at > 0 {
			w.newLine()
		}
		w.gap, w.gapped = nil, 0
	}
	for _, s := range append(w.gap, w.word...) {
		w.line = push(w.line, s)
	}
	w.at += w.gapped + w.long
	w.gap, w.gapped, w.word, w.long, w.wide = nil, 0, nil, 0, false
}

func (w *wrapper) newLine() {
	w.done = append(w.done, w.line)
	w.line = append(Line(nil), w.lead...)
	w.at = w.indent
}

// push appends s, joined with the last span where both are of a kind.
func push(l Line, s Span) Line {
	if n := len(l); n > 0 && l[n-1].Alike(s) {
		l[n-1].Text += s.Text
		return l
	}
	return append(l, s)
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
