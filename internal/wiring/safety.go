package wiring

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/action/gate"
	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/backend/feature"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/state/settings"
	"github.com/hew-agent/hew/internal/tool"
)

// families are the tools whose names judge the kinds of access.
var families = policy.Families{Read: "Read", Edit: "Edit", Exec: "Bash", Fetch: "WebFetch"}

// disk is the file system as policy may see it.
type disk struct{}

// Resolve follows links as the kernel does; what does not exist keeps its name.
func (disk) Resolve(path string) (string, bool) {
	real, err := fsys.Real(path)
	return real, err == nil
}

// Glob lists what an absolute shell pattern matches. It may list more than a
// shell would (names with a leading dot), which is the careful side.
func (disk) Glob(pattern string) []string {
	found, err := filepath.Glob(strings.ReplaceAll(pattern, "[!", "[^"))
	if err != nil {
		return nil
	}
	return found
}

// safety builds the policy in force at start.
func (b *build) safety(specs []tool.Spec) (*policy.Snapshot, error) {
	cfg, err := b.policy(specs)
	if err != nil {
		return nil, err
	}
	s := policy.New(cfg)
	for _, w := range s.Warnings() {
		b.notice(notUsed(w))
	}
	return s, nil
}

// policy is what the options and the settings make of the permissions. The
// live session, hew permissions and the case tables all begin here.
func (b *build) policy(specs []tool.Spec) (policy.Config, error) {
	p := b.settings.Permissions()
	mode, err := b.mode(p)
	if err != nil {
		return policy.Config{}, err
	}
	return b.rules(b.settings, mode, specs), nil
}

// rules is what settings make of the permissions in a mode.
func (b *build) rules(s *settings.Settings, mode policy.Mode, specs []tool.Spec) policy.Config {
	p := s.Permissions()
	allShell, _ := s.Bool("autoMode", "classifyAllShell")
	inPlan, set := s.Bool("useAutoModeDuringPlan")
	return policy.Config{
		ClassifyAllShell: allShell, ClassifyInPlan: (inPlan || !set) && noAuto(p) == "",
		Layers: b.layers(p), Mode: mode, Families: families, Tools: specs,
		Project: b.place.Project, Home: b.o.userHome(), Roots: b.place.Roots[1:],
		FS:        policy.FileSystem{CaseInsensitive: runtime.GOOS != "linux", Normalizing: runtime.GOOS == "darwin"},
		Protected: b.protected(), Output: append([]string{b.place.SpillDir, b.tasks}, b.store.Borrowed(b.id)...), Notes: b.noteFolders(), ManagedOnly: p.ManagedRulesOnly,
		BlockReadsOutside: p.BlockReadsOutside, BlockWritesOutside: p.BlockWritesOutside,
		NoPrompts: p.DenyInsteadOfAsking || b.o.NoPrompts, BypassDisabled: p.BypassDisabled || b.torn,
		Reader: b.facts, GitPrograms: b.gitPrograms(),
	}
}

// govern puts the rules of changed settings in force. The mode, the working
// directories and what a person granted for this session stay as they are.
func (b *build) govern(s *settings.Settings, warn func(text string)) {
	b.gateRef.Reload(func(now *policy.Snapshot) *policy.Snapshot {
		was := now.Config()
		cfg := b.rules(s, was.Mode, was.Tools)
		cfg.Roots = was.Roots
		for _, l := range was.Layers {
			if l.Origin.Scope == policy.ScopeSession {
				cfg.Layers = append(cfg.Layers, l)
			}
		}
		next := policy.New(cfg)
		for _, w := range next.Warnings() {
			if !slices.Contains(now.Warnings(), w) {
				warn(notUsed(w))
			}
		}
		return next
	})
}

func notUsed(w policy.Warning) string {
	return fmt.Sprintf("permission rule %q of %s is not used: %s", w.Rule, w.Origin.File, w.Text)
}

// rememberedCommands is how many readings of shell texts are kept.
const rememberedCommands = 256

// protected are hew's own files, which no allow rule opens for writing. The
// project memory inside them is the model's own.
func (b *build) protected() []string {
	h := b.home
	return []string{
		h.Settings(), h.State(), h.Own(), filepath.Join(h.Dir, ".credentials.json"),
		filepath.Join(h.Dir, "hooks"), filepath.Join(h.Dir, "agents"), filepath.Join(h.Dir, "skills"),
		filepath.Join(h.Dir, "commands"), filepath.Join(h.Dir, "plugins"),
	}
}

// noAuto says why there is no auto mode, "" when there is.
func noAuto(p settings.Permissions) string {
	switch {
	case !feature.Classifier:
		return "not in this build (hew features)"
	case p.AutoDisabled:
		return "switched off by disableAutoMode"
	}
	return ""
}

func (b *build) mode(p settings.Permissions) (policy.Mode, error) {
	name := b.o.Mode
	if b.o.SkipPermissions {
		name = string(policy.Bypass)
	}
	if name == "" {
		name = p.DefaultMode
	}
	m, notice, err := policy.ParseMode(name)
	if err != nil {
		return "", err
	}
	if notice != "" {
		b.notice(notice)
	}
	if why := noAuto(p); m == policy.Auto && why != "" {
		if b.o.Mode != "" {
			return "", errors.New("the permission mode auto is " + why + "; use another --permission-mode")
		}
		b.notice("the permission mode auto is " + why + "; the run uses the mode manual")
		m = policy.Default
	}
	if b.main != nil && name == p.DefaultMode {
		m = overridden(m, b.main, "", modes{bypass: b.o.AllowSkip, auto: noAuto(p) == ""})
	}
	if m == policy.Bypass {
		if b.torn {
			return "", errors.New("bypassPermissions is refused while a file of managed settings cannot be read, because it may forbid it; have it mended, or use another --permission-mode")
		}
		return m, b.o.mayBypass(p.BypassDisabled)
	}
	return m, nil
}

// mayBypass refuses to switch permissions off where that would hand over the machine.
func (o *Options) mayBypass(disabled bool) error {
	if disabled {
		return errors.New("bypassPermissions is disabled by permissions.disableBypassPermissionsMode; use another --permission-mode")
	}
	if o.Root && o.getenv("IS_SANDBOX") != "1" {
		return errors.New("--dangerously-skip-permissions cannot be used with root or sudo privileges for security reasons; run hew as an ordinary user, or set IS_SANDBOX=1 inside a sandbox")
	}
	return nil
}

// layers sorts the rules of all files by where they come from.
func (b *build) layers(p settings.Permissions) []policy.Layer {
	out := []policy.Layer{{
		Origin: policy.Origin{Scope: policy.ScopeFlags, File: "the command line", Dir: b.place.Project},
		Allow:  b.o.Allowed, Deny: b.o.Disallowed, Ask: b.o.Asking,
	}}
	index := map[settings.Origin]int{}
	at := func(o settings.Origin) *policy.Layer {
		o.Line = 0
		i, ok := index[o]
		if !ok {
			i = len(out)
			index[o] = i
			out = append(out, policy.Layer{Origin: b.origin(o)})
		}
		return &out[i]
	}
	each := func(rules []settings.Rule, add func(*policy.Layer, string)) {
		for _, r := range rules {
			for _, o := range r.Origins {
				add(at(o), r.Text)
			}
		}
	}
	each(p.Deny, func(l *policy.Layer, r string) { l.Deny = append(l.Deny, r) })
	each(p.Ask, func(l *policy.Layer, r string) { l.Ask = append(l.Ask, r) })
	each(p.Allow, func(l *policy.Layer, r string) { l.Allow = append(l.Allow, r) })
	return out
}

func (b *build) origin(o settings.Origin) policy.Origin {
	out := policy.Origin{File: o.File, Dir: b.place.Project}
	switch o.Scope {
	case settings.Managed:
		out.Scope = policy.ScopeManaged
	case settings.Flag:
		out.Scope = policy.ScopeFlags
		if out.File == "" {
			out.File = "--settings"
		}
	case settings.Local:
		out.Scope = policy.ScopeLocal
	case settings.Project:
		out.Scope = policy.ScopeProject
	case settings.User:
		out.Scope, out.Dir = policy.ScopeUser, b.home.Dir
	}
	return out
}

// save writes a lasting permission answer to the settings file it names.
func (b *build) save(s event.Suggestion) error {
	scope, ok := map[string]settings.Scope{
		string(policy.ToLocal): settings.Local, string(policy.ToProject): settings.Project, string(policy.ToUser): settings.User,
	}[s.Destination]
	if !ok {
		return fmt.Errorf("permission destination %q names no settings file", s.Destination)
	}
	var rules []string
	for _, r := range s.Rules {
		text := r.Tool
		if r.Content != "" {
			text += "(" + r.Content + ")"
		}
		rules = append(rules, text)
	}
	return b.write(scope, s, rules)
}

// write changes a settings file as an update says.
func (b *build) write(scope settings.Scope, s event.Suggestion, rules []string) error {
	ctx, cfg, list := context.Background(), b.settingsConfig, settings.RuleList(s.Behavior)
	var errs []error
	switch k := policy.UpdateKind(s.Type); k {
	case policy.AddRules:
		for _, r := range rules {
			errs = append(errs, cfg.AddRule(ctx, scope, list, r))
		}
	case policy.RemoveRules:
		for _, r := range rules {
			errs = append(errs, cfg.RemoveRule(ctx, scope, list, r))
		}
	case policy.ReplaceRules:
		errs = append(errs, cfg.Set(ctx, scope, append([]string{}, rules...), "permissions", s.Behavior))
	case policy.AddDirectories:
		for _, d := range s.Directories {
			errs = append(errs, cfg.AddDirectory(ctx, scope, d))
		}
	case policy.RemoveDirectories:
		for _, d := range s.Directories {
			errs = append(errs, cfg.RemoveDirectory(ctx, scope, d))
		}
	case policy.SetMode:
		return nil // the gate's own, of this session
	default:
		return fmt.Errorf("hew does not know the permission update %q", k)
	}
	return errors.Join(errs...)
}

func (b *build) gate(s *policy.Snapshot) *gate.Gate {
	c := gate.Config{
		Snapshot: s, Paths: disk{}, Shell: b.dialect(), Asker: b.o.Asker, HooksFirst: b.team != nil, Confined: b.confined(),
		BypassAllowed: b.o.SkipPermissions || b.o.AllowSkip || s.Mode() == policy.Bypass,
		PromptTool:    b.o.PromptTool, Defers: b.o.Defers && b.log != nil,
		Save: b.save, NewID: b.o.NewID, Resumed: b.past != nil,
	}
	if feature.Classifier && b.judge != nil {
		c.Classifier = b.judge
	}
	b.hooks.hear(&c)
	return gate.New(c)
}
