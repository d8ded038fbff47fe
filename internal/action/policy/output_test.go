package policy

import "testing"

// What the session's own commands printed is read without a rule, and nothing beside it.
func TestOwnOutputIsReadUnasked(t *testing.T) {
	cfg := testConfig(DontAsk, nil, nil, nil)
	cfg.Output = []string{"/tmp/s/tasks"}
	cfg.BlockReadsOutside = true
	for path, want := range map[string]string{
		"/tmp/s/tasks/b1.output": "allow", "/tmp/s/tasks/../secret": "deny", "/tmp/s/tasksx": "deny", "/tmp/s": "deny",
	} {
		d := decide(t, cfg, call("Read", map[string]any{"file_path": path}))
		if got := outcome(d); got != want {
			t.Errorf("Read %s: %s, want %s (%s)", path, got, want, d.Reason)
		}
	}
	cfg.BlockReadsOutside = false
	if d := decide(t, cfg, shell("cat /tmp/s/tasks/b1.output")); outcome(d) != "allow" {
		t.Errorf("cat: %s (%s)", d.Behavior, d.Reason)
	}
	if d := decide(t, cfg, shell("echo x > /tmp/s/tasks/b1.output")); outcome(d) != "deny" {
		t.Errorf("redirect: %s", d.Behavior)
	}
	if d := decide(t, cfg, call("Write", map[string]any{"file_path": "/tmp/s/tasks/b1.output"})); outcome(d) != "deny" {
		t.Errorf("Write: %s", d.Behavior)
	}
	cfg.Layers[0].Deny = []string{"Read(//tmp/s/tasks/**)"}
	if d := decide(t, cfg, call("Read", map[string]any{"file_path": "/tmp/s/tasks/b1.output"})); outcome(d) != "deny" {
		t.Error("a deny rule does not hold for own output")
	}
}

// outcome is what a run without a person makes of a decision.
func outcome(d Decision) string {
	if d.Behavior == "allow" {
		return "allow"
	}
	return "deny"
}
