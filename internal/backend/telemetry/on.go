//go:build hew_otel

package telemetry

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Times for a collector that is slow or not there: a run does not wait for it.
const (
	exportWait = 3 * time.Second
	closeWait  = 5 * time.Second
)

// open connects nothing yet: the library's exporters do so when they have something.
func open(c Config, traces, metrics bool) Exporter {
	var once sync.Once
	tell := func(err error) {
		once.Do(func() { c.Notice(fmt.Sprintf("telemetry cannot be sent: %v; check OTEL_EXPORTER_OTLP_ENDPOINT", err)) })
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(tell))
	ctx := context.Background()
	res, err := resource.New(ctx, resource.WithAttributes(attributes(c)...))
	if err != nil {
		tell(err)
		return nil
	}
	x := &exporter{c: c, runs: map[string]*run{}, tools: map[string]span{}}
	if traces {
		p, err := traceProvider(ctx, c, res)
		if err != nil {
			tell(err)
			return nil
		}
		x.tracer, x.closers = p.Tracer("hew"), append(x.closers, p.Shutdown)
	}
	if metrics {
		p, err := meterProvider(ctx, c, res)
		if err != nil {
			tell(err)
			return nil
		}
		if err := x.count(p.Meter("hew")); err != nil {
			tell(err)
			return nil
		}
		x.closers = append(x.closers, p.Shutdown)
	}
	x.fail = tell
	return x
}

// attributes name what is exported about, as OTEL_SERVICE_NAME and
// OTEL_RESOURCE_ATTRIBUTES want it.
func attributes(c Config) []attribute.KeyValue {
	out := []attribute.KeyValue{attribute.String("service.name", "hew"), attribute.String("service.version", c.Version)}
	for pair := range strings.SplitSeq(c.Env("OTEL_RESOURCE_ATTRIBUTES"), ",") {
		if k, v, ok := strings.Cut(strings.TrimSpace(pair), "="); ok && k != "" {
			out = append(out, attribute.String(k, v))
		}
	}
	if v := c.Env("OTEL_SERVICE_NAME"); v != "" {
		out = append(out, attribute.String("service.name", v))
	}
	return out
}

// endpoint is the address of a signal, "" for the library's default (loopback).
func endpoint(c Config, signal string) string {
	if v := c.Env("OTEL_EXPORTER_OTLP_" + strings.ToUpper(signal) + "_ENDPOINT"); v != "" {
		return v
	}
	if v := c.Env("OTEL_EXPORTER_OTLP_ENDPOINT"); v != "" {
		return strings.TrimRight(v, "/") + "/v1/" + signal
	}
	return "http://localhost:4318/v1/" + signal
}

func headers(c Config, signal string) map[string]string {
	out := map[string]string{}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_" + strings.ToUpper(signal) + "_HEADERS"} {
		for pair := range strings.SplitSeq(c.Env(name), ",") {
			if k, v, ok := strings.Cut(strings.TrimSpace(pair), "="); ok && k != "" {
				out[k] = v
			}
		}
	}
	return out
}

func traceProvider(ctx context.Context, c Config, res *resource.Resource) (*sdktrace.TracerProvider, error) {
	e, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(endpoint(c, "traces")), otlptracehttp.WithHeaders(headers(c, "traces")),
		otlptracehttp.WithTimeout(exportWait), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}))
	if err != nil {
		return nil, err
	}
	return sdktrace.NewTracerProvider(sdktrace.WithBatcher(e), sdktrace.WithResource(res)), nil
}

func meterProvider(ctx context.Context, c Config, res *resource.Resource) (*sdkmetric.MeterProvider, error) {
	e, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(endpoint(c, "metrics")), otlpmetrichttp.WithHeaders(headers(c, "metrics")),
		otlpmetrichttp.WithTimeout(exportWait), otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{}))
	if err != nil {
		return nil, err
	}
	every := time.Minute
	if ms, err := strconv.Atoi(c.Env("OTEL_METRIC_EXPORT_INTERVAL")); err == nil && ms > 0 {
		every = time.Duration(ms) * time.Millisecond
	}
	return sdkmetric.NewMeterProvider(sdkmetric.WithResource(res), sdkmetric.WithReader(sdkmetric.NewPeriodicReader(e, sdkmetric.WithInterval(every)))), nil
}
