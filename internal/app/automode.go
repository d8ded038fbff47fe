package app

import (
	"errors"
	"fmt"

	"github.com/hew-agent/hew/internal/backend/feature"
	"github.com/hew-agent/hew/internal/wiring"
)

// runAutoMode prints auto mode's rules: hew's own, or those in force here.
func runAutoMode(e Env, args []string) error {
	if len(args) != 1 || args[0] != "defaults" && args[0] != "config" {
		return &usageError{"hew auto-mode takes: defaults|config"}
	}
	if !feature.Classifier {
		return errors.New("this build has no auto mode (hew features)")
	}
	m, err := wiring.ReadAutoMode(wiring.Options{
		Environ: e.Environ, Cwd: e.Dir, Sources: "user,project,local",
		Notice: func(s string) { fmt.Fprintln(e.Stderr, "hew: "+s) },
	})
	if err != nil {
		return err
	}
	if args[0] == "defaults" {
		return printJSON(e.Stdout, m.Defaults)
	}
	return printJSON(e.Stdout, struct {
		Disabled bool   `json:"disabled"`
		Model    string `json:"model"`
		Rules    any    `json:"autoMode"`
	}{m.Disabled, m.Model, m.Rules})
}
