package settings

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

func text(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return string(b)
}

func TestWriters(t *testing.T) {
	w := newWorld(t)
	c := w.cfg
	must(t, os.MkdirAll(filepath.Join(c.Cwd, ".git", "info"), 0o755))
	must(t, c.AddRule(t.Context(), Local, AllowRules, "A(x && y)"))
	must(t, c.AddRule(t.Context(), Local, AllowRules, "A(x && y)"))
	must(t, c.Set(t.Context(), Local, "plan", "permissions", "defaultMode"))
	want := "{\n  \"permissions\": {\n    \"allow\": [\n      \"A(x && y)\"\n    ],\n    \"defaultMode\": \"plan\"\n  }\n}\n"
	if got := text(t, c.Path(Local)); got != want {
		t.Errorf("local file:\n%s", got)
	}
	if got := text(t, filepath.Join(c.Cwd, ".git", "info", "exclude")); got != "/.claude/settings.local.json\n" {
		t.Errorf("git excludes %q", got)
	}
	must(t, c.RemoveRule(t.Context(), Local, AllowRules, "A(x && y)"))
	must(t, c.Unset(t.Context(), Local, "permissions", "defaultMode"))
	must(t, c.AddDirectory(t.Context(), Local, "/data"))
	s := w.clean()
	if p := s.Permissions(); len(p.Allow) != 0 || p.DefaultMode != "" || len(p.AdditionalDirectories) != 1 {
		t.Errorf("%+v", p)
	}
}

func TestWritersRefuse(t *testing.T) {
	w := newWorld(t)
	c := w.cfg
	w.write(Project, `{"model": "x",}`)
	var bad *fsys.InvalidJSONError
	if err := c.Set(t.Context(), Project, "y", "model"); !errors.As(err, &bad) || !strings.Contains(err.Error(), "line 1, column 15") {
		t.Errorf("invalid file: %v", err)
	}
	if got := text(t, c.Path(Project)); got != `{"model": "x",}` {
		t.Errorf("the invalid file is now %s", got)
	}
	for what, err := range map[string]error{
		"wrong type":      c.Set(t.Context(), User, 5, "model"),
		"not in this one": c.Set(t.Context(), Project, true, "skipAutoPermissionPrompt"),
		"managed":         c.Set(t.Context(), Managed, "x", "model"),
		"flag":            c.AddRule(t.Context(), Flag, DenyRules, "A"),
		"malformed rule":  c.AddRule(t.Context(), User, DenyRules, "A(b"),
	} {
		if err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
	if _, err := os.Stat(c.Path(User)); !os.IsNotExist(err) {
		t.Error("a refused write made a file")
	}
}
