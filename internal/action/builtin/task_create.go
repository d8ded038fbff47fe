package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hew-agent/hew/internal/action/task"
	"github.com/hew-agent/hew/internal/tool"
)

// offeredWithTasks is the condition of the tools of the shared task list.
const offeredWithTasks = "when the shared task list is switched on"

func newTaskCreate(c *Config) tool.Tool {
	type input struct {
		Subject     string                     `json:"subject"`
		Description string                     `json:"description"`
		ActiveForm  string                     `json:"activeForm"`
		Metadata    map[string]json.RawMessage `json:"metadata"`
	}
	spec := tool.Spec{Name: "TaskCreate", Condition: offeredWithTasks, Act: tool.ActThink}
	list := c.board()
	return define("task_create", spec, func(in input, _ tool.Env) (tool.Call, error) {
		return &tool.Func{
			Line: "Create task: " + oneLine(in.Subject),
			Do: func(ctx context.Context, _ func(tool.Progress)) tool.Result {
				t := &task.Item{
					Subject: in.Subject, Description: in.Description, ActiveForm: in.ActiveForm, Status: task.Open,
					Blocks: []string{}, BlockedBy: []string{}, Metadata: in.Metadata,
				}
				var view tool.View
				err := list.Change(ctx, func(all task.Items) (err error) {
					if t.ID, err = list.NextID(all); err != nil {
						return err
					}
					all[t.ID] = t
					view = taskView(all)
					return nil
				})
				if err != nil {
					return outcome(err)
				}
				if err := c.TaskWatch.created(ctx, t); err != nil { // asked without the lock: it may take long
					undo := list.Change(ctx, func(all task.Items) error { delete(all, t.ID); return nil })
					return outcome(errors.Join(err, undo))
				}
				return done(fmt.Sprintf("Task #%s created successfully: %s", t.ID, t.Subject),
					map[string]any{"task": map[string]string{"id": t.ID, "subject": t.Subject}}, view)
			},
		}, nil
	})
}
