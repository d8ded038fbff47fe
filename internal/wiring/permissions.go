package wiring

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/hew-agent/hew/internal/action/gate"
	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/action/policy/shellread"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/state/settings"
	"github.com/hew-agent/hew/internal/tool"
)

// Permissions answers questions about what a session with the same options
// would allow. It writes nothing, runs nothing and asks nobody.
type Permissions struct{ b *build }

// OpenPermissions reads the settings as a session would. Close frees it.
func OpenPermissions(o Options) (*Permissions, error) {
	o.NoPersist, o.Resume, o.Continue, o.Fork = true, "", false, false
	if o.NewID == nil {
		o.NewID = session.NewID
	}
	b := &build{o: &o, conv: &Conversation{}, facts: shellread.NewReader(rememberedCommands)}
	if err := errors.Join(b.locate(), b.session(context.Background())); err != nil {
		return nil, err
	}
	b.runner = shell.New(shell.Config{NoSnapshot: true, Shell: o.getenv("CLAUDE_CODE_SHELL"), Env: b.environ()})
	b.conv.close = append(b.conv.close, b.runner.Close)
	return &Permissions{b}, nil
}

// Close frees what asking needed.
func (p *Permissions) Close() error { return p.b.conv.Close() }

// ModeRow is the permission mode and where it comes from.
type ModeRow struct {
	Name   string `json:"name"`
	Origin string `json:"origin"`
}

// DirectoryRow is one working directory and where it comes from.
type DirectoryRow struct {
	Path   string `json:"path"`
	Origin string `json:"origin"`
}

// RuleRow is one rule as written. A rule with a warning is never used, or not
// in the way that its author may think.
type RuleRow struct {
	Behavior string `json:"behavior"`
	Rule     string `json:"rule"`
	Scope    string `json:"scope"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	InForce  bool   `json:"in_force"`
	Warning  string `json:"warning,omitempty"`
}

// HeldRow is something that a repository asks for and nobody has granted.
type HeldRow struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
	File  string          `json:"file"`
	Line  int             `json:"line,omitempty"`
}

// PermissionList is everything that decides.
type PermissionList struct {
	Mode        ModeRow        `json:"mode"`
	Directories []DirectoryRow `json:"directories"`
	Rules       []RuleRow      `json:"rules"`
	Held        []HeldRow      `json:"held"`
	// Switches are the settings that tighten every decision.
	Switches []string `json:"switches"`
}

// List says what is in force: deny rules first, in the order they are tried.
func (p *Permissions) List() (PermissionList, error) {
	b := p.b
	cfg, err := b.policy(specsOf(b.catalogue(b.dialect())))
	if err != nil {
		return PermissionList{}, err
	}
	s := policy.New(cfg)
	perms := b.settings.Permissions()
	out := PermissionList{
		Mode: p.mode(s), Directories: b.directories(), Rules: ruleRows(s, perms),
		Held: []HeldRow{}, Switches: switches(cfg),
	}
	for _, h := range b.settings.Held() {
		out.Held = append(out.Held, HeldRow{h.Key, h.Raw, h.Origin.File, h.Origin.Line})
	}
	return out, nil
}

func (p *Permissions) mode(s *policy.Snapshot) ModeRow {
	perms := p.b.settings.Permissions()
	m := ModeRow{string(s.Mode()), "the default"}
	switch {
	case p.b.o.Mode != "" || p.b.o.SkipPermissions:
		m.Origin = "the command line"
	case perms.DefaultMode != "":
		m.Origin = perms.DefaultModeOrigin.String()
	}
	return m
}

func (b *build) directories() []DirectoryRow {
	rows := []DirectoryRow{{b.place.Project, "the start directory"}}
	n := len(b.o.AddDirs)
	for i, d := range b.place.Roots[1:] {
		origin := "--add-dir"
		if i >= n {
			origin = "settings"
			for _, r := range b.settings.Permissions().AdditionalDirectories {
				if real, err := b.dir(r.Text); err == nil && real == d {
					origin = r.Top().String()
				}
			}
		}
		rows = append(rows, DirectoryRow{d, origin})
	}
	return rows
}

func switches(c policy.Config) []string {
	out := []string{}
	for _, s := range []struct {
		on   bool
		text string
	}{
		{c.ManagedOnly, "only managed rules count (allowManagedPermissionRulesOnly)"},
		{c.BlockReadsOutside, "reading outside the working directories is blocked (permissions.blockReadsOutsideWorkingDirectories)"},
		{c.BlockWritesOutside, "writing outside the working directories is blocked (permissions.blockWritesOutsideWorkingDirectories)"},
		{c.NoPrompts, "questions are refused instead of asked (permissions.denyInsteadOfPrompting, --permission-prompts none)"},
		{c.BypassDisabled, "bypassPermissions is disabled (permissions.disableBypassPermissionsMode)"},
	} {
		if s.on {
			out = append(out, s.text)
		}
	}
	return out
}

// ruleRows pairs the rules with their lines and warnings; skipped rules follow.
func ruleRows(s *policy.Snapshot, perms settings.Permissions) []RuleRow {
	warned := map[place]string{}
	for _, w := range s.Warnings() {
		warned[place{w.Behavior, w.Rule, w.Origin.File}] = w.Text
	}
	for _, w := range s.Risks() {
		if at := (place{w.Behavior, w.Rule, w.Origin.File}); warned[at] == "" {
			warned[at] = w.Text
		}
	}
	lines := rowLines(perms)
	out := []RuleRow{}
	row := func(at place, o policy.Origin, inForce bool) {
		out = append(out, RuleRow{string(at.behavior), at.rule, string(o.Scope), at.file, lines[at], inForce, warned[at]})
	}
	seen := map[place]bool{}
	for _, b := range []tool.Behavior{tool.Deny, tool.Ask, tool.Allow} {
		for _, r := range s.Rules(b) {
			at := place{b, r.Text, r.Origin.File}
			seen[at] = true
			row(at, r.Origin, true)
		}
	}
	for _, w := range s.Warnings() {
		if at := (place{w.Behavior, w.Rule, w.Origin.File}); !seen[at] {
			row(at, w.Origin, false)
		}
	}
	return out
}

// place is where a rule stands.
type place struct {
	behavior   tool.Behavior
	rule, file string
}

func rowLines(p settings.Permissions) map[place]int {
	lines := map[place]int{}
	each := func(b tool.Behavior, rules []settings.Rule) {
		for _, r := range rules {
			for _, o := range r.Origins {
				lines[place{b, r.Text, o.File}] = o.Line
			}
		}
	}
	each(tool.Deny, p.Deny)
	each(tool.Ask, p.Ask)
	each(tool.Allow, p.Allow)
	return lines
}

// CallExplanation is a verdict with everything that led to it.
type CallExplanation struct {
	Tool    string          `json:"tool"`
	Input   json.RawMessage `json:"input"`
	Mode    ModeRow         `json:"mode"`
	Verdict string          `json:"verdict"`
	// Layer and Reason say what decided, Part which piece of a compound command.
	Layer  string `json:"layer"`
	Reason string `json:"reason"`
	Part   string `json:"part,omitempty"`
	Rule   string `json:"rule,omitempty"`
	File   string `json:"file,omitempty"`
	// Forced questions are answered by a person only: no rule, mode or hook
	// lifts them.
	Forced bool        `json:"forced,omitempty"`
	Chain  []tool.Step `json:"chain"`
	// Suggestions are the lasting answers that the question would offer.
	Suggestions []event.Suggestion `json:"suggestions"`
}

// Explain decides about one call, written as 'Tool(text)', 'Tool {JSON}' or
// 'Tool'. Hooks are not run: a hook may still refuse, or ask, or allow.
func (p *Permissions) Explain(call string) (CallExplanation, error) {
	b := p.b
	tools := b.catalogue(b.dialect())
	t, input, err := readCall(tools, call)
	if err != nil {
		return CallExplanation{}, err
	}
	s, err := b.safety(specsOf(known(tools, t)))
	if err != nil {
		return CallExplanation{}, err
	}
	e := judge(b.gate(s), t, input, b.questionEnv(), gate.HookAnswer{})
	out := explained(t.Spec().Name, input, e)
	out.Mode = p.mode(s)
	return out, nil
}

// known adds a tool that was stood in for.
func known(tools []tool.Tool, t tool.Tool) []tool.Tool {
	if _, ok := find(tools, t.Spec().Name); ok {
		return tools
	}
	return append(tools, t)
}

func (b *build) questionEnv() tool.Env {
	return tool.Env{Cwd: b.place.Cwd, Project: b.place.Project, Roots: b.place.Roots, Session: b.id, SpillDir: b.place.SpillDir, Interactive: true}
}

func explained(name string, input json.RawMessage, e gate.Explanation) CallExplanation {
	out := CallExplanation{
		Tool: name, Input: input, Verdict: string(e.Behavior), Layer: e.Layer, Reason: e.Reason, Part: e.Part,
		Rule: e.Rule, File: e.File, Forced: e.Forced, Chain: e.Trace, Suggestions: e.Suggestions,
	}
	if out.Suggestions == nil {
		out.Suggestions = []event.Suggestion{}
	}
	return out
}
