package engine

import (
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/prompt"
)

// The names of what a window holds, as package compact reports it.
const (
	systemPrompt = "system_prompt"
	toolsSource  = "tools"
	instructions = "instructions"
	conversation = "conversation"
	toolResults  = "tool_results"
	summaries    = "summaries"
)

// step tells the trace which step of a turn comes now.
func (e *Engine) step(s event.Step) {
	if e.c.Trace != nil {
		e.c.Trace(event.Event{Body: s})
	}
}

func (e *Engine) loads(source string, class prompt.Class, phase string, bytes int) {
	e.step(event.Step{Name: event.StepLoad, Source: source, Class: string(class), Phase: phase, Bytes: bytes})
}

// opened tells the trace what a process begins a conversation with: the first
// message, or all that an earlier process has left.
func (e *Engine) opened(first *msg.Message) {
	if e.c.Trace == nil {
		return
	}
	n := 0
	for _, s := range e.c.System {
		n += len(s)
	}
	e.loads(systemPrompt, prompt.ReadOnly, event.PhaseStart, n)
	n = 0
	shown, _ := e.split()
	for _, s := range shown {
		n += len(e.def(s).JSON)
	}
	e.loads(toolsSource, prompt.ReadOnly, event.PhaseStart, n)
	if first != nil {
		e.loads(instructions, prompt.Reloadable, event.PhaseStart, first.Size())
	}
	n = 0
	for _, m := range e.history {
		n += m.Size()
	}
	if n > 0 {
		e.loads(conversation, prompt.AppendOnly, event.PhaseStart, n)
	}
}

// demanded tells the trace of definitions of tools that were asked for.
func (e *Engine) demanded(names []string) {
	n := 0
	for _, name := range names {
		if t, ok := e.Tool(name); ok {
			n += len(e.def(t.Spec()).JSON)
		}
	}
	e.loads(toolsSource, prompt.OnDemand, event.PhaseDemand, n)
}

// enters tells the trace what an event adds to the window. The model's own words
// are in the line of its call.
func (e *Engine) enters(b event.Body) {
	if e.c.Trace == nil {
		return
	}
	if f, ok := b.(event.ToolFinished); ok && f.Msg != nil {
		e.step(event.Step{
			Name: event.StepLoad, Use: f.Use.ID, Source: toolResults, Class: string(prompt.Runtime), Phase: event.PhaseExecution, Bytes: f.Msg.Size(),
		})
	}
	if c, ok := b.(event.Compacted); ok { // the window begins anew
		if c.Context != nil {
			e.loads(instructions, prompt.Reloadable, event.PhaseStart, c.Context.Size())
		}
		if c.Summary != nil {
			e.loads(summaries, prompt.SystemWritten, event.PhaseTurn, c.Summary.Size())
		}
	}
	m, ok := b.(event.Message)
	if !ok || m.Msg == nil || m.Msg.Role != msg.RoleUser || m.Source == "" {
		return
	}
	source, class, phase := conversation, prompt.AppendOnly, event.PhaseTurn
	for _, s := range e.c.Sources {
		if s.Name() == m.From {
			source, class = m.From, s.Class()
		}
	}
	if class == prompt.OnDemand {
		phase = event.PhaseDemand
	}
	e.loads(source, class, phase, m.Msg.Size())
}
