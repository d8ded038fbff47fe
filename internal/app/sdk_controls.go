package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hew-agent/hew/internal/action/hook"
	"github.com/hew-agent/hew/internal/backend/provider"
	slash "github.com/hew-agent/hew/internal/core/command"
	"github.com/hew-agent/hew/internal/surface/streamjson"
	"github.com/hew-agent/hew/internal/wiring"
)

// control makes a Control of a function that takes the request's own fields.
func control[In any](when streamjson.When, do func(ctx context.Context, in In) (any, error)) streamjson.Control {
	return streamjson.Control{When: when, Do: func(ctx context.Context, raw json.RawMessage) (any, error) {
		var in In
		if err := json.Unmarshal(raw, &in); err != nil {
			return nil, &streamjson.Refused{Code: "invalid_request", Err: fmt.Errorf("the request: %w", err)}
		}
		return do(ctx, in)
	}}
}

// nothing is a request without fields, and the answer that says only that it was done.
type nothing struct{}

// controls is the table of control requests; those that need no more than the
// engine are the surface's own.
func (s *sdk) controls() map[string]streamjson.Control {
	const now, beside, atRest = streamjson.InTurn, streamjson.Beside, streamjson.BetweenRuns
	all := map[string]streamjson.Control{
		"initialize":              {Do: s.initialize},
		"set_max_thinking_tokens": control(now, s.setThinking),
		"rename_session":          control(now, s.rename),
		"seed_read_state":         control(beside, s.seed),
		"apply_flag_settings":     control(atRest, s.applySettings),
		"get_settings":            control(atRest, s.settings),
		"list_models":             control(now, s.listModels),
		"list_permission_rules":   control(now, s.rules),
		"get_hooks_listing":       control(now, s.hooks),
		"get_binary_version":      control(now, s.version),
		"get_session_cost":        control(now, s.cost),
		"get_usage":               control(now, s.usage),
		"get_context_usage":       control(atRest, s.context),
		"rewind_files":            control(atRest, s.rewind),
		"stop_task":               control(beside, s.stopTask),
		"get_task_output":         control(beside, s.taskOutput),
		"mcp_status":              control(now, s.serverStatus),
		"mcp_set_servers":         control(beside, s.setServers),
		"mcp_toggle":              control(beside, s.toggleServer),
		"mcp_reconnect":           control(beside, s.reconnectServer),
		"mcp_call":                control(beside, s.callServer),
		"mcp_read_resource":       control(beside, s.readResource),
		"read_file":               control(beside, s.readFile),
		"file_suggestions":        control(beside, s.suggestFiles),
		"reload_skills":           control(now, s.reloadSkills),
		"reload_output_styles":    control(now, s.reloadStyles),
		"set_has_subscribers":     control(now, func(context.Context, nothing) (any, error) { return nothing{}, nil }),
	}
	maps.Copy(all, s.changes())
	return all
}

type commandRow struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Hint        string   `json:"argumentHint"`
	Aliases     []string `json:"aliases,omitempty"`
}

func rowsOf(list []slash.Command) []commandRow {
	out := []commandRow{}
	for _, c := range list {
		out = append(out, commandRow{c.Name, c.About, c.Hint, c.Aliases})
	}
	return out
}

type agentRow struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Model       string `json:"model,omitempty"`
}

type modelRow struct {
	Value       string   `json:"value"`
	Resolved    string   `json:"resolvedModel,omitempty"`
	Display     string   `json:"displayName"`
	Description string   `json:"description"`
	Effort      bool     `json:"supportsEffort"`
	Levels      []string `json:"supportedEffortLevels,omitempty"`
	Adaptive    bool     `json:"supportsAdaptiveThinking"`
}

// welcome is the answer to initialize.
type welcome struct {
	Commands   []commandRow      `json:"commands"`
	Agents     []agentRow        `json:"agents"`
	Style      string            `json:"output_style"`
	Styles     []string          `json:"available_output_styles"`
	Models     []modelRow        `json:"models"`
	Account    map[string]string `json:"account"`
	PID        int               `json:"pid"`
	Version    string            `json:"claude_code_version"`
	Mode       string            `json:"current_permission_mode"`
	OnFailure  bool              `json:"hook_on_failure_supported"`
	Hooks      bool              `json:"hooks_applied"`
	Servers    bool              `json:"mcp_servers_applied"`
	Plugins    bool              `json:"plugins_applied"`
	Parked     map[string]string `json:"sdk_mcp_manifests_parked,omitempty"`
	FastMode   string            `json:"fast_mode_state"`
	Abilities  []string          `json:"capabilities"`
	Permission []string          `json:"pending_permission_requests"`
	Dialogs    []string          `json:"pending_user_dialog_requests"`
}

// initialize answers with what the session offers. A host that asks again gives
// its hooks anew; all else stays as it began.
func (s *sdk) initialize(_ context.Context, raw json.RawMessage) (any, error) {
	in, err := readInitialize(raw)
	if err != nil {
		return nil, &streamjson.Refused{Code: "invalid_request", Err: err}
	}
	first := !s.told && s.asked != nil
	s.told = true
	if !first && in.Hooks != nil {
		hooks, err := hook.HostHooks(in.Hooks)
		if err != nil {
			return nil, &streamjson.Refused{Code: "invalid_request", Err: err}
		}
		if err := s.conv.SetHostHooks(hooks); err != nil {
			return nil, err
		}
	}
	c := s.conv
	w := welcome{
		Commands: rowsOf(c.Commands.List()), Agents: s.agents(), Style: c.Style, Styles: c.Styles(), Models: models(),
		Account: map[string]string{"apiKeySource": c.KeySource, "tokenSource": c.KeySource, "apiProvider": "firstParty"},
		PID:     os.Getpid(), Version: Version(), Mode: c.Engine.Mode(), OnFailure: true, Hooks: true,
		Servers: first || len(in.Servers) == 0, Plugins: s.loaded(in.Plugins), FastMode: "off",
		Abilities: streamjson.Capabilities(), Permission: []string{}, Dialogs: []string{},
	}
	for name := range in.Manifests {
		if w.Parked == nil {
			w.Parked = map[string]string{}
		}
		w.Parked[name] = "not_honoured"
		if first {
			w.Parked[name] = "parked"
		}
	}
	return w, nil
}

// loaded tells whether all these plugins are in use.
func (s *sdk) loaded(list []hostPlugin) bool {
	rows := s.conv.Plugins()
	return !slices.ContainsFunc(list, func(p hostPlugin) bool {
		real, err := filepath.EvalSymlinks(p.Path)
		return err != nil || !slices.ContainsFunc(rows, func(r wiring.PluginRow) bool { return r.Path == p.Path || r.Path == real })
	})
}

func (s *sdk) agents() []agentRow {
	out := []agentRow{}
	for _, a := range s.conv.Agents() {
		out = append(out, agentRow(a))
	}
	return out
}

// models is what can be chosen: the default, then all that hew knows.
func models() []modelRow {
	def := provider.Lookup("default", provider.Overrides{})
	out := []modelRow{modelEntry("default", def, "Default", "the model that hew chooses: "+def.ID)}
	for _, m := range provider.Models() {
		out = append(out, modelEntry(m.ID, m, m.ID, fmt.Sprintf("window %d tokens, replies up to %d", m.Window, m.MaxOutput)))
	}
	return out
}

func modelEntry(value string, m provider.Model, display, about string) modelRow {
	r := modelRow{Value: value, Resolved: m.ID, Display: display, Description: about, Effort: m.Effort, Adaptive: m.Adaptive}
	if m.Effort {
		r.Levels = []string{"low", "medium", "high", "xhigh", "max"}
	}
	return r
}

func (s *sdk) listModels(context.Context, nothing) (any, error) {
	return map[string]any{"models": models()}, nil
}

func (s *sdk) version(context.Context, nothing) (any, error) {
	return map[string]string{"version": Version()}, nil
}

func (s *sdk) reloadSkills(context.Context, nothing) (any, error) {
	s.conv.ReloadDefinitions()
	return map[string]any{"skills": rowsOf(s.conv.Commands.List())}, nil
}

func (s *sdk) reloadStyles(context.Context, nothing) (any, error) {
	s.conv.ReloadDefinitions()
	return map[string]any{"available_output_styles": s.conv.Styles()}, nil
}

// setThinking leaves the budget as it is when the key is absent.
func (s *sdk) setThinking(_ context.Context, in map[string]json.RawMessage) (any, error) {
	if raw, ok := in["thinking_display"]; ok {
		var display *string
		if json.Unmarshal(raw, &display) != nil || display != nil && *display != "summarized" && *display != "omitted" {
			return nil, &streamjson.Refused{Code: "invalid_request", Err: errors.New("thinking_display is summarized, omitted or null")}
		}
		if display == nil {
			display = new(string)
		}
		s.conv.ShowThinking(*display)
	}
	raw, ok := in["max_thinking_tokens"]
	if !ok {
		return nothing{}, nil
	}
	var budget *int
	if err := json.Unmarshal(raw, &budget); err != nil || budget != nil && *budget < 0 {
		return nil, &streamjson.Refused{Code: "invalid_request", Err: errors.New("max_thinking_tokens is a number that is not negative, or null")}
	}
	s.conv.SetThinking(budget)
	return nothing{}, nil
}

func (s *sdk) rename(_ context.Context, in struct {
	Title   string `json:"title"`
	Session string `json:"session_id"`
},
) (any, error) {
	if in.Session != "" && in.Session != s.conv.Engine.Session() {
		return nil, errors.New("this process has moved on to another session")
	}
	return nothing{}, s.conv.Rename(in.Title)
}

func (s *sdk) seed(_ context.Context, in struct {
	Path string `json:"path"`
	Time int64  `json:"mtime"` // milliseconds
},
) (any, error) {
	return nothing{}, s.conv.Seed(in.Path, time.UnixMilli(in.Time))
}

func (s *sdk) stopTask(_ context.Context, in struct {
	ID string `json:"task_id"`
},
) (any, error) {
	return nothing{}, s.conv.StopTask(in.ID)
}

// taskTail is how much of a task's output a host gets, in bytes, as published.
const taskTail = 8 << 10

func (s *sdk) taskOutput(_ context.Context, in struct {
	ID string `json:"task_id"`
},
) (any, error) {
	text, total, err := s.conv.TaskOutput(in.ID, taskTail)
	if err != nil {
		return nil, err
	}
	return map[string]any{"output": text, "total_bytes": total, "truncated": total > taskTail}, nil
}
