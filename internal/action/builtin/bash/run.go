package bash

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/sjson"

	"github.com/hew-agent/hew/internal/action/policy/shellread"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/tool"
)

const bashName = "Bash"

type bashInput struct {
	Command     string  `json:"command"`
	Timeout     float64 `json:"timeout"`
	Description string  `json:"description"`
	Background  bool    `json:"run_in_background"`
	Unsandboxed bool    `json:"dangerouslyDisableSandbox"`
}

func (s *Shell) newBash() tool.Tool {
	spec := tool.Spec{Name: bashName, MainField: "command", Always: true, MaxResult: s.maxResult()}
	description, schema := embedded("bash.md"), embedded("bash.json")
	var gone []string
	if s.c.Outside != nil {
		description = append(description, embedded("sandbox.md")...)
	}
	if s.c.Outside == nil || !s.c.MayAsk {
		gone = append(gone, "dangerouslyDisableSandbox")
	}
	if s.c.Background == WithBackground {
		description = append(description, embedded("background.md")...)
	} else {
		gone = append(gone, "run_in_background")
	}
	for _, name := range gone {
		var err error
		if schema, err = sjson.DeleteBytes(schema, "properties."+name); err != nil {
			panic(err) // a fault of the build, which any test shows
		}
	}
	return define(&s.c, spec, description, schema, s.plan)
}

// maxResult leaves the cutting to this tool: characters may be four bytes
// long, and notes follow the output.
func (s *Shell) maxResult() int { return max(tool.DefaultMaxResult, 4*s.c.MaxOutput+16<<10) }

func (s *Shell) plan(in bashInput, env tool.Env) (tool.Call, error) {
	if strings.TrimSpace(in.Command) == "" {
		return nil, &tool.InputError{Tool: bashName, Faults: []string{"The parameter `command` is empty"}}
	}
	if strings.ContainsRune(in.Command, 0) {
		return nil, &tool.InputError{Tool: bashName, Faults: []string{"The parameter `command` holds a NUL character, which no shell accepts; write it as an escape such as \\0"}}
	}
	c := &call{s: s, in: in, env: env, facts: s.c.Facts.Read(in.Command, s.c.Dialect)}
	c.title = title(in)
	c.carries = env.Agent == "" && s.c.Carry == CarryCwd
	return c, nil
}

// call is one command that may run.
type call struct {
	s       *Shell
	in      bashInput
	env     tool.Env
	facts   *shellread.Facts
	title   string
	carries bool // a new working directory outlives the command
}

func (c *call) Traits() tool.Traits {
	t := traits(c.facts, c.carries)
	// A job must not start before the reply is complete: were the reply taken
	// back, nobody would know of it.
	t.ConcurrencySafe = t.ConcurrencySafe && !c.in.Background
	t.Confined = c.confined()
	return t
}

func (c *call) Needs() []tool.Need {
	return []tool.Need{{Kind: tool.NeedExec, Command: c.in.Command}}
}

func (c *call) Title() string { return c.title }

func (c *call) Preview() tool.View { return tool.TerminalView{Command: visible(c.in.Command)} }

func (c *call) Run(ctx context.Context, emit func(tool.Progress)) tool.Result {
	if c.in.Background {
		return c.launch(ctx)
	}
	before := c.freshFiles()
	cmd := c.command(emit)
	if c.s.c.Background == WithBackground {
		leave, done := c.s.c.Tasks.Attend(c.env.Use)
		defer done()
		cmd.Leave = leave
	}
	o, err := c.s.c.Runner.Run(ctx, cmd)
	if err != nil {
		return c.notRun(err)
	}
	r := &report{c: c, o: o, changed: c.changedSince(before)}
	return r.result()
}

// command is what the Runner is asked to do.
func (c *call) command(emit func(tool.Progress)) shell.Command {
	cfg := &c.s.c
	cmd := shell.Command{
		Text: prefixed(cfg.Prefix, c.in.Command), Dir: c.env.Cwd, Env: cfg.Env, HideSecrets: cfg.HideSecrets, Sources: cfg.Sources,
		Timeout: c.timeout(), DetachLimit: movedLimit,
	}
	if cfg.Background == WithBackground {
		cmd.OnTimeout = atTimeout(c.in.Command, c.facts)
	}
	cmd.Unconfined = cfg.Outside != nil && !c.confined()
	if emit != nil {
		cmd.Progress = func(p shell.Progress) {
			emit(tool.Progress{Text: p.Tail, Bytes: p.Size, Elapsed: p.Elapsed.Milliseconds()})
		}
	}
	return cmd
}

// confined tells whether there is a sandbox and the command runs in it.
func (c *call) confined() bool {
	outside := c.s.c.Outside
	return outside != nil && !outside(c.in.Command, c.in.Unsandboxed)
}

// prefixed hands the command to a program of the user's: a path, which may
// hold blanks, and options from the first " -" on.
func prefixed(prefix, command string) string {
	if prefix == "" {
		return command
	}
	program, options, found := strings.Cut(prefix, " -")
	line := shell.Quote(program)
	if found {
		line += " -" + options
	}
	return line + " " + shell.Quote(command)
}

func (c *call) timeout() time.Duration {
	cfg := &c.s.c
	if c.in.Background {
		return limited(c.in.Timeout, defaultJob, maxJob)
	}
	return limited(c.in.Timeout, cfg.DefaultTimeout, cfg.MaxTimeout)
}

// limited reads a number of milliseconds, which a model may write as any number.
func limited(ms float64, def, limit time.Duration) time.Duration {
	switch {
	case !(ms >= 1):
		return def
	case ms >= float64(limit.Milliseconds()):
		return limit
	}
	return time.Duration(ms) * time.Millisecond
}

// notRun answers for a command that could not be started. A working directory
// that is gone would fail every later call, so the conversation leaves it.
func (c *call) notRun(err error) tool.Result {
	if errors.Is(err, shell.ErrClosed) {
		return tool.Failure("The command was not run: the session is ending.")
	}
	r := tool.Failure("The command was not run: " + err.Error())
	if c.env.Cwd != c.env.Project && c.env.Project != "" && fsys.KindOf(c.env.Cwd) != fsys.KindDir {
		r = tool.Failure(fmt.Sprintf("The command was not run: the working directory %s is gone. %s", fsys.Printable(c.env.Cwd), resetNote(c.env.Project)))
		r.Effects = []tool.Effect{tool.SetCwd{Dir: c.env.Project}}
	}
	return r
}

// settle decides where the conversation is after a command that ended in dir:
// there, when that is inside the working directories, else where it was told
// to be. note tells the model of a move that was not kept.
func (c *call) settle(dir string) (effects []tool.Effect, note string) {
	if dir == "" || samePlace(dir, c.env.Cwd) {
		return nil, ""
	}
	if !c.carries {
		return nil, resetNote(c.env.Cwd)
	}
	for _, root := range c.env.Roots {
		if real, err := fsys.Real(root); err == nil && fsys.Within(real, dir) {
			return []tool.Effect{tool.SetCwd{Dir: dir}}, ""
		}
	}
	if !samePlace(c.env.Project, c.env.Cwd) {
		effects = []tool.Effect{tool.SetCwd{Dir: c.env.Project}}
	}
	return effects, resetNote(c.env.Project)
}

func resetNote(dir string) string {
	return "Shell cwd was reset to " + fsys.Printable(dir)
}

func samePlace(a, b string) bool {
	if a == b {
		return true
	}
	realA, errA := fsys.Real(a)
	realB, errB := fsys.Real(b)
	return errA == nil && errB == nil && realA == realB
}

// maxTitle is where a title is cut, in characters.
const maxTitle = 120

// title is the description, or the first line of the command that says something.
func title(in bashInput) string {
	for _, text := range []string{in.Description, in.Command} {
		for line := range strings.Lines(visible(text)) {
			line = strings.Join(strings.Fields(line), " ")
			if line == "" {
				continue
			}
			if r := []rune(line); len(r) > maxTitle {
				line = string(r[:maxTitle-1]) + "…"
			}
			return line
		}
	}
	return bashName
}

// visible writes characters that a screen would obey, or not show, as escapes:
// nobody should approve a command that looks like another one.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == '\n' || r == '\t' || strconv.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
	}
	return b.String()
}
