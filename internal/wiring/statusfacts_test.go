package wiring

import (
	"encoding/json"
	"testing"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

func TestRepoOf(t *testing.T) {
	for in, want := range map[string]string{
		"https://host.example/owner/name.git": `{"host":"host.example","name":"name","owner":"owner"}`,
		"ssh://host.example:2222/a/b/c":       `{"host":"host.example","name":"c","owner":"a/b"}`,
		"git@host.example:owner/name.git":     `{"host":"host.example","name":"name","owner":"owner"}`,
		"/srv/git/name.git":                   "null",
		`C:\src\name`:                         "null",
		"https://host.example/name":           "null",
		"":                                    "null",
	} {
		raw, err := json.Marshal(repoOf(in))
		if err != nil || string(raw) != want {
			t.Errorf("%q: %s, want %s (%v)", in, raw, want, err)
		}
	}
}

// TestStatusFacts: lines of edits that succeeded count, and the newest request of
// the main conversation alone.
func TestStatusFacts(t *testing.T) {
	f := &statusFacts{}
	edit := func(failed bool) event.Event {
		v := tool.DiffView{Hunks: []tool.Hunk{{Lines: []string{" a", "-b", "+c", "+d"}}}}
		return event.Event{Body: event.ToolFinished{Result: tool.Result{IsError: failed, View: v}}}
	}
	f.hear(edit(false))
	f.hear(edit(true))
	f.hear(event.Event{Body: event.ModelCall{Usage: msg.Usage{InputTokens: 7}}})
	f.hear(event.Event{Body: event.ModelCall{Side: "title", Usage: msg.Usage{InputTokens: 8}}})
	f.hear(event.Event{Origin: event.Origin{Agent: "a1"}, Body: event.ModelCall{Usage: msg.Usage{InputTokens: 9}}})
	if f.added != 2 || f.removed != 1 || f.last.InputTokens != 7 {
		t.Errorf("added %d, removed %d, last %d", f.added, f.removed, f.last.InputTokens)
	}
}
