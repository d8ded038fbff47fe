package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/tool"
	"github.com/hew-agent/hew/internal/wiring"
)

const permissionsUsage = `hew permissions takes:
  list [--json]                              the rules in force, the mode and the working directories
  explain 'Bash(git push)' [--mode M] [--json]   what would happen to a call, and why; also 'Tool {"field":…}'
  test FILE.jsonl…                           judge the calls of case tables ("-" is standard input)
Options that decide what may run count as in a session: --settings, --allowedTools, --add-dir, --permission-mode, …`

// runPermissions shows what decides about calls.
func runPermissions(e Env, args []string) error {
	if len(args) == 0 {
		return &usageError{permissionsUsage}
	}
	switch args[0] {
	case "list":
		return listPermissions(e, args[1:])
	case "explain":
		return explainPermission(e, args[1:])
	case "test":
		return testPermissions(e, args[1:])
	}
	return &usageError{fmt.Sprintf("unknown command 'permissions %s'\n%s", fsys.Printable(args[0]), permissionsUsage)}
}

// permissions opens what a session with the same options would obey, and
// returns what was asked about it.
func (e Env) permissions(args []string) (p *wiring.Permissions, asked string, asJSON bool, err error) {
	asJSON = slices.Contains(args, "--json")
	var rest []string
	for _, a := range args {
		if a == "--mode" || strings.HasPrefix(a, "--mode=") {
			a = "--permission-" + a[2:]
		}
		if a != "--json" {
			rest = append(rest, a)
		}
	}
	o, err := parse(rest)
	if err != nil {
		return nil, "", asJSON, err
	}
	p, err = wiring.OpenPermissions(wiring.Options{
		Version: Version(), Environ: e.Environ, Cwd: e.Dir, Bare: o.Bare,
		Allowed: ruleList(o.Allowed), Disallowed: ruleList(o.Disallowed), AddDirs: o.AddDirs, Mode: o.Mode,
		SkipPermissions: o.SkipPermissions, AllowSkip: o.AllowSkip, NoPrompts: o.Prompts == "none",
		Settings: o.Settings, Sources: o.Sources, Consent: o.consent(),
		Notice: func(s string) { fmt.Fprintln(e.Stderr, "hew: "+s) },
	})
	return p, o.Prompt, asJSON, err
}

func listPermissions(e Env, args []string) error {
	p, asked, asJSON, err := e.permissions(args)
	if err != nil {
		return err
	}
	defer func() { _ = p.Close() }()
	if asked != "" {
		return &usageError{"hew permissions list takes options and nothing else"}
	}
	l, err := p.List()
	if err != nil {
		return err
	}
	if asJSON {
		return shownJSON(e.Stdout, l, "  ")
	}
	return writeList(e.Stdout, l)
}

func writeList(out io.Writer, l wiring.PermissionList) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintf(w, "mode\t%s\t%s\n", l.Mode.Name, l.Mode.Origin)
	for _, d := range l.Directories {
		fmt.Fprintf(w, "directory\t%s\t%s\n", fsys.Printable(d.Path), d.Origin)
	}
	for _, s := range l.Switches {
		fmt.Fprintf(w, "switch\t%s\n", s)
	}
	for _, r := range l.Rules {
		behavior := r.Behavior
		if !r.InForce {
			behavior = "not used"
		}
		fmt.Fprintf(w, "%s\t%s\t%s%s\n", behavior, fsys.Printable(r.Rule), origin(r), warning(r))
	}
	for _, h := range l.Held {
		fmt.Fprintf(w, "held\t%s %s\t%s:%d (until this folder is trusted)\n", fsys.Printable(h.Key), fsys.Printable(string(h.Value)), fsys.Printable(h.File), h.Line)
	}
	return w.Flush()
}

func origin(r wiring.RuleRow) string {
	s := r.Scope + " " + fsys.Printable(r.File)
	if r.Line > 0 {
		s += fmt.Sprintf(":%d", r.Line)
	}
	return s
}

func warning(r wiring.RuleRow) string {
	switch {
	case r.Warning == "":
		return ""
	case r.InForce:
		return " (warning: " + r.Warning + ")"
	}
	return " (" + r.Behavior + " rule, " + r.Warning + ")"
}

// maxShown bounds a line of an explanation, in bytes; --json has all of it.
const maxShown = 4000

func explainPermission(e Env, args []string) error {
	p, asked, asJSON, err := e.permissions(args)
	if err != nil {
		return err
	}
	defer func() { _ = p.Close() }()
	if asked == "" {
		return &usageError{"hew permissions explain needs a call, such as 'Bash(git push)'"}
	}
	x, err := p.Explain(asked)
	if err != nil {
		return &usageError{err.Error()}
	}
	if asJSON {
		return shownJSON(e.Stdout, x, "  ")
	}
	return writeExplanation(e.Stdout, x)
}

func writeExplanation(out io.Writer, x wiring.CallExplanation) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "%s\t%s\n", name, plain.Line(plain.Clip(text, maxShown)))
		}
	}
	line("verdict", x.Verdict)
	line("call", x.Tool+" "+string(x.Input))
	line("mode", x.Mode.Name+" ("+x.Mode.Origin+")")
	line("decided by", x.Layer)
	line("reason", x.Reason)
	line("part", x.Part)
	if x.Rule != "" {
		line("rule", x.Rule+" of "+x.File)
	}
	for _, s := range x.Chain {
		line("step "+s.Name, step(s))
	}
	for _, s := range remedies(x) {
		line("would allow it", s)
	}
	return w.Flush()
}

func step(s tool.Step) string {
	text := strings.TrimSpace(s.Outcome + " " + strings.TrimSuffix(s.Detail, ":"))
	if s.Rule != "" {
		text += " (rule " + s.Rule + ")"
	}
	return text
}

// remedies says how the call could come to be allowed.
func remedies(x wiring.CallExplanation) []string {
	switch {
	case x.Verdict == "allow":
		return nil
	case x.Verdict == "deny" && x.Layer == "rule" && x.Rule != "":
		return []string{"nothing while the deny rule " + x.Rule + " stands in " + x.File}
	case x.Forced:
		return []string{"a person's answer, each time; no allow rule or hook"}
	}
	var out []string
	for _, s := range x.Suggestions {
		out = append(out, remedy(s))
	}
	if len(out) == 0 && x.Verdict == "ask" {
		out = []string{"a person's answer; no rule says this narrowly enough to be offered"}
	}
	return out
}

func remedy(s event.Suggestion) string {
	var parts []string
	for _, r := range s.Rules {
		text := r.Tool
		if r.Content != "" {
			text += "(" + r.Content + ")"
		}
		parts = append(parts, text)
	}
	if s.Mode != "" {
		parts = append(parts, "the mode "+s.Mode)
	}
	for _, d := range s.Directories {
		parts = append(parts, "the working directory "+d)
	}
	return strings.Join(parts, " with ") + " (kept in " + s.Destination + ")"
}

// shownJSON prints v for programs on a stream that may be a terminal: what
// could steer it, or is no character, is written as an escape.
func shownJSON(w io.Writer, v any, indent string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(w, plain.Text(b.String()))
	return err
}

// caseAnswer is a line of hew permissions test.
type caseAnswer struct {
	ID      string `json:"id"`
	Verdict string `json:"verdict"`
	Expect  string `json:"expect,omitempty"`
	Level   string `json:"level,omitempty"`
	Right   bool   `json:"right"`
	Layer   string `json:"layer,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Part    string `json:"part,omitempty"`
	Rule    string `json:"rule,omitempty"`
}

// testPermissions judges case tables: answers on standard output, the summary
// on standard error, exit code 1 when a must row is wrong or one has no answer.
func testPermissions(e Env, args []string) error {
	if len(args) == 0 {
		return &usageError{"hew permissions test needs a table of cases: FILE.jsonl, or - for standard input"}
	}
	cases := wiring.NewCases()
	defer func() { _ = cases.Close() }()
	failed := false
	for _, name := range args {
		t, err := judgeFile(e, cases, name)
		if err != nil {
			return err
		}
		fmt.Fprintf(e.Stderr, "%s: %s\n", fsys.Printable(name), t)
		failed = failed || t.Failed()
	}
	if failed {
		return &failure{exitError}
	}
	return nil
}

func judgeFile(e Env, cases *wiring.Cases, name string) (wiring.Tally, error) {
	in := e.Stdin
	if name != "-" {
		path, err := fsys.Abs(e.Dir, name)
		if err != nil {
			return wiring.Tally{}, err
		}
		f, err := os.Open(path)
		if err != nil {
			return wiring.Tally{}, err
		}
		defer f.Close()
		in = f
	}
	var broken error
	t, err := cases.Table(in, func(r wiring.CaseResult, fault error) {
		if fault != nil {
			fmt.Fprintf(e.Stderr, "%s: %s: no answer: %v\n", fsys.Printable(name), fsys.Printable(r.Case.ID), fault)
			return
		}
		broken = errors.Join(broken, shownJSON(e.Stdout, caseAnswer{
			ID: r.Case.ID, Verdict: r.Verdict, Expect: r.Case.Expect, Level: r.Case.Level, Right: r.Right,
			Layer: r.Layer, Reason: r.Reason, Part: r.Part, Rule: r.Rule,
		}, ""))
	})
	if err == nil {
		err = broken
	}
	return t, err
}
