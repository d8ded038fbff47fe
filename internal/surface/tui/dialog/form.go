package dialog

import (
	"strings"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/input"
	"github.com/hew-agent/hew/internal/surface/tui/style"
)

// The rows under the values of a form.
const (
	formSend = "send"
	formDeny = "decline"
)

// Form asks for what an MCP server wants to know, or for a visit to an address.
// It always says which server asks.
type Form struct {
	asking
	f       event.Form
	entries []*entry
	faults  map[int]string
	sub     int // the choice at the cursor of an entry with several
	answer  event.FormAnswer
}

// NewForm makes the dialog of a form. One whose schema cannot be read can only
// be declined.
func NewForm(f event.Form, o Options) *Form {
	d := &Form{f: f}
	d.asking = asking{
		guard: newGuard(o), head: heading(f.Server + " asks"), page: page{draw: d.text}, pick: d.chosen, press: d.extra,
		leave: func() { d.end("cancel", nil) }, foot: d.hints,
	}
	if f.Mode == "url" {
		d.choice.opts = []option{{id: formSend, label: "Yes, I visit this address"}, {id: formDeny, label: "No"}}
		d.before = func(int, int) { d.choice.opts[0].blocked = !d.page.body }
		return d
	}
	entries, err := readSchema(f.Schema)
	if err != nil {
		d.head = heading(f.Server + " asks something that hew cannot show: " + err.Error())
		d.choice.opts = []option{{id: formDeny, label: "Decline"}}
		return d
	}
	d.entries = entries
	for range entries {
		d.choice.opts = append(d.choice.opts, option{})
	}
	d.choice.opts = append(d.choice.opts, option{id: formSend, label: "Send"}, option{id: formDeny, label: "Decline"})
	d.choice.plain, d.tabs = true, true
	d.before = func(int, int) { d.labels() }
	return d
}

// Answer is the answer, once Done. Accepting an address means that the person goes there.
func (d *Form) Answer() event.FormAnswer { return d.answer }

func (d *Form) end(action string, content map[string]any) {
	d.answer, d.done = event.FormAnswer{Action: action}, true
	if content != nil {
		d.answer.Content = msg.Encode(content)
	}
}

func (d *Form) text(width int) (lines []style.Line, about int) {
	lines = paragraph(style.Plain, d.f.Message, width)
	if d.f.Mode == "url" {
		lines = append(lines, nil)
		for _, l := range exact(d.f.URL, "", style.Link, width) {
			for i := range l {
				if signs(d.f.URL) == d.f.URL {
					l[i].Link = d.f.URL // what hides something is not to be clicked
				}
			}
			lines = append(lines, l)
		}
		about = len(lines)
		return append(lines, paragraph(style.Dim, "hew opens no browser: go there yourself.", width)...), about
	}
	return lines, 0
}

// labels writes the values into the rows.
func (d *Form) labels() {
	for i, e := range d.entries {
		o := &d.choice.opts[i]
		o.label, o.why = label(e.title, 40)+": "+d.shown(i), d.faults[i]
		if e.required {
			o.label = label(e.title, 40) + "*: " + d.shown(i)
		}
		o.notes = func(width int) []style.Line {
			if i != d.choice.at || e.about == "" {
				return nil
			}
			return paragraph(style.Dim, e.about, width)
		}
	}
}

// shown is the value of an entry as it stands in its row.
func (d *Form) shown(i int) string {
	e := d.entries[i]
	switch e.kind {
	case "boolean":
		switch {
		case e.text == "true":
			return "yes"
		case e.given():
			return "no"
		}
		return "–"
	case "enum", "many":
		var out []string
		for n, name := range e.names {
			box := ""
			if e.kind == "many" {
				box = "☐ "
			}
			if e.picked[n] {
				box = map[string]string{"many": "☑ ", "enum": "● "}[e.kind]
			}
			if i == d.choice.at && n == d.sub {
				box = "‹" + box
				name += "›"
			}
			out = append(out, box+label(name, 40))
		}
		return strings.Join(out, "  ")
	}
	return label(e.text, 200)
}

// extra edits the value at the cursor.
func (d *Form) extra(ev input.Press, again bool) bool {
	switch ev.Key {
	case "tab", "down":
		if ev.Key == "down" && d.page.more() > 0 {
			return false
		}
		d.choice.step(1)
		d.sub = 0
		return true
	case "shift+tab", "up":
		if d.choice.at == 0 {
			return false
		}
		d.choice.step(-1)
		d.sub = 0
		return true
	}
	if d.choice.at >= len(d.entries) {
		return false
	}
	e := d.entries[d.choice.at]
	switch {
	case ev.Key == "enter" && e.kind == "many":
		if !again {
			d.step()
		}
	case ev.Key == "left" || ev.Key == "right" || ev.Key == "space" || ev.Key == " ":
		if e.typed() {
			return ev.Text != "" && d.begin(ev)
		}
		d.turn(e, ev.Key)
	case ev.Text != "" && e.typed():
		return d.begin(ev)
	case ev.Key == "backspace" && e.typed():
		e.text = ""
	default:
		return false
	}
	return true
}

// begin starts to write a value with a first key.
func (d *Form) begin(ev input.Press) bool {
	d.edit()
	d.field.Handle(ev)
	return true
}

// turn changes a value that is chosen. The rows of a choice are walked through
// with the arrows; of several, space ticks the one at the cursor.
func (d *Form) turn(e *entry, key string) {
	delete(d.faults, d.choice.at)
	e.touched = true
	if e.kind == "boolean" {
		if e.text == "true" {
			e.text = "false"
		} else {
			e.text = "true"
		}
		return
	}
	if len(e.values) == 0 {
		return
	}
	switch key {
	case "left":
		d.sub = (d.sub + len(e.values) - 1) % len(e.values)
	case "right":
		d.sub = (d.sub + 1) % len(e.values)
	default:
		was := e.picked[d.sub]
		if e.kind == "enum" {
			clear(e.picked)
		}
		e.picked[d.sub] = !was
	}
}

// edit opens the value at the cursor.
func (d *Form) edit() {
	i := d.choice.at
	e := d.entries[i]
	what := e.title
	if e.about != "" {
		what += " – " + e.about
	}
	check := func(v string) string {
		probe := *e
		probe.text = v
		return probe.fault()
	}
	d.write(Field{Label: label(what, 200), Value: e.text, Check: check}, func(text string) {
		e.text, e.touched = text, true
		delete(d.faults, i)
		d.step()
	})
}

// step goes to the next row.
func (d *Form) step() {
	d.choice.step(1)
	d.sub = 0
}

// chosen takes a row: it edits or ticks a value, sends the form or declines it.
func (d *Form) chosen(i int) {
	switch d.choice.opts[i].id {
	case formSend:
		d.send()
	case formDeny:
		d.end("decline", nil)
	default:
		if e := d.entries[i]; e.typed() {
			d.edit()
		} else {
			if e.kind == "enum" {
				clear(e.picked)
			}
			d.turn(e, "space")
			if e.kind == "enum" {
				d.step()
			}
		}
	}
}

// send ends the form, or goes to the first value that is wrong.
func (d *Form) send() {
	if d.f.Mode == "url" {
		d.end("accept", nil)
		return
	}
	d.faults = map[int]string{}
	content := map[string]any{}
	for i := len(d.entries) - 1; i >= 0; i-- {
		e := d.entries[i]
		if f := e.fault(); f != "" {
			d.faults[i], d.choice.at, d.sub = f, i, 0
		} else if e.given() {
			content[e.name] = e.value()
		}
	}
	if len(d.faults) == 0 {
		d.end("accept", content)
	}
}

func (d *Form) hints() []string {
	if d.choice.at >= len(d.entries) {
		return []string{"enter takes it", "↑↓ move", "esc cancels"}
	}
	switch e := d.entries[d.choice.at]; e.kind {
	case "boolean":
		return []string{"space turns it", "↑↓ move", "esc cancels"}
	case "enum", "many":
		return []string{"←→ move, space takes", "↑↓ other values", "esc cancels"}
	}
	return []string{"type the value", "↑↓ move", "esc cancels"}
}

var _ frame.Widget = (*Form)(nil)
