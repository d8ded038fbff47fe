package wiring

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/state/memory"
	"github.com/hew-agent/hew/internal/state/settings"
)

// A person's line goes to the file of the scope that is read, and only there.
func TestRemember(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(dir, "w")
	if err := os.MkdirAll(filepath.Join(work, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work, "AGENTS.md"), []byte("a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b := &build{home: settings.Home{Dir: filepath.Join(dir, "home")}, place: engine.Place{Project: work}}
	b.memory = func() *memory.Instructions { return memory.Load(memory.Config{Cwd: work}) }
	b.files = func() []memory.File { return b.memory().Files() }
	c := &Conversation{build: b}
	if p := c.MemoryPlaces(); len(p) != 3 || p[0].Path != filepath.Join(work, "AGENTS.md") || !p[0].Exists || p[1].Exists || p[2].Exists {
		t.Errorf("places: %+v", p)
	}
	for scope, want := range map[memory.Scope]string{memory.Project: "a\n- tabs\n", memory.Local: "- tabs\n", memory.User: "- tabs\n"} {
		path, err := c.Remember(t.Context(), scope, "tabs")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", scope, got, err)
		}
	}
	if _, err := c.Remember(t.Context(), memory.Managed, "x"); err == nil {
		t.Error("the administrator's file takes a line")
	}
	if p := c.MemoryPlaces(); !p[1].Exists || !p[2].Exists {
		t.Errorf("places afterwards: %+v", p)
	}
}
