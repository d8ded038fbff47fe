package dialog

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/surface/tui/frame"
	"github.com/hew-agent/hew/internal/surface/tui/input"
	"github.com/hew-agent/hew/internal/tool"
)

const threeQuestions = `{"questions":[
 {"question":"Which store?","header":"Store","options":[{"label":"SQLite","description":"One file, no server","preview":"~~~\nopen db\n~~~"},{"label":"Postgres","description":"A server"}]},
 {"question":"Which checks?","header":"Checks","multiSelect":true,"options":[{"label":"vet","description":"fast"},{"label":"race","description":"slow"},{"label":"fuzz","description":"slower"}]},
 {"question":"A name?","header":"Name","options":[{"label":"hew","description":"short"},{"label":"axe","description":"sharp"}]}]}`

const oneQuestion = `{"questions":[{"question":"Which store?","header":"Store","options":[{"label":"SQLite","description":"x"},{"label":"Postgres","description":"y"}]}],"metadata":1}`

func questions(input string) event.Question {
	return event.Question{ID: "q", Kind: event.AskChoice, Tool: "AskUserQuestion", Use: msg.NewToolUse("t", "AskUserQuestion", []byte(input))}
}

func TestQuestionsPictures(t *testing.T) {
	for name, keys := range map[string]string{"questions": "", "questions-many": "1 space", "questions-review": "1 space enter", "questions-own": "3 h e w"} {
		golden(t, name, func(draw func(frame.Widget)) frame.Widget {
			c := newClock()
			d := NewQuestions(questions(threeQuestions), c.options())
			ready(d, c)
			press(d, c, strings.Fields(keys)...)
			if name == "questions-review" {
				press(d, c, "right")
			}
			draw(d)
			return d
		})
	}
}

func TestQuestionsAnswers(t *testing.T) {
	answered := func(input, answers string) event.Answer {
		return event.Answer{Behavior: tool.Allow, Input: []byte(strings.TrimSuffix(input, "}") + `,"answers":` + answers + "}")}
	}
	talk := event.Answer{Behavior: tool.Deny, Message: "The user wants to talk about this before answering. They say: why\nSo far: Which store? SQLite"}
	for _, c := range []struct {
		name, input, keys string
		want              event.Answer
	}{
		{"one", oneQuestion, "2", answered(oneQuestion, `{"Which store?":"Postgres"}`)},
		{"one by arrows", oneQuestion, "down enter", answered(oneQuestion, `{"Which store?":"Postgres"}`)},
		{"own words", oneQuestion, "3 D B enter", answered(oneQuestion, `{"Which store?":"DB"}`)},
		{"several", threeQuestions, "1 space 3 enter 2 1", answered(threeQuestions, `{"Which store?":"SQLite","Which checks?":"vet, fuzz","A name?":"axe"}`)},
		{"several with words", threeQuestions, "1 space 4 x enter right enter", answered(threeQuestions, `{"Which store?":"SQLite","Which checks?":"vet, x"}`)},
		{"changed", threeQuestions, "1 left 2 right right enter", answered(threeQuestions, `{"Which store?":"Postgres"}`)},
		{"nothing", threeQuestions, "right right right enter", answered(threeQuestions, `{}`)},
		{"talk", threeQuestions, "1 5 w h y enter", talk},
		{"esc", threeQuestions, "1 esc", event.Answer{Behavior: tool.Deny, Interrupt: true}},
		{"words given up", oneQuestion, "3 a esc esc", event.Answer{Behavior: tool.Deny, Interrupt: true}},
		{"unreadable", `{"questions":7}`, "esc", event.Answer{Behavior: tool.Deny, Interrupt: true}},
	} {
		k := newClock()
		d := NewQuestions(questions(c.input), k.options())
		ready(d, k)
		press(d, k, strings.Fields(c.keys)...)
		if !d.Done() {
			t.Errorf("%s: no answer\n%s", c.name, picture(d.Draw(80, 24)))
			continue
		}
		got := d.Answer()
		if string(got.Input) != "" {
			got.Input, c.want.Input = flat(t, got.Input), flat(t, c.want.Input)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func TestQuestionsAreGuarded(t *testing.T) {
	c := newClock()
	d := NewQuestions(questions(oneQuestion), c.options())
	d.Draw(80, 24)
	d.Handle(input.Press{Key: "1", Text: "1"})
	if d.Done() || len(d.Ignored()) != 1 {
		t.Error("a key that came too early answered")
	}
}

var aPlan = event.Question{
	ID: "p", Kind: event.AskPlan, Tool: "ExitPlanMode", Use: msg.NewToolUse("t", "ExitPlanMode", []byte(`{"plan":"old"}`)),
	Preview: tool.TextView{Text: "# Plan\n\n1. Read the *tests*\n2. Change `greet`\n\nThen run them.\n" + strings.Repeat("\n- more\n", 20)},
}

func TestPlan(t *testing.T) {
	golden(t, "plan", func(draw func(frame.Widget)) frame.Widget {
		c := newClock()
		p := NewPlan(aPlan, c.options())
		draw(p)
		c.pass(1e9)
		return p
	})
	mode := func(m string) []event.Suggestion {
		return []event.Suggestion{{Type: "setMode", Mode: m, Destination: "session"}}
	}
	for keys, want := range map[string]event.Answer{
		"1":           {Behavior: tool.Allow, Updates: mode("acceptEdits")},
		"2":           {Behavior: tool.Allow, Updates: mode("default")},
		"shift+tab":   {Behavior: tool.Allow, Updates: mode("acceptEdits")},
		"3 n o t":     {},
		"3 o k enter": {Behavior: tool.Deny, Message: "ok"},
		"3 enter":     {Behavior: tool.Deny, Interrupt: true},
		"esc":         {Behavior: tool.Deny, Interrupt: true},
	} {
		c := newClock()
		p := NewPlan(aPlan, c.options())
		ready(p, c)
		press(p, c, strings.Fields(keys)...)
		if d := cmp.Diff(want, p.Answer()); d != "" || p.Done() != (want.Behavior != "") {
			t.Errorf("%s: %s", keys, d)
		}
	}
}

func TestPlanEditedOutside(t *testing.T) {
	c := newClock()
	p := NewPlan(aPlan, c.options())
	ready(p, c)
	press(p, c, "ctrl+g")
	if _, wants := p.Wants(); !wants {
		t.Fatal("ctrl+g wants nothing")
	}
	if _, again := p.Wants(); again {
		t.Error("it wants twice")
	}
	p.Edited("", errors.New("no editor"))
	if s := picture(p.Draw(80, 24)); !strings.Contains(s, "no editor") {
		t.Error(s)
	}
	p.Edited("1. Only this", nil)
	if s := picture(p.Draw(80, 24)); !strings.Contains(s, "1. Only this") || !strings.Contains(s, "You changed the plan") {
		t.Error(s)
	}
	press(p, c, "2")
	if got := string(p.Answer().Input); got != `{"plan":"1. Only this"}` {
		t.Error(got)
	}
}
