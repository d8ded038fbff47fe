package hook

import (
	"encoding/json"
	"strings"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/tool"
)

// Defer is the behavior by which a hook puts a call off: the process ends and
// keeps the call for a resume. Between two hooks deny beats defer beats ask
// beats allow.
const Defer tool.Behavior = "defer"

// Outcome is what the hooks of one event said together. Which fields can be set
// is a column of the event's row.
type Outcome struct {
	// Behavior is allow, ask, deny, Defer, or "" when no hook said anything.
	// Reason and By belong to it, or to Blocked: the words, and which hook.
	Behavior tool.Behavior
	Reason   string
	By       string
	// Blocked tells that the event is blocked (see Row.Exit2 for what that means).
	Blocked bool
	// Stopped tells that a hook ends the run (continue: false); it beats all else.
	Stopped    bool
	StopReason string
	// Input replaces the call's input. It is judged again.
	Input json.RawMessage
	// Context is for the model, Messages for the person.
	Context  []string
	Messages []string
	// ClassifierContext is for auto mode's classifier.
	ClassifierContext []string
	// Output replaces the result that the model sees: a string, an object that
	// fits the tool's output, or a list of blocks (MCPOutput).
	Output, MCPOutput json.RawMessage
	// Message, Interrupt and Updates belong to the answer of a PermissionRequest.
	Message   string
	Interrupt bool
	Updates   []event.Suggestion
	// Retry tells the model that a denied call may be tried again.
	Retry bool
	// Title, InitialPrompt, WatchPaths, ReloadSkills: what a session's start may set.
	Title         string
	InitialPrompt string
	WatchPaths    []string
	ReloadSkills  bool
	// SuppressPrompt hides a blocked prompt's text.
	SuppressPrompt bool
	// Action answers an elicitation: accept, decline or cancel; with its content.
	Action  string
	Content json.RawMessage
	// Display replaces the shown text, when not nil.
	Display *string
	// Worktree is the folder that a hook made.
	Worktree string
	// Terminal holds allowed terminal sequences.
	Terminal []string

	// Events are what happened, to be emitted by the caller: HookRan and Notice.
	Events []event.Body

	approved bool // the old top-level "approve"
	silent   bool
}

// Emit hands the events on.
func (o Outcome) Emit(emit func(event.Body)) {
	for _, e := range o.Events {
		emit(e)
	}
}

func severity(b tool.Behavior) int {
	switch b {
	case tool.Allow:
		return 1
	case tool.Ask:
		return 2
	case Defer:
		return 3
	case tool.Deny:
		return 4
	}
	return 0
}

func strictness(action string) int {
	switch action {
	case "accept":
		return 1
	case "cancel":
		return 2
	case "decline":
		return 3
	}
	return 0
}

// merge adds what the next hook, in the order of the configuration, said.
func (o *Outcome) merge(n Outcome) {
	o.judge(n)
	if n.Stopped && !o.Stopped {
		o.Stopped, o.StopReason = true, n.StopReason
	}
	o.Context = append(o.Context, n.Context...)
	o.Messages = append(o.Messages, n.Messages...)
	o.ClassifierContext = append(o.ClassifierContext, n.ClassifierContext...)
	o.WatchPaths = append(o.WatchPaths, n.WatchPaths...)
	o.Terminal = append(o.Terminal, n.Terminal...)
	first(&o.Input, n.Input)
	first(&o.Output, n.Output)
	first(&o.MCPOutput, n.MCPOutput)
	o.Retry = o.Retry || n.Retry
	o.ReloadSkills = o.ReloadSkills || n.ReloadSkills
	o.SuppressPrompt = o.SuppressPrompt || n.SuppressPrompt
	if o.Title == "" {
		o.Title = n.Title
	}
	if n.InitialPrompt != "" {
		o.InitialPrompt = strings.TrimSpace(o.InitialPrompt + "\n" + n.InitialPrompt)
	}
	if strictness(n.Action) > strictness(o.Action) {
		o.Action, o.Content = n.Action, n.Content
	}
	if o.Display == nil {
		o.Display = n.Display
	}
	if o.Worktree == "" {
		o.Worktree = n.Worktree
	}
}

// judge merges behaviors and blocks. The reasons of all blocks count, of
// behaviors only that of the strongest.
func (o *Outcome) judge(n Outcome) {
	switch {
	case n.Blocked && o.Blocked:
		o.Reason = strings.TrimSpace(o.Reason + "\n" + n.Reason)
	case n.Blocked:
		o.Blocked, o.Reason, o.By = true, n.Reason, n.By
	}
	if severity(n.Behavior) <= severity(o.Behavior) {
		if n.Behavior == o.Behavior && n.Behavior == tool.Allow {
			o.Updates = append(o.Updates, n.Updates...)
		}
		return
	}
	o.Behavior, o.By = n.Behavior, n.By
	if !o.Blocked {
		o.Reason = n.Reason
	}
	o.Message, o.Interrupt, o.Updates = n.Message, n.Interrupt, n.Updates
}

// settle drops what the merged answer makes meaningless.
func (o *Outcome) settle() {
	if o.Behavior == tool.Deny || o.Behavior == Defer {
		o.Input, o.Updates = nil, nil
	}
}

func first(at *json.RawMessage, v json.RawMessage) {
	if len(*at) == 0 {
		*at = v
	}
}
