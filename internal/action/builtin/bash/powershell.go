package bash

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/tool"
)

const powerShellName = "PowerShell"

type powerShellInput struct {
	Command     string  `json:"command"`
	Timeout     float64 `json:"timeout"`
	Description string  `json:"description"`
}

// PowerShell is the tool that runs commands of the program at path, an absolute
// path of pwsh or powershell.
func (s *Shell) PowerShell(path string) tool.Tool {
	spec := tool.Spec{
		Name: powerShellName, MainField: "command", MaxResult: s.maxResult(),
		Condition: "on Windows where PowerShell is found, elsewhere when CLAUDE_CODE_USE_POWERSHELL_TOOL is 1 too",
	}
	return define(&s.c, spec, embedded("powershell.md"), embedded("powershell.json"), func(in powerShellInput, env tool.Env) (tool.Call, error) {
		if strings.TrimSpace(in.Command) == "" || strings.ContainsRune(in.Command, 0) {
			return nil, &tool.InputError{Tool: powerShellName, Faults: []string{"The parameter `command` is empty or holds a NUL character"}}
		}
		title := oneLineTitle(in)
		return &tool.Func{
			Line: title, Wants: powerShellNeeds(in.Command), Before: tool.TerminalView{Command: visible(in.Command)},
			Do: func(ctx context.Context, _ func(tool.Progress)) tool.Result { return s.powerShell(ctx, path, in, env) },
		}, nil
	})
}

func oneLineTitle(in powerShellInput) string {
	if in.Description != "" {
		return strings.Join(strings.Fields(in.Description), " ")
	}
	return strings.Join(strings.Fields(in.Command), " ")
}

// powerShellNeeds are the whole command and each of its parts: an allow rule
// must cover all of them, a deny rule one. PowerShell is not parsed; it is cut
// at everything that can begin another command, in quotes too, which asks more
// often than needed and never less.
func powerShellNeeds(command string) []tool.Need {
	needs := []tool.Need{{Kind: tool.NeedUse, Detail: command}}
	cut := func(r rune) bool { return strings.ContainsRune(";|&\r\n(){}`$@,=", r) }
	for _, part := range strings.FieldsFunc(command, cut) {
		part = strings.Trim(part, " \t\"'")
		if part != "" && part != command {
			needs = append(needs, tool.Need{Kind: tool.NeedUse, Detail: part})
		}
	}
	return needs
}

// powerShellArgv runs a text without the user's profile and without questions,
// which nobody could answer.
func powerShellArgv(path, command string) []string {
	return []string{path, "-NoLogo", "-NoProfile", "-NonInteractive", "-Command", command}
}

func (s *Shell) powerShell(ctx context.Context, path string, in powerShellInput, env tool.Env) tool.Result {
	limit := s.c.DefaultTimeout
	if in.Timeout > 0 {
		limit = min(time.Duration(in.Timeout)*time.Millisecond, s.c.MaxTimeout)
	}
	r, err := s.c.Runner.Exec(ctx, shell.Program{
		Argv: powerShellArgv(path, in.Command), Dir: env.Cwd, Env: s.c.Env, HideSecrets: s.c.HideSecrets, Timeout: limit,
	})
	switch {
	case err != nil:
		return tool.Failure(fmt.Sprintf("%s could not be started: %v", fsys.Printable(path), err))
	case r.Interrupted:
		return tool.Failure("The command was interrupted by the user.")
	}
	out := strings.TrimRight(shell.Sanitize(append(r.Stdout, r.Stderr...)), "\n")
	if n := s.c.MaxOutput; len(out) > n {
		out = strings.ToValidUTF8(out[:n], "") + "\n(the rest of the output is left out)"
	}
	view := tool.TerminalView{Command: visible(in.Command)}
	switch {
	case r.TimedOut:
		res := tool.Failure(fmt.Sprintf("The command was ended after %s.\n%s", seconds(limit), out))
		res.View = view
		return res
	case r.ExitCode != 0:
		res := tool.Failure(fmt.Sprintf("Exit code %d\n%s", r.ExitCode, out))
		res.View = view
		return res
	}
	res := tool.Text(out)
	res.View = view
	return res
}
