package app

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/wiring"
)

const agentsUsage = `hew agents takes:
  list [--json]   every agent of this folder: where it comes from, what it is offered for, what is wrong with it
Options that decide what is read count as in a session: --agents, --plugin-dir, --settings, --setting-sources, --add-dir, --trust, --bare.`

// runAgents shows the agents of a folder.
func runAgents(e Env, args []string) error {
	if len(args) == 0 || args[0] != "list" {
		return &usageError{agentsUsage}
	}
	args, asJSON := take(args[1:], "--json")
	o, err := parse(args)
	if err != nil {
		return err
	}
	if o.Prompt != "" {
		return &usageError{agentsUsage}
	}
	list, err := wiring.ListAgents(wiring.Options{
		Version: Version(), Environ: e.Environ, Cwd: e.Dir, Bare: o.Bare, AddDirs: o.AddDirs, Agents: o.Agents, PluginDirs: o.PluginDirs,
		Settings: o.Settings, Sources: o.Sources, Consent: o.consent(), Notice: e.notice,
	})
	if err != nil {
		return err
	}
	if asJSON {
		return shownJSON(e.Stdout, list, "  ")
	}
	return writeAgents(e.Stdout, list)
}

func writeAgents(out io.Writer, list wiring.AgentList) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tFROM\tMODEL\tSTATE\tDESCRIPTION")
	for _, r := range list.Agents {
		from := r.Scope
		if r.Plugin != "" {
			from += " " + fsys.Printable(r.Plugin)
		}
		if r.File != "" {
			from += " " + fsys.Printable(r.File)
		}
		model := r.Model
		if model == "" {
			model = "inherit"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", fsys.Printable(r.Name), from, fsys.Printable(model), agentState(r), oneLine(r.Description, 80))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, p := range list.Problems {
		if _, err := fmt.Fprintln(out, "problem: "+p); err != nil {
			return err
		}
	}
	return nil
}

func agentState(r wiring.ListedAgent) string {
	switch {
	case r.HiddenBy != "":
		return "hidden by " + r.HiddenBy
	case r.Held:
		return "its servers, hooks and mode do not count: the folder is not trusted"
	case r.Screen:
		return "in the terminal"
	}
	return "offered"
}
