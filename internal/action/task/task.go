// Package task is background work: state machine, output, notifications, shared task lists with file locks.
//
// A command in the background and a subagent in the background are the same
// thing to a conversation: work with an id, a state that ends once, output
// that can be read meanwhile, and one notice when it has ended.
package task

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/event"
)

// State is pending, running, completed, failed or killed; see shell.State for
// the only changes that exist.
type State = shell.State

// Status is a piece of work at one moment.
type Status struct {
	ID string
	// Kind is the ecosystem's word: local_bash, local_agent, …. Use is the id of
	// the call that began it.
	Kind, Use string
	// Title is what people call it, Command what a shell runs ("" for others).
	Title, Command string
	State          State
	// Ending says how it is with it, to stand after its name: "is still running",
	// "completed (exit code 0)".
	Ending string
	// Noun begins the sentence of its end: "Background command".
	Noun string
	// OutputFile is where its output stands. When Stream is set the output is
	// plain text that is read by offset, Size bytes by now; otherwise Report holds
	// what there is to say.
	OutputFile string
	Stream     bool
	Size       int64
	Report     string
	ExitCode   int
	// Watch tells that each line of output is an event; see List.Events.
	Watch bool
	// Left is the number of processes that it left running.
	Left int
	// Details are further elements of the notice, in order: name and text.
	Details [][2]string
	// Agent is what programs are told of a subagent, beside the fields above.
	Agent event.TaskChanged
}

// Changed is the state as programs hear of it; status is the word for it.
func (s Status) Changed(status string) event.TaskChanged {
	c := s.Agent
	c.ID, c.Kind, c.Use, c.Status, c.Summary, c.OutputFile = s.ID, s.Kind, s.Use, status, s.Title, s.OutputFile
	return c
}

// Work goes on in the background. It is safe for concurrent use.
type Work interface {
	ID() string
	Status() Status
	// Wait returns when the work is in a final state; an error says that ctx ended first.
	Wait(ctx context.Context) error
	// Stop ends it with everything that it started, and returns when it is gone.
	// Stopping what has ended ends only what it left running.
	Stop() error
}

// Notice says that a piece of work began or ended.
type Notice struct {
	TaskID, Use, Kind, Status string
	// Summary is one sentence for people.
	Summary    string
	OutputFile string
	// Text is for the model, to be put into the conversation as a user message
	// that no user wrote.
	Text string
	// Agent is as in Status.
	Agent event.TaskChanged
}

// Changed is the notice as programs hear of it.
func (n Notice) Changed() event.TaskChanged {
	c := n.Agent
	c.ID, c.Kind, c.Use, c.Status, c.Summary, c.OutputFile = n.TaskID, n.Kind, n.Use, n.Status, n.Summary, n.OutputFile
	return c
}

// entry is a piece of work and who knows what of it; guarded by List.mu.
type entry struct {
	Work
	read  int64 // bytes of output that the model was shown
	lost  bool  // its output cannot be watched any more
	told  bool  // the model knows that it has ended
	began bool  // Changes has told its beginning
	ended bool  // Changes has told its end
}

// List is the background work of one conversation. The zero value is ready;
// it is safe for concurrent use.
type List struct {
	mu      sync.Mutex
	entries []*entry // in order of start
	waiting []*waited
}

// Add takes up a piece of work.
func (l *List) Add(w Work) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, &entry{Work: w})
}

// Told says that the model learns of the end by itself: no notice follows.
func (l *List) Told(id string) {
	if e := l.entry(id); e != nil {
		l.know(e, true)
	}
}

// All lists the work in order of start, what has ended included.
func (l *List) All() []Work {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]Work, len(l.entries))
	for i, e := range l.entries {
		out[i] = e.Work
	}
	return out
}

// Find is the work of an id.
func (l *List) Find(id string) (Work, bool) {
	e := l.entry(id)
	if e == nil {
		return nil, false
	}
	return e.Work, true
}

func (l *List) entry(id string) *entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range slices.Backward(l.entries) { // an agent that goes on has its id again
		if e.ID() == id {
			return e
		}
	}
	return nil
}

// Notices returns, in order of start, one notice for each piece of work that
// has ended since the last call, unless the model has learned of its end by
// itself. All is announced at most once.
func (l *List) Notices() []Notice {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Notice
	for _, e := range l.entries {
		if e.told {
			continue
		}
		if st := e.Status(); st.State.Final() {
			e.told = true
			out = append(out, st.notice())
		}
	}
	return out
}

// Changes tells programs and people, not the model, what became of the work
// since the last call: each beginning, with Status running, and each end.
func (l *List) Changes() []Notice {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Notice
	for _, e := range l.entries {
		st := e.Status()
		if !e.began {
			e.began = true
			out = append(out, Notice{TaskID: st.ID, Use: st.Use, Kind: st.Kind, Status: string(shell.Running), Summary: st.Title, Agent: st.Agent})
		}
		if st.State.Final() && !e.ended {
			e.ended = true
			out = append(out, st.notice())
		}
	}
	return out
}

func (s Status) notice() Notice {
	n := Notice{
		Agent: s.Agent, TaskID: s.ID, Use: s.Use, Kind: s.Kind, Status: string(s.State), OutputFile: s.OutputFile,
		Summary: fmt.Sprintf("%s %q %s", s.Noun, s.Title, s.Ending),
	}
	var b strings.Builder
	b.WriteString("An automated event, not input from the user: a background task has ended.\n<task-notification>\n")
	rows := append([][2]string{
		{"task-id", n.TaskID},
		{"tool-use-id", n.Use},
		{"output-file", n.OutputFile},
		{"status", n.Status},
		{"summary", n.Summary},
	}, s.Details...)
	for _, e := range rows {
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

// Look is what a piece of work printed since the last look.
type Look struct {
	Status Status
	Text   string
	// Skipped is the number of bytes before Text that are left out because there
	// were more than the limit.
	Skipped int64
}

// Look shows what there is since the last look, at most limit bytes. When that
// is long, its end is what matters; all of it is in the file. The model knows
// of the end that it was shown.
func (l *List) Look(id string, limit int) (Look, error) {
	e := l.entry(id)
	if e == nil {
		return Look{}, fmt.Errorf("no background task has the id %q", id)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	st := e.Status() // asked first: what is read afterwards is then all
	if !st.Stream {
		e.told = e.told || st.State.Final()
		return Look{Status: st, Text: st.Report}, nil
	}
	from, skipped := e.read, int64(0)
	if st.Size-from > int64(limit) {
		skipped = st.Size - int64(limit) - from
		from += skipped
	}
	c, err := shell.ReadChunk(st.OutputFile, from, limit)
	if err != nil {
		return Look{Status: st}, err
	}
	out := c.Data
	for skipped > 0 && len(out) > 0 && !utf8.RuneStart(out[0]) {
		out, skipped = out[1:], skipped+1
	}
	e.read = c.Next
	if st.State.Final() && c.Next >= c.Size {
		e.told = true
	}
	return Look{st, strings.TrimRight(shell.Sanitize(out), "\n"), skipped}, nil
}

// String is the look in words for the model.
func (l Look) String() string {
	st := l.Status
	var b strings.Builder
	fmt.Fprintf(&b, "Task %s (%s) %s.", st.ID, st.Title, st.Ending)
	if st.Stream {
		fmt.Fprintf(&b, "\nOutput file: %s", st.OutputFile)
	}
	if st.Left > 0 {
		fmt.Fprintf(&b, "\nIt left %d processes running.", st.Left)
	}
	switch {
	case l.Text == "":
		b.WriteString("\nNo new output.")
	case l.Skipped > 0:
		fmt.Fprintf(&b, "\nNew output (its first %d bytes are left out here):\n%s", l.Skipped, l.Text)
	default:
		b.WriteString("\nNew output:\n" + l.Text)
	}
	return b.String()
}

// Facts is the look for programs, in the ecosystem's form.
func (l Look) Facts() map[string]any {
	st := l.Status
	facts := map[string]any{
		"task_id": st.ID, "task_type": st.Kind, "status": st.State, "description": st.Title, "output": l.Text,
	}
	retrieval := "success"
	if !st.State.Final() {
		retrieval = "not_ready"
	} else if st.Stream {
		facts["exitCode"] = st.ExitCode
	}
	return map[string]any{"retrieval_status": retrieval, "task": facts}
}

// Missing answers for an id that no work has, with those that run.
func (l *List) Missing(id string) string {
	text := fmt.Sprintf("No background task has the id %s.", fsys.Printable(id))
	var running []string
	for _, w := range l.All() {
		if st := w.Status(); !st.State.Final() {
			running = append(running, fmt.Sprintf("%s: %s (output: %s)", st.ID, st.Title, st.OutputFile))
		}
	}
	if len(running) == 0 {
		return text + " No background task is running."
	}
	return text + " Running:\n" + strings.Join(running, "\n")
}

// Stop ends a piece of work for the model, which needs no notice of what it
// did itself.
func (l *List) Stop(id string) error {
	e := l.entry(id)
	if e == nil {
		return fmt.Errorf("no background task has the id %q", id)
	}
	l.know(e, true)
	if err := e.Stop(); err != nil {
		l.know(e, false)
		return err
	}
	return nil
}

func (l *List) know(e *entry, told bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.told = told
}

// Idle waits until no work runs any more, or ctx ends; then it says what still runs.
func (l *List) Idle(ctx context.Context) error {
	for _, w := range l.All() {
		if err := w.Wait(ctx); err != nil {
			return fmt.Errorf("wait for background task %s: %w", w.ID(), err)
		}
	}
	return nil
}

// Close ends all work, and returns when it is gone.
func (l *List) Close() error {
	var faults []error
	for _, w := range l.All() {
		if !w.Status().State.Final() {
			faults = append(faults, w.Stop())
		}
	}
	return errors.Join(faults...)
}
