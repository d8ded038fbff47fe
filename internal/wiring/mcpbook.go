package wiring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/hew-agent/hew/internal/backend/mcp"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/state/server"
	"github.com/hew-agent/hew/internal/state/session"
)

// ServerBook shows and changes the MCP servers of a folder.
type ServerBook struct {
	b      *build
	found  []server.Found
	Faults []string
}

// OpenServers reads what a session would use; it starts nothing. Close ends what
// was started since.
func OpenServers(o Options) (*ServerBook, error) {
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
	if err := b.findPlugins(); err != nil {
		return nil, err
	}
	k := &ServerBook{b: b}
	var err error
	if k.found, k.Faults, err = server.Discover(b.serverConfig()); err != nil {
		return nil, err
	}
	b.runner = shell.New(shell.Config{NoSnapshot: true, Env: b.environ(), Reaper: o.Reaper, Notice: b.notice})
	b.conv.close = append(b.conv.close, b.runner.Close)
	return k, nil
}

// Close ends what was started.
func (k *ServerBook) Close() error { return k.b.conv.Close() }

// List is every configured server.
func (k *ServerBook) List() []server.Found { return k.found }

// Find is the server of that name that counts.
func (k *ServerBook) Find(name string) (server.Found, error) {
	for _, f := range k.found {
		if f.Entry.Name == name {
			return f, nil
		}
	}
	return server.Found{}, fmt.Errorf("no MCP server found with name: %q; hew mcp list shows them", name)
}

// Check connects the servers that may be used, all at once, and tells how they
// are, by name.
func (k *ServerBook) Check(ctx context.Context, want func(server.Found) bool) map[string]mcp.Status {
	s := &servers{b: k.b, found: k.found, held: map[string]bool{}}
	c := k.b.mcpConfig(s)
	set := mcp.NewSet(ctx, c)
	out := map[string]mcp.Status{}
	for _, f := range k.found {
		if f.Choice != server.Use || !want(f) {
			continue
		}
		if err := set.Add(f.Entry); err != nil {
			out[f.Entry.Name] = mcp.Status{Name: f.Entry.Name, Scope: f.Entry.Scope, State: mcp.Failed, Detail: err.Error()}
		}
	}
	wait, cancel := context.WithTimeout(ctx, k.b.mcpTimeout())
	defer cancel()
	set.Await(wait, func(mcp.Entry) bool { return true })
	for _, o := range set.Servers() {
		st := o.Status()
		if st.State == mcp.Pending {
			st.State, st.Detail = mcp.Failed, "it did not answer in time (MCP_TIMEOUT)"
		}
		out[st.Name] = st
	}
	if err := set.Close(); err != nil {
		k.b.notice(err.Error())
	}
	return out
}

// Add writes a new server into the file of a scope.
func (k *ServerBook) Add(ctx context.Context, scope mcp.Scope, name string, entry json.RawMessage, secret string) (file string, err error) {
	e, err := mcp.ParseEntry(name, entry)
	if err != nil {
		return "", err
	}
	if file, err = server.Add(ctx, k.b.settingsConfig, scope, name, entry); err != nil || secret == "" {
		return file, err
	}
	return file, k.b.tokens().KeepSecret(ctx, e, secret)
}

// Remove takes a server out of a scope, "" for the only one that has it, and
// forgets its login.
func (k *ServerBook) Remove(ctx context.Context, scope mcp.Scope, name string) (file string, where mcp.Scope, err error) {
	scopes := []mcp.Scope{scope}
	if scope == "" {
		scopes = k.scopesOf(name)
		switch len(scopes) {
		case 0:
			return "", "", fmt.Errorf("no MCP server found with name: %q in the scopes local, project and user", name)
		case 1:
		default:
			return "", "", fmt.Errorf("MCP server %q is in several scopes (%v); choose one with -s", name, scopes)
		}
	}
	file, gone, err := server.Remove(ctx, k.b.settingsConfig, scopes[0], name)
	if err == nil && !gone {
		err = fmt.Errorf("no MCP server found with name: %q in scope %s", name, scopes[0])
	}
	if err != nil {
		return "", "", err
	}
	for _, f := range k.found {
		if f.Entry.Name == name && f.Entry.Scope == scopes[0] && f.Entry.Remote() {
			_, err = k.b.tokens().Forget(ctx, k.filled(f.Entry))
		}
	}
	return file, scopes[0], err
}

// scopesOf lists the scopes whose files have the server, whatever wins.
func (k *ServerBook) scopesOf(name string) []mcp.Scope {
	var out []mcp.Scope
	for _, s := range []mcp.Scope{mcp.ScopeLocal, mcp.ScopeProject, mcp.ScopeUser} {
		if server.Has(k.b.settingsConfig, s, name) {
			out = append(out, s)
		}
	}
	return out
}

// Approve records the user's yes to a server of the project and to what has
// changed of its tools.
func (k *ServerBook) Approve(ctx context.Context, f server.Found) error {
	if f.Entry.Scope == mcp.ScopeProject {
		if err := server.Decide(ctx, k.b.settingsConfig, f.Entry, server.Yes); err != nil {
			return err
		}
	}
	return server.AcceptTools(ctx, k.b.home, f.Entry)
}

// Reject records the user's no to a server of the project.
func (k *ServerBook) Reject(ctx context.Context, f server.Found) error {
	if f.Entry.Scope != mcp.ScopeProject {
		return fmt.Errorf("only servers of the project are approved or rejected; remove %s with hew mcp remove", f.Entry.Name)
	}
	return server.Decide(ctx, k.b.settingsConfig, f.Entry, server.No)
}

// Changes are the tools of a server that wait for a yes.
func (k *ServerBook) Changes(e mcp.Entry) ([]server.Change, error) {
	return server.Changes(k.b.home, e)
}

// ResetChoices forgets what was approved and rejected of the project's servers.
func (k *ServerBook) ResetChoices(ctx context.Context) error {
	return server.Reset(ctx, k.b.settingsConfig)
}

func (k *ServerBook) filled(e mcp.Entry) mcp.Entry {
	out, _ := e.Expand(lookup(k.b.environ()))
	return out
}

// HasLogin tells whether a login is stored for a server.
func (k *ServerBook) HasLogin(e mcp.Entry) bool { return k.b.tokens().Has(k.filled(e)) }

// Login lets the person log in to a server; show is told the address to visit.
// It says where the login is kept.
func (k *ServerBook) Login(ctx context.Context, e mcp.Entry, show func(url string), paste io.Reader) (where string, err error) {
	if e.Transport != mcp.HTTP && e.Transport != mcp.SSE {
		return "", errors.New("only servers of type http and sse have a login")
	}
	return mcp.Login(ctx, mcp.LoginConfig{
		Entry: k.filled(e), Tokens: k.b.tokens(), Show: show, Paste: paste, Client: &http.Client{Timeout: k.b.mcpTimeout()},
	})
}

// Logout forgets a login and tells whether there was one.
func (k *ServerBook) Logout(ctx context.Context, e mcp.Entry) (bool, error) {
	return k.b.tokens().Forget(ctx, k.filled(e))
}

// DesktopServers reads the servers of the desktop program of the ecosystem.
func (k *ServerBook) DesktopServers() (file string, raw map[string]json.RawMessage, err error) {
	home := k.b.o.userHome()
	file = filepath.Join(home, ".config", "Claude", "claude_desktop_config.json")
	switch runtime.GOOS {
	case "darwin":
		file = filepath.Join(home, "Library", "Application Support", "Claude", "claude_desktop_config.json")
	case "windows":
		file = filepath.Join(k.b.o.getenv("APPDATA"), "Claude", "claude_desktop_config.json")
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return file, nil, err
	}
	var conf struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
	}
	if err := json.Unmarshal(data, &conf); err != nil {
		return file, nil, fmt.Errorf("read %s: %w", file, err)
	}
	return file, conf.Servers, nil
}
