package dialog

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// Blanks beyond these hide what stands behind them, so their number stands in
// their place.
const (
	longRun    = 24 // blanks in a row
	deepIndent = 60 // blanks at the start of a line
	longVoid   = 3  // empty lines in a row
)

// continued stands before what did not fit into the line above: in a command a
// new line is a new command, and must not look like a wrapped one.
const continued = "┊ "

// exact draws text that will act as it stands. Every byte has a sign and none is
// dropped: what steers or hides is escaped, long runs of blanks are counted, and
// a line that goes on is marked. The part, where the text holds it, stands out.
func exact(text, part string, role style.Role, width int) []style.Line {
	from, to := -1, -1
	if part != "" && part != text {
		if from = strings.Index(text, part); from >= 0 {
			to = from + len(part)
		}
	}
	var out []style.Line
	void, at := 0, 0
	for at <= len(text) {
		n := strings.IndexByte(text[at:], '\n')
		last := n < 0
		if last {
			n = len(text) - at
		}
		line := text[at : at+n]
		if line == "" {
			void++
		} else {
			out = append(out, voids(void)...)
			void = 0
			out = append(out, chop(spans(line, role, from-at, to-at), width)...)
		}
		at += n + 1
		if last {
			break
		}
	}
	return append(out, voids(void)...)
}

// voids draws empty lines, or their number.
func voids(n int) []style.Line {
	if n > longVoid {
		return []style.Line{style.Text(style.Warning, fmt.Sprintf("⟨%d empty lines⟩", n))}
	}
	return make([]style.Line, n)
}

// spans are the pieces of one line: blanks in number, and the part from from to to.
func spans(line string, role style.Role, from, to int) style.Line {
	var out style.Line
	add := func(a, b int, r style.Role) {
		if a < b {
			out = append(out, style.Span{Text: signs(line[a:b]), Role: r})
		}
	}
	put := func(a, b int) {
		f, t := max(a, min(from, b)), max(a, min(to, b))
		add(a, f, role)
		add(f, t, style.Warning)
		add(t, b, role)
	}
	start := 0
	for i := 0; i < len(line); {
		n := 0
		for i+n < len(line) && (line[i+n] == ' ' || line[i+n] == '\t') {
			n++
		}
		if n > longRun && (i > 0 || n > deepIndent) {
			put(start, i)
			out = append(out, style.Span{Text: run(line[i : i+n]), Role: style.Warning})
			start = i + n
		}
		i += max(n, 1)
	}
	put(start, len(line))
	return out
}

// run names a long run of blanks.
func run(s string) string {
	switch tabs := strings.Count(s, "\t"); tabs {
	case 0:
		return fmt.Sprintf("⟨%d spaces⟩", len(s))
	case len(s):
		return fmt.Sprintf("⟨%d tabs⟩", tabs)
	}
	return fmt.Sprintf("⟨%d blanks⟩", len(s))
}

// signs gives every character a sign that can be seen.
func signs(s string) string {
	s = plain.Text(strings.ReplaceAll(s, "\t", "⇥ "))
	if strings.IndexFunc(s, blank) < 0 {
		return plain.Line(s)
	}
	var b strings.Builder
	for _, r := range s {
		if blank(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return plain.Line(b.String())
}

// blank tells of characters that are printable by their kind and yet show nothing.
func blank(r rune) bool {
	switch {
	case r < 0x300:
		return false
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x2800, r == 0x3164, r == 0xffa0:
		return true
	}
	return unicode.Is(unicode.Variation_Selector, r)
}

// chop fits spans into lines without dropping anything, after a blank where one
// is near the edge.
func chop(l style.Line, width int) []style.Line {
	width = max(width, 2)
	var out []style.Line
	var line style.Line
	at := 0
	for _, s := range l {
		for text := s.Text; text != ""; {
			n, cells, full := piece(text, width-at)
			if n == 0 {
				out = append(out, line)
				lead := continued
				if width < 8 {
					lead = ""
				}
				line, at = style.Line{{Text: lead, Role: style.Rule}}, style.Width(lead)
				if n, cells, full = piece(text, width-at); n == 0 { // wider than the whole line
					c, _ := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
					text = escaped(c) + text[len(c):]
					continue
				}
			}
			line = append(line, style.Span{Text: text[:n], Role: s.Role})
			if text, at = text[n:], at+cells; full {
				at = width
			}
		}
	}
	return append(out, line)
}

// escaped writes a character by its number.
func escaped(c string) string {
	var b strings.Builder
	for _, r := range c {
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	return b.String()
}

// piece is how many bytes of s fit into room cells, and how many cells they
// take; 0 when a line must end first. full tells that it ends behind them.
func piece(s string, room int) (n, cells int, full bool) {
	if room <= 0 {
		return 0, 0, false
	}
	for n < len(s) && n < room && s[n] >= ' ' && s[n] < 0x7f {
		n++
	}
	if n == len(s) {
		return n, n, false
	}
	if s[n] < 0x80 { // there is more than fits
		if b := strings.LastIndexByte(s[:n], ' '); b > room*2/3 {
			n = b + 1
		}
		return n, n, true
	}
	if n > 1 { // a mark may stand on the last letter
		return n - 1, n - 1, false
	}
	c, cells := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	if cells > room {
		return 0, 0, false
	}
	return max(len(c), 1), cells, false
}

// paragraph draws foreign text as prose, with its lines.
func paragraph(role style.Role, text string, width int) []style.Line {
	var out []style.Line
	for line := range strings.Lines(plain.Text(text)) {
		out = append(out, style.Wrap(style.Text(role, strings.TrimRight(line, "\r\n")), width)...)
	}
	return out
}

// label is foreign text for one line of at most width cells.
func label(s string, width int) string {
	return style.Cut(plain.Line(plain.Cut(s, 8*max(width, 0)+64)), max(width, 0))
}

// indented puts n blanks before lines.
func indented(lines []style.Line, n int) []style.Line {
	lead := style.Span{Text: strings.Repeat(" ", n)}
	out := make([]style.Line, len(lines))
	for i, l := range lines {
		out[i] = append(style.Line{lead}, l...)
	}
	return out
}
