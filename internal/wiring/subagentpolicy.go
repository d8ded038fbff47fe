package wiring

import (
	"context"
	"slices"

	"github.com/hew-agent/hew/internal/action/gate"
	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/state/catalog"
)

// shape is the policy of the subagent: the conversation's mode when that was
// opened up by the person, else its own; the rules are the conversation's.
func (c *child) shape(s *policy.Snapshot) *policy.Snapshot {
	cfg, changed := s.Config(), false
	if c.task.Allowed != nil {
		cfg, changed = scoped(cfg, c.task.Allowed), true
	}
	if c.book != nil {
		cfg.Notes, changed = append(slices.Clip(cfg.Notes), c.book.Dir), true
	}
	if c.tree != nil {
		cfg.Project, changed = c.tree.dir(), true
	}
	if changed {
		s = policy.New(cfg)
	}
	b := c.s.b
	return s.WithMode(overridden(s.Mode(), c.task.Kind, c.task.Mode, modes{
		bypass: b.o.SkipPermissions || b.o.AllowSkip, auto: b.judge != nil,
	}))
}

// modes says which modes a subagent may be given here.
type modes struct{ bypass, auto bool }

// overridden is the mode of a subagent: its parent's where the person has opened
// that up, else what its file says, made stricter by what the call asks for.
func overridden(parent policy.Mode, k *catalog.Agent, asked string, can modes) policy.Mode {
	if prevails(parent) {
		return parent
	}
	mode := parent
	if k != nil && k.Mode != "" {
		if m, _, err := policy.ParseMode(k.Mode); err == nil && grants(k, parent, m, can) {
			mode = m
		}
	}
	if m, _, err := policy.ParseMode(asked); asked != "" && err == nil && stricter(m, mode) {
		mode = m
	}
	return mode
}

// grants tells whether an agent's file may choose a mode. That of a repository
// never switches permissions off, and opens up nothing before somebody trusts it.
func grants(k *catalog.Agent, parent, m policy.Mode, can modes) bool {
	switch m {
	case policy.Bypass:
		return can.bypass && k.Origin.Scope != catalog.Project
	case policy.Auto:
		return can.auto && !k.Held
	case policy.AcceptEdits:
		return !k.Held
	case policy.Default, policy.Plan, policy.DontAsk:
	}
	return !k.Held || stricter(m, parent)
}

// stricter tells whether m lets nothing pass that the other mode does not. A
// model may ask for that and for nothing else.
func stricter(m, than policy.Mode) bool {
	switch m {
	case policy.Plan:
		return true
	case policy.DontAsk:
		return than != policy.Plan
	case policy.Default, policy.AcceptEdits, policy.Auto, policy.Bypass:
	}
	return m == policy.Default && than != policy.Plan && than != policy.DontAsk
}

// prevails tells the modes of a parent that hold for its subagents, whatever
// these ask for.
func prevails(m policy.Mode) bool {
	switch m {
	case policy.Bypass, policy.AcceptEdits, policy.Auto:
		return true
	case policy.Default, policy.Plan, policy.DontAsk:
	}
	return false
}

// scoped puts grants in the place of those that the session has given; rules of
// files and of the command line stay, and so does what the session denies or
// wants to be asked about: a list of grants takes no refusal away.
func scoped(cfg policy.Config, allowed []string) policy.Config {
	cfg.Layers = slices.Clone(cfg.Layers)
	for i := range cfg.Layers {
		if cfg.Layers[i].Origin.Scope == policy.ScopeSession {
			cfg.Layers[i].Allow = nil
		}
	}
	cfg.Layers = append(cfg.Layers, policy.Layer{
		Origin: policy.Origin{Scope: policy.ScopeSession, File: "the agent's allowed tools", Dir: cfg.Project}, Allow: allowed,
	})
	return cfg
}

// showing says who of the subagents may put questions to the person.
type showing string

// The ways: by default all of them; only those that somebody waits for; nobody.
const (
	showBubble     showing = "bubble"
	showForeground showing = "foreground"
	showNever      showing = "never"
)

// mayAsk tells whether a subagent's questions reach the person: an explicit word
// first, then bubbling, which always shows, then whether somebody waits for it.
func mayAsk(explicit *bool, how showing, background bool) bool {
	switch {
	case explicit != nil:
		return *explicit
	case how == showBubble:
		return true
	case how == showNever:
		return false
	}
	return !background
}

// showingKey is the setting of who may ask; HEW_SUBAGENT_QUESTIONS=1 or 0 is the
// explicit word for one run.
const showingKey = "subagentQuestions"

func (b *build) mayAsk(background bool) bool {
	var explicit *bool
	if v := b.env("HEW_SUBAGENT_QUESTIONS"); v != "" {
		yes := truthy(v)
		explicit = &yes
	}
	how := showing(b.settings.Text(showingKey))
	switch how {
	case showBubble, showForeground, showNever:
	default:
		how = showBubble
	}
	return mayAsk(explicit, how, background)
}

// asker is who the subagent asks: the person of the conversation, told which
// agent it is that asks.
func (c *child) asker() gate.Asker {
	if c.s.b.o.Asker == nil || !c.s.b.mayAsk(c.task.Background) {
		return nil
	}
	return speaking{c.s.b.o.Asker, c}
}

// speaking puts the agent's name to a question.
type speaking struct {
	gate.Asker
	c *child
}

// Ask asks.
func (n speaking) Ask(ctx context.Context, q event.Question) (event.Answer, error) {
	q.Origin = n.c.e.Origin()
	q.Title = n.c.kind() + " agent: " + q.Title
	return n.Asker.Ask(ctx, q)
}

// permissions judge the subagent's calls; in a worktree nothing reaches into the
// checkout that it was made of.
func (c *child) permissions() engine.Permissions {
	if t := c.wall(); t != nil {
		return &walled{c.gate, t}
	}
	return c.gate
}

// wall is the worktree that the subagent must not leave: its own, or that of the
// agent above it.
func (c *child) wall() *tree {
	if c.tree == nil && c.home.wall != nil {
		return c.home.wall()
	}
	return c.tree
}
