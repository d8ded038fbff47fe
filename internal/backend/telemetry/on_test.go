//go:build hew_otel

package telemetry_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	traces "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	v1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/hew-agent/hew/internal/backend/telemetry"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// collector is an OTLP collector on loopback.
type collector struct {
	*httptest.Server
	mu      sync.Mutex
	spans   []*v1.Span
	metrics map[string]float64
	seen    http.Header
}

func newCollector(t *testing.T) *collector {
	c := &collector{metrics: map[string]float64{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.seen = r.Header
		switch r.URL.Path {
		case "/v1/traces":
			var in traces.ExportTraceServiceRequest
			if err := proto.Unmarshal(raw, &in); err != nil {
				t.Error(err)
			}
			for _, s := range in.GetResourceSpans() {
				for _, sc := range s.GetScopeSpans() {
					c.spans = append(c.spans, sc.GetSpans()...)
				}
			}
		case "/v1/metrics":
			var in metrics.ExportMetricsServiceRequest
			if err := proto.Unmarshal(raw, &in); err != nil {
				t.Error(err)
			}
			for _, s := range in.GetResourceMetrics() {
				for _, sc := range s.GetScopeMetrics() {
					for _, m := range sc.GetMetrics() {
						for _, p := range m.GetSum().GetDataPoints() {
							c.metrics[m.GetName()] += float64(p.GetAsInt()) + p.GetAsDouble()
						}
					}
				}
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

func TestOpenTelemetry(t *testing.T) {
	c := newCollector(t)
	env := map[string]string{
		"CLAUDE_CODE_ENABLE_TELEMETRY": "1", "OTEL_TRACES_EXPORTER": "otlp", "OTEL_METRICS_EXPORTER": "otlp",
		"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL, "OTEL_EXPORTER_OTLP_HEADERS": "x-tenant=t1",
	}
	x := telemetry.Open(telemetry.Config{
		Env: func(n string) string { return env[n] }, Version: "1", Session: func() string { return "s1" }, Now: time.Now,
		Cost:   func(string, msg.Usage) float64 { return 0.5 },
		Notice: func(s string) { t.Error(s) },
	})
	say := func(agent, parent string, b event.Body) {
		x.Event(event.Event{Origin: event.Origin{Agent: agent, ParentUse: parent}, Body: b})
	}
	use := &msg.ToolUse{ID: "u1", Name: "Agent"}
	say("", "", event.TurnStarted{Turn: 1})
	say("", "", event.ModelCall{Model: "m", Took: time.Second, Usage: msg.Usage{InputTokens: 3, OutputTokens: 4}})
	say("", "", event.ToolStarted{Use: use, Title: "secret title"})
	say("a1", "u1", event.TurnStarted{Turn: 1})
	say("a1", "u1", event.ModelCall{Model: "m", Usage: msg.Usage{CacheReadInputTokens: 5}, Err: ""})
	say("a1", "u1", event.Done{})
	say("", "", event.ToolFinished{Use: use, Ran: true, Result: tool.Result{IsError: true}})
	say("", "", event.ToolFinished{Use: &msg.ToolUse{ID: "u2", Name: "Bash"}})
	say("", "", event.HookRan{Event: "Stop", Outcome: "success"})
	say("", "", event.ModelCall{Model: "m", Err: "overloaded"})
	say("", "", event.Done{Terminal: event.Terminal{Reason: event.Completed, Text: "secret answer"}})
	x.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	names := map[string]*v1.Span{}
	var got []string
	for _, s := range c.spans {
		got = append(got, s.GetName())
		for _, a := range s.GetAttributes() {
			if a.GetKey() == "agent.id" {
				names["interaction "+a.GetValue().GetStringValue()] = s
			}
			if a.GetKey() == "tool_use_id" {
				names[a.GetValue().GetStringValue()] = s
			}
		}
		if strings.Contains(s.String(), "secret") {
			t.Errorf("what was said is exported: %v", s)
		}
	}
	slices.Sort(got)
	if want := "claude_code.hook claude_code.interaction claude_code.interaction claude_code.llm_request claude_code.llm_request claude_code.llm_request claude_code.tool claude_code.tool"; strings.Join(got, " ") != want {
		t.Errorf("spans %v", got)
	}
	main, child, call := names["interaction "], names["interaction a1"], names["u1"]
	if main == nil || child == nil || call == nil || string(call.GetParentSpanId()) != string(main.GetSpanId()) || string(child.GetParentSpanId()) != string(call.GetSpanId()) {
		t.Errorf("the agent is not below its call: %v %v %v", main, call, child)
	}
	for name, want := range map[string]float64{"claude_code.token.usage": 12, "claude_code.cost.usage": 1, "claude_code.session.count": 1, "hew.tool.calls": 2} {
		if c.metrics[name] != want {
			t.Errorf("%s is %v, want %v", name, c.metrics[name], want)
		}
	}
	if c.seen.Get("X-Tenant") != "t1" {
		t.Errorf("headers %v", c.seen)
	}
}

// A collector that is not there is told once, and nothing waits for it long.
func TestNoCollector(t *testing.T) {
	env := map[string]string{"CLAUDE_CODE_ENABLE_TELEMETRY": "1", "OTEL_TRACES_EXPORTER": "otlp", "OTEL_METRICS_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}
	var mu sync.Mutex
	var notices []string
	x := telemetry.Open(telemetry.Config{
		Env: func(n string) string { return env[n] }, Session: func() string { return "s1" }, Now: time.Now,
		Cost:   func(string, msg.Usage) float64 { return 0 },
		Notice: func(s string) { mu.Lock(); defer mu.Unlock(); notices = append(notices, s) },
	})
	x.Event(event.Event{Body: event.TurnStarted{Turn: 1}})
	x.Event(event.Event{Body: event.Done{}})
	x.Close()
	mu.Lock()
	defer mu.Unlock()
	if len(notices) != 1 || !strings.Contains(notices[0], "OTEL_EXPORTER_OTLP_ENDPOINT") {
		t.Errorf("%q", notices)
	}
}
