package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/state/catalog"
	"github.com/hew-agent/hew/internal/state/plugin"
	"github.com/hew-agent/hew/internal/wiring"
)

// initPlugin begins a plugin: a manifest and one skill to replace.
func initPlugin(e Env, args []string) error {
	dir, err := e.pluginDir("init", args)
	if err != nil {
		return err
	}
	id, err := plugin.ParseID(filepath.Base(dir))
	if err != nil || id.Market != "" {
		return fmt.Errorf("the folder's name becomes the plugin's: %s is none", fsys.Printable(filepath.Base(dir)))
	}
	raw, err := json.MarshalIndent(map[string]string{"name": id.Name, "version": "0.1.0", "description": "What this plugin is for"}, "", "  ")
	if err != nil {
		return err
	}
	for _, f := range []struct{ path, text string }{
		{catalog.ManifestFile, string(raw) + "\n"},
		{"skills/hello/SKILL.md", "---\ndescription: Say hello. Replace this skill by your own.\n---\n\nGreet the user and say what this plugin will do.\n"},
	} {
		path := filepath.Join(dir, filepath.FromSlash(f.path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			return fmt.Errorf("begin a plugin: %w; nothing is written over", err)
		}
		_, err = out.WriteString(f.text)
		if err = errors.Join(err, out.Close()); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(e.Stdout, "began the plugin %s; try it: hew --plugin-dir %s -p '/%s:hello'\n", id.Name, fsys.Printable(dir), id.Name)
	return err
}

// tagPlugin names the commit of a release in git.
func tagPlugin(e Env, args []string) error {
	args, dry := take(args, "--dry-run")
	dir, err := e.pluginDir("tag", args)
	if err != nil {
		return err
	}
	if r := plugin.Validate(dir); len(r.Errors) > 0 {
		return fmt.Errorf("the plugin is not valid: %s; hew plugin validate shows all", r.Errors[0])
	}
	p, err := catalog.ReadPlugin(dir, filepath.Base(dir))
	if err != nil {
		return err
	}
	if p.Version == "" {
		return fmt.Errorf("%s has no \"version\", which a release needs", catalog.ManifestFile)
	}
	name := p.Name + "--v" + p.Version
	if dry {
		_, err := fmt.Fprintln(e.Stdout, name)
		return err
	}
	return e.plugins(func(ctx context.Context, k *wiring.PluginBook) error {
		if k.Git == nil {
			return errors.New("git was not found")
		}
		changed, err := k.Git(ctx, dir, "status", "--porcelain", "--", ".")
		if err != nil {
			return fmt.Errorf("look for changes that are not committed: %w", err)
		}
		if changed != "" {
			return errors.New("the folder has changes that are not committed; a release names a commit")
		}
		if _, err := k.Git(ctx, dir, "tag", "--no-sign", "-m", p.Name+" "+p.Version, "--", name); err != nil {
			return fmt.Errorf("name the commit %s: %w", name, err)
		}
		_, err = fmt.Fprintf(e.Stdout, "the commit is named %s; git push origin %s publishes it\n", name, name)
		return err
	})
}
