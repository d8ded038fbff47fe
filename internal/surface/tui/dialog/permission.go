package dialog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/input"
	"github.com/hew-agent/hew/internal/surface/tui/style"
	"github.com/hew-agent/hew/internal/tool"
)

// The answers of a permission request.
const (
	yesOnce    = "once"
	yesSession = "session"
	yesAlways  = "always"
	noInstead  = "instead"
	noStop     = "stop"
)

// Permission asks whether a call may run. What will run is shown exactly and
// whole; agreeing is possible once its end was on the screen.
type Permission struct {
	// Agent names a subagent by its id. Optional.
	Agent func(id string) string

	asking
	q      event.Question
	grants []event.Suggestion // as they would be taken up, edited
	answer event.Answer
}

// NewPermission makes the dialog of a question.
func NewPermission(q event.Question, o Options) *Permission {
	p := &Permission{q: q, grants: cloned(q.Suggestions)}
	p.asking = asking{
		guard: newGuard(o), page: page{draw: p.text}, head: p.title, foot: p.hints, pick: func(i int) { p.choose(p.choice.opts[i].id, "") },
		leave: func() { p.end(event.Answer{Behavior: tool.Deny, Interrupt: true}) }, press: p.extra, before: p.block,
	}
	opts := []option{{id: yesOnce, label: "Yes"}}
	if len(p.grants) > 0 {
		opts = append(opts, option{id: yesSession, label: p.sessionLabel(), notes: p.notes(true)})
	}
	if slices.ContainsFunc(p.grants, lasting) {
		opts = append(opts, option{id: yesAlways, label: "Yes, always", notes: p.notes(false)})
	}
	p.choice.opts = append(opts, option{id: noInstead, label: "No, do this instead …"}, option{id: noStop, label: "No, stop (esc)"})
	return p
}

func cloned(in []event.Suggestion) []event.Suggestion {
	out := slices.Clone(in)
	for i := range out {
		out[i].Rules = slices.Clone(out[i].Rules)
	}
	return out
}

// lasting tells of a grant that is written to a file.
func lasting(s event.Suggestion) bool {
	return s.Destination != "session" && s.Destination != "cliArg" && s.Type != "setMode"
}

func (p *Permission) sessionLabel() string {
	if p.mode() != "" {
		return "Yes, and go on in this session without asking (shift+tab)"
	}
	return "Yes, for this session"
}

// mode is the permission mode that the grants would set, "" for none.
func (p *Permission) mode() string {
	for _, s := range p.grants {
		if s.Type == "setMode" {
			return s.Mode
		}
	}
	return ""
}

// notes say what an answer grants, each grant whole.
func (p *Permission) notes(session bool) func(width int) []style.Line {
	return func(width int) []style.Line {
		var out []style.Line
		for _, s := range p.grants {
			where := place(s.Destination)
			if session {
				where = place("session")
			}
			for _, g := range granted(s) {
				lines := exact(g, "", style.Accent, width)
				last := len(lines) - 1
				tail := style.Span{Text: "  " + where, Role: style.Dim}
				if lines[last].Width()+style.Width(tail.Text) <= width {
					lines[last] = append(lines[last], tail)
				} else {
					lines = append(lines, style.Text(style.Dim, tail.Text))
				}
				out = append(out, lines...)
			}
		}
		return out
	}
}

// granted are the single grants of a suggestion, in words.
func granted(s event.Suggestion) []string {
	var out []string
	for _, r := range s.Rules {
		out = append(out, ruleText(r))
	}
	for _, d := range s.Directories {
		out = append(out, "folder "+d)
	}
	if s.Mode != "" {
		out = append(out, "mode "+s.Mode)
	}
	return out
}

func ruleText(r event.Rule) string {
	if r.Content == "" {
		return r.Tool
	}
	return r.Tool + "(" + r.Content + ")"
}

// place says where a grant is kept.
func place(destination string) string {
	switch destination {
	case "session":
		return "until this session ends"
	case "localSettings":
		return "in .claude/settings.local.json"
	case "projectSettings":
		return "in .claude/settings.json, shared with the project"
	case "userSettings":
		return "in ~/.claude/settings.json, for all projects"
	}
	return destination
}

// Answer is the answer, once Done.
func (p *Permission) Answer() event.Answer { return p.answer }

// extra has the keys that only this dialog knows.
func (p *Permission) extra(ev input.Press, again bool) bool {
	switch ev.Key {
	case "tab":
		p.amend()
	case "shift+tab":
		if i := p.option(yesSession); i >= 0 && p.mode() != "" && !again {
			p.jump(i)
		}
	case "left", "right":
		if p.choice.opts[p.choice.at].id != yesAlways {
			return false
		}
		p.elsewhere(ev.Key == "right")
	case "ctrl+e":
		p.pager = &Pager{Title: "Why this is asked", Lines: p.trace}
	default:
		return false
	}
	return true
}

// elsewhere names the next file, or the one before, for what is granted for good.
func (p *Permission) elsewhere(next bool) {
	files := []string{"localSettings", "projectSettings", "userSettings"}
	by := len(files) - 1
	if next {
		by = 1
	}
	for i := range p.grants {
		if g := &p.grants[i]; lasting(*g) {
			g.Destination = files[(max(0, slices.Index(files, g.Destination))+by)%len(files)]
		}
	}
}

func (p *Permission) option(id string) int {
	return slices.IndexFunc(p.choice.opts, func(o option) bool { return o.id == id })
}

func (p *Permission) choose(id, words string) {
	switch id {
	case yesOnce:
		p.end(event.Answer{Behavior: tool.Allow, Message: words})
	case yesSession:
		us := cloned(p.grants)
		for i := range us {
			us[i].Destination = "session"
		}
		p.end(event.Answer{Behavior: tool.Allow, Message: words, Updates: us})
	case yesAlways:
		p.end(event.Answer{Behavior: tool.Allow, Message: words, Updates: cloned(p.grants)})
	case noInstead:
		if words == "" {
			p.comment(noInstead)
			return
		}
		p.end(event.Answer{Behavior: tool.Deny, Message: words})
	case noStop:
		p.end(event.Answer{Behavior: tool.Deny, Message: words, Interrupt: words == ""})
	}
}

func (p *Permission) end(a event.Answer) { p.answer, p.done = a, true }

// amend opens the text that goes with the chosen answer: the rules of a lasting
// one, else a comment.
func (p *Permission) amend() {
	o := p.choice.opts[p.choice.at]
	switch {
	case o.blocked:
	case o.id == yesAlways:
		p.edit(0)
	default:
		p.comment(o.id)
	}
}

// comment asks for the words that go to the model with an answer.
func (p *Permission) comment(id string) {
	what := "Say this with the result"
	if id == noInstead || id == noStop {
		what = "What should be done instead?"
	}
	p.write(Field{Label: what}, func(text string) {
		if text = strings.TrimSpace(text); text != "" || id != noInstead {
			p.choose(id, text)
		}
	})
}

// edit lets the person change the n-th lasting rule, then those after it.
func (p *Permission) edit(n int) {
	seen := 0
	for i := range p.grants {
		if !lasting(p.grants[i]) {
			continue
		}
		for j := range p.grants[i].Rules {
			r := &p.grants[i].Rules[j]
			if seen++; seen <= n {
				continue
			}
			label := fmt.Sprintf("The rule that is written %s", place(p.grants[i].Destination))
			p.write(Field{Label: label, Value: ruleText(*r), Check: func(v string) string { return badRule(r.Tool, v) }}, func(text string) {
				*r = readRule(text)
				p.edit(n + 1)
			})
			return
		}
	}
}

// badRule says what is wrong with an edited rule: it must stay one of the same tool.
func badRule(name, text string) string {
	r := readRule(text)
	switch {
	case r.Tool != name:
		return "the rule must begin with " + name
	case strings.Contains(text, "(") && (!strings.HasSuffix(strings.TrimSpace(text), ")") || r.Content == ""):
		return "a rule has the form " + name + "(…)"
	}
	return ""
}

func readRule(text string) event.Rule {
	name, rest, ok := strings.Cut(strings.TrimSpace(text), "(")
	if !ok {
		return event.Rule{Tool: name}
	}
	return event.Rule{Tool: name, Content: strings.TrimSuffix(rest, ")")}
}

var _ frame.Widget = (*Permission)(nil)
