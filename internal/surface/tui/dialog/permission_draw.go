package dialog

import (
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/surface/tui/style"
	"github.com/hew-agent/hew/internal/tool"
)

// text draws what the question is about, why it is asked, and what granting it
// for longer would leave open.
func (p *Permission) text(width int) (lines []style.Line, about int) {
	view := p.q.Preview
	if empty(view) && p.q.Use != nil {
		lines = object(p.q.Use.Input, width)
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

// block says which answers cannot be given yet: those that agree to what was not
// on the screen. What is granted for longer comes with all that is said of it.
func (p *Permission) block(width, height int) {
	for i := range p.choice.opts {
		o := &p.choice.opts[i]
		if o.id == noInstead || o.id == noStop {
			continue
		}
		o.blocked, o.why = !p.page.body || o.id != yesOnce && !p.page.end, ""
		if o.notes != nil && len(p.choice.full(i, width)) > max(2, height-3) {
			o.blocked, o.why = true, "grants more than this window can show"
		}
	}
}

// hints names the keys that work now.
func (p *Permission) hints() []string {
	if p.choice.opts[p.choice.at].id == yesAlways {
		return []string{"enter takes it", "tab edits the rule", "←→ another file", "ctrl+e explains", "esc stops"}
	}
	return []string{"enter takes it", "tab comments", "ctrl+e explains", "esc stops"}
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
