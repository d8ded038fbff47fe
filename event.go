package hew

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// Event is one thing that happened: one of the types below. New ones may be added,
// so a switch over events passes over what it does not know.
type Event interface {
	// Kind is a word for logs: delta, reply, tool_started, ….
	Kind() string
}

// Delta is a piece of a reply while it arrives. All of it comes again in Reply.
type Delta struct {
	// Agent is the id of the subagent that it is about, "" for the conversation, here
	// and in all other events.
	Agent string
	// Thinking tells that it is the model's reasoning.
	Thinking bool
	Text     string
}

// Reply is a part of what the model said, once it is in the transcript: a text,
// a piece of reasoning, or a call of a tool.
type Reply struct {
	Agent string
	// ID is that of the part in the transcript.
	ID, Model      string
	Text, Thinking string
	// Call is nil unless the part is one.
	Call *Call
}

// Call is a call of a tool.
type Call struct {
	ID, Tool string
	Input    json.RawMessage
}

// ToolStarted says that a call begins to run. Title is one line for people.
type ToolStarted struct {
	Agent string
	Call  Call
	Title string
}

// ToolFinished says that a call has its result: it ran, failed or was refused.
type ToolFinished struct {
	Agent string
	Call  Call
	// Text is what the model is told; Data the result for programs, nil for none.
	Text  string
	Data  json.RawMessage
	Error bool
	Took  time.Duration
}

// Denied says that a call was refused, and by what.
type Denied struct {
	Agent  string
	Call   Call
	Reason string
}

// Retrying says that a request to the model failed and is tried again.
type Retrying struct {
	Attempt int
	After   time.Duration
	// Status is the HTTP status, 0 when there was no answer.
	Status int
}

// Compacted says that the beginning of the conversation was replaced by a summary.
type Compacted struct{ Before, After int } // tokens

// Task says what became of a subagent or of a command in the background.
type Task struct {
	ID string
	// Status is running, progress, moved, completed, failed or killed.
	Status, Summary string
}

// Notice is something that a person should know and that is no error of the run.
type Notice struct {
	// Level is info, warning or error; Code a stable word for programs.
	Level, Code, Text string
}

// Reason says why a run ended.
type Reason string

// The reasons that programs ask for most; others are the published terminal reasons.
const (
	Completed   Reason = "completed"
	MaxTurns    Reason = "max_turns"
	OverBudget  Reason = "budget_exhausted"
	Interrupted Reason = "aborted_streaming"
	ToolsEnded  Reason = "aborted_tools"
	APIError    Reason = "api_error"
	// Failed is a run that could not begin.
	Failed Reason = "turn_setup_failed"
)

// Usage is tokens.
type Usage struct{ Input, Output, CacheRead, CacheWrite int }

// Done ends every run.
type Done struct {
	Reason Reason
	// Text is that of the last reply.
	Text string
	// Output is the answer that fits Options.Schema, nil for none.
	Output json.RawMessage
	// Err is nil unless the run failed.
	Err error
	// Session is the id of the session.
	Session string
	// Turns counts the replies of the run, Usage adds them up; USD is what the
	// conversation has cost so far, subagents included.
	Turns int
	Usage Usage
	USD   float64
	// Prompt is the id of the newest prompt; see Session.Rewind.
	Prompt string
	// Denied are the calls that were refused.
	Denied []Call
}

// Kind is delta.
func (Delta) Kind() string { return "delta" }

// Kind is reply.
func (Reply) Kind() string { return "reply" }

// Kind is tool_started.
func (ToolStarted) Kind() string { return "tool_started" }

// Kind is tool_finished.
func (ToolFinished) Kind() string { return "tool_finished" }

// Kind is denied.
func (Denied) Kind() string { return "denied" }

// Kind is retrying.
func (Retrying) Kind() string { return "retrying" }

// Kind is compacted.
func (Compacted) Kind() string { return "compacted" }

// Kind is task.
func (Task) Kind() string { return "task" }

// Kind is notice.
func (Notice) Kind() string { return "notice" }

// Kind is done.
func (Done) Kind() string { return "done" }

// convert makes an event of one of the engine's; nil for what the caller has no
// use for.
func convert(ev event.Event) Event {
	agent := ev.Origin.Agent
	switch b := ev.Body.(type) {
	case event.Delta:
		if b.Kind == event.DeltaText || b.Kind == event.DeltaThinking {
			return Delta{agent, b.Kind == event.DeltaThinking, b.Text}
		}
	case event.Message:
		return reply(agent, b.Msg)
	case event.ToolStarted:
		return ToolStarted{agent, callOf(b.Use), b.Title}
	case event.ToolFinished:
		return ToolFinished{agent, callOf(b.Use), textOf(b.Result), b.Result.Data, b.Result.IsError, b.Took}
	case event.Decided:
		if b.Decision.Behavior == tool.Deny {
			return Denied{agent, callOf(b.Use), b.Decision.Reason}
		}
	case event.Retrying:
		return Retrying{b.Attempt, b.Delay, b.Status}
	case event.Compacted:
		return Compacted{b.PreTokens, b.PostTokens}
	case event.TaskChanged:
		return Task{b.ID, b.Status, b.Summary}
	case event.Notice:
		return Notice{string(b.Level), b.Code, b.Text}
	case event.CommandRan:
		return Notice{"info", "command", b.Output}
	case event.TurnStarted, event.ToolProgress, event.Retracted, event.HookRan, event.Asked, event.Answered, event.ModelCall,
		event.Shaped, event.Compacting, event.Step, event.Done:
	}
	return nil
}

// reply is what the model said; nil for other messages.
func reply(agent string, m *msg.Message) Event {
	if m.Role != msg.RoleAssistant {
		return nil
	}
	r := Reply{Agent: agent, ID: m.ID, Text: m.Text()}
	if m.Reply != nil {
		r.Model = m.Reply.Model
	}
	for _, b := range m.Blocks {
		switch b := b.(type) {
		case *msg.Thinking:
			r.Thinking += b.Text
		case *msg.ToolUse:
			c := callOf(b)
			r.Call = &c
		case *msg.Text, *msg.ToolResult, *msg.Image, *msg.Document, *msg.Opaque:
		}
	}
	return r
}

func callOf(u *msg.ToolUse) Call { return Call{u.ID, u.Name, u.Input} }

func textOf(r tool.Result) string {
	var out []string
	for _, b := range r.Content {
		if t, ok := b.(*msg.Text); ok {
			out = append(out, t.Text)
		}
	}
	return strings.Join(out, "\n")
}

// done is the end of a run.
func (s *Session) done(t event.Terminal) Done {
	e := s.conv.Engine
	d := Done{
		Reason: Reason(t.Reason), Text: t.Text, Output: t.Output, Err: t.Err, Session: e.Session(), Turns: t.Turns, USD: e.Costs().CostUSD,
		Usage: Usage{t.Usage.InputTokens, t.Usage.OutputTokens, t.Usage.CacheReadInputTokens, t.Usage.CacheCreationInputTokens},
	}
	for _, n := range t.Denied {
		d.Denied = append(d.Denied, Call{n.UseID, n.Tool, n.Input})
	}
	for i := len(t.History) - 1; i >= 0 && d.Prompt == ""; i-- {
		if m := t.History[i]; m.Role == msg.RoleUser && !m.Meta && strings.TrimSpace(m.Text()) != "" {
			d.Prompt = m.ID
		}
	}
	return d
}
