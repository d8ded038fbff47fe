package markdown

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/surface/tui/style"
	"github.com/hew-agent/hew/internal/tool"
)

// Summary is one line about a change: the file, what happened to it, and how
// many lines came and went.
func Summary(v tool.DiffView) style.Line {
	out := style.Text(style.Plain, plain.Line(v.Path))
	switch {
	case v.Created:
		out = append(out, style.Span{Text: " new", Role: style.Dim})
	case v.New == "" && v.Old != "":
		out = append(out, style.Span{Text: " all removed", Role: style.Dim})
	}
	return append(out, Counts(v)...)
}

// Counts says how many lines came and went, with a blank in front.
func Counts(v tool.DiffView) style.Line {
	var out style.Line
	added, removed := 0, 0
	for _, h := range hunks(v) {
		for _, l := range h.Lines {
			switch {
			case strings.HasPrefix(l, "+"):
				added++
			case strings.HasPrefix(l, "-"):
				removed++
			}
		}
	}
	if added > 0 {
		out = append(out, style.Span{Text: " +" + strconv.Itoa(added), Role: style.Success})
	}
	if removed > 0 {
		out = append(out, style.Span{Text: " −" + strconv.Itoa(removed), Role: style.Failure})
	}
	if added+removed == 0 {
		out = append(out, style.Span{Text: " unchanged", Role: style.Dim})
	}
	return out
}

// hunks are the view's own, or those between its two texts.
func hunks(v tool.DiffView) []tool.Hunk {
	if len(v.Hunks) > 0 || v.Old == v.New {
		return v.Hunks
	}
	u, err := udiff.ToUnifiedDiff("", "", v.Old, udiff.Lines(v.Old, v.New), 3)
	if err != nil {
		return nil // edits that Lines made do fit the text
	}
	var out []tool.Hunk
	for _, h := range u.Hunks {
		n := tool.Hunk{OldStart: h.FromLine, NewStart: h.ToLine}
		for _, l := range h.Lines {
			mark := " "
			switch l.Kind {
			case udiff.Delete:
				mark = "-"
				n.OldLines++
			case udiff.Insert:
				mark = "+"
				n.NewLines++
			case udiff.Equal:
				n.OldLines++
				n.NewLines++
			}
			n.Lines = append(n.Lines, mark+strings.TrimSuffix(l.Content, "\n"))
		}
		out = append(out, n)
	}
	return out
}

// edit is a line of a diff: ' ', '+' or '-', its numbers, and its text with
// roles. A fold is a count of lines between hunks that did not change.
type edit struct {
	kind     byte
	old, new int
	text     style.Line
	fold     int
}

// edits reads the lines of a diff, up to most of them, 0 for all, and counts the others.
func edits(v tool.DiffView, most int) (out []edit, left int) {
	before, after := newReader(v.Path, v.Old), newReader(v.Path, v.New)
	end := 1
	list := hunks(v)
	if n := 0; most > 0 {
		for _, h := range list {
			n += len(h.Lines)
		}
		if n > most {
			list = tight(list)
		}
	}
	for _, h := range list {
		if most > 0 && len(out) >= most {
			left += len(h.Lines)
			continue
		}
		if n := h.OldStart - end; n > 0 && len(out) > 0 {
			out = append(out, edit{fold: n})
		}
		end = h.OldStart + h.OldLines
		before.seek(h.OldStart)
		after.seek(h.NewStart)
		part := h.Lines
		if room := most - len(out); most > 0 && room < len(part) {
			left += len(part) - room
			part = part[:room]
		}
		out = append(out, hunkEdits(h, part, before, after)...)
	}
	return out, left
}

// tight leaves one line of context around each change: where there is little
// room, it is for what changed.
func tight(list []tool.Hunk) []tool.Hunk {
	out := make([]tool.Hunk, len(list))
	for i, h := range list {
		n := len(h.Lines)
		from, to := 0, n
		for from < n && (h.Lines[from] == "" || h.Lines[from][0] == ' ') {
			from++
		}
		for to > from && (h.Lines[to-1] == "" || h.Lines[to-1][0] == ' ') {
			to--
		}
		from, to = max(from-1, 0), min(to+1, n)
		out[i] = tool.Hunk{
			OldStart: h.OldStart + from, NewStart: h.NewStart + from, Lines: h.Lines[from:to],
			OldLines: h.OldLines - from - (n - to), NewLines: h.NewLines - from - (n - to),
		}
	}
	return out
}

func hunkEdits(h tool.Hunk, list []string, before, after *reader) []edit {
	out := make([]edit, 0, len(list))
	texts := make([]string, 0, len(list))
	o, n := h.OldStart, h.NewStart
	for _, l := range list {
		if l == "" {
			l = " "
		}
		s := shown(l[1:])
		e := edit{kind: l[0], old: o, new: n}
		switch l[0] {
		case '-':
			e.text = before.line(s)
			o++
		case '+':
			e.text = after.line(s)
			n++
		default:
			e.kind = ' '
			before.line(s)
			e.text = after.line(s)
			o++
			n++
		}
		out, texts = append(out, e), append(texts, s)
	}
	pairUp(out, texts)
	return out
}

// pairUp marks the words that differ between removed lines and the added ones
// that stand in their place.
func pairUp(list []edit, texts []string) {
	for i := 0; i < len(list); {
		if list[i].kind != '-' {
			i++
			continue
		}
		del := i
		for i < len(list) && list[i].kind == '-' {
			i++
		}
		add := i
		for i < len(list) && list[i].kind == '+' {
			i++
		}
		for k := 0; del+k < add && add+k < i; k++ {
			a, b := &list[del+k], &list[add+k]
			gone, come, ok := changedWords(texts[del+k], texts[add+k])
			if ok {
				a.text, b.text = marked(a.text, gone, style.RemovedWord), marked(b.text, come, style.AddedWord)
			}
		}
	}
}

// spread is a part of a line, in bytes.
type spread struct{ from, to int }

// maxWords is the length of a line, in bytes, above which words are not compared.
const maxWords = 1000

// changedWords are the parts of two lines that differ; not ok where the lines
// have too little in common.
func changedWords(a, b string) (gone, come []spread, ok bool) {
	if a == "" || b == "" || a == b || len(a) > maxWords || len(b) > maxWords {
		return nil, nil, false
	}
	aw, bw := splitWords(a), splitWords(b)
	var at, bt int // words read
	var ao, bo int // their bytes
	same := 0
	ends := func(words []string) []int { // offsets of the words in the joined text
		out := make([]int, 0, len(words)+1)
		n := 0
		for _, w := range words {
			out = append(out, n)
			n += len(w) + 1
		}
		return append(out, n)
	}
	aEnds := ends(aw)
	for _, e := range udiff.Lines(strings.Join(aw, "\n")+"\n", strings.Join(bw, "\n")+"\n") {
		for at < len(aw) && aEnds[at] < e.Start {
			n := len(aw[at])
			if strings.TrimSpace(aw[at]) != "" {
				same += n
			}
			ao, bo, at, bt = ao+n, bo+len(bw[bt]), at+1, bt+1
		}
		from := ao
		for at < len(aw) && aEnds[at] < e.End {
			ao, at = ao+len(aw[at]), at+1
		}
		gone = append(gone, spread{from, ao})
		from = bo
		for range strings.Count(e.New, "\n") {
			bo, bt = bo+len(bw[bt]), bt+1
		}
		come = append(come, spread{from, bo})
	}
	for ; at < len(aw); at++ {
		if strings.TrimSpace(aw[at]) != "" {
			same += len(aw[at])
		}
	}
	gone, come = bridged(a, gone), bridged(b, come)
	most := max(len(strings.ReplaceAll(a, " ", "")), len(strings.ReplaceAll(b, " ", "")))
	return gone, come, same*5 >= most*2
}

// bridged joins parts that only blanks keep apart.
func bridged(s string, parts []spread) []spread {
	var out []spread
	for _, p := range parts {
		if p.from == p.to {
			continue
		}
		if n := len(out); n > 0 && strings.TrimSpace(s[out[n-1].to:p.from]) == "" {
			out[n-1].to = p.to
			continue
		}
		out = append(out, p)
	}
	for i := range out { // blanks beside a word are not what changed
		p := &out[i]
		if words := strings.Trim(s[p.from:p.to], " "); words != "" {
			p.from += strings.Index(s[p.from:p.to], words)
			p.to = p.from + len(words)
		}
	}
	return out
}

// splitWords cuts a line into words, runs of blanks, and single signs.
func splitWords(s string) []string {
	class := func(c byte) int {
		switch {
		case c == ' ':
			return 1
		case c == '_' || c >= 0x80 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z':
			return 2
		}
		return 0
	}
	var out []string
	for i := 0; i < len(s); {
		n := i + 1
		for k := class(s[i]); k > 0 && n < len(s) && class(s[n]) == k; {
			n++
		}
		out = append(out, s[i:n])
		i = n
	}
	return out
}

// marked gives parts of a line another role.
func marked(l style.Line, parts []spread, r style.Role) style.Line {
	var out style.Line
	at := 0
	for _, s := range l {
		for s.Text != "" {
			for len(parts) > 0 && (parts[0].to <= at || parts[0].from == parts[0].to) {
				parts = parts[1:]
			}
			n, role := len(s.Text), s.Role
			if len(parts) > 0 {
				if p := parts[0]; p.from <= at {
					n, role = min(n, p.to-at), r
				} else {
					n = min(n, p.from-at)
				}
			}
			out = append(out, style.Span{Text: s.Text[:n], Role: role})
			s.Text, at = s.Text[n:], at+n
		}
	}
	return out
}

// maxContext is the length of a file, in bytes, above which its code is not read
// up to the change to know what the change stands in.
const maxContext = 256 << 10

// reader gives the lines of one side of a diff their colours.
type reader struct {
	x    lexer
	path string
	rest string // of the file, from line on
	next int
}

func newReader(path, text string) *reader {
	if len(text) > maxContext {
		text = ""
	}
	return &reader{x: lexerOf(path), path: path, rest: text, next: 1}
}

// seek goes to a line of the file.
func (r *reader) seek(line int) {
	if r.rest == "" || r.x.lang == nil {
		r.x = lexerOf(r.path)
		return
	}
	for r.next < line && r.rest != "" {
		l, rest, _ := strings.Cut(r.rest, "\n")
		r.x.line(strings.TrimSuffix(l, "\r"))
		r.rest, r.next = rest, r.next+1
	}
}

// line colours the next line, which stands in the file too.
func (r *reader) line(s string) style.Line {
	if r.rest != "" {
		_, r.rest, _ = strings.Cut(r.rest, "\n")
		r.next++
	}
	return r.x.line(s)
}

// Diff draws a change: a summary, then the changed lines with their numbers.
// Words that changed in a line are marked; what did not change is folded.
func Diff(v tool.DiffView, width int, o Options) []style.Line {
	width = max(width, 20)
	var out []style.Line
	if !o.Bare {
		out = style.Wrap(Summary(v), width)
	}
	list, left := edits(v, o.Max)
	digits := gutter(list)
	f := fitter{max: o.Max}
	for i, e := range list {
		if !f.add(e.draw(width, digits)) {
			left += len(list) - i - 1
			break
		}
	}
	return append(out, f.skipped(left)...)
}

// gutter is how many digits the highest line number has.
func gutter(list []edit) int {
	n := 0
	for _, e := range list {
		n = max(n, e.old, e.new)
	}
	return len(strconv.Itoa(n))
}

// draw is an edit in one column.
func (e edit) draw(width, digits int) []style.Line {
	if e.kind == 0 {
		return []style.Line{style.Text(style.Dim, fmt.Sprintf("%*s  ⋯ %s", digits, "", unchanged(e.fold))).Cut(width)}
	}
	n, sign := e.new, style.Span{Text: "  "}
	switch e.kind {
	case '-':
		n, sign = e.old, style.Span{Text: "- ", Role: style.Removed}
	case '+':
		sign = style.Span{Text: "+ ", Role: style.Added}
	}
	line := style.Line{{Text: fmt.Sprintf("%*d ", digits, n), Role: style.LineNumber, Back: sign.Role}, sign}
	under := style.Line{{Text: strings.Repeat(" ", digits+3), Back: sign.Role}}
	line[1].Back = sign.Role
	return style.WrapUnder(append(line, e.body(sign.Role)...), width, under)
}

// body is the text of an edit on the background of the change; what has no
// colour of its own in it has that of the change.
func (e edit) body(of style.Role) style.Line {
	out := make(style.Line, len(e.text))
	for i, s := range e.text {
		if s.Role == style.Plain || s.Role == style.Operator {
			s.Role = of
		}
		s.Back = of
		out[i] = s
	}
	return out
}

func unchanged(n int) string {
	if n == 1 {
		return "1 unchanged line"
	}
	return fmt.Sprintf("%d unchanged lines", n)
}
