package gate

import (
	"context"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/action/gate/classify"
	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// patient waits until its question is withdrawn.
type patient struct{ asked chan struct{} }

func (p patient) Ask(ctx context.Context, _ event.Question) (event.Answer, error) {
	close(p.asked)
	<-ctx.Done()
	return event.Answer{}, context.Cause(ctx)
}

// The first valid answer counts, whoever gives it, and nobody is left waiting.
func TestHooksAndPersonAnswerSideBySide(t *testing.T) {
	yes, no := &event.Answer{Behavior: tool.Allow}, &event.Answer{Behavior: tool.Deny, Message: "not this one"}
	open := patient{make(chan struct{})}
	_, r, seen := admit(newGate(Config{Asker: open, Hooks: hooked{requested: no, wait: open.asked}}, layer(policy.Layer{}), policy.Default), planned(t, "x"))
	if r == nil || r.Decision.Layer != "hook" || !strings.Contains(text(r.Result), "not this one") {
		t.Fatalf("a slow hook's no while the dialog is open: %+v", r)
	}
	var asked, closed int
	for _, b := range seen {
		switch b := b.(type) {
		case event.Asked:
			asked++
		case event.Answered:
			closed++
			if b.Answer.Behavior != tool.Deny {
				t.Fatalf("%+v", b)
			}
		}
	}
	if asked != 1 || closed != 1 {
		t.Fatalf("asked %d, answered %d", asked, closed)
	}
	person := &asker{answer: event.Answer{Behavior: tool.Allow}}
	a, r, _ := admit(newGate(Config{Asker: person, Hooks: hooked{requested: no, wait: make(chan struct{})}}, layer(policy.Layer{}), policy.Default), planned(t, "x"))
	if r != nil || a.Decision.Layer != "person" {
		t.Fatalf("a hook that hangs: %+v", r)
	}
	a, r, _ = admit(newGate(Config{Asker: &asker{err: context.DeadlineExceeded}, Hooks: hooked{requested: yes}}, layer(policy.Layer{}), policy.Default), planned(t, "x"))
	if r != nil || a.Decision.Layer != "hook" {
		t.Fatalf("nobody but the hook can answer: %+v", r)
	}
}

// Where nobody can be asked the hooks still can; without a word of theirs the
// call is refused, and a deny rule is not a question.
func TestHooksAnswerWithoutAPerson(t *testing.T) {
	yes := &event.Answer{Behavior: tool.Allow}
	a, r, seen := admit(newGate(Config{Hooks: hooked{requested: yes}}, layer(policy.Layer{}), policy.Default), planned(t, "x"))
	if r != nil || a.Decision.Layer != "hook" {
		t.Fatalf("%+v", r)
	}
	for _, b := range seen {
		if _, ok := b.(event.Asked); ok {
			t.Fatal("a question is shown that nobody can answer")
		}
	}
	if _, r, _ = admit(newGate(Config{Hooks: hooked{}}, layer(policy.Layer{}), policy.Default), planned(t, "x")); r == nil || !strings.Contains(text(r.Result), "nobody can be asked") {
		t.Fatalf("%+v", r)
	}
	if _, r, _ = admit(newGate(Config{Hooks: hooked{requested: yes}}, layer(policy.Layer{Deny: []string{"Poke"}}), policy.Default), planned(t, "x")); r == nil {
		t.Fatal("a hook's answer lifted a deny rule")
	}
}

func TestRefusalCarriesTheContextOfHooks(t *testing.T) {
	h := hooked{answer: HookAnswer{Behavior: tool.Deny, Reason: "no", Context: []string{"use make instead"}}}
	_, r, _ := admit(newGate(Config{Hooks: h}, layer(policy.Layer{}), policy.Default), planned(t, "x"))
	if r == nil || len(r.Result.Content) != 2 {
		t.Fatalf("%+v", r)
	}
	said := r.Result.Content[1].(*msg.Text).Text
	if !strings.Contains(said, "use make instead") || !strings.Contains(said, "system-reminder") {
		t.Fatal(said)
	}
}

func TestHooksHearOfClassifierDenials(t *testing.T) {
	j := &judge{verdict: classify.Verdict{Behavior: tool.Deny, Reason: "it deploys"}}
	_, r, _ := admit(newGate(Config{Classifier: j, Hooks: hooked{retry: true}}, layer(policy.Layer{}), policy.Auto), planned(t, "x"))
	if r == nil || !strings.Contains(text(r.Result), "try this call once more") {
		t.Fatalf("%+v", r)
	}
	_, r, _ = admit(newGate(Config{Hooks: hooked{retry: true}}, layer(policy.Layer{Deny: []string{"Poke"}}), policy.Auto), planned(t, "x"))
	if r == nil || strings.Contains(text(r.Result), "try this call once more") {
		t.Fatalf("a deny rule is not the classifier's: %+v", r)
	}
}
