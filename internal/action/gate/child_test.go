package gate

import (
	"testing"

	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/tool"
)

func same(s *policy.Snapshot) *policy.Snapshot { return s }

func TestChildFollowsItsParent(t *testing.T) {
	parent := newGate(Config{BypassAllowed: true}, layer(policy.Layer{}), policy.Default)
	child := parent.Child(ChildConfig{Shape: same})
	if _, r, _ := admit(child, planned(t, "x")); r == nil {
		t.Fatal("nobody allowed this")
	}
	if err := parent.Update([]event.Suggestion{{Type: "addRules", Behavior: "allow", Rules: []event.Rule{{Tool: "Poke"}}, Destination: "session"}}); err != nil {
		t.Fatal(err)
	}
	if _, r, _ := admit(child, planned(t, "x")); r != nil {
		t.Fatalf("a grant for the session did not reach the child: %s", text(r.Result))
	}
}

func TestChildNeverChangesItsParentsMode(t *testing.T) {
	parent := newGate(Config{}, layer(policy.Layer{}), policy.Default)
	child := parent.Child(ChildConfig{Shape: same})
	if err := child.SetMode("plan"); err != nil {
		t.Fatal(err)
	}
	if child.Mode() != "plan" || parent.Mode() != "default" {
		t.Fatalf("child %s, parent %s", child.Mode(), parent.Mode())
	}
}

func TestChildsGrantIsTheSessions(t *testing.T) {
	a := &asker{answer: event.Answer{Behavior: tool.Allow, Updates: []event.Suggestion{{
		Type: "addRules", Behavior: "allow", Rules: []event.Rule{{Tool: "Poke"}}, Destination: "session",
	}}}}
	parent := newGate(Config{}, layer(policy.Layer{}), policy.Default)
	child := parent.Child(ChildConfig{Shape: same, Asker: a})
	if _, r, _ := admit(child, planned(t, "x")); r != nil || len(a.asked) != 1 {
		t.Fatalf("%v, asked %d times", r, len(a.asked))
	}
	if _, r, _ := admit(parent, planned(t, "y")); r != nil {
		t.Fatalf("the answer holds for the conversation: %s", text(r.Result))
	}
}
