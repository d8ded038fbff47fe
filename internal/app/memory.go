package app

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/wiring"
)

const memoryUsage = `hew memory takes:
  list [--json]   every file of instructions and notes: what is loaded at the start, what waits, what is left out and why
  path            the folder in which the model keeps its notes about this project
Options that decide what is read count as in a session: --settings, --setting-sources, --add-dir, --trust, --bare.`

// runMemory shows what the model is told by files.
func runMemory(e Env, args []string) error {
	if len(args) == 0 {
		return &usageError{memoryUsage}
	}
	verb := args[0]
	args, asJSON := take(args[1:], "--json")
	o, err := parse(args)
	if err != nil {
		return err
	}
	if o.Prompt != "" {
		return &usageError{memoryUsage}
	}
	w := wiring.Options{
		Version: Version(), Environ: e.Environ, Cwd: e.Dir, Bare: o.Bare, AddDirs: o.AddDirs,
		Settings: o.Settings, Sources: o.Sources, Consent: o.consent(), Notice: e.notice,
	}
	switch {
	case verb == "list":
		rows, err := wiring.ListMemory(w)
		if err != nil {
			return err
		}
		if asJSON {
			return shownJSON(e.Stdout, append([]wiring.MemoryRow{}, rows...), "  ")
		}
		return writeMemory(e.Stdout, rows)
	case verb == "path" && !asJSON:
		dir, err := wiring.MemoryPath(w)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(e.Stdout, fsys.Printable(dir))
		return err
	}
	return &usageError{memoryUsage}
}

func writeMemory(out io.Writer, rows []wiring.MemoryRow) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(out, "no instructions and no notes")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "STATE\tSCOPE\tBYTES\tTOKENS\tFILE\tWHY")
	total := 0
	for _, r := range rows {
		scope := string(r.Scope)
		if scope == "" {
			scope = "-"
		}
		if r.State == wiring.MemoryLoaded {
			total += r.Tokens
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%s\t%s\n", r.State, scope, r.Bytes, r.Tokens, fsys.Printable(r.Path), fsys.Printable(r.Why))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\nEvery conversation begins with about %d tokens of these.\n", total)
	return err
}
