//go:build !hew_otel

package telemetry

// open says what is missing: this build has no exporter.
func open(c Config, _, _ bool) Exporter {
	c.Notice("telemetry is asked for, but this build has no exporter, so nothing is sent; a build with it: go build -tags hew_otel ./cmd/hew")
	return nil
}
