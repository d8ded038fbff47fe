package dialog

import (
	"strings"

	"github.com/hew-agent/hew/internal/backend/plain"
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

	cur   int // runes before the cursor
	fault string
	done  bool
	left  bool
}

// NewField makes a field with the cursor behind its value.
func NewField(f Field) *Field {
	f.cur = len([]rune(f.Value))
	return &f
}

// Done tells that the text was confirmed or the field left.
func (f *Field) Done() bool { return f.done || f.left }

// Left tells that the field was left without a text.
func (f *Field) Left() bool { return f.left }

// Handle edits.
func (f *Field) Handle(ev input.Event) bool {
	switch ev := ev.(type) {
	case input.Paste:
		f.put(strings.Join(strings.Fields(ev.Text), " "))
		return true
	case input.Press:
		return f.press(ev)
	case input.Mouse, input.Focus, input.Resize, input.Resumed, input.Ended:
	}
	return false
}

func (f *Field) put(s string) {
	r := []rune(f.Value)
	in := []rune(plain.Line(s))
	f.Value = string(r[:f.cur]) + string(in) + string(r[f.cur:])
	f.cur += len(in)
	f.fault = ""
}

func (f *Field) press(p input.Press) bool {
	r := []rune(f.Value)
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
		f.cur = min(len(r), f.cur+1)
	case "home", "ctrl+a":
		f.cur = 0
	case "end", "ctrl+e":
		f.cur = len(r)
	case "backspace":
		if f.cur > 0 {
			f.Value, f.cur = string(r[:f.cur-1])+string(r[f.cur:]), f.cur-1
		}
	case "delete", "ctrl+d":
		if f.cur < len(r) {
			f.Value = string(r[:f.cur]) + string(r[f.cur+1:])
		}
	case "ctrl+u":
		f.Value, f.cur = string(r[f.cur:]), 0
	case "ctrl+k":
		f.Value = string(r[:f.cur])
	default:
		if p.Text == "" {
			return false
		}
		f.put(p.Text)
	}
	return true
}

// Draw shows the label and the text around the cursor.
func (f *Field) Draw(width, height int) frame.Frame {
	var out frame.Frame
	if height > 2 {
		for _, l := range style.Wrap(style.Text(style.Heading, " "+plain.Line(f.Label)), width) {
			out.Lines = append(out.Lines, l)
		}
	}
	shown := f.Value
	if f.Secret {
		shown = strings.Repeat("•", len([]rune(f.Value)))
	}
	r := []rune(shown)
	from := 0
	for style.Width(string(r[from:f.cur])) > width-6 {
		from++
	}
	l := style.Line{{Text: " › ", Role: style.Accent}, {Text: string(r[from:])}}
	out.Cursor, out.Row, out.Col = true, len(out.Lines), min(width-1, 3+style.Width(string(r[from:f.cur])))
	out.Lines = append(out.Lines, l.Cut(width))
	foot := style.Text(style.Dim, " enter takes it · esc leaves")
	if f.fault != "" {
		foot = style.Text(style.Failure, " "+plain.Line(f.fault))
	}
	out.Lines = append(out.Lines, foot.Cut(width))
	if over := len(out.Lines) - max(1, height); over > 0 {
		out.Lines, out.Row = out.Lines[over:], max(0, out.Row-over)
	}
	return out
}
