package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// ask puts the call to a person and to the hooks. Without a person, and where
// the policy says that nobody is to be asked, it is refused at once unless a hook
// answers.
func (g *Gate) ask(ctx context.Context, p tool.Planned, d policy.Decision, h HookAnswer, emit func(event.Body)) (tool.Admitted, *tool.Refusal) {
	asker := g.c.Asker
	if d.NoPrompt {
		asker = nil
	}
	if asker == nil && g.c.Hooks == nil {
		return g.unanswered(p, d, emit)
	}
	if c, ok := p.Call.(tool.Checker); ok && asker != nil {
		if err := c.Check(); err != nil {
			return g.refuse(p, invalid("validate", err), tool.Refused(err.Error()), emit)
		}
	}
	q, shown := g.question(p, d), g.places(p)
	a, ok := g.answer(ctx, p, q, asker, emit)
	if !ok {
		return g.unanswered(p, d, emit)
	}
	d.Layer = a.by
	d.Trace = append(d.Trace, tool.Step{Name: "question", Outcome: string(a.Behavior), Detail: strings.TrimSpace(a.by + " " + a.Message)})
	if a.Behavior != tool.Allow {
		return g.refusedBy(p, d.Decision, a, emit)
	}
	if g.moved(p, shown) {
		return g.refuse(p, d.Decision, tool.Failure(movedText), emit)
	}
	return g.granted(p, d, h, a, emit)
}

func (g *Gate) unanswered(p tool.Planned, d policy.Decision, emit func(event.Body)) (tool.Admitted, *tool.Refusal) {
	d.Trace = append(d.Trace, tool.Step{Name: "question", Outcome: "deny", Detail: "nobody can be asked"})
	return g.refuse(p, d.Decision, tool.Failure(unanswered(p, d.Decision)), emit)
}

func failed(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return "the question was withdrawn because the turn was interrupted"
	}
	return "the question could not be answered: " + err.Error()
}

func (g *Gate) question(p tool.Planned, d policy.Decision) event.Question {
	kind := questionKind(p.Call)
	return event.Question{
		Risk: g.risk(d),
		ID:   g.c.NewID(), Kind: kind, Use: p.Use, Tool: p.Tool.Spec().Name, Title: p.Call.Title(), Preview: p.Call.Preview(),
		Decision: d.Decision, Part: d.Part, Suggestions: suggestions(d.Suggest), Origin: event.Origin{Agent: p.Env.Agent},
	}
}

// risk is what the lasting answers of d would leave open.
func (g *Gate) risk(d policy.Decision) string {
	for _, u := range d.Suggest {
		if why := g.Snapshot().Risk(u); why != "" {
			return why
		}
	}
	return ""
}

// questionKind tells what a question is about: whether a call may run, whether
// a plan is approved (a call for the user that also asks for approval), or the
// model's own question.
func questionKind(c tool.Call) event.QuestionKind {
	switch {
	case !c.Traits().NeedsUser:
		return event.AskPermission
	case len(c.Needs()) > 0:
		return event.AskPlan
	}
	return event.AskChoice
}

// granted admits the call with the input that the answer chose. A changed
// input is judged again: a deny rule holds against it, a further question does
// not arise, because whoever answered has just seen it.
func (g *Gate) granted(p tool.Planned, d policy.Decision, h HookAnswer, a answered, emit func(event.Body)) (tool.Admitted, *tool.Refusal) {
	if len(a.Input) > 0 && string(a.Input) != string(p.Use.Input) {
		next, err := replan(p, a.Input)
		if err != nil {
			return g.refuse(p, invalid("question", err), tool.Refused(err.Error()), emit)
		}
		again := g.decide(next, HookAnswer{Behavior: h.Behavior, Reason: h.Reason})
		if again.Behavior == tool.Deny {
			return g.refuse(next, again.Decision, tool.Failure(denialText(next, again.Decision)), emit)
		}
		p = next
	}
	if err := g.Update(a.Updates); err != nil {
		emit(event.Notice{Level: event.Warning, Code: "permission_update", Text: err.Error()})
	}
	if a.by == person && g.judges(d) {
		g.c.Classifier.Approved()
	}
	d.Behavior = tool.Allow
	d.Reason = "allowed by the " + a.by + " that was asked"
	if a.by == person {
		d.Reason = "allowed by the person who was asked"
	}
	admitted, refusal := g.admit(p, d.Decision, emit)
	if a.by == person {
		admitted.Words = a.Message
	}
	return admitted, refusal
}

// said adds to a result what the person who allowed the call had to say.
func said(a tool.Admitted, r tool.Result) tool.Result {
	if a.Words != "" {
		r.Content = append(slices.Clone(r.Content), msg.NewText("The user allowed this call and says: "+a.Words))
	}
	return r
}

func (g *Gate) refusedBy(p tool.Planned, d tool.Decision, a answered, emit func(event.Body)) (tool.Admitted, *tool.Refusal) {
	d.Behavior = tool.Deny
	text := a.Message
	d.Reason = text
	switch {
	case text != "":
	case a.by == hooks:
		text = "A hook of the user refused this call. It was not run. Use another approach, or say what you need."
		d.Reason = "refused by a PermissionRequest hook"
	default:
		text = "The user does not want to go on with this call. It was not run. Stop and wait for the user to say how to proceed."
		d.Reason = "refused by the person who was asked"
	}
	emit(event.Decided{Use: p.Use, Decision: d})
	return tool.Admitted{}, &tool.Refusal{Result: tool.Failure(text), Decision: d, Interrupt: a.Interrupt}
}

// replan validates another input with the same tool.
func replan(p tool.Planned, input json.RawMessage) (tool.Planned, error) {
	call, err := p.Tool.Plan(input, p.Env)
	if err != nil {
		return p, fmt.Errorf("the changed input of %s: %w", p.Use.Name, err)
	}
	p.Use, p.Call = msg.NewToolUse(p.Use.ID, p.Use.Name, input), call
	return p, nil
}

func invalid(step string, err error) tool.Decision {
	return tool.Decision{Behavior: tool.Deny, Layer: step, Reason: err.Error(), Trace: []tool.Step{{Name: step, Outcome: "deny", Detail: err.Error()}}}
}

// denialText is what the model reads: what was refused, by what, and that
// another way is open.
func denialText(p tool.Planned, d tool.Decision) string {
	s := "Permission to use " + p.Use.Name + " was denied: " + d.Reason
	if d.Rule != "" {
		s += fmt.Sprintf(" (rule %s", d.Rule)
		if d.File != "" {
			s += " in " + d.File
		}
		s += ")"
	}
	return s + ". Do not try to get around this; use another approach or say what you need."
}

func unanswered(p tool.Planned, d tool.Decision) string {
	return fmt.Sprintf("Permission to use %s was requested and not granted: %s, and in this run nobody can be asked. "+
		"Use another approach, or finish and say which permission is needed.", p.Use.Name, d.Reason)
}

// Update applies permission updates that a person chose: at once for this
// session, and in the settings file that the destination names.
func (g *Gate) Update(us []event.Suggestion) error {
	var errs []error
	for _, u := range us {
		errs = append(errs, g.update(u))
	}
	return errors.Join(errs...)
}

func (g *Gate) update(u event.Suggestion) error {
	if g.up != nil { // the person speaks to the conversation, not to one agent of it
		return g.up.from.update(u)
	}
	if u.Type == string(policy.SetMode) {
		return g.SetMode(u.Mode)
	}
	g.mu.Lock()
	next, err := g.snap.Load().Apply(parse(u))
	if err == nil {
		g.snap.Store(next)
	}
	g.mu.Unlock()
	if err != nil {
		return err
	}
	if !lasting(u.Destination) || g.c.Save == nil {
		return nil
	}
	if err := g.c.Save(u); err != nil {
		return fmt.Errorf("save the permission to %s: %w; it holds for this session only", u.Destination, err)
	}
	return nil
}
