package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

const (
	// grace is how long a hook may take to end once its time is over.
	grace = 3 * time.Second
	// endBudget is what all hooks of a session's end have together.
	endBudget = 1500 * time.Millisecond
	// maxEndBudget bounds what configured limits may raise it to.
	maxEndBudget = time.Minute
)

// occasion is one event as hooks get to know it.
type occasion struct {
	in      Input
	row     *Row
	session Session
	fields  map[string]json.RawMessage
	// payload is the whole as JSON; err says why there is none.
	payload json.RawMessage
	err     error
}

// payload lays out an event. A field that is no valid JSON (a tool input that a
// caller made up) leaves no payload: the hooks then count as failed.
func (d *Dispatcher) payload(in Input) *occasion {
	o := &occasion{in: in, row: rowOf(in)}
	if d.c.Session != nil {
		o.session = d.c.Session()
	}
	head := struct {
		ID         string `json:"session_id"`
		Transcript string `json:"transcript_path"`
		Cwd        string `json:"cwd"`
		Prompt     string `json:"prompt_id,omitempty"`
		Mode       string `json:"permission_mode,omitempty"`
		Effort     any    `json:"effort,omitempty"`
		Event      string `json:"hook_event_name"`
	}{ID: o.session.ID, Transcript: o.session.Transcript, Cwd: o.session.Cwd, Event: o.row.Event}
	if !o.row.early {
		head.Prompt = o.session.Prompt
	}
	if !o.row.bare {
		head.Mode = o.session.Mode
	}
	if o.session.Effort != "" {
		head.Effort = map[string]string{"level": o.session.Effort}
	}
	a, errA := msg.Marshal(head)
	b, errB := msg.Marshal(in)
	if errA != nil || errB != nil {
		o.err = fmt.Errorf("describe the event %s: the call's input is not valid JSON", o.row.Event)
		return o
	}
	o.payload = a
	if len(b) > len("{}") {
		o.payload = append(append(a[:len(a)-1], ','), b[1:]...)
	}
	o.fields, _, _ = objectOf(o.payload)
	return o
}

// Decode reads the payload of an event back into its Input, for tests by hand.
func Decode(name string, payload json.RawMessage) (Input, error) {
	r := rowIndex()[name]
	if r == nil {
		return nil, fmt.Errorf("no event is called %q%s", clip(name, 60), suggestion(name))
	}
	v := reflect.New(r.kind)
	if err := json.Unmarshal(payload, v.Interface()); err != nil {
		return nil, fmt.Errorf("read the payload of %s: %w", name, err)
	}
	in, ok := v.Elem().Interface().(Input)
	if !ok {
		return nil, fmt.Errorf("the event %s has no payload", name) // cannot be: the table is made of Inputs
	}
	return in, nil
}

// pick selects the hooks that an event concerns, equal ones once, in the order
// of the configuration.
func (d *Dispatcher) pick(o *occasion) ([]*loaded, []event.Body) {
	r, in := o.row, o.in
	candidates := d.set.Load().hooks[r.Event]
	if len(candidates) == 0 {
		return nil, nil
	}
	values := r.matched(in, o.fields)
	seen := map[string]bool{}
	var out []*loaded
	var notes []event.Body
	for _, h := range candidates {
		if h.Source.Agent != "" && h.Source.Agent != in.who().ID || h.spent.Load() || seen[h.key] {
			continue
		}
		ok, late := h.match.matches(values)
		if late {
			notes = append(notes, warn("hook_matcher", h, "the matcher took too long and counts as met"))
		}
		if !ok || h.cond != nil && !h.cond.met(in, values[0], o.fields["tool_input"], o.session.Cwd) {
			continue
		}
		seen[h.key] = true
		out = append(out, h)
	}
	return out, notes
}

func warn(code string, h *loaded, format string, args ...any) event.Notice {
	text := fmt.Sprintf("hook %s (%s, %s): ", h.Title(), h.Event, h.Source) + fmt.Sprintf(format, args...)
	return event.Notice{Level: event.Warning, Code: code, Text: visible(text)}
}

// Fire tells the hooks of an event and returns what they said together. It
// returns soon after ctx ends, and at the latest when the longest time limit is
// over. The caller emits Outcome.Events.
func (d *Dispatcher) Fire(ctx context.Context, in Input) Outcome {
	r := rowOf(in)
	if r.Event == "UserPromptSubmit" {
		d.newPrompt(in.who().ID)
	}
	if !d.Wants(r.Event) {
		return Outcome{}
	}
	o := d.payload(in)
	hooks, notes := d.pick(o)
	hooks = takeOnce(hooks)
	results := make([]heard, len(hooks))
	limit := d.budget(r, hooks)
	var wg sync.WaitGroup
	for i, h := range hooks {
		if h.Async {
			d.background(h, o)
			results[i] = heard{events: []event.Body{event.HookRan{Event: r.Event, Name: o.name(), Outcome: "async"}}}
			continue
		}
		wg.Go(func() {
			a := d.run(ctx, h, o, limit(h))
			results[i] = d.interpret(h, o, a)
		})
	}
	wg.Wait()
	out := Outcome{Events: notes}
	for i := range results {
		out.merge(results[i].Outcome)
		out.Events = append(out.Events, results[i].events...)
		if in := results[i].Input; len(in) > 0 && !bytes.Equal(in, out.Input) {
			out.Events = append(out.Events, warn("hook_conflict", hooks[i], "its updatedInput is dropped: a hook before it has rewritten the input"))
		}
	}
	out.settle()
	return out
}

// takeOnce marks the hooks that run only once and leaves out those that another
// event has just taken.
func takeOnce(hooks []*loaded) []*loaded {
	out := hooks[:0]
	for _, h := range hooks {
		if !h.Once || h.spent.CompareAndSwap(false, true) {
			out = append(out, h)
		}
	}
	return out
}

// budget is the time limit of each hook. The end of a session is short: the
// user waits for the prompt of the shell.
func (d *Dispatcher) budget(r *Row, hooks []*loaded) func(*loaded) time.Duration {
	if r.Event != "SessionEnd" {
		return func(h *loaded) time.Duration { return h.Timeout }
	}
	total := endBudget
	for _, h := range hooks {
		if h.Set {
			total = max(total, min(h.Timeout, maxEndBudget))
		}
	}
	if ms, ok := d.number("CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS"); ok {
		total = time.Duration(ms) * time.Millisecond
	}
	return func(h *loaded) time.Duration { return min(h.Timeout, total) }
}

// name is what the wire calls a hook: the event and what its matcher saw.
func (o *occasion) name() string {
	if v, _ := textOf(o.fields[o.row.Matcher]); v != "" {
		return o.row.Event + ":" + clip(v, 80)
	}
	return o.row.Event
}

// heard is the answer of one hook and what happened on the way.
type heard struct {
	Outcome
	events []event.Body
}

// interpret turns what a hook did into what it says.
func (d *Dispatcher) interpret(h *loaded, o *occasion, a answer) heard {
	var res heard
	word := "success"
	switch {
	case a.cancelled:
		word = "cancelled"
		if o.row.Exit2 == Denies {
			res.Behavior, res.Reason = tool.Deny, "it was interrupted before the hooks had answered"
		}
	case a.failure != "":
		word = d.failed(&res, h, o, a)
	default:
		word = d.answered(&res, h, o, a)
	}
	res.By = h.Title()
	d.bound(&res.Outcome)
	d.filter(&res, h)
	for _, m := range res.Messages {
		res.events = append(res.events, event.Notice{Level: event.Info, Code: "hook_message", Text: m})
	}
	ran := event.HookRan{
		ID: a.id, Event: o.row.Event, Name: o.name(), Outcome: word, Took: a.took, ExitCode: a.exit,
		Output: clip(shell.Sanitize([]byte(a.stdout)), maxText), Stderr: clip(shell.Sanitize([]byte(a.stderr)), maxText),
	}
	res.events = append([]event.Body{ran}, res.events...)
	return res
}

// filter leaves out terminal sequences that could do more than set a title or
// raise a notification, and all of them where there is no terminal.
func (d *Dispatcher) filter(res *heard, h *loaded) {
	kept := res.Terminal[:0]
	for _, s := range res.Terminal {
		switch {
		case !cleanSequence(s):
			res.events = append(res.events, warn("hook_output", h, "its terminalSequence is not one of those that hooks may send"))
		case d.c.Interactive:
			kept = append(kept, s)
		}
	}
	res.Terminal = kept
}

// answered reads an answer that came in time.
func (d *Dispatcher) answered(res *heard, h *loaded, o *occasion, a answer) string {
	if a.reply != nil {
		return d.replied(res, h, o, *a.reply)
	}
	out, err := parseOutput(o.row, a.stdout)
	isJSON := strings.HasPrefix(strings.TrimSpace(a.stdout), "{")
	if len(out.ignored) > 0 {
		res.events = append(res.events, warn("hook_output", h, "fields that mean nothing for this event were ignored: %s", strings.Join(out.ignored, ", ")))
	}
	switch {
	case a.exit == 2:
		if out.async {
			return "async"
		}
		res.Outcome = out.Outcome
		d.refuse(res, h, o, pickReason(out.Outcome, a.stderr), o.row.Exit2)
		return "blocked"
	case a.exit != 0 && (o.row.strict || !isJSON || err != nil):
		a.failure = fmt.Sprintf("exit code %d: %s", a.exit, firstLine(a.stderr))
		return d.failed(res, h, o, a)
	case err != nil:
		a.failure = err.Error()
		return d.failed(res, h, o, a)
	}
	if out.async { // too late to go on beside it: its decision does not count
		out.Outcome = Outcome{Context: out.Context, Messages: out.Messages}
	}
	res.Outcome = out.Outcome
	if res.Blocked || res.Behavior == tool.Deny || res.Stopped {
		return "blocked"
	}
	return "success"
}

// pickReason is the words of a hook that exits with 2: its JSON's, else stderr.
func pickReason(o Outcome, stderr string) string {
	if o.Reason != "" && (o.Blocked || o.Behavior == tool.Deny) {
		return o.Reason
	}
	return strings.TrimSpace(shell.Sanitize([]byte(stderr)))
}

// refuse carries out a negative answer as the event defines it. Whatever else
// the hook printed cannot undo it.
func (d *Dispatcher) refuse(res *heard, h *loaded, o *occasion, reason string, e Effect) {
	res.Input, res.Updates = nil, nil
	if reason == "" {
		reason = "refused by the hook " + h.Title()
	}
	switch e {
	case Nothing:
		res.Blocked, res.Behavior, res.Reason = false, "", ""
	case Denies:
		res.Behavior, res.Reason = tool.Deny, reason
	case Blocks:
		res.Blocked, res.Reason = true, reason
	case Ends:
		res.Blocked, res.Reason = true, reason
		res.Stopped, res.StopReason = true, reason
	case ToModel:
		res.Context = append(res.Context, reason)
	case ToUser:
		res.Messages = append(res.Messages, reason)
	case Declines:
		res.Action, res.Content = "decline", nil
	}
}

// failed handles a hook that gave no valid answer: the action goes on with a
// notice, unless the hook is one that blocks then.
func (d *Dispatcher) failed(res *heard, h *loaded, o *occasion, a answer) string {
	word := "error"
	if a.timedOut {
		word = "timeout"
	}
	block := h.BlockOnFailure || o.row.strict ||
		a.timedOut && h.Kind == Callback && (o.row.Event == "PreToolUse" || o.row.Event == "UserPromptSubmit")
	if block {
		d.refuse(res, h, o, "the hook "+h.Title()+" failed: "+a.failure, o.row.Exit2)
		res.events = append(res.events, warn("hook_failed", h, "%s; this counts as a no", a.failure))
		return word
	}
	res.events = append(res.events, warn("hook_failed", h, "%s; the action goes on without its answer", a.failure))
	return word
}

// replied carries out the yes or no of a model.
func (d *Dispatcher) replied(res *heard, h *loaded, o *occasion, v verdict) string {
	if v.OK || v.Impossible && (o.row.Event == "Stop" || o.row.Event == "SubagentStop") {
		return "success"
	}
	if o.row.No == Nothing {
		return "success"
	}
	d.refuse(res, h, o, v.Reason, o.row.No)
	if o.row.No == Ends && h.ContinueOnBlock {
		res.Stopped, res.StopReason = false, ""
	}
	if (o.row.Event == "PreToolUse" || o.row.Event == "PostToolUse") && !h.ContinueOnBlock {
		res.Stopped, res.StopReason = true, v.Reason
	}
	return "blocked"
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	if line == "" {
		return "(nothing on stderr)"
	}
	return clip(line, 300)
}
