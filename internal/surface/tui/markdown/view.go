package markdown

import (
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/surface/tui/style"
	"github.com/hew-agent/hew/internal/tool"
)

// Options say how much of a view is drawn.
type Options struct {
	// Max is how many lines to draw at most, 0 for all of them. What is left out
	// is counted in one further line.
	Max int
	// Bare leaves out what the line above the view says already: the path and
	// the counts of a diff, the command of an output. Text is dim below it.
	Bare bool
}

// said is the role of what programs say.
func (o Options) said() style.Role {
	if o.Bare {
		return style.Dim
	}
	return style.Plain
}

// View draws what a tool shows, in lines of at most width cells.
func View(v tool.View, width int, o Options) []style.Line {
	width = max(width, 10)
	switch v := v.(type) {
	case tool.TextView:
		return head(v.Text, o.said(), width, o.Max)
	case tool.DiffView:
		return Diff(v, width, o)
	case tool.TerminalView:
		return terminal(v, width, o)
	case tool.ListView:
		return list(v, width, o)
	case tool.TableView:
		return tabular(v, width, o)
	case tool.NestedView:
		return within(v, width, o)
	}
	return nil
}

// more is the line that counts what was left out.
func more(n int) style.Line {
	if n == 1 {
		return style.Text(style.Dim, "… +1 line")
	}
	return style.Text(style.Dim, fmt.Sprintf("… +%d lines", n))
}

// fitter collects lines up to a number of them.
type fitter struct {
	out  []style.Line
	max  int // 0 for any number
	left int // sources that did not fit
}

// add puts the lines of one source, or as many as fit. It tells whether there
// is room for another.
func (f *fitter) add(lines []style.Line) bool {
	if f.max > 0 && len(f.out)+len(lines) > f.max {
		f.out = append(f.out, lines[:f.max-len(f.out)]...)
		f.left++
		return false
	}
	f.out = append(f.out, lines...)
	return true
}

// skipped counts n further sources that were not drawn, and is all the lines.
func (f *fitter) skipped(n int) []style.Line {
	if n += f.left; n > 0 {
		return append(f.out, more(n))
	}
	return f.out
}

// lines is how many lines a text has.
func lines(s string) int {
	if s == "" {
		return 0
	}
	return strings.Count(s, "\n") + 1
}

// shown is foreign text, made harmless, with plain line ends.
func shown(s string) string {
	return untab(strings.ReplaceAll(plain.Text(strings.TrimSuffix(s, "\r")), "\r\n", "\n"))
}

// oneLine is a foreign text of which people expect one line.
func oneLine(s string) string {
	return strings.ReplaceAll(shown(s), "\n", " ")
}

// wrapped makes harmless and wraps one line of foreign text. With rows above
// zero no more of it is looked at than so many lines can show.
func wrapped(s string, r style.Role, width, rows int) []style.Line {
	if n := rows * width * 4; n > 0 && len(s) > n {
		s = s[:edge(s, n)]
	}
	return style.Wrap(style.Text(r, shown(s)), width)
}

// head draws the beginning of a text.
func head(s string, r style.Role, width, most int) []style.Line {
	s = strings.TrimRight(s, "\r\n \t")
	f := fitter{max: most}
	for s != "" {
		line, rest, _ := strings.Cut(s, "\n")
		s = rest
		if !f.add(wrapped(line, r, width, most)) {
			break
		}
	}
	return f.skipped(lines(s))
}

// tail draws the end of a text, below a count of what came before.
func tail(s string, r style.Role, width, most int) []style.Line {
	s = strings.TrimRight(s, "\r\n \t")
	if most <= 0 {
		return head(s, r, width, 0)
	}
	var parts [][]style.Line
	rows := 0
	for s != "" {
		n := strings.LastIndexByte(s, '\n') + 1
		l := wrapped(s[n:], r, width, most)
		if rows+len(l) > most && rows > 0 {
			break
		}
		if len(l) > most {
			l = append(l[:most-1:most-1], style.Text(style.Dim, "…"))
		}
		parts, rows = append(parts, l), rows+len(l)
		s = s[:max(n-1, 0)]
	}
	var out []style.Line
	if s != "" {
		out = append(out, more(lines(s)))
	}
	for i := len(parts) - 1; i >= 0; i-- {
		out = append(out, parts[i]...)
	}
	return out
}

// terminal draws a command and the end of what it printed, where errors stand.
func terminal(v tool.TerminalView, width int, o Options) []style.Line {
	var out []style.Line
	if !o.Bare && v.Command != "" {
		out = Command(v.Command, width, o.Max)
	}
	out = append(out, tail(v.Output, o.said(), width, o.Max)...)
	if v.ExitCode != 0 {
		out = append(out, style.Text(style.Failure, fmt.Sprintf("exit code %d", v.ExitCode)))
	}
	return out
}

// Command draws a command of a shell, at most most lines of it, 0 for all.
func Command(s string, width, most int) []style.Line {
	lead := style.Text(style.Dim, "$ ")
	f := fitter{max: most}
	x := newLexer("sh")
	s = strings.TrimRight(s, "\r\n \t")
	for s != "" {
		line, rest, _ := strings.Cut(s, "\n")
		s = rest
		text := x.line(shown(line))
		if !f.add(style.WrapUnder(join(lead, text), width, style.Text(style.Plain, "    "))) {
			break
		}
		lead = style.Text(style.Plain, "  ")
	}
	return f.skipped(lines(s))
}

// Code draws code of a language, at most most lines of it, 0 for all. The
// language is a label as it stands behind a fence, or a file's path.
func Code(language, s string, width, most int) []style.Line {
	x := lexerOf(language)
	f := fitter{max: most}
	s = strings.TrimRight(s, "\r\n")
	for s != "" {
		line, rest, _ := strings.Cut(s, "\n")
		s = rest
		if !f.add(style.Wrap(x.line(shown(line)), width)) {
			break
		}
	}
	return f.skipped(lines(s))
}

// states are the marks of a list's items, by their state.
func state(s string) (mark string, of, text style.Role) {
	switch s {
	case "pending":
		return "☐ ", style.Dim, style.Plain
	case "in_progress":
		return "▸ ", style.Accent, style.Bold
	case "completed":
		return "✔ ", style.Success, style.Dim
	}
	return "", style.Plain, style.Plain
}

func list(v tool.ListView, width int, o Options) []style.Line {
	var out []style.Line
	if v.Title != "" {
		out = wrapped(oneLine(v.Title), style.Bold, width, o.Max)
	}
	from := 0
	if n := len(v.Items); o.Max > 0 && n > o.Max { // what is being done is among what is shown
		for i, it := range v.Items {
			if it.State == "in_progress" {
				from = min(max(i-1, 0), n-o.Max)
				break
			}
		}
	}
	if from > 0 {
		out = append(out, more(from))
	}
	f := fitter{max: o.Max}
	for i, it := range v.Items[from:] {
		mark, of, r := state(it.State)
		line := style.Line{{Text: mark, Role: of}, {Text: oneLine(it.Text), Role: r}}
		if mark == "" {
			line = line[1:]
		}
		if !f.add(style.WrapUnder(line, width, style.Text(style.Plain, strings.Repeat(" ", style.Width(mark))))) {
			return append(out, f.skipped(len(v.Items)-from-i-1)...)
		}
	}
	return append(out, f.out...)
}

func tabular(v tool.TableView, width int, o Options) []style.Line {
	body, left := v.Rows, 0
	if o.Max > 0 && len(body) > o.Max {
		left = len(body) - o.Max
		body = body[:o.Max]
	}
	cols := len(v.Header)
	for _, r := range body {
		cols = max(cols, len(r))
	}
	if cols == 0 {
		return nil
	}
	p := piece{kind: tablePiece, grid: newGrid(make([]byte, cols))}
	for i, r := range append([][]string{v.Header}, body...) {
		row := make([]style.Line, cols)
		for j := range row {
			if j < len(r) {
				row[j] = style.Text(style.Plain, shown(strings.TrimRight(r[j], "\r\n")))
			}
		}
		if i > 0 || len(v.Header) > 0 {
			p.rows = append(p.rows, row)
		}
	}
	for j := range cols {
		if numeric(body, j) {
			p.grid.align[j] = 'r'
		}
	}
	p.headless = len(v.Header) == 0
	var l layout
	out := l.table(nil, p, width)
	if left > 0 {
		out = append(out, more(left))
	}
	return out
}

// numeric tells whether a column holds numbers alone.
func numeric(body [][]string, j int) bool {
	some := false
	for _, r := range body {
		if j >= len(r) || r[j] == "" {
			continue
		}
		if strings.Trim(r[j], "0123456789.,%$+-− ") != "" {
			return false
		}
		some = true
	}
	return some
}

func within(v tool.NestedView, width int, o Options) []style.Line {
	f := fitter{max: o.Max}
	if v.Title != "" && !o.Bare {
		f.add(wrapped(oneLine(v.Title), style.Bold, width, o.Max))
	}
	o.Bare = false // the inner ones have no line above them
	var pad style.Line
	if width > 20 {
		pad = style.Text(style.Plain, "  ")
	}
	for i, inner := range v.Views {
		for _, l := range View(inner, width-pad.Width(), o) {
			if !f.add([]style.Line{join(pad, l)}) {
				f.left = len(v.Views) - i
				return f.skipped(0)
			}
		}
	}
	return f.out
}

// Thinking draws what a model thought: one line, or with most lines above one,
// or 0 for all, the text itself.
func Thinking(s string, width, most int) []style.Line {
	s = strings.TrimSpace(s)
	if s == "" {
		return nil
	}
	if most == 1 {
		first := strings.Join(strings.Fields(strings.Trim(plain.Text(s[:edge(s+" ", min(len(s), 4*width))]), "*#> ")), " ")
		return []style.Line{style.Text(style.Thought, first).Cut(width)}
	}
	var out []style.Line
	for _, l := range Render(s, width) {
		for i := range l {
			switch l[i].Role {
			case style.Plain, style.Bold, style.Italic, style.Heading, style.Quote:
				l[i].Role = style.Thought
			}
		}
		out = append(out, l)
	}
	if most > 0 && len(out) > most {
		return append(out[:most:most], more(len(out)-most))
	}
	return out
}
