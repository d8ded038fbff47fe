package wiring

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/action/hook"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/mcp"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/state/plugin"
	"github.com/hew-agent/hew/internal/state/server"
	"github.com/hew-agent/hew/internal/state/settings"
	"github.com/hew-agent/hew/internal/state/trust"
)

// PluginReload asks for the plugins as they are on disk now.
type PluginReload struct {
	// Add are folders of plugins that count from now on, absolute; those in
	// NoServers bring no MCP servers.
	Add, NoServers []string
	// Hold changes nothing when servers, and so the list of tools, would change in
	// a conversation that has begun.
	Hold bool
}

// PluginChange is what a reload did, or would do.
type PluginChange struct {
	// Held tells that nothing was changed.
	Held bool
	// Added and Removed are the plugins' MCP servers, by their full names.
	Added, Removed []string
	// Faults is the number of plugins that cannot be used.
	Faults int
}

// ReloadPlugins reads the plugins, and all that is made of files, anew. It must
// not be called while a run is under way.
func (c *Conversation) ReloadPlugins(r PluginReload) (PluginChange, error) {
	b := c.build
	var out PluginChange
	for _, dir := range r.Add {
		if !filepath.IsAbs(dir) {
			return out, fmt.Errorf("the plugin folder %q is not an absolute path", dir)
		}
	}
	if b.o.Bare {
		return out, errors.New("a bare run has no plugins")
	}
	dirs, bare := slices.Concat(b.o.PluginDirs, r.Add), slices.Concat(b.o.PluginDirsNoServers, r.NoServers)
	list, faults, err := b.plugLoad(slices.Concat(dirs, r.NoServers))
	if err != nil {
		return out, err
	}
	before, had := b.plugins, b.o.PluginDirsNoServers
	b.plugins, b.o.PluginDirsNoServers = list, bare
	want := b.pluginServers()
	out.Faults = faults
	out.Added, out.Removed = b.mcp.compare(want)
	if r.Hold && c.Engine.Begun() && len(out.Added)+len(out.Removed) > 0 {
		b.plugins, b.o.PluginDirsNoServers = before, had
		out.Held = true
		return out, nil
	}
	b.o.PluginDirs = slices.Concat(dirs, r.NoServers)
	b.defs.reload()
	if b.hooks != nil {
		b.hooks.reload(func(body event.Body) {
			if n, ok := body.(event.Notice); ok {
				b.notice(n.Text)
			}
		})
	}
	b.mcp.replace(want, out)
	return out, nil
}

// plugLoad are the plugins that count now.
func (b *build) plugLoad(dirs []string) (list []plugin.Loaded, faults int, err error) {
	cfg := b.settingsConfig
	v := trust.Check(trust.Config{Settings: cfg, Run: b.o.Consent, ReadOnly: true})
	cfg.Trust, cfg.BaseURLs = v.Level, v.BaseURLs
	values, _ := settings.Load(cfg) // problems are told when hooks and rules are read, which follows
	store := b.pluginStore()
	store.Values = values
	in := b.pluginSession()
	in.Dirs = dirs
	all, err := store.Load(in)
	if err != nil {
		return nil, 0, err
	}
	for _, l := range all {
		switch {
		case l.Off == "":
			list = append(list, l)
		case l.Fault:
			faults++
			b.notice(fmt.Sprintf("plugin %s is not in use: %s", l.ID, l.Off))
		}
	}
	return list, faults, nil
}

// compare tells what would change if the plugins' servers were these.
func (s *servers) compare(want []mcp.Entry) (added, removed []string) {
	now := map[string]mcp.Entry{}
	for _, o := range s.set.Servers() {
		if e := o.Entry(); e.Scope == mcp.ScopePlugin {
			now[e.Name] = e
		}
	}
	for _, e := range want {
		if old, ok := now[e.Name]; !ok || old.Digest != e.Digest {
			added = append(added, e.Name)
			continue
		}
		delete(now, e.Name)
	}
	return added, slices.Sorted(maps.Keys(now))
}

func (s *servers) replace(want []mcp.Entry, ch PluginChange) {
	for _, name := range ch.Removed {
		s.set.Remove(name)
	}
	for _, e := range want {
		if !slices.Contains(ch.Added, e.Name) {
			continue
		}
		if why := server.Forbids(s.b.serverConfig(), e); why != "" {
			s.b.notice(fmt.Sprintf("MCP server %q is not used: %s", e.Name, why))
		} else if err := s.set.Add(e); err != nil {
			s.b.notice(err.Error())
		}
	}
}

// RegisterRoot adds a working directory for the host. It must lie below one that
// the session has: what is further away needs the user's own word.
func (c *Conversation) RegisterRoot(ctx context.Context, name string) error {
	b := c.build
	dir, err := b.dir(name)
	if err != nil {
		return err
	}
	roots := c.Engine.Place().Roots
	if slices.Contains(roots, dir) {
		return fmt.Errorf("%s is a working directory already", dir)
	}
	if !slices.ContainsFunc(roots, func(r string) bool { return fsys.Within(r, dir) }) {
		return fmt.Errorf("%s is not below a working directory of the session", dir)
	}
	return b.addRoot(ctx, dir, "register_repo_root", func(event.Event) {})
}

// addRoot adds a working directory; source says who did.
func (b *build) addRoot(ctx context.Context, dir, source string, emit func(event.Event)) error {
	err := b.gateRef.Update([]event.Suggestion{{Type: "addDirectories", Directories: []string{dir}, Destination: "session"}})
	if err != nil {
		return fmt.Errorf("add a working directory: %w", err)
	}
	b.conv.Engine.AddRoot(dir)
	b.mcp.set.SetRoots(b.conv.Engine.Place().Roots)
	if b.hooks != nil {
		b.hooks.fire(ctx, hook.DirectoryAdded{Directory: dir, Source: source}, func(body event.Body) { emit(event.Event{Body: body}) })
	}
	return nil
}

// hostKeys are the settings that a host may write, by the scope of the file:
// each is a decision about safety, because these files also hold hooks and rules.
var hostKeys = map[settings.Scope]string{settings.Local: "outputStyle", settings.User: "effortLevel"}

// WriteSettings puts texts into a settings file for the host.
func (c *Conversation) WriteSettings(ctx context.Context, scope settings.Scope, changes map[string]string) error {
	b := c.build
	if !b.sourced(scope) {
		return fmt.Errorf("the session was started without the source %s (--setting-sources)", scope)
	}
	for _, key := range slices.Sorted(maps.Keys(changes)) {
		if key != hostKeys[scope] {
			return fmt.Errorf("a host may not write the key %q; in %s settings it may write %s", key, scope, hostKeys[scope])
		}
	}
	for key, value := range changes {
		if key == "outputStyle" && !slices.ContainsFunc(b.styles(), func(n string) bool { return strings.EqualFold(n, value) }) {
			return fmt.Errorf("there is no output style %q; there are %s", value, strings.Join(b.styles(), ", "))
		}
		if key == "effortLevel" && !slices.Contains([]string{"low", "medium", "high", "xhigh"}, value) {
			return fmt.Errorf("the effort level is low, medium, high or xhigh, not %q", value)
		}
		if err := b.settingsConfig.Set(ctx, scope, value, key); err != nil {
			return err
		}
	}
	return nil
}

// ToBackground asks the call use, "" for all calls that wait for a command or a
// subagent, to let it go on in the background, and returns how many were asked.
func (c *Conversation) ToBackground(use string) (int, error) {
	if c.build.env("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS") != "" {
		return 0, errors.New("background tasks are switched off (CLAUDE_CODE_DISABLE_BACKGROUND_TASKS)")
	}
	return c.build.background.Leave(use), nil
}

// BackgroundWork is how many subagents are at work in the background.
func (c *Conversation) BackgroundWork() int {
	n := 0
	for _, w := range c.build.background.All() {
		if st := w.Status(); !st.State.Final() && st.Agent.Type != "" {
			n++
		}
	}
	return n
}

// Colors are the accents that a session can be given.
func Colors() []string {
	return []string{"red", "blue", "green", "yellow", "purple", "orange", "pink", "cyan"}
}

// SetColor notes the accent of the session, "default" for none.
func (c *Conversation) SetColor(name string) error {
	if name != "default" && !slices.Contains(Colors(), name) {
		return fmt.Errorf("there is no color %q; there are %s and default", name, strings.Join(Colors(), ", "))
	}
	if c.build.noted == nil {
		return errors.New("this session is not kept, so it has no color")
	}
	return c.build.noted.Color(name)
}
