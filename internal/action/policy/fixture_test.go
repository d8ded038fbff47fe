package policy

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/tool"
)

const (
	testHome = "/home/dev"
	testCwd  = "/home/dev/proj"
)

// tree is a Paths made of names: value "" is a file, anything else the target of
// a link.
type tree map[string]string

func newTree(entries ...string) tree {
	t := tree{}
	for _, e := range entries {
		name, target, _ := strings.Cut(e, " -> ")
		if !strings.HasPrefix(name, "/") {
			name = testCwd + "/" + name
		}
		t[path.Clean(name)] = target
	}
	return t
}

func (t tree) Resolve(p string) (string, bool) {
	at, hops := "/", 0
	rest := strings.Split(strings.Trim(p, "/"), "/")
	for len(rest) > 0 {
		seg := rest[0]
		rest = rest[1:]
		switch seg {
		case "", ".":
			continue
		case "..":
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, seg)
		target, ok := t[next]
		if !ok || target == "" {
			at = next
			continue
		}
		if hops++; hops > 40 {
			return "", false
		}
		if strings.HasPrefix(target, "/") {
			at = "/"
		}
		rest = append(strings.Split(strings.Trim(target, "/"), "/"), rest...)
	}
	return at, true
}

func (t tree) Glob(pattern string) []string {
	var out []string
	for name := range t {
		for n := name; n != "/"; n = path.Dir(n) {
			if ok, _ := path.Match(pattern, n); ok && !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	slices.Sort(out)
	return out
}

var testFamilies = Families{Read: "Read", Edit: "Edit", Exec: "Bash", Fetch: "WebFetch"}

func testSchema(fields ...string) json.RawMessage {
	props := map[string]any{}
	for _, f := range fields {
		props[f] = map[string]string{}
	}
	raw, err := json.Marshal(map[string]any{"type": "object", "properties": props})
	if err != nil {
		panic(err)
	}
	return raw
}

var testTools = []tool.Spec{
	{Name: "Bash", MainField: "command", Schema: testSchema("command", "run_in_background", "timeout", "dangerouslyDisableSandbox")},
	{Name: "Monitor", RuleFamily: "Bash", MainField: "command", Schema: testSchema("command")},
	{Name: "Read", MainField: "file_path", Schema: testSchema("file_path", "limit")},
	{Name: "Grep", RuleFamily: "Read", MainField: "path", Schema: testSchema("pattern", "path")},
	{Name: "Glob", RuleFamily: "Read", MainField: "path", Schema: testSchema("pattern", "path")},
	{Name: "Edit", Aliases: []string{"MultiEdit"}, MainField: "file_path", Schema: testSchema("file_path", "old_string")},
	{Name: "Write", RuleFamily: "Edit", MainField: "file_path", Schema: testSchema("file_path", "content")},
	{Name: "NotebookEdit", RuleFamily: "Edit", MainField: "notebook_path", Schema: testSchema("notebook_path")},
	{Name: "WebFetch", MainField: "url", Schema: testSchema("url", "prompt")},
	{Name: "WebSearch", MainField: "query", Schema: testSchema("query")},
	{Name: "Agent", Aliases: []string{"Task"}, MainField: "subagent_type", Schema: testSchema("subagent_type", "model", "prompt")},
	{Name: "Skill", MainField: "skill", Schema: testSchema("skill", "args")},
}

func testSpec(name string) tool.Spec {
	for _, t := range testTools {
		if t.Name == name {
			return t
		}
	}
	return tool.Spec{Name: name}
}

// call builds the request that the real tools would make of an input.
func call(name string, input map[string]any) Request {
	raw, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	text := func(k string) string { s, _ := input[k].(string); return s }
	r := Request{Spec: testSpec(name), Input: raw, Cwd: testCwd}
	need := func(n tool.Need) { r.Needs = append(r.Needs, n) }
	switch name {
	case "Bash", "Monitor":
		need(tool.Need{Kind: tool.NeedExec, Command: text("command")})
	case "Read":
		need(tool.Need{Kind: tool.NeedRead, Path: text("file_path")})
	case "Grep":
		need(tool.Need{Kind: tool.NeedRead, Path: text("path")})
	case "Glob":
		dir := text("pattern")
		if i := strings.IndexAny(dir, "*?["); i >= 0 {
			dir = path.Dir(dir[:i] + "x")
		}
		if !strings.HasPrefix(dir, "/") {
			dir = text("path") + "/" + dir
			dir = strings.TrimPrefix(dir, "/")
			if strings.HasPrefix(text("path"), "/") {
				dir = "/" + strings.TrimPrefix(dir, "/")
			}
		}
		need(tool.Need{Kind: tool.NeedRead, Path: dir})
	case "Edit", "Write":
		need(tool.Need{Kind: tool.NeedEdit, Path: text("file_path")})
	case "NotebookEdit":
		need(tool.Need{Kind: tool.NeedEdit, Path: text("notebook_path")})
	case "WebFetch":
		need(tool.Need{Kind: tool.NeedFetch, URL: text("url")})
	case "Agent":
	default:
		need(tool.Need{Kind: tool.NeedUse, Detail: text("skill")})
	}
	return r
}

func testConfig(mode Mode, allow, ask, deny []string) Config {
	return Config{
		Mode: mode, Families: testFamilies, Tools: testTools, Project: testCwd, Home: testHome,
		Layers: []Layer{{Origin: Origin{Scope: ScopeUser, File: "~/.claude/settings.json", Dir: testHome + "/.claude"}, Allow: allow, Ask: ask, Deny: deny}},
	}
}

func decide(t testing.TB, cfg Config, r Request) Decision {
	t.Helper()
	if r.Paths == nil {
		r.Paths = tree{}
	}
	d := New(cfg).Decide(r)
	if d.Behavior == "" || len(d.Trace) == 0 {
		t.Fatalf("no answer: %+v", d)
	}
	return d
}
