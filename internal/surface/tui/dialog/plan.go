package dialog

import (
	"encoding/json"
	"strings"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/input"
	"github.com/hew-agent/hew/internal/surface/tui/markdown"
	"github.com/hew-agent/hew/internal/surface/tui/style"
	"github.com/hew-agent/hew/internal/tool"
)

// Plan asks whether a plan is to be carried out, and how.
type Plan struct {
	asking
	q      event.Question
	text   string
	edited bool
	wants  bool
	answer event.Answer
}

// NewPlan makes the dialog of a plan. Its first answer lets edits run unasked.
func NewPlan(q event.Question, o Options) *Plan {
	p := &Plan{q: q}
	if v, ok := q.Preview.(tool.TextView); ok {
		p.text = v.Text
	}
	p.asking = asking{
		guard: newGuard(o), head: heading("The plan is ready. Carry it out?"), pick: p.chosen, press: p.extra,
		page:  page{draw: func(width int) ([]style.Line, int) { return markdown.Render(p.text, width), 0 }},
		leave: func() { p.end(event.Answer{Behavior: tool.Deny, Interrupt: true}) },
		foot:  func() []string { return []string{"enter takes it", "ctrl+g edits the plan", "esc stops"} },
	}
	p.choice.opts = []option{
		{id: "acceptEdits", label: "Yes, and accept edits"},
		{id: "default", label: "Yes, and ask before edits"},
		{id: noInstead, label: "No, keep planning …"},
	}
	return p
}

// Answer is the answer, once Done. An edited plan is in its Input.
func (p *Plan) Answer() event.Answer { return p.answer }

// Wants tells, once, that the person wants to edit the plan outside, and gives it.
func (p *Plan) Wants() (plan string, wants bool) {
	wants, p.wants = p.wants, false
	return p.text, wants
}

// Edited takes the plan as it came back from outside; err says why it did not.
func (p *Plan) Edited(plan string, err error) {
	switch {
	case err != nil:
		p.head = heading("The plan could not be edited: " + err.Error())
	case strings.TrimSpace(plan) == strings.TrimSpace(p.text):
		p.head = heading("The plan is as it was. Carry it out?")
	default:
		p.head = heading("You changed the plan. Carry it out?")
		p.text, p.edited = plan, true
		p.page.width = 0
	}
}

func (p *Plan) end(a event.Answer) { p.answer, p.done = a, true }

func (p *Plan) chosen(i int) {
	id := p.choice.opts[i].id
	if id == noInstead {
		p.write(Field{Label: "What is missing in the plan?"}, func(text string) {
			text = strings.TrimSpace(text)
			p.end(event.Answer{Behavior: tool.Deny, Message: text, Interrupt: text == ""})
		})
		return
	}
	a := event.Answer{Behavior: tool.Allow, Updates: []event.Suggestion{{Type: "setMode", Mode: id, Destination: "session"}}}
	if p.edited {
		fields := map[string]json.RawMessage{}
		if p.q.Use != nil && json.Unmarshal(p.q.Use.Input, &fields) != nil {
			fields = map[string]json.RawMessage{}
		}
		fields["plan"] = msg.Encode(p.text)
		a.Input = msg.Encode(fields)
	}
	p.end(a)
}

func (p *Plan) extra(ev input.Press, again bool) bool {
	switch ev.Key {
	case "ctrl+g":
		p.wants = p.wants || !again
	case "shift+tab":
		if !again {
			p.take(0)
		}
	default:
		return false
	}
	return true
}

var _ frame.Widget = (*Plan)(nil)
