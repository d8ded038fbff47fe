package bash

import (
	"context"
	"fmt"
	"time"

	"github.com/hew-agent/hew/internal/action/task"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// taskKind is the ecosystem's name for commands in the background.
const taskKind = "local_bash"

// job is a background command of this conversation.
type job struct {
	*shell.Job
	use, title string
	command    string // as the model wrote it
}

// Status is the job as background work.
func (j *job) Status() task.Status {
	st := j.Job.Status()
	return task.Status{
		ID: st.ID, Kind: taskKind, Use: j.use, Title: j.title, Command: j.command, State: st.State, Ending: ending(st),
		Noun: "Background command", OutputFile: st.OutputFile, Stream: true, Size: st.Size, ExitCode: st.ExitCode, Left: len(st.Left),
	}
}

// Wait returns when the job has ended.
func (j *job) Wait(ctx context.Context) error {
	_, err := j.Job.Wait(ctx)
	return err
}

func (s *Shell) adopt(c *call, j *shell.Job) {
	s.c.Tasks.Add(&job{Job: j, use: c.env.Use, title: c.title, command: c.in.Command})
}

// ending says how a job ended.
func ending(st shell.JobStatus) string {
	switch st.State {
	case shell.Completed:
		return "completed (exit code 0)"
	case shell.Failed:
		return fmt.Sprintf("failed with exit code %d", st.ExitCode)
	case shell.Killed:
		return "was " + killed(st.Cause)
	case shell.Pending, shell.Running:
	}
	return "is still running"
}

func killed(c shell.Cause) string {
	switch c {
	case shell.CauseTimeout:
		return "ended at its time limit"
	case shell.CauseOverflow:
		return "ended because it wrote more than 5 GB of output"
	case shell.CauseStopped, shell.CauseInterrupt, shell.CauseNone:
	}
	return "stopped"
}

// launch starts a command in the background.
func (c *call) launch(ctx context.Context) tool.Result {
	j, err := c.s.c.Runner.Start(ctx, c.command(nil))
	if ctx.Err() != nil && err != nil {
		return tool.Failure("The command was not started: the user interrupted.")
	}
	if err != nil {
		return c.notRun(err)
	}
	c.s.adopt(c, j)
	file := j.Status().OutputFile
	r := tool.Text(fmt.Sprintf("Command running in background with ID: %s. Output is being written to: %s. You will be told when it ends; it is stopped after %s.", j.ID(), file, span(c.timeout())))
	r.Data = msg.Encode(data{TaskID: j.ID()})
	r.View = tool.TerminalView{Command: visible(c.in.Command)}
	return r
}

// moved is the text for a command that goes on without its call: it reached its
// time limit, or somebody asked for that.
func (r *report) moved() string {
	j := r.o.Detached
	r.c.s.adopt(r.c, j)
	r.keep, r.data.TaskID = true, j.ID()
	when := "at the user's request"
	if r.o.TimedOut {
		when = "after " + seconds(r.c.timeout())
	}
	text := fmt.Sprintf("Command was moved to the background %s with ID: %s. It still runs, for %s at most. Output is being written to: %s. You will be told when it ends.",
		when, j.ID(), span(movedLimit), r.o.OutputFile)
	if out := r.ends(failedOutput); out != "" {
		text += "\nOutput so far:\n" + out
	}
	return text
}

func span(d time.Duration) string {
	switch {
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return seconds(d)
}
