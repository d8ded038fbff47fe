package streamjson

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/tool"
)

// Host is the program on the other side of stdin and stdout. It answers
// questions (Host is an event.Asker), fills forms, runs hooks and servers that
// live in it, and steers the conversation by control requests.
type Host struct {
	newID func() string
	// patience bounds how long a person may think about a question.
	patience time.Duration
	// greeted is closed when the host has its answer to initialize: what hew asks
	// by itself comes after it.
	greeted chan struct{}
	once    sync.Once

	mu      sync.Mutex
	p       *Printer
	pending map[string]chan json.RawMessage
	// gone is set once nothing can be answered any more.
	gone    error
	servers map[string]*hostServer
	dialogs []string // kinds that the host shows
	serving map[string]context.CancelFunc
}

// NewHost makes a host. It can ask once a Surface has taken it up. A question
// that stays without an answer for patience counts as refused.
func NewHost(newID func() string, patience time.Duration) *Host {
	return &Host{
		newID: newID, patience: patience, greeted: make(chan struct{}),
		pending: map[string]chan json.RawMessage{}, servers: map[string]*hostServer{}, serving: map[string]context.CancelFunc{},
	}
}

func (h *Host) attach(p *Printer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.p = p
}

// greet says that hew may ask from now on.
func (h *Host) greet() { h.once.Do(func() { close(h.greeted) }) }

var errGone = errors.New("the host has closed its input, so nobody can answer")

// leave ends all questions: the host has closed its input.
func (h *Host) leave() {
	h.greet()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gone = errGone
	for id, ch := range h.pending {
		delete(h.pending, id)
		close(ch)
	}
	for _, s := range h.servers {
		s.end()
	}
}

type controlOut struct {
	Type      string `json:"type"`
	RequestID string `json:"request_id"`
	Request   any    `json:"request,omitempty"`
}

// Ask asks the host program whether a call may run.
func (h *Host) Ask(ctx context.Context, q event.Question) (event.Answer, error) {
	raw, err := h.asked(ctx, q.Title, ask(q))
	if err != nil {
		return event.Answer{}, err
	}
	return answer(raw)
}

// asked puts a question to the person behind the host, whose patience has an end.
func (h *Host) asked(ctx context.Context, about string, body any) (json.RawMessage, error) {
	if h.patience > 0 {
		late := fmt.Errorf("the host has not answered within %v", h.patience)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, h.patience, late)
		defer cancel()
	}
	return h.put(ctx, about, body)
}

// question is one that the host has been asked and may yet answer.
type question struct {
	h  *Host
	id string
	ch chan json.RawMessage
}

// put puts one question to the host and waits for the raw answer.
func (h *Host) put(ctx context.Context, about string, body any) (json.RawMessage, error) {
	q, err := h.pose(about, body)
	if err != nil {
		return nil, err
	}
	return q.wait(ctx)
}

// pose writes a question; questions are in the order of the calls.
func (h *Host) pose(about string, body any) (question, error) {
	q := question{h, h.newID(), make(chan json.RawMessage, 1)}
	h.mu.Lock()
	p, gone := h.p, h.gone
	if gone == nil && p != nil {
		h.pending[q.id] = q.ch
	}
	h.mu.Unlock()
	switch {
	case gone != nil:
		return q, gone
	case p == nil:
		return q, fmt.Errorf("ask the host about %s: it is not connected", about)
	}
	p.write(controlOut{"control_request", q.id, body})
	return q, nil
}

// wait waits for the raw answer. When ctx ends first, the question is taken back.
func (q question) wait(ctx context.Context) (json.RawMessage, error) {
	select {
	case raw, ok := <-q.ch:
		if !ok {
			return nil, errGone
		}
		return raw, nil
	case <-ctx.Done():
		q.h.mu.Lock()
		delete(q.h.pending, q.id)
		p := q.h.p
		q.h.mu.Unlock()
		p.write(controlOut{"control_cancel_request", q.id, nil})
		return nil, context.Cause(ctx)
	}
}

// reply is the body of a control response.
type reply struct {
	Subtype  string          `json:"subtype"`
	Error    string          `json:"error"`
	Response json.RawMessage `json:"response"`
}

// unpack reads a response; one that says "error" is an error.
func unpack(raw json.RawMessage, into any) error {
	var r reply
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("the answer is not an object: %w", err)
	}
	if r.Subtype == "error" {
		return fmt.Errorf("the host failed to answer: %s", r.Error)
	}
	if len(r.Response) == 0 {
		return nil
	}
	return json.Unmarshal(r.Response, into)
}

// Fill puts the form of an MCP server to the host program.
func (h *Host) Fill(ctx context.Context, f event.Form) (event.FormAnswer, error) {
	raw, err := h.asked(ctx, "a form of the MCP server "+f.Server, struct {
		Subtype string          `json:"subtype"`
		Server  string          `json:"mcp_server_name"`
		Message string          `json:"message"`
		Mode    string          `json:"mode,omitempty"`
		URL     string          `json:"url,omitempty"`
		ID      string          `json:"elicitation_id,omitempty"`
		Schema  json.RawMessage `json:"requested_schema,omitempty"`
		Order   []string        `json:"property_order,omitempty"`
	}{"elicitation", f.Server, f.Message, f.Mode, f.URL, f.ID, f.Schema, fields(f.Schema)})
	if err != nil {
		return event.FormAnswer{}, err
	}
	var in struct {
		Action  string          `json:"action"`
		Content json.RawMessage `json:"content"`
	}
	if err := unpack(raw, &in); err != nil {
		return event.FormAnswer{}, fmt.Errorf("a form of the MCP server %s: %w", f.Server, err)
	}
	return event.FormAnswer{Action: in.Action, Content: in.Content}, nil
}

// fields are the names of a form's fields in the server's order, for hosts whose
// own form of JSON keeps none.
func fields(schema json.RawMessage) (names []string) {
	gjson.GetBytes(schema, "properties").ForEach(func(key, _ gjson.Result) bool {
		names = append(names, key.Str)
		return true
	})
	return names
}

type canUseTool struct {
	Subtype     string             `json:"subtype"`
	Tool        string             `json:"tool_name"`
	Display     string             `json:"display_name"`
	Input       json.RawMessage    `json:"input"`
	Description string             `json:"description"`
	Suggestions []event.Suggestion `json:"permission_suggestions,omitempty"`
	Reason      string             `json:"decision_reason,omitempty"`
	ReasonType  string             `json:"decision_reason_type,omitempty"`
	UseID       string             `json:"tool_use_id"`
	Agent       string             `json:"agent_id,omitempty"`
	NeedsUser   bool               `json:"requires_user_interaction,omitempty"`
}

func ask(q event.Question) canUseTool {
	reason := q.Decision.Reason
	if q.Risk != "" {
		reason += ". Before this is allowed for good: " + q.Risk
	}
	return canUseTool{
		Subtype: "can_use_tool", Tool: q.Tool, Display: q.Tool, Input: q.Use.Input, Description: q.Title,
		Suggestions: q.Suggestions, Reason: reason, ReasonType: q.Decision.Layer, UseID: q.Use.ID,
		Agent: q.Origin.Agent, NeedsUser: q.Kind != event.AskPermission,
	}
}

func answer(raw json.RawMessage) (event.Answer, error) {
	var in struct {
		Behavior  string             `json:"behavior"`
		Input     json.RawMessage    `json:"updatedInput"`
		Updates   []event.Suggestion `json:"updatedPermissions"`
		Message   string             `json:"message"`
		Interrupt bool               `json:"interrupt"`
	}
	if err := unpack(raw, &in); err != nil {
		return event.Answer{}, fmt.Errorf("a permission question: %w", err)
	}
	a := event.Answer{Input: in.Input, Updates: in.Updates, Message: in.Message, Interrupt: in.Interrupt}
	switch in.Behavior {
	case "allow":
		a.Behavior = tool.Allow
	case "deny":
		a.Behavior = tool.Deny
	default:
		return event.Answer{}, fmt.Errorf("the host's permission answer has behavior %q, want allow or deny", in.Behavior)
	}
	return a, nil
}

// response routes an answer to the question that waits for it; an answer to
// nothing is ignored.
func (h *Host) response(raw json.RawMessage) {
	var in struct {
		RequestID string `json:"request_id"`
	}
	if json.Unmarshal(raw, &in) != nil {
		return
	}
	h.mu.Lock()
	ch := h.pending[in.RequestID]
	delete(h.pending, in.RequestID)
	h.mu.Unlock()
	if ch != nil {
		ch <- raw
	}
}
