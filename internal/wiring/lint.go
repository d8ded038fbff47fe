package wiring

import (
	"fmt"

	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/state/settings"
)

// Finding is something about the configuration that a person should know.
type Finding struct {
	// Wrong tells that something was meant to count and does not.
	Wrong bool   `json:"wrong"`
	About string `json:"about"` // settings, hooks, permissions or keys
	Text  string `json:"text"`
}

// Lint judges the settings, hooks and permission rules that a session would
// use. It changes and runs nothing.
func (h *HookBook) Lint() ([]Finding, error) {
	b := h.b
	out := []Finding{}
	_, problems := settings.Load(b.settingsConfig)
	for _, p := range problems {
		out = append(out, Finding{p.Severity != settings.Note && p.Severity != settings.Held, "settings", p.String()})
	}
	for _, u := range b.settings.Unknown() {
		out = append(out, unknownKey(u))
	}
	for _, n := range h.d.Lint() {
		out = append(out, Finding{true, "hooks", n.String()})
	}
	cfg, err := b.policy(specsOf(b.catalogue(b.dialect())))
	if err != nil {
		return nil, err
	}
	s := policy.New(cfg)
	lines := rowLines(b.settings.Permissions())
	for _, w := range s.Warnings() {
		out = append(out, ruleFinding(lines, w, true))
	}
	for _, w := range s.Risks() {
		out = append(out, ruleFinding(lines, w, false))
	}
	return out, nil
}

func ruleFinding(lines map[place]int, w policy.Warning, wrong bool) Finding {
	where := w.Origin.File
	if n := lines[place{w.Behavior, w.Rule, w.Origin.File}]; n > 0 {
		where += fmt.Sprintf(":%d", n)
	}
	return Finding{wrong, "permissions", fmt.Sprintf("%s: the %s rule %q: %s", where, w.Behavior, w.Rule, w.Text)}
}

// unknownKey tells of a key that does nothing; one that is spelled almost like a
// known one was meant to.
func unknownKey(u settings.Unknown) Finding {
	f := Finding{u.Near != "", "settings", fmt.Sprintf("%s: hew does nothing with the key %s", u.Origin, u.Key)}
	if f.Wrong {
		f.Text += "; did you mean " + u.Near + "?"
	}
	return f
}
