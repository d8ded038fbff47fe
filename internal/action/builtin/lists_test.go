package builtin

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hew-agent/hew/internal/action/task"
	"github.com/hew-agent/hew/internal/tool"
)

func todo(content, status string) in {
	return in{"content": content, "status": status, "activeForm": "Doing " + content}
}

func TestTodoWrite(t *testing.T) {
	b := newBench(t, Config{})
	r := b.run("TodoWrite", in{"todos": []in{todo("a", "in_progress"), todo("b", "pending")}})
	if !strings.Contains(text(r), "0 completed, 1 in progress, 1 pending") {
		t.Error(text(r))
	}
	v := r.View.(tool.ListView)
	if len(v.Items) != 2 || v.Items[0] != (tool.Item{Text: "Doing a", State: "in_progress"}) || v.Items[1].Text != "b" {
		t.Errorf("%+v", v)
	}
	if string(mustField(t, r, "oldTodos")) != "[]" {
		t.Errorf("%s", r.Data)
	}
	r = b.run("TodoWrite", in{"todos": []in{todo("a", "completed")}})
	if old := string(mustField(t, r, "oldTodos")); !strings.Contains(old, `"status":"in_progress"`) || !strings.Contains(text(r), "Everything is done") {
		t.Errorf("%s %s", text(r), r.Data)
	}
	// A subagent has a list of its own.
	b.env.Agent = "child"
	if r := b.run("TodoWrite", in{"todos": []in{}}); string(mustField(t, r, "oldTodos")) != "[]" {
		t.Errorf("%s", r.Data)
	}
	b.bad("TodoWrite", in{"todos": []in{{"content": "a", "status": "started", "activeForm": "b"}}}, "todos[0].status", "must be one of")
	b.bad("TodoWrite", in{"todos": []in{{"content": "a"}}}, "todos[0].status", "todos[0].activeForm")
}

func TestTasks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tasks", "list")
	b := newBench(t, Config{Tasks: dir})
	for i, s := range []string{"do a", "do b", "do c"} {
		if got := b.ok("TaskCreate", in{"subject": s, "description": "d", "metadata": in{"k": 1, "z": "y"}}); got != fmt.Sprintf("Task #%d created successfully: %s", i+1, s) {
			t.Error(got)
		}
	}
	if got := b.ok("TaskUpdate", in{"taskId": "2", "addBlockedBy": []string{"1"}}); got != "Updated task #2 blockedBy" {
		t.Error(got)
	}
	r := b.run("TaskUpdate", in{"taskId": "1", "status": "in_progress", "owner": "me", "metadata": in{"k": nil}})
	if text(r) != "Updated task #1 owner, status, metadata" {
		t.Error(text(r))
	}
	if s := string(mustField(t, r, "statusChange")); s != `{"from":"pending","to":"in_progress"}` {
		t.Error(s)
	}
	if got := b.ok("TaskList", in{}); got != "#1 [in_progress] do a (me)\n#2 [pending] do b [blocked by #1]\n#3 [pending] do c" {
		t.Errorf("%q", got)
	}
	if got := b.ok("TaskGet", in{"taskId": "2"}); got != "Task #2: do b\nStatus: pending\nDescription: d\nBlocked by: #1" {
		t.Errorf("%q", got)
	}
	var stored map[string]any
	raw, err := os.ReadFile(filepath.Join(dir, "1.json"))
	if err != nil || json.Unmarshal(raw, &stored) != nil || fmt.Sprint(stored["blocks"]) != "[2]" || fmt.Sprint(stored["metadata"]) != "map[z:y]" {
		t.Errorf("%s %v", raw, err)
	}
	b.ok("TaskUpdate", in{"taskId": "1", "status": "completed"})
	if got := b.ok("TaskList", in{}); !strings.Contains(got, "#2 [pending] do b\n") {
		t.Errorf("a completed task still blocks: %q", got)
	}
	b.ok("TaskUpdate", in{"taskId": "3", "status": "deleted"})
	if got := b.ok("TaskCreate", in{"subject": "new", "description": ""}); got != "Task #4 created successfully: new" {
		t.Errorf("an id was given again: %q", got)
	}
	if got := b.ok("TaskUpdate", in{"taskId": "9", "status": "completed"}); got != "Task not found" {
		t.Error(got)
	}
	if got := b.ok("TaskGet", in{"taskId": "../1"}); got != "Task not found" {
		t.Error(got)
	}
	b.bad("TaskUpdate", in{"taskId": "1", "addBlockedBy": []string{"2"}}, "circle")
	b.bad("TaskUpdate", in{"taskId": "1", "addBlocks": []string{"77"}}, "no task #77")
	b.bad("TaskUpdate", in{"taskId": "1", "addBlocks": []string{"1"}}, "itself")
	if got := b.ok("TaskGet", in{"taskId": "1"}); strings.Contains(got, "Blocked by") {
		t.Errorf("a refused change was stored: %q", got)
	}
}

func TestTasksSharedByWriters(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 4 {
		b := newBench(t, Config{Tasks: dir})
		wg.Go(func() {
			for i := range 10 {
				if r := b.run("TaskCreate", in{"subject": fmt.Sprint("s", i), "description": ""}); r.IsError {
					t.Error(text(r))
				}
			}
		})
	}
	wg.Wait()
	all, err := task.Board{Dir: dir}.Load()
	if err != nil || len(all) != 40 {
		t.Errorf("%d tasks, %v", len(all), err)
	}
	if err := os.WriteFile(filepath.Join(dir, "3.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, Config{Tasks: dir})
	b.bad("TaskList", in{}, "3.json is broken")
	b.bad("TaskCreate", in{"subject": "s", "description": ""}, "3.json is broken")
}
