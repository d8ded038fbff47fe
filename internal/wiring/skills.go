package wiring

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hew-agent/hew/internal/action/builtin/agent"
	"github.com/hew-agent/hew/internal/action/builtin/bash"
	"github.com/hew-agent/hew/internal/action/builtin/skill"
	"github.com/hew-agent/hew/internal/action/gate"
	"github.com/hew-agent/hew/internal/action/hook"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/catalog"
	"github.com/hew-agent/hew/internal/tool"
)

// skills are what the skills of all conversations of a session share.
type skills struct {
	b    *build
	mu   sync.Mutex
	uses map[string]int  // of earlier sessions, nil until read
	hook map[string]bool // skills whose hooks are registered
	mute bool            // somebody knows that uses cannot be counted
}

// skillset is the skills of one conversation: the main one or a subagent's.
type skillset struct {
	s    *skills
	h    homeOf
	crew *agent.Crew // nil where nothing can be delegated
	bash tool.Tool   // runs the commands in the texts of skills
	seen *fsys.ReadState
	book *skill.Book

	mu sync.Mutex
	// expected is the first block of the prompt that a person's command has made,
	// and that is about to be submitted.
	expected msg.Block
	// opening tells that the person's words of this run have not come to the source.
	opening bool
	reports []string          // of skills that a person ran as subagents
	beside  map[string]string // skills for certain files that were met: name to what is said
}

// newSkills makes the skills of a conversation; nil when they are switched off.
func (b *build) newSkills(h homeOf, crew *agent.Crew, seen *fsys.ReadState) *skillset {
	if b.skills == nil {
		return nil
	}
	sh := b.bashConfig(seen)
	sh.Background = bash.WithoutBackground
	c := &skillset{s: b.skills, h: h, crew: crew, bash: bash.New(sh).Tool(), seen: seen, beside: map[string]string{}}
	c.book = skill.NewBook(skill.Config{
		Find:  func(name string) *catalog.Skill { return b.defs.now().Find(name) },
		Names: c.names, Refused: b.skills.refused, Values: c.values, Begin: c.begin, End: c.end,
		Exec: c.exec, NoExec: b.skills.noExec, Attach: c.attach, Delegate: c.delegate, Used: b.skills.used,
	})
	return c
}

// shown is a skill's position in skillOverrides.
func (s *skills) shown(name string) catalog.Shown {
	switch v := catalog.Shown(s.b.settings.Text("skillOverrides", name)); v {
	case catalog.ShownName, catalog.ShownUserOnly, catalog.ShownOff:
		return v
	case catalog.ShownOn:
	}
	if list := s.b.o.Skills; list != nil && !slices.ContainsFunc(list, func(n string) bool { return n == name || strings.HasSuffix(name, ":"+n) }) {
		return catalog.ShownUserOnly // the host has named those for the model
	}
	return catalog.ShownOn
}

func (s *skills) refused(k *catalog.Skill, by skill.By) string {
	switch how := s.shown(k.Name); {
	case how == catalog.ShownOff:
		return "The skill " + k.Name + " is switched off by the setting skillOverrides"
	case how == catalog.ShownUserOnly && by == skill.Model:
		return "The skill " + k.Name + " is for the user alone (setting skillOverrides); ask the user to type /" + k.Name
	}
	return ""
}

// noExec: the setting is about skills that people install, not about those of
// the administrator or of hew itself.
func (s *skills) noExec(k *catalog.Skill) bool {
	off, _ := s.b.settings.Bool("disableSkillShellExecution")
	return off && k.Origin.Scope != catalog.Managed && k.Origin.Scope != catalog.Bundled
}

// names are the skills that the model may load.
func (c *skillset) names() []string {
	var out []string
	for _, k := range c.s.b.defs.now().All() {
		if k.ForModel && c.s.refused(k, skill.Model) == "" {
			out = append(out, k.Name)
		}
	}
	return out
}

func (c *skillset) values(k *catalog.Skill) catalog.Values {
	b := c.s.b
	return catalog.Values{Options: b.optionsOf(k.Origin.Plugin), Session: b.conv.Engine.Session(), Effort: b.effort(), Project: b.place.Project}
}

// begin puts in force what a skill brings.
func (c *skillset) begin(k *catalog.Skill, rules []string, by skill.By) {
	c.h.gate().Lend(gate.Loan{From: loan(k), Allow: rules, Deny: k.Disallowed})
	if !k.Fork && (k.Model != "" || k.Effort != "") {
		c.h.engine().Lend(k.Model, k.Effort)
	}
	c.s.listen(k)
}

// end takes its rules back.
func (c *skillset) end(k *catalog.Skill) {
	c.h.gate().Return(loan(k))
	if !k.Fork && (k.Model != "" || k.Effort != "") {
		c.h.engine().Lend("", "")
	}
}

func loan(k *catalog.Skill) string { return "the skill " + k.Name }

// over takes back what skills have lent: the person has spoken again.
func (c *skillset) over() {
	c.h.gate().Return("")
	c.h.engine().Lend("", "")
}

// listen registers a skill's hooks, once a session.
func (s *skills) listen(k *catalog.Skill) {
	if k.Hooks == nil || s.b.hooks == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hook[k.Name] {
		return
	}
	s.hook[k.Name] = true
	s.b.hooks.d.Register(hook.Source{
		Scope: hook.Skill, File: k.Origin.File, Hooks: k.Hooks, Held: k.Held, Root: k.Root, Data: k.Data,
	})
}

// delegate runs a skill as a subagent.
func (c *skillset) delegate(ctx context.Context, f skill.Fork, emit func(tool.Progress)) tool.Result {
	if c.crew == nil {
		return tool.Refused("The skill " + f.Skill.Name + " runs as a subagent, and none can be started here.")
	}
	kind := c.crew.Kind(f.Skill.Agent)
	if kind == nil {
		return tool.Refused("The skill " + f.Skill.Name + " runs as the agent " + f.Skill.Agent + ", which does not exist here or is denied.")
	}
	if len(f.Skill.Disallowed) > 0 {
		own := *kind
		own.Denied = append(slices.Clone(kind.Denied), f.Skill.Disallowed...)
		kind = &own
	}
	t := agent.Task{
		Use: f.Use, Parent: f.Parent, Kind: kind, Description: "/" + f.Skill.Name, Model: f.Skill.Model, Effort: f.Skill.Effort,
		Background: c.s.b.o.Interactive && f.Use != "",
	}
	if f.Skill.Background != nil {
		t.Background = *f.Skill.Background && f.Use != ""
	}
	if len(f.Rules) > 0 {
		t.Allowed = f.Rules
	}
	return c.crew.Delegate(ctx, t, f.Prompt, emit)
}

// usesFile counts the uses of skills, for the order in which descriptions make room.
func (s *skills) usesFile() string { return filepath.Join(s.b.home.Own(), "skill-uses.json") }

// counts are the uses of earlier sessions. They stay as they are while a session
// runs, so that the list of skills stays the same text.
func (s *skills) counts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.uses == nil {
		s.uses = map[string]int{}
		raw, _, err := fsys.ReadRaw(s.usesFile(), fsys.Limits{MaxBytes: maxUses})
		if err == nil && json.Unmarshal(raw, &s.uses) != nil {
			s.uses = map[string]int{} // a broken count costs an order, nothing else
		}
	}
	return s.uses
}

// maxUses bounds the file of counts, in bytes.
const maxUses = 1 << 20

// used counts a use. A count that cannot be kept is no reason to stop.
func (s *skills) used(name string) {
	s.counts()
	if s.b.o.NoPersist {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err := os.MkdirAll(filepath.Dir(s.usesFile()), 0o700)
	if err == nil {
		err = s.count(name)
	}
	if err != nil && !s.mute {
		s.mute = true
		s.b.notice("the use of skills cannot be counted: " + err.Error())
	}
}

func (s *skills) count(name string) error {
	return fsys.UpdateJSON(context.Background(), s.usesFile(), fsys.WriteOptions{Mode: 0o600}, func(d *fsys.JSONDoc) error {
		var n int
		if raw, ok := d.Get(name); ok {
			_ = json.Unmarshal(raw, &n) // not a number: counted from 0
		}
		return d.Set(n+1, name)
	})
}

// optionsOf are the answers that the user gave a plugin and that may be shown.
func (b *build) optionsOf(name string) map[string]string {
	for _, l := range b.plugins {
		if name != "" && l.Plugin.Name == name {
			return l.Public
		}
	}
	return nil
}
