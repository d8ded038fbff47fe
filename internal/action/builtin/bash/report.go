package bash

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// noOutput is the ecosystem's text for a command that printed nothing.
const noOutput = "(Bash completed with no output)"

// data is the structured result of the ecosystem (tool_use_result). Sizes are bytes.
type data struct {
	Stdout        string `json:"stdout"`
	Stderr        string `json:"stderr"` // always empty: both go where they would on a screen
	Interrupted   bool   `json:"interrupted"`
	IsImage       bool   `json:"isImage"`
	ExitCode      *int   `json:"exitCode,omitempty"`
	Meaning       string `json:"returnCodeInterpretation,omitempty"`
	TaskID        string `json:"backgroundTaskId,omitempty"`
	PersistedPath string `json:"persistedOutputPath,omitempty"`
	PersistedSize int64  `json:"persistedOutputSize,omitempty"`
}

// report turns the end of a foreground command into a result.
type report struct {
	c       *call
	o       shell.Outcome
	changed []string // files that the model had read

	data  data
	notes []string // lines after the output
	keep  bool     // the output file is still of use
}

func (r *report) result() tool.Result {
	text, failed := r.text()
	effects, note := r.settle()
	r.note(note)
	r.note(r.left())
	if r.o.OutputErr != nil {
		r.note(fmt.Sprintf("Some of the output was lost: %v", r.o.OutputErr))
	}
	if !r.keep && r.o.OutputFile != "" {
		_ = os.Remove(r.o.OutputFile) // it is in a private folder that goes when the session ends
	}
	if len(r.notes) > 0 {
		text += "\n" + strings.Join(r.notes, "\n")
	}
	res := tool.Result{
		Content: []msg.Block{msg.NewText(text)}, Data: msg.Encode(r.data), Effects: effects, IsError: failed,
		View: tool.TerminalView{Command: visible(r.c.in.Command), Output: r.data.Stdout, ExitCode: r.o.ExitCode},
	}
	if failed && r.c.confined() && refusal(r.data.Stdout) {
		res.Held = "sandbox"
	}
	if len(r.changed) > 0 {
		res.Content = append(res.Content, msg.NewText("<system-reminder>"+r.c.changedNote(r.changed)+"</system-reminder>"))
	}
	return res
}

// refusal tells whether output holds the words of a system call that a sandbox
// refuses: the kernel's, or the relay's status. A boundary says no by errno and
// has no voice of its own.
func refusal(output string) bool {
	for _, words := range []string{"Read-only file system", "Operation not permitted", "Permission denied", "403"} {
		if strings.Contains(output, words) {
			return true
		}
	}
	return false
}

func (r *report) note(s string) {
	if s != "" {
		r.notes = append(r.notes, s)
	}
}

func (r *report) settle() ([]tool.Effect, string) {
	if r.o.Detached != nil || r.o.Interrupted || r.o.TimedOut || r.o.Overflow {
		return nil, ""
	}
	return r.c.settle(r.o.Cwd)
}

// text is the main part of the result, by how the command ended.
func (r *report) text() (text string, failed bool) {
	o := &r.o
	r.data.Interrupted = o.Interrupted
	if o.ExitCode >= 0 {
		r.data.ExitCode = &o.ExitCode
	}
	switch {
	case o.Detached != nil:
		return r.moved(), false
	case o.Interrupted:
		return r.ended("The command was interrupted before it was done; it may be partly done."), true
	case o.TimedOut:
		return r.coded(143, fmt.Sprintf("Command timed out after %s and was ended", seconds(r.c.timeout()))), true
	case o.Overflow:
		return r.coded(o.ExitCode, "The command was ended because it wrote more than 5 GB of output"), true
	case o.ExitCode == 0:
		return r.success(), false
	case o.ExitCode == 1:
		if text, ok := r.benign(); ok {
			return text, false
		}
	}
	return r.coded(o.ExitCode, ""), true
}

// coded is the text of a failure: the code first, then the ends of the output.
func (r *report) coded(code int, why string) string {
	r.data.ExitCode = &code
	lines := []string{fmt.Sprintf("Exit code %d", code), why, r.ends(failedOutput)}
	return strings.Join(slices.DeleteFunc(lines, func(s string) bool { return s == "" }), "\n")
}

// ended is the text for a command without an exit code of its own.
func (r *report) ended(why string) string {
	if out := r.ends(failedOutput); out != "" {
		return out + "\n" + why
	}
	return why
}

// ends is the beginning and the end of the output, n bytes at most.
func (r *report) ends(n int) string {
	if r.o.OutputFile == "" || r.o.Size == 0 {
		return ""
	}
	e, err := shell.ReadExcerpt(r.o.OutputFile, n/2, n/2)
	if err != nil {
		r.note(fmt.Sprintf("The output cannot be shown: %v", err))
		return ""
	}
	r.data.Stdout = strings.TrimRight(e.Text(), "\n")
	return r.data.Stdout
}

func (r *report) benign() (string, bool) {
	first, err := shell.ReadExcerpt(r.o.OutputFile, failedOutput, 0)
	if err != nil {
		return "", false
	}
	meaning, ok := benign(r.c.in.Command, string(first.Head))
	if !ok {
		return "", false
	}
	r.data.Meaning = meaning
	text := r.success()
	r.note("(exit code 1: " + meaning + ")")
	return text, true
}

// success shows the output, or where it is when it is long.
func (r *report) success() string {
	limit := r.c.s.c.MaxOutput
	e, err := shell.ReadExcerpt(r.o.OutputFile, 4*limit, 0)
	if err != nil {
		return fmt.Sprintf("The command succeeded, but its output cannot be shown: %v", err)
	}
	shown := e.Text()
	if e.Omitted > 0 || utf8.RuneCountInString(shown) > limit {
		return r.persisted(shell.Sanitize(clip(e.Head, previewBytes)))
	}
	if r.o.ExitCode == 0 {
		r.c.noteView(shown)
	}
	r.data.Stdout = strings.TrimRight(shown, "\n")
	if strings.TrimSpace(shown) == "" {
		r.data.Stdout = ""
		return noOutput
	}
	return r.data.Stdout
}

// previewBytes is how much of a long output is shown; the ecosystem shows 2 KB.
const previewBytes = 2000

// persisted saves a long output where it outlives the process; when that fails
// it stays in the file that the command wrote.
func (r *report) persisted(preview string) string {
	path, size := r.o.OutputFile, r.o.Size
	if saved, n, err := r.save(); err == nil {
		path, size = saved, n
	} else {
		r.keep = true
		r.note(fmt.Sprintf("The output could not be kept for later sessions: %v", err))
	}
	r.data.Stdout, r.data.PersistedPath, r.data.PersistedSize = preview, path, size
	which := "Full output saved to"
	if size < r.o.Size {
		which = fmt.Sprintf("The first %s of it saved to", amount(size))
	}
	return fmt.Sprintf("<persisted-output>\nOutput too large (%s). %s: %s\n\nPreview (first 2KB):\n%s\n...\n</persisted-output>",
		amount(r.o.Size), which, path, strings.TrimRight(preview, "\n"))
}

func (r *report) save() (path string, size int64, err error) {
	dir := r.c.env.SpillDir
	if dir == "" {
		r.keep = true
		return r.o.OutputFile, r.o.Size, nil
	}
	return shell.SaveCopy(r.o.OutputFile, dir)
}

func clip(b []byte, n int) []byte {
	if len(b) <= n {
		return b
	}
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return b[:n]
}

func amount(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1fGB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1fMB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1fKB", float64(n)/1024)
}

// seconds writes a time limit as people do.
func seconds(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%g s", d.Round(100*time.Millisecond).Seconds())
}

// left names what the command started and did not wait for. Its output goes on
// into the file.
func (r *report) left() string {
	if len(r.o.Left) == 0 {
		return ""
	}
	names := make([]string, 0, len(r.o.Left))
	for _, p := range r.o.Left {
		names = append(names, fmt.Sprintf("%s (pid %d)", fsys.Printable(p.Name), p.PID))
	}
	r.keep = true
	return fmt.Sprintf("Still running: %s. It ends with the session, or with kill; what it prints goes to %s", strings.Join(names, ", "), r.o.OutputFile)
}
