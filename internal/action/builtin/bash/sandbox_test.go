package bash

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/tool"
)

// TestOutside: the field exists where a call may ask, and what the judge says
// decides whether the command is wrapped.
func TestOutside(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("left out: wrapped commands (needs /bin/echo)")
	}
	wraps := 0
	r := shell.New(shell.Config{NoSnapshot: true, Wrap: func(_, env []string) ([]string, []string, error) {
		wraps++
		return []string{"/bin/echo", "wrapped"}, env, nil
	}})
	t.Cleanup(func() { _ = r.Close() })
	judge := func(command string, wanted bool) bool { return wanted || command == "echo free" }
	for _, c := range []struct {
		name, input string
		mayAsk      bool
		judge       func(string, bool) bool
		valid       bool
		wrapped     bool
	}{
		{"confined", `{"command":"echo x"}`, true, judge, true, true},
		{"left out", `{"command":"echo free"}`, true, judge, true, false},
		{"asked", `{"command":"echo x","dangerouslyDisableSandbox":true}`, true, judge, true, false},
		{"strict", `{"command":"echo x","dangerouslyDisableSandbox":true}`, false, judge, false, false},
		{"no sandbox", `{"command":"echo x","dangerouslyDisableSandbox":true}`, true, nil, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			tl := New(Config{Runner: r, Outside: c.judge, MayAsk: c.mayAsk}).Tool()
			if offered := strings.Contains(string(tl.Spec().Schema), "dangerouslyDisableSandbox"); offered != (c.mayAsk && c.judge != nil) {
				t.Errorf("the field is offered: %v", offered)
			}
			call, err := tl.Plan(json.RawMessage(c.input), tool.Env{Cwd: t.TempDir()})
			if (err == nil) != c.valid {
				t.Fatalf("valid: %v", err)
			}
			if err != nil {
				return
			}
			before := wraps
			call.Run(context.Background(), nil)
			if wrapped := wraps > before; wrapped != c.wrapped {
				t.Errorf("wrapped: %v, want %v", wrapped, c.wrapped)
			}
		})
	}
}
