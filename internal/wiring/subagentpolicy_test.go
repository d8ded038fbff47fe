package wiring

import (
	"testing"

	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/state/catalog"
)

// AG-24: six modes of the parent, four of the agent.
func TestOverride(t *testing.T) {
	parents := []policy.Mode{policy.Default, policy.AcceptEdits, policy.Plan, policy.Auto, policy.DontAsk, policy.Bypass}
	children := []policy.Mode{policy.Default, policy.AcceptEdits, policy.Plan, policy.Bypass}
	for _, parent := range parents {
		for _, child := range children {
			want := child
			if prevails(parent) {
				want = parent
			}
			k := &catalog.Agent{Mode: string(child), Origin: catalog.Origin{Scope: catalog.User}}
			if got := overridden(parent, k, "", modes{bypass: true, auto: true}); got != want {
				t.Errorf("parent %s, agent %s: %s, want %s", parent, child, got, want)
			}
		}
	}
}

func TestWhoMayChooseAMode(t *testing.T) {
	all := modes{bypass: true, auto: true}
	for _, c := range []struct {
		name   string
		parent policy.Mode
		agent  catalog.Agent
		asked  string
		can    modes
		want   policy.Mode
	}{
		{"a repository never gives bypass", policy.Default, catalog.Agent{Mode: "bypassPermissions", Origin: catalog.Origin{Scope: catalog.Project}}, "", all, policy.Default},
		{"bypass must be enabled at launch", policy.Default, catalog.Agent{Mode: "bypassPermissions", Origin: catalog.Origin{Scope: catalog.User}}, "", modes{}, policy.Default},
		{"an untrusted repository opens up nothing", policy.Default, catalog.Agent{Mode: "acceptEdits", Held: true, Origin: catalog.Origin{Scope: catalog.Project}}, "", all, policy.Default},
		{"an untrusted repository may be stricter", policy.Default, catalog.Agent{Mode: "plan", Held: true, Origin: catalog.Origin{Scope: catalog.Project}}, "", all, policy.Plan},
		{"auto mode that is off", policy.Default, catalog.Agent{Mode: "auto"}, "", modes{}, policy.Default},
		{"a call may be stricter", policy.Default, catalog.Agent{}, "plan", all, policy.Plan},
		{"a call may not open up", policy.Default, catalog.Agent{}, "acceptEdits", all, policy.Default},
		{"a call may not leave plan mode", policy.Plan, catalog.Agent{}, "dontAsk", all, policy.Plan},
		{"a call may not switch off", policy.Default, catalog.Agent{}, "bypassPermissions", all, policy.Default},
		{"a call tightens what the file opens", policy.Default, catalog.Agent{Mode: "acceptEdits"}, "default", all, policy.Default},
		{"a call does not move an opened parent", policy.AcceptEdits, catalog.Agent{}, "plan", all, policy.AcceptEdits},
		{"nonsense", policy.Default, catalog.Agent{}, "sudo", all, policy.Default},
	} {
		if got := overridden(c.parent, &c.agent, c.asked, c.can); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// AG-25: the explicit word, then bubbling, then whether somebody waits.
func TestWhoMayAsk(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		explicit   *bool
		how        showing
		background bool
		want       bool
	}{
		{&yes, showNever, true, true},
		{&yes, showForeground, true, true},
		{&no, showBubble, false, false},
		{&no, showBubble, true, false},
		{nil, showBubble, true, true},
		{nil, showBubble, false, true},
		{nil, showForeground, false, true},
		{nil, showForeground, true, false},
		{nil, showNever, false, false},
		{nil, showNever, true, false},
	} {
		if got := mayAsk(c.explicit, c.how, c.background); got != c.want {
			t.Errorf("%v %s background=%v: %v", c.explicit, c.how, c.background, got)
		}
	}
}

// AG-27: rules of files and the command line stay, those of the session go when
// the agent has a list of its own. AG-28: the parent's policy is what it was.
func TestTwoTiers(t *testing.T) {
	parent := policy.Config{Project: "/p", Layers: []policy.Layer{
		{Origin: policy.Origin{Scope: policy.ScopeFlags}, Allow: []string{"Bash(a)"}},
		{Origin: policy.Origin{Scope: policy.ScopeSession}, Allow: []string{"Bash(b)"}},
	}}
	child := scoped(parent, []string{"Bash(c)"})
	var got []string
	for _, l := range child.Layers {
		for _, rule := range l.Allow {
			got = append(got, string(l.Origin.Scope)+" "+rule)
		}
	}
	if len(got) != 2 || got[0] != "cli Bash(a)" || got[1] != "session Bash(c)" {
		t.Errorf("the child's layers: %v", got)
	}
	if len(parent.Layers) != 2 || parent.Layers[1].Allow[0] != "Bash(b)" {
		t.Errorf("the parent's layers have changed: %v", parent.Layers)
	}
	parent.Layers[1].Deny, parent.Layers[1].Ask = []string{"Write"}, []string{"Bash(d)"}
	kept := scoped(parent, []string{"Write"}).Layers[1]
	if len(kept.Allow) != 0 || len(kept.Deny) != 1 || len(kept.Ask) != 1 {
		t.Errorf("what the session denies or asks about went with its grants: %v", kept)
	}
	parent.Layers[1].Deny, parent.Layers[1].Ask = nil, nil
	if none := scoped(parent, []string{}); len(none.Layers) != 3 || len(none.Layers[1].Allow)+len(none.Layers[2].Allow) != 0 {
		t.Errorf("an empty list allows nothing more: %v", none.Layers)
	}
}
