package settings

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// RuleList is one of the lists of permission rules.
type RuleList string

// The lists, by their keys.
const (
	AllowRules RuleList = "allow"
	AskRules   RuleList = "ask"
	DenyRules  RuleList = "deny"
)

// Set puts value at path in the file of scope s (User, Project or Local) and leaves everything else in it as it is.
// When it returns nil the value is on disk. A value that Load would refuse is refused, and so is a file that does not
// parse: the error then holds an *fsys.InvalidJSONError and the file is untouched.
func (c Config) Set(ctx context.Context, s Scope, value any, path ...string) error {
	if err := settable(s, value, path); err != nil {
		return err
	}
	return c.update(ctx, s, func(d *fsys.JSONDoc) error { return d.Set(value, path...) })
}

// Unset removes a key; removing what is not there is no error.
func (c Config) Unset(ctx context.Context, s Scope, path ...string) error {
	return c.update(ctx, s, func(d *fsys.JSONDoc) error {
		d.Delete(path...)
		return nil
	})
}

// AddRule adds a permission rule unless the file has it.
func (c Config) AddRule(ctx context.Context, s Scope, l RuleList, rule string) error {
	raw, err := compact(rule)
	if err != nil {
		return err
	}
	if why := ruleFault(Element{Raw: raw}); why != "" {
		return fmt.Errorf("add rule %s: %s", shorten(raw), why)
	}
	return c.update(ctx, s, func(d *fsys.JSONDoc) error { return d.Append(rule, "permissions", string(l)) })
}

// RemoveRule removes a permission rule; removing what is not there is no error.
func (c Config) RemoveRule(ctx context.Context, s Scope, l RuleList, rule string) error {
	return c.update(ctx, s, func(d *fsys.JSONDoc) error {
		_, err := d.Remove(rule, "permissions", string(l))
		return err
	})
}

// AddDirectory adds an additional working folder unless the file has it.
func (c Config) AddDirectory(ctx context.Context, s Scope, dir string) error {
	return c.update(ctx, s, func(d *fsys.JSONDoc) error {
		return d.Append(dir, "permissions", "additionalDirectories")
	})
}

// RemoveDirectory removes an additional working folder; removing what is not
// there is no error.
func (c Config) RemoveDirectory(ctx context.Context, s Scope, dir string) error {
	return c.update(ctx, s, func(d *fsys.JSONDoc) error {
		_, err := d.Remove(dir, "permissions", "additionalDirectories")
		return err
	})
}

// settable judges a value the way Load would.
func settable(s Scope, value any, path []string) error {
	doc, err := fsys.ParseJSON(nil)
	if err != nil {
		return err
	}
	if err := doc.Set(value, path...); err != nil {
		return err
	}
	root, err := parse(doc.Bytes(), Origin{Scope: s})
	if err != nil {
		return err
	}
	c := checker{src: source{from: Origin{Scope: s}, root: root}, trust: Trusted}
	c.object(root, "")
	if len(c.problems) > 0 {
		return fmt.Errorf("set %s: %s", dotted(path), c.problems[0].Text)
	}
	return nil
}

func (c Config) update(ctx context.Context, s Scope, change func(*fsys.JSONDoc) error) error {
	path := c.Path(s)
	if path == "" {
		return fmt.Errorf("%s settings cannot be written; choose user, project or local", s)
	}
	isNew := s == Local && fsys.KindOf(path) == fsys.KindMissing
	mode := fsys.WriteOptions{}
	if s == User {
		mode.Mode = 0o600 // the env block may hold credentials
	}
	if err := fsys.UpdateJSON(ctx, path, mode, change); err != nil {
		return err
	}
	if isNew {
		c.exclude(path)
	}
	return nil
}

// exclude tells git, in this repository alone, that the local file is nobody else's. Settings are written whether or
// not this succeeds, so a failure is not reported: git would merely show the file as untracked.
func (c Config) exclude(path string) {
	repo, ok := findRepository(c.localRoot())
	if !ok {
		return
	}
	rel, err := filepath.Rel(repo.root, path)
	if err != nil {
		return
	}
	line := "/" + filepath.ToSlash(rel)
	list := filepath.Join(repo.gitDir, "info", "exclude")
	raw, err := os.ReadFile(list)
	if err != nil && !os.IsNotExist(err) {
		return
	}
	text := string(raw)
	for have := range strings.Lines(text) {
		if have = strings.TrimSpace(have); have == line || strings.HasSuffix(have, "settings.local.json") {
			return
		}
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, _ = fsys.WriteFile(list, []byte(text+line+"\n"), fsys.WriteOptions{})
}
