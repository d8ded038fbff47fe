package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

func admitted(p tool.Planned) tool.Admitted {
	return tool.Admitted{Tool: p.Tool, Use: p.Use, Call: p.Call}
}

func contents(r tool.Result) string { return textOfBlocks(r.Content) }

// The gate's seam: context of both events reaches the model beside the result,
// the output is replaced, and the run ends when a hook says so.
func TestCalls(t *testing.T) {
	var seen []string
	c := testConfig()
	c.AgentType = func(string) string { return "reviewer" }
	c.Host = func(_ context.Context, h HostCall) (json.RawMessage, error) {
		seen = append(seen, string(h.Input))
		switch h.ID {
		case "pre":
			return json.RawMessage(pre(`"permissionDecision":"allow","updatedInput":{"file_path":"/p/b"},"additionalContext":"before"`)), nil
		case "post":
			return json.RawMessage(`{"continue":false,"stopReason":"done","decision":"block","reason":"bad style","hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":"new","additionalContext":"after"}}`), nil
		}
		return json.RawMessage(`{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":"try again"}}`), nil
	}
	d := New(c)
	d.Load([]Source{
		{Scope: Host, Hooks: json.RawMessage(callbacks("PreToolUse", "pre"))},
		{Scope: Host, Hooks: json.RawMessage(callbacks("PostToolUse", "post"))},
		{Scope: Host, Hooks: json.RawMessage(callbacks("PostToolUseFailure", "fail"))},
	}, Limits{})
	var events []event.Body
	emit := func(b event.Body) { events = append(events, b) }
	p := plan(t, fakeTool("Edit", "", tool.Need{Kind: tool.NeedEdit, Path: "/p/a"}), `{"file_path":"a"}`)
	p.Env.Agent = "a1"
	g := d.ForGate()
	a := g.Before(t.Context(), p, emit)
	if a.Behavior != tool.Allow || string(a.Input) != `{"file_path":"/p/b"}` {
		t.Fatalf("%+v", a)
	}
	for _, want := range []string{`"tool_input":{"file_path":"/p/a"}`, `"tool_use_id":"t1"`, `"agent_id":"a1"`, `"agent_type":"reviewer"`} {
		if !strings.Contains(seen[0], want) {
			t.Errorf("no %s in %s", want, seen[0])
		}
	}
	r, v := g.After(t.Context(), admitted(p), tool.Text("old"), time.Second, emit)
	for _, want := range []string{"new", "before", "after", "bad style"} {
		if !strings.Contains(contents(r), want) {
			t.Errorf("no %q in %q", want, contents(r))
		}
	}
	if strings.Contains(contents(r), "old") || !v.PreventContinuation || v.Reason != "done" {
		t.Errorf("%q %+v", contents(r), v)
	}
	if !strings.Contains(seen[1], `"tool_response":"old"`) || !strings.Contains(seen[1], `"duration_ms":1000`) || !strings.Contains(seen[1], `"agent_id":"a1"`) {
		t.Errorf("%s", seen[1])
	}
	r, v = g.After(t.Context(), admitted(p), tool.Failure("boom"), 0, emit)
	if !strings.Contains(contents(r), "try again") || v.PreventContinuation || !strings.Contains(seen[2], `"error":"boom"`) {
		t.Errorf("%q %+v %s", contents(r), v, seen[2])
	}
	if len(events) == 0 {
		t.Error("no HookRan events")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, v = g.After(ctx, admitted(p), tool.Text("x"), 0, emit); v.PreventContinuation || len(seen) != 3 {
		t.Error("an interrupted call fired a Post event")
	}
}

func TestUpdatedOutputMustFit(t *testing.T) {
	data := json.RawMessage(`{"stdout":"a","code":0}`)
	for out, fits := range map[string]bool{
		`"text"`: true, `{"stdout":"b"}`: true, `{"stdout":5}`: false, `{"other":1}`: false, `7`: false,
		`[{"type":"text","text":"x"}]`: true, `[1]`: false,
	} {
		r, why := replaced(tool.Result{Content: tool.Text("old").Content, Data: data}, Outcome{Output: json.RawMessage(out)}, fakeTool("Edit", ""))
		if (why == "") != fits || (contents(r) == "old") == fits {
			t.Errorf("%s: %q %q", out, why, contents(r))
		}
	}
	mcp := Outcome{MCPOutput: json.RawMessage(`"x"`)}
	if _, why := replaced(tool.Text("old"), mcp, fakeTool("Edit", "")); why == "" {
		t.Error("updatedMCPToolOutput changed a built-in tool's result")
	}
	if r, why := replaced(tool.Text("old"), mcp, fakeTool("mcp__a__b", "")); why != "" || contents(r) != "x" {
		t.Error(why, contents(r))
	}
}

// continue:false before a call ends the run before the next request, once.
func TestHalt(t *testing.T) {
	d := load(t, answers(map[string]string{"x": `{"continue":false,"stopReason":"enough"}`}), Host, callbacks("PreToolUse", "x"))
	p := plan(t, fakeTool("Edit", ""), `{}`)
	if why, _ := d.Halted(""); why != "" {
		t.Fatal(why)
	}
	if a := d.ForGate().Before(t.Context(), p, func(event.Body) {}); a.Behavior != "" {
		t.Errorf("the call itself is stopped: %+v", a)
	}
	if r, why := d.Halted(""); r != event.HookStopped || why != "enough" {
		t.Errorf("%q %q", r, why)
	}
	if r, _ := d.Halted(""); r != "" {
		t.Error("the next run is stopped too")
	}
}

// A gate that cannot keep calls asks about one that was put off.
func TestDeferAsks(t *testing.T) {
	d := load(t, answers(map[string]string{"x": pre(`"permissionDecision":"defer"`)}), Host, callbacks("PreToolUse", "x"))
	if a := d.ForGate().Before(t.Context(), plan(t, fakeTool("Edit", ""), `{}`), func(event.Body) {}); a.Behavior != tool.Ask || !a.Deferred {
		t.Errorf("%+v", a)
	}
}

// Calls that never get a result do not pile up.
func TestPendingCallsAreBounded(t *testing.T) {
	var p pendingCalls
	for i := range 3 * maxPending {
		p.put(fmt.Sprint(i), pendingCall{})
	}
	if len(p.byID) > maxPending || len(p.order) > maxPending {
		t.Error(len(p.byID), len(p.order))
	}
}

func TestPermissionDeniedRetry(t *testing.T) {
	d := load(t, answers(map[string]string{"x": `{"hookSpecificOutput":{"hookEventName":"PermissionDenied","retry":true}}`}), Host, callbacks("PermissionDenied", "x"))
	if !d.ForGate().Denied(t.Context(), plan(t, fakeTool("Edit", ""), `{}`), "unsafe", func(event.Body) {}) {
		t.Error("retry was not heard")
	}
}

// A stop hook sends the agent on at most eight times in a row (LP-11).
func TestStopGuard(t *testing.T) {
	var active []bool
	c := testConfig()
	c.NewID = func() string { return "m1" }
	c.Host = func(_ context.Context, h HostCall) (json.RawMessage, error) {
		var in struct {
			Active bool   `json:"stop_hook_active"`
			Last   string `json:"last_assistant_message"`
		}
		if err := json.Unmarshal(h.Input, &in); err != nil || in.Last != "all done" {
			t.Errorf("%v %s", err, h.Input)
		}
		active = append(active, in.Active)
		return json.RawMessage(`{"decision":"block","reason":"tests fail"}`), nil
	}
	d := load(t, c, Host, callbacks("Stop", "x"))
	var events []event.Body
	stop := func() StopAnswer {
		return d.Stops(t.Context(), Ending{Last: "all done"}, func(b event.Body) { events = append(events, b) })
	}
	for i := range stopCap {
		a := stop()
		if len(a.Continue) != 1 || !a.Continue[0].Meta || !strings.Contains(a.Continue[0].Text(), "tests fail") || a.Why == "" {
			t.Fatalf("block %d: %+v", i, a)
		}
	}
	if a := stop(); len(a.Continue) != 0 || a.End != "" {
		t.Fatalf("not overruled: %+v", a)
	}
	if n, ok := events[len(events)-1].(event.Notice); !ok || n.Code != "stop_hook_cap" {
		t.Errorf("%+v", events[len(events)-1])
	}
	if len(active) != stopCap+1 || active[0] || !active[1] {
		t.Errorf("%v", active)
	}
	if stop(); active[len(active)-1] {
		t.Error("the guard was not reset")
	}
	d.Fire(t.Context(), UserPromptSubmit{Prompt: "next"})
	if stop(); active[len(active)-1] {
		t.Error("a new prompt does not reset the guard")
	}
}

func TestStopCapFromEnvironment(t *testing.T) {
	for value, blocks := range map[string]int{"2": 2, "0": 40, "x": stopCap} {
		c := answers(map[string]string{"x": `{"decision":"block","reason":"r"}`})
		c.Environ = []string{"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=" + value}
		d := load(t, c, Host, callbacks("SubagentStop", "x"))
		n := 0
		for n < 40 && len(d.Stops(t.Context(), Ending{Agent: Agent{ID: "a1", Type: "t"}}, func(event.Body) {}).Continue) > 0 {
			n++
		}
		if n != blocks {
			t.Errorf("%s: %d blocks, want %d", value, n, blocks)
		}
	}
}

func TestStopAnswers(t *testing.T) {
	by := map[string]string{
		"pass": `{}`, "end": `{"continue":false,"stopReason":"over"}`,
		"words": `{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"mind the docs"}}`,
	}
	stop := func(id string) StopAnswer {
		d := load(t, answers(by), Host, callbacks("Stop", id))
		return d.Stops(t.Context(), Ending{}, func(event.Body) {})
	}
	if a := stop("pass"); len(a.Continue) != 0 || a.End != "" {
		t.Errorf("%+v", a)
	}
	if a := stop("end"); a.End != event.StopHookPrevented || a.Detail != "over" {
		t.Errorf("%+v", a)
	}
	if a := stop("words"); len(a.Continue) != 1 || !strings.Contains(a.Continue[0].Text(), "mind the docs") || a.Continue[0].Role != msg.RoleUser {
		t.Errorf("%+v", a)
	}
}
