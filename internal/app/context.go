package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/wiring"
)

// runContext shows what the next request of a session would hold. Nothing is
// sent and nothing is written.
func runContext(e Env, args []string) error {
	asJSON, explain, all := slices.Contains(args, "--json"), slices.Contains(args, "--explain"), slices.Contains(args, "--all")
	rest := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "--json" || a == "--explain" || a == "--all" })
	o, err := parse(rest)
	if err != nil {
		return err
	}
	if o.Prompt != "" {
		o.Resume = o.Prompt
	}
	c, err := openWindow(e, o)
	if err != nil {
		return err
	}
	r := c.Context()
	switch {
	case asJSON:
		err = shownJSON(e.Stdout, r, "  ")
	case explain:
		_, err = io.WriteString(e.Stdout, r.Markdown("explain"))
	case all:
		_, err = io.WriteString(e.Stdout, r.Markdown("all"))
	default:
		_, err = io.WriteString(e.Stdout, r.Markdown(""))
	}
	return errors.Join(err, c.Close())
}

// openWindow opens the session for looking only: the one that is named, else the
// newest of the folder, else one that has not begun.
func openWindow(e Env, o *Options) (*wiring.Conversation, error) {
	w := wiring.Options{
		Version: Version(), Entrypoint: "sdk-cli", Environ: e.Environ, Cwd: e.Dir, Root: e.UID == 0, NoPersist: true,
		Resume: o.Resume, Continue: o.Resume == "", Model: o.Model, Effort: o.Effort, Bare: o.Bare, AutoCompact: o.AutoCompact,
		Tools: ruleList(o.Tools), ToolsGiven: o.Given("tools"), Disallowed: ruleList(o.Disallowed), Allowed: ruleList(o.Allowed),
		AddDirs: o.AddDirs, Mode: o.Mode, Settings: o.Settings, Sources: o.Sources, Consent: o.consent(),
		Notice: func(s string) { fmt.Fprintln(e.Stderr, "hew: "+s) },
		Now:    time.Now, Sleep: engine.Sleep, Jitter: rand.Float64, NewID: session.NewID,
	}
	// Looking waits for nothing that opening might have begun.
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	first := w
	c, err := wiring.Open(ctx, &first)
	var none *wiring.NoSession
	if errors.As(err, &none) && o.Resume == "" {
		w.Continue = false
		return wiring.Open(ctx, &w)
	}
	return c, err
}
