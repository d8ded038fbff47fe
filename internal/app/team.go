package app

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/hew-agent/hew/internal/wiring"
)

// runTeam shows teams of several processes.
func runTeam(e Env, args []string) error {
	usage := &usageError{"hew team takes: status [TEAM] [--json]"}
	if len(args) == 0 || args[0] != "status" {
		return usage
	}
	args = args[1:]
	asJSON := slices.Contains(args, "--json")
	args = slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "--json" })
	if len(args) > 1 || len(args) == 1 && strings.HasPrefix(args[0], "-") {
		return usage
	}
	name := strings.Join(args, "")
	list, err := wiring.Teams(wiring.Options{Environ: e.Environ, Cwd: e.Dir}, name)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(e.Stdout, list)
	}
	if len(list) == 0 {
		fmt.Fprintln(e.Stdout, "There is no team now. hew -p --team-name NAME --agent-name MEMBER joins one.")
	}
	for _, t := range list {
		if err := printTeam(e, t); err != nil {
			return err
		}
	}
	return nil
}

func printTeam(e Env, t wiring.TeamStatus) error {
	fmt.Fprintf(e.Stdout, "team %s\n  files  %s\n  tasks  %s\n", t.Name, t.Dir, t.Tasks)
	w := tabwriter.NewWriter(e.Stdout, 0, 4, 2, ' ', 0)
	for _, m := range t.Members {
		state := "ended"
		if m.Running {
			state = "running"
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%d unread\n", m.Name, m.Type, state, m.Unread)
	}
	for _, i := range t.Items {
		rest := ""
		if len(i.BlockedBy) > 0 {
			rest = "blocked by #" + strings.Join(i.BlockedBy, ", #")
		}
		if i.OwnerGone {
			rest = "its owner has ended; open again with the next change"
		}
		fmt.Fprintf(w, "  #%s\t%s\t%s\t%s\t%s\n", i.ID, i.Status, i.Owner, i.Subject, rest)
	}
	return w.Flush()
}
