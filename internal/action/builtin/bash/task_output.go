package bash

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/tool"
)

const taskOutputName = "TaskOutput"

type taskOutputInput struct {
	TaskID  string   `json:"task_id"`
	Block   *bool    `json:"block"`
	Timeout *float64 `json:"timeout"`
}

const (
	defaultWait = 30 * time.Second
	longestWait = 10 * time.Minute
)

func (s *Shell) newTaskOutput() tool.Tool {
	spec := tool.Spec{
		Name: taskOutputName, Aliases: []string{"BashOutput"},
		Condition: "unless background tasks are switched off", MaxResult: s.maxResult(),
	}
	t := define(&s.c, spec, embedded("task_output.md"), embedded("task_output.json"), func(in taskOutputInput, _ tool.Env) (tool.Call, error) {
		return &tool.Func{
			// Not safe to start early: a call that is taken back would have
			// swallowed the output that it read.
			Facts: tool.Traits{ReadOnly: true},
			Line:  "Read output of background task " + visible(strings.Join(strings.Fields(in.TaskID), " ")),
			Do:    func(ctx context.Context, _ func(tool.Progress)) tool.Result { return s.taskOutput(ctx, in) },
		}, nil
	})
	return renamed{t, "bash_id", "task_id"}
}

// renamed accepts the name that a parameter had in earlier versions of a tool.
type renamed struct {
	tool.Tool
	old, name string
}

func (r renamed) Plan(in json.RawMessage, env tool.Env) (tool.Call, error) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(in, &fields) == nil && fields[r.old] != nil && fields[r.name] == nil {
		fields[r.name] = fields[r.old]
		delete(fields, r.old)
		if again, err := json.Marshal(fields); err == nil {
			in = again
		}
	}
	return r.Tool.Plan(in, env)
}

func (s *Shell) taskOutput(ctx context.Context, in taskOutputInput) tool.Result {
	j, ok := s.find(in.TaskID)
	if !ok {
		return s.unknown(in.TaskID)
	}
	if in.Block == nil || *in.Block {
		wait := defaultWait
		if in.Timeout != nil {
			wait = limited(*in.Timeout, 0, longestWait)
		}
		timed, cancel := context.WithTimeout(ctx, wait)
		_, _ = j.Wait(timed) // what it is by then is asked below
		cancel()
	}
	if ctx.Err() != nil {
		return tool.Failure(fmt.Sprintf("The wait was interrupted; task %s %s.", j.ID(), ending(j.Status())))
	}
	return s.look(j)
}

// look shows what a job printed since the last look. When that is long, its
// end is what matters; all of it is in the file.
func (s *Shell) look(j *job) tool.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := j.Status() // asked first: what is read afterwards is then all
	limit := int64(s.c.MaxOutput)
	from, skipped := j.read, int64(0)
	if st.Size-from > limit {
		skipped = st.Size - limit - from
		from += skipped
	}
	c, err := shell.ReadChunk(st.OutputFile, from, int(limit))
	if err != nil {
		return tool.Failure(fmt.Sprintf("Task %s %s, but its output cannot be read: %v", j.ID(), ending(st), err))
	}
	out := c.Data
	for skipped > 0 && len(out) > 0 && !utf8.RuneStart(out[0]) {
		out, skipped = out[1:], skipped+1
	}
	shown := strings.TrimRight(shell.Sanitize(out), "\n")
	j.read = c.Next
	if st.State.Final() && c.Next >= c.Size {
		j.told = true
	}
	return j.answer(st, shown, skipped)
}

func (j *job) answer(st shell.JobStatus, shown string, skipped int64) tool.Result {
	var b strings.Builder
	fmt.Fprintf(&b, "Task %s (%s) %s.\nOutput file: %s", j.ID(), j.title, ending(st), st.OutputFile)
	if len(st.Left) > 0 {
		fmt.Fprintf(&b, "\nIt left %d processes running.", len(st.Left))
	}
	switch {
	case shown == "":
		b.WriteString("\nNo new output.")
	case skipped > 0:
		fmt.Fprintf(&b, "\nNew output (its first %d bytes are left out here):\n%s", skipped, shown)
	default:
		b.WriteString("\nNew output:\n" + shown)
	}
	task := map[string]any{
		"task_id": j.ID(), "task_type": taskKind, "status": st.State, "description": j.title, "output": shown,
	}
	retrieval := "success"
	if st.State.Final() {
		task["exitCode"] = st.ExitCode
	} else {
		retrieval = "not_ready"
	}
	return textWithData(b.String(), map[string]any{"retrieval_status": retrieval, "task": task})
}
