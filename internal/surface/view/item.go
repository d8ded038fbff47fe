// Package view folds events into what a person sees of a conversation: items, tasks, the to-do list, progress.
//
// Terminal and browser draw the same State. It knows kinds of things, never
// tools by name: a new tool needs no change here.
package view

import (
	"time"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/tool"
)

// Item is one thing of the conversation. The union is sealed; ids are unique in
// a State and stay.
//
//sumtype:decl
type Item interface {
	// Key is the item's id.
	Key() string
	item()
}

// Prompt is what a person, or a program in a person's place, said.
type Prompt struct {
	ID, Text string
	// Images counts pictures and documents that came with it.
	Images int
	// Source is "prompt" or "steer".
	Source string
	At     time.Time
}

// Reply is text of the model, Markdown. Open says that it still arrives.
type Reply struct {
	ID, Text string
	Open     bool
}

// Thought is what the model thought, as far as the provider shows it.
type Thought struct {
	ID, Text string
	Open     bool
	Took     time.Duration
}

// Status is how far a call is.
type Status string

// The states of a call, in order.
const (
	Pending Status = "pending" // written by the model, not yet run
	Running Status = "running"
	Done    Status = "done"
	Failed  Status = "failed"
	Refused Status = "refused" // never ran
)

// Call is a tool call.
type Call struct {
	// ID is the tool_use's; Tool its tool, for rules and filters of people.
	ID, Tool string
	// Title is one line; Act is the sort of thing that it does.
	Title   string
	Act     tool.Act
	Status  Status
	Preview tool.View // of the call, nil for none
	View    tool.View // of the result, nil for none
	// Text is the text of the result; Progress the newest output while it runs.
	Text, Progress string
	// Images counts the pictures of the result.
	Images int
	// Why says what let it run or kept it from running.
	Why     string
	Began   time.Time
	Took    time.Duration
	Agent   string   // the subagent that makes the call, "" for none
	Within  []string // titles of what a subagent that this call started does, newest last
	WithinN int      // how many there were
}

// Note is something that a person should know.
type Note struct {
	ID    string
	Level event.Level
	Code  string
	Text  string
}

// Command is a slash command that has done its work. Output is Markdown.
type Command struct {
	ID, Name, Args, Output string
	Failed                 bool
}

// Compaction is the place where history was replaced by a summary.
type Compaction struct {
	ID, Trigger   string
	Before, After int // tokens
	Took          time.Duration
}

// Ending is the end of a run.
type Ending struct {
	ID     string
	Reason event.Reason
	// Detail is one sentence on every reason but completion.
	Detail  string
	Took    time.Duration
	Tokens  int // output tokens
	CostUSD float64
	Signals []event.Signal
}

// Key returns the id.
func (i Prompt) Key() string { return i.ID }

// Key returns the id.
func (i Reply) Key() string { return i.ID }

// Key returns the id.
func (i Thought) Key() string { return i.ID }

// Key returns the id.
func (i Call) Key() string { return i.ID }

// Key returns the id.
func (i Note) Key() string { return i.ID }

// Key returns the id.
func (i Command) Key() string { return i.ID }

// Key returns the id.
func (i Compaction) Key() string { return i.ID }

// Key returns the id.
func (i Ending) Key() string { return i.ID }

func (Prompt) item()     {}
func (Reply) item()      {}
func (Thought) item()    {}
func (Call) item()       {}
func (Note) item()       {}
func (Command) item()    {}
func (Compaction) item() {}
func (Ending) item()     {}
