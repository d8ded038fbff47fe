package telemetry_test

import (
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/backend/telemetry"
)

// TestOffByDefault: only the ecosystem's own variable lets anything out.
func TestOffByDefault(t *testing.T) {
	for _, c := range []struct {
		env             string
		traces, metrics bool
		unknown         int
	}{
		{"", false, false, 0},
		{"OTEL_TRACES_EXPORTER=otlp OTEL_METRICS_EXPORTER=otlp OTEL_EXPORTER_OTLP_ENDPOINT=http://x", false, false, 0},
		{"CLAUDE_CODE_ENABLE_TELEMETRY=1", false, false, 0},
		{"CLAUDE_CODE_ENABLE_TELEMETRY=1 OTEL_TRACES_EXPORTER=otlp", true, false, 0},
		{"CLAUDE_CODE_ENABLE_TELEMETRY=0 OTEL_TRACES_EXPORTER=otlp", false, false, 0},
		{"CLAUDE_CODE_ENABLE_TELEMETRY=1 OTEL_METRICS_EXPORTER=console,otlp", false, true, 1},
		{"CLAUDE_CODE_ENABLE_TELEMETRY=1 OTEL_METRICS_EXPORTER=none OTEL_LOGS_EXPORTER=otlp", false, false, 1},
		{"CLAUDE_CODE_ENABLE_TELEMETRY=1 OTEL_TRACES_EXPORTER=otlp OTEL_EXPORTER_OTLP_PROTOCOL=grpc", true, false, 1},
		{"CLAUDE_CODE_ENABLE_TELEMETRY=1 OTEL_TRACES_EXPORTER=otlp OTEL_SDK_DISABLED=true", false, false, 0},
	} {
		env := map[string]string{}
		for pair := range strings.FieldsSeq(c.env) {
			k, v, _ := strings.Cut(pair, "=")
			env[k] = v
		}
		traces, metrics, unknown := telemetry.Wanted(func(n string) string { return env[n] })
		if traces != c.traces || metrics != c.metrics || len(unknown) != c.unknown {
			t.Errorf("%q: %v %v %v", c.env, traces, metrics, unknown)
		}
	}
}
