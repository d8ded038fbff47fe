//go:build hew_otel

package feature

// Telemetry: the OpenTelemetry exporter is in this build.
const Telemetry = true
