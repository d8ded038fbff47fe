//go:build !hew_otel

package feature

// Telemetry says that the OpenTelemetry exporter is in this build.
const Telemetry = false
