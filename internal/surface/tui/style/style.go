// Package style is text with meaning: spans whose roles a theme turns into colours, in lines that fit a screen.
//
// Everything that is drawn is made of these lines. A span says what it is, not
// how it looks, so that a theme, NO_COLOR or a screen reader decide in one place.
package style

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Role says what a span is.
type Role uint8

// The roles. A theme has an answer for each.
const (
	Plain Role = iota
	Dim
	Bold
	Italic
	Strike
	Accent  // what the eye should find: the prompt's mark, a selection
	Heading // of a document
	Link
	Quote
	InlineCode
	User    // what a person said
	Thought // what a model thought
	ToolName
	Success
	Warning
	Failure
	Added // lines and words of a diff
	AddedWord
	Removed
	RemovedWord
	LineNumber
	Rule // borders and separators
	Selected
	Keyword // highlighted code, from here on
	String
	Comment
	Number
	Function
	Type
	Operator
	ModeEdit // the permission modes, as the footer shows them
	ModePlan
	ModeFree
	Roles // how many there are
)

// Span is text of one role. Text holds no line break; what could steer a
// terminal is escaped when it is drawn at the latest.
type Span struct {
	Text string
	Role Role
	// Link is the address that the text leads to, "" for none.
	Link string
	// Back is the role whose background lies under the text, Plain for that of
	// Role: the line of a diff under the colours of its code. The background of
	// a line's last span goes on to the edge of the screen.
	Back Role
}

// Alike tells whether two spans differ in their text alone.
func (s Span) Alike(t Span) bool { return s.Role == t.Role && s.Link == t.Link && s.Back == t.Back }

// Line is one line of the screen, or, before Wrap, of any width.
type Line []Span

// Text makes a line of one span.
func Text(r Role, s string) Line { return Line{{Text: s, Role: r}} }

// String is the line's text without roles.
func (l Line) String() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Width is how many cells of a terminal the line takes.
func (l Line) Width() int {
	n := 0
	for _, s := range l {
		n += Width(s.Text)
	}
	return n
}

// Width is how many cells of a terminal s takes.
func Width(s string) int {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

// Cut is s shortened to width cells, with an ellipsis where that took something.
func Cut(s string, width int) string {
	if Width(s) <= width {
		return s
	}
	if width < 1 {
		return ""
	}
	return ansi.Truncate(s, width, "…")
}

// Cut is the line shortened to width cells, with an ellipsis where that took something.
func (l Line) Cut(width int) Line {
	if l.Width() <= width {
		return l
	}
	var out Line
	for _, s := range l {
		w := Width(s.Text)
		if w < width {
			out, width = append(out, s), width-w
			continue
		}
		if s.Text = Cut(s.Text, width); s.Text == "" || !strings.HasSuffix(s.Text, "…") && width > 0 {
			s.Text = ansi.Truncate(s.Text, width-1, "") + "…"
		}
		return append(out, s)
	}
	return out
}
