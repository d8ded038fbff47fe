package provider

import (
	"fmt"
	"strings"
	"time"
)

// Class sorts failures by what can be done about them. Adapters set it from
// status codes and typed error fields, never from the wording of a message
// except where the API has nothing else.
type Class string

// The classes.
const (
	Overloaded     Class = "overloaded"      // 529, or an overloaded_error in the stream
	RateLimited    Class = "rate_limit"      // 429
	Server         Class = "server_error"    // other 5xx
	Timeout        Class = "timeout"         // 408, or no answer in time
	Connection     Class = "connection"      // refused, reset, no route, DNS
	Truncated      Class = "truncated"       // the stream ended before message_stop
	Stalled        Class = "stalled"         // the stream went silent
	Auth           Class = "authentication"  // 401
	Forbidden      Class = "permission"      // 403
	Billing        Class = "billing"         // 402
	NotFound       Class = "not_found"       // 404: no such model or endpoint
	TooLong        Class = "prompt_too_long" // the input does not fit the window
	OutputTooLarge Class = "max_tokens"      // input + max_tokens does not fit the window
	BodyTooLarge   Class = "request_too_large"
	BadImage       Class = "image"
	Invalid        Class = "invalid_request" // other 400
	Certificate    Class = "certificate"     // TLS could not be verified
	Protocol       Class = "protocol"        // the answer is not what the API promises
	Credential     Class = "credential"      // no usable key; nothing was sent
)

// Error is a failed request. Its text never holds a credential.
type Error struct {
	Class Class
	// Status is the HTTP status, 0 when none was received.
	Status int
	// Type is the API's error type, Message its text.
	Type, Message string
	// RetryAfter is the server's wish, 0 when it stated none.
	RetryAfter time.Duration
	RequestID  string
	// MaxTokens is set with OutputTooLarge: the largest cap that would fit, 0 when unknown.
	MaxTokens int
	// Tokens and Window are set with TooLong where the server named them: how many
	// tokens the request had, and how many fit.
	Tokens, Window int
	// ModelUnknown is set with NotFound when the server said that the model does not exist.
	ModelUnknown bool
	// At names the parts of the request that were refused, for adapters whose
	// server counts otherwise than Request.Messages; see Places.
	At []Place
	// WantsThinking is set with Invalid when the server misses thinking blocks that
	// are not in the history any more: the request passes without thinking.
	WantsThinking bool
	// Filtered is set with Invalid when a content filter refused the input.
	Filtered bool
	// Fix says what a person can do next where the adapter knows it better than
	// the class does.
	Fix string
	Err error
}

// Error tells what failed and, for the classes that a person can act on, what to do.
func (e *Error) Error() string {
	s := e.Message
	if s == "" && e.Err != nil {
		s = e.Err.Error()
	}
	if e.Status != 0 {
		s = fmt.Sprintf("%d %s", e.Status, s)
	}
	a := e.Fix
	if a == "" {
		a = e.advice()
	}
	if a != "" {
		s = strings.TrimSuffix(s, ".") + ". " + a
	}
	return "API Error: " + s
}

// advice says what a person can do next, for the classes where that is known.
func (e *Error) advice() string {
	switch e.Class {
	case Auth:
		return "Check the key; `hew auth status` names its source"
	case Forbidden:
		return "The key may not do this: check its workspace and the model's availability"
	case Billing:
		return "Check the account's plan and balance"
	case NotFound:
		if e.ModelUnknown {
			return "Choose another model with --model; `hew models` lists those that hew knows"
		}
		return "Check ANTHROPIC_BASE_URL"
	case Connection, Timeout:
		return "Check the network, ANTHROPIC_BASE_URL and HTTPS_PROXY"
	case Certificate:
		return "If a proxy signs with its own authority, name its file in NODE_EXTRA_CA_CERTS"
	case Protocol:
		return "Check that ANTHROPIC_BASE_URL names a Messages API"
	case Credential, Overloaded, RateLimited, Server, Truncated, Stalled, TooLong, OutputTooLarge,
		BodyTooLarge, BadImage, Invalid:
	}
	return ""
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable tells whether the same request may be sent again after a pause.
// 401 is not hammered: a fresh credential is tried once, by the adapter.
func (c Class) Retryable() bool {
	switch c {
	case Overloaded, RateLimited, Server, Timeout, Connection, Truncated, Stalled:
		return true
	case Auth, Forbidden, Billing, NotFound, TooLong, OutputTooLarge, BodyTooLarge, BadImage,
		Invalid, Certificate, Protocol, Credential:
		return false
	}
	return false
}

// FallsBack tells whether another model may be tried for this turn. Auth,
// billing, rate limits, sizes and transport would fail there as well.
func (c Class) FallsBack() bool {
	switch c {
	case Overloaded, Server, NotFound:
		return true
	case RateLimited, Timeout, Connection, Truncated, Stalled, Auth, Forbidden, Billing, TooLong,
		OutputTooLarge, BodyTooLarge, BadImage, Invalid, Certificate, Protocol, Credential:
		return false
	}
	return false
}

// Breaks is the closed list of reasons for which a request may not extend the
// prefix of the one before it. The scripted model refuses any other.
func Breaks() []string {
	return []string{"compaction", "clear", "model", "tools", "tools_loaded", "repair", "rewind", "microcompact", "budget", "snip", "collapse", "retract", "resume", "system"}
}
