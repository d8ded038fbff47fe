package acp

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// shown turns the events of a session into updates. It is used by one goroutine
// at a time.
type shown struct {
	s *conversation
	// text and thought tell that deltas of the open block were sent.
	text, thought bool
	planner       string // the tool whose list is the plan
}

func (v *shown) chunk(kind, s string) {
	if s != "" {
		v.s.update(chunk{Kind: kind, Content: text(s)})
	}
}

const (
	agentText    = "agent_message_chunk"
	agentThought = "agent_thought_chunk"
	userText     = "user_message_chunk"
)

// beside shows what happens outside of a run.
func (v *shown) beside(b event.Body) {
	if n, ok := b.(event.Notice); ok {
		v.notice(n)
	}
}

// event shows one event. What a subagent says is its own; what it did is in its
// call's result.
func (v *shown) event(ev event.Event) {
	if ev.Origin != (event.Origin{}) {
		return
	}
	switch b := ev.Body.(type) {
	case event.Delta:
		v.delta(b)
	case event.Message:
		v.message(b)
	case event.Retracted:
		v.chunk(agentThought, "The reply was taken back and comes again.\n")
	case event.ToolStarted:
		v.s.update(toolUpdate{Kind: "tool_call_update", ID: b.Use.ID, Status: "in_progress", Title: b.Title})
	case event.ToolProgress:
		v.progress(b)
	case event.ToolFinished:
		v.finished(b)
		v.s.changed()
	case event.Compacted:
		v.chunk(agentThought, fmt.Sprintf("The conversation was compacted: about %d tokens before, %d now.\n", b.PreTokens, b.PostTokens))
	case event.Notice:
		v.notice(b)
	case event.CommandRan:
		v.chunk(agentText, b.Output)
	case event.ModelCall:
		v.usage(b)
	case event.TurnStarted, event.Retrying, event.Decided, event.HookRan, event.Asked, event.Answered, event.Shaped, event.Compacting,
		event.TaskChanged, event.Step, event.Done:
	}
}

// notice shows what a person should know; what is only news goes to the log.
func (v *shown) notice(n event.Notice) {
	v.s.a.c.Warn(n.Text)
	if n.Level != event.Info {
		v.chunk(agentThought, n.Text+"\n")
	}
}

func (v *shown) delta(d event.Delta) {
	switch d.Kind {
	case event.DeltaText:
		v.text = v.text || d.Text != ""
		v.chunk(agentText, d.Text)
	case event.DeltaThinking:
		v.thought = v.thought || d.Text != ""
		v.chunk(agentThought, d.Text)
	case event.DeltaInput, event.DeltaOther:
	}
}

// message shows what no delta has shown: a reply that came in one piece, and calls.
func (v *shown) message(m event.Message) {
	if m.Msg.Role != msg.RoleAssistant {
		return
	}
	for _, b := range m.Msg.Blocks {
		switch b := b.(type) {
		case *msg.Text:
			if !v.text {
				v.chunk(agentText, b.Text)
			}
			v.text = false
		case *msg.Thinking:
			if !v.thought {
				v.chunk(agentThought, b.Text)
			}
			v.thought = false
		case *msg.ToolUse:
			v.s.update(v.call(b, "pending"))
		case *msg.ToolResult, *msg.Image, *msg.Document, *msg.Opaque:
		}
	}
}

// call is a tool call as it is first seen.
func (v *shown) call(use *msg.ToolUse, status string) toolUpdate {
	u := v.outline(use)
	u.Kind, u.Status = "tool_call", status
	return u
}

// outline is what can be told of a call that has not run.
func (v *shown) outline(use *msg.ToolUse) toolUpdate {
	o := v.s.live.Engine.Outline(use)
	u := toolUpdate{ID: use.ID, Title: o.Title, Act: string(o.Act), Input: use.Input}
	for _, p := range o.Paths {
		u.Locations = append(u.Locations, location{p})
	}
	switch p := o.Preview.(type) {
	case tool.DiffView:
		u.Content = []part{diff(p)}
	case tool.TerminalView:
		u.Content = texts(fenced(p.Command))
	case tool.TextView, tool.ListView, tool.TableView, tool.NestedView, nil:
	}
	return u
}

func diff(d tool.DiffView) part {
	p := part{Type: "diff", Path: d.Path, New: &d.New}
	if !d.Created {
		p.Old = &d.Old
	}
	return p
}

func texts(s string) []part {
	if s == "" {
		return nil
	}
	c := text(s)
	return []part{{Type: "content", Content: &c}}
}

// fenced puts what a program printed into Markdown.
func fenced(s string) string {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.TrimRight(s, "\n") + "\n" + fence
}

func (v *shown) progress(p event.ToolProgress) {
	if p.Progress.Text == "" {
		return
	}
	v.s.update(toolUpdate{Kind: "tool_call_update", ID: p.UseID, Status: "in_progress", Content: texts(fenced(p.Progress.Text))})
}

func (v *shown) finished(f event.ToolFinished) {
	u := toolUpdate{Kind: "tool_call_update", ID: f.Use.ID, Status: "completed", Output: f.Result.Data}
	if f.Result.IsError {
		u.Status = "failed"
	}
	u.Content = v.content(f)
	v.s.update(u)
	if l, ok := f.Result.View.(tool.ListView); ok {
		v.plan(f.Use.Name, l)
	}
}

func (v *shown) content(f event.ToolFinished) []part {
	switch r := f.Result.View.(type) {
	case tool.DiffView:
		return []part{diff(r)}
	case tool.TerminalView:
		if r.Output != "" {
			return texts(fenced(r.Output))
		}
	case tool.TextView, tool.ListView, tool.TableView, tool.NestedView, nil:
	}
	return blocks(f.Result.Content)
}

// blocks are the texts and pictures of a result.
func blocks(list []msg.Block) []part {
	var out []part
	for _, b := range list {
		switch b := b.(type) {
		case *msg.Text:
			out = append(out, texts(b.Text)...)
		case *msg.Image:
			if b.Data() != "" {
				out = append(out, part{Type: "content", Content: &content{Type: "image", Data: b.Data(), MIME: b.MediaType}})
			}
		case *msg.Thinking, *msg.ToolUse, *msg.ToolResult, *msg.Document, *msg.Opaque:
		}
	}
	return out
}

// plan shows a list whose items have a state as the plan of the session.
func (v *shown) plan(by string, l tool.ListView) {
	entries := []planEntry{}
	for _, it := range l.Items {
		switch it.State {
		case "pending", "in_progress", "completed":
			entries = append(entries, planEntry{it.Text, "medium", it.State})
		default:
			return
		}
	}
	if len(entries) == 0 && v.planner != by {
		return
	}
	v.planner = by
	v.s.update(map[string]any{"sessionUpdate": "plan", "entries": entries})
}

// usage tells how full the window is and what the session has cost.
func (v *shown) usage(c event.ModelCall) {
	if c.Side != "" || c.Err != "" {
		return
	}
	e := v.s.live.Engine
	v.s.update(map[string]any{
		"sessionUpdate": "usage_update", "used": c.Usage.Context(), "size": e.Model().Window, "cost": cost{e.Costs().CostUSD, "USD"},
	})
}

// titled tells the session's title, its first prompt, and when it was used.
func (s *conversation) titled(m *msg.Message) {
	info := map[string]any{"sessionUpdate": "session_info_update", "updatedAt": s.a.c.Now().UTC().Format(time.RFC3339)}
	if line, _, _ := strings.Cut(strings.TrimSpace(m.Text()), "\n"); !s.named && !m.Meta && line != "" {
		s.named = true
		info["title"] = clip(line, maxTitle)
	}
	s.update(info)
}

// maxTitle is where a title is cut, in characters.
const maxTitle = 80

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// replay shows the conversation so far.
func (s *conversation) replay() {
	open := map[string]bool{}
	for _, m := range s.live.Engine.View().History {
		if m.Meta {
			continue
		}
		for _, b := range m.Blocks {
			s.shown.again(m.Role, b, open)
		}
	}
	s.named = true
	for id := range open {
		s.update(toolUpdate{Kind: "tool_call_update", ID: id, Status: "failed"})
	}
}

// again shows a block of the past; open are the calls without a result.
func (v *shown) again(role msg.Role, b msg.Block, open map[string]bool) {
	kind := agentText
	if role == msg.RoleUser {
		kind = userText
	}
	switch b := b.(type) {
	case *msg.Text:
		v.chunk(kind, b.Text)
	case *msg.Thinking:
		v.chunk(agentThought, b.Text)
	case *msg.ToolUse:
		open[b.ID] = true
		v.s.update(v.call(b, "in_progress"))
	case *msg.ToolResult:
		delete(open, b.ToolUseID)
		u := toolUpdate{Kind: "tool_call_update", ID: b.ToolUseID, Status: "completed", Content: blocks(b.Content)}
		if b.IsError {
			u.Status = "failed"
		}
		v.s.update(u)
	case *msg.Image:
		if b.Data() != "" {
			v.s.update(chunk{Kind: kind, Content: content{Type: "image", Data: b.Data(), MIME: b.MediaType}})
		}
	case *msg.Document, *msg.Opaque:
	}
}

const stopCancelled = "cancelled"

// stopReason is how a run ended in the words of the protocol.
func stopReason(t event.Terminal) string {
	switch t.Reason {
	case event.MaxTurns, event.BudgetExhausted:
		return "max_turn_requests"
	case event.PromptTooLong, event.BlockingLimit, event.RapidRefillBreaker:
		return "max_tokens"
	case event.AbortedStreaming, event.AbortedTools:
		return stopCancelled
	case event.ModelError:
		if t.StopReason == provider.StopRefusal {
			return "refusal"
		}
	case event.Completed:
		if t.StopReason == provider.StopMaxTokens {
			return "max_tokens"
		}
	case event.Local, event.StopHookPrevented, event.HookStopped, event.ToolDeferred, event.DeferredUnavailable, event.BackgroundRequested,
		event.OutputExhausted, event.ImageError, event.APIError, event.MalformedToolUse, event.SetupFailed:
	}
	return "end_turn"
}

// failed tells that a run ended with an error rather than for a reason that the
// protocol has a word for.
func failed(t event.Terminal) bool {
	switch t.Reason {
	case event.APIError, event.ImageError, event.MalformedToolUse, event.OutputExhausted, event.SetupFailed, event.DeferredUnavailable:
		return true
	case event.ModelError:
		return t.StopReason != provider.StopRefusal
	case event.Completed, event.MaxTurns, event.BudgetExhausted, event.PromptTooLong, event.BlockingLimit, event.RapidRefillBreaker,
		event.AbortedStreaming, event.AbortedTools, event.StopHookPrevented, event.HookStopped, event.ToolDeferred, event.BackgroundRequested, event.Local:
	}
	return false
}

// object reads a value that may be absent.
func object(raw json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}
