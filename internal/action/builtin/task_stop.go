package builtin

import (
	"context"
	"fmt"

	"github.com/hew-agent/hew/internal/tool"
)

type taskStopInput struct {
	TaskID string `json:"task_id"`
}

func newTaskStop(c *Config) tool.Tool {
	spec := tool.Spec{Name: "TaskStop", Aliases: []string{"KillShell"}, Condition: "unless background tasks are switched off", Deferred: true}
	t := define("task_stop", spec, func(in taskStopInput, _ tool.Env) (tool.Call, error) {
		return &tool.Func{
			Line: "Stop background task " + oneLine(in.TaskID),
			Do:   func(context.Context, func(tool.Progress)) tool.Result { return c.taskStop(in.TaskID) },
		}, nil
	})
	return renamed{t, map[string]string{"shell_id": "task_id"}}
}

func (c *Config) taskStop(id string) tool.Result {
	w, ok := c.Background.Find(id)
	if !ok {
		return tool.Failure(c.Background.Missing(id))
	}
	if st := w.Status(); st.State.Final() && st.Left == 0 {
		return tool.Failure(fmt.Sprintf("Task %s is not running: it %s.", id, st.Ending))
	}
	if err := c.Background.Stop(id); err != nil {
		return tool.Failure(fmt.Sprintf("Task %s could not be stopped: %v", id, err))
	}
	st := w.Status()
	text := fmt.Sprintf("Task %s (%s) %s. Its output is in %s", id, st.Title, st.Ending, st.OutputFile)
	return done(text, map[string]any{"message": text, "task_id": id, "task_type": st.Kind, "command": st.Command}, tool.TextView{Text: text})
}
