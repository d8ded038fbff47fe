package engine

import (
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/tool"
)

// Tracer writes one JSON line for each step of a turn, model call, shaper,
// permission decision, hook, and start and stop of a tool, one for what enters
// the window, and one for each turn and end of a run.
// Lines of one run are in the order of events; a failed write is dropped, as a
// trace must never disturb what it watches.
type Tracer struct {
	w   io.Writer
	now func() time.Time
	mu  sync.Mutex
}

// NewTracer makes a tracer. now is the clock of the lines' "t".
func NewTracer(w io.Writer, now func() time.Time) *Tracer { return &Tracer{w: w, now: now} }

type line struct {
	T      string      `json:"t"`
	Kind   string      `json:"kind"`
	Agent  string      `json:"agent,omitempty"`
	Turn   int         `json:"turn,omitempty"`
	Why    string      `json:"continue_reason,omitempty"`
	Model  string      `json:"model,omitempty"`
	Side   string      `json:"side,omitempty"`
	Bytes  int         `json:"bytes,omitempty"`
	MS     int64       `json:"ms,omitempty"`
	Input  int         `json:"input_tokens,omitempty"`
	Output int         `json:"output_tokens,omitempty"`
	Break  string      `json:"prefix_break,omitempty"`
	Error  string      `json:"error,omitempty"`
	Tool   string      `json:"tool,omitempty"`
	Use    string      `json:"tool_use_id,omitempty"`
	Title  string      `json:"title,omitempty"`
	Name   string      `json:"name,omitempty"`
	Result string      `json:"outcome,omitempty"`
	Layer  string      `json:"layer,omitempty"`
	Rule   string      `json:"rule,omitempty"`
	File   string      `json:"file,omitempty"`
	Reason string      `json:"reason,omitempty"`
	Steps  []tool.Step `json:"steps,omitempty"`
	Before int         `json:"before,omitempty"`
	After  int         `json:"after,omitempty"`
	Source string      `json:"source,omitempty"`
	Class  string      `json:"class,omitempty"`
	Phase  string      `json:"phase,omitempty"`
}

// Mark writes a line of the start-up sequence: security, signals, mode.
func (t *Tracer) Mark(kind, name string) { t.write(line{Kind: kind, Name: name}) }

// Event writes the line of an event, if it has one.
func (t *Tracer) Event(e event.Event) {
	l, ok := describe(e.Body)
	if !ok {
		return
	}
	l.Agent = e.Origin.Agent
	t.write(l)
}

func (t *Tracer) write(l line) {
	l.T = t.now().UTC().Format(time.RFC3339Nano)
	data, err := json.Marshal(l)
	if err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = t.w.Write(append(data, '\n'))
}

func describe(b event.Body) (line, bool) {
	switch b := b.(type) {
	case event.TurnStarted:
		return line{Kind: "turn", Turn: b.Turn, Why: b.Why}, true
	case event.ModelCall:
		return line{Kind: "model_call", Model: b.Model, Side: b.Side, Bytes: b.Bytes, MS: b.Took.Milliseconds(), Input: b.Usage.InputTokens, Output: b.Usage.OutputTokens, Break: b.Break, Error: b.Err}, true
	case event.Retrying:
		return line{Kind: "retry", Turn: b.Attempt, MS: b.Delay.Milliseconds(), Reason: b.Category}, true
	case event.Decided:
		d := b.Decision
		return line{Kind: "decision", Tool: b.Use.Name, Use: b.Use.ID, Result: string(d.Behavior), Layer: d.Layer, Rule: d.Rule, File: d.File, Reason: d.Reason, Steps: d.Trace}, true
	case event.HookRan:
		return line{Kind: "hook", Name: b.Name, Title: b.Event, Result: b.Outcome, MS: b.Took.Milliseconds()}, true
	case event.ToolStarted:
		return line{Kind: "tool_start", Tool: b.Use.Name, Use: b.Use.ID, Title: b.Title}, true
	case event.ToolFinished:
		return line{Kind: "tool_stop", Tool: b.Use.Name, Use: b.Use.ID, MS: b.Took.Milliseconds(), Result: finished(b), Layer: b.Layer}, true
	case event.Shaped:
		return line{Kind: "shaper", Name: b.Stage, Before: b.Before, After: b.After, Reason: b.Detail}, true
	case event.Compacting:
		return line{Kind: "compacting", Name: b.Trigger, Before: b.Percent, Error: b.Err}, true
	case event.Compacted:
		return line{Kind: "compact", Name: b.Trigger, Before: b.PreTokens, After: b.PostTokens}, true
	case event.Retracted:
		return line{Kind: "retracted", Reason: b.Reason}, true
	case event.Notice:
		return line{Kind: "notice", Name: b.Code, Reason: b.Text}, true
	case event.TaskChanged:
		return line{Kind: "task", Name: b.ID, Result: b.Status}, true
	case event.Asked:
		return line{Kind: "question", Name: string(b.Question.Kind), Tool: b.Question.Tool}, true
	case event.Answered:
		return line{Kind: "answer", Result: string(b.Answer.Behavior)}, true
	case event.CommandRan:
		result := "ok"
		if b.Failed {
			result = "error"
		}
		return line{Kind: "command", Name: b.Name, Result: result}, true
	case event.Step:
		if b.Name == event.StepLoad {
			return line{Kind: b.Name, Use: b.Use, Source: b.Source, Class: b.Class, Phase: b.Phase, Bytes: b.Bytes}, true
		}
		return line{Kind: "step", Name: b.Name, Tool: b.Tool, Use: b.Use}, true
	case event.Done:
		return line{Kind: "done", Result: string(b.Terminal.Reason), Turn: b.Terminal.Turns, Reason: b.Terminal.Detail}, true
	case event.Message:
		return line{Kind: "message", Name: string(b.Msg.Role), Reason: b.Source}, b.Source == "steer"
	case event.Delta, event.ToolProgress:
		return line{}, false
	}
	return line{}, false
}

func finished(f event.ToolFinished) string {
	switch {
	case !f.Ran:
		return "not_run"
	case f.Result.IsError:
		return "error"
	}
	return "ok"
}
