package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hew-agent/hew/internal/state/settings"
	"github.com/hew-agent/hew/internal/surface/streamjson"
	"github.com/hew-agent/hew/internal/wiring"
)

// changes are the control requests that change what the session is made of.
func (s *sdk) changes() map[string]streamjson.Control {
	const now, beside, atRest = streamjson.InTurn, streamjson.Beside, streamjson.BetweenRuns
	reload := control(atRest, s.reloadPlugins)
	reload.Check = s.mayReload
	return map[string]streamjson.Control{
		"background_tasks":   control(now, s.toBackground),
		"update_settings":    control(beside, s.writeSettings),
		"reload_plugins":     reload,
		"register_repo_root": control(beside, s.addRoot),
		"set_color": control(now, func(_ context.Context, in struct {
			Color string `json:"color"`
		},
		) (any, error) {
			return nothing{}, s.conv.SetColor(in.Color)
		}),
	}
}

func (s *sdk) toBackground(_ context.Context, in struct {
	Use *string `json:"tool_use_id"`
},
) (any, error) {
	use := ""
	if in.Use != nil {
		use = *in.Use
	}
	n, err := s.conv.ToBackground(use)
	if err != nil {
		return nil, err
	}
	// Asking for all is answered with true even where nothing waits, as published.
	return map[string]bool{"backgrounded": n > 0 || use == ""}, nil
}

func (s *sdk) writeSettings(ctx context.Context, in struct {
	Source   string         `json:"source"`
	Settings map[string]any `json:"settings"`
},
) (any, error) {
	scopes := map[string]settings.Scope{"localSettings": settings.Local, "userSettings": settings.User}
	scope, ok := scopes[in.Source]
	if !ok {
		return nil, fmt.Errorf("the source is localSettings or userSettings, not %q", in.Source)
	}
	texts := map[string]string{}
	for k, v := range in.Settings {
		if texts[k], ok = v.(string); !ok {
			return nil, fmt.Errorf("the value of %q is not a text; keys cannot be taken away either", k)
		}
	}
	return nothing{}, s.conv.WriteSettings(ctx, scope, texts)
}

// hostPlugin is a plugin as hosts name them.
type hostPlugin struct {
	Type string `json:"type"`
	Path string `json:"path"`
	Skip bool   `json:"skipMcpDiscovery"`
}

// dirs are the folders of plugins; those in bare bring no MCP servers.
func dirs(list []hostPlugin) (full, bare []string, err error) {
	for _, p := range list {
		switch {
		case p.Type != "local" || p.Path == "":
			return nil, nil, fmt.Errorf("a plugin of a host has the type local and a path, not %q and %q", p.Type, p.Path)
		case p.Skip:
			bare = append(bare, p.Path)
		default:
			full = append(full, p.Path)
		}
	}
	return full, bare, nil
}

type pluginRequest struct {
	Hold bool         `json:"hold_on_cache_impact"`
	Add  []hostPlugin `json:"add_plugins"`
	Idle bool         `json:"refuse_if_busy"`
}

// mayReload refuses a reload that must not wait for a run.
func (s *sdk) mayReload(raw json.RawMessage) error {
	var in pluginRequest
	if err := json.Unmarshal(raw, &in); err != nil || !in.Idle {
		return nil // what is wrong with it is said when it is carried out
	}
	e := s.conv.Engine
	if e.Running() || len(e.Waiting()) > 0 || s.conv.BackgroundWork() > 0 {
		return &streamjson.Refused{Code: "reload_plugins_busy", Err: errors.New("the session is busy; ask again when it is idle")}
	}
	return nil
}

func (s *sdk) reloadPlugins(ctx context.Context, in pluginRequest) (any, error) {
	full, bare, err := dirs(in.Add)
	if err != nil {
		return nil, err
	}
	ch, err := s.conv.ReloadPlugins(wiring.PluginReload{Add: full, NoServers: bare, Hold: in.Hold})
	if err != nil {
		return nil, err
	}
	plugins := []map[string]string{}
	for _, p := range s.conv.Plugins() {
		row := map[string]string{"name": p.Name, "path": p.Path, "source": p.Source}
		if p.Version != "" {
			row["version"] = p.Version
		}
		plugins = append(plugins, row)
	}
	servers := []serverStatus{}
	for _, st := range s.conv.ServerStates() {
		servers = append(servers, statusOf(st))
	}
	out := map[string]any{
		"commands": rowsOf(s.conv.Commands.List()), "agents": s.agents(), "plugins": plugins, "mcpServers": servers, "error_count": ch.Faults,
	}
	if in.Hold {
		out["held"] = ch.Held
	}
	if ch.Held {
		out["cache_impact"] = map[string]any{
			"mcp_servers_added": append([]string{}, ch.Added...), "mcp_servers_removed": append([]string{}, ch.Removed...), "lsp_tool_change": nil,
		}
	}
	return out, nil
}

func (s *sdk) addRoot(ctx context.Context, in struct {
	Dir     string `json:"directory"`
	Plugins bool   `json:"reload_plugins"`
	Skills  bool   `json:"reload_skills"`
},
) (any, error) {
	if err := s.conv.RegisterRoot(ctx, in.Dir); err != nil {
		return nil, err
	}
	if in.Plugins || in.Skills {
		s.conv.ReloadDefinitions()
	}
	return nothing{}, nil
}
