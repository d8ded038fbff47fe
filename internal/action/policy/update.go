package policy

import (
	"fmt"
	"slices"

	"github.com/hew-agent/hew/internal/tool"
)

// Apply returns the snapshot after an update. Storing it where its destination
// says is the caller's part. Setting the bypass mode is refused while that mode
// is disabled.
func (s *Snapshot) Apply(u Update) (*Snapshot, error) {
	cfg := s.cfg
	cfg.Layers = slices.Clone(cfg.Layers)
	switch u.Kind {
	case AddRules, ReplaceRules, RemoveRules:
		i := layerFor(&cfg, u.Destination)
		if err := editLayer(&cfg.Layers[i], u); err != nil {
			return nil, err
		}
	case SetMode:
		if u.Mode == Bypass && cfg.BypassDisabled {
			return nil, fmt.Errorf("set permission mode: %s is disabled", Bypass)
		}
		if _, _, err := ParseMode(string(u.Mode)); err != nil {
			return nil, fmt.Errorf("set permission mode: %w", err)
		}
		return s.WithMode(u.Mode), nil
	case AddDirectories:
		cfg.Roots = slices.Clip(cfg.Roots)
		for _, d := range u.Directories {
			if !slices.Contains(cfg.Roots, d) {
				cfg.Roots = append(cfg.Roots, d)
			}
		}
	case RemoveDirectories:
		cfg.Roots = slices.DeleteFunc(slices.Clone(cfg.Roots), func(d string) bool { return slices.Contains(u.Directories, d) })
	default:
		return nil, fmt.Errorf("unknown permission update %q", u.Kind)
	}
	return New(cfg), nil
}

func scopeOf(d Destination) Scope {
	switch d {
	case ToLocal:
		return ScopeLocal
	case ToProject:
		return ScopeProject
	case ToUser:
		return ScopeUser
	case ToFlags:
		return ScopeFlags
	case ToSession:
	}
	return ScopeSession
}

// layerFor finds the layer of a destination, and adds one when there is none.
func layerFor(cfg *Config, d Destination) int {
	scope := scopeOf(d)
	for i := range cfg.Layers {
		if cfg.Layers[i].Origin.Scope == scope {
			return i
		}
	}
	cfg.Layers = append(cfg.Layers, Layer{Origin: Origin{Scope: scope, File: string(scope)}})
	return len(cfg.Layers) - 1
}

func editLayer(l *Layer, u Update) error {
	var list *[]string
	switch u.Behavior {
	case tool.Allow:
		list = &l.Allow
	case tool.Ask:
		list = &l.Ask
	case tool.Deny:
		list = &l.Deny
	default:
		return fmt.Errorf("unknown rule behavior %q", u.Behavior)
	}
	switch u.Kind {
	case AddRules:
		*list = append(slices.Clip(*list), u.Rules...)
	case ReplaceRules:
		*list = slices.Clone(u.Rules)
	case RemoveRules:
		*list = slices.DeleteFunc(slices.Clone(*list), func(r string) bool { return slices.Contains(u.Rules, r) })
	case SetMode, AddDirectories, RemoveDirectories:
	}
	return nil
}

// Removed reports whether a deny rule takes the tool out of the list that the
// model sees, and which.
func (s *Snapshot) Removed(t tool.Spec) (Rule, bool) {
	for _, r := range s.deny.general {
		if r.whole() && !r.unused && r.names(t) {
			return *r, true
		}
	}
	return Rule{}, false
}

// DeniesRead reports whether a deny rule hides a path from reading, so that
// searches can leave it out. path is absolute.
func (s *Snapshot) DeniesRead(path string, paths Paths) bool {
	if len(s.deny.read) == 0 {
		return false
	}
	l := s.locator(Request{Paths: paths})
	return l.rulesOn(s.deny.read, l.file(path), false) != nil
}
