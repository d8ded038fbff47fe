package app

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/wiring"
)

const skillsUsage = `hew skills takes:
  list [--json]   every skill and custom command of this folder: who may use it, where it comes from, what is wrong with it
Options that decide what is read count as in a session: --settings, --setting-sources, --add-dir, --trust, --bare.`

// runSkills shows the skills and custom commands of a folder.
func runSkills(e Env, args []string) error {
	if len(args) == 0 || args[0] != "list" {
		return &usageError{skillsUsage}
	}
	args, asJSON := take(args[1:], "--json")
	o, err := parse(args)
	if err != nil {
		return err
	}
	if o.Prompt != "" {
		return &usageError{skillsUsage}
	}
	list, err := wiring.ListSkills(wiring.Options{
		Version: Version(), Environ: e.Environ, Cwd: e.Dir, Bare: o.Bare, AddDirs: o.AddDirs,
		Settings: o.Settings, Sources: o.Sources, Consent: o.consent(), Notice: e.notice,
	})
	if err != nil {
		return err
	}
	if asJSON {
		return shownJSON(e.Stdout, list, "  ")
	}
	return writeSkills(e.Stdout, list)
}

func writeSkills(out io.Writer, list wiring.SkillList) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tKIND\tFOR\tFROM\tSTATE\tDESCRIPTION")
	for _, r := range list.Skills {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", fsys.Printable(r.Name), r.Kind, skillUsers(r), skillOrigin(r), skillState(r), oneLine(r.Description, 80))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i, p := range list.Problems {
		if i == 0 {
			if _, err := fmt.Fprintln(out); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintln(out, "problem: "+p); err != nil {
			return err
		}
	}
	return nil
}

func skillUsers(r wiring.SkillRow) string {
	switch {
	case r.ForModel && r.ForUser:
		return "both"
	case r.ForModel:
		return "model"
	case r.ForUser:
		return "user"
	}
	return "nobody"
}

func skillOrigin(r wiring.SkillRow) string {
	from := r.Scope
	if r.Plugin != "" {
		from += " " + fsys.Printable(r.Plugin)
	}
	return from + " " + fsys.Printable(r.File)
}

func skillState(r wiring.SkillRow) string {
	switch {
	case r.HiddenBy != "":
		return "hidden by " + r.HiddenBy
	case r.Held:
		return "grants nothing: the folder is not trusted"
	}
	return r.Shown
}
