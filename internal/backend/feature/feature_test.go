package feature

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestNamed: the flags that the requirements name are all there.
func TestNamed(t *testing.T) {
	var names []string
	for _, f := range All() {
		names = append(names, f.Name)
		if f.Effect == "" {
			t.Errorf("%s says nothing about its effect", f.Name)
		}
	}
	for _, n := range []string{
		"history-snip", "cached-microcompact", "context-collapse", "reactive-compact", "transcript-classifier", "fork-subagent",
		"background-tasks", "agent-cwd", "remote-isolation",
	} {
		if !slices.Contains(names, n) {
			t.Errorf("there is no flag %s", n)
		}
	}
}

// TestTags: each tag of the table has its pair of files, and both name the tag of the lean build.
func TestTags(t *testing.T) {
	for _, f := range All() {
		if f.Tag == "" {
			continue
		}
		end := "_" + strings.TrimPrefix(f.Tag, "hew_no_") + ".go"
		for name, line := range map[string]string{
			"on" + end: "//go:build !" + Lean + " && !" + f.Tag + "\n", "off" + end: "//go:build " + Lean + " || " + f.Tag + "\n",
		} {
			raw, err := os.ReadFile(name)
			if err != nil {
				t.Error(err)
				continue
			}
			if !strings.HasPrefix(string(raw), line) {
				t.Errorf("%s does not begin with %q", name, line)
			}
		}
	}
}

// TestOffIsAbsent builds the program with all flags and with none, and looks for the symbols that the flags name.
func TestOffIsAbsent(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("left out: what a lean build holds (needs the go command)")
	}
	whole, lean := symbols(t, ""), symbols(t, Lean)
	for _, f := range All() {
		if f.Symbol == "" {
			continue
		}
		at := regexp.MustCompile(`/internal/` + regexp.QuoteMeta(f.Symbol) + `\b`)
		if !at.MatchString(whole) {
			t.Errorf("%s: the whole build has no symbol %s", f.Name, f.Symbol)
		}
		if at.MatchString(lean) {
			t.Errorf("%s: the lean build has the symbol %s", f.Name, f.Symbol)
		}
	}
	for _, pkg := range []string{"backend/lsp.", "action/builtin/lsptool."} {
		if strings.Contains(lean, "/internal/"+pkg) {
			t.Errorf("the lean build holds code of %s", pkg)
		}
	}
}

func symbols(t *testing.T, tags string) string {
	out := filepath.Join(t.TempDir(), "hew")
	run := func(args ...string) string {
		c := exec.Command("go", args...)
		c.Dir, c.Env = "../../..", append(os.Environ(), "CGO_ENABLED=0")
		got, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, got)
		}
		return string(got)
	}
	run("build", "-trimpath", "-buildvcs=false", "-tags", tags, "-o", out, "./cmd/hew")
	return run("tool", "nm", out)
}
