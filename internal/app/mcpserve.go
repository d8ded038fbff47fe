package app

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/wiring"
)

// serveMCP makes hew an MCP server on standard input and output.
func serveMCP(e Env, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if o.Prompt != "" {
		return &usageError{"hew mcp serve takes options such as --permission-mode, --allowedTools and --tools, and nothing else"}
	}
	secure()
	ctx, stop := signals(context.Background())
	defer stop()
	in, ok := e.Stdin.(io.ReadCloser)
	if !ok {
		in = io.NopCloser(e.Stdin)
	}
	err = wiring.ServeMCP(ctx, wiring.Options{
		Version: Version(), Entrypoint: "mcp", Environ: e.Environ, Cwd: e.Dir, Root: e.UID == 0, Tools: ruleList(o.Tools), ToolsGiven: o.Given("tools"),
		Allowed: ruleList(o.Allowed), Disallowed: ruleList(o.Disallowed), AddDirs: o.AddDirs, Mode: o.Mode, SkipPermissions: o.SkipPermissions,
		AllowSkip: o.AllowSkip, Sandbox: o.Sandbox, Settings: o.Settings, Sources: o.Sources, Consent: o.consent(), Notice: e.notice,
		Reaper: shell.ReaperCommand(), Now: time.Now, Sleep: engine.Sleep, Jitter: rand.Float64, NewID: session.NewID,
	}, in, open{e.Stdout})
	if errors.Is(err, os.ErrClosed) || ctx.Err() != nil {
		return nil
	}
	return err
}

// open is an output that closing leaves open: it is the process's own.
type open struct{ io.Writer }

// Close does nothing.
func (open) Close() error { return nil }
