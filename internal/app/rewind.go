package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/state/checkpoint"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/wiring"
)

const rewindUsage = "hew rewind SESSION [--to MESSAGE] [--files|--conversation|--both] [--preview] [--list] [--json]"

// runRewind takes back what a session has changed and said.
func runRewind(e Env, args []string) error {
	r, asJSON, err := rewindRequest(args)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	out, err := wiring.Rewind(ctx, wiring.Options{
		Environ: e.Environ, Cwd: e.Dir, Sources: "user,project,local", Version: Version(), Root: e.UID == 0,
		Now: time.Now, NewID: session.NewID, Notice: func(text string) { fmt.Fprintln(e.Stderr, "hew: "+text) },
	}, r)
	if err != nil {
		return err
	}
	if asJSON {
		err = printJSON(e.Stdout, out)
	} else {
		err = printRewind(e.Stdout, out, r)
	}
	if err == nil && out.Files != nil && len(out.Files.Failed)+len(out.Files.Lost) > 0 {
		return &failure{exitError}
	}
	return err
}

func rewindRequest(args []string) (r wiring.RewindRequest, asJSON bool, err error) {
	f := pflag.NewFlagSet("rewind", pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&r.To, "to", "", "")
	files, conversation, both := f.Bool("files", false, ""), f.Bool("conversation", false, ""), f.Bool("both", false, "")
	f.BoolVar(&r.Preview, "preview", false, "")
	f.BoolVar(&r.List, "list", false, "")
	f.BoolVar(&asJSON, "json", false, "")
	if err := f.Parse(args); err != nil {
		return r, false, &usageError{err.Error() + "\nUsage: " + rewindUsage}
	}
	chosen := 0
	for _, b := range []bool{*files, *conversation, *both} {
		if b {
			chosen++
		}
	}
	if f.NArg() != 1 || chosen > 1 {
		return r, false, &usageError{"hew rewind takes one session and at most one of --files, --conversation and --both\nUsage: " + rewindUsage}
	}
	r.Session = f.Arg(0)
	r.Files, r.Conversation = !*conversation, !*files
	return r, asJSON, nil
}

func printRewind(w io.Writer, out wiring.RewindResult, r wiring.RewindRequest) error {
	var b strings.Builder
	if r.List {
		for _, p := range out.Prompts {
			fmt.Fprintf(&b, "%3d  %s  %s  %s\n", p.Number, p.ID, p.Time.Local().Format("2006-01-02 15:04"), firstLine(p.Text))
		}
		_, err := io.WriteString(w, b.String())
		return err
	}
	verb := "Went back"
	if r.Preview {
		verb = "Would go back"
	}
	fmt.Fprintf(&b, "%s to before prompt %d (%s): %s\n", verb, out.Prompt.Number, out.Prompt.ID, firstLine(out.Prompt.Text))
	switch {
	case out.Plan != nil:
		printPlan(&b, out)
	case out.Files != nil:
		printReport(&b, out)
	}
	switch {
	case out.Conversation:
		b.WriteString("The conversation ends before this prompt now; later lines stay in the transcript.\n")
	case r.Preview && r.Conversation:
		b.WriteString("The conversation would end before this prompt.\n")
	case r.Conversation:
		b.WriteString("The conversation was left as it is. Run the same command again when the files can be restored.\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func printPlan(b *strings.Builder, out wiring.RewindResult) {
	if len(out.Plan.Steps) == 0 {
		b.WriteString("No file would change.\n")
	}
	for _, s := range out.Plan.Steps {
		fmt.Fprintf(b, "  would %-8s %s", s.Action, shownPath(out.Cwd, s.Path))
		if s.Foreign != "" {
			fmt.Fprintf(b, " (%s: a copy would be kept)", s.Foreign)
		}
		b.WriteByte('\n')
	}
	printRest(b, out.Cwd, out.Plan.Lost, out.Plan.Notes)
}

func printReport(b *strings.Builder, out wiring.RewindResult) {
	f := out.Files
	fmt.Fprintf(b, "Files: %d restored, %d removed\n", len(f.Restored), len(f.Removed))
	for _, p := range f.Restored {
		fmt.Fprintf(b, "  restored %s\n", shownPath(out.Cwd, p))
	}
	for _, p := range f.Removed {
		fmt.Fprintf(b, "  removed  %s\n", shownPath(out.Cwd, p))
	}
	for _, k := range f.Kept {
		fmt.Fprintf(b, "  note     %s: %s", shownPath(out.Cwd, k.Path), k.Why)
		if k.Copy != "" {
			fmt.Fprintf(b, "; that version is kept in %s", fsys.Printable(k.Copy))
		}
		b.WriteByte('\n')
	}
	if len(f.Failed) > 0 {
		b.WriteString("Not done, run the same command again:\n")
		for _, x := range f.Failed {
			fmt.Fprintf(b, "  %s: %s\n", shownPath(out.Cwd, x.Path), x.Why)
		}
	}
	printRest(b, out.Cwd, f.Lost, f.Notes)
}

func printRest(b *strings.Builder, cwd string, lost []checkpoint.Refusal, notes []string) {
	if len(lost) > 0 {
		b.WriteString("Cannot be brought back:\n")
		for _, x := range lost {
			fmt.Fprintf(b, "  %s: %s\n", shownPath(cwd, x.Path), x.Why)
		}
	}
	if len(notes) > 0 {
		b.WriteString("Not undone, because it reached beyond the files here:\n")
		for _, n := range notes {
			fmt.Fprintf(b, "  %s\n", fsys.Printable(n))
		}
	}
}

func shownPath(cwd, path string) string {
	if rel, err := filepath.Rel(cwd, path); err == nil && filepath.IsLocal(rel) {
		path = rel
	}
	return fsys.Printable(path)
}

// longestPrompt bounds how much of a prompt a line shows, in runes.
const longestPrompt = 70

func firstLine(text string) string {
	line, _, more := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(line); len(r) > longestPrompt {
		line, more = string(r[:longestPrompt]), true
	}
	if more {
		line += "…"
	}
	return fsys.Printable(line)
}
