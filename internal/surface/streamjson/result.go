package streamjson

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// Result is the last line of a run. Usage is the run's, cost and model usage
// are those of the process so far.
type Result struct {
	envelope
	IsError    bool                  `json:"is_error"`
	APIStatus  *int                  `json:"api_error_status"`
	Duration   int64                 `json:"duration_ms"`
	API        int64                 `json:"duration_api_ms"`
	TTFT       int64                 `json:"ttft_ms"`
	NumTurns   int                   `json:"num_turns"`
	Result     *string               `json:"result,omitempty"`
	Errors     []string              `json:"errors,omitempty"`
	StopReason *string               `json:"stop_reason"`
	Cost       float64               `json:"total_cost_usd"`
	Usage      msg.Usage             `json:"usage"`
	ModelUsage map[string]modelUsage `json:"modelUsage"`
	Denials    []event.Denial        `json:"permission_denials"`
	Output     json.RawMessage       `json:"structured_output,omitempty"`
	Reason     event.Reason          `json:"terminal_reason,omitempty"`
	Deferred   *deferredUse          `json:"deferred_tool_use,omitempty"`
	Signals    []event.Signal        `json:"signals,omitempty"`
	Queued     int                   `json:"queued_turn_count"`
	Index      int                   `json:"result_index"`
	// Since is ModelUsage without what was there at the last result.
	Since map[string]modelUsage `json:"model_usage_since_last_result"`
	// Agents says what each subagent used, when there were any; the entry without
	// an id is the conversation itself. Together they are the total. A field of
	// hew's own.
	Agents []agentUsage `json:"hew_agent_usage,omitempty"`
	// Breaks are the deliberate breaks of the cached prefix so far; a field of hew's own.
	Breaks []prefixBreak `json:"hew_prefix_breaks,omitempty"`
}

// deferredUse is a call that a hook has put off.
type deferredUse struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type prefixBreak struct {
	Reason string `json:"reason"`
	Model  string `json:"model"`
	Times  int    `json:"times"`
	Tokens int    `json:"tokens"`
}

type agentUsage struct {
	ID       string    `json:"agent_id,omitempty"`
	Type     string    `json:"subagent_type,omitempty"`
	Task     string    `json:"task_description,omitempty"`
	Requests int       `json:"requests"`
	CostUSD  float64   `json:"costUSD"`
	Usage    msg.Usage `json:"usage"`
}

// agentUsage lists who used what; nothing when nobody was delegated to.
func (p *Printer) agentUsage(shares []engine.Share) []agentUsage {
	if !slices.ContainsFunc(shares, func(s engine.Share) bool { return s.Agent != "" }) {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []agentUsage
	for _, s := range shares {
		t := p.agents[s.Agent]
		out = append(out, agentUsage{s.Agent, t.Type, t.Summary, s.Requests, s.CostUSD, s.Usage})
	}
	return out
}

type modelUsage struct {
	InputTokens  int     `json:"inputTokens"`
	OutputTokens int     `json:"outputTokens"`
	CacheRead    int     `json:"cacheReadInputTokens"`
	CacheWrite   int     `json:"cacheCreationInputTokens"`
	WebSearches  int     `json:"webSearchRequests"`
	CostUSD      float64 `json:"costUSD"`
	Window       int     `json:"contextWindow"`
	MaxOutput    int     `json:"maxOutputTokens"`
}

// ModelUsage is what each model was used for, in the form that hosts know.
func ModelUsage(cost engine.Totals) any { return figures(cost) }

func figures(cost engine.Totals) map[string]modelUsage {
	out := map[string]modelUsage{}
	for _, m := range cost.Models {
		u := m.Usage
		out[m.Model.ID] = modelUsage{
			u.InputTokens, u.OutputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens,
			u.ServerToolUse.WebSearchRequests, m.CostUSD, m.Model.Window, m.Model.MaxOutput,
		}
	}
	return out
}

// since is what the figures have grown by.
func since(before, now map[string]modelUsage) map[string]modelUsage {
	out := map[string]modelUsage{}
	for id, n := range now {
		b := before[id]
		d := n
		d.InputTokens -= b.InputTokens
		d.OutputTokens -= b.OutputTokens
		d.CacheRead -= b.CacheRead
		d.CacheWrite -= b.CacheWrite
		d.WebSearches -= b.WebSearches
		d.CostUSD -= b.CostUSD
		b.Window, b.MaxOutput = n.Window, n.MaxOutput
		if n != b {
			out[id] = d
		}
	}
	return out
}

// outcome sorts the reasons into the result's subtypes. An API failure is, as
// in the ecosystem, a "success" whose text is the error and whose is_error is set.
func outcome(r event.Reason) (subtype string, isError bool) {
	switch r {
	case event.Completed, event.HookStopped, event.StopHookPrevented, event.BackgroundRequested, event.ToolDeferred, event.Local:
		return "success", false
	case event.MaxTurns:
		return "error_max_turns", true
	case event.BudgetExhausted:
		return "error_max_budget_usd", true
	case event.OutputExhausted:
		return "error_max_structured_output_retries", true
	case event.AbortedStreaming, event.AbortedTools, event.SetupFailed, event.DeferredUnavailable:
		return "error_during_execution", true
	case event.PromptTooLong, event.BlockingLimit, event.RapidRefillBreaker, event.ImageError,
		event.ModelError, event.APIError, event.MalformedToolUse:
		return "success", true
	}
	return "error_during_execution", true
}

func (p *Printer) result(t event.Terminal, cost engine.Totals, took time.Duration, index int) Result {
	subtype, isError := outcome(t.Reason)
	r := Result{
		envelope: p.head("result", subtype), IsError: isError, Duration: took.Milliseconds(),
		API: cost.API.Milliseconds(), TTFT: cost.First.Milliseconds(), NumTurns: 1 + t.Calls,
		Cost: cost.CostUSD, Usage: t.Usage, ModelUsage: map[string]modelUsage{}, Denials: t.Denied,
		Output: t.Output, Reason: t.Reason, Index: index,
	}
	if r.Denials == nil {
		r.Denials = []event.Denial{}
	}
	if t.Reason == event.HookStopped && t.Turns == 0 {
		r.NumTurns = 0 // a hook has dropped the prompt
	}
	if t.Reason == event.Local {
		r.NumTurns, r.API, r.TTFT = 0, 0, 0
	}
	if t.StopReason != "" {
		r.StopReason = &t.StopReason
	}
	if t.Deferred != nil {
		r.Deferred = &deferredUse{t.Deferred.ID, t.Deferred.Name, t.Deferred.Input}
	}
	if t.Status != 0 {
		r.APIStatus = &t.Status
	}
	r.Signals = t.Signals
	r.ModelUsage = figures(cost)
	r.Agents = p.agentUsage(cost.Shares)
	for _, b := range cost.Breaks {
		r.Breaks = append(r.Breaks, prefixBreak(b))
	}
	text := t.Text
	if isError {
		text = t.Detail
	}
	if subtype == "success" {
		r.Result = &text
	} else {
		r.Errors = []string{text}
	}
	return r
}

// Failure writes the synthetic reply that hosts expect before the result of a
// run that an API error ended.
func (p *Printer) failure(t event.Terminal) {
	p.write(struct {
		envelope
		Message wireMessage `json:"message"`
		Parent  *string     `json:"parent_tool_use_id"`
		At      string      `json:"timestamp"`
		Error   string      `json:"error"`
	}{
		p.head("assistant", ""),
		wireMessage{p.newID(), "message", "assistant", "<synthetic>", []json.RawMessage{msg.NewText(t.Detail).JSON()}, sequence(), nil, msg.Usage{}},
		nil, stamp(p.now()), category(t),
	})
}

func sequence() *string { s := provider.StopSequence; return &s }

// category names the failure in the words of the published types.
func category(t event.Terminal) string {
	var e *provider.Error
	if !errors.As(t.Err, &e) {
		return "unknown"
	}
	switch e.Class {
	case provider.Auth, provider.Credential, provider.Forbidden:
		return "authentication_failed"
	case provider.Billing:
		return "billing_error"
	case provider.RateLimited:
		return "rate_limit"
	case provider.Overloaded:
		return "overloaded"
	case provider.Server:
		return "server_error"
	case provider.TooLong, provider.OutputTooLarge, provider.BodyTooLarge, provider.BadImage:
		return "invalid_request"
	case provider.Timeout, provider.Connection, provider.Truncated, provider.Stalled, provider.NotFound,
		provider.Invalid, provider.Certificate, provider.Protocol:
		return "unknown"
	}
	return "unknown"
}

// Refuse writes the result of a run that could not begin: the session to go on
// with does not exist.
func Refuse(w io.Writer, sessionID, id, text string) {
	p := &Printer{session: func() string { return sessionID }, newID: func() string { return id }, w: w}
	p.write(struct {
		envelope
		IsError bool     `json:"is_error"`
		Errors  []string `json:"errors"`
		Turns   int      `json:"num_turns"`
	}{p.head("result", "error_during_execution"), true, []string{text}, 0})
}
