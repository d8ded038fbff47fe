// Package script is the scripted model as an ordinary, selectable provider.
//
// A scenario is data (docs/fakemodel.md describes the format). A Model plays
// it: as a provider.Provider inside the program, or as an http.Handler that
// speaks the Messages API. Both ways encode the request as it would be sent,
// check every rule of the API on it, and read the reply from the same bytes.
package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

// Scenario is what a scripted model does.
type Scenario struct {
	// Name is for people.
	Name string `json:"name,omitempty"`
	// Select is "order" (the default: each request takes the next step, which
	// must match) or "match" (each takes the first step that matches; steps are
	// not used up, so the script survives a restart).
	Select string `json:"select,omitempty"`
	Steps  []Step `json:"steps"`
	// Lanes are scripts of their own for conversations, such as those of
	// subagents, whose first request matches.
	Lanes []Lane `json:"lanes,omitempty"`
	// Side answers side queries by their label; "*" answers the others. The
	// last step of a list is repeated.
	Side map[string][]Step `json:"side,omitempty"`
	// Vars are values for {{name}}.
	Vars map[string]string `json:"vars,omitempty"`
	// Capture takes values for {{name}} from every request; see Step.Capture.
	Capture map[string]string `json:"capture,omitempty"`
	Limits  Limits            `json:"limits,omitzero"`
	// Models lists the models that exist; empty: any name does.
	Models []string `json:"models,omitempty"`
	// Key is the only credential that is accepted; empty: any, or none.
	Key string `json:"key,omitempty"`
	// Lenient records violations of the rules but answers all the same.
	Lenient bool `json:"lenient,omitempty"`
	// Chunk is the size of a delta in characters; 0 means 24.
	Chunk int `json:"chunk,omitempty"`
}

// Lane is a script for one kind of conversation.
type Lane struct {
	Name  string `json:"name"`
	Match Match  `json:"match"`
	Steps []Step `json:"steps"`
}

// Limits are sizes in tokens that the model refuses to exceed; 0 is no limit.
type Limits struct {
	// Window refuses longer prompts, and with Sum also prompt + max_tokens.
	Window int  `json:"window,omitempty"`
	Sum    bool `json:"sum,omitempty"`
	// Output refuses a larger max_tokens.
	Output int `json:"output,omitempty"`
	// BytesPerToken is for the model's own count; 0 means 4.
	BytesPerToken float64 `json:"bytes_per_token,omitempty"`
}

// Step is one reply.
type Step struct {
	Name  string  `json:"name,omitempty"`
	Match Match   `json:"match,omitzero"`
	Reply []Reply `json:"reply,omitempty"`
	// StopReason is tool_use when the reply calls a tool, else end_turn.
	StopReason string `json:"stop_reason,omitempty"`
	// Usage replaces the computed figures; it is a usage object of the API.
	Usage json.RawMessage `json:"usage,omitempty"`
	// Capture takes values from the request before the reply is made: name →
	// regular expression, whose first group is the value. It is searched in the
	// newest message, then backwards, then in the system prompt.
	Capture map[string]string `json:"capture,omitempty"`
	Chunk   int               `json:"chunk,omitempty"`
	// DelayMS waits before the answer begins, PaceMS between deltas.
	DelayMS int    `json:"delay_ms,omitempty"`
	PaceMS  int    `json:"pace_ms,omitempty"`
	Fault   *Fault `json:"fault,omitempty"`
	// Repeat is how often the step is used (0 means once), Loop: for ever.
	Repeat int  `json:"repeat,omitempty"`
	Loop   bool `json:"loop,omitempty"`
}

// Match is a condition on a request; all members that are set must hold.
type Match struct {
	// User: the newest text of the user holds this; UserRegexp: matches it.
	User       string `json:"user,omitempty"`
	UserRegexp string `json:"user_regexp,omitempty"`
	// Result: some tool result in the newest message holds this.
	Result       string `json:"result,omitempty"`
	ResultRegexp string `json:"result_regexp,omitempty"`
	// ResultError: whether the newest results hold one that is an error.
	ResultError *bool `json:"result_error,omitempty"`
	// Seen and Unseen: all of these texts, none of these, occur in the messages.
	Seen   []string `json:"seen,omitempty"`
	Unseen []string `json:"unseen,omitempty"`
	System string   `json:"system,omitempty"`
	Model  string   `json:"model,omitempty"`
	// Messages and Replies count messages, and those of the assistant.
	Messages *int `json:"messages,omitempty"`
	Replies  *int `json:"replies,omitempty"`
	// Tools and NoTools are offered, not offered.
	Tools   []string `json:"tools,omitempty"`
	NoTools []string `json:"no_tools,omitempty"`
	// Thinking is "adaptive", "budget" or "none".
	Thinking  string `json:"thinking,omitempty"`
	Effort    string `json:"effort,omitempty"`
	MaxTokens *int   `json:"max_tokens,omitempty"`
	Stream    *bool  `json:"stream,omitempty"`
	// Break is the reason that the request gives for a new prefix, "none" for none.
	Break string `json:"break,omitempty"`
}

// Reply is one block. Exactly one of Text, Thinking, Redacted, Tool and Block is set.
type Reply struct {
	Text string `json:"text,omitempty"`
	// Times sends the text as that many equal deltas.
	Times    int    `json:"times,omitempty"`
	Thinking string `json:"thinking,omitempty"`
	// Signature is made up when empty.
	Signature string `json:"signature,omitempty"`
	Redacted  string `json:"redacted,omitempty"`
	Tool      string `json:"tool,omitempty"`
	ID        string `json:"id,omitempty"`
	// Input is the call's input; Raw is text sent in its place, valid or not.
	Input json.RawMessage `json:"input,omitempty"`
	Raw   string          `json:"raw,omitempty"`
	// Block is sent as it is.
	Block   json.RawMessage `json:"block,omitempty"`
	DelayMS int             `json:"delay_ms,omitempty"`
}

// Fault is something that goes wrong. Do is:
//
//	status  answer with Status, Type, Message and Headers
//	cut     break the connection off at At (Clean: end it in an orderly way)
//	stall   go silent at At, for MS milliseconds or, with 0, until the client leaves
//	error   an error event with Type and Message at At, then the end
//	raw     at "headers" the whole answer is Body with Status, ContentType and
//	        Headers; elsewhere Body is put into the stream, which then goes on
//	drip    send the answer in pieces of Bytes bytes (1), MS milliseconds apart
//
// At is "headers" (before the answer, the default), "start", "in:N" (in the
// middle of block N, from 1), "block:N" (after block N), "stop" (before
// message_stop) or "byte:N".
type Fault struct {
	Do          string            `json:"do"`
	At          string            `json:"at,omitempty"`
	Status      int               `json:"status,omitempty"`
	Type        string            `json:"type,omitempty"`
	Message     string            `json:"message,omitempty"`
	Headers     map[string]string `json:"headers,omitempty"`
	Body        string            `json:"body,omitempty"`
	ContentType string            `json:"content_type,omitempty"`
	MS          int               `json:"ms,omitempty"`
	Bytes       int               `json:"bytes,omitempty"`
	Clean       bool              `json:"clean,omitempty"`
}

// Load reads a scenario file.
func Load(path string) (*Scenario, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read scenario: %w", err)
	}
	s, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", path, err)
	}
	return s, nil
}

// Parse reads a scenario and checks it; errors name the line or the step.
func Parse(data []byte) (*Scenario, error) {
	var s Scenario
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return nil, located(data, d, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, located(data, d, errors.New("more text after the scenario's closing brace"))
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	return &s, nil
}

func located(data []byte, d *json.Decoder, err error) error {
	at := d.InputOffset()
	var se *json.SyntaxError
	var te *json.UnmarshalTypeError
	switch {
	case errors.As(err, &se):
		at = se.Offset
	case errors.As(err, &te):
		at = te.Offset
	}
	at = min(at, int64(len(data)))
	return fmt.Errorf("line %d: %w", 1+bytes.Count(data[:at], []byte("\n")), err)
}

func (s *Scenario) check() error {
	if s.Select != "" && s.Select != "order" && s.Select != "match" {
		return fmt.Errorf("select: %q is neither \"order\" nor \"match\"", s.Select)
	}
	if err := checkExprs(s.Capture); err != nil {
		return fmt.Errorf("capture: %w", err)
	}
	if err := checkSteps("steps", s.Steps); err != nil {
		return err
	}
	for _, l := range s.Lanes {
		if err := l.Match.check(); err != nil {
			return fmt.Errorf("lane %q: %w", l.Name, err)
		}
		if err := checkSteps(fmt.Sprintf("lane %q", l.Name), l.Steps); err != nil {
			return err
		}
	}
	for label, steps := range s.Side {
		if err := checkSteps(fmt.Sprintf("side %q", label), steps); err != nil {
			return err
		}
	}
	return nil
}

func checkSteps(where string, steps []Step) error {
	for i := range steps {
		if err := steps[i].check(); err != nil {
			return fmt.Errorf("%s: step %d %s: %w", where, i+1, steps[i].Name, err)
		}
	}
	return nil
}

func (s *Step) check() error {
	if err := s.Match.check(); err != nil {
		return err
	}
	if err := checkExprs(s.Capture); err != nil {
		return err
	}
	for i, r := range s.Reply {
		if err := r.check(); err != nil {
			return fmt.Errorf("reply %d: %w", i+1, err)
		}
	}
	if len(s.Usage) > 0 && s.Usage[0] != '{' {
		return errors.New("usage is not an object")
	}
	if len(s.Reply) == 0 && (s.Fault == nil || s.Fault.Do == "drip") {
		return errors.New("neither a reply nor a fault")
	}
	if s.Fault == nil {
		return nil
	}
	_, err := s.Fault.plan()
	return err
}

func (r Reply) check() error {
	n := 0
	for _, set := range []bool{r.Text != "", r.Thinking != "", r.Redacted != "", r.Tool != "", len(r.Block) > 0} {
		if set {
			n++
		}
	}
	if r.Signature != "" && n == 0 {
		return nil // thinking that is nothing but its signature
	}
	switch {
	case n != 1:
		return errors.New("exactly one of text, thinking, redacted, tool and block must be set")
	case r.Tool == "" && (len(r.Input) > 0 || r.Raw != ""):
		return errors.New("input and raw belong to a tool")
	case len(r.Input) > 0 && r.Raw != "":
		return errors.New("input and raw exclude each other")
	case r.Times < 0 || r.Times > 0 && r.Text == "":
		return errors.New("times belongs to a text")
	case len(r.Block) > 0 && r.Block[0] != '{':
		return errors.New("block is not an object")
	}
	return nil
}

func (m Match) check() error {
	for _, e := range []string{m.UserRegexp, m.ResultRegexp} {
		if _, err := regexp.Compile(e); err != nil {
			return err
		}
	}
	switch m.Thinking {
	case "", "adaptive", "budget", "none":
		return nil
	}
	return fmt.Errorf("match: thinking %q is none of adaptive, budget, none", m.Thinking)
}

func checkExprs(exprs map[string]string) error {
	for name, e := range exprs {
		re, err := regexp.Compile(e)
		if err != nil {
			return err
		}
		if re.NumSubexp() < 1 {
			return fmt.Errorf("%s: %q has no group to take the value from", name, e)
		}
		if strings.ContainsAny(name, "{} ") {
			return fmt.Errorf("%q is no name for a value", name)
		}
	}
	return nil
}
