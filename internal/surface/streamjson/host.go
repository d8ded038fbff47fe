package streamjson

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/tool"
)

// Host is the program on the other side of stdin and stdout. It answers
// questions (Host is an event.Asker) and steers the conversation by control
// requests, which are served on the reader's goroutine and never wait.
type Host struct {
	newID func() string

	mu      sync.Mutex
	p       *Printer
	e       *engine.Engine
	pending map[string]chan json.RawMessage
}

// NewHost makes a host. It can ask once a Surface has taken it up.
func NewHost(newID func() string) *Host {
	return &Host{newID: newID, pending: map[string]chan json.RawMessage{}}
}

func (h *Host) attach(p *Printer, e *engine.Engine) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.p, h.e = p, e
}

func (h *Host) parts() (*Printer, *engine.Engine) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.p, h.e
}

type controlOut struct {
	Type      string `json:"type"`
	RequestID string `json:"request_id"`
	Request   any    `json:"request,omitempty"`
}

// Ask asks the host program whether a call may run.
func (h *Host) Ask(ctx context.Context, q event.Question) (event.Answer, error) {
	raw, err := h.put(ctx, q.Title, ask(q))
	if err != nil {
		return event.Answer{}, err
	}
	return answer(raw)
}

// put puts one question to the host and waits for the raw answer.
func (h *Host) put(ctx context.Context, about string, body any) (json.RawMessage, error) {
	p, _ := h.parts()
	if p == nil {
		return nil, fmt.Errorf("ask the host about %s: it is not connected", about)
	}
	id := h.newID()
	ch := make(chan json.RawMessage, 1)
	h.mu.Lock()
	h.pending[id] = ch
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		delete(h.pending, id)
		h.mu.Unlock()
	}()
	p.write(controlOut{"control_request", id, body})
	select {
	case raw := <-ch:
		return raw, nil
	case <-ctx.Done():
		p.write(controlOut{"control_cancel_request", id, nil})
		return nil, context.Cause(ctx)
	}
}

// Fill puts the form of an MCP server to the host program.
func (h *Host) Fill(ctx context.Context, f event.Form) (event.FormAnswer, error) {
	raw, err := h.put(ctx, "a form of the MCP server "+f.Server, struct {
		Subtype string          `json:"subtype"`
		Server  string          `json:"mcp_server_name"`
		Message string          `json:"message"`
		Mode    string          `json:"mode,omitempty"`
		URL     string          `json:"url,omitempty"`
		ID      string          `json:"elicitation_id,omitempty"`
		Schema  json.RawMessage `json:"requested_schema,omitempty"`
	}{"elicitation", f.Server, f.Message, f.Mode, f.URL, f.ID, f.Schema})
	if err != nil {
		return event.FormAnswer{}, err
	}
	var in struct {
		Subtype  string `json:"subtype"`
		Error    string `json:"error"`
		Response struct {
			Action  string          `json:"action"`
			Content json.RawMessage `json:"content"`
		} `json:"response"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return event.FormAnswer{}, fmt.Errorf("the host's answer to a form: %w", err)
	}
	if in.Subtype == "error" {
		return event.FormAnswer{}, fmt.Errorf("the host failed to answer: %s", in.Error)
	}
	return event.FormAnswer{Action: in.Response.Action, Content: in.Response.Content}, nil
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
		Subtype  string `json:"subtype"`
		Error    string `json:"error"`
		Response struct {
			Behavior  string             `json:"behavior"`
			Input     json.RawMessage    `json:"updatedInput"`
			Updates   []event.Suggestion `json:"updatedPermissions"`
			Message   string             `json:"message"`
			Interrupt bool               `json:"interrupt"`
		} `json:"response"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return event.Answer{}, fmt.Errorf("the host's permission answer: %w", err)
	}
	if in.Subtype == "error" {
		return event.Answer{}, fmt.Errorf("the host failed to answer: %s", in.Error)
	}
	a := event.Answer{Input: in.Response.Input, Updates: in.Response.Updates, Message: in.Response.Message, Interrupt: in.Response.Interrupt}
	switch in.Response.Behavior {
	case "allow":
		a.Behavior = tool.Allow
	case "deny":
		a.Behavior = tool.Deny
	default:
		return event.Answer{}, fmt.Errorf("the host's permission answer has behavior %q, want allow or deny", in.Response.Behavior)
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

type controlResponse struct {
	Subtype   string `json:"subtype"`
	RequestID string `json:"request_id"`
	Response  any    `json:"response,omitempty"`
	Error     string `json:"error,omitempty"`
	Code      string `json:"error_code,omitempty"`
}

// request serves one control request.
func (h *Host) request(id string, raw json.RawMessage) {
	p, e := h.parts()
	if p == nil {
		return
	}
	var in struct {
		Subtype string  `json:"subtype"`
		Mode    string  `json:"mode"`
		Model   *string `json:"model"`
	}
	out := controlResponse{Subtype: "success", RequestID: id}
	if err := json.Unmarshal(raw, &in); err != nil {
		out.Subtype, out.Error, out.Code = "error", "the request is not an object: "+err.Error(), "invalid_request"
	} else if res, err := h.serve(p, e, in.Subtype, in.Mode, in.Model); err != nil {
		out.Subtype, out.Error, out.Code = "error", err.Error(), "unsupported_request"
	} else {
		out.Response = res
	}
	p.write(struct {
		Type     string          `json:"type"`
		Response controlResponse `json:"response"`
	}{"control_response", out})
}

func (h *Host) serve(p *Printer, e *engine.Engine, subtype, mode string, model *string) (any, error) {
	switch subtype {
	case "interrupt":
		e.Interrupt()
		return map[string]any{"still_queued": []string{}}, nil
	case "set_permission_mode":
		if err := e.SetMode(mode); err != nil {
			return nil, err
		}
		p.status("", e.Mode())
		return map[string]string{"mode": e.Mode()}, nil
	case "set_model":
		name := "default"
		if model != nil && *model != "" {
			name = *model
		}
		if err := e.SetModel(context.Background(), name, "sdk", nil); err != nil {
			return nil, err
		}
		return map[string]string{"model": e.Model().ID}, nil
	}
	return nil, fmt.Errorf("control request %q is not supported", subtype)
}
