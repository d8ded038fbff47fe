package wiring

import (
	"path/filepath"
	"slices"

	"github.com/hew-agent/hew/internal/state/catalog"
	"github.com/hew-agent/hew/internal/state/settings"
)

// definitions reads the agents, skills, commands and styles of this session.
// It is made when the first of them is asked for: most of it is files on disk.
func (b *build) definitions() *catalog.Catalog {
	c := catalog.Config{
		Home: b.home.Dir, Shared: b.shared(), Managed: b.settingsConfig.ManagedDir,
		Cwd: b.place.Project, Root: settings.CheckoutRoot(b.place.Project), Added: b.place.Roots[1:],
		User: b.sourced(settings.User), Project: b.sourced(settings.Project),
		Trusted: b.trust.Level == settings.Trusted, Agents: b.o.Agents, BuiltIn: b.ownAgents(), Plugins: b.plugged(),
	}
	if b.o.Bare {
		c.User, c.Project, c.Added = false, false, nil
	}
	k := catalog.Load(c)
	for _, p := range k.Problems {
		b.notice(p.String())
	}
	return k
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
