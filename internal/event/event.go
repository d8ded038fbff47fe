// Package event holds the closed union of loop events, Origin, Terminal, Reason, Question, Answer.
//
// Events are the one language between the loop and everything that shows,
// stores or forwards a conversation.
package event

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// Event is one thing that happened, and where.
type Event struct {
	Origin Origin
	Body   Body
}

// Origin names the conversation that an event comes from: the zero value is
// the main one, otherwise a subagent.
type Origin struct {
	Agent     string // agent id
	ParentUse string // id of the tool_use that started the agent
}

// Body is what happened. The union is sealed.
//
//sumtype:decl
type Body interface{ body() }

// TurnStarted opens a turn: the next model request is about to be made.
type TurnStarted struct {
	Turn int
	// Why is the reason for continuing: "start", "tool_results", "max_tokens", ….
	Why string
}

// Retrying says that a request failed in a way that is tried again.
type Retrying struct {
	Attempt, Max int
	Delay        time.Duration
	Status       int // HTTP status, 0 when none was received
	Category     string
}

// Delta is a piece of a reply as it arrives. Raw is the event in the wire form
// of the Messages API and is only filled when the consumer asked for it.
type Delta struct {
	Kind  DeltaKind
	Block int
	Text  string
	Raw   json.RawMessage
}

// DeltaKind tells what a Delta's text belongs to.
type DeltaKind int

// The kinds of delta. DeltaOther carries only Raw.
const (
	DeltaOther DeltaKind = iota
	DeltaText
	DeltaThinking
	DeltaInput
)

// Message is a message, or one block of a model reply, that has become part
// of the conversation. It is in the transcript before any consumer sees it.
type Message struct {
	Msg *msg.Message
	// Source says where a user message comes from: "" (loop), "prompt", "steer", "inject".
	Source string
	// From is the name of the context source that an injected message comes from,
	// "" for none; see prompt.Source.
	From string
}

// Retracted takes back messages that were replaced: the reply came again from
// another model. Their entries stay in the transcript, off the chain.
type Retracted struct {
	IDs    []string
	Reason string
}

// ToolStarted says that an admitted call begins to run.
type ToolStarted struct {
	Use   *msg.ToolUse
	Title string
}

// ToolProgress is a sign of life of a running call.
type ToolProgress struct {
	UseID    string
	Name     string
	Progress tool.Progress
}

// ToolFinished says that a call has its result: it ran, was refused, or was
// given up. Msg holds exactly the tool_result block that the model will see.
type ToolFinished struct {
	Use    *msg.ToolUse
	Msg    *msg.Message
	Result tool.Result
	Took   time.Duration
	// Ran is false when the call was not executed.
	Ran bool
	// Check is tool.Traits.Check of the call.
	Check string
	// Layer is PreFilter for a call of a tool that exists and is kept from the
	// model, the boundary that held a call which ran and failed (tool.Result.Held),
	// else "": what else keeps a call from running is in Decided.
	Layer string
}

// PreFilter is the safety layer that hides tools which are denied as a whole.
const PreFilter = "pre-filter"

// Decided says how a call was judged.
type Decided struct {
	Use      *msg.ToolUse
	Decision tool.Decision
}

// HookRan says that a hook has ended.
type HookRan struct {
	// ID tells runs of hooks apart.
	ID          string
	Event, Name string
	Outcome     string
	Took        time.Duration
	Output      string
	Stderr      string
	ExitCode    int
}

// Asked says that somebody is being asked; surfaces may draw a dialog.
type Asked struct{ Question Question }

// Answered closes a question, whoever answered it.
type Answered struct {
	ID     string
	Answer Answer
}

// ModelCall accounts for one request to a model, also a side query.
type ModelCall struct {
	Model string
	// Side is "" for a turn of the conversation, else the label of the side query.
	Side string
	// Bytes is the size of the request body.
	Bytes int
	Took  time.Duration
	// First is the time to the first byte of the answer.
	First time.Duration
	Usage msg.Usage
	// Break is the reason why the request does not extend the last one's prefix.
	Break string
	// Err is "" on success, else the class of the failure.
	Err string
}

// Shaped accounts for one run of one context shaper; sizes are token estimates.
type Shaped struct {
	Stage         string
	Before, After int
	Detail        string
	// Edits are what the stage replaced; they are recorded, so that a resumed
	// session sends the same bytes.
	Edits []Edit
}

// Edit is a piece of the conversation that requests show otherwise than the
// transcript holds it. It is about one thing: the result of the call Use, the
// text of the message Message, or all messages from From to the one before Until.
type Edit struct {
	Use     string `json:"use,omitempty"`
	Message string `json:"message,omitempty"`
	From    string `json:"from,omitempty"`
	Until   string `json:"until,omitempty"`
	// Text stands in its place; Tokens are what that saves.
	Text   string `json:"text"`
	Tokens int    `json:"tokens"`
	// Where says where the whole can be found again, beside the transcript.
	Where string `json:"where,omitempty"`
}

// Compacting says that history is being summarised, and with Over set that this
// has ended; Err is why it failed, "" when it did not.
type Compacting struct {
	Trigger string // "auto" or "manual"
	// Percent is how full the window is.
	Percent int
	Over    bool
	Err     string
}

// Compacted says that history was replaced by a summary.
type Compacted struct {
	Trigger               string // "auto" or "manual"
	PreTokens, PostTokens int
	// Dropped adds up what all compactions of this process took from the window.
	Dropped  int
	Took     time.Duration
	Boundary string // uuid of the boundary entry
	// HeadID and TailID are the first and last message that stay word for word,
	// "" when none does; AnchorID is the summary that they stand behind.
	HeadID, AnchorID, TailID string
	// Summary is the message AnchorID. Context is the message of instruction files
	// that stands before it from now on, nil when there is none.
	Summary, Context *msg.Message
}

// TaskChanged says that a background task changed state.
type TaskChanged struct {
	ID, Kind, Status, Summary string
	// Use is the id of the call that began it; OutputFile holds what it prints.
	Use, OutputFile string
	// Foreground tells that the call waits for it. Type, Prompt and Depth are a
	// subagent's: its kind, its task, and how far below the main conversation it is.
	Foreground   bool
	Type, Prompt string
	Depth        int
	// LastTool is what it uses at the moment, Spent what it took so far; of subagents.
	LastTool string
	Spent    TaskSpent
}

// TaskSpent is what a subagent took.
type TaskSpent struct {
	Tokens, Calls int
	Millis        int64
}

// Further values of Status: a task that has begun, one that goes on, and one
// whose call does not wait for it any more.
const (
	TaskRunning  = "running"
	TaskProgress = "progress"
	TaskMoved    = "moved"
)

// Notice is something that a person should know and that is not an error of
// the run: a fallback, a skipped setting, a torn line.
type Notice struct {
	Level Level
	// Code is a stable word for programs.
	Code string
	Text string
	// Blocks are, with Quarantined, the digests of the blocks that no request
	// holds from now on.
	Blocks []string
}

// Quarantined is the Code of the notice that parts of the conversation are left
// out of requests because the model's API refused them.
const Quarantined = "quarantined"

// Deferred is the Code of the notice that the run ends with a call that a hook
// has put off; going on with the session takes the call up again.
const Deferred = "tool_deferred"

// PushNotification is the Code of the notice by which the model calls a person.
const PushNotification = "push_notification"

// ModelFallback is the Code of the notice that the rest of a run is answered by
// the next model of the chain.
const ModelFallback = "model_fallback"

// Level ranks notices.
type Level string

// The levels.
const (
	Info    Level = "info"
	Warning Level = "warning"
	Failure Level = "error"
)

// CommandRan says that a slash command has done its work without the model.
type CommandRan struct {
	// ID and At are those of the prompt that called it.
	ID string
	At time.Time
	// Name is without the slash; Output is Markdown for people.
	Name, Args, Output string
	Failed             bool
}

// Tagged is the output in the tags by which transcripts and hosts know it.
func (c CommandRan) Tagged() string {
	tag := "local-command-stdout"
	if c.Failed {
		tag = "local-command-stderr"
	}
	return "<" + tag + ">" + c.Output + "</" + tag + ">"
}

// Step says in traces, and nowhere else, which step of the fixed order of a turn
// a run has come to, or with StepLoad what has entered the window.
type Step struct {
	Name string
	// Tool and Use are the tool and the id of the call that StepDispatch, or with
	// the result of a call StepLoad, is about.
	Tool, Use string
	// Source, Class, Phase and Bytes tell of StepLoad what came, who may change it
	// (see prompt.Class), when it comes (one of the phases), and its size.
	Source, Class, Phase string
	Bytes                int
}

// The steps of a turn that have no event of their own, in their order. Between
// StepShapers and StepDispatch the model is asked (TurnStarted); calls are
// dispatched while its reply still comes in, which ModelCall accounts for. Behind
// them stand Decided, ToolStarted and ToolFinished.
const (
	// StepSettings settles what holds for the run, StepState begins its state.
	StepSettings = "settings"
	StepState    = "state"
	// StepContext says that what the model should know before the next request has
	// joined the conversation.
	StepContext  = "context"
	StepShapers  = "shapers"
	StepDispatch = "dispatch"
	// StepStop asks whether a reply without calls ends the run.
	StepStop = "stop"
	// StepLoad says that something has entered the window.
	StepLoad = "context.load"
)

// The phases of loading: what a session begins with, what each turn adds, what
// calls give back while they run, and what comes because something asks for it.
const (
	PhaseStart     = "start"
	PhaseTurn      = "turn"
	PhaseExecution = "execution"
	PhaseDemand    = "demand"
)

// Done is the last event of every run that was not abandoned.
type Done struct{ Terminal Terminal }

func (TurnStarted) body()  {}
func (Retrying) body()     {}
func (Delta) body()        {}
func (Message) body()      {}
func (Retracted) body()    {}
func (ToolStarted) body()  {}
func (ToolProgress) body() {}
func (ToolFinished) body() {}
func (Decided) body()      {}
func (HookRan) body()      {}
func (Asked) body()        {}
func (Answered) body()     {}
func (ModelCall) body()    {}
func (Shaped) body()       {}
func (Compacting) body()   {}
func (Compacted) body()    {}
func (TaskChanged) body()  {}
func (Notice) body()       {}
func (CommandRan) body()   {}
func (Step) body()         {}
func (Done) body()         {}

// Asker answers questions. Surfaces implement it. It blocks until there is an
// answer or ctx ends, must be safe for concurrent use, and never guesses.
type Asker interface {
	Ask(ctx context.Context, q Question) (Answer, error)
}
