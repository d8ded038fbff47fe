package app

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/wiring"
)

const hooksUsage = `hew hooks takes:
  list [--json]                          every hook that was found, where it comes from, and why one does not run
  test EVENT [SUBJECT] [--run] [--json]  which hooks the event would run; --run runs them
SUBJECT is a call such as 'Bash(git push)', the value that matchers see (startup, manual, …), or the payload as JSON.`

// runHooks shows the hooks and tries them.
func runHooks(e Env, args []string) error {
	if len(args) == 0 {
		return &usageError{hooksUsage}
	}
	switch args[0] {
	case "list":
		return listHooks(e, args[1:])
	case "test":
		return testHooks(e, args[1:])
	}
	return &usageError{fmt.Sprintf("unknown command 'hooks %s'\n%s", fsys.Printable(args[0]), hooksUsage)}
}

// hooks opens what a session with the same options would run; words are what is
// left of the arguments.
func (e Env) hooks(args []string, notice func(string)) (h *wiring.HookBook, words []string, err error) {
	o, err := parse(args)
	if err != nil {
		return nil, nil, err
	}
	h, err = wiring.OpenHooks(wiring.Options{
		Version: Version(), Environ: e.Environ, Cwd: e.Dir, Bare: o.Bare, AddDirs: o.AddDirs,
		Allowed: ruleList(o.Allowed), Disallowed: ruleList(o.Disallowed),
		Settings: o.Settings, Sources: o.Sources, Consent: o.consent(), Notice: notice,
	})
	return h, strings.Fields(o.Prompt), err
}

func (e Env) notice(s string) { fmt.Fprintln(e.Stderr, "hew: "+s) }

// take removes a switch from the arguments and says whether it was there.
func take(args []string, name string) ([]string, bool) {
	rest := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == name })
	return rest, len(rest) < len(args)
}

func listHooks(e Env, args []string) error {
	args, asJSON := take(args, "--json")
	h, words, err := e.hooks(args, e.notice)
	if err != nil {
		return err
	}
	defer func() { _ = h.Close() }()
	if len(words) > 0 {
		return &usageError{"hew hooks list takes options and nothing else"}
	}
	if asJSON {
		return shownJSON(e.Stdout, h.List(), "  ")
	}
	return writeHooks(e.Stdout, h.List())
}

func writeHooks(out io.Writer, rows []wiring.HookRow) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	for _, r := range rows {
		match := r.Matcher
		if match == "" {
			match = "*"
		}
		if r.If != "" {
			match += " if " + r.If
		}
		from := r.Scope + " " + r.File
		if r.Line > 0 {
			from += fmt.Sprintf(":%d", r.Line)
		}
		if r.Off != "" {
			from += " (off: " + r.Off + ")"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", fsys.Printable(r.Event), fsys.Printable(match), r.Type, fsys.Printable(r.Runs), fsys.Printable(from))
	}
	return w.Flush()
}

func testHooks(e Env, args []string) error {
	args, asJSON := take(args, "--json")
	args, run := take(args, "--run")
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return &usageError{hooksUsage}
	}
	name, subject := args[0], ""
	args = args[1:]
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		subject, args = args[0], args[1:]
	}
	h, words, err := e.hooks(args, e.notice)
	if err != nil {
		return err
	}
	defer func() { _ = h.Close() }()
	if len(words) > 0 {
		return &usageError{hooksUsage}
	}
	try := h.Match
	if run {
		try = func(name, subject string) (wiring.Trial, error) { return h.Run(context.Background(), name, subject) }
	}
	t, err := try(name, subject)
	switch {
	case err != nil:
		return err
	case asJSON:
		return shownJSON(e.Stdout, t, "  ")
	}
	return writeTrial(e.Stdout, t)
}

func writeTrial(out io.Writer, t wiring.Trial) error {
	if len(t.Matching) == 0 {
		_, err := fmt.Fprintln(out, "no hook runs at this event")
		return err
	}
	if err := writeHooks(out, t.Matching); err != nil {
		return err
	}
	for _, r := range t.Runs {
		fmt.Fprintf(out, "ran: %s: %s, exit code %d, %d ms\n", fsys.Printable(r.Name), r.Outcome, r.Exit, r.Millis)
	}
	for _, n := range t.Notices {
		fmt.Fprintln(out, "notice: "+fsys.Printable(n))
	}
	if t.Outcome == nil {
		return nil
	}
	_, err := fmt.Fprint(out, "outcome: ")
	if err != nil {
		return err
	}
	return shownJSON(out, t.Outcome, "  ")
}

// runConfig checks the configuration.
func runConfig(e Env, args []string) error {
	if len(args) == 0 || args[0] != "lint" {
		return &usageError{"hew config takes: lint [--json]"}
	}
	args, asJSON := take(args[1:], "--json")
	h, words, err := e.hooks(args, nil)
	if err != nil {
		return err
	}
	defer func() { _ = h.Close() }()
	if len(words) > 0 {
		return &usageError{"hew config lint takes options and nothing else"}
	}
	found, err := h.Lint()
	if err != nil {
		return err
	}
	found = append(found, bindingFindings(wiring.Options{Environ: e.Environ, Cwd: e.Dir})...)
	wrong := slices.ContainsFunc(found, func(f wiring.Finding) bool { return f.Wrong })
	if asJSON {
		err = shownJSON(e.Stdout, found, "  ")
	} else {
		err = writeFindings(e.Stdout, found)
	}
	if err == nil && wrong {
		return &failure{exitError}
	}
	return err
}

func writeFindings(out io.Writer, found []wiring.Finding) error {
	if len(found) == 0 {
		_, err := fmt.Fprintln(out, "nothing to complain of")
		return err
	}
	for _, f := range found {
		kind := "note"
		if f.Wrong {
			kind = "wrong"
		}
		if _, err := fmt.Fprintf(out, "%s: %s: %s\n", kind, f.About, fsys.Printable(f.Text)); err != nil {
			return err
		}
	}
	return nil
}
