package paint

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// Plain paints by adding text at the end, for terminals that can do nothing else
// and for screen readers: no cursor is moved and no line is changed, except that
// what is deleted while typing is deleted as terminals do it.
type Plain struct {
	screen Screen
	width  int
	said   map[string]bool // lines of the last frame, by their letters
	typed  string          // what stands on the current line
	out    strings.Builder
}

// NewPlain paints on a screen.
func NewPlain(s Screen) *Plain {
	p := &Plain{screen: s}
	p.width, _ = s.Size()
	return p
}

// Commit takes finished lines and prints them with the next Live.
func (p *Plain) Commit(lines []style.Line) {
	for _, l := range lines {
		for _, part := range style.Wrap(safeLine(l), p.width) {
			p.say(strings.TrimRight(part.String(), " "))
		}
	}
}

// say prints a line; what is being typed is repeated after it.
func (p *Plain) say(s string) {
	if p.typed != "" {
		p.out.WriteString(lineEnd)
		p.typed = ""
	}
	p.out.WriteString(s + lineEnd)
}

// Resize says that the terminal has another size.
func (p *Plain) Resize(width, _ int) { p.width = max(width, 1) }

// Live says what is new in a frame. A line whose letters are the same, such as a
// clock or a sign that turns, is not new. The line of the cursor is what is being typed.
func (p *Plain) Live(f frame.Frame) error {
	if p.screen.Parted() {
		p.typed, p.said = "", nil // another program wrote
	}
	said := map[string]bool{}
	input := ""
	for i, l := range f.Lines {
		text := strings.TrimRight(Safe(l.String()), " ")
		if f.Cursor && i == f.Row {
			input = Safe(l.String())
			continue
		}
		key := strings.Map(letters, text)
		if text != "" && !p.said[key] && !said[key] {
			p.say(text)
		}
		said[key] = true
	}
	p.said = said
	p.typing(strings.TrimRight(input, " "))
	if p.out.Len() == 0 {
		return nil
	}
	s := p.out.String()
	p.out.Reset()
	if _, err := io.WriteString(p.screen, s); err != nil {
		return fmt.Errorf("write to the terminal: %w", err)
	}
	return nil
}

func letters(r rune) rune {
	if unicode.IsLetter(r) {
		return r
	}
	return -1
}

// typing brings the current line to what is being typed now.
func (p *Plain) typing(now string) {
	if now == p.typed {
		return
	}
	gone, deleted := strings.CutPrefix(p.typed, now)
	more, added := strings.CutPrefix(now, p.typed)
	switch {
	case added:
		p.out.WriteString(more)
	case deleted && now != "":
		p.out.WriteString(strings.Repeat("\b \b", style.Width(gone)))
	default:
		p.out.WriteString(lineEnd + now)
	}
	p.typed = now
}

// Close ends the line.
func (p *Plain) Close() error {
	return p.Live(frame.Frame{})
}
