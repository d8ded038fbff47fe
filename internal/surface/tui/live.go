package tui

import (
	"fmt"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/markdown"
	"github.com/hew-agent/hew/internal/surface/tui/style"
	"github.com/hew-agent/hew/internal/surface/view"
)

// Rows of the live region; together they stay below the height of the window.
const (
	openRows  = 8 // of the block that arrives
	callRows  = 6 // of calls that have not ended
	todoRows  = 5
	queueRows = 3
	taskRows  = 4
)

// sink turns finished items into lines, and the open reply piece by piece.
type sink struct {
	width   int
	whole   bool
	items   int // of State.Items that are printed
	stream  *markdown.Stream
	id      string // of the item that stream writes
	fed     int    // bytes of it
	started bool   // something of it is printed
}

// take returns the lines that became final since the last call.
func (k *sink) take(s view.State) []style.Line {
	sh := sheet{k.width, k.whole}
	var out []style.Line
	for ; k.items < len(s.Items); k.items++ {
		it := s.Items[k.items]
		if r, ok := it.(view.Reply); ok && k.stream != nil && r.ID == k.id {
			k.feed(r.Text)
			out = append(out, k.lead(k.stream.Close(sh.inner()))...)
			k.stream = nil
			continue
		}
		out = append(out, sh.item(it)...)
	}
	if len(s.Live) == 0 {
		return out
	}
	r, ok := s.Live[0].(view.Reply)
	if !ok {
		return out
	}
	if k.stream == nil || k.id != r.ID {
		k.stream, k.id, k.fed, k.started = new(markdown.Stream), r.ID, 0, false
	}
	k.feed(r.Text)
	return append(out, k.lead(k.stream.Finished(sh.inner()))...)
}

// feed writes what the stream has not had. A text that does not begin with what
// was printed keeps what was printed.
func (k *sink) feed(text string) {
	if len(text) > k.fed {
		k.stream.Write(text[k.fed:])
		k.fed = len(text)
	}
}

// lead puts the blank line before the first lines of a reply.
func (k *sink) lead(lines []style.Line) []style.Line {
	if len(lines) == 0 {
		return nil
	}
	lines = indent(lines)
	if !k.started {
		k.started = true
		lines = spaced(lines)
	}
	return lines
}

// open is what has arrived of the block at work and is not printed.
func (k *sink) open(s view.State, rows int) []style.Line {
	sh := sheet{k.width, k.whole}
	var out []style.Line
	for i, it := range s.Live {
		switch it := it.(type) {
		case view.Reply:
			if i == 0 && k.stream != nil && k.id == it.ID {
				if lines := k.stream.Open(sh.inner(), rows); len(lines) > 0 {
					if lines = indent(lines); !k.started {
						lines = spaced(lines)
					}
					out = append(out, lines...)
				}
				continue
			}
			out = append(out, tail(indent(texts(style.Plain, last(it.Text, 2000), sh.inner())), rows)...)
		case view.Thought:
			lines := texts(style.Thought, last(it.Text, 1000), sh.inner())
			out = append(out, spaced(hang(tail(lines, 2), "✻ ", "  ", style.Dim))...)
		case view.Prompt, view.Call, view.Note, view.Command, view.Compaction, view.Ending:
		}
	}
	return tail(out, rows+1)
}

// last is the end of a text, from a line's start on where there is one.
func last(s string, most int) string {
	if len(s) <= most {
		return s
	}
	s = strings.ToValidUTF8(s[len(s)-most:], "")
	if _, after, ok := strings.Cut(s, "\n"); ok && after != "" {
		return after
	}
	return s
}

func tail(lines []style.Line, n int) []style.Line { return lines[max(0, len(lines)-n):] }

// calls are the lines of calls that have not ended, newest last.
func calls(s view.State, width int, now time.Time) []style.Line {
	sh := sheet{width: width}
	var out []style.Line
	for _, it := range s.Live {
		c, ok := it.(view.Call)
		if !ok {
			continue
		}
		out = append(out, sh.head(c, now))
		for _, t := range c.Within {
			out = append(out, style.Text(style.Dim, "  ⎿ "+plain.Line(firstLine(t))).Cut(width))
		}
		if c.Progress != "" {
			for _, l := range tail(texts(style.Dim, last(c.Progress, 2000), width-4), 3) {
				out = append(out, append(style.Line{{Text: "    "}}, l...))
			}
		}
	}
	if len(out) > callRows {
		n := len(out) - callRows
		out = append([]style.Line{style.Text(style.Dim, fmt.Sprintf("  … %d more", n))}, out[n:]...)
	}
	if len(out) > 0 {
		out = spaced(out)
	}
	return out
}

// status is the line that says how the run goes.
func (u *ui) status(s view.State, width int) []style.Line {
	if !s.Run.Busy && !u.busy {
		return nil
	}
	now := u.c.Now()
	word := "Working"
	if s.Run.Active != "" {
		word = plain.Line(s.Run.Active)
	}
	if s.Run.Waits != "" {
		word = plain.Line(s.Run.Waits)
	}
	var parts []string
	if s.Run.Busy {
		parts = append(parts, span(now.Sub(s.Run.Began)))
	}
	if n := s.Run.Tokens(); n > 0 {
		parts = append(parts, "↓ "+count(n))
	}
	if c := u.cost(); c > 0 {
		parts = append(parts, dollars(c))
	}
	parts = append(parts, "esc interrupts")
	l := style.Line{{Text: u.spinner() + " ", Role: style.Accent}, {Text: word + "… ", Role: style.Plain}, {Text: strings.Join(parts, " · "), Role: style.Dim}}
	return []style.Line{nil, l.Cut(width)}
}

// spinner turns once a second; it stands still where motion is not wanted.
func (u *ui) spinner() string {
	signs := []string{"◐", "◓", "◑", "◒"}
	if u.prefs.ReducedMotion {
		return "●"
	}
	return signs[int(u.c.Now().Unix())%len(signs)]
}

// todo is the to-do list, what is open first when it is long.
func todo(s view.State, width int, all bool) []style.Line {
	if len(s.Todo) == 0 {
		return nil
	}
	from, n := 0, len(s.Todo)
	if !all && n > todoRows {
		for from < n-todoRows && s.Todo[from].State == "completed" {
			from++
		}
		n = todoRows
	}
	out := []style.Line{nil}
	for _, it := range s.Todo[from:min(len(s.Todo), from+n)] {
		sign, role := "☐ ", style.Plain
		switch it.State {
		case "completed":
			sign, role = "✔ ", style.Dim
		case "in_progress":
			sign, role = "▸ ", style.Accent
		}
		out = append(out, style.Line{{Text: "  " + sign, Role: role}, {Text: plain.Line(firstLine(it.Text)), Role: role}}.Cut(width))
	}
	if rest := len(s.Todo) - from - n; rest > 0 || from > 0 {
		out = append(out, style.Text(style.Dim, fmt.Sprintf("  … %d of %d shown (ctrl+t)", min(n, len(s.Todo)-from), len(s.Todo))))
	}
	return out
}

// tasks are background commands and subagents that are at work.
func tasks(s view.State, width int) []style.Line {
	var out []style.Line
	for _, t := range s.Tasks {
		if t.Status != event.TaskRunning || t.Foreground {
			continue
		}
		text := t.Summary
		if t.Type != "" {
			text = t.Type + ": " + text
		}
		l := style.Line{{Text: "  ⧗ ", Role: style.Accent}, {Text: plain.Line(firstLine(text)), Role: style.Plain}}
		if t.LastTool != "" {
			l = append(l, style.Span{Text: "  " + plain.Line(t.LastTool), Role: style.Dim})
		}
		out = append(out, l.Cut(width))
	}
	if len(out) > taskRows {
		n := len(out) - taskRows
		out = append(out[:taskRows:taskRows], style.Text(style.Dim, fmt.Sprintf("  … %s more (/tasks)", plural(n, "task"))))
	}
	return out
}

// queue are the prompts that wait.
func (u *ui) queue(width int) []style.Line {
	var out []style.Line
	for _, q := range u.queued {
		out = append(out, style.Line{{Text: "  ⏎ ", Role: style.Dim}, {Text: plain.Line(firstLine(q.said.Shown)), Role: style.Dim}}.Cut(width))
	}
	if len(out) > queueRows {
		n := len(out) - queueRows
		out = append(out[:queueRows:queueRows], style.Text(style.Dim, fmt.Sprintf("    … %d more", n)))
	}
	if len(out) > 0 {
		out = append(out, style.Text(style.Dim, "    up takes them back").Cut(width))
	}
	return out
}

// compose puts the live region together; it is never higher than the window.
func (u *ui) compose() frame.Frame {
	s, _ := u.store.State()
	w, h := u.width, u.height
	bottom := u.bottom(w, max(3, h-1))
	room := h - 1 - len(bottom.Lines)
	var parts [][]style.Line
	if u.modal == nil || room > 6 {
		parts = append(parts, u.queue(w), tasks(s, w), todoOf(u, s, w), u.status(s, w), calls(s, w, u.c.Now()), u.sink.open(s, min(openRows, max(1, room-2))))
	}
	var above []style.Line
	for _, p := range parts { // nearest to the input first
		if len(p) <= room-len(above) {
			above = append(p[:len(p):len(p)], above...)
		}
	}
	return frame.Stack(frame.Frame{Lines: above}, bottom)
}

func todoOf(u *ui, s view.State, w int) []style.Line {
	if u.hideTodo || !s.Run.Busy && !u.busy && done(s) {
		return nil
	}
	return todo(s, w, false)
}

// done tells that the to-do list has nothing open.
func done(s view.State) bool {
	for _, it := range s.Todo {
		if it.State != "completed" {
			return false
		}
	}
	return true
}

// bottom is what has the keyboard, a dialog or the input, with the footer.
func (u *ui) bottom(w, h int) frame.Frame {
	rule := style.Text(style.Rule, strings.Repeat("─", w))
	if u.modal != nil {
		f := u.modal.widget.Draw(w, h-1)
		return frame.Stack(frame.Frame{Lines: []style.Line{rule}}, f)
	}
	top := frame.Frame{Lines: []style.Line{nil, rule}}
	if h < 8 {
		top.Lines = top.Lines[1:]
	}
	foot := u.footer(w, h)
	room := max(1, h-len(top.Lines)-len(foot))
	ed := u.ed.Draw(w, min(room, max(3, h/2)))
	out := frame.Stack(top, ed)
	out.Lines = append(out.Lines, foot...)
	return out
}

// footer is the mode at the left, hints and what fills the window at the right,
// and under it the person's own status line.
func (u *ui) footer(w, h int) []style.Line {
	left := u.modeSpan()
	hint := u.hint
	if hint == "" {
		hint = "? for help"
		if w < 60 {
			hint = ""
		}
	}
	l := style.Line{{Text: "  "}, left, {Text: "  " + hint, Role: style.Dim}}
	if m := u.ed.Mode(); m != "" {
		l = append(style.Line{{Text: "  " + plain.Line(m), Role: style.Accent}}, l...)
	}
	right := u.windowSpan()
	if gap := w - l.Width() - style.Width(right) - 2; right != "" && gap > 0 {
		l = append(l, style.Span{Text: strings.Repeat(" ", gap) + right, Role: style.Dim})
	}
	out := []style.Line{l.Cut(w)}
	if h >= 8 {
		out = append([]style.Line{style.Text(style.Rule, strings.Repeat("─", w))}, out...)
	}
	return append(out, u.statusLine(w)...)
}

// modeSpan names the permission mode, in the colour of what it allows.
func (u *ui) modeSpan() style.Span {
	switch m := u.mode(); m {
	case "default", "":
		return style.Span{Text: "asks before it acts", Role: style.Dim}
	case "acceptEdits":
		return style.Span{Text: "⏵⏵ accepts edits", Role: style.ModeEdit}
	case "plan":
		return style.Span{Text: "⏸ plan mode", Role: style.ModePlan}
	case "bypassPermissions":
		return style.Span{Text: "⏵⏵ bypasses permissions", Role: style.ModeFree}
	case "auto":
		return style.Span{Text: "⏵⏵ auto mode", Role: style.ModeFree}
	default:
		return style.Span{Text: m, Role: style.Dim}
	}
}

// windowSpan says which model works and how full its window is.
func (u *ui) windowSpan() string {
	if u.live == nil {
		return "starting"
	}
	m := u.live.Engine.Model()
	text := plain.Line(m.ID)
	s, _ := u.store.State()
	if s.Window > 0 && m.Window > 0 {
		text += fmt.Sprintf(" · %d%%", s.Window*100/m.Window)
	}
	return text
}
