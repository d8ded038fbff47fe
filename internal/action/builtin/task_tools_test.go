package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/action/task"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/tool"
)

// dozing is work that ends when it is stopped.
type dozing struct{ stopped chan struct{} }

func (dozing) ID() string { return "a1" }

func (d dozing) Status() task.Status {
	st := task.Status{ID: "a1", Kind: "local_agent", Title: "Doze", State: shell.Running, Ending: "is still running", OutputFile: "/o", Report: "so far"}
	select {
	case <-d.stopped:
		st.State, st.Ending, st.Report = shell.Killed, "was stopped", "the end"
	default:
	}
	return st
}

func (d dozing) Wait(ctx context.Context) error {
	select {
	case <-d.stopped:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d dozing) Stop() error {
	close(d.stopped)
	return nil
}

func taskTools(t *testing.T) (map[string]tool.Tool, *task.List) {
	t.Helper()
	l := &task.List{}
	l.Add(dozing{make(chan struct{})})
	out := map[string]tool.Tool{}
	for _, tl := range New(Config{Background: l}) {
		out[tl.Spec().Name] = tl
	}
	return out, l
}

func run(t *testing.T, ctx context.Context, tl tool.Tool, in string) tool.Result {
	t.Helper()
	c, err := tl.Plan(json.RawMessage(in), tool.Env{})
	if err != nil {
		t.Fatal(err)
	}
	return c.Run(ctx, func(tool.Progress) {})
}

func TestTaskTools(t *testing.T) {
	tools, l := taskTools(t)
	ctx := t.Context()
	if got := text(run(t, ctx, tools["TaskOutput"], `{"bash_id":"a1","block":false}`)); got != "Task a1 (Doze) is still running.\nNew output:\nso far" {
		t.Errorf("%q", got)
	}
	for _, name := range []string{"TaskOutput", "TaskStop"} {
		if r := run(t, ctx, tools[name], `{"task_id":"nope"}`); !r.IsError || !strings.Contains(text(r), "Running:\na1: Doze (output: /o)") {
			t.Errorf("%s: %q", name, text(r))
		}
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if r := run(t, gone, tools["TaskOutput"], `{"task_id":"a1"}`); !r.IsError || text(r) != "The wait was interrupted; task a1 is still running." {
		t.Errorf("%q", text(r))
	}
	if r := run(t, ctx, tools["TaskStop"], `{"shell_id":"a1"}`); r.IsError || text(r) != "Task a1 (Doze) was stopped. Its output is in /o" {
		t.Errorf("%q", text(r))
	}
	if r := run(t, ctx, tools["TaskStop"], `{"task_id":"a1"}`); !r.IsError || text(r) != "Task a1 is not running: it was stopped." {
		t.Errorf("%q", text(r))
	}
	if n := l.Notices(); len(n) != 0 {
		t.Errorf("the model is told of what it did: %+v", n)
	}
	_, err := tools["TaskStop"].Plan(json.RawMessage(`{}`), tool.Env{})
	var ie *tool.InputError
	if !errors.As(err, &ie) || !strings.Contains(err.Error(), "`task_id` is missing") {
		t.Errorf("no id: %v", err)
	}
}

func TestNoTaskToolsWithoutBackground(t *testing.T) {
	for _, tl := range New(Config{}) {
		if n := tl.Spec().Name; n == "TaskOutput" || n == "TaskStop" {
			t.Errorf("%s is offered", n)
		}
	}
}
