package gate

import (
	"context"
	"slices"
	"time"

	"github.com/hew-agent/hew/internal/action/hook"
	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// Hooks run a user's programs around a call; package hook implements it.
type Hooks interface {
	// Before runs when the call is validated and nothing is decided yet.
	Before(ctx context.Context, p tool.Planned, emit func(event.Body)) HookAnswer
	// After runs when the call has its result.
	After(ctx context.Context, a tool.Admitted, r tool.Result, took time.Duration, emit func(event.Body)) (tool.Result, tool.Verdict)
	// Requested runs beside the question to a person, or in its place where nobody
	// can be asked. ok is false when no hook answers.
	Requested(ctx context.Context, p tool.Planned, s []event.Suggestion, emit func(event.Body)) (a event.Answer, ok bool)
	// Denied hears that the classifier refused the call; retry lets the model try again.
	Denied(ctx context.Context, p tool.Planned, reason string, emit func(event.Body)) (retry bool)
}

// HookAnswer is what the hooks before a call said together.
type HookAnswer = hook.Answer

// before runs the hooks; a rewritten input is planned again with the same tool.
func (g *Gate) before(ctx context.Context, p tool.Planned, emit func(event.Body)) (HookAnswer, tool.Planned, error) {
	if g.c.Hooks == nil {
		return HookAnswer{}, p, nil
	}
	a := g.c.Hooks.Before(ctx, p, emit)
	if len(a.Input) == 0 {
		return a, p, nil
	}
	next, err := replan(p, a.Input)
	return a, next, err
}

// informed adds to a refusal what the hooks before the call had to say to the model.
func informed(r *tool.Refusal, context []string) *tool.Refusal {
	if r == nil || len(context) == 0 {
		return r
	}
	out := *r
	out.Result.Content = slices.Clone(r.Result.Content)
	for _, c := range context {
		out.Result.Content = append(out.Result.Content, msg.NewText(hook.Reminder("PreToolUse", c)))
	}
	return &out
}

// deferredText answers a call that was put off where that cannot be.
const deferredText = "This call was not run: a hook of the user puts it off, which it can only do with a call that stands alone in its reply. Make it again as the only call."

// putOff keeps the call for a later process. Nothing is decided about it; the
// refusal holds where the call does not stand alone.
func (g *Gate) putOff(d policy.Decision) (tool.Admitted, *tool.Refusal) {
	d.Behavior, d.Layer = tool.Deny, "hook"
	d.Trace = append(d.Trace, tool.Step{Name: "hooks", Outcome: "defer"})
	return tool.Admitted{}, &tool.Refusal{Result: tool.Failure(deferredText), Decision: d.Decision, Deferred: true}
}

// blocked is the refusal of a call by the policy, a hook or the classifier.
func (g *Gate) blocked(ctx context.Context, p tool.Planned, d policy.Decision, emit func(event.Body)) (tool.Admitted, *tool.Refusal) {
	text := denialText(p, d.Decision)
	if d.Layer == "classifier" && g.c.Hooks != nil && g.c.Hooks.Denied(ctx, p, d.Reason, emit) {
		d.Trace = append(d.Trace, tool.Step{Name: "PermissionDenied hooks", Outcome: "retry"})
		text += " A hook of the user lets you try this call once more."
	}
	return g.refuse(p, d.Decision, tool.Failure(text), emit)
}

// Who answers questions.
const (
	person = "person"
	hooks  = "hook"
)

// answered is an answer to a question and who gave it.
type answered struct {
	event.Answer
	by string
}

// answer asks the person and the hooks, side by side or one after the other. A
// nil asker leaves the hooks alone; ok is false when nobody answers.
func (g *Gate) answer(ctx context.Context, p tool.Planned, q event.Question, asker Asker, emit func(event.Body)) (a answered, ok bool) {
	if asker != nil && !g.c.HooksFirst {
		return g.beside(ctx, p, q, asker, emit), true
	}
	if by, ok := g.requested(ctx, p, q.Suggestions, emit); ok || asker == nil {
		return answered{by, hooks}, ok
	}
	emit(event.Asked{Question: q})
	said, err := asker.Ask(ctx, q)
	if err != nil {
		said = event.Answer{Behavior: tool.Deny, Message: failed(ctx, err)}
	}
	emit(event.Answered{ID: q.ID, Answer: said})
	return answered{said, person}, true
}

// beside asks both at once: the first valid answer counts and the other question
// is withdrawn. It returns when both have ended.
func (g *Gate) beside(ctx context.Context, p tool.Planned, q event.Question, asker Asker, emit func(event.Body)) answered {
	both, cancel := context.WithCancel(ctx)
	defer cancel()
	hooked := make(chan answered, 1)
	go func() {
		defer close(hooked)
		if a, ok := g.requested(both, p, q.Suggestions, emit); ok {
			hooked <- answered{a, hooks}
			cancel()
		}
	}()
	emit(event.Asked{Question: q})
	said, err := asker.Ask(both, q)
	if err == nil {
		cancel()
	}
	a, ok := <-hooked
	switch {
	case err == nil:
		a = answered{said, person}
	case !ok:
		a = answered{event.Answer{Behavior: tool.Deny, Message: failed(ctx, err)}, person}
	}
	emit(event.Answered{ID: q.ID, Answer: a.Answer})
	return a
}

// requested asks the hooks. What only a person can say, such as the choice
// among the model's suggestions, an answer without an input does not hold.
func (g *Gate) requested(ctx context.Context, p tool.Planned, s []event.Suggestion, emit func(event.Body)) (event.Answer, bool) {
	if g.c.Hooks == nil {
		return event.Answer{}, false
	}
	a, ok := g.c.Hooks.Requested(ctx, p, s, emit)
	if ok && a.Behavior == tool.Allow && p.Call.Traits().NeedsUser && len(a.Input) == 0 {
		return event.Answer{}, false
	}
	return a, ok
}
