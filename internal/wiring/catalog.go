package wiring

import (
	"context"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hew-agent/hew/internal/action/builtin/skill"
	"github.com/hew-agent/hew/internal/action/hook"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/state/catalog"
	"github.com/hew-agent/hew/internal/state/settings"
)

// definitions are the agents, skills, commands and styles of a session, read
// when the first of them is asked for and again when their files change.
type definitions struct {
	b      *build
	mu     sync.Mutex
	k      *catalog.Catalog
	told   map[string]bool // problems that a person has seen
	beside []string        // files in whose folders skills were looked for
}

// now are the definitions as they were read last.
func (d *definitions) now() *catalog.Catalog {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.k == nil {
		d.load()
	}
	return d.k
}

func (d *definitions) load() {
	d.k = catalog.Load(d.b.definitionsConfig())
	for _, path := range d.beside {
		d.k.Nested(path)
	}
	if d.told == nil {
		d.told = map[string]bool{}
	}
	for _, p := range d.k.Problems {
		if text := p.String(); !d.told[text] {
			d.told[text] = true
			d.b.notice(text)
		}
	}
}

// nested finds the skills of the folders above a file.
func (d *definitions) nested(path string) {
	if len(d.now().Nested(path)) == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.beside = append(d.beside, path)
}

// refresh reads them again when a file has changed and no hook objects, and
// tells whether it did.
func (d *definitions) refresh(ctx context.Context, emit func(event.Body)) bool {
	k := d.now()
	path := k.Stale()
	if path == "" {
		return false
	}
	if h := d.b.hooks; h != nil && h.d.Wants("ConfigChange") {
		if o := h.fire(ctx, hook.ConfigChange{Source: "skills", Path: path}, emit); o.Blocked {
			k.Accept()
			return false
		}
	}
	d.reload()
	return true
}

// reload reads everything again.
func (d *definitions) reload() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.load()
}

// definitionsConfig says where this session's definitions are looked for.
func (b *build) definitionsConfig() catalog.Config {
	c := catalog.Config{
		Home: b.home.Dir, Shared: b.shared(), Managed: b.settingsConfig.ManagedDir,
		Cwd: b.place.Project, Root: settings.CheckoutRoot(b.place.Project), Added: b.place.Roots[1:],
		User: b.sourced(settings.User), Project: b.sourced(settings.Project),
		Trusted: b.trust.Level == settings.Trusted, Agents: b.o.Agents, BuiltIn: b.ownAgents(), Plugins: b.plugged(),
	}
	if off, _ := b.settings.Bool("disableBundledSkills"); !off {
		c.Bundled = skill.Bundled()
	}
	if b.o.Bare {
		c.User, c.Project, c.Added = false, false, nil
	}
	return c
}

// shared is the folder of the Agent Skills standard, none in a moved home: a
// moved home shares nothing with the usual one.
func (b *build) shared() string {
	if b.home.Moved || b.o.userHome() == "" {
		return ""
	}
	return filepath.Join(b.o.userHome(), ".agents")
}

// sourced tells whether --setting-sources leaves a scope.
func (b *build) sourced(s settings.Scope) bool {
	if b.settingsConfig.Sources == nil {
		return true
	}
	return slices.Contains(b.settingsConfig.Sources, s)
}
