package wiring

import (
	"context"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/prompt"
	"github.com/hew-agent/hew/internal/state/session"
)

func (b *build) prompt(ctx context.Context, cfg *engine.Config) error {
	cfg.System = []string{"You are hew.\n\nWorking directory: " + b.place.Cwd + "\n"}
	cfg.Layout = func(r *provider.Request, h []*msg.Message) { prompt.Layout(r, h) }
	if b.past != nil {
		cfg.History = b.past.Messages
	}
	b.record(cfg)
	return nil
}

// record lets the engine write into the session's transcript.
func (b *build) record(cfg *engine.Config) {
	if b.o.NoPersist {
		return
	}
	w := session.NewWriter(session.WriterConfig{
		Log: b.log, Mode: b.gateRef.Mode(), Now: b.o.Now, NewID: b.o.NewID, From: b.past,
		Stamp: session.Stamp{Session: b.id, Cwd: b.place.Cwd, Version: b.o.Version, Branch: "HEAD", Entrypoint: b.o.Entrypoint},
	})
	cfg.Store, cfg.Sync = w, b.log.Sync
	b.conv.Transcript = b.log.Path()
}
