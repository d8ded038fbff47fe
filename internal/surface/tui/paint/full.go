package paint

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/term"
)

// Full paints the whole window, on the alternate screen: the caller switches to
// it (term.Fullscreen) before the first frame. It is not safe for concurrent use.
type Full struct {
	screen        Screen
	ink           ink
	caps          term.Caps
	width, height int
	rows          []drawn // nil: unknown
	row, col      int
	cursor        bool
}

// NewFull paints on a screen.
func NewFull(s Screen, c term.Caps, t Theme) *Full {
	p := &Full{screen: s}
	p.width, p.height = s.Size()
	p.Look(c, t)
	return p
}

// Look changes the theme and what the terminal is known to do.
func (p *Full) Look(c term.Caps, t Theme) {
	p.caps, p.ink = c, newInk(t, c)
}

// Resize says that the terminal has another size, or with the same one that
// what is on the screen is not known.
func (p *Full) Resize(width, height int) {
	p.width, p.height = max(width, 1), max(height, 1)
	p.rows = nil
}

// Draw shows a frame; what is higher than the window is cut at the bottom.
func (p *Full) Draw(f frame.Frame) error {
	if p.screen.Parted() {
		p.rows = nil
	}
	var b strings.Builder
	known := p.rows != nil
	next := make([]drawn, p.height)
	for i := range next {
		if i < len(f.Lines) {
			next[i] = p.ink.line(f.Lines[i], p.width)
		}
	}
	if known {
		p.scroll(&b, next)
	}
	moved := b.Len() > 0
	for i, l := range next {
		if known && p.rows[i] == l {
			continue
		}
		moved = true
		b.WriteString(ansi.CursorPosition(1, i+1))
		if l.width < p.width {
			b.WriteString(l.erased())
		} else {
			b.WriteString(ansi.ResetModeAutoWrap + l.text + ansi.SetModeAutoWrap)
		}
	}
	p.rows = next
	show := f.Cursor && f.Row < p.height
	if show && (moved || f.Row != p.row || f.Col != p.col || !p.cursor) {
		b.WriteString(ansi.CursorPosition(min(f.Col, p.width-1)+1, f.Row+1))
	}
	if show != p.cursor || !known {
		if show {
			b.WriteString(ansi.ShowCursor)
		} else {
			b.WriteString(ansi.HideCursor)
		}
	}
	p.row, p.col, p.cursor = f.Row, f.Col, show
	if b.Len() == 0 {
		return nil
	}
	s := b.String()
	if p.caps.Sync {
		s = ansi.SetModeSynchronizedOutput + s + ansi.ResetModeSynchronizedOutput
	}
	if _, err := io.WriteString(p.screen, s); err != nil {
		return fmt.Errorf("write to the terminal: %w", err)
	}
	return nil
}

// scroll lets the terminal move lines that went up or down together: a
// transcript that grows or is paged costs its new lines alone.
func (p *Full) scroll(b *strings.Builder, next []drawn) {
	for by := 1; by <= p.height/2; by++ {
		if top, n := run(p.rows, next, by); n > 0 {
			p.move(b, top, n, by, ansi.ScrollUp(by))
			copy(p.rows[top:], p.rows[top+by:top+by+n])
			clear(p.rows[top+n : top+n+by])
			return
		}
		if top, n := run(next, p.rows, by); n > 0 {
			p.move(b, top, n, by, ansi.ScrollDown(by))
			copy(p.rows[top+by:], p.rows[top:top+n])
			clear(p.rows[top : top+by])
			return
		}
	}
}

func (p *Full) move(b *strings.Builder, top, n, by int, sequence string) {
	b.WriteString(ansi.SetTopBottomMargins(top+1, top+n+by) + sequence + ansi.SetTopBottomMargins(1, p.height))
}

// worth is how many lines a move must save.
const worth = 4

// run finds the most lines in a row that stand in up by lines higher than in
// down: where they stand in up, and how many, 0 if moving them saves little.
func run(down, up []drawn, by int) (top, n int) {
	start := 0
	for i := range len(up) - by {
		if up[i] != down[i+by] {
			start = i + 1
			continue
		}
		if i-start+1 > n {
			top, n = start, i-start+1
		}
	}
	saved := n
	for i := top; i < top+n; i++ {
		if up[i] == down[i] {
			saved--
		}
	}
	if saved < max(worth, by) {
		return 0, 0
	}
	return top, n
}
