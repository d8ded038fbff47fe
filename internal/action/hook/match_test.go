package hook

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

func TestMatchers(t *testing.T) {
	for _, c := range []struct {
		event, pattern, value string
		want                  bool
	}{
		{"PreToolUse", "", "Edit", true},
		{"PreToolUse", "*", "Edit", true},
		{"PreToolUse", "Edit", "Edit", true},
		{"PreToolUse", "Edit", "MultiEdit", false}, // exact, not a substring
		{"PreToolUse", "edit", "Edit", false},
		{"PreToolUse", "Edit|Write", "Write", true},
		{"PreToolUse", "Edit, Write", "Write", true},
		{"PreToolUse", "Edit | Write", "Read", false},
		{"PreToolUse", "Edit.*", "MultiEditor", true}, // a regular expression is not anchored
		{"PreToolUse", "^Edit$", "MultiEdit", false},
		{"PreToolUse", "mcp__db", "mcp__db__query", false},
		{"PreToolUse", "mcp__db__.*", "mcp__db__query", true},
		{"PreToolUse", "^(?!Read$).*", "Read", false}, // lookahead: not in RE2
		{"PreToolUse", "^(?!Read$).*", "Edit", true},
		{"PreToolUse", `(.)\1`, "aa", true}, // backreference: not in RE2
		{"PreToolUse", `(.)\1`, "ab", false},
		{"PreToolUse", `^\d$`, "٣", false}, // ECMAScript digits are ASCII
		{"SubagentStop", "code-reviewer", "code-reviewer", true},
		{"StopFailure", "rate_limit|overloaded", "overloaded", true},
		{"StopFailure", "a-b", "xa-by", true}, // narrower exact set: a dash makes it an expression
		{"FileChanged", "go_mod|package", "/p/sub/go_mod", true},
		{"FileChanged", "package", "/package/other", false},
		{"Stop", "nothing", "", true}, // no matcher support: ignored
		{"SessionStart", "startup|resume", "resume", true},
	} {
		r := rowIndex()[c.event]
		m, why := newMatcher(r, c.pattern)
		if why != "" {
			t.Errorf("%s %q: %s", c.event, c.pattern, why)
			continue
		}
		payload, _ := json.Marshal(map[string]string{r.Matcher: c.value})
		in, err := Decode(c.event, payload)
		if err != nil {
			t.Fatal(err)
		}
		d := New(Config{})
		o := d.payload(in)
		if got, late := m.matches(r.matched(in, o.fields)); got != c.want || late {
			t.Errorf("%s: matcher %q on %q: %v, want %v", c.event, c.pattern, c.value, got, c.want)
		}
	}
	if _, why := newMatcher(rowIndex()["PreToolUse"], strings.Repeat("(", maxPattern+1)); why == "" {
		t.Error("a pattern without bound was taken")
	}
}

// A matcher that backtracks without end costs its limit, and then the hook runs:
// what guards something is not dodged by a slow input.
func TestSlowMatcherCountsAsMet(t *testing.T) {
	m, why := newMatcher(rowIndex()["PreToolUse"], `^(a+)+$`)
	if why != "" {
		t.Fatal(why)
	}
	began := time.Now()
	if ok, late := m.matches([]string{strings.Repeat("a", 60) + "!"}); !ok || !late {
		t.Fatal(ok, late)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Fatalf("took %v", took)
	}
}

type plainPaths struct{}

func (plainPaths) Resolve(p string) (string, bool) { return p, true }
func (plainPaths) Glob(string) []string            { return nil }

func fakeTool(name, family string, needs ...tool.Need) tool.Tool {
	spec := tool.Spec{
		Name: name, Aliases: []string{"Old" + name}, RuleFamily: family, MainField: "file_path",
		Schema: json.RawMessage(`{"type":"object","properties":{"file_path":{"type":"string"}}}`),
	}
	return tool.Define(spec, func(struct {
		Path string `json:"file_path"`
	}, tool.Env,
	) (tool.Call, error) {
		return &tool.Func{Line: name, Wants: needs}, nil
	})
}

func plan(t *testing.T, tl tool.Tool, input string) tool.Planned {
	t.Helper()
	env := tool.Env{Cwd: "/p", Project: "/p"}
	call, err := tl.Plan(json.RawMessage(input), env)
	if err != nil {
		t.Fatal(err)
	}
	return tool.Planned{Tool: tl, Use: msg.NewToolUse("t1", tl.Spec().Name, json.RawMessage(input)), Call: call, Env: env}
}

func TestIf(t *testing.T) {
	exec := func(cmd string) tool.Need { return tool.Need{Kind: tool.NeedExec, Command: cmd} }
	edit := func(path string) tool.Need { return tool.Need{Kind: tool.NeedEdit, Path: path} }
	c := testConfig()
	c.If = Conditions{Families: policy.Families{Read: "Read", Edit: "Edit", Exec: "Bash", Fetch: "WebFetch"}, Home: "/h", Paths: plainPaths{}}
	for _, tc := range []struct {
		rule, tool, family string
		need               tool.Need
		want               bool
	}{
		{"Bash", "Bash", "", exec("ls"), true},
		{"Bash(git *)", "Bash", "", exec("git push"), true},
		{"Bash(git *)", "Bash", "", exec("ls"), false},
		{"Bash(git push *)", "Bash", "", exec("ls && git push origin"), true}, // every part
		{"Bash(git push *)", "Bash", "", exec("FOO=1 git push origin"), true}, // assignments stripped
		{"Bash(git push *)", "Bash", "", exec("echo $(date)"), true},          // longer than a name, and unknown text
		{"Bash(git *)", "Bash", "", exec("echo $(date)"), false},
		{"Bash(git *)", "Bash", "", exec("echo $(git push)"), true},
		{"Bash(git push *)", "Bash", "", exec("if ["), true}, // cannot be read: run
		{"Edit(src/**)", "Write", "Edit", edit("/p/src/a/b.go"), true},
		{"Edit(src/**)", "Write", "Edit", edit("/p/lib/src/b.go"), false}, // anchored
		{"Edit(*.ts)", "Edit", "", edit("/p/lib/b.ts"), true},
		{"Edit(*.ts)", "Edit", "", edit("/p/lib/b.go"), false},
		{"Read(src/**)", "Edit", "", edit("/p/src/b.go"), false}, // about another tool
		{"Edit(src/**)", "Bash", "", exec("echo > src/x"), false},
		{"OldEdit", "Edit", "", edit("/p/x"), true},
		{"mcp__db", "mcp__db__query", "", tool.Need{Kind: tool.NeedUse}, true},
		{"mcp__db__*", "mcp__db__query", "", tool.Need{Kind: tool.NeedUse}, true},
		{"mcp__db", "mcp__dbx__query", "", tool.Need{Kind: tool.NeedUse}, false},
	} {
		d := load(t, c, User, `{"PreToolUse":[{"hooks":[{"type":"command","command":"x","if":`+string(quoted(tc.rule))+`}]}]}`)
		tl := fakeTool(tc.tool, tc.family, tc.need)
		p := plan(t, tl, `{"file_path":"x"}`)
		got := len(d.Matching(PreToolUse{ToolCall: toolCall(p), UseID: "t1"})) == 1
		if got != tc.want {
			t.Errorf("if %s on %s %+v: %v, want %v (%v)", tc.rule, tc.tool, tc.need, got, tc.want, d.Lint())
		}
	}
	d := load(t, c, User, `{"PreToolUse":[{"hooks":[{"type":"command","command":"x","if":"Bash(git *)"}]}]}`)
	if len(d.Matching(PreToolUse{ToolCall: ToolCall{Name: "Bash", Input: json.RawMessage(`{}`)}})) != 1 {
		t.Error("a call that is not planned must run the hook")
	}
}
