package builtin

import (
	"context"
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/action/task"
	"github.com/hew-agent/hew/internal/tool"
)

// noTask is what a missing task is called; it is an answer, not an error.
const noTask = "Task not found"

func newTaskGet(c *Config) tool.Tool {
	type input struct {
		TaskID string `json:"taskId"`
	}
	spec := tool.Spec{Name: "TaskGet", Condition: offeredWithTasks, Act: tool.ActThink}
	list := c.board()
	return define("task_get", spec, func(in input, _ tool.Env) (tool.Call, error) {
		return &tool.Func{
			Facts: tool.Traits{ReadOnly: true, ConcurrencySafe: true},
			Line:  oneLine("Show task #" + in.TaskID),
			Do: func(context.Context, func(tool.Progress)) tool.Result {
				all, err := list.Load()
				if err != nil {
					return outcome(err)
				}
				t := all[strings.TrimPrefix(in.TaskID, "#")]
				if t == nil {
					return done(noTask, map[string]any{"task": nil}, tool.TextView{Text: noTask})
				}
				text := full(t, all)
				return done(text, map[string]any{"task": map[string]any{
					"id": t.ID, "subject": t.Subject, "description": t.Description, "status": t.Status, "blocks": t.Blocks, "blockedBy": t.BlockedBy,
				}}, tool.TextView{Text: text})
			},
		}, nil
	})
}

func full(t *task.Item, all task.Items) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Task #%s: %s\nStatus: %s", t.ID, t.Subject, t.Status)
	if t.Owner != "" {
		fmt.Fprintf(&b, "\nOwner: %s", t.Owner)
	}
	fmt.Fprintf(&b, "\nDescription: %s", t.Description)
	if w := t.Waiting(all); len(w) > 0 {
		fmt.Fprintf(&b, "\nBlocked by: %s", hashed(w))
	}
	if len(t.Blocks) > 0 {
		fmt.Fprintf(&b, "\nBlocks: %s", hashed(t.Blocks))
	}
	return b.String()
}
