package bash

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/action/task"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

const monitorName = "Monitor"

// Limits of a watch (tools.md §5).
const (
	defaultWatch = 5 * time.Minute
	longestWatch = 30 * time.Minute
)

type monitorInput struct {
	Description string  `json:"description"`
	Command     string  `json:"command"`
	Timeout     float64 `json:"timeout_ms"`
}

// Monitor is the tool that watches what a command prints. It is judged as the
// command is.
func (s *Shell) Monitor() tool.Tool {
	spec := tool.Spec{
		Name: monitorName, MainField: "command", Deferred: true,
		Condition: "when HEW_MORE_TOOLS names it and background tasks are not switched off",
	}
	return define(&s.c, spec, embedded("monitor.md"), embedded("monitor.json"), s.planMonitor)
}

func (s *Shell) planMonitor(in monitorInput, env tool.Env) (tool.Call, error) {
	// The command is checked and read as Bash's, of which it is the background form.
	c, err := s.plan(bashInput{Command: in.Command, Description: in.Description, Timeout: in.Timeout, Background: true}, env)
	if err != nil {
		return nil, err
	}
	limit := defaultWatch
	if in.Timeout > 0 {
		limit = min(time.Duration(in.Timeout)*time.Millisecond, longestWatch)
	}
	return &watch{c.(*call), limit}, nil
}

// watch is a command whose lines are events.
type watch struct {
	*call
	limit time.Duration
}

// Title is what people see.
func (w *watch) Title() string { return "Watch: " + w.title }

// Run starts the command.
func (w *watch) Run(ctx context.Context, _ func(tool.Progress)) tool.Result {
	cmd := w.command(nil)
	cmd.Timeout = w.limit
	j, err := w.s.c.Runner.Start(ctx, cmd)
	if ctx.Err() != nil && err != nil {
		return tool.Failure("The command was not started: the user interrupted.")
	}
	if err != nil {
		return w.notRun(err)
	}
	w.s.c.Tasks.Add(&watched{job{Job: j, use: w.env.Use, title: w.title, command: w.in.Command}})
	r := tool.Text(fmt.Sprintf("Watching with ID: %s, for %s at most. Each line that it prints reaches you as an event; end your turn when you have nothing else to do. All of it is written to: %s", j.ID(), span(w.limit), j.Status().OutputFile))
	r.Data, r.View = msg.Encode(data{TaskID: j.ID()}), tool.TerminalView{Command: visible(strings.TrimSpace(w.in.Command))}
	return r
}

// watched is a job whose lines are told.
type watched struct{ job }

// Status is the job, marked as watched.
func (w *watched) Status() task.Status {
	st := w.job.Status()
	st.Watch, st.Noun = true, "Watched command"
	return st
}
