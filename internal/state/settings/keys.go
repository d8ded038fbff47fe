package settings

import (
	"encoding/json"
	"slices"
)

// Rule is a permission rule as it was written, with all files that have it.
type Rule struct {
	Text    string
	Origins []Origin // weakest scope first
}

// Top is the strongest file that has the rule.
func (r Rule) Top() Origin { return r.Origins[len(r.Origins)-1] }

// Permissions are the permission keys of all files that count.
type Permissions struct {
	Allow, Ask, Deny      []Rule
	AdditionalDirectories []Rule // Text is the folder as written
	DefaultMode           string // "" when not set; "manual" is given as "default"
	DefaultModeOrigin     Origin
	BypassDisabled        bool
	AutoDisabled          bool
	DenyInsteadOfAsking   bool
	BlockReadsOutside     bool // of the working folders
	BlockWritesOutside    bool
	ManagedRulesOnly      bool // rules of every other scope have been left out
}

// Permissions returns them. Under allowManagedPermissionRulesOnly the rules hold managed ones alone.
func (s *Settings) Permissions() Permissions {
	p := Permissions{
		AdditionalDirectories: s.rules(false, "additionalDirectories"),
		DefaultMode:           s.Text("permissions", "defaultMode"),
		BypassDisabled:        s.Text("permissions", "disableBypassPermissionsMode") == "disable",
		AutoDisabled:          s.Text("permissions", "disableAutoMode") == "disable" || s.Text("disableAutoMode") == "disable",
		ManagedRulesOnly:      s.boolOr(false, "allowManagedPermissionRulesOnly"),
	}
	p.Allow = s.rules(p.ManagedRulesOnly, "allow")
	p.Ask = s.rules(p.ManagedRulesOnly, "ask")
	p.Deny = s.rules(p.ManagedRulesOnly, "deny")
	p.DenyInsteadOfAsking, _ = s.Bool("permissions", "denyInsteadOfPrompting")
	p.BlockReadsOutside, _ = s.Bool("permissions", "blockReadsOutsideWorkingDirectories")
	p.BlockWritesOutside, _ = s.Bool("permissions", "blockWritesOutsideWorkingDirectories")
	p.DefaultModeOrigin, _ = s.Origin("permissions", "defaultMode")
	if p.DefaultMode == "manual" {
		p.DefaultMode = "default"
	}
	return p
}

func (s *Settings) rules(managedOnly bool, key string) (out []Rule) {
	for _, e := range s.Elements("permissions", key) {
		r := Rule{Origins: e.Origins}
		if json.Unmarshal(e.Raw, &r.Text) != nil || (managedOnly && r.Top().Scope != Managed) {
			continue
		}
		out = append(out, r)
	}
	return out
}

// Env is the env block: "" clears a variable, everything else overrides the shell's value.
func (s *Settings) Env() map[string]string {
	n := s.root.get([]string{"env"})
	if n == nil || n.kind != object {
		return nil
	}
	out := make(map[string]string, len(n.keys))
	for name, v := range n.fields {
		text, ok := v.text()
		if !ok {
			text = string(v.raw) // numbers and truth values count as written
		}
		out[name] = text
	}
	return out
}

// Model is the model to start with, "" when not set.
func (s *Settings) Model() string { return s.Text("model") }

// maxFallbacks is the ecosystem's bound on the chain.
const maxFallbacks = 3

// FallbackModel is the chain to fall back on, at most three models.
func (s *Settings) FallbackModel() []string {
	all := s.Strings("fallbackModel")
	return all[:min(len(all), maxFallbacks)]
}

// AvailableModels is the list that the user may choose from; ok is false when there is no such limit.
func (s *Settings) AvailableModels() (models []string, ok bool) {
	_, ok = s.Raw("availableModels")
	return s.Strings("availableModels"), ok
}

// APIKeyHelper is the command that prints an API key, "" when not set.
func (s *Settings) APIKeyHelper() string { return s.Text("apiKeyHelper") }

// CleanupPeriodDays is the age at which transcripts may be removed; 30 when not set or below 0, and 0 for never.
func (s *Settings) CleanupPeriodDays() int {
	if v, ok := s.Number("cleanupPeriodDays"); ok && v >= 0 && v < 1<<30 {
		return int(v)
	}
	return 30
}

// CleanupMaxBytes is how many bytes all sessions may take before the oldest may be removed; 0, no bound, when not set.
func (s *Settings) CleanupMaxBytes() int64 {
	if v, ok := s.Number("cleanupMaxBytes"); ok && v > 0 && v < 1<<60 {
		return int64(v)
	}
	return 0
}

// IncludeGitInstructions says whether the system prompt has git's state and how to commit; true when not set.
func (s *Settings) IncludeGitInstructions() bool { return s.boolOr(true, "includeGitInstructions") }

// AutoCompactEnabled is true when not set.
func (s *Settings) AutoCompactEnabled() bool { return s.boolOr(true, "autoCompactEnabled") }

// AutoMemoryEnabled is true when not set.
func (s *Settings) AutoMemoryEnabled() bool { return s.boolOr(true, "autoMemoryEnabled") }

// FileCheckpointingEnabled is true when not set.
func (s *Settings) FileCheckpointingEnabled() bool { return s.boolOr(true, "fileCheckpointingEnabled") }

// RespectGitignore is true when not set.
func (s *Settings) RespectGitignore() bool { return s.boolOr(true, "respectGitignore") }

// DisableAllHooks is false when not set.
func (s *Settings) DisableAllHooks() bool { return s.boolOr(false, "disableAllHooks") }

// EffortLevel is the word as written, "" when not set.
func (s *Settings) EffortLevel() string { return s.Text("effortLevel") }

// AlwaysThinkingEnabled returns the choice and whether there is one.
func (s *Settings) AlwaysThinkingEnabled() (v, ok bool) { return s.Bool("alwaysThinkingEnabled") }

// Language is the language for answers, "" when not set.
func (s *Settings) Language() string { return s.Text("language") }

// OutputStyle is the name of the style, "" when not set.
func (s *Settings) OutputStyle() string { return s.Text("outputStyle") }

// ClaudeMDExcludes are globs of instruction files that are not to be read.
func (s *Settings) ClaudeMDExcludes() []string { return s.Strings("claudeMdExcludes") }

// ScopesOf lists the scopes whose files set a key, weakest first, whatever won.
func (s *Settings) ScopesOf(path ...string) (out []Scope) {
	for _, src := range s.sources {
		if src.root.get(path) != nil && !slices.Contains(out, src.from.Scope) {
			out = append(out, src.from.Scope)
		}
	}
	return out
}
