package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/state/trust"
	"github.com/hew-agent/hew/internal/wiring"
)

// runTrust shows what the current folder would run or be granted, and takes the
// user's yes or takes it back.
func runTrust(e Env, args []string) error {
	verb := "list"
	if len(args) > 0 {
		verb, args = args[0], args[1:]
	}
	o := wiring.Options{Environ: e.Environ, Cwd: e.Dir, Sources: "user,project,local"}
	ctx := context.Background()
	switch {
	case verb == "list" || verb == "--json":
		return listTrust(e, o, verb == "--json" || len(args) == 1 && args[0] == "--json")
	case len(args) > 0:
	case verb == "accept" || verb == "forget":
		if e.getenv("CLAUDECODE") != "" || e.getenv("CLAUDE_CODE_SESSION_ID") != "" {
			return errors.New("trust is a person's word: run hew trust " + verb + " in a terminal of your own, not from inside a session")
		}
		if verb == "forget" {
			return wiring.ForgetFolder(ctx, o)
		}
		v, err := wiring.AcceptFolder(ctx, o)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(e.Stdout, "trusted: %s, with %s\n", fsys.Printable(v.Key), orNothing(trust.Summary(v.Items)))
		return err
	}
	return &usageError{"hew trust takes: [list] [--json]|accept|forget"}
}

func orNothing(s string) string {
	if s == "" {
		return "nothing that runs or grants"
	}
	return s
}

func listTrust(e Env, o wiring.Options, asJSON bool) error {
	v, err := wiring.ReadFolder(o)
	if err != nil {
		return err
	}
	if asJSON {
		type change struct {
			Kind trust.Kind `json:"kind"`
			Name string     `json:"name"`
			File string     `json:"file"`
			Diff string     `json:"diff"`
		}
		changes := []change{}
		for _, c := range v.Changes {
			it := c.New
			if it.Kind == "" {
				it = c.Old
			}
			changes = append(changes, change{it.Kind, it.Name, it.File, c.Diff()})
		}
		return printJSON(e.Stdout, struct {
			State   trust.State  `json:"state"`
			Folder  string       `json:"folder"`
			Items   []trust.Item `json:"items"`
			Changes []change     `json:"changes"`
		}{v.State, v.Key, append([]trust.Item{}, v.Items...), changes})
	}
	return showTrust(e.Stdout, v)
}

func showTrust(w io.Writer, v trust.Verdict) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", fsys.Printable(v.Key), sayState(v))
	if len(v.Items) > 0 {
		b.WriteString("\nIt asks for " + trust.Summary(v.Items) + ":\n")
	}
	for _, it := range v.Items {
		heading(&b, it)
		indent(&b, it.Text)
	}
	if len(v.Changes) > 0 {
		b.WriteString("\nChanged since it was trusted:\n")
	}
	for _, c := range v.Changes {
		it := c.New
		if it.Kind == "" {
			it = c.Old
		}
		heading(&b, it)
		indent(&b, c.Diff())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func sayState(v trust.Verdict) string {
	switch v.State {
	case trust.Nothing:
		return "asks for nothing that needs trust"
	case trust.Unknown:
		return "not trusted; hew trust accept agrees to the following"
	case trust.Accepted:
		return "trusted"
	case trust.Changed:
		return "trusted, but for something else than what is there now; hew trust accept agrees to it"
	case trust.Undecided:
		return fmt.Sprintf("counts as untrusted: %v", v.Trouble)
	}
	return string(v.State)
}

func heading(b *strings.Builder, it trust.Item) {
	fmt.Fprintf(b, "\n%s %s (%s)\n", it.Kind, fsys.Printable(it.Name), fsys.Printable(it.File))
}

// indent shows content word for word, except for characters that could make a
// terminal show something else.
func indent(b *strings.Builder, text string) {
	for l := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		plain := fsys.Printable(strings.ReplaceAll(l, "\t", "  "))
		b.WriteString("    " + plain + "\n")
	}
}
