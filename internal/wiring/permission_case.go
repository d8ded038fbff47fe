package wiring

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/action/gate"
	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/action/policy/shellread"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/settings"
	"github.com/hew-agent/hew/internal/tool"
)

// PermissionCase is one row of a case table: a call, the settings it meets and
// the right verdict.
type PermissionCase struct {
	ID       string          `json:"id"`
	Kind     string          `json:"kind"`
	Tool     string          `json:"tool"`
	Input    json.RawMessage `json:"input"`
	Settings json.RawMessage `json:"settings"`
	Expect   string          `json:"expect"`
	Level    string          `json:"level"`
	Why      string          `json:"why"`
}

// caseSettings is what differs from the default environment of a case. The
// names are those of the table format.
type caseSettings struct {
	Allow                 []string                              `json:"allow"`
	Ask                   []string                              `json:"ask"`
	Deny                  []string                              `json:"deny"`
	Mode                  string                                `json:"mode"`
	AdditionalDirectories []string                              `json:"additionalDirectories"`
	Trusted               json.RawMessage                       `json:"trusted"`
	GitTracked            json.RawMessage                       `json:"gitTracked"`
	Shell                 string                                `json:"shell"`
	FS                    string                                `json:"fs"`
	Platform              string                                `json:"platform"`
	Sandbox               map[string]json.RawMessage            `json:"sandbox"`
	Hook                  map[string]string                     `json:"hook"`
	MCPServers            map[string][]string                   `json:"mcpServers"`
	Annotations           json.RawMessage                       `json:"annotations"`
	Tree                  []string                              `json:"tree"`
	Sources               map[string]map[string]json.RawMessage `json:"sources"`
}

// The world of the tables. It need not exist: links come from the row's sketch.
const (
	caseHome = "/home/dev"
	caseCwd  = "/home/dev/proj"
)

// Cases judges rows of case tables by the code that judges live calls.
type Cases struct {
	runner *shell.Runner
	facts  *shellread.Reader
	pools  map[shellread.Shell][]tool.Tool
}

// NewCases makes a judge. Close frees it.
func NewCases() *Cases {
	return &Cases{
		runner: shell.New(shell.Config{NoSnapshot: true, Env: []string{"HOME=" + caseHome}}),
		facts:  shellread.NewReader(rememberedCommands), pools: map[shellread.Shell][]tool.Tool{},
	}
}

// Close frees what judging needed.
func (c *Cases) Close() error { return c.runner.Close() }

// Judge decides about one row. An error says what in the row is not understood.
func (c *Cases) Judge(row PermissionCase) (CallExplanation, error) {
	st, err := readCaseSettings(row.Settings)
	if err != nil {
		return CallExplanation{}, fmt.Errorf("settings: %w", err)
	}
	b, err := c.build(st)
	if err != nil {
		return CallExplanation{}, err
	}
	dialect, err := st.dialect()
	if err != nil {
		return CallExplanation{}, err
	}
	if c.pools[dialect] == nil {
		c.pools[dialect] = b.catalogue(dialect)
	}
	t, known := find(c.pools[dialect], row.Tool)
	tools := c.pools[dialect]
	if !known {
		t = standIn(row.Tool, st.server(row.Tool))
		tools = append(slices.Clip(tools), t)
	}
	cfg, err := b.policy(specsOf(tools))
	if err != nil {
		return CallExplanation{}, err
	}
	cfg.Output = nil // no command has printed anything
	if cfg.FS, err = st.fileSystem(); err != nil {
		return CallExplanation{}, err
	}
	hook, err := st.hook()
	if err != nil {
		return CallExplanation{}, err
	}
	sketch := newSketch(st.Tree)
	g := gate.New(gate.Config{Snapshot: policy.New(cfg), Paths: sketch, Shell: dialect, Confined: st.confined(dialect)})
	input := st.atHome(t.Spec(), row.Input)
	return explained(t.Spec().Name, row.Input, judge(g, t, input, b.questionEnv(), hook)), nil
}

func readCaseSettings(raw json.RawMessage) (*caseSettings, error) {
	st := &caseSettings{}
	if len(raw) == 0 {
		return st, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(st); err != nil {
		return nil, err
	}
	if st.Platform != "" && st.Platform != "linux" && st.Platform != "windows" {
		return nil, fmt.Errorf("platform %q: use linux or windows", st.Platform)
	}
	return st, nil
}

// build is a session in the world of the row.
func (c *Cases) build(st *caseSettings) (*build, error) {
	texts, err := st.texts()
	if err != nil {
		return nil, err
	}
	trust, err := st.trust()
	if err != nil {
		return nil, err
	}
	o := &Options{Environ: []string{"HOME=" + caseHome}, Cwd: caseCwd, Mode: st.Mode}
	b := &build{
		o: o, conv: &Conversation{}, facts: c.facts, runner: c.runner, home: settings.HomeOf(caseHome),
		place: engine.Place{Cwd: caseCwd, Project: caseCwd, Roots: []string{caseCwd}},
	}
	b.settings, _ = settings.Merge(trust, texts)
	p := b.settings.Permissions()
	if p.BypassDisabled && policy.Mode(o.Mode) == policy.Bypass {
		o.Mode = string(policy.Default) // a session that asks for it does not start
	}
	for _, d := range st.AdditionalDirectories {
		b.place.Roots = append(b.place.Roots, absolute(d))
	}
	for _, r := range p.AdditionalDirectories {
		b.place.Roots = append(b.place.Roots, absolute(r.Text))
	}
	return b, nil
}

// permissionKeys belong into the permissions block of a settings file.
var permissionKeys = []string{
	"allow", "ask", "deny", "defaultMode", "additionalDirectories", "disableBypassPermissionsMode", "disableAutoMode",
	"denyInsteadOfPrompting", "blockReadsOutsideWorkingDirectories", "blockWritesOutsideWorkingDirectories",
}

// texts writes the settings files that the row stands for, weakest first.
func (st *caseSettings) texts() ([]settings.Text, error) {
	direct := map[string]any{"permissions": map[string]any{"allow": st.Allow, "ask": st.Ask, "deny": st.Deny}}
	if st.Sandbox != nil {
		direct["sandbox"] = st.Sandbox
	}
	out := []settings.Text{{From: settings.Origin{Scope: settings.User, File: caseHome + "/.claude/settings.json"}, JSON: text(direct)}}
	known := map[string]bool{}
	for _, s := range []struct {
		name string
		from settings.Origin
		repo bool
	}{
		{"user", settings.Origin{Scope: settings.User, File: caseHome + "/.claude/settings.json"}, false},
		{"project", settings.Origin{Scope: settings.Project, File: caseCwd + "/.claude/settings.json"}, true},
		{"local", settings.Origin{Scope: settings.Local, File: caseCwd + "/.claude/settings.local.json"}, st.tracked()},
		{"cli", settings.Origin{Scope: settings.Flag}, false},
		{"managed", settings.Origin{Scope: settings.Managed, File: "/etc/claude-code/managed-settings.json"}, false},
	} {
		known[s.name] = true
		keys, ok := st.Sources[s.name]
		if !ok {
			continue
		}
		raw, err := scopeText(s.name, keys)
		if err != nil {
			return nil, err
		}
		out = append(out, settings.Text{From: s.from, JSON: raw, FromRepository: s.repo})
	}
	for name := range st.Sources {
		if !known[name] {
			return nil, fmt.Errorf("unknown scope %q in sources", name)
		}
	}
	return out, nil
}

func scopeText(scope string, keys map[string]json.RawMessage) ([]byte, error) {
	file, perms := map[string]any{}, map[string]any{}
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		switch {
		case slices.Contains(permissionKeys, k):
			perms[k] = keys[k]
		case scope == "managed":
			file[k] = keys[k]
		default:
			return nil, fmt.Errorf("unknown key %q in sources.%s", k, scope)
		}
	}
	file["permissions"] = perms
	return text(file), nil
}

// text marshals maps of lists, strings and raw JSON, which cannot fail.
func text(v any) []byte {
	raw, err := msg.Marshal(v)
	if err != nil {
		return []byte("{}")
	}
	return raw
}

func (st *caseSettings) tracked() bool {
	s := strings.TrimSpace(string(st.GitTracked))
	return s == "true" || strings.Contains(s, "settings.local.json")
}

func (st *caseSettings) trust() (settings.Trust, error) {
	switch s := string(st.Trusted); s {
	case "", "true", "null":
		return settings.Trusted, nil
	case "false":
		return settings.Untrusted, nil
	case `"parent"`:
		return settings.ParentTrusted, nil
	default:
		return settings.Untrusted, fmt.Errorf(`trusted: %s: use true, false or "parent"`, s)
	}
}

func (st *caseSettings) dialect() (shellread.Shell, error) {
	switch st.Shell {
	case "", "bash":
		return shellread.Bash, nil
	case "zsh":
		return shellread.Zsh, nil
	}
	return shellread.Bash, fmt.Errorf("shell %q: use bash or zsh", st.Shell)
}

func (st *caseSettings) fileSystem() (policy.FileSystem, error) {
	switch st.FS {
	case "", "case-sensitive":
		return policy.FileSystem{CaseInsensitive: st.Platform == "windows"}, nil
	case "case-insensitive":
		return policy.FileSystem{CaseInsensitive: true}, nil
	case "normalizing":
		return policy.FileSystem{Normalizing: true}, nil
	}
	return policy.FileSystem{}, fmt.Errorf("fs %q: use case-insensitive or normalizing", st.FS)
}

func (st *caseSettings) hook() (gate.HookAnswer, error) {
	for event, answer := range st.Hook {
		if event != "PreToolUse" {
			return gate.HookAnswer{}, fmt.Errorf("hook %q: only PreToolUse answers about a call", event)
		}
		switch answer {
		case "allow", "ask", "deny":
			return gate.HookAnswer{Behavior: tool.Behavior(answer)}, nil
		case "exit2":
			return gate.HookAnswer{Behavior: tool.Deny, Reason: "a hook ended with exit code 2"}, nil
		}
		return gate.HookAnswer{}, fmt.Errorf("hook answer %q: use allow, ask, deny or exit2", answer)
	}
	return gate.HookAnswer{}, nil
}

// server is the server that brings a tool, "" when the row names none.
func (st *caseSettings) server(name string) string {
	for server, tools := range st.MCPServers {
		for _, t := range tools {
			if name == "mcp__"+server+"__"+t {
				return server
			}
		}
	}
	return ""
}

// confined tells which calls run in the sandbox that the row describes.
func (st *caseSettings) confined(dialect shellread.Shell) func(tool.Planned) bool {
	on := func(key string, fallback bool) bool {
		v := fallback
		if raw, ok := st.Sandbox[key]; ok {
			_ = json.Unmarshal(raw, &v) // what is no truth value counts as not set
		}
		return v
	}
	if !on("enabled", st.Sandbox != nil) || !on("autoAllowBashIfSandboxed", true) {
		return nil
	}
	var excluded []string
	_ = json.Unmarshal(st.Sandbox["excludedCommands"], &excluded) // as above
	outside := on("allowUnsandboxedCommands", true)
	spare := leftOut(excluded, caseCwd, caseHome, shellread.NewReader(1), func() shellread.Shell { return dialect })
	return func(p tool.Planned) bool {
		needs := p.Call.Needs()
		if len(needs) != 1 || needs[0].Kind != tool.NeedExec {
			return false
		}
		var in map[string]any
		_ = json.Unmarshal(p.Use.Input, &in) // the tool has accepted it
		return !(in[unsandboxed] == true && outside) && !spare(needs[0].Command)
	}
}

// atHome puts the row's home for ~ in the path of a file tool, and writes a
// Windows path as policy reads paths.
func (st *caseSettings) atHome(s tool.Spec, input json.RawMessage) json.RawMessage {
	if s.RuleFamily == "" {
		s.RuleFamily = s.Name
	}
	if s.RuleFamily != families.Read && s.RuleFamily != families.Edit {
		return input
	}
	var in map[string]any
	if json.Unmarshal(input, &in) != nil {
		return input
	}
	for k, v := range in {
		name, ok := v.(string)
		if !ok {
			continue
		}
		if st.Platform == "windows" {
			name = slashed(name)
		}
		if rest, ok := strings.CutPrefix(name, "~/"); ok {
			name = path.Join(caseHome, rest)
		}
		in[k] = name
	}
	return text(in)
}

// slashed writes C:\a as /c/a and \\host\share as //host/share.
func slashed(name string) string {
	name = strings.ReplaceAll(name, `\`, "/")
	if len(name) > 1 && name[1] == ':' {
		return "/" + strings.ToLower(name[:1]) + "/" + strings.TrimPrefix(name[2:], "/")
	}
	return name
}

func absolute(dir string) string {
	switch {
	case dir == "~" || strings.HasPrefix(dir, "~/"):
		return path.Join(caseHome, strings.TrimPrefix(dir[1:], "/"))
	case !strings.HasPrefix(dir, "/"):
		return path.Join(caseCwd, dir)
	}
	return path.Clean(dir)
}
