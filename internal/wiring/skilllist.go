package wiring

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hew-agent/hew/internal/action/policy/shellread"
	"github.com/hew-agent/hew/internal/state/catalog"
	"github.com/hew-agent/hew/internal/state/session"
)

// Skills are the names of the skills and custom commands that somebody can use, by name.
func (c *Conversation) Skills() []string {
	b := c.build
	if b == nil || b.skills == nil {
		return nil
	}
	var out []string
	for _, k := range b.defs.now().All() {
		if b.skills.shown(k.Name) != catalog.ShownOff {
			out = append(out, k.Name)
		}
	}
	return out
}

// ReloadDefinitions reads skills, commands, agents and output styles again.
func (c *Conversation) ReloadDefinitions() { c.build.defs.reload() }

// Styles are the names of the output styles, the default first.
func (c *Conversation) Styles() []string { return c.build.styles() }

// SkillRow is a skill or custom command for people and programs.
type SkillRow struct {
	Name        string `json:"name"`
	Scope       string `json:"scope"`
	Plugin      string `json:"plugin,omitempty"`
	File        string `json:"file"`
	Description string `json:"description"`
	Hint        string `json:"argument_hint,omitempty"`
	// Kind is "skill" or "command".
	Kind string `json:"kind"`
	// ForModel and ForUser tell who may invoke it.
	ForModel bool `json:"for_model"`
	ForUser  bool `json:"for_user"`
	// Shown is its position in skillOverrides.
	Shown string `json:"shown"`
	Fork  bool   `json:"fork,omitempty"`
	// Grants are its allowed-tools, Hooks tells that it registers hooks.
	Grants []string `json:"allowed_tools,omitempty"`
	Hooks  bool     `json:"hooks,omitempty"`
	Paths  []string `json:"paths,omitempty"`
	// Held tells that it grants nothing because its folder is not trusted.
	Held bool `json:"held,omitempty"`
	// HiddenBy is the file of the stronger skill that has its name.
	HiddenBy string `json:"hidden_by,omitempty"`
}

// SkillList is what a folder offers, and what is wrong with it.
type SkillList struct {
	Skills   []SkillRow `json:"skills"`
	Problems []string   `json:"problems"`
}

// ListSkills reads the skills and custom commands as a session would. It runs nothing.
func ListSkills(o Options) (SkillList, error) {
	o.NoPersist, o.Resume, o.Continue, o.Fork = true, "", false, false
	if o.NewID == nil {
		o.NewID = session.NewID
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	b := &build{o: &o, conv: &Conversation{}, facts: shellread.NewReader(rememberedCommands)}
	if err := errors.Join(b.locate(), b.session(context.Background())); err != nil {
		return SkillList{}, err
	}
	k := catalog.Load(b.definitionsConfig())
	s := &skills{b: b}
	out := SkillList{Skills: []SkillRow{}, Problems: []string{}}
	for _, x := range slices.Concat(k.Skills, k.Hidden) {
		r := SkillRow{
			Name: x.Name, Scope: string(x.Origin.Scope), Plugin: x.Origin.Plugin, File: x.Origin.File, Description: x.Listing(),
			Hint: x.ArgumentHint, Kind: "command", ForModel: x.ForModel, ForUser: x.ForUser, Shown: string(s.shown(x.Name)), Fork: x.Fork,
			Grants: x.Allowed, Hooks: x.Hooks != nil, Paths: x.Paths, Held: x.Held && (len(x.Allowed) > 0 || x.Hooks != nil),
		}
		if x.Dir != "" || x.Origin.Scope == catalog.Bundled {
			r.Kind = "skill"
		}
		if by := k.Find(x.Name); by != x {
			r.HiddenBy = by.Origin.String()
		}
		out.Skills = append(out.Skills, r)
	}
	for _, p := range k.Problems {
		out.Problems = append(out.Problems, p.String())
	}
	return out, nil
}
