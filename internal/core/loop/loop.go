// Package loop is the generator; declares the ports Gate and Shaper that it needs.
//
// Run asks the model, runs the tool calls of its reply, adds their results and
// asks again, until a reply has no calls or something ends the run. Everything
// that the loop cannot know by itself (how to build a request, who may run
// what, what a token costs) comes in through Config.
package loop

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// ErrInterrupted is the cancellation cause of a person's interrupt. Any other
// cause is a shutdown: the turn is then left as it is, to be taken up later.
var ErrInterrupted = errors.New("interrupted by the user")

// Gate admits calls and reviews their results. Both methods run on the call's
// own goroutine, may block on a person, and must return soon after ctx ends.
type Gate interface {
	Admit(ctx context.Context, p tool.Planned, emit func(event.Body)) (tool.Admitted, *tool.Refusal)
	Review(ctx context.Context, a tool.Admitted, r tool.Result, took time.Duration, emit func(event.Body)) (tool.Result, tool.Verdict)
}

// Shaper makes history fit the window. It returns its argument when there is
// nothing to do, and must then cost no more than the messages that are new.
type Shaper interface {
	Shape(ctx context.Context, w Window, why Pressure, emit func(event.Body)) (Window, error)
}

// Quarantine takes what a server refuses out of requests. Both methods get the
// messages of the refused request; the notice, which the transcript keeps, says
// what is left out from now on, and false that nothing is.
type Quarantine interface {
	// Blame finds the part that was refused.
	Blame(sent []*msg.Message, e *provider.Error) (event.Notice, bool)
	// GiveUp takes the newest turn out as a whole.
	GiveUp(sent []*msg.Message, e *provider.Error) (event.Notice, bool)
}

// Window is what a Shaper works on.
type Window struct {
	Messages []*msg.Message
	// Used is the size of the last request and reply in tokens, as the provider
	// reported it, 0 before the first; Fresh is how many messages came after it.
	Used, Fresh int
	// Size is what the next request will measure in tokens as far as the shapers
	// before this one know, 0 when nobody has measured; Want is what it should
	// measure in the end, 0 for the shaper's own rule. The loop sets neither.
	Size, Want int
	Model      string
	// Break names why the next request will not extend the last one, "" if it will.
	Break string
	// Summarised tells that a summary stands in history's place, so that a shaper
	// that is asked again can take no more.
	Summarised bool
}

// Halt is the error of a Shaper that ends the run with a reason of its own: no
// request that fits can be made.
type Halt struct {
	Reason event.Reason
	Detail string
}

// Error is the detail.
func (h *Halt) Error() string { return h.Detail }

// Pressure says why shaping is asked for. The union is sealed.
//
//sumtype:decl
type Pressure interface{ pressure() }

// Routine is the check before every request.
type Routine struct{}

// Overflow means that the provider refused the request as too long. Tokens and
// Window are how many it counted and how many fit, 0 where it did not say. Again
// tells that it refused what was made of history after its first refusal.
type Overflow struct {
	Tokens, Window int
	Again          bool
}

// Manual means that a person asked for compaction.
type Manual struct{ Instructions string }

func (Routine) pressure()  {}
func (Overflow) pressure() {}
func (Manual) pressure()   {}

// Attempt is what the recovery ladder may vary about a request.
type Attempt struct {
	Model string
	// MaxTokens overrides the output cap when not 0.
	MaxTokens int
	// Whole asks for a reply in one piece.
	Whole bool
	// Break is the reason for not extending the prefix of the last request.
	Break string
	// Plain asks without thinking, whatever the settings say.
	Plain bool
}

// Stop is the answer to a reply without tool calls. The zero value lets the run end.
type Stop struct {
	// Continue, when not empty, is added to the conversation and the loop goes on.
	Continue []*msg.Message
	Why      string
	// End overrides the reason of the end.
	End    event.Reason
	Detail string
}

// Config is everything that a run needs. All functions are called from the
// loop's own goroutine except those of Gate and the tools. Fields without a
// comment that says otherwise are required.
type Config struct {
	Provider provider.Provider
	// FallsBack hears that the run is about to go on with the next of Models; an
	// error keeps it from that. Optional.
	FallsBack func(from, to string) error
	// Models is the model to use and those to fall back to, at most three of them.
	Models []string
	// Model names the model for the next request when it is another one than the
	// first of Models for a while, "" when it is not. Optional.
	Model func() string
	// Build lays out a request; whatever history holds, the request is valid.
	Build func(history []*msg.Message, a Attempt) *provider.Request
	// Tool finds a tool by name or alias.
	Tool func(name string) (tool.Tool, bool)
	Env  func() tool.Env
	Gate Gate
	// Shaper is optional.
	Shaper Shaper
	// Quarantine is optional.
	Quarantine Quarantine
	// Used and Fresh are what is known of history's size before the first request;
	// see Window.
	Used, Fresh int
	// Steer takes what was typed since the last call, in order, and what else joins
	// history before the next request. It must not change history. Optional.
	Steer func(history []*msg.Message) []*msg.Message
	// Deferred tells that history ends with a reply whose only call was put off; it
	// is taken up before anything is asked.
	Deferred bool
	// Stops is asked when a reply has no calls. Optional.
	Stops func(ctx context.Context, reply *msg.Message) Stop
	// Apply carries out an effect on the conversation other than Inject and EndRun.
	Apply func(tool.Effect)
	// Bound cuts a result to what may enter the conversation. Optional.
	Bound func(tool.Spec, *msg.ToolUse, tool.Result) tool.Result
	// Spent is told the usage of every reply, at once. Optional.
	Spent func(model string, u msg.Usage)
	// Budget says whether the next request may be made; a reason ends the run. Optional.
	Budget func() (event.Reason, string)
	// MaxTurns bounds the model replies of a run; 0 means no bound.
	MaxTurns int
	// MaxOutput is the cap that a reply cut by its own cap is retried with; 0 keeps the cap.
	MaxOutput func(model string) int
	// Retries is how often one request is sent again; 0 means provider.DefaultRetries.
	Retries int
	// NoWhole forbids the fallback from a stream to a reply in one piece.
	NoWhole bool
	// Concurrency bounds the calls that run at once; 0 means 10.
	Concurrency int
	// Events asks for the raw stream events in Delta.Raw.
	Events bool
	Now    func() time.Time
	// Sleep waits or returns early with ctx.Err().
	Sleep func(ctx context.Context, d time.Duration) error
	// Jitter is in [0,1).
	Jitter func() float64
	NewID  func() string
}

const defaultConcurrency = 10

// Run returns the run as a sequence. Nothing happens before the first pull,
// and everything pauses while the consumer is busy. The last event is
// event.Done; a consumer that leaves earlier gets none, and when the sequence
// returns no request, tool or goroutine of the run is left.
//
// history must end with a user message (but see Config.Deferred) and is not changed. Only the goroutine
// that ranges over the sequence touches history.
func Run(ctx context.Context, c Config, history []*msg.Message) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		r := &run{Config: c, ctx: ctx, cancel: cancel, yield: yield, reports: make(chan report)}
		end := r.loop(newState(history, c))
		r.emit(event.Done{Terminal: end})
	}
}
