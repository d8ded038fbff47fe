package gate

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

type noLinks struct{}

func (noLinks) Resolve(p string) (string, bool) { return p, true }
func (noLinks) Glob(string) []string            { return nil }

type asker struct {
	answer event.Answer
	err    error
	asked  []event.Question
}

func (a *asker) Ask(_ context.Context, q event.Question) (event.Answer, error) {
	a.asked = append(a.asked, q)
	return a.answer, a.err
}

type hooked struct {
	answer HookAnswer
	// requested answers questions after wait; retry is the answer to Denied.
	requested *event.Answer
	wait      <-chan struct{}
	retry     bool
}

func (h hooked) Requested(ctx context.Context, _ tool.Planned, _ []event.Suggestion, _ func(event.Body)) (event.Answer, bool) {
	if h.wait != nil {
		select {
		case <-h.wait:
		case <-ctx.Done():
			return event.Answer{}, false
		}
	}
	if h.requested == nil {
		return event.Answer{}, false
	}
	return *h.requested, true
}

func (h hooked) Denied(context.Context, tool.Planned, string, func(event.Body)) bool { return h.retry }

func (h hooked) Before(context.Context, tool.Planned, func(event.Body)) HookAnswer { return h.answer }

func (hooked) After(_ context.Context, _ tool.Admitted, r tool.Result, _ time.Duration, _ func(event.Body)) (tool.Result, tool.Verdict) {
	r.IsError = true
	return r, tool.Verdict{PreventContinuation: true}
}

func poke() tool.Tool {
	spec := tool.Spec{Name: "Poke", MainField: "at", Schema: json.RawMessage(`{"type":"object","properties":{"at":{"type":"string"}},"required":["at"]}`)}
	return tool.Define(spec, func(in struct {
		At string `json:"at"`
	}, _ tool.Env,
	) (tool.Call, error) {
		return &tool.Func{Line: "Poke " + in.At, Wants: []tool.Need{{Kind: tool.NeedUse, Detail: in.At}}}, nil
	})
}

func newGate(c Config, l policy.Layer, mode policy.Mode) *Gate {
	c.Snapshot = policy.New(policy.Config{Layers: []policy.Layer{l}, Mode: mode, Project: "/w", Home: "/h", Tools: []tool.Spec{poke().Spec()}})
	c.Paths = noLinks{}
	c.NewID = func() string { return "q1" }
	return New(c)
}

func planned(t *testing.T, at string) tool.Planned {
	t.Helper()
	in := json.RawMessage(`{"at":"` + at + `"}`)
	env := tool.Env{Cwd: "/w", Project: "/w", Roots: []string{"/w"}}
	call, err := poke().Plan(in, env)
	if err != nil {
		t.Fatal(err)
	}
	return tool.Planned{Tool: poke(), Use: msg.NewToolUse("t1", "Poke", in), Call: call, Env: env}
}

func admit(g *Gate, p tool.Planned) (tool.Admitted, *tool.Refusal, []event.Body) {
	var seen []event.Body
	a, r := g.Admit(context.Background(), p, func(b event.Body) { seen = append(seen, b) })
	return a, r, seen
}

func layer(l policy.Layer) policy.Layer {
	l.Origin = policy.Origin{Scope: policy.ScopeUser, File: "/h/settings.json"}
	return l
}

func TestNobodyToAskMeansNo(t *testing.T) {
	_, r, seen := admit(newGate(Config{}, layer(policy.Layer{}), policy.Default), planned(t, "x"))
	if r == nil || !strings.Contains(text(r.Result), "nobody can be asked") {
		t.Fatalf("%+v", r)
	}
	d := seen[len(seen)-1].(event.Decided)
	if d.Decision.Behavior != tool.Deny || len(d.Decision.Trace) == 0 {
		t.Fatalf("%+v", d)
	}
}

func text(r tool.Result) string { return r.Content[0].(*msg.Text).Text }

func TestRulesDecide(t *testing.T) {
	if _, r, _ := admit(newGate(Config{}, layer(policy.Layer{Allow: []string{"Poke"}}), policy.Default), planned(t, "x")); r != nil {
		t.Fatalf("an allowed call was refused: %s", text(r.Result))
	}
	_, r, _ := admit(newGate(Config{}, layer(policy.Layer{Allow: []string{"Poke"}, Deny: []string{"Poke(x)"}}), policy.Bypass), planned(t, "x"))
	if r == nil || !strings.Contains(text(r.Result), "/h/settings.json") || !strings.Contains(text(r.Result), "Poke(x)") {
		t.Fatalf("the denial does not name its rule and file: %+v", r)
	}
}

func TestPersonAnswers(t *testing.T) {
	yes := &asker{answer: event.Answer{Behavior: tool.Allow}}
	if _, r, _ := admit(newGate(Config{Asker: yes}, layer(policy.Layer{}), policy.Default), planned(t, "x")); r != nil || len(yes.asked) != 1 {
		t.Fatalf("%v, asked %d times", r, len(yes.asked))
	}
	no := &asker{answer: event.Answer{Behavior: tool.Deny, Message: "use y instead", Interrupt: true}}
	_, r, _ := admit(newGate(Config{Asker: no}, layer(policy.Layer{}), policy.Default), planned(t, "x"))
	if r == nil || text(r.Result) != "use y instead" || !r.Interrupt {
		t.Fatalf("%+v", r)
	}
	words := &asker{answer: event.Answer{Behavior: tool.Allow, Message: "and then z"}}
	g := newGate(Config{Asker: words}, layer(policy.Layer{}), policy.Default)
	a, _, _ := admit(g, planned(t, "x"))
	if res, _ := g.Review(t.Context(), a, tool.Text("done"), 0, nil); len(res.Content) != 2 || !strings.Contains(res.Content[1].(*msg.Text).Text, "and then z") {
		t.Fatalf("the words with a yes are lost: %+v", res)
	}
	lost := &asker{err: errors.New("gone")}
	if _, r, _ = admit(newGate(Config{Asker: lost}, layer(policy.Layer{}), policy.Default), planned(t, "x")); r == nil {
		t.Fatal("a failed question let the call through")
	}
}

func TestChangedInputIsJudgedAgain(t *testing.T) {
	a := &asker{answer: event.Answer{Behavior: tool.Allow, Input: json.RawMessage(`{"at":"secret"}`)}}
	_, r, _ := admit(newGate(Config{Asker: a}, layer(policy.Layer{Deny: []string{"Poke(secret)"}}), policy.Default), planned(t, "x"))
	if r == nil {
		t.Fatal("a person's change got round a deny rule")
	}
	a.answer.Input = json.RawMessage(`{"at":"y"}`)
	got, r, _ := admit(newGate(Config{Asker: a}, layer(policy.Layer{}), policy.Default), planned(t, "x"))
	if r != nil || got.Call.Title() != "Poke y" || string(got.Use.Input) != `{"at":"y"}` {
		t.Fatalf("%+v %+v", got, r)
	}
	a.answer.Input = json.RawMessage(`{"at":5}`)
	if _, r, _ = admit(newGate(Config{Asker: a}, layer(policy.Layer{}), policy.Default), planned(t, "x")); r == nil {
		t.Fatal("an invalid change ran")
	}
}

func TestGrantHoldsForTheSession(t *testing.T) {
	var saved []event.Suggestion
	a := &asker{answer: event.Answer{Behavior: tool.Allow, Updates: []event.Suggestion{{
		Type: "addRules", Behavior: "allow", Rules: []event.Rule{{Tool: "Poke", Content: "x"}}, Destination: "localSettings",
	}}}}
	g := newGate(Config{Asker: a, Save: func(s event.Suggestion) error { saved = append(saved, s); return nil }}, layer(policy.Layer{}), policy.Default)
	for range 2 {
		if _, r, _ := admit(g, planned(t, "x")); r != nil {
			t.Fatal(text(r.Result))
		}
	}
	if len(a.asked) != 1 || len(saved) != 1 {
		t.Fatalf("asked %d times, saved %d", len(a.asked), len(saved))
	}
	if _, _, _ = admit(g, planned(t, "z")); len(a.asked) != 2 {
		t.Fatal("the grant covers more than it says")
	}
}

func TestHooks(t *testing.T) {
	g := newGate(Config{Hooks: hooked{answer: HookAnswer{Behavior: tool.Deny, Reason: "not on Fridays"}}}, layer(policy.Layer{Allow: []string{"Poke"}}), policy.Bypass)
	if _, r, _ := admit(g, planned(t, "x")); r == nil || !strings.Contains(text(r.Result), "not on Fridays") {
		t.Fatalf("%+v", r)
	}
	g = newGate(Config{Hooks: hooked{answer: HookAnswer{Behavior: tool.Allow}}}, layer(policy.Layer{Deny: []string{"Poke(x)"}}), policy.Default)
	if _, r, _ := admit(g, planned(t, "x")); r == nil {
		t.Fatal("a hook lifted a deny rule")
	}
	g = newGate(Config{Hooks: hooked{answer: HookAnswer{Input: json.RawMessage(`{"at":"z"}`)}}}, layer(policy.Layer{Allow: []string{"Poke(z)"}}), policy.Default)
	a, r, _ := admit(g, planned(t, "x"))
	if r != nil || a.Call.Title() != "Poke z" {
		t.Fatalf("%+v %+v", a, r)
	}
	res, v := g.Review(context.Background(), a, tool.Text("ok"), 0, func(event.Body) {})
	if !res.IsError || !v.PreventContinuation {
		t.Fatal("the hooks after the call were not heard")
	}
}

func TestBypassNeedsTheLaunch(t *testing.T) {
	g := newGate(Config{}, layer(policy.Layer{}), policy.Default)
	if err := g.SetMode("bypassPermissions"); err == nil {
		t.Fatal("bypass was entered although it was not enabled at launch")
	}
	if err := g.SetMode("manual"); err != nil || g.Mode() != "default" {
		t.Fatal(err, g.Mode())
	}
	if err := g.SetMode("sudo"); err == nil {
		t.Fatal("an unknown mode was taken")
	}
}

func TestDeniedToolIsNotOffered(t *testing.T) {
	if newGate(Config{}, layer(policy.Layer{Deny: []string{"Poke"}}), policy.Default).Offered(poke().Spec()) {
		t.Fatal("offered")
	}
	if !newGate(Config{}, layer(policy.Layer{Deny: []string{"Poke(x)"}}), policy.Default).Offered(poke().Spec()) {
		t.Fatal("a scoped rule hides the tool")
	}
}
