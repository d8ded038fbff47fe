package bash

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/backend/fsys"
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
	read       int64  // bytes of output that the model was shown; guarded by Shell.mu
	told       bool   // the model knows that it has ended; guarded by Shell.mu
	began      bool   // Changes has told its beginning; guarded by Shell.mu
	ended      bool   // Changes has told its end; guarded by Shell.mu
}

// Notice says that a background command has ended.
type Notice struct {
	TaskID string
	// Use is the id of the call that started it.
	Use string
	// Kind is "local_bash".
	Kind string
	// Status is running, completed, failed or killed.
	Status string
	// Summary is one sentence for people.
	Summary    string
	OutputFile string
	// Text is for the model, to be put into the conversation as a user message
	// that no user wrote.
	Text string
}

func (s *Shell) list() []*job {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.jobs)
}

func (s *Shell) find(id string) (*job, bool) {
	for _, j := range s.list() {
		if j.ID() == id {
			return j, true
		}
	}
	return nil, false
}

func (s *Shell) adopt(c *call, j *shell.Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs = append(s.jobs, &job{Job: j, use: c.env.Use, title: c.title, command: c.in.Command})
}

// Notices returns, in order of start, one notice for each job that has ended
// since the last call, unless the model has learned of its end by itself.
// Every job is announced at most once.
func (s *Shell) Notices() []Notice {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Notice
	for _, j := range s.jobs {
		if j.told {
			continue
		}
		if st := j.Status(); st.State.Final() {
			j.told = true
			out = append(out, j.notice(st))
		}
	}
	return out
}

// Changes tells programs and people, not the model, what became of the jobs
// since the last call: each beginning, with Status running, and each end.
func (s *Shell) Changes() []Notice {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Notice
	for _, j := range s.jobs {
		if !j.began {
			j.began = true
			out = append(out, Notice{TaskID: j.ID(), Use: j.use, Kind: taskKind, Status: string(shell.Running), Summary: j.title})
		}
		if st := j.Status(); st.State.Final() && !j.ended {
			j.ended = true
			out = append(out, j.notice(st))
		}
	}
	return out
}

func (j *job) notice(st shell.JobStatus) Notice {
	n := Notice{
		TaskID: j.ID(), Use: j.use, Kind: taskKind, Status: string(st.State), OutputFile: st.OutputFile,
		Summary: fmt.Sprintf("Background command %q %s", j.title, ending(st)),
	}
	var b strings.Builder
	b.WriteString("An automated event, not input from the user: a background task has ended.\n<task-notification>\n")
	for _, e := range [][2]string{
		{"task-id", n.TaskID},
		{"tool-use-id", n.Use},
		{"output-file", n.OutputFile},
		{"status", n.Status},
		{"summary", n.Summary},
	} {
		if e[1] != "" {
			fmt.Fprintf(&b, "<%s>%s</%s>\n", e[0], escape(e[1]), e[0])
		}
	}
	b.WriteString("</task-notification>")
	n.Text = b.String()
	return n
}

// escape keeps text that a model or a command chose inside its element.
func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
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
	r.Data = encode(data{TaskID: j.ID()})
	r.View = tool.TerminalView{Command: visible(c.in.Command)}
	return r
}

// moved is the text for a command that reached its time limit and goes on.
func (r *report) moved() string {
	j := r.o.Detached
	r.c.s.adopt(r.c, j)
	r.keep, r.data.TaskID = true, j.ID()
	text := fmt.Sprintf("Command was moved to the background after %s with ID: %s. It still runs, for %s at most. Output is being written to: %s. You will be told when it ends.",
		seconds(r.c.timeout()), j.ID(), span(movedLimit), r.o.OutputFile)
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

// unknown answers for an id that no job has, with those that run.
func (s *Shell) unknown(id string) tool.Result {
	text := fmt.Sprintf("No background task has the id %s.", fsys.Printable(id))
	var running []string
	for _, j := range s.list() {
		if st := j.Status(); !st.State.Final() {
			running = append(running, fmt.Sprintf("%s: %s (output: %s)", j.ID(), j.title, st.OutputFile))
		}
	}
	if len(running) == 0 {
		return tool.Failure(text + " No background task is running.")
	}
	return tool.Failure(text + " Running:\n" + strings.Join(running, "\n"))
}

// textWithData is a result of one text with its structured form.
func textWithData(text string, d any) tool.Result {
	return tool.Result{Content: []msg.Block{msg.NewText(text)}, Data: encode(d), View: tool.TextView{Text: text}}
}
