package dialog

import (
	"strings"

	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// fit is the last look at a frame: nothing is wider or higher than asked, and
// no character acts on the terminal, whoever drew the lines.
func fit(f frame.Frame, width, height int) frame.Frame {
	width, height = max(width, 1), max(height, 1)
	if len(f.Lines) > height {
		f.Lines = f.Lines[:height]
	}
	out := make([]style.Line, len(f.Lines))
	for i, l := range f.Lines {
		out[i] = fitLine(l, width)
	}
	f.Lines = out
	f.Row, f.Col = max(0, min(f.Row, len(out)-1)), max(0, min(f.Col, width-1))
	return f
}

func fitLine(l style.Line, width int) style.Line {
	var out style.Line
	for _, s := range l {
		if s.Text = plain.Text(s.Text); strings.ContainsAny(s.Text, "\t\r\n") {
			s.Text = plain.Line(strings.ReplaceAll(s.Text, "\t", "    "))
		}
		out = append(out, s)
	}
	out = out.Cut(width)
	for n := width - 1; out.Width() > width && n > 0; n-- { // marks that joined over spans
		out = out.Cut(n)
	}
	return out
}
