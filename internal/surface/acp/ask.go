package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// Editor is the client as one session sees it: it answers questions and fills
// forms, when it can show them.
type Editor struct {
	a      *Agent
	s      *conversation
	client initializeIn
}

const (
	allowOnce   = "allow_once"
	allowAlways = "allow_always"
	rejectOnce  = "reject_once"
)

// Ask puts a question to the person at the editor. A question without an answer
// is refused once the patience ends.
func (d *Editor) Ask(ctx context.Context, q event.Question) (event.Answer, error) {
	switch q.Kind {
	case event.AskChoice:
		return d.choose(ctx, q)
	case event.AskPlan:
		return d.approve(ctx, q)
	case event.AskPermission:
	}
	options := []option{{allowOnce, "Allow", allowOnce}}
	if len(q.Suggestions) > 0 {
		options = append(options, option{allowAlways, always(q), allowAlways})
	}
	picked, err := d.pick(ctx, d.about(q), append(options, option{rejectOnce, "Reject", rejectOnce}))
	switch {
	case err != nil:
		return event.Answer{}, err
	case picked == allowOnce:
		return event.Answer{Behavior: tool.Allow}, nil
	case picked == allowAlways:
		return event.Answer{Behavior: tool.Allow, Updates: q.Suggestions}, nil
	}
	return event.Answer{Behavior: tool.Deny}, nil
}

// always says what is allowed from now on.
func always(q event.Question) string {
	for _, s := range q.Suggestions {
		for _, r := range s.Rules {
			name := r.Tool
			if r.Content != "" {
				name += "(" + r.Content + ")"
			}
			return "Always allow " + clip(name, maxTitle)
		}
		if s.Mode != "" {
			return "Allow, and go on in the mode " + s.Mode
		}
	}
	return "Always allow"
}

// about is the call in question.
func (d *Editor) about(q event.Question) toolUpdate {
	u := d.s.shown.outline(q.Use)
	u.Status = "pending"
	if q.Title != "" {
		u.Title = q.Title
	}
	if v, ok := q.Preview.(tool.DiffView); ok {
		u.Content = []part{diff(v)}
	}
	if q.Risk != "" {
		u.Content = append(u.Content, texts("Before this is allowed for good: "+q.Risk)...)
	}
	return u
}

// pick asks for one of the options, "" when the person chose none.
func (d *Editor) pick(ctx context.Context, about toolUpdate, options []option) (string, error) {
	var out struct {
		Outcome struct {
			Outcome string `json:"outcome"`
			Option  string `json:"optionId"`
		} `json:"outcome"`
	}
	in := map[string]any{"sessionId": d.s.id, "toolCall": about, "options": options}
	if err := d.a.conn.call(ctx, d.a.c.Patience, "session/request_permission", in, &out); err != nil {
		return "", fmt.Errorf("ask the editor about %s: %w", about.Title, err)
	}
	switch out.Outcome.Outcome {
	case "selected":
		if !slices.ContainsFunc(options, func(o option) bool { return o.ID == out.Outcome.Option }) {
			return "", fmt.Errorf("the editor chose %q, which was not offered", out.Outcome.Option)
		}
		return out.Outcome.Option, nil
	case stopCancelled:
		return "", nil
	}
	return "", fmt.Errorf("the editor's answer has the outcome %q, want selected or cancelled", out.Outcome.Outcome)
}

// approve asks whether a plan is to be carried out, and in which mode.
func (d *Editor) approve(ctx context.Context, q event.Question) (event.Answer, error) {
	u := d.about(q)
	if v, ok := q.Preview.(tool.TextView); ok {
		u.Content = texts(v.Text)
	}
	picked, err := d.pick(ctx, u, []option{
		{"acceptEdits", "Yes, and accept edits", allowAlways}, {"default", "Yes, and ask before edits", allowOnce}, {rejectOnce, "No, keep planning", rejectOnce},
	})
	switch {
	case err != nil:
		return event.Answer{}, err
	case picked == "" || picked == rejectOnce:
		return event.Answer{Behavior: tool.Deny}, nil
	}
	return event.Answer{Behavior: tool.Allow, Updates: []event.Suggestion{{Type: "setMode", Mode: picked, Destination: "session"}}}, nil
}

// choose asks the model's own questions, one after the other. The chosen labels
// go into the input of the call, by the question's text.
func (d *Editor) choose(ctx context.Context, q event.Question) (event.Answer, error) {
	var in struct {
		Questions []struct {
			Question string `json:"question"`
			Options  []struct {
				Label string `json:"label"`
				About string `json:"description"`
			} `json:"options"`
		} `json:"questions"`
	}
	if err := json.Unmarshal(q.Use.Input, &in); err != nil || len(in.Questions) == 0 {
		return event.Answer{}, errors.New("the question cannot be read")
	}
	answers := map[string]string{}
	for _, one := range in.Questions {
		about, options := d.about(q), []option{}
		about.Title = one.Question
		var lines strings.Builder
		for i, o := range one.Options {
			options = append(options, option{strconv.Itoa(i), o.Label, allowOnce})
			lines.WriteString("- " + o.Label + ": " + o.About + "\n")
		}
		about.Content = texts(lines.String())
		picked, err := d.pick(ctx, about, append(options, option{rejectOnce, "Skip", rejectOnce}))
		if err != nil {
			return event.Answer{}, err
		}
		if i, err := strconv.Atoi(picked); err == nil {
			answers[one.Question] = one.Options[i].Label
		}
	}
	fields := object(q.Use.Input)
	fields["answers"] = msg.Encode(answers)
	return event.Answer{Behavior: tool.Allow, Input: msg.Encode(fields)}, nil
}

// Fill puts the form of an MCP server to the person, where the client has forms.
func (d *Editor) Fill(ctx context.Context, f event.Form) (event.FormAnswer, error) {
	offered := d.client.Client.Elicitation.Form
	in := map[string]any{"sessionId": d.s.id, "mode": "form", "message": f.Server + ": " + f.Message, "requestedSchema": f.Schema}
	if f.Mode == "url" {
		offered = d.client.Client.Elicitation.URL
		in = map[string]any{"sessionId": d.s.id, "mode": "url", "message": f.Server + ": " + f.Message, "url": f.URL, "elicitationId": f.ID}
	}
	if len(offered) == 0 || string(offered) == "null" {
		return event.FormAnswer{}, errors.New("the editor has not said that it can show such forms")
	}
	var out struct {
		Action  string          `json:"action"`
		Content json.RawMessage `json:"content"`
	}
	if err := d.a.conn.call(ctx, d.a.c.Patience, "elicitation/create", in, &out); err != nil {
		return event.FormAnswer{}, err
	}
	return event.FormAnswer{Action: out.Action, Content: out.Content}, nil
}
