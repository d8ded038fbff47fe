package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/hew-agent/hew/internal/wiring"
)

// runTools lists the pool: what is always offered, and under which condition the rest.
func runTools(e Env, args []string) error {
	asJSON, err := onlyJSON("tools", args)
	if err != nil {
		return err
	}
	list := wiring.Tools()
	if asJSON {
		return printJSON(e.Stdout, list)
	}
	w := tabwriter.NewWriter(e.Stdout, 0, 4, 2, ' ', 0)
	for _, t := range list {
		when := "always"
		if !t.Always {
			when = t.Condition
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", t.Name, t.Origin, when)
	}
	return w.Flush()
}

// runFeatures lists the feature flags and how each stands here.
func runFeatures(e Env, args []string) error {
	asJSON, err := onlyJSON("features", args)
	if err != nil {
		return err
	}
	list, err := wiring.Features(wiring.Options{Environ: e.Environ, Cwd: e.Dir, Sources: "user,project,local"})
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(e.Stdout, list)
	}
	w := tabwriter.NewWriter(e.Stdout, 0, 4, 2, ' ', 0)
	for _, f := range list {
		state := "off"
		switch {
		case f.On:
			state = "on"
		case !f.Built:
			state = "not built"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", f.Name, f.Kind, state, f.Switch, f.Effect)
	}
	return w.Flush()
}

// runModels lists the model table, or with --discover what servers on this
// machine offer.
func runModels(e Env, args []string) error {
	rest := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "--discover" })
	asJSON, err := onlyJSON("models", rest)
	if err != nil {
		return err
	}
	if len(rest) < len(args) {
		return discover(e, asJSON)
	}
	list := wiring.Models(e.getenv)
	own, err := wiring.OwnModels(wiring.Options{Environ: e.Environ, Cwd: e.Dir, Sources: "user,project,local"})
	if err != nil {
		return err
	}
	list = append(list, own...)
	if asJSON {
		return printJSON(e.Stdout, list)
	}
	w := tabwriter.NewWriter(e.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "MODEL\tALIASES\tWINDOW\tOUTPUT\t$/M IN\t$/M OUT")
	for _, m := range list {
		fmt.Fprintf(w, "%s\t%v\t%d\t%d\t%g\t%g\n", m.ID, m.Aliases, m.Window, m.MaxOutput, m.Price.Input, m.Price.Output)
	}
	return w.Flush()
}

func discover(e Env, asJSON bool) error {
	found := wiring.Discover(context.Background(), e.getenv)
	if asJSON {
		return printJSON(e.Stdout, found)
	}
	if len(found) == 0 {
		fmt.Fprintln(e.Stdout, "No model server answers on this machine. hew looks for Ollama, LM Studio, llama.cpp and vLLM at their usual ports, and at OLLAMA_HOST, LMSTUDIO_BASE_URL, LLAMACPP_BASE_URL and VLLM_BASE_URL.")
		return nil
	}
	w := tabwriter.NewWriter(e.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "MODEL\tSERVER")
	for _, f := range found {
		fmt.Fprintf(w, "%s\t%s\n", f.Model, f.URL)
	}
	return w.Flush()
}

func onlyJSON(name string, args []string) (bool, error) {
	switch {
	case len(args) == 0:
		return false, nil
	case len(args) == 1 && args[0] == "--json":
		return true, nil
	}
	return false, &usageError{fmt.Sprintf("hew %s takes --json and nothing else", name)}
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// runDoctor prints what a person needs when hew does not do what they expect.
// It reads and changes nothing.
func runDoctor(e Env, args []string) error {
	if len(args) > 0 {
		return &usageError{"hew doctor takes no arguments"}
	}
	report, err := wiring.Examine(wiring.Options{Environ: e.Environ, Cwd: e.Dir, Sources: "user,project,local", Version: Version(), Root: e.UID == 0})
	if err != nil {
		return err
	}
	bad := false
	for _, c := range report {
		mark := "ok  "
		if !c.OK {
			mark, bad = "FIX ", true
		}
		fmt.Fprintf(e.Stdout, "%s %-14s %s\n", mark, c.Name, c.Text)
	}
	if bad {
		return &failure{exitError}
	}
	return nil
}
