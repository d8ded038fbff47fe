package app

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/tool"
	"github.com/hew-agent/hew/internal/wiring"
)

//go:embed demo/project.txtar
var demoProject []byte

//go:embed demo/scenario.json
var demoScenario []byte

const demoPrompt = "Fix the failing test"

// runDemo shows the whole machinery at work on a bundled project. Only the
// model's words are scripted.
func runDemo(e Env, args []string) error {
	keep := len(args) == 1 && args[0] == "--keep"
	if len(args) > 0 && !keep {
		return &usageError{"hew demo takes --keep and nothing else"}
	}
	if _, err := exec.LookPath("go"); err != nil {
		return errors.New("the demo repairs a Go project and needs the go command on PATH")
	}
	d := &demo{e: e, w: e.Stdout}
	if err := d.layOut(); err != nil {
		return fmt.Errorf("lay out the demo project: %w", err)
	}
	if !keep {
		defer d.remove()
	}
	secure()
	ctx, stop := signals(context.Background())
	defer stop()
	return d.run(ctx)
}

type demo struct {
	e          Env
	w          io.Writer
	root, proj string
	before     string
	calls      int
	requests   int
	decisions  []string
	tests      []string
}

// layOut writes the project, the script and an empty configuration home into a
// temporary folder.
func (d *demo) layOut() error {
	root, err := os.MkdirTemp("", "hew-demo-")
	if err != nil {
		return err
	}
	d.root, d.proj = root, filepath.Join(root, "bill")
	for _, f := range txtar.Parse(demoProject).Files {
		path := filepath.Join(d.proj, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			return err
		}
		if f.Name == "split.go" {
			d.before = string(f.Data)
		}
	}
	return os.WriteFile(d.script(), demoScenario, 0o644)
}

func (d *demo) script() string { return filepath.Join(d.root, "scenario.json") }

func (d *demo) remove() {
	if err := os.RemoveAll(d.root); err != nil {
		fmt.Fprintln(d.e.Stderr, "hew: the demo's folder could not be removed:", err)
	}
}

func (d *demo) run(ctx context.Context) error {
	d.intro()
	conv, err := wiring.Open(ctx, &wiring.Options{
		Version: Version(), Entrypoint: "cli", Environ: d.environ(), Cwd: d.proj,
		Model: "script:" + d.script(), Mode: "acceptEdits", Allowed: []string{"Bash(go test *)"},
		Sources: "user,project,local", NoStartFiles: true, Notice: func(s string) { fmt.Fprintln(d.w, "  note:", s) },
		Now: time.Now, Sleep: engine.Sleep, Jitter: rand.Float64, NewID: session.NewID,
	})
	if err != nil {
		return err
	}
	var end event.Terminal
	for ev := range conv.Engine.Submit(ctx, engine.Input{Message: msg.User(session.NewID(), time.Now(), demoPrompt), Source: "sdk"}) {
		d.show(ev.Body)
		if done, ok := ev.Body.(event.Done); ok {
			end = done.Terminal
		}
	}
	err = d.summary(conv, end)
	return errors.Join(err, conv.Close())
}

// environ gives the demo a home of its own: nothing of the user's is read or written.
func (d *demo) environ() []string {
	return append(d.e.Environ[:len(d.e.Environ):len(d.e.Environ)],
		"CLAUDE_CONFIG_DIR="+filepath.Join(d.root, "home"), "GOFLAGS=-mod=mod", "GOWORK=off")
}

func (d *demo) intro() {
	fmt.Fprintf(d.w, `hew demo
  A small Go project with a really failing test was written to
  %s
  hew repairs it now. The tools, the permission gate, the loop and the transcript
  are the real ones. Only the model is not: its words come from a script that is
  part of this binary, so no key and no network are needed.

  $ hew -p %q \
      --model script:scenario.json          the scripted model
      --permission-mode acceptEdits         file edits inside the project run unasked
      --allowedTools "Bash(go test *)"      and so does this one command; anything
                                            else would be refused, as nobody is
                                            here to be asked

`, d.proj, demoPrompt)
}

// show prints one event as a line or two.
func (d *demo) show(b event.Body) {
	switch b := b.(type) {
	case event.Message:
		if b.Msg.Role == msg.RoleAssistant && b.Msg.Text() != "" {
			fmt.Fprintf(d.w, "model  %s\n", b.Msg.Text())
		}
	case event.Decided:
		text := string(b.Decision.Behavior) + " by " + b.Decision.Layer
		if b.Decision.Rule != "" {
			text += ": " + b.Decision.Rule
		}
		d.decisions = append(d.decisions, b.Use.Name+" "+text)
	case event.ToolStarted:
		fmt.Fprintf(d.w, "tool   %s: %s\n", b.Use.Name, b.Title)
	case event.ToolFinished:
		d.finished(b)
	case event.ModelCall:
		d.requests++
	case event.Notice:
		fmt.Fprintf(d.w, "note   %s\n", b.Text)
	case event.TurnStarted, event.Retrying, event.Delta, event.Retracted, event.ToolProgress, event.HookRan,
		event.Asked, event.Answered, event.Shaped, event.Compacting, event.Compacted, event.TaskChanged, event.CommandRan, event.Step, event.Done:
	}
}

func (d *demo) finished(b event.ToolFinished) {
	d.calls++
	text := ""
	for _, c := range b.Result.Content {
		if t, ok := c.(*msg.Text); ok {
			text += t.Text
		}
	}
	if v, ok := b.Result.View.(tool.DiffView); ok {
		text = diffText(v)
	}
	if _, ok := b.Result.View.(tool.TerminalView); ok {
		verdict := "pass"
		if b.Result.IsError {
			verdict = "FAIL"
		}
		d.tests = append(d.tests, verdict)
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	const most = 9
	for i, l := range lines {
		if i == most {
			fmt.Fprintf(d.w, "       … %d more lines\n", len(lines)-most)
			break
		}
		fmt.Fprintf(d.w, "       %s\n", l)
	}
	fmt.Fprintln(d.w)
}

func diffText(v tool.DiffView) string {
	var b strings.Builder
	for _, h := range v.Hunks {
		for _, l := range h.Lines {
			b.WriteString(l + "\n")
		}
	}
	return b.String()
}

// summary proves what happened from the outside: the tests are run once more
// by the demo itself, and the transcript is counted.
func (d *demo) summary(c *wiring.Conversation, end event.Terminal) error {
	cmd := exec.Command("go", "test", "./...")
	cmd.Dir, cmd.Env = d.proj, d.environ()
	out, err := cmd.CombinedOutput()
	after := "pass"
	if err != nil {
		after = "FAIL\n" + string(out)
	}
	now, readErr := os.ReadFile(filepath.Join(d.proj, "split.go"))
	if readErr != nil {
		return readErr
	}
	lines := 0
	if data, err := os.ReadFile(c.Transcript); err == nil {
		lines = strings.Count(string(data), "\n")
	}
	fmt.Fprintf(d.w, `summary
  end          %s after %d model requests and %d tool calls
  test runs    %s
  afterwards   go test ./... run by the demo itself: %s
  changed      split.go, %d → %d bytes
  decisions    %s
  transcript   %d lines, one JSON object each: %s
  scripted     the model's words, and nothing else
`, end.Reason, d.requests, d.calls, strings.Join(d.tests, ", then "), after, len(d.before), len(now),
		strings.Join(d.decisions, "\n               "), lines, c.Transcript)
	if err != nil || end.Reason != event.Completed {
		return fmt.Errorf("the demo did not end well: %s %s", end.Reason, end.Detail)
	}
	return nil
}
