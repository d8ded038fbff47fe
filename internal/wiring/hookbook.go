package wiring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/action/hook"
	"github.com/hew-agent/hew/internal/action/policy/shellread"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/tool"
)

// HookBook answers questions about the hooks of a folder. Only Try with Run runs any.
type HookBook struct {
	b *build
	d *hook.Dispatcher
}

// OpenHooks reads the hooks as a session would. Close frees them.
func OpenHooks(o Options) (*HookBook, error) {
	o.NoPersist, o.Resume, o.Continue, o.Fork = true, "", false, false
	if o.NewID == nil {
		o.NewID = session.NewID
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	b := &build{o: &o, conv: &Conversation{}, facts: shellread.NewReader(rememberedCommands)}
	if err := errors.Join(b.locate(), b.session(context.Background()), b.findPlugins()); err != nil {
		return nil, err
	}
	b.runner = shell.New(shell.Config{NoSnapshot: true, Shell: o.getenv("CLAUDE_CODE_SHELL"), Env: b.environ()})
	c := b.hookConfig(specsOf(b.catalogue(b.dialect())))
	c.SpillDir = ""
	c.Session = func() hook.Session { return hook.Session{ID: b.id, Cwd: b.place.Cwd, Mode: "default"} }
	d := hook.New(c)
	d.Load(b.hookSources(b.settings))
	b.conv.close = append(b.conv.close, b.runner.Close, d.Close)
	return &HookBook{b, d}, nil
}

// Close ends what Try has left in the background.
func (h *HookBook) Close() error { return h.b.conv.Close() }

// HookRow is one hook as it was understood.
type HookRow struct {
	Event   string  `json:"event"`
	Matcher string  `json:"matcher,omitempty"`
	If      string  `json:"if,omitempty"`
	Type    string  `json:"type"`
	Runs    string  `json:"runs"`
	Timeout float64 `json:"timeout_seconds"`
	Async   bool    `json:"async,omitempty"`
	Once    bool    `json:"once,omitempty"`
	Blocks  bool    `json:"blocks_on_failure,omitempty"`
	Scope   string  `json:"scope"`
	File    string  `json:"file,omitempty"`
	Line    int     `json:"line,omitempty"`
	// Off says why it does not run.
	Off string `json:"off,omitempty"`
}

func hookRows(list []hook.Hook) []HookRow {
	out := []HookRow{}
	for _, h := range list {
		out = append(out, HookRow{
			Event: h.Event, Matcher: h.Matcher, If: h.If, Type: h.Kind.String(), Runs: h.Title(), Timeout: h.Timeout.Seconds(),
			Async: h.Async, Once: h.Once, Blocks: h.BlockOnFailure,
			Scope: string(h.Source.Scope), File: h.Source.File, Line: h.Source.Line, Off: h.Off,
		})
	}
	return out
}

// List is every hook, strongest source first.
func (h *HookBook) List() []HookRow { return hookRows(h.d.List()) }

// Trial is what would happen at an event, or has happened.
type Trial struct {
	Matching []HookRow `json:"matching"`
	// Runs and Outcome are there when the hooks were run.
	Runs    []HookRun     `json:"runs,omitempty"`
	Notices []string      `json:"notices,omitempty"`
	Outcome *TrialOutcome `json:"outcome,omitempty"`
}

// HookRun is how one hook ended.
type HookRun struct {
	Name    string `json:"name"`
	Outcome string `json:"outcome"`
	Exit    int    `json:"exit_code"`
	Millis  int64  `json:"ms"`
	Stdout  string `json:"stdout,omitempty"`
	Stderr  string `json:"stderr,omitempty"`
}

// TrialOutcome is what the hooks said together.
type TrialOutcome struct {
	Behavior string          `json:"behavior,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Blocked  bool            `json:"blocked,omitempty"`
	Stopped  bool            `json:"stopped,omitempty"`
	Why      string          `json:"stop_reason,omitempty"`
	Input    json.RawMessage `json:"updated_input,omitempty"`
	Context  []string        `json:"context,omitempty"`
	Messages []string        `json:"messages,omitempty"`
}

// Match says which hooks an event would run. subject is the payload as JSON, a
// call such as "Bash(git push)" at the events about tools, or the value that
// matchers see.
func (h *HookBook) Match(name, subject string) (Trial, error) {
	in, err := h.input(name, subject)
	if err != nil {
		return Trial{}, err
	}
	return Trial{Matching: hookRows(h.d.Matching(in))}, nil
}

// Run runs them.
func (h *HookBook) Run(ctx context.Context, name, subject string) (Trial, error) {
	in, err := h.input(name, subject)
	if err != nil {
		return Trial{}, err
	}
	t := Trial{Matching: hookRows(h.d.Matching(in))}
	o := h.d.Fire(ctx, in)
	o.Emit(func(b event.Body) {
		if r, ok := b.(event.HookRan); ok {
			t.Runs = append(t.Runs, HookRun{r.Name, r.Outcome, r.ExitCode, r.Took.Milliseconds(), r.Output, r.Stderr})
		}
		if n, ok := b.(event.Notice); ok {
			t.Notices = append(t.Notices, n.Text)
		}
	})
	t.Outcome = &TrialOutcome{string(o.Behavior), o.Reason, o.Blocked, o.Stopped, o.StopReason, o.Input, o.Context, o.Messages}
	return t, nil
}

func (h *HookBook) input(name, subject string) (hook.Input, error) {
	at := slices.IndexFunc(hook.Events(), func(r hook.Row) bool { return r.Event == name })
	if at < 0 {
		return hook.Decode(name, nil) // says so, with the nearest name
	}
	row := hook.Events()[at]
	subject = strings.TrimSpace(subject)
	switch {
	case strings.HasPrefix(subject, "{"):
		return hook.Decode(name, json.RawMessage(subject))
	case row.Matcher == "tool_name" && subject != "":
		return h.call(name, subject)
	case subject == "":
		return hook.Decode(name, json.RawMessage("{}"))
	case row.Matcher == "":
		return nil, fmt.Errorf("matchers mean nothing at %s: give its payload as JSON, or nothing", name)
	}
	raw, err := msg.Marshal(map[string]string{row.Matcher: subject})
	if err != nil {
		return nil, err
	}
	return hook.Decode(name, raw)
}

// call is a tool event about a call, planned so that `if` rules judge it as in a session.
func (h *HookBook) call(name, text string) (hook.Input, error) {
	tools := h.b.catalogue(h.b.dialect())
	t, in, err := readCall(tools, text)
	if err != nil {
		if t, _ = find(tools, text); strings.ContainsAny(text, "({ ") {
			return nil, err
		}
		in = json.RawMessage("{}") // a name alone
	}
	c := hook.ToolCall{Name: t.Spec().Name, Input: in}
	env := tool.Env{Cwd: h.b.place.Cwd, Project: h.b.place.Project, Roots: h.b.place.Roots}
	if planned, err := t.Plan(completed(t.Spec(), in), env); err == nil {
		c.Planned = tool.Planned{Tool: t, Use: msg.NewToolUse("toolu_test", c.Name, in), Call: planned, Env: env}
	}
	const use = "toolu_test"
	switch name {
	case "PreToolUse":
		return hook.PreToolUse{ToolCall: c, UseID: use}, nil
	case "PostToolUse":
		return hook.PostToolUse{ToolCall: c, UseID: use, Response: json.RawMessage(`"ok"`)}, nil
	case "PostToolUseFailure":
		return hook.PostToolUseFailure{ToolCall: c, UseID: use, Error: "it failed"}, nil
	case "PermissionRequest":
		return hook.PermissionRequest{ToolCall: c}, nil
	case "PermissionDenied":
		return hook.PermissionDenied{ToolCall: c, UseID: use, Reason: "a test"}, nil
	}
	return nil, fmt.Errorf("the event %s takes its payload as JSON", name)
}
