package event

import (
	"encoding/json"

	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// Reason says why a run ended. The values are the published terminal reasons.
type Reason string

// The reasons. A switch over Reason lists all of them.
const (
	Completed           Reason = "completed"
	MaxTurns            Reason = "max_turns"
	BudgetExhausted     Reason = "budget_exhausted"
	PromptTooLong       Reason = "prompt_too_long"
	BlockingLimit       Reason = "blocking_limit"
	RapidRefillBreaker  Reason = "rapid_refill_breaker"
	ImageError          Reason = "image_error"
	ModelError          Reason = "model_error"
	APIError            Reason = "api_error"
	MalformedToolUse    Reason = "malformed_tool_use_exhausted"
	AbortedStreaming    Reason = "aborted_streaming"
	AbortedTools        Reason = "aborted_tools"
	StopHookPrevented   Reason = "stop_hook_prevented"
	HookStopped         Reason = "hook_stopped"
	ToolDeferred        Reason = "tool_deferred"
	DeferredUnavailable Reason = "tool_deferred_unavailable"
	BackgroundRequested Reason = "background_requested"
	OutputExhausted     Reason = "structured_output_retry_exhausted"
	SetupFailed         Reason = "turn_setup_failed"
	// Local is the end of a slash command that asked no model; it has no published word.
	Local Reason = ""
)

// Terminal is the typed end of a run.
type Terminal struct {
	Reason Reason
	// Turns counts model replies of the conversation, Calls its tool calls.
	Turns, Calls int
	// Usage sums the replies of this run, without side queries.
	Usage msg.Usage
	// StopReason is the API's word for why the last reply ended.
	StopReason string
	// Text is the text of the last reply.
	Text string
	// Output is the structured output, when a schema was asked for.
	Output json.RawMessage
	// Deferred is the call that a hook has put off, with ToolDeferred and DeferredUnavailable.
	Deferred *msg.ToolUse
	// Denied lists the calls that were refused.
	Denied []Denial
	// Signals are what a glance at the end would miss.
	Signals []Signal
	// History is the conversation at the end, valid as the start of a next run.
	History []*msg.Message
	// Used is the size of the last request and reply as the provider reported it,
	// 0 when nothing is known; Fresh is how many messages of History came after it.
	Used, Fresh int
	// Detail is one sentence for people on every reason but Completed.
	Detail string
	// Status is the HTTP status of the error that ended the run, else 0.
	Status int
	Err    error
}

// Signal is one thing that went wrong without stopping the run.
type Signal struct {
	Kind SignalKind `json:"kind"`
	// Detail says what, for people.
	Detail string `json:"detail"`
}

// SignalKind is what a Signal is about.
type SignalKind string

// The kinds of signals: a check of the work that failed when it was last run, one
// that was never run, and parts of the conversation that the model no longer sees.
const (
	FailedCheck    SignalKind = "failed_check"
	SkippedCheck   SignalKind = "skipped_check"
	DroppedContext SignalKind = "dropped_context"
)

// Denial is one refused call.
type Denial struct {
	Tool  string          `json:"tool_name"`
	UseID string          `json:"tool_use_id"`
	Input json.RawMessage `json:"tool_input"`
}

// QuestionKind tells what is asked.
type QuestionKind string

// The kinds of question.
const (
	AskPermission QuestionKind = "permission" // may this call run?
	AskPlan       QuestionKind = "plan"       // is this plan approved?
	AskChoice     QuestionKind = "choice"     // the model's own questions
)

// Question is put to a person or a host program.
type Question struct {
	ID   string
	Kind QuestionKind
	// Use is the call in question; Title and Preview show it.
	Use      *msg.ToolUse
	Tool     string
	Title    string
	Preview  tool.View
	Decision tool.Decision
	// Part is the piece of the call for which it is asked, "" for the whole.
	Part string
	// Suggestions are rules that would let calls of this shape run unasked,
	// never broader than what is shown.
	Suggestions []Suggestion
	// Risk is what taking up the suggestions would leave open, "" for nothing.
	Risk   string
	Origin Origin
}

// Suggestion is one permission update that an answer may take up.
type Suggestion struct {
	// Type is addRules, setMode or addDirectories.
	Type        string   `json:"type"`
	Rules       []Rule   `json:"rules,omitempty"`
	Behavior    string   `json:"behavior,omitempty"`
	Mode        string   `json:"mode,omitempty"`
	Directories []string `json:"directories,omitempty"`
	// Destination is session, localSettings, projectSettings or userSettings.
	Destination string `json:"destination"`
}

// Rule is a permission rule in the form of the wire: Tool or Tool(Content).
type Rule struct {
	Tool    string `json:"toolName"`
	Content string `json:"ruleContent,omitempty"`
}

// Answer is the reply to a Question.
type Answer struct {
	Behavior tool.Behavior
	// Input replaces the call's input when not empty; it is judged again.
	Input json.RawMessage
	// Message goes to the model as the reason of a refusal, or as the words of
	// the person who answered.
	Message string
	// Interrupt ends the run (a plain "no" without words).
	Interrupt bool
	// Updates are the suggestions that were taken up.
	Updates []Suggestion
}
