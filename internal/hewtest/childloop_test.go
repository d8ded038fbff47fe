package hewtest

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/hew-agent/hew/internal/backend/provider/script"
)

// TestChildIsTheSameLoop is row AG-34: a script that a subagent runs gives the
// trace that the same script gives in the main conversation: the same turns,
// calls, decisions, retries and end.
func TestChildIsTheSameLoop(t *testing.T) {
	lane := traced()
	delegating := &script.Scenario{
		Capture: lane.Capture,
		Steps: []script.Step{
			{Reply: []script.Reply{{Tool: "Agent", Input: []byte(`{"description":"All","prompt":"go","subagent_type":"claude"}`)}}},
			{Reply: []script.Reply{{Text: "Told."}}},
		},
		Lanes: []script.Lane{{Name: "child", Match: script.Match{User: "go"}, Steps: lane.Steps}},
	}
	own := happened(t, traced(), "go", false)
	child := happened(t, delegating, "delegate", true)
	if len(own) < 10 || strings.Join(own, "\n") != strings.Join(child, "\n") {
		t.Errorf("the subagent's trace is\n%s\nwant\n%s", strings.Join(child, "\n"), strings.Join(own, "\n"))
	}
}

// happened is what a run did, as its trace says: without ids, sizes and times.
func happened(t *testing.T, sc *script.Scenario, prompt string, ofChild bool) []string {
	t.Helper()
	w := newWorld(t, sc)
	if err := os.WriteFile(filepath.Join(w.proj, "a.txt"), []byte("alpha\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	trace := filepath.Join(w.home, "trace.jsonl")
	r := w.reader("-p", prompt, "--permission-mode", "acceptEdits", "--trace", trace)
	if _, err := io.Copy(io.Discard, r.buf); err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := w.model.Done(); err != nil {
		t.Fatal(err)
	}
	return normalOf(t, w, trace, ofChild)
}

// normalOf are the lines of one conversation, the child's or the parent's, of the
// kinds that a trace shows of both: not turns, shapers and the end, nor what
// comes while a reply still streams, earlier or later.
func normalOf(t *testing.T, w *world, trace string, ofChild bool) []string {
	t.Helper()
	data, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	var mine []string
	for l := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n") {
		kind := gjson.Get(l, "kind").Str
		if gjson.Get(l, "agent").Exists() == ofChild && !slices.Contains([]string{"start", "shaper", "turn", "done", "step", "context.load"}, kind) {
			mine = append(mine, l)
		}
	}
	own := filepath.Join(w.home, "own.jsonl")
	if err := os.WriteFile(own, []byte(strings.Join(mine, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	out := strings.Split(normal(t, w, own), "\n")
	for i, l := range out {
		for _, drop := range []string{"agent", "tool_use_id", "bytes", "input_tokens", "output_tokens"} {
			if l, err = sjson.Delete(l, drop); err != nil {
				t.Fatal(err)
			}
		}
		out[i] = l
	}
	return out
}
