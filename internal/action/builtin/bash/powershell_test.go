package bash

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

func TestPowerShellNeeds(t *testing.T) {
	for command, parts := range map[string][]string{
		"git status":                   {"git status"},
		"git log; Remove-Item x":       {"git log; Remove-Item x", "git log", "Remove-Item x"},
		"git log $(Remove-Item x)":     {"git log $(Remove-Item x)", "git log", "Remove-Item x"},
		"a | b && c":                   {"a | b && c", "a", "b", "c"},
		"& { del x }":                  {"& { del x }", "del x"},
		"git log `\nRemove-Item -r x":  {"git log `\nRemove-Item -r x", "git log", "Remove-Item -r x"},
		"$x = Invoke-Expression 'del'": {"$x = Invoke-Expression 'del'", "x", "Invoke-Expression 'del"},
	} {
		var got []string
		for _, n := range powerShellNeeds(command) {
			if n.Kind != tool.NeedUse {
				t.Errorf("%+v", n)
			}
			got = append(got, n.Detail)
		}
		if !slices.Equal(got, parts) {
			t.Errorf("%q: %q", command, got)
		}
	}
}

// A program that says what it was given stands in for PowerShell.
func TestPowerShellRuns(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("left out: a stand-in for PowerShell (needs sh)")
	}
	fake := filepath.Join(t.TempDir(), "pwsh")
	if err := os.WriteFile(fake, []byte("#!/bin/sh\necho \"$*\"\ncase \"$*\" in *fail*) exit 3;; esac\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := shell.New(shell.Config{NoSnapshot: true})
	t.Cleanup(func() { _ = r.Close() })
	tl := New(Config{Runner: r}).PowerShell(fake)
	for in, want := range map[string]string{
		`{"command":"Get-Item x"}`: "-NoLogo -NoProfile -NonInteractive -Command Get-Item x",
		`{"command":"fail"}`:       "Exit code 3\n-NoLogo -NoProfile -NonInteractive -Command fail",
	} {
		c, err := tl.Plan(json.RawMessage(in), tool.Env{Cwd: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		res := c.Run(t.Context(), func(tool.Progress) {})
		if got := text(res); got != want {
			t.Errorf("%s: %q", in, got)
		}
	}
	if _, err := tl.Plan(json.RawMessage(`{"command":" "}`), tool.Env{}); err == nil {
		t.Error("an empty command was planned")
	}
}

func text(r tool.Result) string {
	var all []string
	for _, c := range r.Content {
		if t, ok := c.(*msg.Text); ok {
			all = append(all, t.Text)
		}
	}
	return strings.Join(all, "\n")
}
