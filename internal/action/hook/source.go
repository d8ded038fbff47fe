package hook

import (
	"encoding/json"
	"slices"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/state/settings"
)

// Scope is where a hook comes from.
type Scope string

// The scopes, strongest first: when two hooks disagree in a way that allows
// only one answer (a rewritten input), the stronger source's counts.
const (
	Managed     Scope = "managed"
	CommandLine Scope = "command line"
	Host        Scope = "host" // callbacks of the SDK
	Local       Scope = "local"
	Project     Scope = "project"
	User        Scope = "user"
	Plugin      Scope = "plugin"
	Skill       Scope = "skill"
	AgentFile   Scope = "agent"
)

func (s Scope) rank() int {
	return slices.Index([]Scope{Managed, CommandLine, Host, Local, Project, User, Plugin, Skill, AgentFile}, s)
}

// Source is one place with hooks.
type Source struct {
	Scope Scope
	// File is where the hooks are written, Line the line of the entry when known.
	File string
	Line int
	// Hooks is the value of the "hooks" key: {"Event": [groups]}.
	Hooks json.RawMessage
	// Held hooks come from a folder that is not trusted: listed, never run.
	Held bool
	// Agent limits the hooks to one subagent; its Stop hooks become SubagentStop.
	Agent string
	// Root and Data are the folders of a plugin; Env is its further variables.
	Root, Data string
	Env        map[string]string

	id int
}

// String is what a person needs to find the place.
func (s Source) String() string {
	if s.File == "" {
		return string(s.Scope)
	}
	return string(s.Scope) + " " + fsys.Printable(s.File)
}

// own tells that equal hooks of two such sources are two hooks.
func (s Source) own() bool { return s.Scope == Plugin || s.Scope == Skill || s.Scope == AgentFile }

// Disabled says which hooks disableAllHooks switches off.
type Disabled int

// The degrees: managed hooks go only when managed settings say so.
const (
	NotDisabled Disabled = iota
	DisabledUnmanaged
	DisabledAll
)

// Limits are the settings that bound hooks.
type Limits struct {
	Disabled Disabled
	// ManagedOnly leaves managed hooks and host callbacks, PluginOnly plugins too.
	ManagedOnly, PluginOnly bool
	// URLs are the wildcards that http hooks may post to, when LimitURLs is set.
	URLs      []string
	LimitURLs bool
	// Env are the variables that headers may hold, when LimitEnv is set.
	Env      []string
	LimitEnv bool
}

// off says why a hook of a source does not run, "" when it does.
func (l Limits) off(s Source) string {
	switch {
	case l.Disabled == DisabledAll, l.Disabled == DisabledUnmanaged && s.Scope != Managed:
		return "disableAllHooks"
	case s.Held:
		return "the folder is not trusted"
	case l.ManagedOnly && s.Scope != Managed && s.Scope != Host:
		return "allowManagedHooksOnly"
	case l.PluginOnly && s.Scope != Managed && s.Scope != Host && s.Scope != Plugin:
		return "strictPluginOnlyCustomization"
	}
	return ""
}

// FromSettings reads the hooks of all settings files, and the keys that bound
// them. Hooks that the settings hold back until the folder is trusted come out
// as held.
func FromSettings(s *settings.Settings) ([]Source, Limits) {
	var out []Source
	for _, event := range s.Keys("hooks") {
		for _, e := range s.Elements("hooks", event) {
			out = append(out, element(event, e.Raw, e.Top()))
		}
	}
	for _, h := range s.Held() {
		if h.Key == "hooks" {
			src := fromOrigin(h.Origin)
			src.Hooks, src.Held = h.Raw, true
			out = append(out, src)
		}
	}
	return out, limits(s)
}

func element(event string, raw []byte, o settings.Origin) Source {
	src := fromOrigin(o)
	name, err := json.Marshal(event)
	if err != nil {
		name = []byte(`""`) // a string always marshals
	}
	src.Hooks = json.RawMessage("{" + string(name) + ":[" + string(raw) + "]}")
	return src
}

func fromOrigin(o settings.Origin) Source {
	src := Source{File: o.File, Line: o.Line}
	switch o.Scope {
	case settings.User:
		src.Scope = User
	case settings.Project:
		src.Scope = Project
	case settings.Local:
		src.Scope = Local
	case settings.Flag:
		src.Scope = CommandLine
	case settings.Managed:
		src.Scope = Managed
	}
	return src
}

func limits(s *settings.Settings) Limits {
	var l Limits
	if s.DisableAllHooks() {
		l.Disabled = DisabledUnmanaged
		if o, _ := s.Origin("disableAllHooks"); o.Scope == settings.Managed {
			l.Disabled = DisabledAll
		}
	}
	l.ManagedOnly, _ = s.Bool("allowManagedHooksOnly")
	l.PluginOnly = pluginOnly(s)
	l.URLs, l.LimitURLs = strongList(s, "allowedHttpHookUrls")
	l.Env, l.LimitEnv = strongList(s, "httpHookAllowedEnvVars")
	return l
}

// strongList reads a list that grants: when managed settings have it, nothing
// below can add to it.
func strongList(s *settings.Settings, key string) ([]string, bool) {
	if _, ok := s.Raw(key); !ok {
		return nil, false
	}
	o, _ := s.Origin(key)
	var out []string
	for _, e := range s.Elements(key) {
		var v string
		if json.Unmarshal(e.Raw, &v) == nil && (o.Scope != settings.Managed || e.Top().Scope == settings.Managed) {
			out = append(out, v)
		}
	}
	return out, true
}

// pluginOnly reads strictPluginOnlyCustomization: true, a list of kinds, or an
// object of them.
func pluginOnly(s *settings.Settings) bool {
	raw, ok := s.Raw("strictPluginOnlyCustomization")
	if !ok {
		return false
	}
	var kinds map[string]json.RawMessage
	if json.Unmarshal(raw, &kinds) == nil {
		return string(kinds["hooks"]) == "true"
	}
	return string(raw) == "true" || slices.Contains(s.Strings("strictPluginOnlyCustomization"), "hooks")
}
