package tool

import (
	"encoding/json"

	"github.com/hew-agent/hew/internal/msg"
)

// Planned is a call that waits for admission.
type Planned struct {
	Tool Tool
	Use  *msg.ToolUse
	Call Call
	Env  Env
}

// Checker is a Call that can tell from the state of the world that it would be
// refused if it ran now. The gate asks it before it asks a person, when nothing
// else forbids the call: nobody should approve what cannot be done. The error
// is for the model. Run checks again by itself.
type Checker interface {
	Check() error
}

// Admitted is a call that may run, with the input that really runs: a hook or
// a person may have changed it.
type Admitted struct {
	Tool     Tool
	Use      *msg.ToolUse
	Call     Call
	Decision Decision
	// Words are what the person who allowed the call wants the model to hear with
	// its result.
	Words string
}

// Refusal is a call that may not run. Result goes to the model.
type Refusal struct {
	Result   Result
	Decision Decision
	// Interrupt tells that the person refused in a way that ends the run.
	Interrupt bool
	// Deferred tells that a hook puts the call off: where it is the only one of its
	// reply the run ends and keeps it without a result. Elsewhere Result holds.
	Deferred bool
}

// Verdict is what was said after a call ran: PreventContinuation ends the run
// once the result is stored.
type Verdict struct {
	PreventContinuation bool
	Reason              string
	// Notes are what hooks say to auto mode's classifier, and to nobody else.
	Notes []string
}

// Behavior is the outcome of a permission decision.
type Behavior string

// The outcomes.
const (
	Allow Behavior = "allow"
	Ask   Behavior = "ask"
	Deny  Behavior = "deny"
)

// Decision says what was decided about a call, and why. It feeds the denial
// text, the audit trail and the explain command from one source.
type Decision struct {
	Behavior Behavior `json:"behavior"`
	// Layer names what decided: "rule", "mode", "hook", "safety", "person", ….
	Layer string `json:"layer"`
	// Reason is one sentence for people and for the model.
	Reason string `json:"reason"`
	// Rule and File are set when a rule decided: its text and where it stands.
	Rule string `json:"rule,omitempty"`
	File string `json:"file,omitempty"`
	// Trace lists every step of the chain that was taken, in order.
	Trace []Step `json:"trace,omitempty"`
	// Input is what the call's input was when it was judged.
	Input json.RawMessage `json:"-"`
}

// Step is one step of the permission chain.
type Step struct {
	// Name is the stage: validate, hooks, deny, ask, safety, mode, allow, classifier, non-restoration, question.
	Name    string `json:"step"`
	Outcome string `json:"outcome"`
	Detail  string `json:"detail,omitempty"`
	Rule    string `json:"rule,omitempty"`
	File    string `json:"file,omitempty"`
}
