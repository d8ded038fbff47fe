package markdown

import (
	"strings"

	"github.com/hew-agent/hew/internal/surface/tui/style"
	"github.com/hew-agent/hew/internal/tool"
)

// sideBySide is the narrowest width, in cells, in which two columns of code can be read.
const sideBySide = 100

// Side draws a change with what was on the left and what is on the right; in a
// narrow window as Diff does.
func Side(v tool.DiffView, width int, o Options) []style.Line {
	if width < sideBySide {
		return Diff(v, width, o)
	}
	var out []style.Line
	if !o.Bare {
		out = style.Wrap(Summary(v), width)
	}
	list, left := edits(v, o.Max)
	half, digits := (width-3)/2, gutter(list)
	f := fitter{max: o.Max}
	for i := 0; i < len(list); {
		del, add := i, i
		if list[i].kind != '-' && list[i].kind != '+' {
			if !f.add(both(list[i], half, digits)) {
				return append(out, f.skipped(left+len(list)-i-1)...)
			}
			i++
			continue
		}
		for i < len(list) && list[i].kind == '-' {
			i++
		}
		add = i
		for i < len(list) && list[i].kind == '+' {
			i++
		}
		for k := 0; del+k < add || add+k < i; k++ {
			var a, b []style.Line
			if del+k < add {
				a = list[del+k].draw(half, digits)
			}
			if add+k < i {
				b = list[add+k].draw(half, digits)
			}
			if !f.add(beside(a, b, half)) {
				return append(out, f.skipped(left+max(add-del, i-add)-k-1+len(list)-i)...)
			}
		}
	}
	return append(out, f.skipped(left)...)
}

// both draws a line that is on both sides, or a fold.
func both(e edit, half, digits int) []style.Line {
	b := e.draw(half, digits)
	if e.kind == 0 {
		return b
	}
	e.new = e.old
	return beside(e.draw(half, digits), b, half)
}

// beside puts two columns next to each other.
func beside(a, b []style.Line, half int) []style.Line {
	out := make([]style.Line, max(len(a), len(b)))
	for i := range out {
		var l style.Line
		if i < len(a) {
			l = append(l, a[i]...)
		}
		if pad := half - l.Width(); pad > 0 {
			end := style.Span{Text: strings.Repeat(" ", pad)}
			if len(l) > 0 {
				end.Back = l[len(l)-1].Back
			}
			l = append(l, end)
		}
		l = append(l, style.Span{Text: " │ ", Role: style.Rule})
		if i < len(b) {
			l = append(l, b[i]...)
		}
		out[i] = l
	}
	return out
}
