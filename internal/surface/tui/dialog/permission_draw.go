package dialog

import (
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/style"
	"github.com/hew-agent/hew/internal/tool"
)

// text draws what the question is about, why it is asked, and what granting it
// for longer would leave open.
func (p *Permission) text(width int) (lines []style.Line, about int) {
	view := p.q.Preview
	if empty(view) && p.q.Use != nil {
		lines = object(p.q.Use.Input, width)
	} else if d, ok := view.(tool.DiffView); ok && p.Views != nil {
		lines = p.Views(d, width)
	} else {
		lines = show(view, p.q.Part, width)
	}
	about = len(lines)
	if n := runs(lines); n > 0 {
		lines = append(lines, style.Wrap(style.Text(style.Warning, "! "+count(n, "long run")+" of blanks inside, shown as ⟨…⟩"), width)...)
	}
	lines = append(lines, nil)
	why := p.q.Decision.Reason
	if p.q.Part != "" && !strings.Contains(why, p.q.Part) {
		why += " (" + p.q.Part + ")"
	}
	if why != "" {
		lines = append(lines, paragraph(style.Dim, "Asked because "+why+p.rule(), width)...)
	}
	if p.q.Risk != "" {
		lines = append(lines, paragraph(style.Warning, "Before this is allowed for longer: "+p.q.Risk, width)...)
	}
	if lines[len(lines)-1] == nil {
		lines = lines[:len(lines)-1]
	}
	return lines, about
}

// rule names the rule that decided and where it stands.
func (p *Permission) rule() string {
	d := p.q.Decision
	if d.Rule == "" {
		return ""
	}
	if d.File == "" {
		return " — rule " + d.Rule
	}
	return " — rule " + d.Rule + " in " + d.File
}

// runs counts the blanks that are shown as a number.
func runs(lines []style.Line) int {
	n := 0
	for _, l := range lines {
		for _, s := range l {
			if s.Role == style.Warning && strings.HasPrefix(s.Text, "⟨") && strings.HasSuffix(s.Text, "⟩") {
				n++
			}
		}
	}
	return n
}

// title names the tool's act, and the subagent that wants it.
func (p *Permission) title(width int) style.Line {
	text := p.q.Title
	if text == "" {
		text = p.q.Tool
	}
	l := style.Line{{Text: " "}}
	if a := p.q.Origin.Agent; a != "" {
		name := a
		if p.Agent != nil {
			name = p.Agent(a)
		}
		l = append(l, style.Span{Text: "Agent " + label(name, width/3) + ": ", Role: style.Accent})
	}
	return append(l, style.Span{Text: label(text, width), Role: style.Heading}).Cut(width)
}

// Draw fits the question into the cells: all answers where they have room, what
// will run above them.
func (p *Permission) Draw(width, height int) frame.Frame {
	p.guard.shown(p.guard.o.Now())
	if p.explain != nil {
		return fit(p.explain.Draw(width, height), width, height)
	}
	p.page.fill(max(1, width-2))
	lines := []style.Line{p.title(width)}
	if p.field != nil {
		return p.drawField(lines, width, height)
	}
	p.block(width, height)
	room := max(1, height-2)
	list := p.share(width, room)
	body := p.page.view(max(1, room-list))
	if p.block(width, height); p.page.more() > 0 && !p.page.body && len(body) > 1 {
		body[len(body)-1] = style.Text(style.Warning, body[len(body)-1].String()+", to be read first").Cut(p.page.width)
	}
	lines = append(lines, indented(body, 2)...)
	if len(lines)+list+2 <= height {
		lines = append(lines, nil)
	}
	p.optRow = len(lines)
	lines = append(lines, p.choice.view(width, list)...)
	lines = append(lines, p.foot(width))
	return fit(frame.Frame{Lines: lines}, width, height)
}

// share is how many of the lines the answers take. Where not all fits, the text
// keeps three lines, or half of them.
func (p *Permission) share(width, room int) int {
	all, few := p.choice.rooms(width)
	text := len(p.page.lines)
	if all+text <= room {
		return all
	}
	text = min(text, max(3, room-all))
	if room-text >= all {
		return all
	}
	return max(min(few, max(room-text, room/2)), 1)
}

// block says which answers cannot be given yet: those that agree to what was not
// on the screen. What is granted for longer comes with all that is said of it.
func (p *Permission) block(width, height int) {
	for i := range p.choice.opts {
		o := &p.choice.opts[i]
		if o.id == noInstead || o.id == noStop {
			continue
		}
		o.blocked, o.why = !p.page.body || o.id != yesOnce && !p.page.end, ""
		if o.notes != nil && len(o.notes(width-6)) > max(2, height-5) {
			o.blocked, o.why = true, "grants more than this window can show"
		}
	}
}

func (p *Permission) drawField(lines []style.Line, width, height int) frame.Frame {
	fh := min(3, max(2, height-3))
	body := p.page.view(max(1, height-1-fh))
	top := frame.Frame{Lines: append(lines, indented(body, 2)...)}
	return fit(frame.Stack(top, p.field.Draw(width, fh)), width, height)
}

// foot names the keys that work now.
func (p *Permission) foot(width int) style.Line {
	if !p.guard.open() {
		return style.Text(style.Dim, " …")
	}
	keys := []string{"enter takes it"}
	if p.page.more() > 0 || p.page.top > 0 {
		keys = append([]string{"pgdn reads on"}, keys...)
	}
	if p.choice.opts[p.choice.at].id == yesAlways {
		keys = append(keys, "tab edits the rule")
	} else {
		keys = append(keys, "tab comments")
	}
	return hints(append(keys, "ctrl+e explains", "esc stops"), width)
}

// hints is a footer: as many keys as fit, the last of them always.
func hints(keys []string, width int) style.Line {
	for len(keys) > 2 && style.Width(" "+strings.Join(keys, " · ")) > width {
		keys = append(keys[:len(keys)-2:len(keys)-2], keys[len(keys)-1])
	}
	return style.Text(style.Dim, " "+strings.Join(keys, " · ")).Cut(width)
}

// trace draws the whole decision, step by step, and the call as it was sent.
func (p *Permission) trace(width int) []style.Line {
	d := p.q.Decision
	lines := paragraph(style.Plain, d.Reason, width)
	lines = append(lines, nil, style.Text(style.Heading, "How it was decided"))
	for _, s := range d.Trace {
		l := style.Line{{Text: fmt.Sprintf("%-10s ", label(s.Name, 20)), Role: style.Dim}, {Text: label(s.Outcome, width)}}
		lines = append(lines, style.Wrap(l, width)...)
		for _, t := range []string{s.Detail, s.Rule, s.File} {
			if t != "" {
				lines = append(lines, indented(exact(t, "", style.Dim, width-4), 4)...)
			}
		}
	}
	if p.q.Use != nil {
		lines = append(lines, nil, style.Text(style.Heading, "The call as it was sent: "+label(p.q.Use.Name, width)))
		lines = append(lines, object(p.q.Use.Input, width)...)
	}
	return lines
}

// empty tells that a tool shows nothing of its call.
func empty(v tool.View) bool {
	switch v := v.(type) {
	case tool.TextView:
		return v.Text == ""
	case tool.TerminalView:
		return v.Command == ""
	case tool.DiffView, tool.ListView, tool.TableView, tool.NestedView:
		return false
	}
	return true
}
