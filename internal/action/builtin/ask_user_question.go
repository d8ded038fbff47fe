package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/tool"
)

// The input of a question comes back from the gate with the person's answers
// merged into it, as hosts of the ecosystem do: question text to chosen label
// (several labels joined by ", ", or the person's own words).
type askInput struct {
	Questions   []question         `json:"questions"`
	Answers     map[string]answers `json:"answers"`
	Annotations json.RawMessage    `json:"annotations,omitempty"`
}

type question struct {
	Question    string   `json:"question"`
	Header      string   `json:"header"`
	Options     []option `json:"options"`
	MultiSelect bool     `json:"multiSelect"`
}

type option struct {
	Label       string `json:"label"`
	Description string `json:"description"`
	Preview     string `json:"preview,omitempty"`
}

// answers is a string, or a list of strings, as hosts send either.
type answers string

func (a *answers) UnmarshalJSON(data []byte) error {
	var list []string
	if json.Unmarshal(data, &list) == nil {
		*a = answers(strings.Join(list, ", "))
		return nil
	}
	return json.Unmarshal(data, (*string)(a))
}

// offeredToPeople is the condition of tools that need somebody who answers.
const offeredToPeople = "when somebody can answer: a person at the terminal, or a host program that takes permission questions"

func newAskUserQuestion(*Config) tool.Tool {
	spec := tool.Spec{Name: "AskUserQuestion", Condition: offeredToPeople}
	return define("ask_user_question", spec, func(in askInput, _ tool.Env) (tool.Call, error) {
		if err := checkQuestions(in.Questions); err != nil {
			return nil, err
		}
		var view tool.NestedView
		for _, q := range in.Questions {
			view.Views = append(view.Views, q.view())
		}
		return &tool.Func{
			Facts:  tool.Traits{ReadOnly: true, NeedsUser: true},
			Line:   "Ask: " + oneLine(in.Questions[0].Question),
			Before: view,
			Do:     func(context.Context, func(tool.Progress)) tool.Result { return in.result() },
		}, nil
	})
}

// oneLine makes a title of a text.
func oneLine(s string) string { return clip(strings.Join(strings.Fields(s), " "), 120) }

func checkQuestions(qs []question) error {
	seen := map[string]bool{}
	for _, q := range qs {
		if seen[q.Question] {
			return refuse("The question %q is asked twice; answers are matched by the question's text.", q.Question)
		}
		seen[q.Question] = true
		labels := map[string]bool{}
		for _, o := range q.Options {
			if labels[o.Label] {
				return refuse("The question %q has two options %q.", q.Question, o.Label)
			}
			labels[o.Label] = true
		}
	}
	return nil
}

func (q question) view() tool.View {
	v := tool.ListView{Title: q.Header + ": " + q.Question}
	for _, o := range q.Options {
		v.Items = append(v.Items, tool.Item{Text: o.Label + ": " + o.Description})
	}
	return v
}

func (in askInput) result() tool.Result {
	var pairs []string
	given := map[string]string{}
	for _, q := range in.Questions {
		if a, ok := in.Answers[q.Question]; ok {
			pairs = append(pairs, fmt.Sprintf("%q=%q", q.Question, string(a)))
			given[q.Question] = string(a)
		}
	}
	data := map[string]any{"questions": in.Questions, "answers": given}
	if len(in.Annotations) > 0 {
		data["annotations"] = in.Annotations
	}
	text := "The user has answered: " + strings.Join(pairs, ", ") + ". Go on with these answers in mind."
	if len(pairs) == 0 {
		text = "The user chose no answer. Go on with your own judgement, and say what you assumed."
	}
	return done(text, data, tool.TextView{Text: strings.Join(pairs, "\n")})
}
