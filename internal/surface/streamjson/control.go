package streamjson

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hew-agent/hew/internal/core/command"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// When says in which order a control request is carried out.
type When int

// The orders. InTurn requests are carried out one after the other, in the order
// in which they and user messages arrive; they must not wait for anything.
// Beside is for what may take its time, BetweenRuns for what needs the
// conversation at rest.
const (
	InTurn When = iota
	Beside
	BetweenRuns
)

// Control carries out one kind of control request: Do gets the request and
// returns the response, which is encoded as JSON.
type Control struct {
	When When
	// Check refuses a request when it arrives, before it waits for its turn. Optional.
	Check func(request json.RawMessage) error
	Do    func(ctx context.Context, request json.RawMessage) (any, error)
}

// Live is an open conversation.
type Live struct {
	Engine *engine.Engine
	// Commands runs slash commands; nil sends them to the model as text.
	Commands *command.Book
	Facts    func() Facts
	// ForwardText adds what subagents say; what they do always shows.
	ForwardText bool
	// Next waits for what the conversation goes on with by itself between two
	// runs; nil tells that there is nothing, or no patience left. Optional.
	Next func(ctx context.Context) *msg.Message
	// Tasks are changes of background work that happen between runs; see
	// engine.Config.Tasks. Optional.
	Tasks func() []event.TaskChanged
	// TaskEnded is sent a value when background work may have changed. Optional.
	TaskEnded <-chan struct{}
	// StopWork ends what runs in the background, when the host has no way to stop
	// single tasks: an interrupt is then for all. Optional.
	StopWork func()
	// Listing is the slash commands as hosts are told of them. Optional.
	Listing func() any
	// Fallbacks are the models to ask instead of the first.
	Fallbacks []string
	// Controls are the control requests by subtype, beside those that the surface
	// knows by itself.
	Controls map[string]Control
}

// Refused is an error of a control request with a word for programs.
type Refused struct {
	Code string
	Err  error
}

// Error is the text for people.
func (r *Refused) Error() string { return r.Err.Error() }

// Unwrap returns the cause.
func (r *Refused) Unwrap() error { return r.Err }

type controlResponse struct {
	Subtype   string          `json:"subtype"`
	RequestID json.RawMessage `json:"request_id"`
	Response  any             `json:"response,omitempty"`
	Error     string          `json:"error,omitempty"`
	Code      string          `json:"error_code,omitempty"`
}

func (p *Printer) respond(id json.RawMessage, res any, err error) {
	out := controlResponse{Subtype: "success", RequestID: id, Response: res}
	if err != nil {
		out.Subtype, out.Response, out.Error, out.Code = "error", nil, err.Error(), "request_failed"
		var r *Refused
		if errors.As(err, &r) {
			out.Code = r.Code
		}
	}
	p.write(struct {
		Type     string          `json:"type"`
		Response controlResponse `json:"response"`
	}{"control_response", out})
}

// request carries out a control request, or sees to it that it is.
func (s *Surface) request(ctx context.Context, it item) {
	var in struct {
		Subtype string `json:"subtype"`
	}
	if err := json.Unmarshal(it.request, &in); err != nil {
		s.p.respond(it.id, nil, &Refused{"invalid_request", fmt.Errorf("the request is not an object: %w", err)})
		return
	}
	if in.Subtype == "interrupt" {
		s.interrupt(it)
		return
	}
	c, ok := s.control(in.Subtype)
	if !ok {
		s.p.respond(it.id, nil, &Refused{"unsupported_request", fmt.Errorf("control request %q is not supported", in.Subtype)})
		return
	}
	if c.Check != nil {
		if err := c.Check(it.request); err != nil {
			s.p.respond(it.id, nil, err)
			return
		}
	}
	ctx, done, err := s.c.Host.begin(ctx, it.id)
	if err != nil {
		s.p.respond(it.id, nil, err)
		return
	}
	do := func() {
		defer done()
		res, err := c.Do(ctx, it.request)
		s.p.respond(it.id, res, err)
	}
	switch c.When {
	case InTurn:
		do()
	case Beside:
		s.beside.Go(do)
	case BetweenRuns:
		s.between(do)
	}
	if in.Subtype == "initialize" {
		s.c.Host.greet()
	}
}

// control finds what carries out a subtype.
func (s *Surface) control(subtype string) (Control, bool) {
	switch subtype {
	case "set_permission_mode":
		return Control{Do: s.setMode}, true
	case "set_model":
		return Control{Do: s.setModel}, true
	case "mcp_message":
		return Control{Do: func(_ context.Context, raw json.RawMessage) (any, error) { return s.c.Host.fromServer(raw) }}, true
	case "cancel_async_message":
		return Control{Do: s.cancelMessage}, true
	}
	c, ok := s.live.Controls[subtype]
	return c, ok
}

// begin enters a request that is being carried out, so that the host can call
// it off. Two at once by one id could not be told apart.
func (h *Host) begin(ctx context.Context, id json.RawMessage) (context.Context, func(), error) {
	key := string(id)
	ctx, cancel := context.WithCancel(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.serving[key] != nil {
		cancel()
		return nil, nil, &Refused{"duplicate_request_id", errors.New("a request with this request_id is still being carried out")}
	}
	h.serving[key] = cancel
	return ctx, func() {
		cancel()
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.serving, key)
	}, nil
}

// withdraw calls off a request of the host.
func (h *Host) withdraw(id json.RawMessage) {
	h.mu.Lock()
	cancel := h.serving[string(id)]
	h.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// interrupt answers first: the host knows what is still queued before it sees
// the result of the run that ends.
func (s *Surface) interrupt(it item) {
	var in struct {
		Cancel bool `json:"cancel_queued"`
	}
	if json.Unmarshal(it.request, &in) != nil {
		in.Cancel = false // a value of another type: the careful reading
	}
	queued := append(s.live.Engine.Waiting(), s.held.ids()...)
	out := map[string][]string{"still_queued": list(queued)}
	if in.Cancel {
		gone := []string{}
		for _, id := range queued {
			if s.live.Engine.Withdraw(id) || s.held.drop(id) {
				gone = append(gone, id)
			}
		}
		out = map[string][]string{"still_queued": {}, "cancelled": gone}
	}
	s.p.respond(it.id, out, nil)
	s.live.Engine.Interrupt()
	if s.live.StopWork != nil {
		s.beside.Go(s.live.StopWork) // waits for what it ends
	}
}

func (s *Surface) cancelMessage(_ context.Context, raw json.RawMessage) (any, error) {
	var in struct {
		ID string `json:"message_uuid"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	return map[string]bool{"cancelled": s.live.Engine.Withdraw(in.ID) || s.held.drop(in.ID)}, nil
}

func (s *Surface) setMode(_ context.Context, raw json.RawMessage) (any, error) {
	var in struct {
		Mode string `json:"mode"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	e := s.live.Engine
	if err := e.SetMode(in.Mode); err != nil {
		return nil, err
	}
	s.p.status("", e.Mode())
	return map[string]string{"mode": e.Mode()}, nil
}

func (s *Surface) setModel(ctx context.Context, raw json.RawMessage) (any, error) {
	var in struct {
		Model *string `json:"model"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	e, name := s.live.Engine, s.model
	if in.Model != nil && *in.Model != "" && *in.Model != "default" {
		name = *in.Model
	}
	if err := e.SetModel(ctx, name, "sdk", nil); err != nil {
		return nil, err
	}
	return map[string]string{"model": e.Model().ID}, nil
}
