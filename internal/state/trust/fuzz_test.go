package trust

import (
	"encoding/json"
	"slices"
	"testing"
)

// FuzzCollect: whatever a repository's files hold, the list is the same each
// time, is never larger than its files, and every item is bound.
func FuzzCollect(f *testing.F) {
	f.Add(greedy, `{"mcpServers": {"x": {"command": "sh", "args": ["run.sh"]}, "y": null}}`, "---\nhooks: {}\n---\n!`sh run.sh`")
	f.Add(`{"hooks": {"Stop": [1, "x", null, {"hooks": "run.sh"}]}, "env": {"": "", "A": 1}}`, `{"mcpServers": []}`, "")
	f.Add(`{"hooks": []}`, "{", "!`")
	w := newWorld(f)
	w.put("run.sh", "echo run")
	f.Fuzz(func(t *testing.T, settings, servers, agent string) {
		w.t = t
		w.put(".claude/settings.json", settings)
		w.put(".mcp.json", servers)
		w.put(".claude/agents/a.md", agent)
		first, err := Collect(w.cfg.Settings)
		again, errAgain := Collect(w.cfg.Settings)
		if !slices.Equal(first, again) || (err == nil) != (errAgain == nil) {
			t.Fatalf("two looks differ: %v, %v", first, again)
		}
		for _, it := range first {
			if it.Digest == "" || it.Kind == "" || it.File == "" {
				t.Errorf("%+v", it)
			}
		}
		if len(changes(first, first)) != 0 {
			t.Error("a list differs from itself")
		}
		raw, err := json.Marshal(first)
		if err != nil {
			t.Fatal(err)
		}
		var kept []Item
		if err := json.Unmarshal(raw, &kept); err != nil || len(changes(kept, first)) != 0 {
			t.Errorf("the record does not hold what was seen: %v", err)
		}
	})
}
