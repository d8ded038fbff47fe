package hewtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/backend/provider/script"
)

// layer is one of the seven safety layers, alone: the run of the probe call in
// which the other six are off, and where the trace names it.
type layer struct {
	name string
	// first are the arguments of a run before the one that counts, nil for none.
	first []string
	// args switch the layer on.
	args []string
	// mode replaces the mode that stops nothing, where the layer is one.
	mode []string
	// side answers side queries.
	side map[string][]script.Step
	// command replaces the probe's, of which the file is another then.
	command, file string
	// need says what the machine must have, "" for nothing.
	need string
	// named tells whether a line of the trace names the layer as what stopped the call.
	named func(line gjson.Result) bool
}

// free is the mode in which nothing stops a call but what is switched on beside
// it: no rules, no classifier, no sandbox, no hooks, a new session.
func free() []string { return []string{"--dangerously-skip-permissions"} }

func decidedBy(l string) func(gjson.Result) bool {
	return func(line gjson.Result) bool {
		return line.Get("kind").String() == "decision" && line.Get("outcome").String() == "deny" && line.Get("layer").String() == l
	}
}

func says(text string) []script.Step {
	return []script.Step{{Reply: []script.Reply{{Text: text}}, Loop: true}}
}

func layers() []layer {
	return []layer{
		{
			name: "pre-filter", args: []string{"--disallowedTools", "Bash"}, mode: free(),
			named: func(l gjson.Result) bool {
				return l.Get("kind").String() == "tool_stop" && l.Get("outcome").String() == "not_run" && l.Get("layer").String() == "pre-filter"
			},
		},
		{name: "deny rules", args: []string{"--disallowedTools", "Bash(touch *)"}, mode: free(), named: decidedBy("rule")},
		{name: "mode", mode: []string{"--permission-mode", "dontAsk"}, named: decidedBy("mode")},
		{
			name: "classifier", mode: []string{"--permission-mode", "auto"}, named: decidedBy("classifier"),
			side: map[string][]script.Step{
				"classify": says("block"), "classify_reason": says(`{"reasons":"nobody asked for it","rule":"soft_deny","decision":"block"}`),
			},
		},
		{
			name: "hooks", mode: free(), named: decidedBy("hook"),
			args: []string{"--settings", `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"echo not today >&2; exit 2"}]}]}}`},
		},
		{
			name: "sandbox", args: []string{"--sandbox"}, mode: free(), command: "touch ../probe", file: "../probe", need: "a whole sandbox",
			named: func(l gjson.Result) bool {
				return l.Get("kind").String() == "tool_stop" && l.Get("outcome").String() == "error" && l.Get("layer").String() == "sandbox"
			},
		},
		{
			name: "non-restoration", first: []string{"--allowedTools", "Bash(touch *)"}, mode: []string{"--permission-mode", "manual"},
			named: func(l gjson.Result) bool {
				return decidedBy("default")(l) && l.Get(`steps.#(step=="non-restoration")`).Exists()
			},
		},
	}
}

// probe runs one call that leaves a file and reports whether it did, and the trace.
func (l layer) probe(t *testing.T) (ran bool, trace string) {
	t.Helper()
	command, leaves := "touch probe", "probe"
	if l.command != "" {
		command, leaves = l.command, l.file
	}
	call := script.Step{Reply: []script.Reply{{Tool: "Bash", Input: []byte(`{"command":"` + command + `"}`)}}}
	done := script.Step{Reply: []script.Reply{{Text: "done"}}}
	sc := &script.Scenario{Steps: []script.Step{call, done}, Side: l.side}
	if l.first != nil {
		sc.Steps = append(sc.Steps, call, done)
	}
	w := newWorld(t, sc, "IS_SANDBOX=1")
	file, log := filepath.Join(w.proj, leaves), filepath.Join(w.home, "trace.jsonl")
	run := func(args ...string) {
		args = append([]string{"-p", "go", "--output-format", "stream-json", "--verbose", "--trace", log}, args...)
		h := w.start(launch{args: append(args, w.begun()...)})
		_ = h.in.Close()
		if code := h.wait(); code != 0 {
			t.Fatalf("exit code %d: %s", code, h.stderr.String())
		}
	}
	if l.first != nil {
		run(append(l.first, l.mode...)...)
		if os.Remove(file) != nil {
			t.Fatal("the call was not granted the first time")
		}
		if err := os.Remove(log); err != nil {
			t.Fatal(err)
		}
	}
	run(append(l.args, l.mode...)...)
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	_, err = os.Stat(file)
	return err == nil, string(data)
}

// TestEachLayerStopsAlone: P3, PM-15. With six of the layers off, the seventh
// stops its probe call and the trace names it; with all off the call runs.
func TestEachLayerStopsAlone(t *testing.T) {
	for _, open := range []layer{{mode: free()}, {mode: free(), command: "touch ../probe", file: "../probe"}} {
		if ran, trace := open.probe(t); !ran {
			t.Fatalf("the probe does not run with all layers off, so the test shows nothing:\n%s", trace)
		}
	}
	if n := len(layers()); n != 7 {
		t.Fatalf("%d layers", n)
	}
	for _, l := range layers() {
		t.Run(l.name, func(t *testing.T) {
			if l.need != "" && !confines() {
				t.Skip("left out: the layer of the sandbox (needs user namespaces or bubblewrap)")
			}
			ran, trace := l.probe(t)
			if ran {
				t.Fatalf("the call ran:\n%s", trace)
			}
			for line := range strings.SplitSeq(trace, "\n") {
				if l.named(gjson.Parse(line)) {
					return
				}
			}
			t.Errorf("the trace does not name the layer:\n%s", trace)
		})
	}
}
