package gate

import (
	"context"
	"slices"

	"github.com/hew-agent/hew/internal/action/gate/classify"
	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/tool"
)

// Classifier answers in auto mode what a person would be asked otherwise;
// package classify implements it.
type Classifier interface {
	// Judge judges a call; why says what stopped it so far. It ends with ctx.
	Judge(ctx context.Context, p tool.Planned, why string) classify.Verdict
	// Approved tells that a person approved a call that Judge left to them.
	Approved()
	// Ran tells of a call that was admitted, whoever admitted it.
	Ran(p tool.Planned)
	// Noted tells what a user's hook said for the classifier to know.
	Noted(text string)
}

// judges tells whether a question goes to the classifier first. What a hook
// wants a person to decide, a person decides.
func (g *Gate) judges(d policy.Decision) bool {
	return g.c.Classifier != nil && d.Behavior == tool.Ask && d.Classify && d.Layer != "hook"
}

// classified is the decision after the classifier was heard. The policy is asked
// again: when the mode or a rule changed meanwhile, what it says now counts and
// the verdict is dropped.
func (g *Gate) classified(ctx context.Context, p tool.Planned, d policy.Decision, h HookAnswer, emit func(event.Body)) policy.Decision {
	v := g.c.Classifier.Judge(ctx, p, d.Reason)
	step := tool.Step{Name: "classifier", Outcome: string(v.Behavior), Detail: v.Reason}
	if again := g.decide(p, h); !g.judges(again) {
		step.Outcome, step.Detail = "dropped", "the mode or the rules changed while the classifier judged"
		again.Trace = slices.Concat(d.Trace, []tool.Step{step}, again.Trace)
		return again
	}
	d.Trace = append(d.Trace, step)
	if v.Behavior == tool.Ask {
		d.Reason += "; " + v.Reason
	} else {
		d.Behavior, d.Layer, d.Reason, d.Rule, d.File = v.Behavior, "classifier", v.Reason, "", ""
	}
	if n, ok := noticeOf(v); ok {
		emit(n)
	}
	return d
}

// noticeOf is what a person hears of a verdict; a clear yes is silent.
func noticeOf(v classify.Verdict) (event.Notice, bool) {
	n := event.Notice{Level: event.Warning, Code: "auto_mode_blocked", Text: v.Reason}
	switch {
	case v.Paused:
		n.Code = "auto_mode_paused"
	case v.Failed:
		n.Code = "auto_mode_failed"
	}
	return n, v.Behavior != tool.Allow
}

// unrestored names, in the trace of a question of a resumed session, the layer
// that makes it one: what was granted before is not granted any more.
func (g *Gate) unrestored(d policy.Decision) policy.Decision {
	if g.c.Resumed {
		d.Trace = append(d.Trace, tool.Step{Name: "non-restoration", Outcome: "none", Detail: "the session was resumed; what was granted in it before is not restored"})
	}
	return d
}
