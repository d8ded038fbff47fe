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

// The rows under a question that are no options of the model.
const (
	ownWords  = "own"
	talkFirst = "talk"
	sendAll   = "send"
)

// ofModel is one question as the model wrote it.
type ofModel struct {
	Question string `json:"question"`
	Header   string `json:"header"`
	Options  []struct {
		Label       string `json:"label"`
		Description string `json:"description"`
		Preview     string `json:"preview"`
	} `json:"options"`
	MultiSelect bool `json:"multiSelect"`

	picked []bool
	own    string // the person's own words, with options or without
}

// Questions puts the model's own questions, one a tab, and sends the answers
// once the person has seen them together.
type Questions struct {
	asking
	q      event.Question
	items  []ofModel
	at     int // len(items) is the review
	answer event.Answer
}

// NewQuestions makes the dialog of the questions in a call's input.
func NewQuestions(q event.Question, o Options) *Questions {
	d := &Questions{q: q}
	var in struct {
		Questions []ofModel `json:"questions"`
	}
	if q.Use == nil || json.Unmarshal(q.Use.Input, &in) != nil {
		in.Questions = nil // the review says that there is nothing to answer
	}
	d.items = in.Questions
	for i := range d.items {
		d.items[i].picked = make([]bool, len(d.items[i].Options))
	}
	d.asking = asking{
		guard: newGuard(o), head: d.tabs, foot: d.hints, pick: d.chosen, press: d.extra,
		leave: func() { d.end(event.Answer{Behavior: tool.Deny, Interrupt: true}) },
	}
	d.open(0)
	return d
}

// Answer is the answer, once Done: the call's input with the chosen labels by
// the questions' texts, or the wish to talk.
func (d *Questions) Answer() event.Answer { return d.answer }

func (d *Questions) end(a event.Answer) { d.answer, d.done = a, true }

// open shows a question, or the review.
func (d *Questions) open(i int) {
	d.at = max(0, min(i, len(d.items)))
	d.choice = choice{}
	if d.at == len(d.items) {
		d.page = page{draw: d.review}
		d.choice.opts = []option{{id: sendAll, label: "Send the answers"}, {id: talkFirst, label: "Talk about this first …"}}
		return
	}
	q := &d.items[d.at]
	d.page = page{draw: func(width int) ([]style.Line, int) { return paragraph(style.Bold, q.Question, width), 0 }}
	for n, o := range q.Options {
		d.choice.opts = append(d.choice.opts, option{label: label(o.Label, 200), notes: func(width int) []style.Line {
			out := paragraph(style.Dim, o.Description, width)
			if o.Preview != "" && n == d.choice.at {
				out = append(out, indented(markdown.Render(o.Preview, max(1, width-2)), 2)...)
			}
			return out
		}})
		if q.picked[n] && !q.MultiSelect {
			d.choice.at = n
		}
	}
	d.choice.opts = append(d.choice.opts, option{id: ownWords, label: "Something else …"}, option{id: talkFirst, label: "Talk about this first …"})
	d.marks()
}

// marks shows what is picked.
func (d *Questions) marks() {
	q := &d.items[d.at]
	for n := range q.Options {
		d.choice.opts[n].mark = ""
		switch {
		case q.MultiSelect && q.picked[n]:
			d.choice.opts[n].mark = "☑ "
		case q.MultiSelect:
			d.choice.opts[n].mark = "☐ "
		case q.picked[n]:
			d.choice.opts[n].mark = "✓ "
		}
	}
	if own := &d.choice.opts[len(q.Options)]; q.own != "" {
		own.label = "Something else: " + label(q.own, 200)
	}
}

// chosen takes the n-th row of the question, or of the review.
func (d *Questions) chosen(n int) {
	switch d.choice.opts[n].id {
	case ownWords:
		d.write(Field{Label: "Your answer", Value: d.items[d.at].own}, func(text string) {
			q := &d.items[d.at]
			q.own = strings.TrimSpace(text)
			if !q.MultiSelect && q.own != "" {
				clear(q.picked)
			}
			d.marks()
			if q.own != "" {
				d.next()
			}
		})
	case talkFirst:
		d.write(Field{Label: "What is there to talk about? (may stay empty)"}, d.talk)
	case sendAll:
		d.send()
	default:
		q := &d.items[d.at]
		if q.MultiSelect {
			q.picked[n] = !q.picked[n]
			d.marks()
			return
		}
		clear(q.picked)
		q.picked[n], q.own = true, ""
		d.marks()
		d.next()
	}
}

// next goes to the next question; a single question is answered at once, several
// are looked at together first.
func (d *Questions) next() {
	if len(d.items) == 1 {
		d.send()
		return
	}
	d.open(d.at + 1)
}

// extra has the keys of the tabs and of boxes.
func (d *Questions) extra(ev input.Press, again bool) bool {
	many := d.at < len(d.items) && d.items[d.at].MultiSelect
	option := many && d.choice.at < len(d.items[d.at].Options)
	switch ev.Key {
	case "left", "shift+tab", "h":
		d.open(d.at - 1)
	case "right", "tab", "l":
		d.open(d.at + 1)
	case "space", " ", "x":
		if !option {
			return false
		}
		d.chosen(d.choice.at)
	case "enter":
		if !option {
			return false
		}
		if !again {
			d.next()
		}
	default:
		return false
	}
	return true
}

// given is what the person answers to a question, "" for nothing.
func (q *ofModel) given() string {
	var out []string
	for i, o := range q.Options {
		if q.picked[i] {
			out = append(out, o.Label)
		}
	}
	if q.own != "" {
		out = append(out, q.own)
	}
	return strings.Join(out, ", ")
}

func (d *Questions) send() {
	answers := map[string]string{}
	for i := range d.items {
		if a := d.items[i].given(); a != "" {
			answers[d.items[i].Question] = a
		}
	}
	fields := map[string]json.RawMessage{}
	if d.q.Use != nil && json.Unmarshal(d.q.Use.Input, &fields) != nil {
		fields = map[string]json.RawMessage{}
	}
	fields["answers"] = msg.Encode(answers)
	d.end(event.Answer{Behavior: tool.Allow, Input: msg.Encode(fields)})
}

// talk refuses the call so that the model hears why, and what was answered so far.
func (d *Questions) talk(words string) {
	var text strings.Builder
	text.WriteString("The user wants to talk about this before answering.")
	if words = strings.TrimSpace(words); words != "" {
		text.WriteString(" They say: " + words)
	} else {
		text.WriteString(" Ask what is unclear to them.")
	}
	for i := range d.items {
		if a := d.items[i].given(); a != "" {
			text.WriteString("\nSo far: " + d.items[i].Question + " " + a)
		}
	}
	d.end(event.Answer{Behavior: tool.Deny, Message: text.String()})
}

// tabs is the line of the questions' headers, scrolled to the one that is shown.
func (d *Questions) tabs(width int) style.Line {
	var names []string
	for i := range d.items {
		box := "☐ "
		if d.items[i].given() != "" {
			box = "☑ "
		}
		name := d.items[i].Header
		if name == "" {
			name = "Question"
		}
		names = append(names, box+label(name, 20))
	}
	if len(d.items) != 1 {
		names = append(names, "Review")
	}
	return TabLine(names, d.at, width)
}

func (d *Questions) review(width int) ([]style.Line, int) {
	if len(d.items) == 0 {
		return paragraph(style.Failure, "The questions cannot be read; nothing will be answered.", width), 0
	}
	var out []style.Line
	for i := range d.items {
		out = append(out, paragraph(style.Dim, d.items[i].Question, width)...)
		text, role := d.items[i].given(), style.Accent
		if text == "" {
			text, role = "no answer", style.Warning
		}
		out = append(out, indented(paragraph(role, text, max(1, width-2)), 2)...)
	}
	return out, 0
}

func (d *Questions) hints() []string {
	keys := []string{"enter takes it"}
	if d.at < len(d.items) && d.items[d.at].MultiSelect {
		keys = []string{"space ticks", "enter goes on"}
	}
	if len(d.items) > 1 {
		keys = append(keys, "←→ other questions")
	}
	return append(keys, "esc stops")
}

var _ frame.Widget = (*Questions)(nil)
