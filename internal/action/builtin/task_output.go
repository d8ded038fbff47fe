package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hew-agent/hew/internal/tool"
)

type taskOutputInput struct {
	TaskID  string   `json:"task_id"`
	Block   *bool    `json:"block"`
	Timeout *float64 `json:"timeout"`
}

const (
	defaultWait = 30 * time.Second
	longestWait = 10 * time.Minute
)

func newTaskOutput(c *Config) tool.Tool {
	spec := tool.Spec{
		Name: "TaskOutput", Aliases: []string{"BashOutput"},
		Deferred:  true,
		Condition: "unless background tasks are switched off",
		MaxResult: max(tool.DefaultMaxResult, 4*c.Limits.TaskOutput+16<<10),
	}
	t := define("task_output", spec, func(in taskOutputInput, _ tool.Env) (tool.Call, error) {
		return &tool.Func{
			// Not safe to start early: a call that is taken back would have
			// swallowed the output that it read.
			Facts: tool.Traits{ReadOnly: true},
			Line:  "Read output of background task " + oneLine(in.TaskID),
			Do:    func(ctx context.Context, _ func(tool.Progress)) tool.Result { return c.taskOutput(ctx, in) },
		}, nil
	})
	return renamed{t, map[string]string{"bash_id": "task_id", "agentId": "task_id"}}
}

// renamed accepts the names that a parameter had in earlier versions of a tool.
type renamed struct {
	tool.Tool
	names map[string]string // old to new
}

// Plan plans with the names of today.
func (r renamed) Plan(in json.RawMessage, env tool.Env) (tool.Call, error) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(in, &fields) == nil {
		for old, name := range r.names {
			if fields[old] != nil && fields[name] == nil {
				fields[name] = fields[old]
				delete(fields, old)
			}
		}
		if again, err := json.Marshal(fields); err == nil {
			in = again
		}
	}
	return r.Tool.Plan(in, env)
}

func (c *Config) taskOutput(ctx context.Context, in taskOutputInput) tool.Result {
	w, ok := c.Background.Find(in.TaskID)
	if !ok {
		return tool.Failure(c.Background.Missing(in.TaskID))
	}
	if in.Block == nil || *in.Block {
		wait := defaultWait
		if in.Timeout != nil {
			wait = min(max(time.Duration(*in.Timeout)*time.Millisecond, 0), longestWait)
		}
		timed, cancel := context.WithTimeout(ctx, wait)
		_ = w.Wait(timed) // what it is by then is asked below
		cancel()
	}
	if ctx.Err() != nil {
		return tool.Failure(fmt.Sprintf("The wait was interrupted; task %s %s.", w.ID(), w.Status().Ending))
	}
	look, err := c.Background.Look(w.ID(), c.Limits.TaskOutput)
	if err != nil {
		return tool.Failure(fmt.Sprintf("Task %s %s, but its output cannot be read: %v", w.ID(), w.Status().Ending, err))
	}
	return done(look.String(), look.Facts(), tool.TextView{Text: look.String()})
}
