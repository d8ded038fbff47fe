package gate

import (
	"strings"

	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/tool"
)

// suggestions puts the policy's proposals into the form that surfaces and hosts read.
func suggestions(us []policy.Update) []event.Suggestion {
	out := make([]event.Suggestion, 0, len(us))
	for _, u := range us {
		s := event.Suggestion{
			Type: string(u.Kind), Behavior: string(u.Behavior), Mode: string(u.Mode),
			Directories: u.Directories, Destination: string(u.Destination),
		}
		for _, r := range u.Rules {
			s.Rules = append(s.Rules, splitRule(r))
		}
		out = append(out, s)
	}
	return out
}

func splitRule(text string) event.Rule {
	name, rest, ok := strings.Cut(text, "(")
	if !ok {
		return event.Rule{Tool: text}
	}
	return event.Rule{Tool: name, Content: strings.TrimSuffix(rest, ")")}
}

// parse is the way back: an update that a person or host chose.
func parse(s event.Suggestion) policy.Update {
	u := policy.Update{
		Kind: policy.UpdateKind(s.Type), Behavior: tool.Behavior(s.Behavior), Mode: policy.Mode(s.Mode),
		Directories: s.Directories, Destination: policy.Destination(s.Destination),
	}
	for _, r := range s.Rules {
		u.Rules = append(u.Rules, ruleText(r))
	}
	return u
}

func ruleText(r event.Rule) string {
	if r.Content == "" {
		return r.Tool
	}
	return r.Tool + "(" + r.Content + ")"
}

// lasting tells whether a destination is a file.
func lasting(destination string) bool {
	switch policy.Destination(destination) {
	case policy.ToLocal, policy.ToProject, policy.ToUser:
		return true
	case policy.ToSession, policy.ToFlags:
	}
	return false
}
