package gate

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/action/gate/classify"
	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/tool"
)

// judge answers with its verdict; meanwhile runs before it does.
type judge struct {
	verdict   classify.Verdict
	meanwhile func()
	asked     []string
	approved  int
	ran       int
	noted     []string
}

func (j *judge) Judge(_ context.Context, p tool.Planned, _ string) classify.Verdict {
	j.asked = append(j.asked, p.Call.Title())
	if j.meanwhile != nil {
		j.meanwhile()
	}
	return j.verdict
}

func (j *judge) Approved() { j.approved++ }

func (j *judge) Ran(tool.Planned) { j.ran++ }

func (j *judge) Noted(text string) { j.noted = append(j.noted, text) }

func steps(d tool.Decision) string {
	var out []string
	for _, s := range d.Trace {
		out = append(out, s.Name+"="+s.Outcome)
	}
	return strings.Join(out, " ")
}

func TestClassifierAnswers(t *testing.T) {
	yes := &asker{answer: event.Answer{Behavior: tool.Allow}}
	j := &judge{verdict: classify.Verdict{Behavior: tool.Allow, Reason: "fine"}}
	a, r, _ := admit(newGate(Config{Classifier: j, Asker: yes}, layer(policy.Layer{}), policy.Auto), planned(t, "x"))
	if r != nil || a.Decision.Layer != "classifier" || len(yes.asked) != 0 || j.ran != 1 || !strings.Contains(steps(a.Decision), "classifier=allow") {
		t.Fatalf("%+v %+v", a.Decision, r)
	}
	j.verdict = classify.Verdict{Behavior: tool.Deny, Reason: "it deploys"}
	_, r, seen := admit(newGate(Config{Classifier: j, Asker: yes}, layer(policy.Layer{}), policy.Auto), planned(t, "x"))
	if r == nil || r.Decision.Layer != "classifier" || len(yes.asked) != 0 || !strings.Contains(text(r.Result), "it deploys") {
		t.Fatalf("%+v", r)
	}
	if !slices.ContainsFunc(seen, func(b event.Body) bool { n, ok := b.(event.Notice); return ok && n.Code == "auto_mode_blocked" }) {
		t.Fatalf("nobody hears of the block: %+v", seen)
	}
}

func TestClassifierLeavesItToAPerson(t *testing.T) {
	yes := &asker{answer: event.Answer{Behavior: tool.Allow}}
	j := &judge{verdict: classify.Verdict{Behavior: tool.Ask, Reason: "no verdict", Failed: true}}
	a, r, _ := admit(newGate(Config{Classifier: j, Asker: yes}, layer(policy.Layer{}), policy.Auto), planned(t, "x"))
	if r != nil || len(yes.asked) != 1 || j.approved != 1 || !strings.Contains(steps(a.Decision), "classifier=ask question=allow") {
		t.Fatalf("%+v %+v", a.Decision, r)
	}
	_, r, _ = admit(newGate(Config{Classifier: j}, layer(policy.Layer{}), policy.Auto), planned(t, "x"))
	if r == nil || !strings.Contains(text(r.Result), "no verdict") {
		t.Fatalf("without a person: %+v", r)
	}
}

// What the rules decide, and what only a person may decide, never reaches the judge.
func TestClassifierIsNotAsked(t *testing.T) {
	no := &asker{answer: event.Answer{Behavior: tool.Deny}}
	for name, row := range map[string]struct {
		l     policy.Layer
		mode  policy.Mode
		hooks Hooks
		runs  bool
	}{
		"deny rule":      {policy.Layer{Deny: []string{"Poke(x)"}}, policy.Auto, nil, false},
		"ask rule":       {policy.Layer{Ask: []string{"Poke(x)"}}, policy.Auto, nil, false},
		"narrow allow":   {policy.Layer{Allow: []string{"Poke(x)"}}, policy.Auto, nil, true},
		"other mode":     {policy.Layer{}, policy.Default, nil, false},
		"a hook asks":    {policy.Layer{}, policy.Auto, hooked{answer: HookAnswer{Behavior: tool.Ask}}, false},
		"a hook refuses": {policy.Layer{}, policy.Auto, hooked{answer: HookAnswer{Behavior: tool.Deny}}, false},
	} {
		j := &judge{verdict: classify.Verdict{Behavior: tool.Allow}}
		_, r, _ := admit(newGate(Config{Classifier: j, Asker: no, Hooks: row.hooks}, layer(row.l), row.mode), planned(t, "x"))
		if len(j.asked) != 0 || (r == nil) != row.runs {
			t.Errorf("%s: asked %v, refused %v", name, j.asked, r != nil)
		}
	}
}

func TestVerdictIsDroppedWhenTheModeChanged(t *testing.T) {
	no := &asker{answer: event.Answer{Behavior: tool.Deny}}
	j := &judge{verdict: classify.Verdict{Behavior: tool.Allow, Reason: "fine"}}
	g := newGate(Config{Classifier: j, Asker: no}, layer(policy.Layer{}), policy.Auto)
	j.meanwhile = func() { must(t, g.SetMode("default")) }
	_, r, _ := admit(g, planned(t, "x"))
	if r == nil || len(no.asked) != 1 || !strings.Contains(steps(r.Decision), "classifier=dropped") {
		t.Fatalf("%+v, asked %d", r, len(no.asked))
	}
	g = newGate(Config{Classifier: j, Asker: no}, layer(policy.Layer{}), policy.Auto)
	j.meanwhile = func() {
		must(t, g.Update([]event.Suggestion{{Type: "addRules", Behavior: "deny", Rules: []event.Rule{{Tool: "Poke", Content: "x"}}, Destination: "session"}}))
	}
	if _, r, _ = admit(g, planned(t, "x")); r == nil || r.Decision.Layer != "rule" || len(no.asked) != 1 {
		t.Fatalf("a deny rule came meanwhile: %+v", r)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestAutoNeedsAClassifier(t *testing.T) {
	if err := newGate(Config{}, layer(policy.Layer{}), policy.Default).SetMode("auto"); err == nil {
		t.Fatal("auto mode was entered without a classifier")
	}
	if err := newGate(Config{Classifier: &judge{}}, layer(policy.Layer{}), policy.Default).SetMode("auto"); err != nil {
		t.Fatal(err)
	}
}

// noting hooks tell the classifier something after a call.
type noting struct{ hooked }

func (noting) After(_ context.Context, _ tool.Admitted, r tool.Result, _ time.Duration, _ func(event.Body)) (tool.Result, tool.Verdict) {
	return r, tool.Verdict{Notes: []string{"the branch is protected"}}
}

func TestHooksNotesReachTheClassifier(t *testing.T) {
	j := &judge{}
	g := newGate(Config{Classifier: j, Hooks: noting{}}, layer(policy.Layer{Allow: []string{"Poke(x)"}}), policy.Auto)
	a, _, _ := admit(g, planned(t, "x"))
	if _, v := g.Review(t.Context(), a, tool.Text("ok"), 0, func(event.Body) {}); len(v.Notes) != 1 || !slices.Equal(j.noted, v.Notes) {
		t.Fatalf("noted %v", j.noted)
	}
}
