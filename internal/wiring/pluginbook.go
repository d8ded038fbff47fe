package wiring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/state/catalog"
	"github.com/hew-agent/hew/internal/state/plugin"
	"github.com/hew-agent/hew/internal/state/session"
)

// PluginBook shows and changes the plugins of a folder.
type PluginBook struct {
	// Store changes what is installed.
	*plugin.Store
	b *build
}

// OpenPlugins reads what counts in a folder; it starts nothing. Close ends what
// was started since.
func OpenPlugins(o Options) (*PluginBook, error) {
	o.NoPersist, o.Resume, o.Continue, o.Fork = true, "", false, false
	if o.NewID == nil {
		o.NewID = session.NewID
	}
	if o.Now == nil {
		o.Now, o.Sleep = time.Now, engine.Sleep
	}
	b := &build{o: &o, conv: &Conversation{}}
	if err := b.locate(); err != nil {
		return nil, err
	}
	b.runner = shell.New(shell.Config{NoSnapshot: true, Env: b.environ(), Reaper: o.Reaper, Notice: b.notice})
	b.conv.close = append(b.conv.close, b.runner.Close)
	s := b.pluginStore()
	s.Get = download
	env := slices.DeleteFunc(b.environ(), func(e string) bool { // variables of a repository around this process mean nothing for another
		return strings.HasPrefix(e, "GIT_") && !strings.HasPrefix(e, "GIT_SSH")
	})
	if path, err := shell.LookPath("git", env); err == nil {
		r := shell.New(shell.Config{NoSnapshot: true, Env: env, Reaper: o.Reaper, Notice: b.notice})
		b.conv.close = append(b.conv.close, r.Close)
		s.Git = fetching(r, path)
	}
	return &PluginBook{s, b}, nil
}

// Close ends what was started.
func (k *PluginBook) Close() error { return k.b.conv.Close() }

// Loaded are the plugins that a session here could have.
func (k *PluginBook) Loaded() ([]plugin.Loaded, error) { return k.Load(k.b.pluginSession()) }

// fetchPatience bounds one call of git, downloadPatience a download.
const (
	fetchPatience    = 5 * time.Minute
	downloadPatience = 2 * time.Minute
)

// fetching is git for repositories of strangers: none of what they hold is
// started (hooks, filters and submodules stay out, see plugin.Store), helper
// programs of transports are not allowed, and nothing asks on the terminal. The
// user's own configuration counts, since it says how to log in.
func fetching(r *shell.Runner, path string) func(ctx context.Context, dir string, args ...string) (string, error) {
	safe := []string{path, "--no-pager"}
	for _, c := range []string{
		"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.alternateRefsCommand=", "core.gitProxy=", "core.symlinks=true",
		"protocol.ext.allow=never", "submodule.recurse=false", "fetch.recurseSubmodules=false", "fetch.fsckObjects=true",
		"gc.auto=0", "maintenance.auto=false", "advice.detachedHead=false", "uploadpack.packObjectsHook=",
	} {
		safe = append(safe, "-c", c)
	}
	env := map[string]string{
		"GIT_ALLOW_PROTOCOL": "https:http:ssh:file", "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "", "SSH_ASKPASS": "", "GIT_NO_LAZY_FETCH": "1",
	}
	return func(ctx context.Context, dir string, args ...string) (string, error) {
		res, err := r.Exec(ctx, shell.Program{
			Argv: append(slices.Clone(safe), args...), Dir: dir, Env: env, Unconfined: true, Timeout: fetchPatience,
		})
		if err == nil && res.TimedOut {
			err = fmt.Errorf("it took longer than %s", fetchPatience)
		}
		if err = exitError(res, err); err != nil && len(res.Stderr) > 0 {
			err = fmt.Errorf("%w: %s", err, plain.Clip(strings.TrimSpace(string(res.Stderr)), 500))
		}
		return string(res.Stdout), err
	}
}

// download opens an address. Redirects stay with https, or with this machine.
func download(ctx context.Context, url string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	c := &http.Client{Timeout: downloadPatience, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) > 5 {
			return errors.New("it redirects more than five times")
		}
		if r.URL.Scheme != "https" && via[0].URL.Scheme == "https" {
			return errors.New("it redirects to an address that is not https")
		}
		return nil
	}}
	res, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("the server answered %s", res.Status), res.Body.Close())
	}
	return res.Body, nil
}

// PluginParts are what a plugin brings, each by its name in a session.
type PluginParts struct {
	Skills    []string         `json:"skills"`
	Agents    []string         `json:"agents"`
	Styles    []string         `json:"output_styles"`
	Hooks     []string         `json:"hooks"`
	Servers   []string         `json:"mcp_servers"`
	Languages []LanguageServer `json:"language_servers"`
	Programs  []string         `json:"programs"`
	// Problems are what its author should mend.
	Problems []string `json:"problems,omitempty"`
}

// Parts lists what a plugin brings. Skills are its commands, too.
func (k *PluginBook) Parts(l plugin.Loaded) PluginParts {
	p := PluginParts{Skills: []string{}, Agents: []string{}, Styles: []string{}, Hooks: []string{}, Servers: []string{}, Languages: []LanguageServer{}, Programs: []string{}}
	if l.Plugin == nil {
		return p
	}
	c := catalog.Load(catalog.Config{Plugins: []*catalog.Plugin{l.Plugin}})
	for _, s := range c.Skills {
		p.Skills = append(p.Skills, s.Name)
	}
	for _, a := range c.Agents {
		p.Agents = append(p.Agents, a.Name)
	}
	for _, s := range c.Styles {
		p.Styles = append(p.Styles, s.Name)
	}
	for _, f := range c.Problems {
		p.Problems = append(p.Problems, f.String())
	}
	p.configs(k.b, l)
	return p
}

// configs adds the parts that stand in configuration files.
func (p *PluginParts) configs(b *build, l plugin.Loaded) {
	l.Options = l.Public // lists hold no secrets
	for _, raw := range l.Plugin.Hooks {
		events, err := members(raw, "hooks")
		p.problem(err)
		for _, event := range slices.Sorted(maps.Keys(events)) {
			if event != "description" {
				p.Hooks = append(p.Hooks, event)
			}
		}
	}
	for _, raw := range l.Plugin.Servers {
		list, err := b.serversOf(l, raw)
		p.problem(err)
		for _, e := range list {
			p.Servers = append(p.Servers, e.Name)
		}
	}
	for _, raw := range l.Plugin.Languages {
		list, err := languagesOf(l, raw)
		p.problem(err)
		p.Languages = append(p.Languages, list...)
	}
	if l.Plugin.Programs == "" {
		return
	}
	entries, err := os.ReadDir(l.Plugin.Programs)
	p.problem(err)
	for _, e := range entries {
		p.Programs = append(p.Programs, e.Name())
	}
}

func (p *PluginParts) problem(err error) {
	if err != nil {
		p.Problems = append(p.Problems, err.Error())
	}
}

// One is a plugin that is installed here or lies in a folder of skills.
func (k *PluginBook) One(id plugin.ID) (plugin.Loaded, error) {
	list, err := k.Loaded()
	if err != nil {
		return plugin.Loaded{}, err
	}
	for _, l := range list {
		if l.ID == id && l.Plugin != nil {
			return l, nil
		}
		if l.ID == id {
			return l, fmt.Errorf("%s: %s", id, l.Off)
		}
	}
	return k.Find(id)
}
