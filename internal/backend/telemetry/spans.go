//go:build hew_otel

package telemetry

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/hew-agent/hew/internal/event"
)

// exporter turns events into spans and counts. What people, models and tools
// said is in none of them: names, sizes, times and outcomes only.
type exporter struct {
	c       Config
	tracer  trace.Tracer // nil without traces
	fail    func(error)
	closers []func(context.Context) error

	mu    sync.Mutex
	runs  map[string]*run // by agent, "" for the main conversation
	tools map[string]span // running calls, by id
	known bool            // the session was counted

	sessions, tokens, calls metric.Int64Counter // nil without metrics
	cost                    metric.Float64Counter
}

// span is one in progress, with the context in which its children are made.
type span struct {
	trace.Span
	ctx context.Context
}

// run is one interaction in progress.
type run struct{ span }

func (x *exporter) count(m metric.Meter) error {
	var errs [4]error
	x.sessions, errs[0] = m.Int64Counter("claude_code.session.count", metric.WithDescription("sessions that were started"))
	x.tokens, errs[1] = m.Int64Counter("claude_code.token.usage", metric.WithUnit("tokens"), metric.WithDescription("tokens by model and type"))
	x.cost, errs[2] = m.Float64Counter("claude_code.cost.usage", metric.WithUnit("USD"), metric.WithDescription("cost by model"))
	x.calls, errs[3] = m.Int64Counter("hew.tool.calls", metric.WithDescription("finished calls of tools by name and outcome"))
	return errors.Join(errs[:]...)
}

// Event takes an event.
func (x *exporter) Event(e event.Event) {
	x.mu.Lock()
	defer x.mu.Unlock()
	agent := e.Origin.Agent
	if t, ok := e.Body.(event.TurnStarted); ok {
		x.turn(e.Origin, t)
	}
	if m, ok := e.Body.(event.ModelCall); ok {
		x.model(agent, m)
	}
	if t, ok := e.Body.(event.ToolStarted); ok && x.tracer != nil {
		ctx, s := x.tracer.Start(x.within(agent), "claude_code.tool", x.begins(0), trace.WithAttributes(
			attribute.String("tool_name", t.Use.Name), attribute.String("tool_use_id", t.Use.ID)))
		x.tools[t.Use.ID] = span{s, ctx}
	}
	if t, ok := e.Body.(event.ToolFinished); ok {
		x.finished(agent, t)
	}
	if h, ok := e.Body.(event.HookRan); ok && x.tracer != nil {
		_, s := x.tracer.Start(x.within(agent), "claude_code.hook", x.begins(h.Took), trace.WithAttributes(
			attribute.String("hook_event", h.Event), attribute.String("hook_outcome", h.Outcome)))
		s.End(x.ends())
	}
	if d, ok := e.Body.(event.Done); ok {
		x.done(agent, d)
	}
}

func (x *exporter) begins(ago time.Duration) trace.SpanStartOption {
	return trace.WithTimestamp(x.c.Now().Add(-ago))
}

func (x *exporter) ends() trace.SpanEndOption { return trace.WithTimestamp(x.c.Now()) }

// within is the context of the agent's interaction.
func (x *exporter) within(agent string) context.Context {
	if r := x.runs[agent]; r != nil {
		return r.ctx
	}
	return context.Background()
}

// turn begins an interaction with its first turn: a subagent's below the call
// that started it.
func (x *exporter) turn(from event.Origin, t event.TurnStarted) {
	if !x.known && x.sessions != nil {
		x.known = true
		x.sessions.Add(context.Background(), 1, metric.WithAttributes(attribute.String("session.id", x.c.Session())))
	}
	if x.runs[from.Agent] != nil || x.tracer == nil {
		return
	}
	parent := context.Background()
	if s, ok := x.tools[from.ParentUse]; ok && from.ParentUse != "" {
		parent = s.ctx
	}
	ctx, s := x.tracer.Start(parent, "claude_code.interaction", x.begins(0), trace.WithAttributes(
		attribute.String("session.id", x.c.Session()), attribute.String("agent.id", from.Agent)))
	x.runs[from.Agent] = &run{span{s, ctx}}
}

func (x *exporter) model(agent string, m event.ModelCall) {
	u := m.Usage
	if x.tracer != nil {
		_, s := x.tracer.Start(x.within(agent), "claude_code.llm_request", x.begins(m.Took), trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
			attribute.String("gen_ai.request.model", m.Model), attribute.String("hew.side_query", m.Side), attribute.Int("hew.request_bytes", m.Bytes),
			attribute.Int64("ttft_ms", m.First.Milliseconds()), attribute.Int("gen_ai.usage.input_tokens", u.InputTokens),
			attribute.Int("gen_ai.usage.output_tokens", u.OutputTokens), attribute.Int("gen_ai.usage.cache_read.input_tokens", u.CacheReadInputTokens),
			attribute.Int("gen_ai.usage.cache_creation.input_tokens", u.CacheCreationInputTokens)))
		if m.Err != "" {
			s.SetAttributes(attribute.String("error.type", m.Err))
			s.SetStatus(codes.Error, m.Err)
		}
		s.End(x.ends())
	}
	if x.tokens == nil || m.Err != "" {
		return
	}
	ctx, model := context.Background(), attribute.String("model", m.Model)
	for kind, n := range map[string]int{"input": u.InputTokens, "output": u.OutputTokens, "cacheRead": u.CacheReadInputTokens, "cacheCreation": u.CacheCreationInputTokens} {
		if n > 0 {
			x.tokens.Add(ctx, int64(n), metric.WithAttributes(model, attribute.String("type", kind)))
		}
	}
	if usd := x.c.Cost(m.Model, u); usd > 0 {
		x.cost.Add(ctx, usd, metric.WithAttributes(model))
	}
}

func (x *exporter) finished(agent string, t event.ToolFinished) {
	outcome := "ok"
	switch {
	case !t.Ran:
		outcome = "not_run"
	case t.Result.IsError:
		outcome = "error"
	}
	if x.calls != nil {
		x.calls.Add(context.Background(), 1, metric.WithAttributes(attribute.String("tool_name", t.Use.Name), attribute.String("outcome", outcome)))
	}
	if x.tracer == nil {
		return
	}
	s, ok := x.tools[t.Use.ID]
	if !ok { // refused before it began
		var sp trace.Span
		_, sp = x.tracer.Start(x.within(agent), "claude_code.tool", x.begins(t.Took), trace.WithAttributes(
			attribute.String("tool_name", t.Use.Name), attribute.String("tool_use_id", t.Use.ID)))
		s.Span = sp
	}
	delete(x.tools, t.Use.ID)
	s.SetAttributes(attribute.String("outcome", outcome))
	if outcome == "error" {
		s.SetStatus(codes.Error, "the tool failed")
	}
	s.End(x.ends())
}

func (x *exporter) done(agent string, d event.Done) {
	r := x.runs[agent]
	if r == nil {
		return
	}
	delete(x.runs, agent)
	r.SetAttributes(attribute.String("terminal_reason", string(d.Terminal.Reason)), attribute.Int("turns", d.Terminal.Turns))
	if d.Terminal.Err != nil {
		r.SetStatus(codes.Error, string(d.Terminal.Reason))
	}
	r.End(x.ends())
}

// Close sends what is left.
func (x *exporter) Close() {
	x.mu.Lock()
	for _, r := range x.runs {
		r.End(x.ends())
	}
	for _, t := range x.tools {
		t.End(x.ends())
	}
	x.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	for _, c := range x.closers {
		if err := c(ctx); err != nil {
			x.fail(err)
		}
	}
}
