package wiring

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/action/policy/shellread"
	"github.com/hew-agent/hew/internal/state/catalog"
	"github.com/hew-agent/hew/internal/state/session"
)

// ListedAgent is an agent for people and programs.
type ListedAgent struct {
	Name        string `json:"name"`
	Scope       string `json:"scope"`
	Plugin      string `json:"plugin,omitempty"`
	File        string `json:"file,omitempty"`
	Description string `json:"description"`
	// Tools is null for all that subagents may use.
	Tools      []string `json:"tools"`
	Denied     []string `json:"disallowedTools,omitempty"`
	Model      string   `json:"model,omitempty"`
	Effort     string   `json:"effort,omitempty"`
	Mode       string   `json:"permissionMode,omitempty"`
	MaxTurns   int      `json:"maxTurns,omitempty"`
	Skills     []string `json:"skills,omitempty"`
	Memory     string   `json:"memory,omitempty"`
	Background bool     `json:"background,omitempty"`
	Isolation  string   `json:"isolation,omitempty"`
	// Servers and Hooks tell that the file brings some; Held that they do not count,
	// because nobody has trusted the folder.
	Servers bool `json:"mcpServers,omitempty"`
	Hooks   bool `json:"hooks,omitempty"`
	Held    bool `json:"held,omitempty"`
	// Screen tells that it is offered only where a person sits in front of hew.
	Screen bool `json:"terminal_only,omitempty"`
	// HiddenBy is where the stronger agent of its name stands.
	HiddenBy string `json:"hidden_by,omitempty"`
}

// AgentList is what a folder offers, and what is wrong with it.
type AgentList struct {
	Agents   []ListedAgent `json:"agents"`
	Problems []string      `json:"problems"`
}

// ListAgents lists the agents that a session in o.Cwd has. It changes nothing.
func ListAgents(o Options) (AgentList, error) {
	o.NoPersist, o.Resume, o.Continue, o.Fork, o.Interactive = true, "", false, false, true
	if o.NewID == nil {
		o.NewID = session.NewID
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	b := &build{o: &o, conv: &Conversation{}, facts: shellread.NewReader(rememberedCommands)}
	if err := errors.Join(b.locate(), b.session(context.Background()), b.findPlugins()); err != nil {
		return AgentList{}, err
	}
	k := catalog.Load(b.definitionsConfig())
	var screen []string
	for _, a := range screenAgents() {
		screen = append(screen, a.Name)
	}
	out := AgentList{Agents: []ListedAgent{}, Problems: []string{}}
	for _, a := range slices.Concat(k.Agents, k.HiddenAgents) {
		r := ListedAgent{
			Name: a.Name, Scope: string(a.Origin.Scope), Plugin: a.Origin.Plugin, File: a.Origin.File,
			Description: strings.Join(strings.Fields(a.Description), " "), Tools: a.Tools, Denied: a.Denied, Model: a.Model, Effort: a.Effort,
			Mode: a.Mode, MaxTurns: a.MaxTurns, Skills: a.Skills, Memory: a.Memory, Background: a.Background, Isolation: a.Isolation,
			Servers: len(a.Servers) > 0, Hooks: a.Hooks != nil, Held: a.Held && (len(a.Servers) > 0 || a.Hooks != nil || a.Mode != ""),
			Screen: a.Origin.Scope == catalog.Bundled && slices.Contains(screen, a.Name),
		}
		if by := k.Agent(a.Name); by != a {
			r.HiddenBy = by.Origin.String()
		}
		out.Agents = append(out.Agents, r)
	}
	for _, p := range k.Problems {
		if p.Origin.File == "" || strings.Contains(p.Origin.File, "agents") {
			out.Problems = append(out.Problems, p.String())
		}
	}
	return out, nil
}
