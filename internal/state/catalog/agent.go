package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/backend/frontmatter"
	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Agent is a kind of subagent. Fields as the ecosystem names them.
type Agent struct {
	Origin Origin
	Name   string
	// Description tells the model when to delegate to it.
	Description string
	// Tools is what it may use, nil for all that subagents may; Denied is
	// removed before Tools is looked at.
	Tools, Denied []string
	// Model and Effort are those of the parent when "".
	Model, Effort string
	// Mode is its permission mode, "" for the parent's.
	Mode string
	// MaxTurns bounds it, 0 for no bound.
	MaxTurns int
	// Skills are loaded into it from the start.
	Skills []string
	// Servers are the MCP servers it brings: names, or configurations by name.
	Servers json.RawMessage
	// Hooks are active while it runs.
	Hooks json.RawMessage
	// Memory is the scope of its own memory folder: user, project, local or "".
	Memory string
	// Background tells that it never runs in the foreground.
	Background bool
	// Isolation is "worktree" or "".
	Isolation string
	Color     string
	// InitialPrompt is its first prompt when it is the main agent.
	InitialPrompt string
	// Bare tells that it gets no instruction files and no git status.
	Bare bool
	// OneShot tells that it cannot be talked to after its report.
	OneShot bool
	// Setting is the one key of settings files that it may change, "" for no bound;
	// Verdict tells that its report ends with a JSON object that programs read.
	// Both are of hew's own agents only.
	Setting string
	Verdict bool
	// Held tells that the file stands in a repository that nobody trusts yet:
	// its servers and hooks do not count.
	Held bool

	prompt string
}

// BuiltIn makes one of hew's own agents.
func BuiltIn(a Agent, prompt string) *Agent {
	a.Origin, a.prompt = Origin{Scope: Bundled}, prompt
	return &a
}

// Prompt is the system prompt: the body of the file, read when it is asked for.
func (a *Agent) Prompt() (string, error) {
	if a.Origin.File == "" {
		return a.prompt, nil
	}
	raw, _, err := fsys.ReadRaw(a.Origin.File, fsys.Limits{MaxBytes: bodyLimit})
	if err != nil {
		return "", fmt.Errorf("read the agent %s: %w", a.Name, err)
	}
	return strings.TrimSpace(frontmatter.Parse(raw).Body), nil
}

// Agent finds an agent by its name, nil when there is none.
func (k *Catalog) Agent(name string) *Agent {
	i := slices.IndexFunc(k.Agents, func(a *Agent) bool { return a.Name == name })
	if i < 0 {
		return nil
	}
	return k.Agents[i]
}

func (k *Catalog) loadAgents() {
	k.agentsOf([]Scope{Managed})
	k.flagAgents()
	k.agentsOf([]Scope{Project, User})
	for _, p := range k.c.Plugins {
		k.pluginAgents(p)
	}
	for _, a := range k.c.BuiltIn {
		k.addAgent(a)
	}
	byName(k.Agents, func(a *Agent) string { return a.Name })
}

func (k *Catalog) agentsOf(order []Scope) {
	var files []file
	for _, p := range k.places(order, "agents") {
		files = append(files, k.markdown(p)...)
	}
	for _, f := range k.heads(files) {
		k.addAgent(k.agent(f))
	}
}

// addAgent keeps the first of a name: places are read from the strongest on.
func (k *Catalog) addAgent(a *Agent) {
	switch {
	case a == nil:
	case k.Agent(a.Name) == nil:
		k.Agents = append(k.Agents, a)
	default:
		k.HiddenAgents = append(k.HiddenAgents, a)
	}
}

// agent makes an agent of a file. A file without a name is a document and no problem.
func (k *Catalog) agent(f file) *Agent {
	m := f.matter
	a := &Agent{
		Origin: f.origin, Name: m.Text("name"), Description: m.Text("description"),
		Denied: m.List("disallowedTools"), Model: m.Text("model"), Effort: m.Text("effort"), Mode: m.Text("permissionMode"),
		Skills: m.List("skills"), Memory: m.Text("memory"), Isolation: m.Text("isolation"), Color: m.Text("color"),
		InitialPrompt: m.Text("initialPrompt"), Held: f.origin.Scope == Project && !k.c.Trusted,
	}
	if a.Name == "" {
		return nil
	}
	if m.Problem != "" {
		k.problem(f.origin, "its front matter is not YAML (%s); it was read line by line", m.Problem)
	}
	for _, key := range []string{"tools", "disallowedTools"} {
		if m.Unread(key) {
			k.problem(f.origin, "its %s cannot be read, and without them the agent %s would have too many; it is left out", key, fsys.Printable(a.Name))
			return nil
		}
	}
	if m.Has("tools") {
		a.Tools = append([]string{}, m.List("tools")...)
	}
	a.MaxTurns, _ = m.Int("maxTurns")
	a.Background, _ = m.Bool("background")
	a.Hooks = k.hooks(f)
	if v := m.Value("mcpServers"); v != nil {
		raw, err := json.Marshal(v)
		if err != nil {
			k.problem(f.origin, "its mcpServers cannot be read: %v", err)
		}
		a.Servers = raw
	}
	return k.checked(a)
}

// checked mends what is wrong with an agent, or gives nil when it is of no use.
func (k *Catalog) checked(a *Agent) *Agent {
	if !validAgent(a.Name) {
		k.problem(a.Origin, "the agent's name %q is not made of lower-case letters, digits and hyphens; it is left out", fsys.Printable(a.Name))
		return nil
	}
	if a.Description == "" {
		k.problem(a.Origin, "the agent %s has no description, so nothing says when to use it; it is left out", a.Name)
		return nil
	}
	if a.Model == "inherit" {
		a.Model = ""
	}
	if a.MaxTurns < 0 {
		k.problem(a.Origin, "maxTurns %d is no number of turns; there is no bound", a.MaxTurns)
		a.MaxTurns = 0
	}
	a.Memory = k.oneOf(a.Origin, "memory", a.Memory, "user", "project", "local")
	a.Isolation = k.oneOf(a.Origin, "isolation", a.Isolation, "worktree")
	a.Mode = k.oneOf(a.Origin, "permissionMode", a.Mode, "default", "manual", "acceptEdits", "auto", "dontAsk", "bypassPermissions", "plan")
	if a.Mode == "manual" {
		a.Mode = "default"
	}
	return a
}

func (k *Catalog) oneOf(o Origin, key, value string, known ...string) string {
	if value == "" || slices.Contains(known, value) {
		return value
	}
	k.problem(o, "%s %q is none of %s; it is left out", key, fsys.Printable(value), strings.Join(known, ", "))
	return ""
}

// validAgent tells a name as the ecosystem wants it; those of plugins have colons.
func validAgent(name string) bool {
	return name != "" && len(name) <= 128 && name[0] != '-' && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
	})
}

// flagAgent is the JSON form of an agent.
type flagAgent struct {
	Description     string          `json:"description"`
	Prompt          string          `json:"prompt"`
	Tools           *[]string       `json:"tools"`
	DisallowedTools []string        `json:"disallowedTools"`
	Model           string          `json:"model"`
	Effort          json.RawMessage `json:"effort"`
	PermissionMode  string          `json:"permissionMode"`
	MaxTurns        int             `json:"maxTurns"`
	Skills          []string        `json:"skills"`
	MCPServers      json.RawMessage `json:"mcpServers"`
	Hooks           json.RawMessage `json:"hooks"`
	Memory          string          `json:"memory"`
	Background      bool            `json:"background"`
	Isolation       string          `json:"isolation"`
	Color           string          `json:"color"`
	InitialPrompt   string          `json:"initialPrompt"`
}

// flagAgents reads the agents of the command line or of an SDK host:
// `{"name": {"description": …, "prompt": …}}`.
func (k *Catalog) flagAgents() {
	if k.c.Agents == "" {
		return
	}
	o := Origin{Scope: Flag}
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(k.c.Agents), &all); err != nil {
		k.problem(o, "--agents is not a JSON object of agents: %v", err)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		var in flagAgent
		if err := json.Unmarshal(all[name], &in); err != nil {
			k.problem(o, "--agents: %s: %v", fsys.Printable(name), err)
			continue
		}
		a := &Agent{
			Origin: o, Name: name, Description: in.Description, Denied: in.DisallowedTools, Model: in.Model,
			Effort: string(bytes.Trim(in.Effort, `"`)), Mode: in.PermissionMode, MaxTurns: in.MaxTurns, Skills: in.Skills,
			Servers: in.MCPServers, Hooks: in.Hooks, Memory: in.Memory, Background: in.Background, Isolation: in.Isolation,
			Color: in.Color, InitialPrompt: in.InitialPrompt, prompt: in.Prompt,
		}
		if in.Tools != nil {
			a.Tools = append([]string{}, *in.Tools...)
		}
		k.addAgent(k.checked(a))
	}
}
