package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/tool"
)

func TestModes(t *testing.T) {
	edit := call("Write", map[string]any{"file_path": "src/a"})
	guarded := call("Write", map[string]any{"file_path": ".git/config"})
	use := call("Skill", map[string]any{"skill": "a"})
	user := call("Agent", map[string]any{"subagent_type": "a"})
	user.Traits.NeedsUser = true
	for _, c := range []struct {
		name    string
		request Request
		// answers in the order default, acceptEdits, plan, auto, dontAsk, bypassPermissions
		want string
	}{
		{"read", call("Read", map[string]any{"file_path": "a"}), "allow allow allow allow allow allow"},
		{"read outside", call("Read", map[string]any{"file_path": "/etc/hosts"}), "ask ask ask ask deny allow"},
		{"edit", edit, "ask allow deny allow deny allow"},
		{"edit outside", call("Edit", map[string]any{"file_path": "/srv/a"}), "ask ask deny ask deny allow"},
		{"protected edit", guarded, "ask ask deny ask deny allow"},
		{"read-only command", shell("ls"), "allow allow allow allow allow allow"},
		{"file command", shell("mkdir a"), "ask allow ask ask deny allow"},
		{"redirect", shell("ls > a"), "ask allow ask ask deny allow"},
		{"protected redirect", shell("ls > .bashrc"), "ask ask ask ask deny allow"},
		{"other command", shell("x"), "ask ask ask ask deny allow"},
		{"critical removal", shell("rm -rf ~"), "ask ask ask ask deny ask"},
		{"unreadable command", shell("ls &&"), "ask ask ask ask deny ask"},
		{"fetch", call("WebFetch", map[string]any{"url": "https://example.com"}), "ask ask ask ask deny allow"},
		{"tool", use, "ask ask ask ask deny allow"},
		{"question", user, "ask ask ask ask deny ask"},
		{"spawn", call("Agent", map[string]any{"subagent_type": "a"}), "allow allow allow allow allow allow"},
	} {
		var got []string
		for _, m := range []Mode{Default, AcceptEdits, Plan, Auto, DontAsk, Bypass} {
			got = append(got, string(decide(t, testConfig(m, nil, nil, nil), c.request).Behavior))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}

func TestParseMode(t *testing.T) {
	for name, want := range map[string]Mode{"": Default, "default": Default, "manual": Default, "acceptEdits": AcceptEdits, "plan": Plan, "auto": Auto, "dontAsk": DontAsk, "bypassPermissions": Bypass, "acceptAll": Bypass} {
		m, notice, err := ParseMode(name)
		if err != nil || m != want || (notice != "") != (name == "acceptAll") {
			t.Errorf("%q: %s %q %v", name, m, notice, err)
		}
	}
	if _, _, err := ParseMode("yolo"); err == nil || !strings.Contains(err.Error(), "dontAsk") {
		t.Errorf("unknown mode: %v", err)
	}
}

func TestPlanModeRunsNoShellWrites(t *testing.T) {
	cfg := testConfig(Plan, []string{"Bash(touch *)", "Bash(git *)", "Bash(x *)", "Bash(tee *)", "Edit(**)"}, nil, nil)
	for c, want := range map[string]tool.Behavior{
		"touch a": tool.Ask, "git commit -m a": tool.Ask, "x a > b": tool.Ask, "ls | tee a": tool.Ask, "sed -i s/a/b/ a": tool.Ask, "x a": tool.Allow, "git log": tool.Allow,
	} {
		if d := decide(t, cfg, shell(c)); d.Behavior != want {
			t.Errorf("%q: %s", c, d.Behavior)
		}
	}
	bare := testConfig(Plan, []string{"Bash"}, nil, nil)
	if d := decide(t, bare, shell("rm a")); d.Behavior == tool.Allow {
		t.Error("plan mode removes a file")
	}
}

func TestAcceptEdits(t *testing.T) {
	cfg := testConfig(AcceptEdits, nil, nil, nil)
	for _, c := range []string{"mkdir -p a/b", "touch a", "rm -f a b", "rm -rf build", "mv a b", "mv a sub/", "cp -r src lib", "cp -t sub a b", "sed -i 's/a/b/' a", "sed -i.bak -e p a", "ls > a", "mkdir a && cd a && touch b", "echo x | sed s/x/y/ > a", "LC_ALL=C touch a", "nice touch a", "rmdir a", "touch -r a b"} {
		if d := decide(t, cfg, shell(c)); d.Behavior != tool.Allow {
			t.Errorf("%q: %s (%s)", c, d.Behavior, d.Reason)
		}
	}
	for _, c := range []string{
		"mkdir /srv/a", "touch ../a", "rm -rf ..", "rm -rf .", "rm -rf *", "rm -rf ./*", "rm -rf /home/dev/proj", "mv a /tmp/a", "mv /etc/passwd a", "cp ~/.ssh/id a", "cp a .git/hooks/pre-commit", "cp sub/.mcp.json .", "cp -t . sub/.bashrc", "cp -r x/. .", "cp -rT x .", "cp --target-dir=.git a",
		"sed -i 's/a/b/e' a", "sed -i 'w .bashrc' a", "sed -i s/a/b/ .npmrc", "sed -i/tmp/x s/a/b/ a", "sed -i -f s a", "touch .git/x", "touch .GIT/x", "mkdir .vscode", "mkdir -m 4777 -Z a", "rm .git/index", "rm -rf .git", "mv .git x", "touch $X", "rm $X", "rm -rf \"$X\"/", "touch a{1,2}", "rm a*", "cd .git && touch x", "cd $X && touch a", "cd /tmp && touch a", "tee a", "ln -s / a", "chmod +x a", "dd of=a",
		"ls > .envrc", "ls > sub/.bashrc", "ls > /dev/sda", "X=1 touch a", "FOO=1 ls > a", "touch a; x", "touch a | x", "touch a &", "touch $(x)", "touch `x`", "cp a b c/../../../x", "mkdir objects && echo a > HEAD && git status",
		"ls > $X", "ls > a*", "install a b", "truncate -s0 a", "touch .claude/settings.json", "touch .claude/worktrees/../settings.json", "touch ~/proj/.claude.json", "sed -i '' a b", "sed -ie 's/a/b/' a --in-place=/x",
	} {
		if d := decide(t, cfg, shell(c)); d.Behavior == tool.Allow {
			t.Errorf("%q runs", c)
		}
	}
}

func TestCriticalRemovals(t *testing.T) {
	cfg := testConfig(Bypass, []string{"Bash", "Bash(rm *)"}, nil, nil)
	cfg.Roots = []string{"/srv/w"}
	for _, c := range []string{
		"rm -rf /", "rm -rf //", "rm -rf /*", "rm -rf /usr", "rm -rf /usr/", "rm -rf /usr/*", "rm -rf ~", "rm -rf ~/", "rm -rf ~/*", "rm -rf /home", "rm -rf /home/dev", "rm -rf .", "rm -rf ./", "rm -rf ..", "rm -rf ../..", "rm -rf *", "rm -rf ./*", "rm -rf \"$PWD/\"", "rm -rf $X/*", "rm -rf \"$X\"/a", "rm -rf ${X}/", "rm -rf $X*",
		"sudo rm -rf /", "/bin/rm -rf /", "\\rm -rf /", "r''m -rf /", "env rm -rf ~", "bash -c 'rm -rf ~'", "eval 'rm -rf ~'", "$(rm -rf ~)", "echo `rm -rf ~`", "ls && rm -rf ~", "(rm -rf ~)", "if true; then rm -rf ~; fi", "rm -rf a ~ b", "rm --recursive -f -- ~", "cd / && rm -rf usr", "cd .. && rm -rf proj", "cd ~ && rm -rf *", "cd $X && rm -rf *", "rm -rf sub/../..", "rmdir ~", "timeout 5 rm -rf ~", "find . -exec rm -rf ~ ;", "rm -rf /srv/w/*", "f() { rm -rf ~; }", "cat <<E\n$(rm -rf ~)\nE", "rm -rf $(x)/*", "D=~; rm -rf $D/", "rm -rf {/,a}", "true; true; rm -rf ~ &", "rm -rf $HOME/",
	} {
		r := shell(c)
		r.Hook = tool.Allow
		if d := decide(t, cfg, r); d.Behavior != tool.Ask || !d.Forced {
			t.Errorf("%q: %s (%s)", c, d.Behavior, d.Reason)
		}
		cfg := cfg
		cfg.Mode = DontAsk
		if d := decide(t, cfg, r); d.Behavior != tool.Deny {
			t.Errorf("dontAsk %q: %s", c, d.Behavior)
		}
	}
	for _, c := range []string{"rm -rf build", "rm -rf ./build/*", "rm a", "rm -rf /tmp/x", "rm -rf /srv/w/build", "rm -rf \"$X\"", "rm -rf ~/proj/build", "cd sub && rm -rf build", "echo rm -rf /", "git commit -m 'rm -rf /'", "rm -rf node_modules dist", "D=build; rm -rf $D/*", "rm -- -f"} {
		if d := decide(t, cfg, shell(c)); d.Behavior != tool.Allow {
			t.Errorf("%q: %s (%s)", c, d.Behavior, d.Reason)
		}
	}
}

func TestInsideOnly(t *testing.T) {
	cfg := testConfig(Default, []string{"Bash", "Read", "Edit", "Read(//etc/**)"}, nil, nil)
	cfg.BlockReadsOutside, cfg.BlockWritesOutside = true, true
	for _, c := range []struct {
		request Request
		want    tool.Behavior
	}{
		{call("Read", map[string]any{"file_path": "/etc/hosts"}), tool.Deny},
		{call("Write", map[string]any{"file_path": "/tmp/a"}), tool.Deny},
		{call("Read", map[string]any{"file_path": "a"}), tool.Allow},
		{shell("cat /etc/hosts"), tool.Ask},
		{shell("x /etc/hosts"), tool.Ask},
		{shell("x --out=../a"), tool.Ask},
		{shell("x a > /tmp/a"), tool.Ask},
		{shell("x a/b 2>/dev/null"), tool.Allow},
	} {
		if d := decide(t, cfg, c.request); d.Behavior != c.want {
			t.Errorf("%s: %s (%s)", c.request.Input, d.Behavior, d.Reason)
		}
	}
}

func TestHooksAndSandbox(t *testing.T) {
	ask := func(c string, h tool.Behavior, boxed bool) Request {
		r := shell(c)
		r.Hook, r.Sandboxed = h, boxed
		return r
	}
	for _, c := range []struct {
		request          Request
		allow, ask, deny string
		want             tool.Behavior
		layer            string
	}{
		{ask("x", tool.Allow, false), "", "", "", tool.Allow, "hook"},
		{ask("x", tool.Allow, false), "", "", "Bash(x)", tool.Deny, "rule"},
		{ask("x", tool.Allow, false), "", "Bash(x)", "", tool.Ask, "rule"},
		{ask("x", tool.Deny, false), "Bash", "", "", tool.Deny, "hook"},
		{ask("x", tool.Ask, false), "Bash", "", "", tool.Ask, "hook"},
		{ask("ls > .git/config", tool.Allow, false), "", "", "", tool.Ask, "safety"},
		{ask("ls \x1b[1A", tool.Allow, false), "Bash", "", "", tool.Ask, "safety"},
		{ask("x", "", true), "", "", "", tool.Allow, "builtin"},
		{ask("x", "", true), "", "Bash", "", tool.Allow, "builtin"},
		{ask("x", "", true), "", "Bash(x)", "", tool.Ask, "rule"},
		{ask("x", "", true), "", "", "Bash", tool.Deny, "rule"},
		{ask("rm -rf ~", "", true), "", "", "", tool.Ask, "safety"},
		{ask("x", "", false), "Bash(x)", "", "", tool.Allow, "rule"},
		{ask("ls", "", false), "", "", "", tool.Allow, "builtin"},
	} {
		cfg := testConfig(Default, nil, nil, nil)
		for _, l := range []struct {
			to   *[]string
			rule string
		}{{&cfg.Layers[0].Allow, c.allow}, {&cfg.Layers[0].Ask, c.ask}, {&cfg.Layers[0].Deny, c.deny}} {
			if l.rule != "" {
				*l.to = []string{l.rule}
			}
		}
		d := decide(t, cfg, c.request)
		if d.Behavior != c.want || d.Layer != c.layer {
			t.Errorf("%s %s/%s/%s hook %q: %s by %s (%s)", c.request.Input, c.allow, c.ask, c.deny, c.request.Hook, d.Behavior, d.Layer, d.Reason)
		}
	}
}

// TestTraceNamesEveryStep shows the chain of an answer, with rule and file.
func TestTraceNamesEveryStep(t *testing.T) {
	cfg := testConfig(Default, []string{"Bash(x *)"}, nil, []string{"Bash(y)"})
	steps := func(d Decision) (out []string) {
		for _, s := range d.Trace {
			out = append(out, s.Name+"="+s.Outcome)
		}
		return out
	}
	for c, want := range map[string][]string{
		"x a":      {"deny=none", "ask=none", "safety=none", "mode=none", "allow=allow"},
		"ls; y":    {"deny=deny"},
		"z":        {"deny=none", "ask=none", "safety=none", "mode=none", "question=ask"},
		"rm -rf ~": {"deny=none", "ask=none", "safety=ask"},
	} {
		if got := steps(decide(t, cfg, shell(c))); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", c, got, want)
		}
	}
	d := decide(t, cfg, shell("ls && y"))
	last := d.Trace[len(d.Trace)-1]
	if d.Rule != "Bash(y)" || d.File != "~/.claude/settings.json" || last.Rule != d.Rule || last.File != d.File || d.Part != "y" || !strings.Contains(d.Reason, "Bash(y)") {
		t.Errorf("a denial does not name its rule: %+v", d)
	}
	if d := decide(t, cfg, shell("ls && z a")); d.Part != "z a" || d.Suggest == nil {
		t.Errorf("a question does not name its part: %+v", d)
	}
}

func TestScopes(t *testing.T) {
	cfg := testConfig(Default, nil, nil, nil)
	cfg.Layers = []Layer{
		{Origin: Origin{Scope: ScopeManaged, File: "managed"}, Deny: []string{"Bash(curl:*)"}},
		{Origin: Origin{Scope: ScopeFlags, File: "--allowedTools"}, Allow: []string{"Bash"}},
		{Origin: Origin{Scope: ScopeProject, File: "project"}, Allow: []string{"Bash(y)"}, Deny: []string{"Bash(x)"}, Held: true},
	}
	if d := decide(t, cfg, shell("curl a")); d.Behavior != tool.Deny || d.File != "managed" {
		t.Errorf("managed denial: %+v", d)
	}
	if d := decide(t, cfg, shell("x")); d.Behavior != tool.Deny {
		t.Errorf("a denial of a folder without trust is lost: %s", d.Behavior)
	}
	cfg.Layers[1].Allow = nil
	if d := decide(t, cfg, shell("y")); d.Behavior != tool.Ask {
		t.Errorf("an allow rule of a folder without trust is used: %s", d.Behavior)
	}
	cfg.Layers[2].Held, cfg.ManagedOnly = false, true
	if d := decide(t, cfg, shell("y")); d.Behavior != tool.Ask {
		t.Errorf("managed-only lets other rules in: %s", d.Behavior)
	}
}

func TestAutoMode(t *testing.T) {
	cfg := testConfig(Auto, []string{"Bash", "Bash(python3 *)", "Bash(npm run *)", "Bash(x *)", "Bash(make)"}, nil, nil)
	for c, want := range map[string]string{"y": "ask", "python3 a.py": "ask", "npm run a": "ask", "x a": "allow", "make": "allow", "ls": "allow"} {
		d := decide(t, cfg, shell(c))
		if string(d.Behavior) != want || d.Classify != (want == "ask") {
			t.Errorf("%q: %s, classify %v", c, d.Behavior, d.Classify)
		}
	}
	cfg.ClassifyAllShell = true
	for c, want := range map[string]string{"x a": "ask", "make": "ask", "ls": "allow"} {
		if d := decide(t, cfg, shell(c)); string(d.Behavior) != want || d.Classify != (want == "ask") {
			t.Errorf("all shell rules suspended, %q: %s, classify %v", c, d.Behavior, d.Classify)
		}
	}
	cfg.ClassifyAllShell = false
	cfg.Layers[0].Ask = []string{"Bash(x *)"}
	if d := decide(t, cfg, shell("x a")); d.Behavior != tool.Ask || d.Classify {
		t.Error("an ask rule goes to the classifier")
	}
}

func TestHosts(t *testing.T) {
	for rule, hosts := range map[string]map[string]bool{
		"WebFetch(domain:example.com)":   {"https://example.com/": true, "https://EXAMPLE.com.:8443/a": true, "https://a.example.com": false, "https://example.com@c.test": false, "http://c.test\\@example.com": false, "ftp://example.com": false, "https://example.com%2ec.test": false, "//example.com": false, "https://exаmple.com": false, "example.com": false, "https:example.com": false, "https://example.com\n.c.test": false},
		"WebFetch(domain:*.example.com)": {"https://a.b.example.com": true, "https://example.com": false, "https://xexample.com": false},
		"WebFetch(domain:example.*)":     {"https://example.org": true, "https://example.co.uk": false},
		"WebFetch(domain:*)":             {"https://any.test": true, "http://169.254.169.254": true},
		"WebFetch":                       {"https://any.test": true, "http://169.254.169.254": false, "http://[fe80::1]": false, "http://[::ffff:169.254.169.254]/": false, "http://2852039166/": false, "http://0xa9fea9fe/": false, "http://metadata.google.internal/": false, "http://0251.0376.0251.0376/": false, "http://127.0.0.1": true},
	} {
		for u, want := range hosts {
			if d := decide(t, testConfig(Default, []string{rule}, nil, nil), call("WebFetch", map[string]any{"url": u})); (d.Behavior == tool.Allow) != want {
				t.Errorf("%s on %s: %s (%s)", rule, u, d.Behavior, d.Reason)
			}
		}
	}
	cfg := testConfig(Default, nil, nil, []string{"WebFetch(domain:c.test)"})
	cfg.DocHosts = []string{"docs.test", "c.test"}
	for u, want := range map[string]tool.Behavior{"https://docs.test/a": tool.Allow, "https://c.test": tool.Deny, "https://x@C.test./": tool.Deny, "https://docs.test@c.test": tool.Deny, "http://c.test\\@docs.test": tool.Ask} {
		d := decide(t, cfg, call("WebFetch", map[string]any{"url": u}))
		if d.Behavior != want && !(want == tool.Ask && d.Behavior == tool.Deny) {
			t.Errorf("%s: %s", u, d.Behavior)
		}
	}
}

func TestShownTextIsHarmless(t *testing.T) {
	d := decide(t, testConfig(Default, nil, nil, nil), shell("x '\x1b[2K\u202e' "+strings.Repeat("a", 5000)))
	for _, s := range []string{d.Reason, d.Part, d.Trace[len(d.Trace)-1].Detail} {
		if strings.ContainsAny(s, "\x1b\u202e") || len(s) > 1000 {
			t.Errorf("shown: %q", s)
		}
	}
	d = decide(t, testConfig(Default, nil, nil, nil), shell("ls && x '\x07'"))
	if strings.Contains(d.Reason+d.Part, "\x07") {
		t.Errorf("shown: %q %q", d.Reason, d.Part)
	}
}

func TestBypassLeavesTreesToTheSandbox(t *testing.T) {
	cfg := testConfig(Bypass, nil, nil, []string{"Read(.env)"})
	for c, want := range map[string]tool.Behavior{"grep -r x .": tool.Allow, "x \"$A\"": tool.Allow, "cat .env": tool.Deny, "cat .e*": tool.Ask, "cat < .env": tool.Deny} {
		if d := decide(t, cfg, shell(c)); d.Behavior != want {
			t.Errorf("%q: %s (%s)", c, d.Behavior, d.Reason)
		}
	}
}
