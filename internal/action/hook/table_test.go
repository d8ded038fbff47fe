package hook

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hew-agent/hew/internal/msg"
)

// published is the payload of every event beside the common fields, as it is
// documented: a ? marks what may be missing.
const published = `
SessionStart: source model? agent_type? session_title? seconds_since_last_response? context_tokens? prompt_cache_likely_expired? estimated_cache_write_usd?
Setup: trigger
UserPromptSubmit: prompt source? session_title?
UserPromptExpansion: expansion_type command_name command_args command_source? prompt
PreToolUse: tool_name tool_input tool_use_id mcp_server?
PermissionRequest: tool_name tool_input permission_suggestions? mcp_server?
PermissionDenied: tool_name tool_input tool_use_id reason mcp_server?
PostToolUse: tool_name tool_input tool_response tool_use_id duration_ms? mcp_server?
PostToolUseFailure: tool_name tool_input tool_use_id error is_interrupt? duration_ms? mcp_server?
PostToolBatch: tool_calls
Stop: stop_hook_active last_assistant_message? background_tasks session_crons
SubagentStop: stop_hook_active last_assistant_message? background_tasks session_crons agent_transcript_path
SubagentStart:
StopFailure: error error_details? last_assistant_message?
Notification: message title? notification_type
MessageDisplay: turn_id message_id index final delta
PreCompact: trigger custom_instructions
PostCompact: trigger compact_summary
SessionEnd: reason
InstructionsLoaded: file_path memory_type load_reason globs? trigger_file_path? parent_file_path?
ConfigChange: source file_path?
CwdChanged: old_cwd new_cwd
DirectoryAdded: directory source
FileChanged: file_path event
WorktreeCreate: name
WorktreeRemove: worktree_path
TaskCreated: task_id task_subject task_description? teammate_name? team_name?
TaskCompleted: task_id task_subject task_description? teammate_name? team_name?
TeammateIdle: teammate_name team_name
Elicitation: mcp_server_name message mode? url? elicitation_id? requested_schema?
ElicitationResult: mcp_server_name action content? mode? elicitation_id?
PreModelSwitch: from_model to_model requested_model source context_tokens prompt_cache_warm cache_ttl estimated_cache_write_usd pricing
PostModelSwitch: from_model to_model requested_model source context_tokens prompt_cache_warm cache_ttl estimated_cache_write_usd pricing
PreSkillShellCommand: tool_name tool_input tool_use_id command_name command_source? invoked_by mcp_server?
`

// controls is what an output may ask for at every event, beside the universal
// fields, as it is documented.
const controls = `
SessionStart: additionalContext initialUserMessage sessionTitle watchPaths reloadSkills
Setup: additionalContext
UserPromptSubmit: decision reason additionalContext sessionTitle suppressOriginalPrompt
UserPromptExpansion: decision reason additionalContext
PreToolUse: decision reason permissionDecision permissionDecisionReason updatedInput additionalContext
PermissionRequest: request
PermissionDenied: retry
PostToolUse: decision reason additionalContext updatedToolOutput updatedMCPToolOutput classifierContext
PostToolUseFailure: additionalContext
PostToolBatch: decision reason additionalContext
Stop: decision reason additionalContext
SubagentStop: decision reason additionalContext
SubagentStart: additionalContext
TaskCreated: decision reason
TaskCompleted: decision reason
TeammateIdle: decision reason
MessageDisplay: displayContent
PreCompact: decision reason
ConfigChange: decision reason
CwdChanged: watchPaths
FileChanged: watchPaths
WorktreeCreate: worktreePath
Elicitation: action content
ElicitationResult: action content
PreModelSwitch: permissionDecision permissionDecisionReason
PostModelSwitch: additionalContext
PreSkillShellCommand: permissionDecision permissionDecisionReason updatedInput
`

func specTable(t *testing.T, text string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for line := range strings.Lines(strings.TrimSpace(text)) {
		name, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || out[name] != nil {
			t.Fatalf("bad line %q", line)
		}
		out[name] = strings.Fields(rest)
	}
	return out
}

func TestEveryPublishedEventHasARow(t *testing.T) {
	spec := specTable(t, published)
	if len(Events()) != 34 || len(spec) != 34 {
		t.Fatalf("%d rows, %d documented events", len(Events()), len(spec))
	}
	for _, r := range Events() {
		var got []string
		for _, f := range r.Fields {
			switch {
			case f.Name == "agent_id", f.Name == "agent_type" && r.Event != "SessionStart": // common to all
			case f.Optional:
				got = append(got, f.Name+"?")
			default:
				got = append(got, f.Name)
			}
		}
		slices.Sort(got)
		want := slices.Sorted(slices.Values(spec[r.Event]))
		if !slices.Equal(got, want) {
			t.Errorf("%s: fields %v, documented %v", r.Event, got, want)
		}
		if r.Matcher != "" && !slices.ContainsFunc(r.Fields, func(f Field) bool { return f.Name == r.Matcher }) {
			t.Errorf("%s: matches on %s, which the payload has not", r.Event, r.Matcher)
		}
	}
}

// sample is an input of an event with every field filled in.
func sample(t *testing.T, r Row) Input {
	t.Helper()
	m := map[string]any{}
	for _, f := range r.Fields {
		switch f.Type {
		case "string":
			m[f.Name] = "some " + f.Name
		case "boolean":
			m[f.Name] = true
		case "number":
			m[f.Name] = 7
		case "array":
			m[f.Name] = []any{}
		default:
			m[f.Name] = map[string]any{"file_path": "/p/<a&b>.go"}
		}
	}
	raw, err := msg.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	in, err := Decode(r.Event, raw)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func testConfig() Config {
	return Config{Project: "/p", Session: func() Session {
		return Session{ID: "s1", Transcript: "/t.jsonl", Cwd: "/p/sub", Prompt: "p1", Mode: "plan", Effort: "high"}
	}}
}

// The payload of every event has all its fields with their types, and the
// common ones but for those that were measured to be missing.
func TestPayloads(t *testing.T) {
	d := New(testConfig())
	noPrompt := []string{"SessionStart", "InstructionsLoaded"}
	noMode := append(noPrompt, "SessionEnd", "CwdChanged", "MessageDisplay")
	for _, r := range Events() {
		o := d.payload(sample(t, r))
		var got map[string]any
		if o.err != nil || json.Unmarshal(o.payload, &got) != nil {
			t.Fatalf("%s: %v %s", r.Event, o.err, o.payload)
		}
		for _, name := range []string{"session_id", "transcript_path", "cwd", "hook_event_name", "effort"} {
			if got[name] == nil {
				t.Errorf("%s: no %s", r.Event, name)
			}
		}
		if got["hook_event_name"] != r.Event || (got["prompt_id"] == nil) != slices.Contains(noPrompt, r.Event) || (got["permission_mode"] == nil) != slices.Contains(noMode, r.Event) {
			t.Errorf("%s: common fields %v", r.Event, got)
		}
		for _, f := range r.Fields {
			v, ok := got[f.Name]
			if !ok && !(f.Optional && f.Type == "array") {
				t.Errorf("%s: no %s", r.Event, f.Name)
			}
			if ok && f.Type != "any" && jsonKind(v) != f.Type {
				t.Errorf("%s: %s is %s, not %s", r.Event, f.Name, jsonKind(v), f.Type)
			}
		}
		if strings.Contains(string(o.payload), `\u003c`) {
			t.Errorf("%s: escaped for HTML: %s", r.Event, o.payload)
		}
		if r.Matcher != "" && r.matched(o.in, o.fields)[0] == "" {
			t.Errorf("%s: its matchers see nothing", r.Event)
		}
	}
}

func jsonKind(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case []any:
		return "array"
	}
	return "any"
}

// Each field of the output works at the events that list it and is named in a
// warning at all others.
func TestOutcomeColumns(t *testing.T) {
	spec := specTable(t, controls)
	own := map[string]string{
		"additionalContext": `"ctx"`, "initialUserMessage": `"hi"`, "sessionTitle": `"T"`, "watchPaths": `["/w"]`, "reloadSkills": "true",
		"suppressOriginalPrompt": "true", "permissionDecision": `"ask"`, "permissionDecisionReason": `"why"`, "updatedInput": `{"a":1}`,
		"request": `{"behavior":"allow"}`, "retry": "true", "updatedToolOutput": `"out"`, "updatedMCPToolOutput": `[]`,
		"classifierContext": `"cls"`, "displayContent": `"d"`, "worktreePath": `"/wt"`, "action": `"decline"`, "content": `{}`,
	}
	top := map[string]string{"decision": `"block"`, "reason": `"why"`}
	for _, r := range Events() {
		for name, value := range own {
			key := name
			if name == "request" {
				key = "decision"
			}
			checkColumn(t, r, name, `{"hookSpecificOutput":{"hookEventName":"`+r.Event+`","`+key+`":`+value+`}}`, spec)
		}
		for name, value := range top {
			checkColumn(t, r, name, `{"`+name+`":`+value+`}`, spec)
		}
	}
}

func TestOutputsNamesTheColumns(t *testing.T) {
	r := rowIndex()["PermissionRequest"]
	if got := r.Outputs(); !slices.Equal(got, []string{".decision", "continue", "stopReason", "suppressOutput", "systemMessage", "terminalSequence"}) {
		t.Error(got)
	}
}

func checkColumn(t *testing.T, r Row, name, text string, spec map[string][]string) {
	t.Helper()
	o, err := parseOutput(&r, text)
	if err != nil {
		t.Errorf("%s %s: %v", r.Event, name, err)
		return
	}
	ignored := len(o.ignored) > 0
	o.ignored = nil
	changed := !cmp.Equal(o, output{}, cmp.AllowUnexported(output{}, Outcome{}))
	if want := slices.Contains(spec[r.Event], name); changed != want || ignored == want {
		t.Errorf("%s: %s: taken %v, ignored %v; documented: %v", r.Event, name, changed, ignored, want)
	}
}

func TestUniversalFields(t *testing.T) {
	for _, r := range Events() {
		o, err := parseOutput(&r, `{"continue":false,"stopReason":"enough","suppressOutput":true,"systemMessage":"m","terminalSequence":"\u0007","nonsense":1}`)
		if err != nil {
			t.Fatal(r.Event, err)
		}
		switch r.Event {
		case "Notification":
			if len(o.Terminal) != 1 || o.Stopped {
				t.Errorf("%s: %+v", r.Event, o)
			}
		case "MessageDisplay":
			if o.Stopped || o.Terminal != nil {
				t.Errorf("%s: %+v", r.Event, o)
			}
		default:
			if !o.Stopped || o.StopReason != "enough" || len(o.Messages) != 1 || !slices.Equal(o.ignored, []string{"nonsense"}) {
				t.Errorf("%s: %+v", r.Event, o)
			}
		}
	}
}

func TestOutputFaults(t *testing.T) {
	r := rowIndex()["PreToolUse"]
	for _, text := range []string{
		`{`, `{"continue":"no"}`, `{"decision":"maybe"}`, `{"decision":5}`, `{"a":1} trailing`, `{}{}`, `{"hookSpecificOutput":[]}`,
		`{"hookSpecificOutput":{"hookEventName":"Stop","permissionDecision":"allow"}}`, `{"hookSpecificOutput":{"hookEventName":5}}`,
		`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"yes"}}`,
		`{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":"x"}}`, "{\"systemMessage\":\"\xff\"}",
	} {
		if o, err := parseOutput(r, text); err == nil {
			t.Errorf("%s was taken as %+v", text, o.Outcome)
		}
	}
	for text, want := range map[string]string{
		``: "", `plain words`: "", "\n {}": "", `{"decision":"approve"}`: "allow", `{"decision":"block","reason":"r"}`: "deny",
		`{"decision":null}`: "", `{"hookSpecificOutput":{"permissionDecision":"deny"}}`: "deny",
		"{\"async\":true,\"asyncTimeout\":5}\n{\"decision\":\"block\"}": "deny",
	} {
		if o, err := parseOutput(r, text); err != nil || string(o.Behavior) != want {
			t.Errorf("%q: %q, want %q (%v)", text, o.Behavior, want, err)
		}
	}
}

func TestTerminalSequences(t *testing.T) {
	for s, want := range map[string]bool{
		"": true, "\a": true, "\x1b]0;title\a": true, "\x1b]9;done\x1b\\\a": true, "\x1b]777;notify;a;b\a": true,
		"\x1b[2J": false, "\x1b]52;c;aGk=\a": false, "\x1b]8;;http://x\a": false, "\x1b]0;x": false, "text": false, "\x1b]0;a\nb\a": false, "\x1b]0;\u009b2J\a": false,
	} {
		if cleanSequence(s) != want {
			t.Errorf("%q: want %v", s, want)
		}
	}
}

func FuzzOutput(f *testing.F) {
	f.Add("PreToolUse", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","updatedInput":{}}}`)
	f.Add("Stop", `{"decision":"block","reason":"x","continue":false}`)
	f.Add("PermissionRequest", `{"hookSpecificOutput":{"decision":{"behavior":"allow","updatedPermissions":[{"type":"setMode"}]}}}`)
	f.Add("WorktreeCreate", "a\nb\n")
	f.Add("SessionStart", "{\"async\":true}\n{")
	f.Fuzz(func(t *testing.T, event, text string) {
		r := rowIndex()[event]
		if r == nil {
			return
		}
		o, err := parseOutput(r, text)
		if err != nil {
			if o.Behavior != "" || o.Blocked || o.Input != nil {
				t.Fatalf("an invalid output decides: %+v", o.Outcome)
			}
			return
		}
		if o.Behavior != "" && severity(o.Behavior) == 0 || o.Input != nil && !json.Valid(o.Input) {
			t.Fatalf("%+v", o.Outcome)
		}
		if o.Behavior == Defer && r.Returns&Deferral == 0 || o.Blocked && r.Returns&Blocking == 0 {
			t.Fatalf("%s: %+v", event, o.Outcome)
		}
	})
}
