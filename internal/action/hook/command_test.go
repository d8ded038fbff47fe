//go:build unix

package hook

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/tool"
)

// real is a config that runs real programs in a folder of the test.
func real(t *testing.T) (Config, string) {
	t.Helper()
	dir := t.TempDir()
	c := testConfig()
	c.Project = dir
	c.Environ = append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT=http://collector", "CLAUDE_TOOL_INPUT=stale")
	c.Session = func() Session { return Session{ID: "s1", Cwd: dir, Effort: "high", Mode: "default"} }
	r := shell.New(shell.Config{NoSnapshot: true, Env: c.Environ, Grace: 50 * time.Millisecond})
	t.Cleanup(func() { _ = r.Close() })
	c.Programs = r
	return c, dir
}

func hookJSON(t *testing.T, event string, handlers ...map[string]any) string {
	t.Helper()
	for _, h := range handlers {
		h["type"] = "command"
	}
	raw, err := json.Marshal(map[string]any{event: []any{map[string]any{"hooks": handlers}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func editing() PreToolUse {
	return PreToolUse{ToolCall: ToolCall{Name: "Edit", Input: json.RawMessage(`{"file_path":"/p/$(touch pwned).go"}`)}, UseID: "t1"}
}

// What exit codes, stdout and stderr of a PreToolUse command mean.
func TestCommandAnswers(t *testing.T) {
	c, _ := real(t)
	for name, tc := range map[string]struct {
		command string
		block   bool
		want    tool.Behavior
		reason  string
		failed  bool
		exit    int
	}{
		"quiet":          {command: "true"},
		"plain text":     {command: "echo denied"},
		"json deny":      {command: `echo '` + pre(`"permissionDecision":"deny","permissionDecisionReason":"json"`) + `'`, want: tool.Deny, reason: "json"},
		"exit 2":         {command: "echo not now >&2; exit 2", want: tool.Deny, reason: "not now", exit: 2},
		"exit 2 allow":   {command: `echo '` + pre(`"permissionDecision":"allow"`) + `'; echo no >&2; exit 2`, want: tool.Deny, reason: "no", exit: 2},
		"exit 2 reason":  {command: `echo '{"decision":"block","reason":"from json"}'; echo no >&2; exit 2`, want: tool.Deny, reason: "from json", exit: 2},
		"exit 2 silent":  {command: "exit 2", want: tool.Deny, reason: "refused by the hook exit 2", exit: 2},
		"exit 1":         {command: "echo oops >&2; exit 1", failed: true, exit: 1},
		"exit 1 block":   {command: "exit 1", block: true, want: tool.Deny, failed: true, exit: 1},
		"exit 1 json":    {command: `echo '` + pre(`"permissionDecision":"ask"`) + `'; exit 1`, want: tool.Ask, exit: 1},
		"missing":        {command: "./no-such-script", failed: true, exit: 127},
		"missing block":  {command: "./no-such-script", block: true, want: tool.Deny, failed: true, exit: 127},
		"lies":           {command: `echo '{"decision": 5}'`, failed: true},
		"broken json":    {command: `echo '{'`, failed: true},
		"broken block":   {command: `echo '{'`, block: true, want: tool.Deny, failed: true},
		"killed":         {command: "kill -9 $$", failed: true, exit: 137},
		"killed block":   {command: "kill -9 $$", block: true, want: tool.Deny, failed: true, exit: 137},
		"ignores stdin":  {command: "exec <&-; true"},
		"chatty":         {command: "head -c 3000000 /dev/zero | tr '\\0' x"},
		"chatty json":    {command: "printf '{'; head -c 3000000 /dev/zero | tr '\\0' x", failed: true},
		"chatty block":   {command: "printf '{'; head -c 3000000 /dev/zero | tr '\\0' x", block: true, want: tool.Deny, failed: true},
		"leaves a child": {command: "sleep 300 & true"},
	} {
		h := map[string]any{"command": tc.command}
		if tc.block {
			h["onFailure"] = "block"
		}
		o := load(t, c, User, hookJSON(t, "PreToolUse", h)).Fire(t.Context(), editing())
		if o.Behavior != tc.want || tc.reason != "" && o.Reason != tc.reason || (len(notices(o, "hook_failed")) > 0) != tc.failed {
			t.Errorf("%s: %q %q %v", name, o.Behavior, o.Reason, notices(o, "hook_failed"))
		}
		if got := ran(o)[0]; got.ExitCode != tc.exit || len(got.Output) > 4*maxText+10 {
			t.Errorf("%s: exit %d, %d bytes", name, got.ExitCode, len(got.Output))
		}
	}
}

// The payload comes on stdin, values in the environment: no text of a call ever
// becomes part of a command (HK-11, HK-17).
func TestCommandInput(t *testing.T) {
	c, dir := real(t)
	d := New(c)
	hooks := hookJSON(t, "PreToolUse", map[string]any{
		"command": `cat > stdin.json; printf '%s|%s|%s|%s|%s|%s|%s|%s' "$CLAUDE_FILE_PATH" "$CLAUDE_TOOL_INPUT" "$CLAUDE_PROJECT_DIR" "$CLAUDE_CODE_SESSION_ID" "$CLAUDECODE" "$OTEL_EXPORTER_OTLP_ENDPOINT" "$CLAUDE_PLUGIN_ROOT" "$CLAUDE_ENV_FILE" > env.txt; eval "echo $CLAUDE_PROJECT_DIR" >/dev/null`,
	})
	d.Load([]Source{{Scope: Plugin, Root: "/plug", Hooks: json.RawMessage(hooks)}}, Limits{})
	in := editing()
	if o := d.Fire(t.Context(), in); len(notices(o, "hook_failed")) > 0 {
		t.Fatal(o.Events)
	}
	var got map[string]any
	raw, err := os.ReadFile(filepath.Join(dir, "stdin.json"))
	if err != nil || json.Unmarshal(raw, &got) != nil || got["tool_name"] != "Edit" || got["hook_event_name"] != "PreToolUse" {
		t.Errorf("%v %s", err, raw)
	}
	env, err := os.ReadFile(filepath.Join(dir, "env.txt"))
	want := "/p/$(touch pwned).go|" + string(in.ToolCall.Input) + "|" + dir + "|s1|1||/plug|"
	if err != nil || string(env) != want {
		t.Errorf("%v\n%s\n%s", err, env, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
		t.Error("text of the call was run")
	}
	if o := d.Fire(t.Context(), PreToolUse{ToolCall: ToolCall{Name: "Edit", Input: json.RawMessage(`{"a":"` + strings.Repeat("x", 1<<20) + `"}`)}}); len(notices(o, "hook_failed")) > 0 {
		t.Errorf("1 MB of input: %v", notices(o, "hook_failed"))
	}
	if raw, err = os.ReadFile(filepath.Join(dir, "stdin.json")); err != nil || len(raw) < 1<<20 {
		t.Errorf("%v: %d bytes", err, len(raw))
	}
}

// With args the program is started directly: a blank or a dollar sign is text.
func TestExecForm(t *testing.T) {
	c, dir := real(t)
	d := load(t, c, User, hookJSON(t, "SessionStart", map[string]any{
		"command": "printf", "args": []string{"%s+", "a b", "$HOME", "${CLAUDE_PROJECT_DIR}/x", "${HOME}"},
	}))
	o := d.Fire(t.Context(), SessionStart{Source: "startup"})
	if want := "a b+$HOME+" + dir + "/x+${HOME}+"; len(o.Context) != 1 || o.Context[0] != want {
		t.Errorf("%q, want %q (%v)", o.Context, want, o.Events)
	}
	d = load(t, c, User, hookJSON(t, "SessionStart", map[string]any{"command": "./script", "args": []string{}}))
	if o := d.Fire(t.Context(), SessionStart{Source: "startup"}); len(notices(o, "hook_failed")) != 1 {
		t.Error("a program was looked for in the current folder")
	}
}

// A hung hook is killed with all that it started; others are not held up.
func TestTimeoutKillsTheGroup(t *testing.T) {
	c, dir := real(t)
	d := load(t, c, User, hookJSON(
		t, "PreToolUse",
		map[string]any{"command": "(sleep 3; touch late) & sleep 600", "timeout": 0.3},
		map[string]any{"command": "sleep 600", "timeout": 0.3, "onFailure": "block"},
	))
	began := time.Now()
	o := d.Fire(t.Context(), editing())
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
	if r := ran(o); r[0].Outcome != "timeout" || r[1].Outcome != "timeout" || o.Behavior != tool.Deny {
		t.Errorf("%+v", o)
	}
	for deadline := time.Now().Add(3500 * time.Millisecond); time.Now().Before(deadline); <-time.After(100 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "late")); err == nil {
			t.Fatal("a child of the hook lived on")
		}
	}
}

// Hooks run beside each other, and equal ones of two settings files once.
func TestParallelAndOnce(t *testing.T) {
	c, dir := real(t)
	d := New(c)
	meet := func(a, b string) string { // each waits for the other: only possible in parallel
		return "touch " + a + "; i=0; while [ ! -e " + b + " ] && [ $i -lt 400 ]; do sleep 0.05; i=$((i+1)); done; [ -e " + b + " ]"
	}
	two := json.RawMessage(hookJSON(t, "Stop", map[string]any{"command": meet("a", "b")}, map[string]any{"command": meet("b", "a")}, map[string]any{"command": "echo x >> count"}))
	d.Load([]Source{{Scope: User, File: "/u", Hooks: two}, {Scope: Project, File: "/p", Hooks: two}}, Limits{})
	o := d.Fire(t.Context(), Stop{})
	if len(ran(o)) != 3 || len(notices(o, "hook_failed")) != 0 {
		t.Errorf("%+v", o)
	}
	if raw, _ := os.ReadFile(filepath.Join(dir, "count")); string(raw) != "x\n" {
		t.Errorf("%q", raw)
	}
}

// A call that removes the current folder does not switch the hooks off.
func TestMissingFolder(t *testing.T) {
	c, dir := real(t)
	c.Session = func() Session { return Session{Cwd: filepath.Join(dir, "gone")} }
	d := load(t, c, User, hookJSON(t, "PreToolUse", map[string]any{"command": "pwd >&2; exit 2"}))
	if o := d.Fire(t.Context(), editing()); o.Behavior != tool.Deny || !strings.HasSuffix(o.Reason, filepath.Base(dir)) {
		t.Errorf("%+v", o)
	}
}

// Background hooks are not waited for and cannot decide; what they say comes
// later, and exit code 2 of asyncRewake wakes the model.
func TestAsync(t *testing.T) {
	c, dir := real(t)
	woke := make(chan struct{}, 1)
	c.Woke = func() { woke <- struct{}{} }
	d := load(t, c, User, hookJSON(
		t, "PreToolUse",
		map[string]any{"command": `while [ ! -e go ]; do sleep 0.05; done; echo '` + pre(`"permissionDecision":"deny","additionalContext":"late news"`) + `'`, "async": true},
		map[string]any{"command": `while [ ! -e go ]; do sleep 0.05; done; echo wake up >&2; exit 2`, "asyncRewake": true},
	))
	o := d.Fire(t.Context(), editing())
	if o.Behavior != "" || len(ran(o)) != 2 || ran(o)[0].Outcome != "async" || len(d.Late("")) != 0 {
		t.Fatalf("%+v", o)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	select {
	case <-woke:
	case <-time.After(30 * time.Second):
		t.Fatal("nobody woke the model")
	}
	var late []Late
	for deadline := time.Now().Add(30 * time.Second); len(late) < 2 && time.Now().Before(deadline); <-time.After(20 * time.Millisecond) {
		late = append(late, d.Late("")...)
	}
	var words []string
	for _, l := range late {
		words = append(words, l.Context...)
	}
	if all := strings.Join(words, "\n"); !strings.Contains(all, "late news") || !strings.Contains(all, "wake up") {
		t.Errorf("%+v", late)
	}
}

func TestCloseEndsBackgroundHooks(t *testing.T) {
	c, _ := real(t)
	d := load(t, c, User, hookJSON(t, "Stop", map[string]any{"command": "sleep 600", "async": true}))
	d.Fire(t.Context(), Stop{})
	began := time.Now()
	_ = d.Close()
	if took := time.Since(began); took > 2*grace || len(d.Late("")) != 0 {
		t.Errorf("took %v", took)
	}
}

// A session's end is short, whatever a hook does.
func TestSessionEndBudget(t *testing.T) {
	for env, most := range map[string]time.Duration{"": 15 * time.Second, "CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS=100": 12 * time.Second} {
		c, _ := real(t)
		c.Environ = append(c.Environ, env)
		d := load(t, c, User, hookJSON(t, "SessionEnd", map[string]any{"command": "sleep 600"}))
		began := time.Now()
		o := d.Fire(t.Context(), SessionEnd{Reason: "other"})
		if took := time.Since(began); took > most || ran(o)[0].Outcome != "timeout" {
			t.Errorf("%q: took %v: %+v", env, took, o)
		}
	}
}

// Plain stdout is context where the event says so; a worktree hook names its
// folder in the last line, and fails on any exit code but 0.
func TestPlainOutput(t *testing.T) {
	c, _ := real(t)
	fire := func(event, command, payload string) Outcome {
		in, err := Decode(event, json.RawMessage(payload))
		if err != nil {
			t.Fatal(err)
		}
		return load(t, c, User, hookJSON(t, event, map[string]any{"command": command})).Fire(t.Context(), in)
	}
	if o := fire("UserPromptSubmit", "echo branch: main", `{}`); len(o.Context) != 1 || o.Context[0] != "branch: main" {
		t.Errorf("%+v", o)
	}
	if o := fire("UserPromptSubmit", "echo secret >&2; exit 2", `{}`); !o.Blocked || o.Reason != "secret" {
		t.Errorf("%+v", o)
	}
	if o := fire("Stop", "echo words", `{}`); o.Context != nil {
		t.Errorf("%+v", o)
	}
	if o := fire("WorktreeCreate", "echo making; echo /tmp/wt", `{}`); o.Worktree != "/tmp/wt" || o.Blocked {
		t.Errorf("%+v", o)
	}
	if o := fire("WorktreeCreate", "echo '{}'; exit 1", `{}`); !o.Blocked {
		t.Errorf("%+v", o)
	}
	if o := fire("SessionStart", "echo hm >&2; exit 2", `{}`); o.Blocked || len(o.Messages) != 1 || o.Messages[0] != "hm" {
		t.Errorf("%+v", o)
	}
	if o := fire("Notification", "exit 2", `{}`); o.Blocked || o.Messages != nil || o.Behavior != "" {
		t.Errorf("%+v", o)
	}
	if o := fire("Elicitation", "exit 2", `{}`); o.Action != "decline" {
		t.Errorf("%+v", o)
	}
	if o := fire("PostToolUseFailure", "echo hint >&2; exit 2", `{"tool_input":{}}`); o.Blocked || len(o.Context) != 1 {
		t.Errorf("%+v", o)
	}
}
