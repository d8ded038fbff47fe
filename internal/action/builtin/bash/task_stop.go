package bash

import (
	"context"
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/tool"
)

const taskStopName = "TaskStop"

type taskStopInput struct {
	TaskID string `json:"task_id"`
}

func (s *Shell) newTaskStop() tool.Tool {
	spec := tool.Spec{Name: taskStopName, Aliases: []string{"KillShell"}, Condition: "unless background tasks are switched off"}
	t := define(&s.c, spec, embedded("task_stop.md"), embedded("task_stop.json"), func(in taskStopInput, _ tool.Env) (tool.Call, error) {
		return &tool.Func{
			Line: "Stop background task " + visible(strings.Join(strings.Fields(in.TaskID), " ")),
			Do:   func(context.Context, func(tool.Progress)) tool.Result { return s.taskStop(in.TaskID) },
		}, nil
	})
	return renamed{t, "shell_id", "task_id"}
}

func (s *Shell) taskStop(id string) tool.Result {
	j, ok := s.find(id)
	if !ok {
		return s.unknown(id)
	}
	if st := j.Status(); st.State.Final() && len(st.Left) == 0 {
		return tool.Failure(fmt.Sprintf("Task %s is not running: it %s.", id, ending(st)))
	}
	s.know(j, true) // first: nobody needs a notice of what the model did itself
	if err := j.Stop(); err != nil {
		s.know(j, false)
		return tool.Failure(fmt.Sprintf("Task %s could not be stopped: %v", id, err))
	}
	st := j.Status()
	text := fmt.Sprintf("Task %s (%s) %s. Its output is in %s", id, j.title, ending(st), st.OutputFile)
	return textWithData(text, map[string]any{"message": text, "task_id": id, "task_type": taskKind, "command": j.command})
}

func (s *Shell) know(j *job, told bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.told = told
}
