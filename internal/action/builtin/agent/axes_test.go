package agent

import (
	"testing"

	"github.com/hew-agent/hew/internal/state/catalog"
	"github.com/hew-agent/hew/internal/tool"
)

// TestAxes: routing (own subagent or member of the team), isolation and lifecycle
// are chosen apart from each other (AG-36). A member always goes on by itself, and
// isolation that a call asks for keeps a subagent out of the team.
func TestAxes(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		kind, name, isolation string
		background            *bool
		mates                 bool
		mate                  bool
		apart                 string
		detached              bool
	}{
		{"plain", "", "", nil, true, false, "", false},
		{"plain", "", "", &no, true, false, "", false},
		{"plain", "", "", &yes, true, false, "", true},
		{"plain", "", "worktree", &no, true, false, "worktree", false},
		{"plain", "", "worktree", &yes, true, false, "worktree", true},
		{"apart", "", "", &no, true, false, "worktree", false},
		{"apart", "", "", &yes, true, false, "worktree", true},
		{"plain", "ann", "", nil, true, true, "", true},
		{"plain", "ann", "", &no, true, true, "", true},
		{"apart", "ann", "", nil, true, true, "worktree", true},
		{"plain", "ann", "worktree", &no, true, false, "worktree", false},
		{"plain", "ann", "", &no, false, false, "", false},
		{"apart", "ann", "", &yes, false, false, "worktree", true},
	} {
		crew := New(Config{
			Background: true, Worktrees: true, Mates: c.mates,
			Kinds: func() []*catalog.Agent {
				return []*catalog.Agent{{Name: "plain"}, {Name: "apart", Isolation: "worktree"}}
			},
		})
		got, err := crew.planAgent(agentInput{Prompt: "p", Type: c.kind, Name: c.name, Isolation: c.isolation, Background: c.background}, tool.Env{})
		if err != nil {
			t.Fatal(err)
		}
		if task := got.(*call).task; task.Mate != c.mate || task.Isolation != c.apart || task.Background != c.detached {
			t.Errorf("%+v: member %v, isolation %q, background %v", c, task.Mate, task.Isolation, task.Background)
		}
	}
}
