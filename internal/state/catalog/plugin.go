package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Plugin is a folder that brings several things under one name. All paths are
// absolute and lie in Root.
type Plugin struct {
	Name, Version, Description string
	// Market is the marketplace it came from, "" for a folder given directly.
	Market string
	// Root is its folder, Data the folder for what it keeps.
	Root, Data string
	// Skills, Commands, Agents and Styles are its folders and files of each kind.
	Skills, Commands, Agents, Styles []string
	// Hooks, Servers and Languages are its configurations, in order: JSON
	// objects as in settings, `.mcp.json` and `.lsp.json`.
	Hooks, Servers, Languages []json.RawMessage
	// Programs is a folder for the shell's PATH, "" for none.
	Programs string
	// UserConfig is what it wants to be told by the user, nil for nothing.
	UserConfig json.RawMessage
	// Options are the user's answers that may stand in texts: none that is secret.
	Options map[string]string
	// DefaultEnabled is what its author recommends.
	DefaultEnabled bool
	// Manifest is plugin.json word for word, nil when there is none.
	Manifest json.RawMessage
}

// ID is the plugin's name with its marketplace, as settings name it.
func (p *Plugin) ID() string {
	if p.Market == "" {
		return p.Name
	}
	return p.Name + "@" + p.Market
}

func (p *Plugin) origin(path string) Origin {
	return Origin{Scope: Plugged, File: path, Plugin: p.Name}
}

// manifest is plugin.json; keys that are not listed are ignored.
type manifest struct {
	Name           string          `json:"name"`
	Version        string          `json:"version"`
	Description    string          `json:"description"`
	DefaultEnabled *bool           `json:"defaultEnabled"`
	Commands       json.RawMessage `json:"commands"`
	Agents         json.RawMessage `json:"agents"`
	OutputStyles   json.RawMessage `json:"outputStyles"`
	Skills         json.RawMessage `json:"skills"`
	Hooks          json.RawMessage `json:"hooks"`
	MCPServers     json.RawMessage `json:"mcpServers"`
	LSPServers     json.RawMessage `json:"lspServers"`
	UserConfig     json.RawMessage `json:"userConfig"`
}

// ManifestFile is where a plugin's manifest lies, a slash path from its root.
const ManifestFile = ".claude-plugin/plugin.json"

// manifestLimit bounds configuration files of plugins, as settings files are.
const manifestLimit = 2 << 20

// ErrNoPlugin says that a folder holds nothing that a plugin could be.
var ErrNoPlugin = errors.New("no plugin: it has neither " + ManifestFile + " nor a folder of skills, commands, agents, hooks or output styles")

// ReadPlugin reads the plugin in a folder. fallback is its name when it has no
// manifest. An error says what is wrong in words for its author: the plugin
// does not load then.
func ReadPlugin(root, fallback string) (*Plugin, error) {
	m, raw, err := readManifest(root)
	if err != nil {
		return nil, err
	}
	p := &Plugin{
		Name: m.Name, Version: m.Version, Description: m.Description, Root: root, Manifest: raw,
		UserConfig: m.UserConfig, DefaultEnabled: m.DefaultEnabled == nil || *m.DefaultEnabled,
	}
	if p.Name == "" {
		p.Name = fallback
	}
	if !validAgent(p.Name) {
		return nil, fmt.Errorf("plugin in %s: the name %q is not made of letters, digits and hyphens", root, p.Name)
	}
	if err := p.components(m); err != nil {
		return nil, fmt.Errorf("plugin %s in %s: %w", p.Name, root, err)
	}
	if raw == nil && p.empty() {
		return nil, fmt.Errorf("%s is %w", root, ErrNoPlugin)
	}
	return p, nil
}

func (p *Plugin) empty() bool {
	return len(p.Skills)+len(p.Commands)+len(p.Agents)+len(p.Styles)+len(p.Hooks)+len(p.Servers)+len(p.Languages) == 0
}

func readManifest(root string) (manifest, json.RawMessage, error) {
	var m manifest
	path := filepath.Join(root, filepath.FromSlash(ManifestFile))
	raw, _, err := fsys.ReadRaw(path, fsys.Limits{MaxBytes: manifestLimit})
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil, nil
	}
	if err != nil {
		return m, nil, fmt.Errorf("read the manifest %s: %w", path, err)
	}
	if err := fsys.CheckJSON(raw); err != nil {
		return m, nil, fmt.Errorf("manifest %s: %w", path, err)
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, nil, fmt.Errorf("manifest %s: %w", path, err)
	}
	if m.Name == "" {
		return m, nil, fmt.Errorf("manifest %s: it has no \"name\", which is required", path)
	}
	return m, raw, nil
}

// components finds the parts: keys of the manifest replace the usual folder,
// only `skills` adds to it; hooks and servers are merged with the usual file.
func (p *Plugin) components(m manifest) error {
	var err error
	if p.Commands, err = p.paths("commands", m.Commands, "commands"); err != nil {
		return err
	}
	if p.Agents, err = p.paths("agents", m.Agents, "agents"); err != nil {
		return err
	}
	if p.Styles, err = p.paths("outputStyles", m.OutputStyles, "output-styles"); err != nil {
		return err
	}
	extra, err := p.paths("skills", m.Skills, "")
	if err != nil {
		return err
	}
	p.Skills = append(p.existing("skills"), extra...)
	if isFile(filepath.Join(p.Root, skillFile)) {
		p.Skills = append(p.Skills, p.Root)
	}
	if p.Hooks, err = p.configs("hooks", m.Hooks, "hooks/hooks.json"); err != nil {
		return err
	}
	if p.Servers, err = p.configs("mcpServers", m.MCPServers, ".mcp.json"); err != nil {
		return err
	}
	if p.Languages, err = p.configs("lspServers", m.LSPServers, ".lsp.json"); err != nil {
		return err
	}
	if bin := p.existing("bin"); bin != nil {
		p.Programs = bin[0]
	}
	return nil
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

// existing is a folder of the plugin as a list of one, nil when there is none.
func (p *Plugin) existing(dir string) []string {
	path := filepath.Join(p.Root, dir)
	if st, err := os.Stat(path); err != nil || !st.IsDir() {
		return nil
	}
	return []string{path}
}

// paths resolves a manifest key that holds one path or several. usual is the
// folder that counts when the key is absent, "" for none.
func (p *Plugin) paths(key string, raw json.RawMessage, usual string) ([]string, error) {
	if raw == nil {
		if usual == "" {
			return nil, nil
		}
		return p.existing(usual), nil
	}
	names, err := oneOrMany(raw)
	if err != nil {
		return nil, fmt.Errorf("%q must be a path or a list of paths, each beginning with ./", key)
	}
	var out []string
	for _, name := range names {
		path, err := p.inside(name)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", key, err)
		}
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("%q names %s, which is not there", key, name)
		}
		out = append(out, path)
	}
	return out, nil
}

func oneOrMany(raw json.RawMessage) ([]string, error) {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}, nil
	}
	var many []string
	err := json.Unmarshal(raw, &many)
	return many, err
}

// inside resolves a path of the manifest; it must stay in the plugin, links included.
func (p *Plugin) inside(name string) (string, error) {
	if name != "." && !strings.HasPrefix(name, "./") {
		return "", fmt.Errorf("the path %q must begin with ./", name)
	}
	path := filepath.Join(p.Root, filepath.FromSlash(name))
	if !fsys.Within(p.Root, path) {
		return "", fmt.Errorf("the path %q leads out of the plugin", name)
	}
	real, err := fsys.Real(path)
	if err != nil {
		return path, nil // what does not exist is told by the caller
	}
	root, err := fsys.Real(p.Root)
	if err == nil && !fsys.Within(root, real) {
		return "", fmt.Errorf("the path %q leads out of the plugin through a link", name)
	}
	return path, nil
}

// configs collects a configuration: the usual file, then what the manifest
// names (files) or holds (objects).
func (p *Plugin) configs(key string, raw json.RawMessage, usual string) ([]json.RawMessage, error) {
	var out []json.RawMessage
	usual = filepath.Join(p.Root, filepath.FromSlash(usual))
	body, err := p.config(usual)
	if err == nil {
		out = append(out, body)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if raw == nil {
		return out, nil
	}
	parts := []json.RawMessage{raw}
	if raw[0] == '[' {
		parts = nil
		if err := json.Unmarshal(raw, &parts); err != nil {
			return nil, fmt.Errorf("%q: %w", key, err)
		}
	}
	for _, part := range parts {
		body, err := p.part(key, part)
		if err != nil {
			return nil, err
		}
		out = append(out, body)
	}
	return out, nil
}

func (p *Plugin) part(key string, part json.RawMessage) (json.RawMessage, error) {
	if part[0] == '{' {
		return part, nil
	}
	var name string
	if err := json.Unmarshal(part, &name); err != nil {
		return nil, fmt.Errorf("%q must be a path, an object or a list of them", key)
	}
	path, err := p.inside(name)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", key, err)
	}
	return p.config(path)
}

func (p *Plugin) config(path string) (json.RawMessage, error) {
	raw, _, err := fsys.ReadRaw(path, fsys.Limits{MaxBytes: manifestLimit})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if err := fsys.CheckJSON(raw); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return raw, nil
}

// pluginSkills adds a plugin's skills and commands as `plugin:name`.
func (k *Catalog) pluginSkills(p *Plugin) {
	for _, dir := range p.Skills {
		files := k.skillsIn(place{dir, p.origin(dir)})
		if alone := filepath.Join(dir, skillFile); isFile(alone) {
			files = []file{{path: alone, origin: p.origin(alone), rel: filepath.Base(dir)}}
		}
		for _, f := range k.heads(files) {
			k.addPlugged(p, f, filepath.Dir(f.path))
		}
	}
	for _, path := range p.Commands {
		for _, f := range k.heads(k.filesAt(p, path)) {
			k.addPlugged(p, f, "")
		}
	}
}

func (k *Catalog) addPlugged(p *Plugin, f file, dir string) {
	s := k.skill(f, dir)
	if s == nil {
		return
	}
	if label := f.matter.Text("name"); dir != "" && validName(label) {
		s.Name = label // in plugins the label is the last part of the name
	}
	s.Name, s.Root, s.Data, s.options = p.Name+":"+s.Name, p.Root, p.Data, p.Options
	k.addSkill(s)
}

// filesAt lists the definitions of a plugin's path: a folder or one file.
func (k *Catalog) filesAt(p *Plugin, path string) []file {
	if base, ok := strings.CutSuffix(filepath.Base(path), ".md"); ok {
		return []file{{path: path, origin: p.origin(path), rel: base}}
	}
	return k.markdown(place{path, p.origin(path)})
}

// pluginAgents adds a plugin's agents as `plugin:dir:name`. What would widen
// its rights is ignored: hooks, servers and the permission mode.
func (k *Catalog) pluginAgents(p *Plugin) {
	for _, path := range p.Agents {
		for _, f := range k.heads(k.filesAt(p, path)) {
			a := k.agent(f)
			if a == nil {
				continue
			}
			parts := append([]string{p.Name}, strings.Split(f.rel, "/")...)
			parts[len(parts)-1] = a.Name
			a.Name = strings.Join(parts, ":")
			a.Hooks, a.Servers, a.Mode = nil, nil, ""
			k.addAgent(a)
		}
	}
}
