package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hew-agent/hew/internal/backend/frontmatter"
	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Grant is one thing that a plugin would run, or be granted, without being
// asked for: a person agrees to each.
type Grant struct {
	// Kind is "hook", "MCP server", "language server", "program", "script" or "skill".
	Kind string `json:"kind"`
	// Name tells it from others of its kind, File is a slash path from the root.
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	// Text is what would run, as far as people need to see it; Digest covers all of it.
	Text   string `json:"text"`
	Digest string `json:"digest"`
}

// grantText bounds what is kept of a content for people, in bytes.
const grantText = 16 << 10

func newGrant(kind, name, file string, content []byte) Grant {
	sum := sha256.Sum256(content)
	text := strings.ToValidUTF8(string(content[:min(len(content), grantText)]), "\ufffd")
	if len(content) > grantText {
		text += fmt.Sprintf("\n… %d bytes in all", len(content))
	}
	return Grant{Kind: kind, Name: name, File: file, Text: text, Digest: hex.EncodeToString(sum[:])}
}

// granter collects.
type granter struct {
	p    *Plugin
	out  []Grant
	seen map[string]bool
	err  error
}

// Grants lists what the plugin runs or grants, in a fixed order. An error says
// that the list is not complete.
func (p *Plugin) Grants() ([]Grant, error) {
	g := &granter{p: p, seen: map[string]bool{}}
	for _, raw := range p.Hooks {
		g.hooks(raw)
	}
	for _, raw := range p.Servers {
		g.each("MCP server", inner(raw, "mcpServers"))
	}
	for _, raw := range p.Languages {
		g.each("language server", inner(raw, "lspServers"))
	}
	g.prose()
	g.programs()
	return g.out, g.err
}

// inner is the object under a key, or the value itself.
func inner(raw json.RawMessage, key string) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) == nil && m[key] != nil {
		return m[key]
	}
	return raw
}

func (g *granter) fail(err error) {
	if g.err == nil {
		g.err = err
	}
}

func (g *granter) hooks(raw json.RawMessage) {
	var events map[string]json.RawMessage
	if json.Unmarshal(inner(raw, "hooks"), &events) != nil {
		g.out = append(g.out, newGrant("hook", "(not an object)", "", raw))
		return
	}
	for _, event := range slices.Sorted(maps.Keys(events)) {
		var groups []json.RawMessage
		if json.Unmarshal(events[event], &groups) != nil {
			if event != "description" {
				groups = []json.RawMessage{events[event]}
			}
		}
		for _, group := range groups {
			g.value("hook", event, group)
		}
	}
}

func (g *granter) each(kind string, raw json.RawMessage) {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		g.value(kind, "(not an object)", raw)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		g.value(kind, name, m[name])
	}
}

// value adds a JSON value and the files of the plugin that it names.
func (g *granter) value(kind, name string, raw json.RawMessage) {
	text := []byte(raw)
	var v any
	if json.Unmarshal(raw, &v) == nil {
		if flat, err := json.MarshalIndent(v, "", "  "); err == nil {
			text = flat // the same value always looks the same
		}
	}
	g.out = append(g.out, newGrant(kind, name, "", text))
	g.mentions(string(raw))
}

// fileWord is a run of characters that can be a path in a command.
var fileWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^\s"'` + "`" + `;|&()<>=,\\]+`) })

// mentions takes the files of the plugin that a command names.
func (g *granter) mentions(text string) {
	const most = 20_000
	for _, w := range fileWord().FindAllString(text, most) {
		w = strings.NewReplacer("${CLAUDE_PLUGIN_ROOT}", ".", "$CLAUDE_PLUGIN_ROOT", ".", "${CLAUDE_SKILL_DIR}", ".").Replace(w)
		w = strings.Trim(w, "{}[]:")
		if w == "" || len(w) > 1000 || filepath.IsAbs(w) || strings.ContainsRune(w, 0) {
			continue
		}
		g.script("script", filepath.Join(g.p.Root, filepath.FromSlash(w)))
	}
}

func (g *granter) script(kind, path string) {
	if g.seen[path] || !fsys.Within(g.p.Root, path) || !isFile(path) {
		return
	}
	g.seen[path] = true
	rel, err := filepath.Rel(g.p.Root, path)
	if err != nil {
		return
	}
	raw, err := readBounded(path)
	if err != nil {
		g.fail(fmt.Errorf("what %s would run is not known: %w", g.p.Name, err))
		return
	}
	rel = filepath.ToSlash(rel)
	g.out = append(g.out, newGrant(kind, rel, rel, raw))
}

// programLimit bounds a program of a plugin, in bytes.
const programLimit = 64 << 20

func readBounded(path string) ([]byte, error) {
	raw, _, err := fsys.ReadRaw(path, fsys.Limits{MaxBytes: programLimit})
	return raw, err
}

// prose takes the skills and commands that grant or run something by
// themselves, and what lies beside such a skill.
func (g *granter) prose() {
	list := slices.Clone(Load(Config{Plugins: []*Plugin{g.p}}).Skills)
	byName(list, func(s *Skill) string { return s.Origin.File })
	for _, s := range list {
		raw, err := s.raw()
		if err != nil {
			continue // it cannot be invoked either
		}
		m := frontmatter.Parse(raw)
		var text strings.Builder
		for _, rule := range s.Allowed {
			text.WriteString("allows " + rule + "\n")
		}
		if s.Hooks != nil {
			text.WriteString("hooks " + string(s.Hooks) + "\n")
			g.mentions(string(s.Hooks))
		}
		for _, piece := range cut(m.Body) {
			if piece.Command != "" {
				text.WriteString("runs " + piece.Command + "\n")
				g.mentions(piece.Command)
			}
		}
		if text.Len() > 0 {
			rel, err := filepath.Rel(g.p.Root, s.Origin.File)
			if err != nil {
				rel = s.Origin.File
			}
			g.out = append(g.out, newGrant("skill", s.Name, filepath.ToSlash(rel), []byte(text.String())))
		}
	}
}

// programs takes the folder that goes on the shell's PATH.
func (g *granter) programs() {
	if g.p.Programs == "" {
		return
	}
	entries, err := os.ReadDir(g.p.Programs)
	if err != nil {
		g.fail(fmt.Errorf("list the programs of %s: %w", g.p.Name, err))
	}
	for _, e := range entries {
		g.script("program", filepath.Join(g.p.Programs, e.Name()))
	}
}
