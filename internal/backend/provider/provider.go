// Package provider holds the Provider interface, request, stream parts, typed API errors, retry classes, model table.
//
// The loop knows only this package. Which wire format, which cloud and which
// credential stand behind a Provider was settled once, at start.
package provider

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/hew-agent/hew/internal/msg"
)

// Provider makes model requests. Implementations are safe for concurrent use.
type Provider interface {
	// Stream makes one request and yields its parts in order. An error is
	// yielded once, last, and is always an *Error unless ctx ended, when it is
	// ctx.Err(). Blocks that were complete before the error have been yielded.
	// Leaving the iteration early ends the request. There is no retry inside.
	Stream(ctx context.Context, r *Request) iter.Seq2[Part, error]
}

// Counter is implemented by providers that can count tokens exactly.
type Counter interface {
	CountTokens(ctx context.Context, r *Request) (int, error)
}

// Request is one request in hew's native form. It is built anew for each
// request and never changed after.
type Request struct {
	Model    string
	System   []SystemBlock
	Tools    []ToolDef
	Messages []*msg.Message
	// MaxTokens caps the reply.
	MaxTokens int
	Thinking  Thinking
	// Effort is "", low, medium, high, xhigh or max.
	Effort string
	// Mark is the cache mark to set ("" sets none): "5m" or "1h". It is put on
	// the last system block, and on the last block of the messages in MarkAt.
	Mark   string
	MarkAt []int
	// Side labels a side query; "" is a turn of the conversation. Side queries
	// do not take part in the prefix check of the scripted model.
	Side string
	// Break is a reason of the closed list in break.go when this request does
	// not extend the prefix of the one before it.
	Break string
	// Whole asks for a reply in one piece instead of a stream of events.
	Whole bool
	// Events asks for Part.Raw to be filled.
	Events bool
	// ForceTool names a tool that the reply must call; "" leaves the choice to the model.
	ForceTool string
	// Session identifies the conversation to gateways and for abuse reports.
	Session string
}

// SystemBlock is one block of the system prompt.
type SystemBlock struct{ Text string }

// ToolDef is one tool in the request; JSON is its whole definition, encoded once.
type ToolDef struct {
	Name string
	JSON json.RawMessage
}

// Thinking asks for reasoning. The zero value asks for none.
type Thinking struct {
	Adaptive bool
	Budget   int // tokens, when not adaptive
	// Display is what the server shows of adaptive thinking: summarized, omitted, or
	// "" for its default.
	Display string
}

// Part is one step of a reply. The union is sealed.
//
//sumtype:decl
type Part interface{ part() }

// Started is the first part: the server has accepted the request.
type Started struct {
	MessageID, RequestID, Model string
	Usage                       msg.Usage
	Raw                         json.RawMessage
}

// BlockStarted opens block Index. ID and Name are set for a tool call.
type BlockStarted struct {
	Index    int
	Type     string
	ID, Name string
	Raw      json.RawMessage
}

// BlockDelta is a piece of block Index.
type BlockDelta struct {
	Index int
	Kind  DeltaKind
	Text  string
	Raw   json.RawMessage
}

// DeltaKind tells what a BlockDelta adds to.
type DeltaKind int

// The kinds; DeltaOther is one that hew does not interpret.
const (
	DeltaOther DeltaKind = iota
	DeltaText
	DeltaThinking
	DeltaSignature
	DeltaInput
)

// BlockDone closes block Index. A tool call whose input is not valid JSON
// comes with Input {} and the text in Malformed.
type BlockDone struct {
	Index     int
	Block     msg.Block
	Malformed string
	Raw       json.RawMessage
}

// Finished carries the final figures of a reply.
type Finished struct {
	StopReason string
	Usage      msg.Usage
	Raw        json.RawMessage
}

// Ended is the last part of a whole reply (message_stop).
type Ended struct{ Raw json.RawMessage }

func (Started) part()      {}
func (BlockStarted) part() {}
func (BlockDelta) part()   {}
func (BlockDone) part()    {}
func (Finished) part()     {}
func (Ended) part()        {}

// Stop reasons of the Messages API that hew acts on.
const (
	StopEndTurn       = "end_turn"
	StopMaxTokens     = "max_tokens"
	StopToolUse       = "tool_use"
	StopSequence      = "stop_sequence"
	StopPause         = "pause_turn"
	StopRefusal       = "refusal"
	StopWindowReached = "model_context_window_exceeded"
)

// Size is called by adapters to report the bytes of a request body, when the
// context carries an observer. See WithObserver.
type observerKey struct{}

// Observer is told facts about requests that only the adapter knows.
type Observer struct {
	// Sent is called with the size of the body, in bytes, before it is sent.
	Sent func(bytes int)
}

// WithObserver attaches o to ctx.
func WithObserver(ctx context.Context, o Observer) context.Context {
	return context.WithValue(ctx, observerKey{}, o)
}

// ReportSent tells the observer in ctx, if any, the size of a body.
func ReportSent(ctx context.Context, bytes int) {
	if o, ok := ctx.Value(observerKey{}).(Observer); ok && o.Sent != nil {
		o.Sent(bytes)
	}
}

// StallTimeout is how long a stream may be silent, pings included, before it
// counts as stalled.
const StallTimeout = 5 * time.Minute
