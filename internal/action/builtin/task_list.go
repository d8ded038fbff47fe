package builtin

import (
	"context"
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/action/task"
	"github.com/hew-agent/hew/internal/tool"
)

func newTaskList(c *Config) tool.Tool {
	spec := tool.Spec{Name: "TaskList", Condition: offeredWithTasks, Act: tool.ActThink}
	list := c.board()
	return define("task_list", spec, func(struct{}, tool.Env) (tool.Call, error) {
		return &tool.Func{
			Facts: tool.Traits{ReadOnly: true, ConcurrencySafe: true},
			Line:  "List tasks",
			Do: func(context.Context, func(tool.Progress)) tool.Result {
				all, err := list.Load()
				if err != nil {
					return outcome(err)
				}
				lines, rows := []string{}, []map[string]any{}
				for _, t := range all.Sorted() {
					waits := t.Waiting(all)
					lines = append(lines, line(t, waits))
					row := map[string]any{"id": t.ID, "subject": t.Subject, "status": t.Status, "blockedBy": waits}
					if t.Owner != "" {
						row["owner"] = t.Owner
					}
					rows = append(rows, row)
				}
				text := strings.Join(lines, "\n")
				if text == "" {
					text = "No tasks found"
				}
				return done(text, map[string]any{"tasks": rows}, taskView(all))
			},
		}, nil
	})
}

func line(t *task.Item, waits []string) string {
	s := fmt.Sprintf("#%s [%s] %s", t.ID, t.Status, t.Subject)
	if t.Owner != "" {
		s += " (" + t.Owner + ")"
	}
	if len(waits) > 0 {
		s += " [blocked by " + hashed(waits) + "]"
	}
	return s
}
