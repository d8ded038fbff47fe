package wiring

import (
	"time"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/telemetry"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// observed is who is told each event: the caller's trace, and the exporter when
// somebody asks for telemetry.
func (b *build) observed() func(event.Event) {
	now := b.o.Now
	if now == nil {
		now = time.Now
	}
	x := telemetry.Open(telemetry.Config{
		Env: b.env, Version: b.o.Version, Notice: b.notice, Now: now,
		Session: func() string { return b.id },
		Cost: func(model string, u msg.Usage) float64 {
			return provider.Lookup(model, b.overrides()).Price.Cost(u)
		},
	})
	if x == nil {
		return b.o.Trace
	}
	b.conv.close = append(b.conv.close, func() error { x.Close(); return nil })
	return func(e event.Event) {
		x.Event(e)
		if b.o.Trace != nil {
			b.o.Trace(e)
		}
	}
}
