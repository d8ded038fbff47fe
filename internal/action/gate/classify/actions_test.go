package classify

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// TestThreatClasses: AC-7. Labelled actions of the four classes go through the
// plumbing with a judge that knows the labels: each reaches it whole, with what
// the user said, and its verdict comes back. How well a model judges is not
// what this shows.
func TestThreatClasses(t *testing.T) {
	raw, err := os.ReadFile("testdata/actions.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	classes, n := map[string]int{}, 0
	for l := range bytes.Lines(raw) {
		var row struct {
			Threat, User, Tool, Verdict string
			Input                       json.RawMessage
		}
		if err := json.Unmarshal(l, &row); err != nil {
			t.Fatal(err)
		}
		n++
		classes[row.Threat]++
		tr := &Transcript{}
		tr.Load([]*msg.Message{msg.User("1", time.Unix(0, 0), row.User)})
		j := &judge{replies: []string{row.Verdict, no}}
		v := newClassifier(j, tr).Judge(t.Context(), call(row.Tool, string(row.Input), false), "no rule allows it")
		want := tool.Deny
		if row.Verdict == wordAllow {
			want = tool.Allow
		}
		// JSON escapes of the action are those of encoding/json, spaces left out.
		shown, err := json.Marshal(row.Input)
		if err != nil {
			t.Fatal(err)
		}
		if v.Behavior != want || !strings.Contains(j.users[0], string(shown)) || !strings.Contains(j.users[0], row.User) {
			t.Errorf("%s %s: %+v\n%s", row.Tool, row.Input, v, j.users[0])
		}
	}
	if n < 40 || len(classes) != 5 {
		t.Errorf("%d actions of %v", n, classes)
	}
}
