package dialog

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/input"
	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// Field is one line of text to type.
type Field struct {
	Label string
	Value string
	// Secret shows dots.
	Secret bool
	// Check says what is wrong with a value, "" for nothing. Optional.
	Check func(value string) string

	text  []string // the characters of Value, with their marks
	cur   int      // how many of them stand before the cursor
	fault string
	done  bool
	left  bool
}

// NewField makes a field with the cursor behind its value.
func NewField(f Field) *Field {
	f.text = characters(f.Value)
	f.cur = len(f.text)
	return &f
}

// characters splits a text where a cursor can stand. Line ends become blanks,
// what else steers is left out.
func characters(s string) []string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r) || r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, strings.ReplaceAll(s, "\r\n", "\n"))
	out := make([]string, 0, len(s))
	for s != "" {
		n := 1
		if s[0] >= 0x80 || len(s) > 1 && s[1] >= 0x80 {
			c, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
			n = max(1, len(c))
		}
		out, s = append(out, s[:n]), s[n:]
	}
	return out
}

// Done tells that the text was confirmed or the field left.
func (f *Field) Done() bool { return f.done || f.left }

// Left tells that the field was left without a text.
func (f *Field) Left() bool { return f.left }

// Handle edits.
func (f *Field) Handle(ev input.Event) bool {
	switch ev := ev.(type) {
	case input.Paste:
		f.put(strings.TrimSpace(ev.Text))
		return true
	case input.Press:
		return f.press(ev)
	case input.Mouse, input.Focus, input.Resize, input.Resumed, input.Ended:
	}
	return false
}

func (f *Field) put(s string) { f.replace(f.cur, f.cur, characters(s)) }

// replace puts characters in the place of others; the cursor stands behind them.
func (f *Field) replace(from, to int, in []string) {
	next := append(f.text[:from:from], in...)
	f.text, f.cur = append(next, f.text[to:]...), from+len(in)
	f.Value, f.fault = strings.Join(f.text, ""), ""
}

// word is where the word before the cursor begins.
func (f *Field) word() int {
	i := f.cur
	for i > 0 && f.text[i-1] == " " {
		i--
	}
	for i > 0 && f.text[i-1] != " " {
		i--
	}
	return i
}

func (f *Field) press(p input.Press) bool {
	switch p.Key {
	case "enter":
		if f.Check != nil {
			if f.fault = f.Check(f.Value); f.fault != "" {
				return true
			}
		}
		f.done = true
	case "esc", "ctrl+c":
		f.left = true
	case "left", "ctrl+b":
		f.cur = max(0, f.cur-1)
	case "right", "ctrl+f":
		f.cur = min(len(f.text), f.cur+1)
	case "home", "ctrl+a":
		f.cur = 0
	case "end", "ctrl+e":
		f.cur = len(f.text)
	case "alt+b", "ctrl+left":
		f.cur = f.word()
	case "backspace":
		f.replace(max(0, f.cur-1), f.cur, nil)
	case "delete", "ctrl+d":
		f.replace(f.cur, min(len(f.text), f.cur+1), nil)
	case "ctrl+u":
		f.replace(0, f.cur, nil)
	case "ctrl+w", "alt+backspace":
		f.replace(f.word(), f.cur, nil)
	case "ctrl+k":
		f.replace(f.cur, len(f.text), nil)
	default:
		if p.Text == "" {
			return false
		}
		f.put(p.Text)
	}
	return true
}

// shown is a character as it is drawn.
func (f *Field) shown(i int) string {
	if f.Secret {
		return "•"
	}
	return signs(f.text[i])
}

// height is how many lines the field wants, at most five.
func (f *Field) height(width int) int {
	return 2 + min(3, len(paragraph(style.Heading, f.Label, max(1, width-1))))
}

// Draw shows the label and the text around the cursor.
func (f *Field) Draw(width, height int) frame.Frame {
	var out frame.Frame
	if height > 2 {
		lines := paragraph(style.Heading, f.Label, max(1, width-1))
		out.Lines = indented(lines[:min(len(lines), height-2)], 1)
	}
	before, from := "", f.cur
	for ; from > 0; from-- {
		if s := f.shown(from-1) + before; style.Width(s) <= max(1, width-5) {
			before = s
			continue
		}
		break
	}
	behind := ""
	for i := f.cur; i < len(f.text) && style.Width(behind) < width; i++ {
		behind += f.shown(i)
	}
	lead := " › "
	if from > 0 {
		lead = " …"
	}
	l := style.Line{{Text: lead, Role: style.Accent}, {Text: before + behind}}
	out.Cursor, out.Row, out.Col = true, len(out.Lines), style.Width(lead)+style.Width(before)
	out.Lines = append(out.Lines, l)
	foot := hints([]string{"enter takes it", "esc leaves"}, width)
	if f.fault != "" {
		foot = style.Line{{Text: " " + label(f.fault, width), Role: style.Failure}}
	}
	out.Lines = append(out.Lines, foot)
	if over := len(out.Lines) - max(1, height); over > 0 && out.Row >= over {
		out.Lines, out.Row = out.Lines[over:], out.Row-over
	}
	return fit(out, width, height)
}
