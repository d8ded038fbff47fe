package dialog

import (
	"slices"

	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// TabLine draws the names of tabs, from one on that lets the chosen one be seen.
func TabLine(names []string, at, width int) style.Line {
	names = slices.Clone(names)
	for i, n := range names {
		names[i] = label(n, 30)
	}
	from, used := at, 0
	for i := at; i >= 0; i-- {
		if used += style.Width(names[i]) + 3; used > width && i < at {
			break
		}
		from = i
	}
	l := style.Line{{Text: " "}}
	if from > 0 {
		l = style.Text(style.Dim, "‹")
	}
	for i := from; i < len(names); i++ {
		role := style.Dim
		if i == at {
			role = style.Selected
		}
		l = append(l, style.Span{Text: names[i], Role: role}, style.Span{Text: "   "})
	}
	return l.Cut(width)
}
