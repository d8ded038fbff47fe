package wiring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/action/policy/shellread"
	"github.com/hew-agent/hew/internal/backend/sandbox"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/settings"
	"github.com/hew-agent/hew/internal/tool"
)

// boundary is the sandbox of a session and what the settings say about it.
type boundary struct {
	box   *sandbox.Sandbox
	keys  settings.Sandbox
	spare func(command string) bool // see leftOut
}

// confine opens the sandbox when the settings or the command line want one. A
// machine without any is told about; failIfUnavailable makes it an error.
func (b *build) confine(ctx context.Context) error {
	keys := b.settings.Sandbox()
	if b.o.Sandbox {
		keys.Enabled = true
	}
	if !keys.Enabled {
		return nil
	}
	for _, k := range keys.Ignored {
		b.notice(k.Key + " has no effect: " + k.Why)
	}
	var box *sandbox.Sandbox
	err := errEmbedded
	if !b.o.Embedded {
		box, err = b.openBox(ctx, keys, b.askHost)
	}
	if err != nil {
		if keys.FailIfUnavailable {
			return fmt.Errorf("sandbox.failIfUnavailable is set and commands cannot be confined: %w", err)
		}
		b.notice("commands run WITHOUT a sandbox, under permissions alone: " + err.Error())
		return nil
	}
	if !box.Tier().Whole() {
		b.notice(fmt.Sprintf("the sandbox is partial (%s): protected names inside the working directories are not held, and commands have no network; nothing runs unasked for it. See hew sandbox status", box.Tier()))
	}
	b.bound = &boundary{box: box, keys: keys, spare: leftOut(keys.Excluded, b.place.Project, b.o.userHome(), b.facts, b.dialect)}
	b.conv.close = append(b.conv.close, box.Close)
	return nil
}

// errEmbedded: the sandbox starts hew's own program inside.
var errEmbedded = errors.New("a program that holds hew as a library has no sandbox; let it start hew instead")

// wrap is the shell's seam, nil without a sandbox.
func (b *build) wrap() shell.Wrap {
	if b.bound == nil {
		return nil
	}
	return b.bound.box.Wrap
}

// openBox makes the sandbox that the settings describe.
func (b *build) openBox(ctx context.Context, keys settings.Sandbox, ask func(context.Context, string, int) bool) (*sandbox.Sandbox, error) {
	p, err := b.reach(keys)
	if err != nil {
		return nil, err
	}
	if keys.StrictAllowlist {
		ask = nil
	}
	return sandbox.New(ctx, sandbox.Config{
		Policy: p, Hosts: b.hosts(keys), Ask: ask, Upstream: upstream, Unset: keys.UnsetEnv, Bwrap: keys.BwrapPath,
		ReadOnly: func() bool { return b.gateRef != nil && b.gateRef.Mode() == string(policy.Plan) },
		// For tests and for people who look for a fault; settings cannot set it.
		Tier: sandbox.Tier(b.o.getenv("HEW_SANDBOX_TIER")),
	})
}

// reach turns the settings and the permission rules about files into a policy.
func (b *build) reach(keys settings.Sandbox) (sandbox.Policy, error) {
	tmp := filepath.Join(b.tasks, "tmp")
	if err := os.MkdirAll(tmp, 0o700); err != nil {
		return sandbox.Policy{}, fmt.Errorf("make the folder for temporary files: %w", err)
	}
	p := sandbox.Policy{
		Roots: b.place.Roots, Tmp: tmp, Home: b.o.userHome(), Protect: append(b.protected(), b.home.Dir),
		FilesOpen: keys.FilesDisabled, UnixSockets: keys.UnixSockets, OldProc: keys.OldProc,
	}
	p.Write = b.paths(keys.AllowWrite)
	p.Protect = append(p.Protect, b.paths(keys.DenyWrite)...)
	p.DenyRead, p.AllowRead = b.paths(keys.DenyRead), b.paths(keys.AllowRead)
	p.DenyRead = append(p.DenyRead, filepath.Join(b.home.Dir, ".credentials.json"), b.home.Own())
	perms := b.settings.Permissions()
	p.Write = append(p.Write, b.rulePaths(families.Edit, perms.Allow)...)
	p.Protect = append(p.Protect, b.rulePaths(families.Edit, perms.Deny)...)
	for _, path := range b.rulePaths(families.Read, perms.Deny) {
		p.DenyRead = append(p.DenyRead, atAnyDepth(path)...)
	}
	// Mounts need concrete paths: a pattern writes nothing and protects nothing.
	concrete := func(path string) bool { return strings.ContainsAny(path, "*?[") }
	p.Write, p.Protect = slices.DeleteFunc(p.Write, concrete), slices.DeleteFunc(p.Protect, concrete)
	return p, nil
}

// paths anchors the paths of sandbox settings: "/" is the root of the file
// system here, and a relative path starts at the project, or in a user file at
// the configuration directory.
func (b *build) paths(list []settings.SandboxPath) []string {
	var out []string
	for _, p := range list {
		at := b.place.Project
		if p.Origin.Scope == settings.User {
			at = b.home.Dir
		}
		out = append(out, b.anchored(p.Text, at))
	}
	return out
}

func (b *build) anchored(path, at string) string {
	path = strings.TrimSuffix(path, "/**")
	if rest, ok := strings.CutPrefix(path, "~/"); ok || path == "~" {
		return filepath.Join(b.o.userHome(), strings.TrimPrefix(rest, "~"))
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(at, path)
	}
	return filepath.Clean(path)
}

// rulePaths are the paths of permission rules of one tool, whose anchors are
// the permission rules' own: "//" is the root, "/" the folder of the file.
func (b *build) rulePaths(name string, rules []settings.Rule) []string {
	var out []string
	for _, r := range rules {
		path, ok := strings.CutPrefix(r.Text, name+"(")
		if !ok || !strings.HasSuffix(path, ")") {
			continue
		}
		path = strings.TrimSuffix(path, ")")
		at := b.place.Project
		if r.Top().Scope == settings.User {
			at = b.home.Dir
		}
		switch {
		case strings.HasPrefix(path, "//"):
			path = path[1:]
		case strings.HasPrefix(path, "/"):
			path = filepath.Join(at, path)
		case !strings.HasPrefix(path, "~") && !strings.Contains(strings.TrimSuffix(path, "/**"), "/"):
			path = filepath.Join(b.place.Project, "**", path) // a bare name is meant at any depth
		}
		out = append(out, b.anchored(path, b.place.Project))
	}
	return out
}

// searchDepth is how far below a folder "**" is followed: what is hidden must
// be named path by path before each command.
const searchDepth = 3

// atAnyDepth spells a "**" out as patterns that glob without it.
func atAnyDepth(pattern string) []string {
	before, after, found := strings.Cut(pattern, "/**/")
	if !found {
		return []string{pattern}
	}
	var out []string
	for depth := range searchDepth + 1 {
		out = append(out, filepath.Join(before, strings.Repeat("*/", depth), after))
	}
	return out
}

// hosts are the domains of the sandbox settings and of the fetch rules.
func (b *build) hosts(keys settings.Sandbox) sandbox.Hosts {
	perms := b.settings.Permissions()
	domains := func(rules []settings.Rule) (out []string) {
		for _, r := range rules {
			if d, ok := strings.CutPrefix(r.Text, families.Fetch+"(domain:"); ok {
				out = append(out, strings.TrimSuffix(d, ")"))
			}
		}
		return out
	}
	h := sandbox.Hosts{
		Allow: append(slices.Clone(keys.AllowedDomains), domains(perms.Allow)...),
		Deny:  append(slices.Clone(keys.DeniedDomains), domains(perms.Deny)...),
	}
	if err := (sandbox.Hosts{Deny: h.Deny}).Check(); err != nil {
		b.notice(err.Error() + "; until it is put right, no host is allowed")
	}
	h.Allow = slices.DeleteFunc(h.Allow, func(d string) bool {
		err := (sandbox.Hosts{Allow: []string{d}}).Check()
		if err != nil {
			b.notice(err.Error() + "; the entry allows nothing")
		}
		return err != nil
	})
	return h
}

// upstream is the proxy that this machine must use for a target.
func upstream(scheme, hostPort string) string {
	u, err := http.ProxyFromEnvironment(&http.Request{URL: &url.URL{Scheme: scheme, Host: hostPort}})
	if err != nil || u == nil {
		return ""
	}
	return u.String()
}

// outside tells whether a command runs outside of the sandbox. The gate and
// the tool ask the same question, so they never disagree.
func (b *build) outside(command string, wanted bool) bool {
	return wanted && b.bound.keys.AllowUnsandboxed || b.bound.spare(command)
}

// confined tells the gate which calls may run unasked because of the sandbox;
// nil when none may.
func (b *build) confined() func(tool.Planned) bool {
	if b.bound == nil || !b.bound.keys.AutoAllow || !b.bound.box.Tier().Whole() || b.bound.keys.FilesDisabled || b.env("CLAUDE_CODE_SUBPROCESS_ENV_SCRUB") != "" {
		return nil
	}
	return func(p tool.Planned) bool {
		needs := p.Call.Needs()
		if len(needs) != 1 || needs[0].Kind != tool.NeedExec || b.gateRef.Mode() == string(policy.Plan) {
			return false
		}
		var in map[string]any
		if json.Unmarshal(p.Use.Input, &in) != nil {
			return false
		}
		return !b.outside(needs[0].Command, in[unsandboxed] == true)
	}
}

// leftOut makes the test for excludedCommands: every part of a command matches
// one of the patterns, which are read as rules are. A command that moves,
// redirects to a file or was not understood whole is never left out.
func leftOut(patterns []string, project, home string, facts *shellread.Reader, dialect func() shellread.Shell) func(string) bool {
	if len(patterns) == 0 {
		return func(string) bool { return false }
	}
	var rules []string
	for _, p := range patterns {
		rules = append(rules, families.Exec+"("+p+")")
	}
	s := policy.New(policy.Config{Layers: []policy.Layer{{Allow: rules}}, Families: families, Project: project, Home: home})
	return func(command string) bool {
		f := facts.Read(command, dialect())
		if len(f.Parts) == 0 || len(f.Issues) > 0 {
			return false
		}
		for i := range f.Parts {
			part := &f.Parts[i]
			redirects := slices.ContainsFunc(part.Paths, func(a shellread.PathArg) bool { return a.Redirect })
			if redirects || part.Name == "cd" || part.Shadow || len(part.Assigns) > 0 {
				return false
			}
			d := s.Decide(policy.Request{
				Spec: tool.Spec{Name: families.Exec}, Needs: []tool.Need{{Kind: tool.NeedExec, Command: part.Line()}}, Cwd: project, Paths: disk{}, Shell: dialect(),
			})
			if d.Behavior != tool.Allow || d.Rule == "" {
				return false
			}
		}
		return true
	}
}

// askHost asks about a host that no rule names, by mode.
func (b *build) askHost(ctx context.Context, host string, port int) bool {
	switch policy.Mode(b.gateRef.Mode()) {
	case policy.Bypass:
		return true
	case policy.DontAsk:
		return false
	}
	if b.o.Asker == nil || b.o.NoPrompts || b.settings.Permissions().DenyInsteadOfAsking {
		return false
	}
	at := net.JoinHostPort(host, strconv.Itoa(port))
	input, err := msg.Marshal(map[string]string{"url": "https://" + at + "/", "prompt": "network access of a command in the sandbox"})
	if err != nil {
		return false
	}
	id := b.o.NewID()
	a, err := b.o.Asker.Ask(ctx, event.Question{
		ID: id, Kind: event.AskPermission, Use: &msg.ToolUse{ID: id, Name: families.Fetch, Input: input}, Tool: families.Fetch,
		Title:    "Let a command in the sandbox reach " + at,
		Decision: tool.Decision{Behavior: tool.Ask, Reason: "no rule names the host"},
		Suggestions: []event.Suggestion{{
			Type: "addRules", Behavior: string(tool.Allow), Destination: string(policy.ToLocal),
			Rules: []event.Rule{{Tool: families.Fetch, Content: "domain:" + host}},
		}},
	})
	if err != nil || a.Behavior != tool.Allow {
		return false
	}
	if err := b.gateRef.Update(a.Updates); err != nil {
		b.notice("the answer about " + at + " could not be kept: " + err.Error())
	}
	return true
}

// SandboxReport is what this machine can enforce and what the settings ask for.
type SandboxReport struct {
	Enabled           bool `json:"enabled"`
	FailIfUnavailable bool `json:"failIfUnavailable"`
	AutoAllow         bool `json:"autoAllowBashIfSandboxed"`
	sandbox.Report
	Ignored []settings.IgnoredKey `json:"ignoredSettings,omitempty"`
}

// SandboxStatus tries what this machine offers.
func SandboxStatus(ctx context.Context, o Options) (SandboxReport, error) {
	b := &build{o: &o, conv: &Conversation{}}
	if err := b.locate(); err != nil {
		return SandboxReport{}, err
	}
	keys := b.settings.Sandbox()
	return SandboxReport{
		Enabled: keys.Enabled, FailIfUnavailable: keys.FailIfUnavailable, AutoAllow: keys.AutoAllow,
		Report: sandbox.Detect(ctx, keys.BwrapPath), Ignored: keys.Ignored,
	}, nil
}

// SandboxRun runs one command as a session would, whatever sandbox.enabled
// says, and returns its exit code. Hosts that no rule names are refused.
func SandboxRun(ctx context.Context, o Options, argv []string, io sandbox.Streams) (code int, err error) {
	b := &build{o: &o, conv: &Conversation{}, facts: shellread.NewReader(0)}
	if err := b.locate(); err != nil {
		return 0, err
	}
	if b.tasks, err = os.MkdirTemp("", "hew-run-"); err != nil {
		return 0, fmt.Errorf("make a folder for temporary files: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.tasks)) }()
	box, err := b.openBox(ctx, b.settings.Sandbox(), nil)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	return box.Run(argv, b.environ(), b.place.Cwd, io)
}
