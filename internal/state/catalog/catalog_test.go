package catalog

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// tree writes a txtar archive into a new folder.
func tree(t *testing.T, archive string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func config(dir string) Config {
	return Config{
		Home: filepath.Join(dir, "home"), Shared: filepath.Join(dir, "agents-home"), Managed: filepath.Join(dir, "managed"),
		Cwd: filepath.Join(dir, "repo", "sub"), Root: filepath.Join(dir, "repo"), User: true, Project: true, Trusted: true,
	}
}

const several = `
-- managed/.claude/skills/policy/SKILL.md --
---
description: of the administrator
---
-- home/skills/both/SKILL.md --
---
description: of the user
---
user body
-- home/commands/both.md --
a command loses to a skill
-- home/commands/git/tidy.md --
Tidy it up.

More.
-- agents-home/skills/shared/SKILL.md --
---
name: Shared one
description: of the standard's folder
---
-- repo/.claude/skills/both/SKILL.md --
---
description: of the project
---
-- repo/.claude/skills/near/SKILL.md --
---
description: far
---
-- repo/sub/.claude/skills/near/SKILL.md --
---
description: near
allowed-tools: Bash(ls *), Read
---
-- repo/sub/.claude/skills/sloppy/SKILL.md --
---
description: Use when: asked
---
-- repo/.agents/skills/std/SKILL.md --
---
description: project standard
disable-model-invocation: yes
user-invocable: off
---
-- repo/sub/deep/.claude/skills/near/SKILL.md --
---
description: nested
---
-- repo/sub/deep/file.go --
-- repo/sub/.claude/skills/empty/notes.txt --
-- repo/sub/.claude/commands/bad name.md --
x
`

func TestSkills(t *testing.T) {
	dir := tree(t, several)
	k := Load(config(dir))
	got := map[string]string{}
	for _, s := range k.Skills {
		got[s.Name] = string(s.Origin.Scope) + ": " + s.Description
	}
	want := map[string]string{
		"policy": "managed: of the administrator",
		"both":   "user: of the user",
		"tidy":   "user: Tidy it up.",
		"shared": "user: of the standard's folder",
		"near":   "project: near",
		"sloppy": "project: Use when: asked",
		"std":    "project: project standard",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if s := k.Find("std"); s.ForModel || s.ForUser {
		t.Errorf("std is offered to the model: %v, to the user: %v", s.ForModel, s.ForUser)
	}
	if s := k.Find("shared"); s.Label != "Shared one" {
		t.Errorf("label %q", s.Label)
	}
	var problems []string
	for _, p := range k.Problems {
		problems = append(problems, p.Text)
	}
	if all := strings.Join(problems, "\n"); !strings.Contains(all, "line by line") || !strings.Contains(all, `"bad name"`) {
		t.Errorf("problems: %s", all)
	}
	added := k.Nested(filepath.Join(dir, "repo", "sub", "deep", "file.go"))
	if len(added) != 1 || added[0].Name != "deep:near" || k.Find("deep:near") == nil {
		t.Errorf("nested: %+v", added)
	}
	if again := k.Nested(filepath.Join(dir, "repo", "sub", "deep", "file.go")); len(again) != 0 {
		t.Errorf("nested twice: %+v", again)
	}
}

func TestUntrustedSkillsGrantNothing(t *testing.T) {
	c := config(tree(t, several))
	c.Trusted = false
	s := Load(c).Find("near")
	if !s.Held || s.Grants(Values{}) != nil {
		t.Errorf("held %v, grants %v", s.Held, s.Grants(Values{}))
	}
	c.Project = false
	if s := Load(c).Find("near"); s != nil {
		t.Errorf("a source that is off was read: %+v", s)
	}
}

const crew = `
-- repo/.claude/agents/reviewer.md --
---
name: reviewer
description: Reviews
tools: Read, Grep, mcp__srv
disallowedTools: [Write]
model: inherit
permissionMode: manual
maxTurns: 7
skills: [a, b]
background: yes
isolation: worktree
memory: project
mcpServers:
  srv: {command: x}
hooks:
  Stop: [{hooks: [{type: command, command: "true"}]}]
---
You review.
-- repo/.claude/agents/readme.md --
Just a document.
-- repo/.claude/agents/empty-tools.md --
---
name: none
description: has no tools
tools:
---
-- repo/.claude/agents/bad.md --
---
name: "a b"
description: d
---
-- repo/.claude/agents/undescribed.md --
---
name: silent
---
-- home/agents/reviewer.md --
---
name: reviewer
description: the user's
---
-- plug/agents/team/writer.md --
---
name: writer
description: Writes
permissionMode: bypassPermissions
hooks: {Stop: []}
---
Write.
-- plug/skills/hello/SKILL.md --
---
name: hi
description: Says hi
---
In ${CLAUDE_PLUGIN_ROOT}.
-- plug/commands/go.md --
go
-- plug/hooks/hooks.json --
{"hooks":{}}
-- plug/.mcp.json --
{"mcpServers":{"a":{"command":"x"}}}
-- plug/output-styles/loud.md --
---
description: LOUD
force-for-plugin: true
---
SHOUT
-- plug/.claude-plugin/plugin.json --
{"name":"plug","version":"1.2.3","mcpServers":{"b":{"command":"y"}}}
`

func TestAgents(t *testing.T) {
	dir := tree(t, crew)
	p, err := ReadPlugin(filepath.Join(dir, "plug"), "")
	if err != nil {
		t.Fatal(err)
	}
	c := config(dir)
	c.Plugins = []*Plugin{p}
	c.Agents = `{"json":{"description":"d","prompt":"P","tools":[],"effort":"high"},"bad":{"prompt":7}}`
	c.BuiltIn = []*Agent{BuiltIn(Agent{Name: "reviewer", Description: "weak"}, "x"), BuiltIn(Agent{Name: "base", Description: "d"}, "built in")}
	k := Load(c)
	var names []string
	for _, a := range k.Agents {
		names = append(names, a.Name)
	}
	if d := cmp.Diff([]string{"base", "json", "none", "plug:team:writer", "reviewer"}, names); d != "" {
		t.Fatal(d)
	}
	r := k.Agent("reviewer")
	if r.Mode != "default" || r.Model != "" || r.MaxTurns != 7 || !r.Background || r.Isolation != "worktree" || r.Memory != "project" {
		t.Errorf("reviewer: %+v", r)
	}
	if d := cmp.Diff([]string{"Read", "Grep", "mcp__srv"}, r.Tools); d != "" {
		t.Error(d)
	}
	if string(r.Servers) != `{"srv":{"command":"x"}}` || r.Hooks == nil {
		t.Errorf("servers %s, hooks %s", r.Servers, r.Hooks)
	}
	if text, err := r.Prompt(); err != nil || text != "You review." {
		t.Errorf("prompt %q, %v", text, err)
	}
	if n := k.Agent("none"); n.Tools == nil || len(n.Tools) != 0 {
		t.Errorf("an empty list of tools is not the absence of one: %#v", n.Tools)
	}
	if w := k.Agent("plug:team:writer"); w.Mode != "" || w.Hooks != nil || w.Origin.Plugin != "plug" {
		t.Errorf("a plugin's agent widened its rights: %+v", w)
	}
	if j := k.Agent("json"); j.Effort != "high" || j.Tools == nil {
		t.Errorf("json: %+v", j)
	}
	if len(k.Problems) != 3 {
		t.Errorf("problems: %v", k.Problems)
	}
}

func TestPlugin(t *testing.T) {
	dir := tree(t, crew)
	p, err := ReadPlugin(filepath.Join(dir, "plug"), "")
	if err != nil {
		t.Fatal(err)
	}
	if p.Version != "1.2.3" || len(p.Servers) != 2 || len(p.Hooks) != 1 || !p.DefaultEnabled {
		t.Errorf("%+v", p)
	}
	k := Load(Config{Plugins: []*Plugin{p}})
	if s := k.Find("plug:hi"); s == nil || s.Root != p.Root {
		t.Errorf("skills: %+v", k.Skills)
	}
	if k.Find("plug:go") == nil {
		t.Error("the plugin's command is missing")
	}
	if s := k.Style("PLUG:loud"); s == nil || !s.Forced || s.KeepCoding {
		t.Errorf("styles: %+v", k.Styles)
	}
}

func TestBrokenPlugins(t *testing.T) {
	for name, c := range map[string]struct{ archive, want string }{
		"nothing":   {"-- p/readme.txt --\n", "no plugin"},
		"no name":   {"-- p/.claude-plugin/plugin.json --\n{}", `no "name"`},
		"not JSON":  {"-- p/.claude-plugin/plugin.json --\n{,}", "plugin.json"},
		"wrong":     {"-- p/.claude-plugin/plugin.json --\n{\"name\":7}", "name"},
		"outside":   {"-- p/.claude-plugin/plugin.json --\n{\"name\":\"p\",\"agents\":\"./../x\"}", "leads out"},
		"absolute":  {"-- p/.claude-plugin/plugin.json --\n{\"name\":\"p\",\"skills\":[\"/etc\"]}", "begin with ./"},
		"missing":   {"-- p/.claude-plugin/plugin.json --\n{\"name\":\"p\",\"commands\":\"./none\"}", "not there"},
		"bad hooks": {"-- p/hooks/hooks.json --\n[]", "must be an object"},
		"hooks key": {"-- p/.claude-plugin/plugin.json --\n{\"name\":\"p\",\"hooks\":7}", `"hooks"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ReadPlugin(filepath.Join(tree(t, c.archive), "p"), "p")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
		})
	}
}

func TestPluginLinkOut(t *testing.T) {
	dir := tree(t, "-- p/.claude-plugin/plugin.json --\n{\"name\":\"p\",\"agents\":\"./a\"}\n-- out/x.md --\nx")
	if err := os.Symlink(filepath.Join(dir, "out"), filepath.Join(dir, "p", "a")); err != nil {
		t.Skip("left out: links out of a plugin (needs symbolic links: " + err.Error() + ")")
	}
	if _, err := ReadPlugin(filepath.Join(dir, "p"), "p"); err == nil || !strings.Contains(err.Error(), "through a link") {
		t.Errorf("error %v", err)
	}
}

func TestExpand(t *testing.T) {
	s := &Skill{Name: "s", Dir: "/skills/s", Arguments: []string{"file", "mode"}}
	v := Values{Arguments: ` a "b c" d`, Session: "ID", Project: "/p", Effort: "low"}
	for body, want := range map[string]string{
		"x":                         "x\n\nARGUMENTS: a \"b c\" d",
		"<$ARGUMENTS>":              "<a \"b c\" d>",
		"$0|$1|$2|$9":               "a|b c|d|$9",
		"$ARGUMENTS[1] $file $mode": "b c a b c",
		`cost \$5 $unknown $0`:      "cost $5 $unknown a",
		"${CLAUDE_SESSION_ID} ${CLAUDE_SKILL_DIR} ${OTHER} $0": "ID /skills/s ${OTHER} a",
	} {
		pieces := s.Expand(body, v)
		var b strings.Builder
		for _, p := range pieces {
			b.WriteString(p.Text + p.Command)
		}
		if b.String() != want {
			t.Errorf("%q: %q, want %q", body, b.String(), want)
		}
	}
}

func TestExpandCommands(t *testing.T) {
	s := &Skill{Name: "s"}
	body := "Now: !`git status $0` and x!`no`\n```!\nls\npwd\n```\nend `!` $1"
	got := s.Expand(body, Values{Arguments: "-s"})
	want := []Piece{
		{Text: "Now: "},
		{Command: "git status -s"},
		{Text: " and x!`no`\n"},
		{Command: "ls\npwd"},
		{Text: "\nend `!` $1"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestGrantsIgnoreArguments(t *testing.T) {
	s := &Skill{Dir: "/d", Allowed: []string{"Bash(${CLAUDE_SKILL_DIR}/run $0)"}}
	if d := cmp.Diff([]string{"Bash(/d/run $0)"}, s.Grants(Values{Arguments: "*"})); d != "" {
		t.Error(d)
	}
}

func TestListing(t *testing.T) {
	k := Load(Config{Bundled: fstest.MapFS{
		"often/SKILL.md":  {Data: []byte("---\ndescription: used often\n---\n")},
		"rare/SKILL.md":   {Data: []byte("---\ndescription: hardly used\n---\n")},
		"hidden/SKILL.md": {Data: []byte("---\ndescription: d\ndisable-model-invocation: true\n---\n")},
		"paths/SKILL.md":  {Data: []byte("---\ndescription: d\npaths: '*.go'\n---\n")},
	}})
	used := func(name string) int { return map[string]int{"often": 5}[name] }
	on := func(string) Shown { return ShownOn }
	if got := k.Listing(1000, used, on); got != "- often: used often\n- rare: hardly used\n" {
		t.Errorf("%q", got)
	}
	if got := k.Listing(35, used, on); got != "- often: used often\n- rare\n" {
		t.Errorf("%q", got)
	}
	if body, err := k.Find("often").Body(); err != nil || body != "" {
		t.Errorf("%q %v", body, err)
	}
}

func FuzzExpand(f *testing.F) {
	f.Add("a $0 ${CLAUDE_SESSION_ID} !`ls`\n```!\nx\n```", "a 'b")
	f.Fuzz(func(t *testing.T, body, args string) {
		s := &Skill{Name: "s", Arguments: []string{"x"}}
		for _, p := range s.Expand(body, Values{Arguments: args}) {
			if p.Text != "" && p.Command != "" {
				t.Fatalf("a piece is both: %+v", p)
			}
		}
	})
}

// BenchmarkLoad loads 500 skills and agents; the goal is 20 ms.
func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	for i := range 250 {
		for _, path := range []string{fmt.Sprintf("skills/s%d/SKILL.md", i), fmt.Sprintf("agents/a%d.md", i)} {
			path = filepath.Join(dir, path)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				b.Fatal(err)
			}
			text := fmt.Sprintf("---\nname: a%d\ndescription: Does thing number %d when it is asked to\ntools: Read, Grep\n---\n%s", i, i, strings.Repeat("body\n", 200))
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	for b.Loop() {
		if k := Load(Config{Home: dir, User: true}); len(k.Skills)+len(k.Agents) != 500 {
			b.Fatalf("%d skills, %d agents", len(k.Skills), len(k.Agents))
		}
	}
}
