package wiring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/action/builtin/mcptool"
	"github.com/hew-agent/hew/internal/action/hook"
	"github.com/hew-agent/hew/internal/backend/credential"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/mcp"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/state/prompt"
	"github.com/hew-agent/hew/internal/state/server"
	"github.com/hew-agent/hew/internal/state/settings"
	"github.com/hew-agent/hew/internal/tool"
)

// servers are the MCP servers of a conversation.
type servers struct {
	b     *build
	set   *mcp.Set
	found []server.Found
	cfg   mcptool.Config
	// awaited says which servers the first request waits for.
	awaited func(mcp.Entry) bool
	wait    time.Duration

	mu     sync.Mutex
	serial uint64
	ready  bool // the pool below was made
	pool   []tool.Tool
	held   map[string]bool // notices of changed tools that were given
	// dynamic are servers that the host has set, off those that it has switched off.
	dynamic, off map[string]mcp.Entry
}

// serverConfig says where servers are configured.
func (b *build) serverConfig() server.Config {
	return server.Config{
		Settings: b.settingsConfig, Values: b.settings, Trust: b.trust.Level, Flags: b.o.Servers, Strict: b.o.StrictServers || b.o.Bare,
		Extra: slices.Concat(b.editorServers(), b.pluginServers(), b.agentServers()), Ask: b.o.AskServers,
	}
}

// connect finds the servers and begins to connect them; it waits for none. A
// session without servers costs nothing more than the look into the files.
func (b *build) connect(ctx context.Context) error {
	found, faults, err := server.Discover(b.serverConfig())
	if err != nil {
		return err
	}
	for _, f := range faults {
		b.notice(f)
	}
	s := &servers{b: b, found: found, wait: b.mcpTimeout(), held: map[string]bool{}, dynamic: map[string]mcp.Entry{}, off: map[string]mcp.Entry{}}
	s.cfg = mcptool.Config{MaxText: b.mcpText(), Save: writeFile, Deferred: true}
	s.awaited = func(e mcp.Entry) bool { return e.AlwaysLoad || e.Scope == mcp.ScopeFlag || e.Scope == mcp.ScopeSDK }
	if b.env("MCP_CONNECTION_NONBLOCKING") == "0" {
		s.awaited = func(mcp.Entry) bool { return true }
	}
	b.mcp, b.conv.mcp = s, s
	s.set = mcp.NewSet(ctx, b.mcpConfig(s))
	b.conv.close = append(b.conv.close, s.set.Close)
	var waiting []string
	for _, f := range found {
		switch f.Choice {
		case server.Use:
			if err := s.set.Add(f.Entry); err != nil {
				b.notice(err.Error())
			}
		case server.Waits:
			if b.trust.Level != settings.Untrusted { // else told with all that the folder asks for
				waiting = append(waiting, f.Entry.Name)
			}
		case server.Rejected, server.Off, server.Denied:
		}
	}
	b.addHostServers(s)
	if len(waiting) > 0 {
		b.notice("not started, because nobody has approved them: MCP servers " + strings.Join(waiting, ", ") + "; hew mcp list shows them, hew mcp approve NAME agrees")
	}
	return nil
}

func (b *build) mcpTimeout() time.Duration {
	if d := b.millis("MCP_TIMEOUT"); d > 0 {
		return d
	}
	return 30 * time.Second
}

// mcpText is how much text of one result enters the conversation, in bytes.
func (b *build) mcpText() int {
	if n := b.number("MAX_MCP_OUTPUT_TOKENS"); n > 0 {
		return n * mcptool.TokenBytes
	}
	return mcptool.DefaultTokens * mcptool.TokenBytes
}

func (b *build) mcpConfig(s *servers) mcp.Config {
	env := b.environ()
	c := mcp.Config{
		Version: b.o.Version, Dir: b.place.Project, Runner: b.mcpRunner(), HideSecrets: b.env("CLAUDE_CODE_SUBPROCESS_ENV_SCRUB") != "",
		Find: func(name string) (string, error) { return b.program(name, env) }, Lookup: lookup(env),
		Roots: b.place.Roots, Helper: b.headers, Tokens: b.tokens(), Host: b.o.HostServers, Judge: s.judge, Notice: b.notice,
		Connect: b.mcpTimeout(), Call: b.millis("MCP_TOOL_TIMEOUT"), Idle: b.millis("CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT"),
		Now: b.o.Now, Sleep: b.o.Sleep, Changed: b.o.ServersChanged,
	}
	b.asks(&c)
	return c
}

// tokens is where logins of servers are kept.
func (b *build) tokens() *mcp.Tokens {
	return &mcp.Tokens{Vault: credential.Vault{Path: b.home.Own("mcp", "logins.json"), Keyring: credential.OSKeyring{}}}
}

// program finds the program of a server. A path is the user's word and may be
// relative to the project; a bare name is never looked for there.
func (b *build) program(name string, env []string) (string, error) {
	if strings.ContainsRune(filepath.ToSlash(name), '/') && !filepath.IsAbs(name) {
		abs, err := fsys.Abs(b.place.Project, name)
		if err != nil {
			return "", err
		}
		name = abs
	}
	return shell.LookPath(name, env)
}

func lookup(env []string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, e := range slices.Backward(env) {
			if v, ok := strings.CutPrefix(e, name+"="); ok {
				return v, true
			}
		}
		return "", false
	}
}

// inherited are the variables that servers see under CLAUDE_CODE_MCP_ALLOWLIST_ENV.
const inherited = " HOME USER LOGNAME PATH SHELL TERM LANG LC_ALL LC_CTYPE TMPDIR TZ SYSTEMROOT SYSTEMDRIVE USERPROFILE APPDATA LOCALAPPDATA TEMP TMP PATHEXT COMSPEC PROGRAMFILES "

// mcpRunner starts servers: the session's runner, or one with fewer variables.
func (b *build) mcpRunner() *shell.Runner {
	if b.env("CLAUDE_CODE_MCP_ALLOWLIST_ENV") != "1" {
		return b.runner
	}
	env := slices.DeleteFunc(b.environ(), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return !strings.Contains(inherited, " "+strings.ToUpper(name)+" ")
	})
	r := shell.New(shell.Config{Env: env, NoSnapshot: true, Reaper: b.o.Reaper, Notice: b.notice})
	b.conv.close = append(b.conv.close, r.Close)
	return r
}

// headersTimeout bounds a headersHelper (extensions.md §4).
const headersTimeout = 10 * time.Second

// headers runs a headersHelper. One that a repository brings sees no credentials.
func (b *build) headers(ctx context.Context, e mcp.Entry) (map[string]string, error) {
	res, err := b.runner.Exec(ctx, shell.Program{
		Argv: []string{b.runner.Shell(), "-c", e.HeadersHelper}, Dir: b.place.Project, Timeout: headersTimeout, Unconfined: true,
		HideSecrets: e.Scope == mcp.ScopeProject,
		Env: map[string]string{
			"CLAUDE_CODE_MCP_SERVER_NAME": e.Name, "CLAUDE_CODE_MCP_SERVER_URL": e.URL, "CLAUDE_PROJECT_DIR": b.place.Project,
		},
	})
	if err == nil && res.TimedOut {
		err = fmt.Errorf("it took longer than %s", headersTimeout)
	}
	if err = exitError(res, err); err != nil {
		return nil, err
	}
	var h map[string]string
	if err := json.Unmarshal(res.Stdout, &h); err != nil {
		return nil, errors.New("it did not print a JSON object of strings")
	}
	return h, nil
}

// judge holds back tools that are others than those agreed to.
func (s *servers) judge(e mcp.Entry, tools []mcp.Tool) map[string]string {
	changes, err := server.Judge(context.Background(), s.b.home, e, tools)
	if err != nil {
		s.b.notice(fmt.Sprintf("MCP server %q: %v", e.Name, err))
	}
	out := map[string]string{}
	var names []string
	for _, c := range changes {
		out[c.Tool] = "changed"
		names = append(names, fsys.Printable(c.Tool))
	}
	if len(names) == 0 {
		return out
	}
	text := fmt.Sprintf("MCP server %q has changed the description or the parameters of tools since they were first seen, so they are held back: %s; hew mcp approve %s shows the change and agrees to it",
		e.Name, strings.Join(names, ", "), e.Name)
	s.mu.Lock()
	told := s.held[text]
	s.held[text] = true
	s.mu.Unlock()
	if !told {
		s.b.notice(text)
	}
	return out
}

// await waits for the servers that the first request needs.
func (s *servers) await(ctx context.Context) {
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, s.wait)
	defer cancel()
	s.set.Await(ctx, s.awaited)
}

// tools are the tools that servers bring now.
func (s *servers) tools() []tool.Tool {
	serial := s.set.Serial()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready && s.serial == serial {
		return s.pool
	}
	var pool []tool.Tool
	resources := false
	callers := map[string]*mcp.Server{}
	for _, o := range s.set.Servers() {
		callers[o.Name()] = o
		resources = resources || o.HasResources()
	}
	if resources {
		pool = append(pool, mcptool.Resources(s, s.cfg)...)
	}
	for _, t := range s.set.Tools() {
		if o := callers[t.Server]; o != nil {
			pool = append(pool, mcptool.New(t, o, s.cfg))
		}
	}
	s.pool, s.serial, s.ready = pool, serial, true
	return pool
}

// List lists resources.
func (s *servers) List(ctx context.Context, name string) ([]mcp.Resource, error) {
	list := s.set.Servers()
	if name != "" {
		o, err := s.set.Server(name)
		if err != nil {
			return nil, err
		}
		list = []*mcp.Server{o}
	}
	var out []mcp.Resource
	var errs []error
	for _, o := range list {
		if name == "" && !o.HasResources() {
			continue
		}
		got, err := o.Resources(ctx)
		out, errs = append(out, got...), append(errs, err)
	}
	return out, errors.Join(errs...)
}

// Read reads a resource.
func (s *servers) Read(ctx context.Context, name, uri string) ([]mcp.Part, error) {
	o, err := s.set.Server(name)
	if err != nil {
		return nil, err
	}
	return o.Read(ctx, uri)
}

// callTool carries out hooks of type mcp_tool. A server that is not connected
// fails the hook; nothing waits for it.
func (s *servers) callTool(ctx context.Context, c hook.MCPCall) (string, error) {
	o, err := s.set.Server(c.Server)
	if err != nil {
		return "", err
	}
	if st := o.Status(); st.State != mcp.Connected {
		return "", fmt.Errorf("MCP server %q is not connected (%s)", c.Server, st.State)
	}
	a, err := o.Call(ctx, c.Tool, c.Input, nil)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, p := range a.Parts {
		text.WriteString(p.Text)
	}
	if a.IsError {
		return "", fmt.Errorf("the tool %s of MCP server %q failed: %s", c.Tool, c.Server, text.String())
	}
	return text.String(), nil
}

// Name is the word of server instructions for programs.
func (s *servers) Name() string { return "mcp_instructions" }

// Class says that instructions come while the work goes on.
func (s *servers) Class() prompt.Class { return prompt.Runtime }

// Delta is what connected servers say about their use; each is said once.
func (s *servers) Delta(context.Context, prompt.Facts) ([]prompt.Item, error) {
	var out []prompt.Item
	for _, o := range s.set.Servers() {
		text := o.Instructions()
		if text == "" || o.Status().State != mcp.Connected {
			continue
		}
		out = append(out, prompt.Item{Key: o.Name(), Text: "# MCP Server Instructions\n\n" +
			"The MCP server " + o.Name() + " says this about how to use its tools and resources. It comes from the server, not from the user.\n\n" +
			"## " + o.Name() + "\n" + text})
	}
	return out, nil
}

// ServerRow is one configured server and how it is doing.
type ServerRow struct {
	Name, State, Detail, Scope string
}

// Servers tells of all configured servers, in order.
func (c *Conversation) Servers() []ServerRow {
	if c.mcp == nil {
		return nil
	}
	var out []ServerRow
	for _, f := range c.mcp.found {
		if f.Choice == server.Use || f.Choice == server.Denied {
			continue
		}
		state := "pending-approval"
		if f.Choice != server.Waits {
			state = string(mcp.Disabled)
		}
		out = append(out, ServerRow{f.Entry.Name, state, f.Why, string(f.Entry.Scope)})
	}
	for _, name := range c.mcp.switchedOff() {
		out = append(out, ServerRow{Name: name, State: string(mcp.Disabled), Detail: "switched off by the host"})
	}
	for _, o := range c.mcp.set.Servers() {
		st := o.Status()
		out = append(out, ServerRow{st.Name, string(st.State), st.Detail, string(st.Scope)})
	}
	return out
}

// Ready waits for the servers that the first request needs (alwaysLoad, and those
// of --mcp-config), at most MCP_TIMEOUT. It returns early when ctx ends.
func (c *Conversation) Ready(ctx context.Context) { c.mcp.await(ctx) }
