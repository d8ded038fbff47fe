package paint

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/style"
	"github.com/hew-agent/hew/internal/surface/tui/term"
)

const (
	lineEnd    = "\r\n"
	eraseRight = "\x1b[K"
	// eraseBelow erases from the start of a row on. It does so from the second
	// cell: in the window's first one, tmux takes the same sequence for a clear
	// and keeps what stood there in its history.
	eraseBelow = "\x1b[K\x1b[C\x1b[J\r"
)

// Screen is where painters write. A term.Term is one.
type Screen interface {
	io.Writer
	// Size is the size in cells that the terminal has now.
	Size() (width, height int)
	// Parting is kept for the moment when the terminal is given back.
	Parting(s string)
	// Parted tells whether that moment was since the last call.
	Parted() bool
}

// Inline paints below what the shell printed. Finished lines go into the
// terminal's own scrollback, once; below them a live region is kept up to date.
// It is not safe for concurrent use.
type Inline struct {
	screen        Screen
	ink           ink
	caps          term.Caps
	width, height int
	pending       []string // finished lines that are not written yet
	live          []drawn
	row, col      int // the cursor, in the live region
	shown         bool
	moved         bool // live may lie elsewhere than it was painted, or is to be painted anew
}

// NewInline paints on a screen whose cursor stands at the start of a line.
func NewInline(s Screen, c term.Caps, t Theme) *Inline {
	p := &Inline{screen: s, shown: true}
	p.width, p.height = s.Size()
	p.Look(c, t)
	return p
}

// Look changes the theme and what the terminal is known to do. Finished lines
// keep their look.
func (p *Inline) Look(c term.Caps, t Theme) {
	p.caps, p.ink = c, newInk(t, c)
}

// Commit takes finished lines, wraps them and prints them with the next Live.
func (p *Inline) Commit(lines []style.Line) {
	for _, l := range lines {
		for _, part := range style.Wrap(safeLine(l), p.width) {
			d := p.ink.line(part, p.width)
			if d.width < p.width {
				d.text = d.erased()
			}
			p.pending = append(p.pending, d.text)
		}
	}
}

// safeLine escapes before the line is wrapped: what is escaped is wider.
func safeLine(l style.Line) style.Line {
	out := make(style.Line, len(l))
	for i, s := range l {
		s.Text = Safe(s.Text)
		out[i] = s
	}
	return out
}

// Resize says that the terminal has another size, or with the same one that the
// live region is to be painted whole. The next Live brings a frame for it.
func (p *Inline) Resize(width, height int) {
	p.moved = true
	p.width, p.height = max(width, 1), max(height, 1)
}

// Live shows a frame in place of the last one, below the lines committed since.
// A frame that is higher than the window loses its top. Where the window has
// another size by now, nothing is written: its Resize is on the way.
func (p *Inline) Live(f frame.Frame) error {
	if w, h := p.screen.Size(); w != p.width || h != p.height {
		return nil
	}
	p.restart()
	return p.flush(f)
}

func (p *Inline) flush(f frame.Frame) error {
	if cut := len(f.Lines) - p.height; cut > 0 {
		f.Lines, f.Row = f.Lines[cut:], f.Row-cut
		f.Cursor = f.Cursor && f.Row >= 0
	}
	next := make([]drawn, len(f.Lines))
	for i, l := range f.Lines {
		next[i] = p.ink.line(l, p.width)
	}
	var b strings.Builder
	switch {
	case p.moved || len(p.pending) > 0:
		p.repaint(&b, next)
	default:
		p.change(&b, next)
	}
	p.live = next
	p.park(&b, f)
	if b.Len() == 0 {
		return nil
	}
	p.screen.Parting(p.parting())
	if _, err := io.WriteString(p.screen, p.whole(b.String())); err != nil {
		return fmt.Errorf("write to the terminal: %w", err)
	}
	return nil
}

// whole makes the changes appear at once where the terminal can.
func (p *Inline) whole(s string) string {
	if !p.caps.Sync {
		return s
	}
	return ansi.SetModeSynchronizedOutput + s + ansi.ResetModeSynchronizedOutput
}

// repaint writes what is finished over the live region, and the region below it.
func (p *Inline) repaint(b *strings.Builder, next []drawn) {
	b.WriteString("\r" + up(p.above()))
	below := len(p.live) - len(p.pending) - max(len(next), 1)
	if p.moved { // lines may lie in other places than they were written to
		b.WriteString(eraseBelow)
		below = 0
	}
	p.moved = false
	for _, l := range p.pending {
		b.WriteString(l + lineEnd)
	}
	p.pending = nil
	p.row = 0
	for i, l := range next {
		if i > 0 {
			b.WriteString(lineEnd)
			p.row++
		}
		p.put(b, l)
	}
	if len(next) == 0 {
		b.WriteString(eraseRight)
	}
	if below > 0 {
		b.WriteString(lineEnd + eraseBelow)
		p.row++
	}
	p.col = -1
}

// change writes the lines that became different.
func (p *Inline) change(b *strings.Builder, next []drawn) {
	for i, l := range next {
		if i < len(p.live) && p.live[i] == l {
			continue
		}
		if i > 0 && i >= len(p.live) {
			p.to(b, i-1)
			b.WriteString(lineEnd)
			p.row = i
		}
		p.to(b, i)
		b.WriteString("\r")
		p.put(b, l)
		p.col = -1
	}
	if len(next) < len(p.live) {
		p.to(b, len(next))
		b.WriteString("\r" + eraseBelow)
		p.col = 0
	}
}

// put writes a line of the live region from the row's first cell on. The row is
// erased before, not behind the line: tmux keeps a row's old length otherwise, and
// wraps the emptiness when the window becomes narrower. Without wrapping, a character that the
// terminal thinks wider than we do cannot push the region down.
func (p *Inline) put(b *strings.Builder, l drawn) {
	if l.width < p.width {
		b.WriteString(l.erased())
		return
	}
	b.WriteString(ansi.ResetModeAutoWrap + l.text + ansi.SetModeAutoWrap)
}

// park puts the cursor where the frame has it, or hides it.
func (p *Inline) park(b *strings.Builder, f frame.Frame) {
	switch {
	case f.Cursor:
		p.to(b, min(f.Row, max(len(p.live)-1, 0)))
		if col := min(max(f.Col, 0), p.width-1); col != p.col {
			p.col = col
			b.WriteString("\r")
			if col > 0 {
				b.WriteString(ansi.CursorForward(col))
			}
		}
		if !p.shown {
			b.WriteString(ansi.ShowCursor)
		}
	case p.shown:
		b.WriteString(ansi.HideCursor)
	}
	p.shown = f.Cursor
}

// to moves the cursor to a row of the live region.
func (p *Inline) to(b *strings.Builder, row int) {
	if row < p.row {
		b.WriteString(up(p.row - row))
	}
	if row > p.row {
		b.WriteString(ansi.CursorDown(row - p.row))
	}
	p.row = row
}

func up(n int) string {
	if n < 1 {
		return ""
	}
	return ansi.CursorUp(n)
}

// above is how many rows of the window lie between the region's top and the
// cursor. A terminal that became narrower has wrapped the lines above the
// cursor, if it is one that does.
func (p *Inline) above() int {
	if !p.moved || !p.caps.Reflows {
		return p.row
	}
	rows := 0
	for i := range min(p.row, len(p.live)) {
		rows += 1 + max(p.live[i].width-1, 0)/p.width
	}
	return rows + max(p.col, 0)/p.width
}

// parting erases the live region, so that what comes after hew stands in its place.
func (p *Inline) parting() string {
	s := "\r" + up(p.row) + eraseBelow
	if !p.shown {
		s += ansi.ShowCursor
	}
	return s
}

// restart forgets the live region when another program had the terminal: it was
// erased before, and the cursor stands at the start of a line.
func (p *Inline) restart() {
	if p.screen.Parted() {
		p.live, p.row, p.col, p.moved, p.shown = nil, 0, 0, false, true
	}
}

// Close prints what is still to print, and erases the live region.
func (p *Inline) Close() error {
	if w, h := p.screen.Size(); w != p.width || h != p.height {
		p.Resize(w, h)
	}
	p.restart()
	if err := p.flush(frame.Frame{Cursor: true}); err != nil {
		return err
	}
	p.screen.Parting("")
	return nil
}
