package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// Answer is what the hooks before a call said together.
type Answer struct {
	// Behavior is the most restrictive of allow, ask and deny; "" for nothing.
	Behavior tool.Behavior
	Reason   string
	// Deferred tells that a hook puts the call off. Behavior is then ask, which is
	// what it means wherever calls cannot be kept for a resume.
	Deferred bool
	// Input replaces the call's input and is judged again.
	Input json.RawMessage
	// Context is for the model, beside the call's result. After adds it when the
	// call runs; whoever refuses the call adds it to the refusal.
	Context []string
}

// Calls is the seam around tool calls.
type Calls struct{ d *Dispatcher }

// ForGate is the face that the gate sees.
func (d *Dispatcher) ForGate() *Calls { return &Calls{d} }

// pendingCalls keeps what was said before a call until its result is there. It
// is bounded: a refused call never gets one.
type pendingCalls struct {
	byID  map[string]pendingCall
	order []string
}

type pendingCall struct {
	planned tool.Planned
	context []string
}

const maxPending = 1024

func (p *pendingCalls) put(id string, c pendingCall) {
	if p.byID == nil {
		p.byID = map[string]pendingCall{}
	}
	p.byID[id] = c
	p.order = append(p.order, id)
	if len(p.order) > maxPending {
		delete(p.byID, p.order[0])
		p.order = p.order[1:]
	}
}

// Before tells the hooks of a validated call and returns what they want.
func (c *Calls) Before(ctx context.Context, p tool.Planned, emit func(event.Body)) Answer {
	d := c.d
	if !d.Wants("PreToolUse") && !d.Wants("PostToolUse") && !d.Wants("PostToolUseFailure") {
		return Answer{}
	}
	o := d.Fire(ctx, PreToolUse{Agent: d.agent(p.Env.Agent), ToolCall: toolCall(p), UseID: p.Use.ID})
	o.Emit(emit)
	d.mu.Lock()
	d.calls.put(p.Use.ID, pendingCall{planned: p, context: o.Context})
	d.mu.Unlock()
	d.halt(p.Env.Agent, o)
	a := Answer{Behavior: o.Behavior, Reason: o.Reason, Input: o.Input, Context: o.Context}
	if a.Behavior == Defer {
		a.Behavior, a.Deferred = tool.Ask, true
	}
	return a
}

// After tells the hooks of a call's result and returns what the model will see.
func (c *Calls) After(ctx context.Context, a tool.Admitted, r tool.Result, took time.Duration, emit func(event.Body)) (tool.Result, tool.Verdict) {
	d := c.d
	d.mu.Lock()
	before := d.calls.byID[a.Use.ID]
	delete(d.calls.byID, a.Use.ID)
	d.mu.Unlock()
	if ctx.Err() != nil { // an interrupted call is neither a success nor a failure
		return remind(r, "PreToolUse", before.context), tool.Verdict{}
	}
	in := d.finished(a, r, took, before.planned.Env)
	o := d.Fire(ctx, in)
	if o.Output != nil || o.MCPOutput != nil {
		var why string
		if r, why = replaced(r, o, a.Tool); why != "" {
			emit(event.Notice{Level: event.Warning, Code: "hook_output", Text: why})
		}
	}
	o.Emit(emit)
	r = remind(r, "PreToolUse", before.context)
	r = remind(r, rowOf(in).Event, o.Context)
	if o.Blocked {
		r = remind(r, rowOf(in).Event+" (blocked)", []string{o.Reason})
	}
	return r, tool.Verdict{PreventContinuation: o.Stopped, Reason: o.StopReason, Notes: o.ClassifierContext}
}

// finished is the event of a call's end: one of success or one of failure.
func (d *Dispatcher) finished(a tool.Admitted, r tool.Result, took time.Duration, env tool.Env) Input {
	call := toolCall(tool.Planned{Tool: a.Tool, Use: a.Use, Call: a.Call, Env: env})
	if r.IsError {
		return PostToolUseFailure{Agent: d.agent(env.Agent), ToolCall: call, UseID: a.Use.ID, Error: textOfBlocks(r.Content), Duration: took.Milliseconds()}
	}
	response := r.Data
	if len(response) == 0 || !json.Valid(response) {
		response = quoted(textOfBlocks(r.Content))
	}
	return PostToolUse{Agent: d.agent(env.Agent), ToolCall: call, UseID: a.Use.ID, Response: response, Duration: took.Milliseconds()}
}

// Requested tells the hooks that somebody is about to be asked. ok is false when
// none of them answers; it may run beside the question.
func (c *Calls) Requested(ctx context.Context, p tool.Planned, s []event.Suggestion, emit func(event.Body)) (a event.Answer, ok bool) {
	o := c.d.Fire(ctx, PermissionRequest{Agent: c.d.agent(p.Env.Agent), ToolCall: toolCall(p), Suggestions: s})
	o.Emit(emit)
	c.d.halt(p.Env.Agent, o)
	if o.Behavior != tool.Allow && o.Behavior != tool.Deny {
		return event.Answer{}, false
	}
	return event.Answer{Behavior: o.Behavior, Input: o.Input, Message: o.Message, Interrupt: o.Interrupt, Updates: o.Updates}, true
}

// Denied tells the hooks that auto mode refused a call; retry tells the model
// that it may try again.
func (c *Calls) Denied(ctx context.Context, p tool.Planned, reason string, emit func(event.Body)) (retry bool) {
	o := c.d.Fire(ctx, PermissionDenied{Agent: c.d.agent(p.Env.Agent), ToolCall: toolCall(p), UseID: p.Use.ID, Reason: reason})
	o.Emit(emit)
	return o.Retry
}

func (d *Dispatcher) agent(id string) Agent {
	a := Agent{ID: id}
	if id != "" && d.c.AgentType != nil {
		a.Type = d.c.AgentType(id)
	}
	return a
}

// toolCall describes a call as hooks see it: the tool's own name, and the path
// it is about absolute.
func toolCall(p tool.Planned) ToolCall {
	s := p.Tool.Spec()
	c := ToolCall{Name: s.Name, Input: p.Use.Input, Planned: p}
	if strings.HasPrefix(s.Name, "mcp__") {
		c.Server = s.Origin
	}
	needs := p.Call.Needs()
	if len(needs) == 0 || needs[0].Path == "" || s.MainField == "" {
		return c
	}
	at := gjson.GetBytes(c.Input, s.MainField)
	if at.Type != gjson.String || at.Str == needs[0].Path {
		return c
	}
	if in, err := sjson.SetBytes(append(json.RawMessage(nil), c.Input...), s.MainField, needs[0].Path); err == nil {
		c.Input = in
	}
	return c
}

// remind adds texts to a result, in the wrapper that tells the model that they
// are not the tool's.
func remind(r tool.Result, from string, texts []string) tool.Result {
	if len(texts) == 0 {
		return r
	}
	r.Content = append([]msg.Block(nil), r.Content...)
	for _, t := range texts {
		r.Content = append(r.Content, msg.NewText(Reminder(from, t)))
	}
	return r
}

// Reminder wraps the words of a hook for the model.
func Reminder(from, text string) string {
	return "<system-reminder>\n" + from + " hook: " + text + "\n</system-reminder>"
}

// replaced puts the output that a hook gave in the place of the tool's. One that
// does not fit what the tool gives is left out, with the reason.
func replaced(r tool.Result, o Outcome, t tool.Tool) (tool.Result, string) {
	out := o.Output
	if out == nil {
		if !strings.HasPrefix(t.Spec().Name, "mcp__") {
			return r, "a hook gave updatedMCPToolOutput for a tool that is not of an MCP server; it was ignored"
		}
		out = o.MCPOutput
	}
	v := gjson.ParseBytes(out)
	if v.Type == gjson.String {
		r.Content = []msg.Block{msg.NewText(v.Str)}
		r.Data = json.RawMessage(out)
		return r, ""
	}
	if v.IsArray() {
		m, err := msg.Decode(json.RawMessage(`{"role":"user","content":` + string(out) + `}`))
		if err == nil {
			r.Content, r.Data = m.Blocks, json.RawMessage(out)
			return r, ""
		}
	}
	if why := misfit(gjson.ParseBytes(r.Data), v); why != "" {
		return r, "a hook's updatedToolOutput does not fit the tool's output (" + why + "); it was ignored"
	}
	r.Content = []msg.Block{msg.NewText(string(out))}
	r.Data = json.RawMessage(out)
	return r, ""
}

// misfit compares the shape of a new output with the one that the tool gave.
func misfit(have, want gjson.Result) string {
	if !want.IsObject() || !have.IsObject() {
		return "neither text nor an object like the tool's"
	}
	why := ""
	want.ForEach(func(k, v gjson.Result) bool {
		old := have.Get(gjson.Escape(k.Str))
		switch {
		case !old.Exists():
			why = fmt.Sprintf("it has no field %q", clip(k.Str, 60))
		case old.Type != v.Type && old.Type != gjson.Null && v.Type != gjson.Null && !(old.IsBool() && v.IsBool()):
			why = fmt.Sprintf("the field %q is of another type", clip(k.Str, 60))
		}
		return why == ""
	})
	return why
}

func textOfBlocks(bs []msg.Block) string {
	var parts []string
	for _, b := range bs {
		if t, ok := b.(*msg.Text); ok {
			parts = append(parts, t.Text)
		}
	}
	return strings.Join(parts, "\n")
}

func quoted(s string) json.RawMessage {
	raw, err := msg.Marshal(s)
	if err != nil {
		return json.RawMessage(`""`) // a string always marshals
	}
	return raw
}
