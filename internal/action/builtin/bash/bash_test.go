//go:build unix

package bash

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/action/policy/shellread"
	"github.com/hew-agent/hew/internal/action/task"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/tool"
	"github.com/hew-agent/hew/internal/tool/tooltest"
)

// bench is a conversation's shell over a real one.
type bench struct {
	t     *testing.T
	s     *Shell
	env   tool.Env
	out   string // folder of output files
	tasks *task.List
}

func newBench(t *testing.T, change func(*Config)) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, out: t.TempDir()}
	b.env = tool.Env{Cwd: dir, Project: dir, Roots: []string{dir}, SpillDir: filepath.Join(t.TempDir(), "spill")}
	b.tasks = &task.List{}
	c := Config{Tasks: b.tasks, Facts: shellread.NewReader(100), Seen: &fsys.ReadState{}}
	c.Runner = shell.New(shell.Config{
		Env:        []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir},
		NoSnapshot: true, OutputDir: b.out, ProgressEvery: 5 * time.Millisecond,
	})
	if change != nil {
		change(&c)
	}
	before := runtime.NumGoroutine()
	b.s = New(c)
	t.Cleanup(func() {
		if err := b.tasks.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if err := c.Runner.Close(); err != nil {
			t.Errorf("close the runner: %v", err)
		}
		eventually(t, "goroutines to end", func() bool { return runtime.NumGoroutine() <= before })
	})
	return b
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(20 * time.Second); !ok(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func (b *bench) tool(name string) tool.Tool {
	b.t.Helper()
	if name != b.s.Tool().Spec().Name {
		b.t.Fatalf("no tool %s", name)
	}
	return b.s.Tool()
}

func (b *bench) plan(name string, in map[string]any) tool.Call {
	b.t.Helper()
	raw, err := json.Marshal(in)
	if err != nil {
		b.t.Fatal(err)
	}
	c, err := b.tool(name).Plan(raw, b.env)
	if err != nil {
		b.t.Fatalf("%s %s: %v", name, raw, err)
	}
	return c
}

func (b *bench) call(name string, in map[string]any) tool.Result {
	b.t.Helper()
	return b.plan(name, in).Run(b.t.Context(), func(tool.Progress) {})
}

func (b *bench) bash(command string) tool.Result {
	b.t.Helper()
	return b.call("Bash", map[string]any{"command": command})
}

func (b *bench) write(name, text string) string {
	b.t.Helper()
	path := filepath.Join(b.env.Cwd, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// read notes that the model has seen a file whole.
func (b *bench) read(path string) {
	b.t.Helper()
	t, err := fsys.ReadText(path, fsys.Limits{})
	if err != nil {
		b.t.Fatal(err)
	}
	b.s.c.Seen.Record(path, fsys.View{Status: t.Status, Content: t.Raw})
}

func dataOf(t *testing.T, r tool.Result) data {
	t.Helper()
	var d data
	if err := json.Unmarshal(r.Data, &d); err != nil {
		t.Fatalf("data %s: %v", r.Data, err)
	}
	return d
}

func TestConformance(t *testing.T) {
	b := newBench(t, nil)
	for name, good := range map[string]string{
		"Bash": `{"command":"ls -l","timeout":1000,"description":"List files","run_in_background":false}`,
	} {
		tooltest.Check(t, b.tool(name), b.env, json.RawMessage(good))
	}
	c := b.plan("Bash", map[string]any{"command": "ls \x1b[2J\nmake"})
	if v, ok := c.Preview().(tool.TerminalView); !ok || v.Command != "ls \\x1b[2J\nmake" {
		t.Errorf("preview %+v does not show the whole command", c.Preview())
	}
	if c := b.plan("Bash", map[string]any{"command": "ls", "run_in_background": true}); c.Traits().ConcurrencySafe {
		t.Error("a job may start before the reply is complete")
	}
	if n := c.Needs(); len(n) != 1 || n[0].Kind != tool.NeedExec || n[0].Command != "ls \x1b[2J\nmake" {
		t.Errorf("needs %+v", n)
	}
}

func TestDefinitionSizes(t *testing.T) {
	total := 0
	for _, tl := range []tool.Tool{newBench(t, nil).s.Tool()} {
		sp := tl.Spec()
		raw, err := json.Marshal(map[string]any{"name": sp.Name, "description": sp.Description, "input_schema": sp.Schema})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes", sp.Name, len(raw))
		if len(raw) > 2500 {
			t.Errorf("the definition of %s has %d bytes", sp.Name, len(raw))
		}
		if strings.Contains(string(raw), "{{") {
			t.Errorf("a limit is not filled in: %s", raw)
		}
		total += len(raw)
	}
	if total > 3500 {
		t.Errorf("all definitions have %d bytes", total)
	}
}

func TestOutcomes(t *testing.T) {
	for _, c := range []struct {
		name, command, want string
		failed              bool
	}{
		{"output", "printf 'a\\nb\\n'", "a\nb", false},
		{"merged in order", "echo 1; echo 2 >&2; echo 3", "1\n2\n3", false},
		{"empty", "true", "(Bash completed with no output)", false},
		{"blank", "echo; echo", "(Bash completed with no output)", false},
		{"failure", "echo oops >&2; exit 7", "Exit code 7\noops", true},
		{"silent failure", "exit 3", "Exit code 3", true},
		{"not found", "no-such-program-here 2>/dev/null", "Exit code 127", true},
		{"grep without match", "echo a | grep b", "(Bash completed with no output)\n(exit code 1: no match)", false},
		{"false test", "[ a = b ]", "(Bash completed with no output)\n(exit code 1: the test is false)", false},
		{"diff", "echo a > x; echo b > y; diff x y", "1c1\n< a\n---\n> b\n(exit code 1: the files differ)", false},
		{"grep error", "grep a /no/such/file 2>/dev/null", "Exit code 2", true},
		{"plain exit 1", "false", "Exit code 1", true},
		{"stdin is empty", "cat; read x; echo end", "end", false},
		{"terminal escapes", "printf '\\033[31mred\\033[0m\\r\\n'", "red", false},
		{"invalid UTF-8", "printf 'a\\377b'", "a\uFFFDb", false},
		{"killed by signal", "kill -9 $$", "Exit code 137", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, nil)
			r := b.bash(c.command)
			if got := text(r); got != c.want || r.IsError != c.failed {
				t.Errorf("%q, failed %v; want %q", got, r.IsError, c.want)
			}
			if d := dataOf(t, r); d.Interrupted || d.IsImage || d.Stderr != "" {
				t.Errorf("data %+v", d)
			}
			if left, _ := os.ReadDir(b.out); len(left) > 0 {
				t.Errorf("%d output files left", len(left))
			}
		})
	}
}

func TestLongSuccessGoesToAFile(t *testing.T) {
	b := newBench(t, nil)
	r := b.bash("seq 1 20000")
	d := dataOf(t, r)
	got := text(r)
	if r.IsError || !strings.HasPrefix(got, "<persisted-output>\nOutput too large (106.") || !strings.Contains(got, "saved to: "+d.PersistedPath) {
		t.Fatalf("got %.300q", got)
	}
	if len(got) > 2600 {
		t.Errorf("%d bytes are too many for a preview of 2 KB", len(got))
	}
	all, err := os.ReadFile(d.PersistedPath)
	if err != nil || filepath.Dir(d.PersistedPath) != b.env.SpillDir || int64(len(all)) != d.PersistedSize || !strings.HasSuffix(string(all), "\n20000\n") {
		t.Errorf("saved %d bytes (%v), data %+v", len(all), err, d)
	}
	if left, _ := os.ReadDir(b.out); len(left) > 0 {
		t.Error("the output file is kept twice")
	}
}

func TestOutputLimitCountsCharacters(t *testing.T) {
	b := newBench(t, func(c *Config) { c.MaxOutput = 100 })
	if got := text(b.bash("for i in $(seq 100); do printf é; done")); got != strings.Repeat("é", 100) {
		t.Errorf("100 characters are not shown whole: %q", got)
	}
	if got := text(b.bash("for i in $(seq 101); do printf é; done")); !strings.HasPrefix(got, "<persisted-output>") {
		t.Errorf("101 characters are shown: %q", got)
	}
	if New(Config{MaxOutput: 1 << 30}).c.MaxOutput != 150_000 {
		t.Error("the limit has no limit")
	}
}

func TestUnwritableSpillDirKeepsTheFile(t *testing.T) {
	b := newBench(t, nil)
	b.env.SpillDir = filepath.Join(b.write("plain", "x"), "dir")
	r := b.bash("seq 1 20000")
	d := dataOf(t, r)
	if all, err := os.ReadFile(d.PersistedPath); err != nil || !strings.HasSuffix(string(all), "\n20000\n") || filepath.Dir(d.PersistedPath) != b.out {
		t.Errorf("output lost: %v, %+v", err, d)
	}
	if !strings.Contains(text(r), "could not be kept for later sessions") {
		t.Errorf("the model is not told: %q", text(r))
	}
}

func TestLongFailureShowsBothEnds(t *testing.T) {
	b := newBench(t, nil)
	r := b.bash("seq 1 20000; exit 2")
	got := text(r)
	if !r.IsError || !strings.HasPrefix(got, "Exit code 2\n1\n2\n") || !strings.HasSuffix(got, "\n20000") || !strings.Contains(got, "left out") {
		t.Errorf("got %.100q … %q", got, got[len(got)-50:])
	}
	if len(got) > 10_200 {
		t.Errorf("%d bytes", len(got))
	}
	if left, _ := os.ReadDir(b.out); len(left) > 0 {
		t.Error("a failure leaves a file")
	}
}

func TestInterrupt(t *testing.T) {
	b := newBench(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := b.plan("Bash", map[string]any{"command": "echo partial; exec sleep 600"})
	r := c.Run(ctx, func(p tool.Progress) {
		if strings.Contains(p.Text, "partial") {
			cancel()
		}
	})
	if got := text(r); !r.IsError || !strings.HasPrefix(got, "partial\nThe command was interrupted") || !dataOf(t, r).Interrupted {
		t.Errorf("%q %s", got, r.Data)
	}
	r = c.Run(ctx, func(tool.Progress) {})
	if got := text(r); !r.IsError || !strings.HasPrefix(got, "The command was interrupted") {
		t.Errorf("never started: %q", got)
	}
}

func TestProgress(t *testing.T) {
	b := newBench(t, nil)
	var seen []tool.Progress
	b.plan("Bash", map[string]any{"command": "echo first; while [ ! -e go ]; do :; done; echo last"}).Run(t.Context(), func(p tool.Progress) {
		seen = append(seen, p)
		if strings.Contains(p.Text, "first") {
			b.write("go", "")
		}
	})
	if len(seen) == 0 || seen[len(seen)-1].Bytes < 6 {
		t.Errorf("progress %+v", seen)
	}
}

func TestLeftoversAreNamed(t *testing.T) {
	b := newBench(t, nil)
	r := b.bash("sleep 600 & echo started")
	got := text(r)
	// The name is that of the shell until the child has become sleep.
	if r.IsError || !strings.HasPrefix(got, "started\nStill running: ") || !strings.Contains(got, " (pid ") {
		t.Errorf("%q", got)
	}
}

func TestWithoutADirectory(t *testing.T) {
	b := newBench(t, nil)
	project := b.env.Cwd
	b.env.Cwd = filepath.Join(project, "gone")
	r := b.bash("ls")
	if !r.IsError || !strings.Contains(text(r), "is gone. Shell cwd was reset to "+project) || len(r.Effects) != 1 || r.Effects[0] != (tool.SetCwd{Dir: project}) {
		t.Errorf("%q %+v", text(r), r.Effects)
	}
}
