// Package telemetry exports traces and metrics of runs by OpenTelemetry, when somebody asks and the build has it.
//
// The official library weighs 8 MB and 15 ms of every start, so only a build with
// the tag hew_otel holds it; see docs/adr/0015. Nothing is exported unless
// CLAUDE_CODE_ENABLE_TELEMETRY is set: the OTEL_* variables alone may be meant
// for the programs that hew runs.
package telemetry

import (
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// Config says where to and what about.
type Config struct {
	// Env reads a variable, from the environment or the settings' env block.
	Env func(name string) string
	// Version is hew's, Session the conversation's id when a span begins.
	Version string
	Session func() string
	// Cost is what a request cost, in US dollars.
	Cost func(model string, u msg.Usage) float64
	// Notice is told what a person should know.
	Notice func(text string)
	Now    func() time.Time
}

// Exporter takes events and sends what follows from them. Close sends the rest,
// and waits for a collector only so long.
type Exporter interface {
	Event(e event.Event)
	Close()
}

// Wanted are the signals that the environment asks for; unknown names what it
// asks for and no build of hew does.
func Wanted(env func(string) string) (traces, metrics bool, unknown []string) {
	if v := env("CLAUDE_CODE_ENABLE_TELEMETRY"); v == "" || v == "0" || v == "false" || env("OTEL_SDK_DISABLED") == "true" {
		return false, false, nil
	}
	ask := func(name string) bool {
		otlp := false
		for v := range strings.SplitSeq(env(name), ",") {
			switch v = strings.TrimSpace(v); v {
			case "otlp":
				otlp = true
			case "", "none":
			default:
				unknown = append(unknown, name+"="+v)
			}
		}
		return otlp
	}
	traces, metrics = ask("OTEL_TRACES_EXPORTER"), ask("OTEL_METRICS_EXPORTER")
	if v := env("OTEL_LOGS_EXPORTER"); v != "" && v != "none" {
		unknown = append(unknown, "OTEL_LOGS_EXPORTER="+v)
	}
	for _, n := range []string{"OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL"} {
		if v := env(n); v != "" && v != "http/protobuf" && (traces || metrics) {
			unknown = append(unknown, n+"="+v)
		}
	}
	return traces, metrics, unknown
}

// Open starts what the environment asks for; nil when it asks for nothing, or for
// what this build cannot do, which is then told.
func Open(c Config) Exporter {
	traces, metrics, unknown := Wanted(c.Env)
	if len(unknown) > 0 {
		c.Notice("left out of telemetry: " + strings.Join(unknown, ", ") + "; hew exports traces and metrics by otlp over http/protobuf")
	}
	if !traces && !metrics {
		return nil
	}
	return open(c, traces, metrics)
}
