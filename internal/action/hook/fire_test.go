package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/tool"
)

// answers makes a config whose host callbacks return what the test says.
func answers(by map[string]string) Config {
	c := testConfig()
	c.Host = func(_ context.Context, h HostCall) (json.RawMessage, error) {
		text, ok := by[h.ID]
		if !ok {
			return nil, errors.New("no such callback")
		}
		return json.RawMessage(text), nil
	}
	return c
}

func callbacks(event string, ids ...string) string {
	var hs []string
	for _, id := range ids {
		hs = append(hs, `{"type":"callback","callbackId":"`+id+`"}`)
	}
	return `{"` + event + `":[{"hooks":[` + strings.Join(hs, ",") + `]}]}`
}

func pre(fields string) string {
	return `{"hookSpecificOutput":{"hookEventName":"PreToolUse",` + fields + `}}`
}

func notices(o Outcome, code string) (out []string) {
	for _, e := range o.Events {
		if n, ok := e.(event.Notice); ok && n.Code == code {
			out = append(out, n.Text)
		}
	}
	return out
}

func ran(o Outcome) (out []event.HookRan) {
	for _, e := range o.Events {
		if h, ok := e.(event.HookRan); ok {
			out = append(out, h)
		}
	}
	return out
}

// The most restrictive answer wins whatever the order; lists keep it.
func TestMerge(t *testing.T) {
	by := map[string]string{
		"allow": pre(`"permissionDecision":"allow","permissionDecisionReason":"fine","updatedInput":{"n":1},"additionalContext":"A"`),
		"ask":   pre(`"permissionDecision":"ask","permissionDecisionReason":"hm","updatedInput":{"n":2},"additionalContext":"B"`),
		"defer": pre(`"permissionDecision":"defer"`),
		"deny":  pre(`"permissionDecision":"deny","permissionDecisionReason":"never"`),
		"stop":  `{"continue":false,"stopReason":"enough","systemMessage":"bye"}`,
		"none":  `{}`,
	}
	in := PreToolUse{ToolCall: ToolCall{Name: "Edit", Input: json.RawMessage(`{}`)}, UseID: "t1"}
	for _, c := range []struct {
		ids    []string
		want   string
		reason string
		input  string
		ctx    string
	}{
		{[]string{"none"}, "", "", "", ""},
		{[]string{"allow"}, "allow", "fine", `{"n":1}`, "A"},
		{[]string{"allow", "ask"}, "ask", "hm", `{"n":1}`, "A B"},
		{[]string{"ask", "allow"}, "ask", "hm", `{"n":2}`, "B A"},
		{[]string{"ask", "defer", "allow"}, "defer", "", "", "B A"},
		{[]string{"allow", "ask", "deny", "defer"}, "deny", "never", "", "A B"},
		{[]string{"deny", "allow", "stop"}, "deny", "never", "", "A"},
	} {
		d := load(t, answers(by), Host, callbacks("PreToolUse", c.ids...))
		o := d.Fire(t.Context(), in)
		if string(o.Behavior) != c.want || o.Reason != c.reason || string(o.Input) != c.input || strings.Join(o.Context, " ") != c.ctx {
			t.Errorf("%v: %q %q %s %v", c.ids, o.Behavior, o.Reason, o.Input, o.Context)
		}
		if o.Stopped != slices.Contains(c.ids, "stop") || o.Stopped && (o.StopReason != "enough" || o.Messages[0] != "bye") {
			t.Errorf("%v: %+v", c.ids, o)
		}
		if len(ran(o)) != len(c.ids) || ran(o)[0].Name != "PreToolUse:Edit" {
			t.Errorf("%v: %+v", c.ids, ran(o))
		}
		if both := slices.Contains(c.ids, "allow") && slices.Contains(c.ids, "ask"); both != (len(notices(o, "hook_conflict")) == 1) {
			t.Errorf("%v: a dropped input is not told: %v", c.ids, o.Events)
		}
	}
}

// A hook that hangs, panics, fails or lies costs a notice; it blocks only when
// it says so.
func TestBrokenHooks(t *testing.T) {
	c := testConfig()
	c.Host = func(ctx context.Context, h HostCall) (json.RawMessage, error) {
		switch h.ID {
		case "hang":
			<-ctx.Done()
			return nil, ctx.Err()
		case "panic":
			panic("oops")
		case "fail":
			return nil, errors.New("went wrong")
		}
		return json.RawMessage(`{"decision":5}`), nil
	}
	hooks := func(event, id, more string) string {
		return `{"` + event + `":[{"hooks":[{"type":"callback","callbackId":"` + id + `","timeout":0.05` + more + `}]}]}`
	}
	for _, id := range []string{"panic", "fail", "lie"} {
		d := load(t, c, Host, hooks("PreToolUse", id, ""))
		if o := d.Fire(t.Context(), PreToolUse{}); o.Behavior != "" || len(notices(o, "hook_failed")) != 1 || ran(o)[0].Outcome != "error" {
			t.Errorf("%s: %+v", id, o)
		}
		d = load(t, c, Host, hooks("PreToolUse", id, `,"onFailure":"block"`))
		if o := d.Fire(t.Context(), PreToolUse{}); o.Behavior != tool.Deny || !strings.Contains(o.Reason, "failed") {
			t.Errorf("%s: onFailure block lets it through: %+v", id, o)
		}
	}
	for event, blocks := range map[string]bool{"PreToolUse": true, "UserPromptSubmit": true, "PostToolBatch": false, "Stop": false} {
		in, _ := Decode(event, json.RawMessage(`{"tool_input":{}}`))
		d := load(t, c, Host, hooks(event, "hang", ""))
		o := d.Fire(t.Context(), in)
		if (o.Blocked || o.Behavior == tool.Deny) != blocks || ran(o)[0].Outcome != "timeout" {
			t.Errorf("%s: a callback that hangs: %+v", event, o)
		}
	}
	d := load(t, c, Host, hooks("Stop", "lie", `,"onFailure":"block"`))
	if o := d.Fire(t.Context(), Stop{}); o.Blocked {
		t.Errorf("a broken Stop hook keeps the agent from ending: %+v", o)
	}
}

// A function that ignores its context is left behind after the grace.
func TestDeafHookIsLeftBehind(t *testing.T) {
	release := make(chan struct{})
	c := testConfig()
	c.Host = func(context.Context, HostCall) (json.RawMessage, error) {
		<-release
		return nil, nil
	}
	d := load(t, c, Host, `{"PostToolBatch":[{"hooks":[{"type":"callback","callbackId":"x","timeout":0.01}]}]}`)
	began := time.Now()
	o := d.Fire(t.Context(), PostToolBatch{})
	if took := time.Since(began); took > 10*grace || ran(o)[0].Outcome != "timeout" {
		t.Errorf("took %v: %+v", took, o)
	}
	close(release)
}

func TestInterruptedCallIsNotLetThrough(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := testConfig()
	c.Host = func(ctx context.Context, _ HostCall) (json.RawMessage, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	d := load(t, c, Host, callbacks("PreToolUse", "x"))
	if o := d.Fire(ctx, PreToolUse{}); o.Behavior != tool.Deny || ran(o)[0].Outcome != "cancelled" {
		t.Errorf("%+v", o)
	}
}

func TestInvalidToolInputFailsTheHookNotTheSession(t *testing.T) {
	d := load(t, answers(map[string]string{"x": "{}"}), Host, callbacks("PreToolUse", "x"))
	o := d.Fire(t.Context(), PreToolUse{ToolCall: ToolCall{Name: "Edit", Input: json.RawMessage(`{"a":`)}})
	if len(notices(o, "hook_failed")) != 1 {
		t.Errorf("%+v", o)
	}
}

// The verdict of a model means what the event makes of it.
func TestPromptAndVerifier(t *testing.T) {
	for _, c := range []struct {
		event, more, reply string
		blocked            bool
		behavior           tool.Behavior
		stopped            bool
		context            int
	}{
		{"Stop", "", `{"ok":true}`, false, "", false, 0},
		{"Stop", "", "```json\n{\"ok\": false, \"reason\": \"tests fail\"}\n```", true, "", false, 0},
		{"Stop", "", `{"ok":false,"reason":"x","impossible":true}`, false, "", false, 0},
		{"PreToolUse", "", `{"ok":false,"reason":"no"}`, false, tool.Deny, true, 0},
		{"PreToolUse", `,"continueOnBlock":true`, `{"ok":false,"reason":"no"}`, false, tool.Deny, false, 0},
		{"PostToolUse", "", `{"ok":false,"reason":"no"}`, true, "", true, 0},
		{"UserPromptSubmit", "", `{"ok":false,"reason":"no"}`, true, "", true, 0},
		{"PostToolUseFailure", "", `{"ok":false,"reason":"no"}`, false, "", false, 1},
		{"PermissionRequest", "", `{"ok":false,"reason":"no"}`, false, "", false, 0},
		{"TaskCreated", "", `{"ok":false,"reason":"no"}`, true, "", false, 0},
		{"PreToolUse", "", `sure, go on`, false, "", false, 0},
		{"PreToolUse", "", `{"reason":"x"}`, false, "", false, 0},
	} {
		var asked Query
		cfg := testConfig()
		cfg.Ask = func(_ context.Context, q Query) (string, error) { asked = q; return c.reply, nil }
		d := load(t, cfg, User, `{"`+c.event+`":[{"hooks":[{"type":"prompt","model":"m","prompt":"Judge: $ARGUMENTS."`+c.more+`}]}]}`)
		in, _ := Decode(c.event, json.RawMessage(`{"tool_name":"Edit","tool_input":{},"tool_response":{}}`))
		o := d.Fire(t.Context(), in)
		if o.Blocked != c.blocked || o.Behavior != c.behavior || o.Stopped != c.stopped || len(o.Context) != c.context {
			t.Errorf("%s %s %s: %+v", c.event, c.more, c.reply, o)
		}
		if asked.Model != "m" || !strings.HasPrefix(asked.Text, `Judge: {"session_id":"s1"`) || !strings.HasSuffix(asked.Text, "}.") {
			t.Errorf("asked %+v", asked)
		}
	}
	cfg := testConfig()
	cfg.Verify = func(_ context.Context, q Query) (string, error) {
		if !strings.HasPrefix(q.Text, "Look around\n\n{") {
			t.Errorf("%q", q.Text)
		}
		return `{"ok":false,"reason":"no"}`, nil
	}
	d := load(t, cfg, User, `{"PreToolUse":[{"hooks":[{"type":"agent","prompt":"Look around"}]}]}`)
	if o := d.Fire(t.Context(), PreToolUse{ToolCall: ToolCall{Input: json.RawMessage(`{}`)}}); o.Behavior != tool.Deny || o.Stopped {
		t.Errorf("%+v", o)
	}
}

func TestMCPTool(t *testing.T) {
	var got MCPCall
	c := testConfig()
	c.CallTool = func(_ context.Context, m MCPCall) (string, error) {
		got = m
		return `{"decision":"block","reason":"by the server"}`, nil
	}
	d := load(t, c, User, `{"PostToolUse":[{"hooks":[{"type":"mcp_tool","server":"s","tool":"scan","input":{"path":"${tool_input.file_path}","all":"${tool_input}","text":"in ${cwd}: ${nothing}!","n":[1,"${duration_ms}"]}}]}]}`)
	o := d.Fire(t.Context(), PostToolUse{ToolCall: ToolCall{Name: "Edit", Input: json.RawMessage(`{"file_path":"/a \"b\""}`)}, Response: json.RawMessage(`1`), Duration: 7})
	want := `{"all":{"file_path":"/a \"b\""},"n":[1,7],"path":"/a \"b\"","text":"in /p/sub: !"}`
	if !o.Blocked || o.Reason != "by the server" || got.Server != "s" || got.Tool != "scan" || string(got.Input) != want {
		t.Errorf("%+v\n%s\n%s", o, got.Input, want)
	}
	d = load(t, testConfig(), User, `{"PostToolUse":[{"hooks":[{"type":"mcp_tool","server":"s","tool":"scan"}]}]}`)
	if o := d.Fire(t.Context(), PostToolUse{Response: json.RawMessage(`1`), ToolCall: ToolCall{Input: json.RawMessage(`1`)}}); o.Blocked || len(notices(o, "hook_failed")) != 1 {
		t.Errorf("no server: %+v", o)
	}
}

func TestHTTP(t *testing.T) {
	var hits atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		_, _ = io.Copy(io.Discard, r.Body) // else the server does not notice that the client left
		switch r.URL.Path {
		case "/deny":
			if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("X-Token") != "Bearer secret//$" {
				t.Errorf("%s %v", r.Method, r.Header)
			}
			fmt.Fprint(w, pre(`"permissionDecision":"deny","permissionDecisionReason":"remote"`))
		case "/empty":
		case "/text":
			fmt.Fprint(w, "denied")
		case "/move":
			http.Redirect(w, r, "/deny", http.StatusTemporaryRedirect)
		case "/flood":
			fmt.Fprint(w, `{"a":"`, strings.Repeat("x", maxOutput), `"}`)
		case "/hang":
			<-r.Context().Done()
		default:
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, pre(`"permissionDecision":"deny"`))
		}
	}))
	defer srv.Close()
	c := testConfig()
	c.Environ = []string{"TOKEN=secret", "OTHER=hidden", "FENCED=hidden"}
	fire := func(path, more string, l Limits) Outcome {
		d := New(c)
		hooks := `{"PreToolUse":[{"hooks":[{"type":"http","url":"` + srv.URL + path + `","timeout":1,"headers":{"X-Token":"Bearer $TOKEN/${OTHER}/$FENCED$"},"allowedEnvVars":["TOKEN","FENCED"]` + more + `}]}]}`
		d.Load([]Source{{Scope: User, Hooks: json.RawMessage(hooks)}}, l)
		return d.Fire(t.Context(), PreToolUse{ToolCall: ToolCall{Name: "Edit", Input: json.RawMessage(`{}`)}})
	}
	env := Limits{LimitEnv: true, Env: []string{"TOKEN"}}
	if o := fire("/deny", "", env); o.Behavior != tool.Deny || o.Reason != "remote" {
		t.Errorf("%+v", o)
	}
	if o := fire("/empty", "", env); o.Behavior != "" || len(notices(o, "hook_failed")) != 0 {
		t.Errorf("%+v", o)
	}
	for _, path := range []string{"/error", "/text", "/move", "/flood", "/hang"} {
		if o := fire(path, "", env); o.Behavior != "" || len(notices(o, "hook_failed")) != 1 {
			t.Errorf("%s must pass with a notice: %+v", path, o)
		}
		if o := fire(path, `,"onFailure":"block"`, env); o.Behavior != tool.Deny {
			t.Errorf("%s with onFailure block: %+v", path, o)
		}
	}
	before := hits.Load()
	if o := fire("/deny", "", Limits{LimitURLs: true, URLs: []string{"http://example.com/*"}}); o.Behavior != "" || hits.Load() != before {
		t.Errorf("a URL that is not allowed was reached: %+v", o)
	}
	if o := fire("/empty", "", Limits{LimitURLs: true, URLs: []string{"http://127.0.0.1:*/em*"}}); len(notices(o, "hook_failed")) != 0 {
		t.Errorf("%+v", o)
	}
}

func TestAllowedURLs(t *testing.T) {
	for _, c := range []struct {
		pattern, url string
		want         bool
	}{
		{"*", "https://x/", true},
		{"https://a.com/*", "https://a.com/x/y?z", true},
		{"https://a.com", "https://a.com/", true},
		{"https://a.com", "https://a.com/x", false},
		{"https://A.com/*", "https://a.COM/x", true},
		{"https://*.a.com/*", "https://b.a.com/x", true},
		{"https://*.a.com/*", "https://evil.net/x.a.com/", false},
		{"https://*.a.com/*", "https://evil.net?x.a.com/", false},
		{"https://*.a.com/*", "https://evil.net\\x.a.com/", false},
		{"https://a.com/*", "https://a.com@evil.net/", false},
		{"https://a.com/*", "https://a.com:pw@evil.net/", false},
		{"https://a.com/*", "http://a.com/x", false},
		{"http://localhost:*", "http://localhost:8080/hook", true},
		{"http://localhost:*/x", "http://localhost:8080/y", false},
		{"", "https://a.com/", false},
	} {
		if got := matchesURL(c.pattern, c.url); got != c.want {
			t.Errorf("%q on %q: %v", c.pattern, c.url, got)
		}
	}
}

// Long texts go to a file; what people see is free of tricks.
func TestCaps(t *testing.T) {
	long := strings.Repeat("é", maxText+1)
	by := map[string]string{"x": `{"systemMessage":"a\u001b[2J\u202eb","hookSpecificOutput":{"hookEventName":"PostToolBatch","additionalContext":"` + long + `"}}`}
	c := answers(by)
	c.SpillDir = t.TempDir() + "/spill"
	d := load(t, c, Host, callbacks("PostToolBatch", "x"))
	o := d.Fire(t.Context(), PostToolBatch{})
	if n := len([]rune(o.Context[0])); n > maxText || !strings.Contains(o.Context[0], c.SpillDir) {
		t.Errorf("%d characters: %.200s", n, o.Context[0])
	}
	if strings.ContainsAny(o.Messages[0], "\x1b\u202e") || len(notices(o, "hook_message")) != 1 {
		t.Errorf("%q", o.Messages)
	}
}

// PermissionRequest answers in the place of a person.
func TestPermissionRequest(t *testing.T) {
	by := map[string]string{
		"yes": `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"a":1},"updatedPermissions":[{"type":"addRules","rules":[{"toolName":"Edit"}],"behavior":"allow","destination":"session"}]}}}`,
		"no":  `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"not now","interrupt":true}}}`,
	}
	p := plan(t, fakeTool("Edit", ""), `{"file_path":"x"}`)
	drop := func(event.Body) {}
	d := load(t, answers(by), Host, callbacks("PermissionRequest", "yes"))
	a, ok := d.ForGate().Requested(t.Context(), p, nil, drop)
	if !ok || a.Behavior != tool.Allow || string(a.Input) != `{"a":1}` || len(a.Updates) != 1 || a.Updates[0].Rules[0].Tool != "Edit" {
		t.Errorf("%v %+v", ok, a)
	}
	d = load(t, answers(by), Host, callbacks("PermissionRequest", "yes", "no"))
	if a, ok = d.ForGate().Requested(t.Context(), p, nil, drop); !ok || a.Behavior != tool.Deny || a.Message != "not now" || !a.Interrupt || a.Input != nil || a.Updates != nil {
		t.Errorf("%v %+v", ok, a)
	}
	d = load(t, Config{}, Host, callbacks("PermissionRequest", "yes"))
	if _, ok = d.ForGate().Requested(t.Context(), p, nil, drop); ok {
		t.Error("an answer out of nothing")
	}
}
