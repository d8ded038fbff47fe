package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// stopCap is how often stop hooks may keep an agent from ending before they are
// overruled (hooks.md §5).
const stopCap = 8

// StopAnswer has the fields of loop.Stop, so that loop.Stop(a) converts it.
type StopAnswer struct {
	Continue []*msg.Message
	Why      string
	End      event.Reason
	Detail   string
}

// Ending is an agent that is about to finish.
type Ending struct {
	// Agent is the zero value in the main conversation (event Stop); otherwise
	// SubagentStop is fired with the path of the subagent's transcript.
	Agent      Agent
	Transcript string
	// Last is the text of the last reply.
	Last string
	// Tasks and Crons are what runs in the background, as JSON objects.
	Tasks, Crons []json.RawMessage
}

// Stops asks the stop hooks whether the agent may finish. They may send it on
// with words, at most stopCap times in a row, or end the run with a reason.
func (d *Dispatcher) Stops(ctx context.Context, e Ending, emit func(event.Body)) StopAnswer {
	in, name := d.ending(e)
	if !d.Wants(name) {
		return StopAnswer{}
	}
	o := d.Fire(ctx, in)
	o.Emit(emit)
	if o.Stopped {
		d.allowStop(e.Agent.ID)
		return StopAnswer{End: event.StopHookPrevented, Detail: orText(o.StopReason, "a stop hook ended the run")}
	}
	var words []string
	if o.Blocked {
		words = append(words, Reminder(name, o.Reason))
	}
	for _, c := range o.Context {
		words = append(words, Reminder(name, c))
	}
	if len(words) == 0 || ctx.Err() != nil {
		d.allowStop(e.Agent.ID)
		return StopAnswer{}
	}
	if n, most := d.blockStop(e.Agent.ID); most > 0 && n > most {
		d.allowStop(e.Agent.ID)
		emit(event.Notice{Level: event.Warning, Code: "stop_hook_cap", Text: fmt.Sprintf(
			"the %s hooks kept the agent from ending %d times in a row and were overruled; CLAUDE_CODE_STOP_HOOK_BLOCK_CAP sets the number, 0 for none", name, most)})
		return StopAnswer{}
	}
	m := msg.User(d.newID(), d.c.Now(), strings.Join(words, "\n"))
	m.Meta = true
	return StopAnswer{Continue: []*msg.Message{m}, Why: "stop_hook"}
}

func (d *Dispatcher) ending(e Ending) (Input, string) {
	d.mu.Lock()
	active := d.stops[e.Agent.ID] > 0
	d.mu.Unlock()
	s := Stopping{Active: active, Last: e.Last, Tasks: e.Tasks, Crons: e.Crons}
	if e.Agent.ID == "" {
		return Stop{Stopping: s}, "Stop"
	}
	return SubagentStop{Agent: e.Agent, Stopping: s, Transcript: e.Transcript}, "SubagentStop"
}

// blockStop counts one more block and returns the count and what it may reach,
// 0 for no bound.
func (d *Dispatcher) blockStop(agent string) (n, most int) {
	most = stopCap
	if v, ok := d.number("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"); ok {
		most = v
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stops[agent]++
	return d.stops[agent], most
}

func (d *Dispatcher) allowStop(agent string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.stops, agent)
}

// newPrompt forgets what belonged to the last run of a conversation.
func (d *Dispatcher) newPrompt(agent string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.stops, agent)
	delete(d.halts, agent)
}

// halt remembers that a hook before a call wants the run to end. The call and
// its siblings go on; the next request is not made.
func (d *Dispatcher) halt(agent string, o Outcome) {
	if !o.Stopped {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.halts[agent] = orText(o.StopReason, "a hook ended the run")
}

// Halted says whether a hook has asked that the next request not be made, and
// why; asking takes it back. It fits loop.Config.Budget.
func (d *Dispatcher) Halted(agent string) (event.Reason, string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	why, ok := d.halts[agent]
	if !ok {
		return "", ""
	}
	delete(d.halts, agent)
	return event.HookStopped, why
}

func (d *Dispatcher) newID() string {
	if d.c.NewID == nil {
		return ""
	}
	return d.c.NewID()
}

func orText(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
