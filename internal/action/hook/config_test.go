package hook

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/state/settings"
	"github.com/hew-agent/hew/internal/tool"
)

func load(t *testing.T, c Config, scope Scope, hooks string) *Dispatcher {
	t.Helper()
	d := New(c)
	t.Cleanup(func() { _ = d.Close() })
	d.Load([]Source{{Scope: scope, File: "/h/settings.json", Hooks: json.RawMessage(hooks)}}, Limits{})
	return d
}

func noted(d *Dispatcher, text string) bool {
	return slices.ContainsFunc(d.Lint(), func(n Note) bool { return strings.Contains(n.String(), text) })
}

func TestNestedAndFlatFormLoad(t *testing.T) {
	d := load(t, Config{}, User, `{"PostToolUse":[
		{"matcher":"Edit|Write","hooks":[{"type":"command","command":"fmt","timeout":5,"statusMessage":"Formatting"},{"type":"http","url":"http://127.0.0.1/x"}]},
		{"matcher":"Edit","command":"lint $CLAUDE_FILE_PATH"}]}`)
	got := d.List()
	if len(got) != 3 || got[0].Timeout != 5*time.Second || got[0].Status != "Formatting" || got[1].Kind != HTTP || got[1].Timeout != 10*time.Minute {
		t.Fatalf("%+v", got)
	}
	if flat := got[2]; flat.Kind != Command || flat.Matcher != "Edit" || flat.Command != "lint $CLAUDE_FILE_PATH" || !noted(d, "flat form") {
		t.Fatalf("%+v %v", flat, d.Lint())
	}
}

// Every fault costs the entry that has it and nothing else, and is told.
func TestFaultsInConfiguration(t *testing.T) {
	good := `{"hooks":[{"type":"command","command":"good"}]}`
	for name, c := range map[string]struct{ hooks, note string }{
		"unknown event":     {`{"PreTooluse":[{"hooks":[{"type":"command","command":"x"}]}],"PreToolUse":[` + good + `]}`, "did you mean PreToolUse?"},
		"future event":      {`{"SomethingNew":[{}],"PreToolUse":[` + good + `]}`, "SomethingNew: no such event"},
		"event no list":     {`{"Stop":{"a":1},"PreToolUse":[` + good + `]}`, "must be a list"},
		"group no object":   {`{"PreToolUse":[5,` + good + `]}`, "must be an object"},
		"group empty":       {`{"PreToolUse":[{},` + good + `]}`, "does nothing"},
		"matcher no string": {`{"PreToolUse":[{"matcher":5,"hooks":[]},` + good + `]}`, "matcher must be a string"},
		"bad expression":    {`{"PreToolUse":[{"matcher":"(","hooks":[{"type":"command","command":"x"}]},` + good + `]}`, "no valid regular expression"},
		"hooks no list":     {`{"PreToolUse":[{"hooks":{}},` + good + `]}`, "hooks must be a list"},
		"hook no object":    {`{"PreToolUse":[{"hooks":["x"]},` + good + `]}`, "a hook must be an object"},
		"no type":           {`{"PreToolUse":[{"hooks":[{"command":"x"}]},` + good + `]}`, "is not one of command"},
		"no command":        {`{"PreToolUse":[{"hooks":[{"type":"command"}]},` + good + `]}`, "needs command"},
		"wrong field type":  {`{"PreToolUse":[{"hooks":[{"type":"command","command":["x"]}]},` + good + `]}`, "command must not be of type array"},
		"bad timeout":       {`{"PreToolUse":[{"hooks":[{"type":"command","command":"x","timeout":-1}]},` + good + `]}`, "more than 0"},
		"bad onFailure":     {`{"PreToolUse":[{"hooks":[{"type":"command","command":"x","onFailure":"explode"}]},` + good + `]}`, "neither continue nor block"},
		"bad shell":         {`{"PreToolUse":[{"hooks":[{"type":"command","command":"x","shell":"fish"}]},` + good + `]}`, "neither bash nor powershell"},
		"callback in file":  {`{"PreToolUse":[{"hooks":[{"type":"callback","callbackId":"x"}]},` + good + `]}`, "only between hew and an SDK host"},
		"type unfit":        {`{"SessionStart":[{"hooks":[{"type":"prompt","prompt":"x"}]}],"PreToolUse":[` + good + `]}`, "cannot be used for this event"},
		"unknown group key": {`{"PreToolUse":[{"when":1,"hooks":[{"type":"command","command":"good"}]}]}`, `unknown key "when"`},
		"unknown key":       {`{"PreToolUse":[{"hooks":[{"type":"command","command":"good","retries":3}]}]}`, `unknown key "retries"`},
		"foreign key":       {`{"PreToolUse":[{"hooks":[{"type":"command","command":"good","url":"x"}]}]}`, `unknown key "url"`},
		"once in settings":  {`{"PreToolUse":[{"hooks":[{"type":"command","command":"good","once":true}]}]}`, "once counts only"},
		"server matcher":    {`{"PreToolUse":[{"matcher":"mcp__db","hooks":[{"type":"command","command":"good"}]}]}`, "mcp__db__.*"},
		"no such tool":      {`{"PreToolUse":[{"matcher":"Eddit","hooks":[{"type":"command","command":"good"}]}]}`, "no tool is called Eddit"},
		"useless matcher":   {`{"PreToolUse":[` + good + `],"Stop":[{"matcher":"x","hooks":[]},{"matcher":"x","hooks":[{"type":"command","command":"y"}]}]}`, "has no matcher"},
		"if elsewhere":      {`{"PreToolUse":[` + good + `],"Stop":[{"hooks":[{"type":"command","command":"y","if":"Edit"}]}]}`, "the hook never runs"},
		"stop and failure":  {`{"PreToolUse":[` + good + `],"Stop":[{"hooks":[{"type":"command","command":"y","onFailure":"block"}]}]}`, "onFailure is ignored"},
	} {
		t.Run(name, func(t *testing.T) {
			d := load(t, Config{If: Conditions{Tools: []tool.Spec{{Name: "Edit"}}}}, User, c.hooks)
			if !noted(d, c.note) {
				t.Errorf("no note %q: %v", c.note, d.Lint())
			}
			if !slices.ContainsFunc(d.List(), func(h Hook) bool { return h.Command == "good" && h.Off == "" }) {
				t.Errorf("the good hook is gone: %+v", d.List())
			}
		})
	}
	if d := load(t, Config{}, User, `[1]`); !noted(d, "must be an object") {
		t.Error(d.Lint())
	}
}

func TestManyHooksAreBounded(t *testing.T) {
	one := `{"type":"command","command":"x"}`
	d := load(t, Config{}, User, `{"Stop":[{"hooks":[`+strings.Repeat(one+",", 3*maxHooks)+one+`]}]}`)
	if len(d.List()) != maxHooks || len(d.Lint()) != 1 {
		t.Fatal(len(d.List()), d.Lint())
	}
}

func TestScopesAndSwitches(t *testing.T) {
	hook := func(cmd string) json.RawMessage {
		return json.RawMessage(`{"Stop":[{"hooks":[{"type":"command","command":"` + cmd + `"}]}]}`)
	}
	sources := []Source{
		{Scope: Plugin, Hooks: hook("plugin")},
		{Scope: User, Hooks: hook("user")},
		{Scope: Project, Hooks: hook("project"), Held: true},
		{Scope: Managed, Hooks: hook("managed")},
	}
	for name, c := range map[string]struct {
		limits Limits
		runs   []string
	}{
		"none":         {Limits{}, []string{"managed", "user", "plugin"}},
		"disabled":     {Limits{Disabled: DisabledUnmanaged}, []string{"managed"}},
		"disabled all": {Limits{Disabled: DisabledAll}, nil},
		"managed only": {Limits{ManagedOnly: true}, []string{"managed"}},
		"plugin only":  {Limits{PluginOnly: true}, []string{"managed", "plugin"}},
	} {
		d := New(Config{})
		d.Load(sources, c.limits)
		var runs []string
		for _, h := range d.Matching(Stop{}) {
			runs = append(runs, h.Command)
		}
		if !slices.Equal(runs, c.runs) || len(d.List()) != len(sources) {
			t.Errorf("%s: %v, want %v (of %d)", name, runs, c.runs, len(d.List()))
		}
		for _, h := range d.List() {
			if h.Command == "project" && h.Off == "" {
				t.Errorf("%s: a hook of an untrusted folder is not marked", name)
			}
		}
	}
}

// Skills and agents bring hooks at run time; an agent's Stop is its own end.
func TestRegister(t *testing.T) {
	d := New(Config{})
	hook := json.RawMessage(`{"Stop":[{"hooks":[{"type":"command","command":"check","once":true}]}]}`)
	if len(d.List()) != 0 {
		t.Fatal("hooks out of nothing")
	}
	removeSkill := d.Register(Source{Scope: Skill, File: "/s/SKILL.md", Hooks: hook})
	removeAgent := d.Register(Source{Scope: AgentFile, Agent: "a1", Hooks: hook})
	if l := d.List(); len(l) != 2 || l[0].Event != "Stop" || !l[0].Once || l[1].Event != "SubagentStop" || l[1].Once {
		t.Fatalf("%+v", l)
	}
	if len(d.Matching(SubagentStop{Agent: Agent{ID: "a1"}})) != 1 || len(d.Matching(SubagentStop{Agent: Agent{ID: "a2"}})) != 0 {
		t.Fatal("an agent's hook is heard by another agent, or not by its own")
	}
	d.Fire(t.Context(), Stop{})
	d.Load(nil, Limits{}) // a settings edit must neither drop it nor make it run again
	if len(d.Matching(Stop{})) != 0 || len(d.List()) != 2 {
		t.Fatal("a once hook ran and is there again")
	}
	removeSkill()
	removeAgent()
	if len(d.List()) != 0 {
		t.Fatalf("%+v", d.List())
	}
}

func TestFromSettings(t *testing.T) {
	home, cwd := t.TempDir(), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h := settings.Home{Dir: filepath.Join(home, ".claude")}
	write(h.Settings(), `{"allowedHttpHookUrls":["http://127.0.0.1:*/*"],"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]}]}}`)
	write(filepath.Join(cwd, ".claude", "settings.json"), `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"theirs"}]}]}}`)
	for _, trust := range []settings.Trust{settings.Untrusted, settings.Trusted} {
		s, _ := settings.Load(settings.Config{Home: h, Cwd: cwd, Trust: trust})
		sources, limits := FromSettings(s)
		d := New(Config{})
		d.Load(sources, limits)
		want := 1
		if trust == settings.Trusted {
			want = 2
		}
		if got := d.Matching(Stop{}); len(got) != want || len(d.List()) != 2 {
			t.Errorf("trust %v: %+v of %+v", trust, got, d.List())
		}
		for _, x := range d.List() {
			if x.Source.File == "" || x.Command == "theirs" && x.Source.Scope != Project {
				t.Errorf("no provenance: %+v", x.Source)
			}
		}
		if !limits.LimitURLs || limits.LimitEnv || len(limits.URLs) != 1 {
			t.Errorf("%+v", limits)
		}
	}
}

func TestHostHooks(t *testing.T) {
	raw, err := HostHooks(json.RawMessage(`{"PreToolUse":[{"matcher":"Edit","hookCallbackIds":["hook_0","hook_1"],"timeout":2,"onFailure":"block"},{"matcher":null,"hookCallbackIds":["hook_2"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	d := load(t, Config{}, Host, string(raw))
	l := d.List()
	if len(l) != 3 || l[0].Callback != "hook_0" || l[0].Matcher != "Edit" || l[0].Timeout != 2*time.Second || !l[1].BlockOnFailure || l[2].Matcher != "" {
		t.Fatalf("%+v %v", l, d.Lint())
	}
	if _, err := HostHooks(json.RawMessage(`{"Stop":{}}`)); err == nil {
		t.Fatal("nonsense was taken")
	}
}

func TestWatchList(t *testing.T) {
	d := load(t, Config{}, User, `{"FileChanged":[{"matcher":"go.mod| .env |go.mod","hooks":[{"type":"command","command":"x"}]}]}`)
	if got := d.WatchList(); !slices.Equal(got, []string{"go.mod", ".env"}) {
		t.Fatal(got)
	}
}

func FuzzConfig(f *testing.F) {
	f.Add(`{"PreToolUse":[{"matcher":"Edit|Write","hooks":[{"type":"command","command":"x","args":["${A}"],"if":"Bash(git *)"}]}]}`)
	f.Add(`{"Stop":[{"command":"x"}],"FileChanged":[{"matcher":"a|b","hooks":[{"type":"http","url":"http://x","headers":{"A":"$B"}}]}]}`)
	f.Add(`{"SessionStart":[{"matcher":"(?=a)","hooks":[{"type":"mcp_tool","server":"s","tool":"t","input":{"a":"${x.y}"}}]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		d := New(testConfig())
		d.Load([]Source{{Scope: User, Hooks: json.RawMessage(text)}}, Limits{})
		for _, h := range d.List() {
			if rowIndex()[h.Event] == nil || h.Timeout <= 0 || h.Timeout > maxTimeout || h.Title() == "" {
				t.Fatalf("%+v", h)
			}
		}
		for _, n := range d.Lint() {
			if n.Text == "" || strings.ContainsAny(n.String(), "\x1b\n") {
				t.Fatalf("%q", n)
			}
		}
		d.Matching(PreToolUse{ToolCall: ToolCall{Name: "Edit", Input: json.RawMessage(`{}`)}})
	})
}
