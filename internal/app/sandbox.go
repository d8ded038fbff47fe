package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"text/tabwriter"

	"github.com/hew-agent/hew/internal/backend/sandbox"
	"github.com/hew-agent/hew/internal/wiring"
)

// exitNotFound is a shell's code for a command that does not exist.
const exitNotFound = 127

// runSandbox says what this machine can enforce, or runs one command confined.
func runSandbox(e Env, args []string) error {
	o := wiring.Options{
		Environ: e.Environ, Cwd: e.Dir, Sources: "user,project,local", Version: Version(), Root: e.UID == 0,
		Notice: func(s string) { fmt.Fprintln(e.Stderr, "note:", s) },
	}
	switch {
	case len(args) == 1 && args[0] == "status":
		return sandboxStatus(e, o, false)
	case len(args) == 2 && args[0] == "status" && args[1] == "--json":
		return sandboxStatus(e, o, true)
	case len(args) > 2 && args[0] == "run" && args[1] == "--":
		return sandboxRun(e, o, args[2:])
	}
	return &usageError{"hew sandbox takes: status [--json]|run -- COMMAND [ARGUMENT …]"}
}

func sandboxRun(e Env, o wiring.Options, argv []string) error {
	path, err := exec.LookPath(argv[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		fmt.Fprintln(e.Stderr, "hew sandbox:", err)
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
			return &failure{exitNotFound}
		}
		return &failure{exitNotFound - 1}
	}
	argv = append([]string{path}, argv[1:]...)
	code, err := wiring.SandboxRun(context.Background(), o, argv, sandbox.Streams{In: e.Stdin, Out: e.Stdout, Err: e.Stderr})
	if err != nil {
		return err
	}
	if code != 0 {
		return &failure{code}
	}
	return nil
}

func sandboxStatus(e Env, o wiring.Options, asJSON bool) error {
	r, err := wiring.SandboxStatus(context.Background(), o)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(e.Stdout, r)
	}
	fmt.Fprintf(e.Stdout, "sandbox.enabled  %v\nplatform         %s\nin use           %s\n\n", r.Enabled, r.Platform, inUse(r))
	w := tabwriter.NewWriter(e.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "TIER\tWORKS\tWRITES\tPROTECTED NAMES\tREADS\tNETWORK\tUNIX SOCKETS\tPROCESSES\tMAY RUN UNASKED")
	for _, t := range r.Tiers {
		f := t.Enforces
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", t.Tier, yes(t.Available), f.Write, f.Protect, f.Read, f.Network, f.UnixSockets, f.Processes, yes(t.AutoAllow && r.AutoAllow))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, t := range r.Tiers {
		if !t.Available {
			fmt.Fprintf(e.Stdout, "\n%s: %s", t.Tier, t.Reason)
		}
	}
	for _, k := range r.Ignored {
		fmt.Fprintf(e.Stdout, "\n%s has no effect: %s", k.Key, k.Why)
	}
	_, err = fmt.Fprintln(e.Stdout)
	return err
}

func inUse(r wiring.SandboxReport) string {
	switch {
	case r.Best == sandbox.None && r.FailIfUnavailable:
		return "none: hew refuses to start (sandbox.failIfUnavailable)"
	case r.Best == sandbox.None:
		return "none: commands run under permissions alone"
	case !r.Enabled:
		return fmt.Sprintf("none; %s when it is switched on", r.Best)
	case !r.Best.Whole():
		return fmt.Sprintf("%s: partial, so nothing runs unasked for it", r.Best)
	}
	return string(r.Best)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
