package compact

import (
	"context"
	"time"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// The names of the stages, in the order in which they run. They stand in
// event.Shaped, in the transcript and in reports.
const (
	StageBudget   = "budget"
	StageSnip     = "snip"
	StageMicro    = "microcompact"
	StageCollapse = "collapse"
	StageAuto     = "compaction"
)

// Config is what the shapers know of the rest. Fields without a comment that
// says otherwise are required. All functions are called from the goroutine that
// calls Shape.
type Config struct {
	// Limits are the bounds of a model's window.
	Limits func(model string) Limits
	// On says which stages may run; the budget always does.
	On Stages
	// Overhead estimates what a request holds beside messages: system prompt and
	// tools, in tokens. Optional.
	Overhead func() int
	// Count measures a request exactly, where the provider can. Optional.
	Count func(ctx context.Context, model string, history []*msg.Message) (int, bool)
	// Ask puts a question to the model. An error leaves history as it is.
	Ask func(ctx context.Context, q Query) (string, error)
	// Own is set when summaries are asked for in a request of their own instead of
	// one that begins with the conversation's cached prefix.
	Own bool
	// Hooks hear of compactions. Optional.
	Hooks Hooks
	// Live tells what goes on beside the conversation and must be said again. Optional.
	Live func(dropped []*msg.Message) []Announcement
	// Context makes the message that stands before the conversation anew, from the
	// files as they are now; nil keeps the one there is. Optional.
	Context func() *msg.Message
	// Clearable tells whether the result of a call may be cleared once it is old:
	// it can be had again. Calls with the same key show the same thing. Optional.
	Clearable func(use *msg.ToolUse) (key string, ok bool)
	// Limit is the byte limit of the named tool's results, 0 for the default. Optional.
	Limit func(name string) int
	// Spill keeps what is cut; the folder is another one after /clear.
	Spill func() Budget
	// Transcript names the file in which everything can be found again. Optional.
	Transcript func() string
	// CacheLife is how long the provider keeps a prefix, 0 when it keeps none.
	CacheLife time.Duration
	Now       func() time.Time
	NewID     func() string
}

// Stages are the switches of the stages that can be off.
type Stages struct{ Snip, Micro, Collapse, Auto bool }

// Limits are the bounds of a window, in tokens.
type Limits struct {
	// Window is what may be used of the model's window, Hard the size that no
	// request may pass. Trigger is where shaping begins, Target what it leaves.
	Window, Hard, Trigger, Target int
	// Output is the largest reply of the model.
	Output int
}

// Percentages of the window (requirements CX-1 and CX-2).
const (
	TriggerPercent = 92
	TargetPercent  = 60
)

// NewLimits makes the bounds of a model with the given window. own, when not 0,
// is the part of it that may be used; percent, when not 0, lowers the trigger.
func NewLimits(window, output, own, percent int) Limits {
	l := Limits{Window: window, Hard: window - min(output, window/32), Output: output}
	if own > 0 && own < window {
		l.Window = own
	}
	if percent <= 0 || percent > TriggerPercent {
		percent = TriggerPercent
	}
	l.Trigger = max(1, l.Window*percent/100)
	l.Target = min(l.Window*TargetPercent/100, l.Trigger*2/3)
	return l
}

// fitting is how large a request may be by the estimate that is size for one of
// which the provider says that it has counted tokens of window that fit. Without
// figures it is size.
func fitting(counted, window, size int) int {
	switch {
	case window <= 0:
		return size
	case counted <= window:
		return min(size, window)
	}
	return max(1, int(float64(window)*float64(size)/float64(counted)))
}

// shrunk are the limits after a provider refused a request of size tokens: its
// window is smaller than the table says.
func (l Limits) shrunk(size int) Limits {
	if size >= l.Window {
		return l
	}
	f := Limits{Window: size * 9 / 10, Output: l.Output}
	f.Hard = f.Window
	f.Trigger = f.Window * TriggerPercent / 100
	f.Target = f.Window * TargetPercent / 100
	return f
}

// Query is one question to the model.
type Query struct {
	Model string
	// History, when not nil, is the conversation that the question is about: the
	// request has the conversation's system prompt and tools and extends its prefix.
	// Else System stands alone.
	History []*msg.Message
	System  string
	Text    string
	// MaxTokens caps the reply.
	MaxTokens int
}

// Hooks hear of compactions; both methods may block on programs.
type Hooks interface {
	// Before may add instructions, or keep the compaction from happening.
	Before(ctx context.Context, trigger, instructions string, emit func(event.Body)) Consent
	// After returns what hooks want the model to know.
	After(ctx context.Context, trigger, summary string, emit func(event.Body)) []*msg.Message
}

// Consent is what hooks say before a compaction.
type Consent struct {
	Instructions []string
	Blocked      bool
	Reason       string
}

// Announcement is one piece of live state that is said again after a compaction.
type Announcement struct {
	// Kind is a word for programs: todos, plan, skills, background, file.
	Kind string
	Text string
	// Pinned is never cut for want of space.
	Pinned bool
}
