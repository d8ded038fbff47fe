package trust

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/state/settings"
)

// Bounds of what is looked at. A folder that exceeds them cannot be bound to its
// content and is not trusted.
const (
	maxFiles  = 2000
	maxFile   = 8 << 20
	maxTokens = 20_000
)

// Collect lists what the folder would run or be granted, in a fixed order. It
// starts nothing and follows no link out of the checkout. An error says that the
// list is not complete.
func Collect(c settings.Config) ([]Item, error) {
	k := &collector{cwd: c.Cwd, root: settings.CheckoutRoot(c.Cwd), folder: folder(c.Cwd), seen: map[string]bool{}, walked: map[string]bool{}}
	if !k.asks(c) {
		return nil, nil
	}
	c.Trust, c.BaseURLs, c.FlagSettings, c.Sources = settings.Untrusted, false, "", nil
	s, _ := settings.Load(c) // its problems are told when the settings are loaded for use
	for _, h := range s.Held() {
		k.setting(h)
	}
	for _, dir := range k.dirs() {
		k.servers(filepath.Join(dir, ".mcp.json"))
		if filepath.Join(dir, ".claude") == c.Home.Dir { // the user's own, in a session in the home folder
			continue
		}
		k.prose(filepath.Join(dir, ".claude", "agents"), Agent)
		k.prose(filepath.Join(dir, ".claude", "skills"), Skill)
		k.plugins(filepath.Join(dir, ".claude", "skills"))
		k.prose(filepath.Join(dir, ".claude", "commands"), Command)
	}
	k.hookScripts()
	return k.items, k.err
}

// collect adds to what Collect finds what instruction files include.
func (c Config) collect() ([]Item, error) {
	items, err := Collect(c.Settings)
	if c.Includes == nil {
		return items, err
	}
	k := &collector{root: settings.CheckoutRoot(c.Settings.Cwd), folder: folder(c.Settings.Cwd)}
	for _, in := range c.Includes() {
		// The repository does not supply the file, but it says which one is meant.
		k.add(Outside, in.Real, in.From, false, []byte(in.Real))
	}
	return append(items, k.items...), err
}

type collector struct {
	cwd, root, folder string
	items             []Item
	seen              map[string]bool // scripts, by path
	walked            map[string]bool // folders, by real path
	runs              bool            // something runs a command
	files, tokens     int
	err               error
}

// asks tells whether there is anything to look into; most folders have nothing,
// and every start pays for the look.
func (k *collector) asks(c settings.Config) bool {
	places := []string{c.Path(settings.Project), c.Path(settings.Local)}
	for _, dir := range k.dirs() {
		places = append(places, filepath.Join(dir, ".claude"), filepath.Join(dir, ".mcp.json"))
	}
	return slices.ContainsFunc(places, func(p string) bool { return fsys.KindOf(p) != fsys.KindMissing })
}

// dirs are the start folder and the root of the checkout.
func (k *collector) dirs() []string {
	if k.cwd == k.root {
		return []string{k.cwd}
	}
	return []string{k.cwd, k.root}
}

func (k *collector) fail(err error) {
	if k.err == nil {
		k.err = err
	}
}

func (k *collector) rel(path string) string {
	rel, err := filepath.Rel(k.root, path)
	if err != nil {
		return filepath.ToSlash(path)
	}
	return filepath.ToSlash(rel)
}

func (k *collector) add(kind Kind, name, path string, local bool, content []byte) {
	it := Item{Kind: kind, Name: name, File: k.rel(path), Folder: k.folder, Local: local}
	k.items = append(k.items, it.bind(content))
}

// addJSON adds a value whose content is compact JSON; people read it indented.
func (k *collector) addJSON(kind Kind, name, path string, local bool, raw json.RawMessage) {
	k.add(kind, name, path, local, raw)
	it := &k.items[len(k.items)-1]
	var out bytes.Buffer
	switch {
	case len(raw) > maxText:
	case raw[0] == '"':
		it.Text = text(raw)
	case len(raw) > 60 && json.Indent(&out, raw, "", "  ") == nil:
		it.Text = out.String()
	}
}

// setting takes a key that the settings hold back.
func (k *collector) setting(h settings.HeldKey) {
	local := h.Origin.Scope == settings.Local
	one := func(kind Kind, name string, raw json.RawMessage) {
		k.addJSON(kind, name, h.Origin.File, local, raw)
		switch kind {
		case Hook, Helper, Plugin, Other, Variable:
			k.stringsOf(raw)
		case BaseURL, AllowRule, Directory, Mode, Marketplace, Sandbox, Outside, Server, Agent, Skill, Command, Script:
		}
	}
	switch key := h.Key; {
	case key == "hooks":
		k.eachMember(h.Raw, func(event string, raw json.RawMessage) {
			k.eachElement(raw, func(entry json.RawMessage) { one(Hook, event, entry) })
		})
	case key == "env":
		k.eachMember(h.Raw, func(name string, raw json.RawMessage) { one(variable(name), name, raw) })
	case strings.HasPrefix(key, "env."):
		one(BaseURL, strings.TrimPrefix(key, "env."), h.Raw)
	case key == "permissions.allow":
		k.eachElement(h.Raw, func(raw json.RawMessage) { one(AllowRule, text(raw), raw) })
	case key == "permissions.additionalDirectories":
		k.eachElement(h.Raw, func(raw json.RawMessage) { one(Directory, text(raw), raw) })
	case key == "permissions.defaultMode":
		one(Mode, text(h.Raw), h.Raw)
	case key == "autoMemoryDirectory":
		one(Directory, text(h.Raw), h.Raw)
	case strings.HasPrefix(key, "sandbox."):
		one(Sandbox, key, h.Raw)
	case key == "extraKnownMarketplaces":
		one(Marketplace, key, h.Raw)
	case strings.Contains(strings.ToLower(key), "plugin"), strings.Contains(strings.ToLower(key), "mcp"):
		one(Plugin, key, h.Raw)
	case strings.HasSuffix(key, "Helper"), strings.HasPrefix(key, "aws"), strings.HasPrefix(key, "gcp"),
		key == "statusLine", key == "subagentStatusLine", key == "fileSuggestion":
		one(Helper, key, h.Raw)
	default:
		one(Other, key, h.Raw)
	}
}

func variable(name string) Kind {
	if settings.IsBaseURL(name) {
		return BaseURL
	}
	return Variable
}

// text is a string without its JSON form, or the JSON itself.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	return s
}

// eachMember walks an object in the order of its names, so that the same content
// gives the same list. What is no object is one member.
func (k *collector) eachMember(raw json.RawMessage, do func(string, json.RawMessage)) {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		do("", raw)
		return
	}
	for _, n := range slices.Sorted(maps.Keys(m)) {
		do(n, m[n])
	}
}

func (k *collector) eachElement(raw json.RawMessage, do func(json.RawMessage)) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		do(raw)
		return
	}
	for _, e := range list {
		do(e)
	}
}

// servers takes the servers of an .mcp.json. A file that does not parse is one
// item, since another reader may be more lenient.
func (k *collector) servers(path string) {
	raw, ok := k.read(path)
	if !ok {
		return
	}
	var file struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
	}
	if json.Unmarshal(raw, &file) != nil || fsys.CheckJSON(raw) != nil {
		k.add(Server, "(the file is not valid JSON)", path, false, raw)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(file.Servers)) {
		var server bytes.Buffer
		if err := json.Compact(&server, file.Servers[name]); err != nil {
			k.fail(err)
			return
		}
		k.addJSON(Server, name, path, false, server.Bytes())
		k.stringsOf(server.Bytes())
	}
}

// read returns a file's content; ok is false when there is none. One that cannot
// be read makes the list incomplete.
func (k *collector) read(path string) (raw []byte, ok bool) {
	raw, _, err := fsys.ReadRaw(path, fsys.Limits{MaxBytes: maxFile})
	switch {
	case err == nil:
		k.files++
		return raw, true
	case fsys.CauseOf(err) != fsys.CauseMissing:
		k.fail(fmt.Errorf("what %s would run is not known: %w", fsys.Printable(k.rel(path)), err))
	}
	return nil, false
}

// walk calls do with each file below dir, in order. Links to folders are
// followed, each folder once.
func (k *collector) walk(dir string, do func(path string)) {
	real, err := fsys.Real(dir)
	if err != nil || fsys.KindOf(real) != fsys.KindDir || k.walked[real] {
		return
	}
	k.walked[real] = true
	err = filepath.WalkDir(real, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case k.files > maxFiles || len(k.walked) > maxFiles:
			return fmt.Errorf("%s holds more than %d files", fsys.Printable(k.rel(dir)), maxFiles)
		case d.Type()&fs.ModeSymlink != 0 && fsys.KindOf(path) == fsys.KindDir:
			k.walk(path, do)
		case !d.IsDir():
			do(path)
		}
		return nil
	})
	if err != nil {
		k.fail(fmt.Errorf("what the folder would run is not known: %w", err))
	}
}

// granting are the front-matter keys with which a file runs or grants something
// by itself.
var granting = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^["']?(hooks|mcpServers|permissionMode|allowed-tools|allowedTools|shell)["']?\s*:`)
})

// prose takes the agents, skills and commands that run or grant something: by
// their front matter, or by commands whose output becomes part of the text.
func (k *collector) prose(dir string, kind Kind) {
	k.walk(dir, func(path string) {
		if !strings.EqualFold(filepath.Ext(path), ".md") {
			return
		}
		raw, ok := k.read(path)
		if !ok || !acts(raw) {
			return
		}
		k.add(kind, k.rel(path), path, false, raw)
		k.mentions(raw)
		if kind == Skill && strings.EqualFold(filepath.Base(path), "SKILL.md") {
			delete(k.walked, filepath.Dir(path)) // it may be walked for its scripts, too
			k.walk(filepath.Dir(path), k.script)
		}
	})
}

func acts(raw []byte) bool {
	return bytes.Contains(raw, []byte("!`")) || bytes.Contains(raw, []byte("```!")) || granting().Match(raw)
}

// hookScripts takes the folder that hooks keep their scripts in, when anything
// runs at all: a script may call its neighbours.
func (k *collector) hookScripts() {
	if !k.runs {
		return
	}
	for _, dir := range k.dirs() {
		k.walk(filepath.Join(dir, ".claude", "hooks"), k.script)
	}
}

// word is a run of characters that can be a path in a command.
var word = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^\s"'` + "`" + `;|&()<>=,\\]+`) })

// stringsOf looks through the strings of a JSON value, as they are without escapes.
func (k *collector) stringsOf(raw json.RawMessage) {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		k.mentions(raw)
		return
	}
	var each func(any)
	each = func(v any) {
		switch v := v.(type) {
		case string:
			k.mentions([]byte(v))
		case []any:
			for _, e := range v {
				each(e)
			}
		case map[string]any:
			for _, n := range slices.Sorted(maps.Keys(v)) {
				each(v[n])
			}
		}
	}
	each(v)
}

// mentions takes the files of the checkout that a command, or whatever holds one,
// names: what they say is what runs.
func (k *collector) mentions(raw []byte) {
	k.runs = true
	for _, w := range word().FindAll(raw, -1) {
		if k.tokens++; k.tokens > maxTokens {
			k.fail(fmt.Errorf("the folder's commands are longer than %d words", maxTokens))
			return
		}
		w := strings.NewReplacer("${CLAUDE_PROJECT_DIR}", k.cwd, "$CLAUDE_PROJECT_DIR", k.cwd).Replace(string(w))
		w = strings.Trim(w, "{}[]:")
		if w == "" || len(w) > 1000 || strings.ContainsAny(w, "\x00*?") {
			continue
		}
		for _, dir := range k.dirs() {
			path := w
			if !filepath.IsAbs(w) {
				path = filepath.Join(dir, w)
			}
			k.script(path)
		}
	}
}

// script takes a file of the checkout, once.
func (k *collector) script(path string) {
	path = filepath.Clean(path)
	if k.seen[path] || fsys.KindOf(path) != fsys.KindRegular {
		return
	}
	k.seen[path] = true
	if !fsys.Within(k.root, path) {
		return
	}
	if real, err := fsys.Real(path); err != nil || !fsys.Within(k.root, real) {
		// The repository does not supply the file, but it says which one is meant.
		k.add(Script, k.rel(path), path, false, []byte("-> "+real))
		return
	}
	if raw, ok := k.read(path); ok {
		k.add(Script, k.rel(path), path, false, raw)
	}
}
