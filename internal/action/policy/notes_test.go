package policy

import "testing"

// Notes are written unasked, and nothing beside or protected below them.
func TestOwnNotesAreWrittenUnasked(t *testing.T) {
	notes := "/home/u/.claude/projects/p/memory"
	cfg := testConfig(DontAsk, nil, nil, nil)
	cfg.Notes = []string{notes}
	for path, want := range map[string]string{
		notes + "/MEMORY.md": "allow", notes + "/sub/a.md": "allow", notes + "/../settings.json": "deny", notes + "x/a.md": "deny",
		"/home/u/.claude/settings.json": "deny", notes + "/.git/config": "deny", notes + "/.mcp.json": "deny",
	} {
		if d := decide(t, cfg, call("Write", map[string]any{"file_path": path})); outcome(d) != want {
			t.Errorf("Write %s: %s, want %s (%s)", path, outcome(d), want, d.Reason)
		}
	}
	if d := decide(t, cfg, call("Read", map[string]any{"file_path": notes + "/a.md"})); outcome(d) != "allow" {
		t.Errorf("Read: %s", d.Reason)
	}
	if d := decide(t, cfg, shell("echo x > "+notes+"/a.md")); outcome(d) != "deny" {
		t.Error("a command writes notes unasked")
	}
	cfg.Mode = Plan
	if d := decide(t, cfg, call("Write", map[string]any{"file_path": notes + "/a.md"})); outcome(d) != "deny" {
		t.Error("plan mode writes notes")
	}
	cfg.Mode = Default
	cfg.Layers[0].Deny = []string{"Edit(/" + notes + "/**)"}
	if d := decide(t, cfg, call("Write", map[string]any{"file_path": notes + "/a.md"})); outcome(d) != "deny" {
		t.Error("a deny rule does not hold for notes")
	}
}
