package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/action/policy/shellread"
	"github.com/hew-agent/hew/internal/tool"
)

func TestRuleWarnings(t *testing.T) {
	for text, want := range map[string]string{
		"Bash(": "malformed", "Bash()": "malformed", "()": "malformed", "": "malformed", "Bash (x)": "malformed", "Bash(x)y": "malformed", "A,B": "malformed",
		"Write(x)": "never consulted", "NotebookEdit(x)": "never consulted", "Glob(src/**)": "never consulted", "Bogus": "no tool has this name", "Bogus(x)": "no tool has this name",
		"Bash(command:npm *)": "ignored", "Read(file_path:x)": "ignored", "WebFetch(example.com)": "malformed", "WebFetch(domain:)": "malformed", "Edit(!x)": "malformed", "Edit(a/../b)": "malformed",
		"Bash(x)": "", "Bash": "", "Task(Explore)": "", "mcp__x__y": "", "mcp__*": "", "*": "", "B*": "", "Edit(../x)": "", "Read(C:\\x\\**)": "", "my_tool": "", "Agent(model:opus)": "",
	} {
		s := New(testConfig(Default, nil, nil, []string{text}))
		got := ""
		if w := s.Warnings(); len(w) > 0 {
			got = w[0].Text
		}
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("deny %q: warning %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"mcp__*", "*", "B*", "Agent(model:opus)", "mcp__*__x"} {
		s := New(testConfig(Default, []string{text}, nil, nil))
		if len(s.Warnings()) != 1 || len(s.Rules(tool.Allow)) != 0 {
			t.Errorf("allow %q is used: %v", text, s.Warnings())
		}
	}
	// One bad rule must not switch off the others.
	s := New(testConfig(Default, nil, nil, []string{"Bash(", "Bash(x)"}))
	if s.Decide(shell("x")).Behavior != tool.Deny {
		t.Error("a malformed rule switched off its neighbour")
	}
}

func TestPathRules(t *testing.T) {
	type want struct{ path, verdict string }
	for rule, cases := range map[string][]want{
		"allow Edit(docs/**)":      {{"docs/a", "allow"}, {"docs/x/a", "allow"}, {"sub/docs/a", "ask"}, {"docsx/a", "ask"}, {"docs/../a", "ask"}},
		"allow Edit(docs/*)":       {{"docs/a", "allow"}, {"docs/x/a", "ask"}},
		"allow Edit(*.md)":         {{"a.md", "allow"}, {"x/y/a.md", "allow"}, {"a.mdx", "ask"}},
		"allow Edit(./a.md)":       {{"a.md", "allow"}, {"x/a.md", "ask"}},
		"allow Edit(//tmp/w/**)":   {{"/tmp/w/a", "allow"}, {"/tmp/wx", "ask"}},
		"allow Edit(~/n/**)":       {{"~/n/a", "allow"}, {"/home/dev/n/a", "allow"}, {"n/a", "ask"}},
		"allow Edit(../s/**)":      {{"/home/dev/s/a", "allow"}, {"s/a", "ask"}},
		"allow Edit(src/[ab]?.go)": {{"src/ax.go", "allow"}, {"src/cx.go", "ask"}},
		"deny Edit(docs/**)":       {{"docs/a", "deny"}, {"sub/docs/a", "deny"}, {"docs", "deny"}, {"a", "ask"}},
		"deny Read(.env)":          {{".env", "deny"}, {"a/b/.env", "deny"}, {".env.example", "ask"}},
		"deny Read(./.env)":        {{".env", "deny"}, {"x/../.env", "deny"}},
		"deny Edit(build)":         {{"build", "deny"}, {"build/a/b", "deny"}, {"x/build/a", "deny"}},
		"deny Edit(a/b)":           {{"a/b", "deny"}, {"a/b/c", "deny"}, {"x/a/b", "ask"}},
		"deny Edit(**/gen/*.go)":   {{"gen/a.go", "deny"}, {"x/y/gen/a.go", "deny"}, {"gen/x/a.go", "ask"}},
		"deny Edit(/x/**)":         {{"/home/dev/.claude/x/a", "deny"}, {"x/a", "ask"}},
		"deny Edit(\\*.md)":        {{"*.md", "deny"}, {"a.md", "ask"}},
		"ask Edit(src/**)":         {{"src/a", "ask"}},
	} {
		list, text, _ := strings.Cut(rule, " ")
		cfg := testConfig(Default, nil, nil, nil)
		switch list {
		case "allow":
			cfg.Layers[0].Allow = []string{text}
		case "ask":
			cfg.Layers[0].Ask = []string{text}
		default:
			cfg.Layers[0].Deny = []string{text}
		}
		for _, c := range cases {
			if d := decide(t, cfg, call("Write", map[string]any{"file_path": c.path})); string(d.Behavior) != c.verdict {
				t.Errorf("%s on %s: %s, want %s", rule, c.path, d.Behavior, c.verdict)
			}
		}
	}
}

func TestLinksAreJudgedByBothNames(t *testing.T) {
	links := newTree("in -> src", "out -> /home/dev/other", "k -> /home/dev/.ssh/id", "loop -> loop", "src/.g -> ../.git", "hop -> out", "deep/l -> ../..", "src/l.go -> /etc/passwd")
	for _, c := range []struct {
		request Request
		allow   []string
		deny    []string
		want    tool.Behavior
	}{
		{call("Read", map[string]any{"file_path": "in/a"}), nil, nil, tool.Allow},
		{call("Read", map[string]any{"file_path": "out/a"}), nil, nil, tool.Ask},
		{call("Read", map[string]any{"file_path": "hop/a"}), nil, nil, tool.Ask},
		{call("Read", map[string]any{"file_path": "deep/l/x"}), nil, nil, tool.Ask},
		{call("Read", map[string]any{"file_path": "loop/a"}), []string{"Read(loop/**)"}, nil, tool.Ask},
		{call("Read", map[string]any{"file_path": "out/a"}), []string{"Read(out/**)"}, nil, tool.Ask},
		{call("Read", map[string]any{"file_path": "out/a"}), []string{"Read(out/**)", "Read(//home/dev/other/**)"}, nil, tool.Ask},
		{call("Read", map[string]any{"file_path": "in/a"}), nil, []string{"Read(src/**)"}, tool.Deny},
		{call("Read", map[string]any{"file_path": "in/a"}), nil, []string{"Read(in/**)"}, tool.Deny},
		{call("Read", map[string]any{"file_path": "k"}), nil, []string{"Read(~/.ssh/**)"}, tool.Deny},
		{call("Write", map[string]any{"file_path": "src/.g/config"}), []string{"Edit"}, nil, tool.Ask},
		{shell("cat out/a"), nil, nil, tool.Ask},
		{shell("cat k"), nil, []string{"Read(~/.ssh/**)"}, tool.Deny},
		{shell("cat src/*.go"), nil, nil, tool.Ask},
		{shell("cat src/*.go"), nil, []string{"Read(//etc/passwd)"}, tool.Deny},
		{shell("cd in && cat ../a"), nil, nil, tool.Allow},
		{shell("cd out && ls"), nil, nil, tool.Ask},
		{shell("cat in/../out/a"), nil, nil, tool.Ask},
		{shell("for f in src/*.go; do cat \"$f\"; done"), nil, nil, tool.Ask},
	} {
		c.request.Paths = links
		if d := decide(t, testConfig(Default, c.allow, nil, c.deny), c.request); d.Behavior != c.want {
			t.Errorf("%s allow %v deny %v: %s (%s), want %s", c.request.Input, c.allow, c.deny, d.Behavior, d.Reason, c.want)
		}
	}
}

func TestDeniedFilesStayHiddenFromShell(t *testing.T) {
	cfg := testConfig(Default, []string{"Bash(cat *)", "Bash(x *)", "Bash(tar *)"}, nil, []string{"Read(secrets/**)", "Read(.env)"})
	for _, c := range []string{
		"cat .env", "cat ./.env", "cat a .env b", "cat -n .env", "cat --weird .env", "head .env", "grep x .env", "grep -f .env a", "sed -n p .env", "diff a .env", "cat < .env", "x < .env", "ls secrets", "cat secrets/k", "find secrets", "cp .env a", "mv .env a", "tar cf a .env", "awk 1 .env",
		"less .env", "cat sub/../.env", "cat \"$(cat .env)\"", "bash -c 'cat .env'", "sudo cat .env", "cd sub && cat ../.env", "echo x > .env", "echo x >> secrets/a", "tee .env", "rm .env", "git diff .env", "git show HEAD:.env", "xargs cat < .env", "F=.env; cat $F", "for f in .env; do cat \"$f\"; done", "cat .e\\nv", "cat '.env'", "cat .e'n'v", "cat {.env,a}", "[ -f .env ]",
	} {
		if d := decide(t, cfg, shell(c)); d.Behavior != tool.Deny {
			t.Errorf("%q: %s (%s)", c, d.Behavior, d.Reason)
		}
	}
	for _, c := range []string{"cat .e*", "cat .??v", "cat .[e]nv", "cat s*/k", "cat $X", "cat *s/k", "grep -r x .", "grep -r x ..", "rg --hidden x", "rg -uu x", "cp -r . /home/dev/proj/y", "cat */k"} {
		if d := decide(t, cfg, shell(c)); d.Behavior == tool.Allow {
			t.Errorf("%q runs", c)
		}
	}
	free := testConfig(Default, nil, nil, []string{"Read(.env)"})
	for _, c := range []string{"cat *.go", "ls *", "rg x", "rg x src", "find . -name '*.go'", "cat a.env", "wc -l src/*.py"} {
		if d := decide(t, free, shell(c)); d.Behavior != tool.Allow {
			t.Errorf("%q: %s (%s)", c, d.Behavior, d.Reason)
		}
	}
}

func TestServerRules(t *testing.T) {
	for _, c := range []struct {
		rule, name, origin string
		allow, deny        bool
	}{
		{"mcp__a", "mcp__a__t", "a", true, true},
		{"mcp__a", "mcp__a__b__t", "a__b", false, false},
		{"mcp__a__*", "mcp__a__b__t", "a__b", false, true},
		{"mcp__a__t", "mcp__a__t", "a", true, true},
		{"mcp__a__g*", "mcp__a__get", "a", true, true},
		{"mcp__a__g*", "mcp__a__put", "a", false, false},
		{"mcp__a", "mcp__ab__t", "ab", false, false},
		{"mcp__my_server", "mcp__my_server__t", "my server", true, true},
		{"mcp__a", "mcp__a__t", "", true, true},
		{"mcp__a", "mcp__a__b__t", "", false, true},
	} {
		r := call(c.name, map[string]any{"q": "x"})
		r.Spec.Origin = c.origin
		if got := decide(t, testConfig(Default, []string{c.rule}, nil, nil), r).Behavior == tool.Allow; got != c.allow {
			t.Errorf("allow %s on %s of %q: %v", c.rule, c.name, c.origin, got)
		}
		if got := decide(t, testConfig(Default, nil, nil, []string{c.rule}), r).Behavior == tool.Deny; got != c.deny {
			t.Errorf("deny %s on %s of %q: %v", c.rule, c.name, c.origin, got)
		}
		if _, removed := New(testConfig(Default, nil, nil, []string{c.rule})).Removed(r.Spec); removed != c.deny {
			t.Errorf("deny %s removes %s: %v", c.rule, c.name, removed)
		}
	}
	// A tool of a server without needs is no harmless tool.
	r := Request{Spec: tool.Spec{Name: "mcp__a__t", Origin: "a"}, Traits: tool.Traits{ReadOnly: true}}
	if d := decide(t, testConfig(Default, nil, nil, nil), r); d.Behavior != tool.Ask {
		t.Errorf("a server's tool without needs: %s", d.Behavior)
	}
}

func TestPoolFilter(t *testing.T) {
	for rule, want := range map[string]string{
		"Bash": "Bash Monitor", "Bash(*)": "Bash Monitor", "Bash(x)": "", "Edit": "Edit Write NotebookEdit", "Write": "Write", "Read": "Read Grep Glob", "Task": "Agent", "Web*": "WebFetch WebSearch",
	} {
		s := New(testConfig(Default, nil, nil, []string{rule}))
		var got []string
		for _, spec := range testTools {
			if _, ok := s.Removed(spec); ok {
				got = append(got, spec.Name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("deny %s removes %v, want %s", rule, got, want)
		}
	}
}

func TestUpdates(t *testing.T) {
	s := New(testConfig(Default, nil, nil, nil))
	apply := func(u Update) {
		t.Helper()
		next, err := s.Apply(u)
		if err != nil {
			t.Fatal(err)
		}
		s = next
	}
	apply(Update{Kind: AddRules, Behavior: tool.Allow, Rules: []string{"Bash(x)"}, Destination: ToSession})
	if d := s.Decide(shell("x")); d.Behavior != tool.Allow || d.Rule != "Bash(x)" || d.File != "session" {
		t.Errorf("added rule: %+v", d)
	}
	apply(Update{Kind: ReplaceRules, Behavior: tool.Allow, Rules: []string{"Bash(y)"}, Destination: ToSession})
	apply(Update{Kind: AddDirectories, Directories: []string{"/srv/w"}})
	if s.Decide(shell("x")).Behavior != tool.Ask || s.Decide(call("Read", map[string]any{"file_path": "/srv/w/a"})).Behavior != tool.Allow {
		t.Error("replacing rules or adding a directory had no effect")
	}
	apply(Update{Kind: RemoveRules, Behavior: tool.Allow, Rules: []string{"Bash(y)"}, Destination: ToSession})
	apply(Update{Kind: RemoveDirectories, Directories: []string{"/srv/w"}})
	if s.Decide(shell("y")).Behavior != tool.Ask || s.Decide(call("Read", map[string]any{"file_path": "/srv/w/a"})).Behavior != tool.Ask {
		t.Error("removing had no effect")
	}
	apply(Update{Kind: SetMode, Mode: Plan})
	if s.Mode() != Plan {
		t.Error("mode not set")
	}
	cfg := testConfig(Default, nil, nil, nil)
	cfg.BypassDisabled = true
	if _, err := New(cfg).Apply(Update{Kind: SetMode, Mode: Bypass}); err == nil {
		t.Error("a disabled bypass mode was set")
	}
	cfg.Mode = Bypass
	if New(cfg).Decide(shell("x")).Behavior != tool.Ask {
		t.Error("a disabled bypass mode approves")
	}
	if _, err := s.Apply(Update{Kind: "x"}); err == nil {
		t.Error("an unknown update was applied")
	}
}

func TestReaderRemembers(t *testing.T) {
	cfg := testConfig(Default, nil, nil, nil)
	cfg.Reader = shellread.NewReader(2)
	s := New(cfg)
	for _, c := range slices.Concat(unasked[:5], unasked[:5], asked[:5], asked[:5]) {
		if a, b := s.Decide(shell(c)).Behavior, New(testConfig(Default, nil, nil, nil)).Decide(shell(c)).Behavior; a != b {
			t.Errorf("%q: %s remembered, %s anew", c, a, b)
		}
	}
}
