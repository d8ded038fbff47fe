package wiring

import (
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/tool"
)

// ruleLines is what /permissions shows: the rules in force, in the order in which
// they are tried.
func (b *build) ruleLines() []string {
	s := b.gateRef.Snapshot()
	var out []string
	for _, behavior := range []tool.Behavior{tool.Deny, tool.Ask, tool.Allow} {
		for _, r := range s.Rules(behavior) {
			where := r.Origin.File
			if where == "" {
				where = string(r.Origin.Scope)
			}
			out = append(out, fmt.Sprintf("%s %s (%s)", behavior, r.Text, where))
		}
	}
	return out
}

// addRule is /permissions with a rule: the person's own words, so it takes the way
// of a lasting answer. A rule that cannot count is refused.
func (b *build) addRule(list, text, scope string) (string, error) {
	to := map[string]policy.Destination{"local": policy.ToLocal, "project": policy.ToProject, "user": policy.ToUser, "session": policy.ToSession}[scope]
	next, err := b.gateRef.Snapshot().Apply(policy.Update{Kind: policy.AddRules, Behavior: tool.Behavior(list), Rules: []string{text}, Destination: to})
	if err != nil {
		return "", fmt.Errorf("add the rule %s: %w", text, err)
	}
	for _, w := range next.Warnings() {
		if w.Rule == text {
			return "", fmt.Errorf("the rule %s would not be used: %s", text, w.Text)
		}
	}
	rule := event.Rule{Tool: text}
	if name, content, ok := strings.Cut(text, "("); ok {
		rule = event.Rule{Tool: name, Content: strings.TrimSuffix(content, ")")}
	}
	err = b.gateRef.Update([]event.Suggestion{{
		Type: string(policy.AddRules), Behavior: list, Destination: string(to), Rules: []event.Rule{rule},
	}})
	if err != nil {
		return "", err
	}
	if to == policy.ToSession {
		return "no file (it ends with the session)", nil
	}
	return "the " + scope + " settings", nil
}
