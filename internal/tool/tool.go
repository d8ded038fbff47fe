// Package tool holds Tool, Spec, Call, Traits, Need, Result, View; `tool.Define[In]`; the port types of the gate (Planned, Refusal, Verdict).
//
// A tool describes itself here and nowhere else: nothing above this package
// switches on a tool's name. Running a tool takes two steps. Plan decodes and
// validates the input once and has no effect; the Call it returns answers
// every question about the invocation (is it read-only, which path does it
// touch, what would a person want to see) and can then be run.
package tool

import (
	"context"
	"encoding/json"

	"github.com/hew-agent/hew/internal/msg"
)

// Tool is one capability offered to the model. Implementations are safe for
// concurrent use.
type Tool interface {
	Spec() Spec
	// Plan decodes and validates in and returns the unexecuted call. It has no
	// effects. An error is written for the model; see InputError.
	Plan(in json.RawMessage, env Env) (Call, error)
}

// Spec is what a tool says about itself.
type Spec struct {
	// Name is what the model sees and rules name. Aliases are legacy names that
	// models, rules and hooks may still use.
	Name    string
	Aliases []string
	// Description is for the model; it is part of the cached prefix.
	Description string
	// Schema is the JSON schema of the input: an object.
	Schema json.RawMessage
	// RuleFamily is the name under which path rules judge this tool when it is
	// not its own (writing tools are judged as the editing one).
	RuleFamily string
	// MainField is the input field that rules in parentheses match ("command",
	// "file_path"); parameter rules may not name it.
	MainField string
	// Always marks a tool of the fixed set. Otherwise Condition says, in words,
	// when the tool is offered.
	Always    bool
	Condition string
	// Deferred tools are named to the model, but their schema is fetched on demand.
	Deferred bool
	// Origin is "builtin", or the server that brought the tool.
	Origin string
	// MaxResult is the number of bytes of text of one result that may enter the
	// conversation; 0 means DefaultMaxResult.
	MaxResult int
	// Act is what it does, "" for what the needs of a call tell.
	Act Act
}

// Act is the sort of thing that a tool does, for surfaces that draw a sign for it.
type Act string

// The acts, by the words of the Agent Client Protocol.
const (
	ActRead    Act = "read"
	ActEdit    Act = "edit"
	ActSearch  Act = "search"
	ActExecute Act = "execute"
	ActThink   Act = "think"
	ActFetch   Act = "fetch"
	ActMode    Act = "switch_mode"
	ActOther   Act = "other"
)

// DefaultMaxResult bounds a tool result that states no limit of its own, in bytes.
const DefaultMaxResult = 100_000

// Env is what a plan may know of the conversation. It is small and immutable.
type Env struct {
	// Cwd is the current directory of the conversation, absolute and canonical.
	Cwd string
	// Project is the start directory; Roots are the working directories, Project first.
	Project string
	Roots   []string
	// Session is the session id, Agent the subagent's id ("" in the main conversation).
	Session, Agent string
	// SpillDir is where oversized results of this session go. It may not exist yet.
	SpillDir string
	// Interactive tells whether somebody can answer a question.
	Interactive bool
	// Use is the id of the tool_use that is planned, for calls whose end is told later.
	Use string
}

// Call is one validated, unexecuted invocation.
type Call interface {
	Traits() Traits
	// Needs lists what the call wants to touch; the gate judges each of them.
	// A call without needs runs unasked unless a rule names its tool.
	Needs() []Need
	// Title is one line for people: "Read main.go", "go test ./...".
	Title() string
	// Preview is what a person sees before it runs: a diff, the whole command.
	Preview() View
	// Run executes the call. It must return soon after ctx ends, leaving no
	// process and no goroutine. emit may be called from any goroutine until Run
	// returns and must not be called after.
	Run(ctx context.Context, emit func(Progress)) Result
}

// Traits are the facts about one call that scheduling and modes need.
type Traits struct {
	// ReadOnly calls change nothing anywhere.
	ReadOnly bool
	// ConcurrencySafe calls may run beside others and start before the reply is complete.
	ConcurrencySafe bool
	// Destructive calls may lose data that cannot be had again.
	Destructive bool
	// NeedsUser calls are a question to a person; nothing can approve them in the person's place.
	NeedsUser bool
	// Confined calls run in the sandbox.
	Confined bool
	// Check names what the call checks of the work, such as "go test": it fails
	// with the result. "" for a call that checks nothing.
	Check string
}

// NeedKind is the kind of access that a call asks for.
type NeedKind string

// The kinds of need.
const (
	NeedRead  NeedKind = "read"  // Path
	NeedEdit  NeedKind = "edit"  // Path
	NeedExec  NeedKind = "exec"  // Command, a shell text
	NeedFetch NeedKind = "fetch" // URL
	NeedUse   NeedKind = "use"   // the tool itself asks for approval; Detail is what a rule's parentheses match
)

// Need is one access. Exactly the field that its kind names is set.
type Need struct {
	Kind    NeedKind
	Path    string
	Command string
	URL     string
	Detail  string
}

// Progress is a sign of life from a running call.
type Progress struct {
	// Text is the newest output, sanitised and short.
	Text string
	// Bytes is the amount of output so far, Elapsed the milliseconds since start.
	Bytes   int64
	Elapsed int64
	// Message, when set, is a structured update (a subagent's event).
	Message json.RawMessage
}

// Quiet tells a progress that only wakes the loop: there is nothing to show.
func (p Progress) Quiet() bool {
	return p.Text == "" && p.Bytes == 0 && p.Elapsed == 0 && p.Message == nil
}

// Result is what a call leaves behind.
type Result struct {
	// Content goes to the model.
	Content []msg.Block
	// Data is the structured form for programs: `tool_use_result` on the stream,
	// `toolUseResult` in the transcript. Optional.
	Data json.RawMessage
	// View is for people. Optional.
	View    View
	Effects []Effect
	IsError bool
	// Held names the boundary that kept a call from doing part of what it was
	// made to do while it ran ("sandbox"), "" when none is known to have.
	Held string
}

// Text makes a successful result of one text.
func Text(s string) Result { return Result{Content: content(s)} }

// Failure makes a failed result of plain text: an execution that went wrong
// (missing file, exit code).
func Failure(s string) Result { return Result{Content: content(s), IsError: true} }

// Refused makes a failed result in the wrapper that the ecosystem uses for
// calls that were not executed: unknown tool, bad input, a tool's own check.
func Refused(s string) Result {
	return Failure("<tool_use_error>" + s + "</tool_use_error>")
}

func content(s string) []msg.Block {
	if s == "" {
		return nil
	}
	return []msg.Block{msg.NewText(s)}
}

// Effect is the only way in which a tool changes the conversation itself. The
// union is sealed.
//
//sumtype:decl
type Effect interface{ effect() }

// SetMode changes the permission mode; only a call that the person approved carries it.
type SetMode struct{ Mode string }

// SetCwd moves the conversation's current directory. Home, when set, is from then
// on the folder to which commands that lead away come back.
type SetCwd struct{ Dir, Home string }

// Inject adds blocks after the results, in the same user message.
type Inject struct{ Blocks []msg.Block }

// LoadTools makes deferred tools available from the next request on.
type LoadTools struct{ Names []string }

// AddRules adds permission rules for the session.
type AddRules struct{ Allow []string }

// EndRun ends the run once the results are stored, with a structured output.
type EndRun struct{ Output json.RawMessage }

func (SetMode) effect()   {}
func (SetCwd) effect()    {}
func (Inject) effect()    {}
func (LoadTools) effect() {}
func (AddRules) effect()  {}
func (EndRun) effect()    {}
