package builtin

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/tool"
)

func questions() []in {
	opt := func(l string) in { return in{"label": l, "description": l + "!"} }
	return []in{
		{"question": "Which colour?", "header": "Colour", "multiSelect": false, "options": []in{opt("Red"), opt("Blue")}},
		{"question": "Which sizes?", "header": "Sizes", "multiSelect": true, "options": []in{opt("S"), opt("M")}},
	}
}

func TestAskUserQuestion(t *testing.T) {
	b := newBench(t, Config{Interactive: true})
	c, err := b.plan("AskUserQuestion", in{"questions": questions()})
	if err != nil {
		t.Fatal(err)
	}
	if tr := c.Traits(); !tr.NeedsUser || len(c.Needs()) != 0 || c.Title() != "Ask: Which colour?" {
		t.Errorf("%+v %v %q", tr, c.Needs(), c.Title())
	}
	v := c.Preview().(tool.NestedView)
	if len(v.Views) != 2 || v.Views[0].(tool.ListView).Items[1].Text != "Blue: Blue!" {
		t.Errorf("%+v", v)
	}
	r := b.run("AskUserQuestion", in{"questions": questions(), "answers": in{"Which colour?": "Blue", "Which sizes?": []string{"S", "M"}, "odd": "x"}})
	if !strings.Contains(text(r), `"Which colour?"="Blue", "Which sizes?"="S, M"`) {
		t.Error(text(r))
	}
	if got := string(mustField(t, r, "answers")); got != `{"Which colour?":"Blue","Which sizes?":"S, M"}` {
		t.Error(got)
	}
	if got := b.ok("AskUserQuestion", in{"questions": questions()}); !strings.Contains(got, "chose no answer") {
		t.Error(got)
	}
	b.bad("AskUserQuestion", in{"questions": []in{}}, "at least 1")
	b.bad("AskUserQuestion", in{"questions": []in{questions()[0], questions()[0]}}, "asked twice")
	q := questions()[0]
	q["options"] = []in{{"label": "A", "description": ""}, {"label": "A", "description": ""}}
	b.bad("AskUserQuestion", in{"questions": []in{q}}, "two options")
}

func TestPlanMode(t *testing.T) {
	mode, file := "default", ""
	b := newBench(t, Config{
		Interactive: true, Mode: func() string { return mode }, AfterPlan: func() string { return "acceptEdits" },
		PlanFile: func(tool.Env) string { return file },
	})
	r := b.run("EnterPlanMode", in{})
	if r.IsError || len(r.Effects) != 1 || r.Effects[0] != (tool.SetMode{Mode: "plan"}) {
		t.Errorf("%+v", r)
	}
	check := func(input in) error {
		c, err := b.plan("ExitPlanMode", input)
		if err != nil {
			t.Fatal(err)
		}
		return c.(tool.Checker).Check()
	}
	if err := check(in{"plan": "x"}); err == nil || !strings.Contains(err.Error(), "Plan mode is off") {
		t.Error(err)
	}
	mode = "plan"
	b.bad("EnterPlanMode", in{}, "on already")
	if err := check(in{}); err == nil || !strings.Contains(err.Error(), "no plan") {
		t.Error(err)
	}
	c, err := b.plan("ExitPlanMode", in{"plan": "1. do it\n"})
	if err != nil {
		t.Fatal(err)
	}
	if n := c.Needs(); !c.Traits().NeedsUser || len(n) != 1 || n[0].Kind != tool.NeedUse {
		t.Errorf("%+v %v", c.Traits(), n)
	}
	if v := c.Preview().(tool.TextView); v.Text != "1. do it" {
		t.Errorf("%q", v.Text)
	}
	r = c.Run(t.Context(), nil)
	if len(r.Effects) != 1 || r.Effects[0] != (tool.SetMode{Mode: "acceptEdits"}) || !strings.HasSuffix(text(r), "1. do it") || data(t, r)["plan"] != "1. do it" {
		t.Errorf("%+v %s", r, r.Data)
	}
	file = b.path("plan.md")
	if err := check(in{}); err == nil || !strings.Contains(err.Error(), "plan.md") {
		t.Error(err)
	}
	b.write("plan.md", "from the file\n")
	if r := b.run("ExitPlanMode", in{}); data(t, r)["plan"] != "from the file" || data(t, r)["filePath"] != file {
		t.Errorf("%s", r.Data)
	}
}

func TestStructuredOutput(t *testing.T) {
	out, err := StructuredOutput(json.RawMessage(`{
		"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
		"properties": {"n": {"type": ["integer", "null"]}, "mail": {"type": "string", "format": "email"}, "list": {"type": "array", "items": {"enum": ["a", "b"]}}},
		"required": ["n"], "additionalProperties": false}`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := out.Plan(json.RawMessage(`{ "n": null, "mail": "no mail", "list": ["a"] }`), tool.Env{})
	if err != nil {
		t.Fatal(err)
	}
	r := c.Run(t.Context(), nil)
	const want = `{"n":null,"mail":"no mail","list":["a"]}`
	if end, ok := r.Effects[0].(tool.EndRun); !ok || string(end.Output) != want || string(r.Data) != want {
		t.Errorf("%+v", r)
	}
	for in, part := range map[string]string{
		`{}`: "n", `{"n":1.5}`: "/properties/n", `{"n":1,"list":["c"]}`: "/properties/list", `{"n":1,"x":2}`: "x", `[]`: "object", `{`: "not valid JSON",
	} {
		_, err := out.Plan(json.RawMessage(in), tool.Env{})
		var ie *tool.InputError
		if !errors.As(err, &ie) || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", in, err)
		}
	}
	for _, bad := range []string{`{`, `7`, `{"type":"array"}`, `{"type":"object","properties":{"a":{"$ref":"#/nope"}}}`, `{"type":"object","properties":3}`} {
		if _, err := StructuredOutput(json.RawMessage(bad)); err == nil {
			t.Errorf("schema %s was taken", bad)
		}
	}
}
