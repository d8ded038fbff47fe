//go:build unix

package bash

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// start launches a job and returns its id.
func (b *bench) start(command, description string) string {
	b.t.Helper()
	r := b.call("Bash", map[string]any{"command": command, "description": description, "run_in_background": true})
	id := dataOf(b.t, r).TaskID
	if r.IsError || id == "" || !strings.Contains(text(r), "running in background with ID: "+id+". Output is being written to: "+b.out) {
		b.t.Fatalf("start: %q %s", text(r), r.Data)
	}
	return id
}

func (b *bench) output(id string, block bool) tool.Result {
	b.t.Helper()
	if w, ok := b.tasks.Find(id); ok && block {
		ctx, cancel := context.WithTimeout(b.t.Context(), 20*time.Second)
		defer cancel()
		_ = w.Wait(ctx)
	}
	look, err := b.tasks.Look(id, b.s.c.MaxOutput)
	if err != nil {
		return tool.Failure(err.Error())
	}
	r := tool.Text(look.String())
	r.Data = msg.Encode(look.Facts())
	return r
}

func (b *bench) idle() {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 20*time.Second)
	defer cancel()
	if err := b.tasks.Idle(ctx); err != nil {
		b.t.Fatal(err)
	}
}

func TestOneNoticePerJob(t *testing.T) {
	b := newBench(t, nil)
	b.env.Use = "toolu_1"
	good := b.start("echo fine", "Say <fine> & go")
	b.env.Use = "toolu_2"
	bad := b.start("exit 3", "")
	b.idle()
	n := b.tasks.Notices()
	if len(n) != 2 || n[0].TaskID != good || n[1].TaskID != bad {
		t.Fatalf("notices %+v", n)
	}
	file := filepath.Join(b.out, good+".output")
	want := "An automated event, not input from the user: a background task has ended.\n" +
		"<task-notification>\n<task-id>" + good + "</task-id>\n<tool-use-id>toolu_1</tool-use-id>\n<output-file>" + file + "</output-file>\n" +
		"<status>completed</status>\n<summary>Background command \"Say &lt;fine&gt; &amp; go\" completed (exit code 0)</summary>\n</task-notification>"
	if n[0].Text != want {
		t.Errorf("got  %s\nwant %s", n[0].Text, want)
	}
	if n[0].Use != "toolu_1" || n[0].Kind != "local_bash" || n[0].Status != "completed" || n[0].OutputFile != file {
		t.Errorf("%+v", n[0])
	}
	if n[1].Status != "failed" || n[1].Summary != `Background command "exit 3" failed with exit code 3` {
		t.Errorf("%+v", n[1])
	}
	if again := b.tasks.Notices(); len(again) != 0 {
		t.Errorf("announced twice: %+v", again)
	}
}

func TestNoNoticeOfWhatTheModelKnows(t *testing.T) {
	b := newBench(t, nil)
	read, stopped := b.start("echo x", ""), b.start("exec sleep 600", "")
	b.output(read, true)
	if err := b.tasks.Stop(stopped); err != nil {
		t.Fatal(err)
	}
	if n := b.tasks.Notices(); len(n) != 0 {
		t.Errorf("%+v", n)
	}
}

func TestTaskOutputGoesOnWhereItWas(t *testing.T) {
	b := newBench(t, nil)
	id := b.start("echo one; while [ ! -e go ]; do :; done; echo two", "Count")
	eventually(t, "first output", func() bool { return strings.HasSuffix(text(b.peek(id)), "\nNew output:\none") })
	r := b.output(id, false)
	if got := text(r); !strings.HasPrefix(got, "Task "+id+" (Count) is still running.") || !strings.HasSuffix(got, "\nNo new output.") {
		t.Errorf("%q", got)
	}
	b.write("go", "")
	r = b.output(id, true)
	if got := text(r); !strings.HasPrefix(got, "Task "+id+" (Count) completed (exit code 0).") || !strings.HasSuffix(got, "\nNew output:\ntwo") {
		t.Errorf("%q", got)
	}
	var d struct {
		Retrieval string `json:"retrieval_status"`
		Task      struct {
			ID     string `json:"task_id"`
			Status string `json:"status"`
			Output string `json:"output"`
			Exit   *int   `json:"exitCode"`
		} `json:"task"`
	}
	if err := json.Unmarshal(r.Data, &d); err != nil || d.Retrieval != "success" || d.Task.ID != id || d.Task.Status != "completed" || d.Task.Output != "two" || d.Task.Exit == nil {
		t.Errorf("%v %s", err, r.Data)
	}
}

// peek looks without taking: until there is output a look takes nothing.
func (b *bench) peek(id string) tool.Result { return b.output(id, false) }

func TestTaskOutputOfALotShowsTheEnd(t *testing.T) {
	b := newBench(t, func(c *Config) { c.MaxOutput = 100 })
	id := b.start("for i in $(seq 1000); do echo é$i; done", "")
	got := text(b.output(id, true))
	if !strings.HasSuffix(got, "\né999\né1000") || !strings.Contains(got, "are left out here") || strings.Contains(got, "\uFFFD") {
		t.Errorf("%q", got)
	}
}

func TestMissingTaskNamesThoseThatRun(t *testing.T) {
	b := newBench(t, nil)
	if got := b.tasks.Missing("b\n1"); got != `No background task has the id "b\n1". No background task is running.` {
		t.Errorf("%q", got)
	}
	id := b.start("exec sleep 600", "Sleep long")
	if got := b.tasks.Missing("nope"); !strings.Contains(got, "Running:\n"+id+": Sleep long (output: "+b.out) {
		t.Errorf("%q", got)
	}
}

func TestTimeoutMovesToTheBackground(t *testing.T) {
	b := newBench(t, nil)
	r := b.call("Bash", map[string]any{"command": "echo early; while [ ! -e go ]; do :; done; echo late", "timeout": 150})
	id := dataOf(t, r).TaskID
	if got := text(r); r.IsError || id == "" || !strings.HasPrefix(got, "Command was moved to the background after 150 ms with ID: "+id) || !strings.HasSuffix(got, "\nOutput so far:\nearly") {
		t.Fatalf("%q", got)
	}
	b.write("go", "")
	b.idle()
	if n := b.tasks.Notices(); len(n) != 1 || n[0].TaskID != id || n[0].Status != "completed" {
		t.Errorf("%+v", n)
	}
	if all, err := os.ReadFile(filepath.Join(b.out, id+".output")); err != nil || string(all) != "early\nlate\n" {
		t.Errorf("%q %v", all, err)
	}
}

func TestTimeoutEndsWhatMustNotGoOn(t *testing.T) {
	b := newBench(t, nil)
	for _, command := range []string{"sleep 600", "echo git; exec sleep 600"} {
		r := b.call("Bash", map[string]any{"command": command, "timeout": 100})
		if got := text(r); !r.IsError || !strings.HasPrefix(got, "Exit code 143\nCommand timed out after 100 ms") {
			t.Errorf("%s: %q", command, got)
		}
	}
	if len(b.tasks.All()) > 0 {
		t.Error("a job was made")
	}
}

func TestWithoutBackgroundTasks(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Background = WithoutBackground })
	if _, err := b.tool("Bash").Plan(json.RawMessage(`{"command":"ls","run_in_background":true}`), b.env); err == nil {
		t.Error("a background job is planned")
	}
	r := b.call("Bash", map[string]any{"command": "while :; do :; done", "timeout": 100})
	if !r.IsError || !strings.HasPrefix(text(r), "Exit code 143\n") {
		t.Errorf("%q", text(r))
	}
}

func TestCloseEndsJobs(t *testing.T) {
	b := newBench(t, nil)
	id := b.start("sleep 600; true", "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.tasks.Idle(ctx); err == nil || !strings.Contains(err.Error(), id) {
		t.Errorf("idle: %v", err)
	}
	if err := b.tasks.Close(); err != nil {
		t.Fatal(err)
	}
	if n := b.tasks.Notices(); len(n) != 1 || n[0].Status != "killed" || n[0].Summary != `Background command "sleep 600; true" was stopped` {
		t.Errorf("%+v", n)
	}
}

func TestLimits(t *testing.T) {
	b := newBench(t, nil)
	for _, c := range []struct {
		in   bashInput
		want time.Duration
	}{
		{bashInput{}, 2 * time.Minute},
		{bashInput{Timeout: -5}, 2 * time.Minute},
		{bashInput{Timeout: 1500}, 1500 * time.Millisecond},
		{bashInput{Timeout: 1e300}, 10 * time.Minute},
		{bashInput{Background: true}, 30 * time.Minute},
		{bashInput{Background: true, Timeout: 3_600_000}, time.Hour},
		{bashInput{Background: true, Timeout: 1e12}, 2 * time.Hour},
	} {
		if got := (&call{s: b.s, in: c.in}).timeout(); got != c.want {
			t.Errorf("%+v: %v, want %v", c.in, got, c.want)
		}
	}
}
