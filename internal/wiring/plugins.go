package wiring

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/action/hook"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/mcp"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/state/catalog"
	"github.com/hew-agent/hew/internal/state/plugin"
	"github.com/hew-agent/hew/internal/state/settings"
)

// findPlugins settles which plugins the session has. It runs after the settings
// were read, since they say what is on, and before anything that plugins bring.
func (b *build) findPlugins() error {
	if b.o.Bare {
		return nil
	}
	list, err := b.pluginStore().Load(b.pluginSession())
	if err != nil {
		return err
	}
	for _, l := range list {
		if l.Off == "" {
			b.plugins = append(b.plugins, l)
		} else if l.Fault {
			b.notice(fmt.Sprintf("plugin %s is not in use: %s", l.ID, l.Off))
		}
	}
	return nil
}

func (b *build) pluginSession() plugin.Session {
	return plugin.Session{Trust: b.trust.Level, Dirs: b.o.PluginDirs, User: b.sourced(settings.User), Project: b.sourced(settings.Project)}
}

func (b *build) pluginStore() *plugin.Store {
	return &plugin.Store{Settings: b.settingsConfig, Values: b.settings, Now: b.o.Now, NewID: b.o.NewID, Notice: b.notice}
}

// plugged are the plugins for the catalog.
func (b *build) plugged() []*catalog.Plugin {
	out := make([]*catalog.Plugin, len(b.plugins))
	for i, l := range b.plugins {
		l.Plugin.Options = l.Public
		out[i] = l.Plugin
	}
	return out
}

// hookSources are the hooks of settings and plugins.
func (b *build) hookSources(s *settings.Settings) ([]hook.Source, hook.Limits) {
	sources, limits := hook.FromSettings(s)
	for _, l := range b.plugins {
		for _, raw := range l.Plugin.Hooks {
			sources = append(sources, hook.Source{
				Scope: hook.Plugin, File: filepath.Join(l.Plugin.Root, "hooks", "hooks.json"), Hooks: filledArgs(pluginHooks(raw), l.Options),
				Root: l.Plugin.Root, Data: l.Plugin.Data, Env: plugin.OptionEnv(l.Options),
			})
		}
	}
	return sources, limits
}

// pluginHooks is the object of events: files hold it under "hooks".
func pluginHooks(raw json.RawMessage) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) == nil && m["hooks"] != nil {
		return m["hooks"]
	}
	return raw
}

// filledArgs puts the user's answers into the args of hooks. A shell command
// never gets one: the shell would run what it holds.
func filledArgs(raw json.RawMessage, answers map[string]string) json.RawMessage {
	var v any
	if len(answers) == 0 || !strings.Contains(string(raw), "${user_config.") || json.Unmarshal(raw, &v) != nil {
		return raw
	}
	fill := answerReplacer(answers)
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			if args, ok := v["args"].([]any); ok {
				for i, a := range args {
					if text, ok := a.(string); ok {
						args[i] = fill.Replace(text)
					}
				}
			}
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(v)
	out, err := json.Marshal(v)
	if err != nil {
		return raw // it was just read: cannot fail
	}
	return out
}

func answerReplacer(answers map[string]string) *strings.Replacer {
	var pairs []string
	for _, k := range slices.Sorted(maps.Keys(answers)) {
		pairs = append(pairs, "${user_config."+k+"}", answers[k])
	}
	return strings.NewReplacer(pairs...)
}

// fillStrings replaces in all texts of a value.
func fillStrings(v any, fill *strings.Replacer) any {
	switch v := v.(type) {
	case string:
		return fill.Replace(v)
	case []any:
		for i := range v {
			v[i] = fillStrings(v[i], fill)
		}
	case map[string]any:
		for k := range v {
			v[k] = fillStrings(v[k], fill)
		}
	}
	return v
}

// filled is a configuration with the plugin's folders and the user's answers put
// in. Servers are started without a shell, so an answer is one word in any case.
func filled(raw json.RawMessage, l plugin.Loaded) (json.RawMessage, error) {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	pairs := []string{"${CLAUDE_PLUGIN_ROOT}", l.Plugin.Root, "${CLAUDE_PLUGIN_DATA}", l.Plugin.Data}
	for _, k := range slices.Sorted(maps.Keys(l.Options)) {
		pairs = append(pairs, "${user_config."+k+"}", l.Options[k])
	}
	return json.Marshal(fillStrings(v, strings.NewReplacer(pairs...)))
}

// members is the object under key, or the value itself: files of the ecosystem
// have both forms.
func members(raw json.RawMessage, key string) (map[string]json.RawMessage, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, err
	}
	if m[key] == nil {
		return m, nil
	}
	var in map[string]json.RawMessage
	return in, json.Unmarshal(m[key], &in)
}

// pluginServers are the MCP servers of plugins.
func (b *build) pluginServers() []mcp.Entry {
	var out []mcp.Entry
	for _, l := range b.plugins {
		if b.withoutServers(l) {
			continue
		}
		for _, raw := range l.Plugin.Servers {
			list, err := b.serversOf(l, raw)
			if err != nil {
				b.notice(fmt.Sprintf("plugin %s: its MCP servers cannot be read: %v", l.ID, err))
			}
			out = append(out, list...)
		}
	}
	return out
}

// withoutServers tells that the plugin was given without its servers.
func (b *build) withoutServers(l plugin.Loaded) bool {
	return slices.ContainsFunc(b.o.PluginDirsNoServers, func(dir string) bool {
		at, err := fsys.Locate(b.place.Cwd, dir)
		return err == nil && samePath(at.Real, l.Plugin.Root)
	})
}

func samePath(a, b string) bool {
	if real, err := fsys.Real(b); err == nil {
		b = real
	}
	return a == b
}

func (b *build) serversOf(l plugin.Loaded, raw json.RawMessage) ([]mcp.Entry, error) {
	m, err := members(raw, "mcpServers")
	if err != nil {
		return nil, err
	}
	var out []mcp.Entry
	for _, name := range slices.Sorted(maps.Keys(m)) {
		entry, err := filled(m[name], l)
		if err != nil {
			return out, err
		}
		e, err := mcp.ParseEntry("plugin:"+l.Plugin.Name+":"+name, entry)
		if err != nil {
			b.notice(fmt.Sprintf("plugin %s: %v", l.ID, err))
			continue
		}
		e.Scope, e.File = mcp.ScopePlugin, filepath.Join(l.Plugin.Root, ".mcp.json")
		e.Command = inPlugin(l.Plugin.Root, e.Command)
		env := maps.Clone(e.Env)
		if env == nil {
			env = map[string]string{}
		}
		maps.Copy(env, plugin.OptionEnv(l.Options))
		env["CLAUDE_PLUGIN_ROOT"], env["CLAUDE_PLUGIN_DATA"] = l.Plugin.Root, l.Plugin.Data
		e.Env = env
		out = append(out, e)
	}
	return out, nil
}

// inPlugin is a program of a plugin: a relative path counts from its root, not
// from the project, whose files a plugin did not mean.
func inPlugin(root, command string) string {
	if !strings.ContainsRune(filepath.ToSlash(command), '/') || filepath.IsAbs(command) || strings.HasPrefix(command, "~") {
		return command
	}
	return filepath.Join(root, filepath.FromSlash(command))
}

// LanguageServer is a language server that a plugin brings.
type LanguageServer struct {
	// Plugin and Name tell where it comes from.
	Plugin string `json:"plugin"`
	Name   string `json:"name"`
	// Command, Args and Env start it, with the plugin's folders filled in; Dir is
	// the plugin's root.
	Command string            `json:"command"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Dir     string            `json:"dir"`
	// Languages maps the ends of file names (".go") to language ids.
	Languages map[string]string `json:"extensionToLanguage"`
	// Transport is "stdio" or "socket", "" for stdio.
	Transport string `json:"transport,omitempty"`
	// Options and Settings are passed to the server as they are.
	Options  json.RawMessage `json:"initializationOptions,omitempty"`
	Settings json.RawMessage `json:"settings,omitempty"`
	// StartUp bounds its start, in milliseconds; 0 for the default.
	StartUp int `json:"startupTimeout,omitempty"`
}

// languageServers are those that the plugins of the session bring.
func (b *build) languageServers() []LanguageServer {
	var out []LanguageServer
	for _, l := range b.plugins {
		for _, raw := range l.Plugin.Languages {
			list, err := languagesOf(l, raw)
			if err != nil {
				b.notice(fmt.Sprintf("plugin %s: its language servers cannot be read: %v", l.ID, err))
			}
			out = append(out, list...)
		}
	}
	return out
}

func languagesOf(l plugin.Loaded, raw json.RawMessage) ([]LanguageServer, error) {
	m, err := members(raw, "lspServers")
	if err != nil {
		return nil, err
	}
	var out []LanguageServer
	for _, name := range slices.Sorted(maps.Keys(m)) {
		entry, err := filled(m[name], l)
		if err != nil {
			return out, err
		}
		s := LanguageServer{}
		if err := json.Unmarshal(entry, &s); err != nil {
			return out, fmt.Errorf("language server %q: %w", name, err)
		}
		if s.Command == "" || len(s.Languages) == 0 {
			return out, fmt.Errorf("language server %q needs a command and extensionToLanguage", name)
		}
		s.Plugin, s.Name, s.Dir = l.Plugin.Name, name, l.Plugin.Root
		s.Command = inPlugin(l.Plugin.Root, s.Command)
		if s.Env == nil {
			s.Env = map[string]string{}
		}
		maps.Copy(s.Env, plugin.OptionEnv(l.Options))
		s.Env["CLAUDE_PLUGIN_ROOT"], s.Env["CLAUDE_PLUGIN_DATA"] = l.Plugin.Root, l.Plugin.Data
		out = append(out, s)
	}
	return out, nil
}

// pluginPath writes the file that puts the programs of plugins on the shell's
// PATH and returns its name, "" when there are none. They come last: no plugin
// takes the place of a program that is there already.
func (b *build) pluginPath() string {
	var text strings.Builder
	for _, l := range b.plugins {
		if l.Plugin.Programs != "" {
			text.WriteString("export PATH=\"$PATH\":" + shell.Quote(filepath.ToSlash(l.Plugin.Programs)) + "\n")
		}
	}
	if text.Len() == 0 {
		return ""
	}
	path := b.home.Own("session-env", b.id+"-plugins.sh")
	if err := writeFile(path, []byte(text.String())); err != nil {
		b.notice(fmt.Sprintf("the programs of plugins are not on the PATH: %v", err))
		return ""
	}
	b.conv.close = append(b.conv.close, func() error {
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			return err
		}
		return nil
	})
	return path
}

// PluginRow is a plugin that the session uses.
type PluginRow struct{ Name, Path, Source, Version string }

// Plugins are the plugins of the session.
func (c *Conversation) Plugins() []PluginRow {
	var out []PluginRow
	if c.build == nil {
		return nil
	}
	for _, l := range c.build.plugins {
		out = append(out, PluginRow{l.Plugin.Name, l.Plugin.Root, l.ID.String(), l.Plugin.Version})
	}
	return out
}
