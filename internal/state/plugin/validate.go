package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/backend/frontmatter"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/state/catalog"
)

// Report is what an author should know of a plugin or a marketplace.
type Report struct {
	// What is "plugin" or "marketplace", Name its name as far as it can be read.
	What     string   `json:"what"`
	Name     string   `json:"name"`
	Path     string   `json:"path"`
	Errors   []string `json:"errors"`
	Warnings []string `json:"warnings"`
}

// Validate reads a plugin's or a marketplace's folder, or one of their files, as
// an installation would.
func Validate(path string) Report {
	r := Report{What: "plugin", Path: path, Errors: []string{}, Warnings: []string{}}
	dir := path
	if fsys.KindOf(path) == fsys.KindRegular {
		dir = filepath.Dir(filepath.Dir(path))
	}
	market := filepath.Join(dir, filepath.FromSlash(MarketFile))
	isMarket := filepath.Base(path) == "marketplace.json" || dir == path && fsys.KindOf(market) == fsys.KindRegular
	if isMarket && filepath.Base(path) == "marketplace.json" {
		market = path
	}
	switch {
	case fsys.KindOf(dir) != fsys.KindDir:
		r.Errors = append(r.Errors, "it is not there or is no folder")
	case isMarket:
		r.What = "marketplace"
		r.market(market, dir)
	default:
		r.plugin(dir)
	}
	return r
}

func (r *Report) fail(err error) { r.Errors = append(r.Errors, err.Error()) }

func (r *Report) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// Keys that are known beside those that catalog reads.
var manifestKeys = map[string]bool{
	"$schema": true, "name": true, "displayName": true, "version": true, "description": true, "author": true, "homepage": true,
	"repository": true, "license": true, "keywords": true, "metadata": true, "defaultEnabled": true, "commands": true, "agents": true,
	"workflows": true, "outputStyles": true, "experimental": true, "skills": true, "hooks": true, "mcpServers": true, "lspServers": true,
	"userConfig": true, "channels": true, "dependencies": true,
}

var marketKeys = map[string]bool{
	"$schema": true, "name": true, "owner": true, "plugins": true, "description": true, "version": true, "metadata": true,
	"allowCrossMarketplaceDependenciesOn": true, "renames": true,
}

func (r *Report) unknown(raw json.RawMessage, where string, known ...map[string]bool) {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return // told by whoever reads it
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if !slices.ContainsFunc(known, func(k map[string]bool) bool { return k[key] }) {
			r.warn("%sthe key %q is unknown and ignored", where, key)
		}
	}
}

// metaTypes are keys that are read by people only, with the type that they need.
type metaTypes struct {
	DisplayName string   `json:"displayName"`
	Author      any      `json:"author"`
	Homepage    string   `json:"homepage"`
	License     string   `json:"license"`
	Keywords    []string `json:"keywords"`
}

func (r *Report) plugin(dir string) {
	p, err := catalog.ReadPlugin(dir, filepath.Base(dir))
	if err != nil {
		r.fail(err)
		return
	}
	r.Name = p.Name
	if p.Manifest == nil {
		r.warn("it has no %s; its name is that of the folder", catalog.ManifestFile)
	} else {
		r.unknown(p.Manifest, "", manifestKeys)
		var meta metaTypes
		if err := json.Unmarshal(p.Manifest, &meta); err != nil {
			r.fail(fmt.Errorf("manifest: %w", err))
		}
	}
	if p.Version == "" {
		r.warn("it has no version; updates are told apart by their content")
	} else if _, ok := parseNumber(p.Version); !ok {
		r.warn("the version %q is not of the form 1.2.3", fsys.Printable(p.Version))
	}
	if p.Description == "" {
		r.warn("it has no description")
	}
	if err := checkOptions(p); err != nil {
		r.fail(err)
	}
	if _, err := Dependencies(p); err != nil {
		r.fail(err)
	}
	r.shellStrings(p)
	for _, problem := range catalog.Load(catalog.Config{Plugins: []*catalog.Plugin{p}}).Problems {
		r.warn("%s", problem.String())
	}
	r.tree(dir)
}

// shellStrings finds answers of the user that would stand in a shell command:
// they stay empty there, since a shell would run what they hold.
func (r *Report) shellStrings(p *catalog.Plugin) {
	for _, raw := range p.Hooks {
		if strings.Contains(string(raw), `${user_config.`) {
			r.warn("hooks hold ${user_config.…}, which is filled in inside args only, never in a shell command; use $CLAUDE_PLUGIN_OPTION_KEY")
			return
		}
	}
}

// bigProse is a size from which an instruction is no instruction, in bytes.
const bigProse = 1 << 20

func (r *Report) tree(dir string) {
	staged, err := os.MkdirTemp("", "hew-validate-")
	if err != nil {
		r.fail(err)
		return
	}
	defer func() { _ = os.RemoveAll(staged) }() // a copy in the folder for temporary files
	if err := copyTree(dir, filepath.Join(staged, "tree")); err != nil {
		r.fail(err)
		return
	}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".md") {
			return err
		}
		rel, _ := filepath.Rel(dir, path) // below dir: cannot fail
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Size() > bigProse {
			r.fail(fmt.Errorf("%s is larger than %d MB", filepath.ToSlash(rel), bigProse>>20))
			return nil
		}
		raw, _, err := fsys.ReadRaw(path, fsys.Limits{MaxBytes: bigProse})
		if err != nil {
			return nil // a link to somewhere inside, told above when it is not
		}
		if m := frontmatter.Parse(raw); m.Problem != "" {
			r.warn("%s: its front matter is not YAML: %s", filepath.ToSlash(rel), m.Problem)
		}
		return nil
	})
	if err != nil {
		r.fail(err)
	}
}

func (r *Report) market(path, dir string) {
	raw, _, err := fsys.ReadRaw(path, fsys.Limits{MaxBytes: maxMarket})
	if err != nil {
		r.fail(err)
		return
	}
	m, err := parseMarket(raw)
	if err != nil {
		r.fail(fmt.Errorf("%s: %w", MarketFile, err))
		return
	}
	r.Name = m.Name
	r.unknown(raw, "", marketKeys)
	for _, f := range m.Faults {
		r.fail(errors.New(f))
	}
	if len(m.Plugins) == 0 {
		r.warn("it lists no plugins")
	}
	for _, l := range m.Plugins {
		r.unknown(l.Entry, l.Name+": ", manifestKeys, own)
		if l.Err != nil {
			r.fail(fmt.Errorf("%s: %w", l.Name, l.Err))
			continue
		}
		if l.Source.Kind == "relative" {
			r.listed(l, filepath.Join(dir, filepath.FromSlash(l.Source.Path)))
		}
	}
}

// listed looks into a plugin that lies in its marketplace.
func (r *Report) listed(l Listed, dir string) {
	if fsys.KindOf(dir) != fsys.KindDir {
		r.fail(fmt.Errorf("%s: there is no folder %s", l.Name, l.Source.Path))
		return
	}
	manifest := fsys.KindOf(filepath.Join(dir, filepath.FromSlash(catalog.ManifestFile))) == fsys.KindRegular
	if !manifest || !l.Strict {
		return // the entry completes it
	}
	p, err := catalog.ReadPlugin(dir, l.Name)
	if err != nil {
		r.fail(err)
		return
	}
	if p.Name != l.Name {
		r.fail(fmt.Errorf("%s: its manifest calls it %s", l.Name, p.Name))
	}
}
