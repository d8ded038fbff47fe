package app

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/action/hook"
	"github.com/hew-agent/hew/internal/backend/mcp"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/surface/streamjson"
	"github.com/hew-agent/hew/internal/wiring"
)

// initialize is the request by which a host program configures the session.
// Fields by the names of the published types; what is not listed is not used.
type initialize struct {
	System    []string                       `json:"systemPrompt"`
	Append    string                         `json:"appendSystemPrompt"`
	Hooks     json.RawMessage                `json:"hooks"`
	Agents    map[string]json.RawMessage     `json:"agents"`
	InHost    []string                       `json:"sdkMcpServers"`
	Configs   map[string]json.RawMessage     `json:"sdkMcpServerConfigs"`
	Manifests map[string]streamjson.Manifest `json:"sdkMcpServerManifests"`
	Servers   map[string]json.RawMessage     `json:"mcpServers"`
	Schema    json.RawMessage                `json:"jsonSchema"`
	Forward   bool                           `json:"forwardSubagentText"`
	Title     string                         `json:"title"`
	Plugins   []hostPlugin                   `json:"plugins"`
	Skills    []string                       `json:"skills"`
	Aliases   map[string]string              `json:"toolAliases"`
	Snapshot  *bool                          `json:"systemPromptSnapshot"`
	Dialogs   []string                       `json:"supportedDialogKinds"`
	StopsOne  bool                           `json:"perTaskStopAffordance"`
}

// sdk is the session as a host program configures and steers it.
type sdk struct {
	r    *headless
	host *streamjson.Host
	w    *wiring.Options
	conv *wiring.Conversation
	// asked is what the first line asked for, nil when it was something else.
	asked     *initialize
	manifests map[string]streamjson.Manifest
	began     time.Time
	patience  wiring.Patience
	// told says that the answer to the first initialize was given.
	told bool
}

// configure turns what the host asks for into options.
func (s *sdk) configure(raw json.RawMessage) error {
	in, err := readInitialize(raw)
	if err != nil {
		return err
	}
	s.asked, s.manifests = in, in.Manifests
	w := s.w
	s.prompts(in)
	if in.Title != "" && w.Name == "" {
		w.Name = in.Title
	}
	if in.Schema != nil && w.Schema == nil {
		w.Schema = in.Schema
	}
	if w.Agents, err = joined(w.Agents, in.Agents); err != nil {
		return fmt.Errorf("--agents: %w", err)
	}
	if in.Hooks != nil {
		if w.HostHooks, err = hook.HostHooks(in.Hooks); err != nil {
			return err
		}
	}
	if len(in.Servers) > 0 {
		raw, err := json.Marshal(map[string]any{"mcpServers": in.Servers})
		if err != nil {
			return err // parts of JSON: cannot fail
		}
		w.Servers = append(w.Servers, string(raw))
	}
	for _, name := range in.InHost {
		e, err := inHost(name, in.Configs[name])
		if err != nil {
			return err
		}
		w.InHost = append(w.InHost, e)
		s.restrict(name, in.Configs[name])
	}
	w.Skills, w.Aliases, w.FreshPrompt = in.Skills, in.Aliases, in.Snapshot != nil && !*in.Snapshot
	s.host.Declare(in.Dialogs)
	full, bare, err := dirs(in.Plugins)
	if err != nil {
		return err
	}
	w.PluginDirs = slices.Concat(w.PluginDirs, full, bare)
	w.PluginDirsNoServers = append(w.PluginDirsNoServers, bare...)
	return nil
}

// restrict takes up what the host says about single tools of its server: ask
// always, or never allow. That a tool is allowed is not for a server to say.
func (s *sdk) restrict(name string, config json.RawMessage) {
	var c struct {
		Tools []struct {
			Name   string `json:"name"`
			Policy string `json:"permission_policy"`
		} `json:"tools"`
	}
	if json.Unmarshal(config, &c) != nil {
		return // as the published types say, what does not fit is left out
	}
	for _, t := range c.Tools {
		rule := mcp.FullName(mcp.Normal(name), t.Name)
		switch t.Policy {
		case "", "always_allow":
		case "always_deny":
			s.w.Disallowed = append(s.w.Disallowed, rule)
		default: // a word of tomorrow asks, too
			s.w.Asking = append(s.w.Asking, rule)
		}
	}
}

func readInitialize(raw json.RawMessage) (*initialize, error) {
	in := &initialize{}
	if err := json.Unmarshal(raw, in); err != nil {
		return nil, fmt.Errorf("the initialize request: %w", err)
	}
	if string(in.Hooks) == "null" {
		in.Hooks = nil
	}
	if string(in.Schema) == "null" {
		in.Schema = nil
	}
	return in, nil
}

// prompts sets the system prompt: no key is hew's own, one empty text is the
// host's way to say that it wants next to none.
func (s *sdk) prompts(in *initialize) {
	blocks := slices.DeleteFunc(slices.Clone(in.System), func(t string) bool { return strings.TrimSpace(t) == "" })
	switch {
	case len(blocks) > 0:
		s.w.SystemBlocks = blocks
	case in.System != nil:
		s.w.Minimal = true
	}
	if in.Append != "" {
		s.w.AppendPrompt = strings.TrimSpace(s.w.AppendPrompt + "\n\n" + in.Append)
	}
}

// joined adds the agents of the host to those of the command line.
func joined(given string, more map[string]json.RawMessage) (string, error) {
	if len(more) == 0 {
		return given, nil
	}
	all := map[string]json.RawMessage{}
	if given != "" {
		if err := json.Unmarshal([]byte(given), &all); err != nil {
			return "", err
		}
	}
	maps.Copy(all, more)
	raw, err := json.Marshal(all)
	return string(raw), err
}

// inHost is the entry of a server in the host. Settings that do not fit are left
// out, as the published types say.
func inHost(name string, config json.RawMessage) (mcp.Entry, error) {
	var c struct {
		Timeout    float64 `json:"timeout"` // milliseconds
		AlwaysLoad bool    `json:"alwaysLoad"`
	}
	if json.Unmarshal(config, &c) != nil || c.Timeout < 1000 {
		c.Timeout = 0
	}
	raw, err := json.Marshal(map[string]any{"type": string(mcp.SDK), "timeout": c.Timeout, "alwaysLoad": c.AlwaysLoad})
	if err != nil {
		return mcp.Entry{}, err // plain values: cannot fail
	}
	e, err := mcp.ParseEntry(name, raw)
	e.Scope = mcp.ScopeSDK
	return e, err
}

// open opens the conversation for the first line of the host.
func (s *sdk) open(ctx context.Context, raw json.RawMessage) (*streamjson.Live, error) {
	w := s.w
	w.HookCallback = s.host.Hook
	w.HostServers = func(ctx context.Context, name string) (mcp.Frames, error) {
		return s.host.Server(ctx, name, s.manifests[name])
	}
	if raw != nil {
		if err := s.configure(raw); err != nil {
			return nil, err
		}
	}
	conv, err := wiring.Open(ctx, w)
	if err != nil {
		return nil, s.r.failed(err)
	}
	s.conv = conv
	stop := conv.StopWork
	if s.asked != nil && s.asked.StopsOne {
		stop = nil
	}
	return &streamjson.Live{
		Engine: conv.Engine, Commands: conv.Commands, Tasks: conv.Tasks, TaskEnded: conv.TaskEnded(), StopWork: stop,
		ForwardText: s.asked != nil && s.asked.Forward, Fallbacks: conv.Fallbacks,
		Listing:  func() any { return rowsOf(conv.Commands.List()) },
		Controls: s.controls(), Next: s.next,
		Facts: func() streamjson.Facts {
			conv.Ready(ctx)
			return facts(conv)
		},
	}, nil
}

// next is what the conversation goes on with by itself.
func (s *sdk) next(ctx context.Context) *msg.Message { return s.conv.Next(ctx, s.patience) }

// close ends the conversation, if one was opened.
func (s *sdk) close() error {
	if s.conv == nil {
		return nil
	}
	return s.conv.Close()
}
