package hook

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/tidwall/gjson"
)

const (
	// maxOutput is how many bytes of a hook's stdout and stderr are read: JSON
	// with texts at their limit fits, a flood does not.
	maxOutput = 1 << 20
	// maxVariable is the longest value given in the environment: Linux refuses
	// to start a program with one of 128 KiB.
	maxVariable = 96 << 10
)

// command runs a hook's program in a process group of its own. The payload
// comes on stdin; values are in the environment too, and never in the text of
// the command.
func (d *Dispatcher) command(ctx context.Context, h *loaded, o *occasion) answer {
	if d.c.Programs == nil {
		return unable("commands")
	}
	env := d.environ(h, o)
	argv, err := d.argv(h, env)
	if err != nil {
		return failure(err)
	}
	dir := o.session.Cwd
	if fsys.KindOf(dir) != fsys.KindDir { // removing the folder must not switch the hooks off
		dir = d.c.Project
	}
	res, err := d.c.Programs.Exec(ctx, shell.Program{
		Argv: argv, Dir: dir, Env: env, HideSecrets: d.c.HideSecrets, Stdin: o.payload, MaxOutput: maxOutput, Unconfined: true,
	})
	if err != nil {
		return failure(fmt.Errorf("start it: %w", err))
	}
	a := answer{stdout: string(res.Stdout), stderr: string(res.Stderr), exit: res.ExitCode}
	switch {
	case res.Interrupted || res.TimedOut:
		a.failure = "it was ended"
	case res.Signal != "":
		a.failure = "it was ended by " + res.Signal
	case res.Truncated && strings.HasPrefix(strings.TrimSpace(a.stdout), "{") && res.ExitCode != 2:
		a.failure = fmt.Sprintf("its output is longer than %d bytes", maxOutput)
	}
	return a
}

// argv is what to start: the shell with the command's line, or with args the
// program itself.
func (d *Dispatcher) argv(h *loaded, env map[string]string) ([]string, error) {
	if h.Args == nil {
		if h.Shell == "powershell" {
			path, err := d.powershell()
			return []string{path, "-NoProfile", "-NonInteractive", "-Command", h.Command}, err
		}
		return []string{d.c.Programs.Shell(), "-c", h.Command}, nil
	}
	name := substitute(h.Command, env)
	path, err := shell.LookPath(name, d.c.Environ)
	if err != nil {
		return nil, fmt.Errorf("find the program: %w", err)
	}
	argv := []string{path}
	for _, a := range h.Args {
		argv = append(argv, substitute(a, env))
	}
	return argv, nil
}

func (d *Dispatcher) powershell() (string, error) {
	path, err := shell.LookPath("pwsh", d.c.Environ)
	if err != nil {
		path, err = shell.LookPath("powershell", d.c.Environ)
	}
	if err != nil {
		return "", fmt.Errorf("find PowerShell: %w", err)
	}
	return path, nil
}

// substitute fills in the variables that hew sets; what the user's environment
// holds is none of a hook file's business.
func substitute(s string, env map[string]string) string {
	if !strings.Contains(s, "${") {
		return s
	}
	var pairs []string
	for name, value := range env {
		pairs = append(pairs, "${"+name+"}", value)
	}
	return strings.NewReplacer(pairs...).Replace(s)
}

// envFileEvents may set variables for later shell commands.
const envFileEvents = " SessionStart Setup CwdChanged FileChanged "

func (d *Dispatcher) environ(h *loaded, o *occasion) map[string]string {
	env := map[string]string{}
	for _, e := range d.c.Environ {
		if name, _, ok := strings.Cut(e, "="); ok && strings.HasPrefix(name, "OTEL_EXPORTER_") {
			env[name] = ""
		}
	}
	maps.Copy(env, h.Source.Env)
	env["CLAUDE_PROJECT_DIR"] = d.c.Project
	env["CLAUDE_CODE_SESSION_ID"] = o.session.ID
	env["CLAUDE_EFFORT"] = o.session.Effort
	env["CLAUDE_FILE_PATH"] = o.file()
	env["CLAUDE_TOOL_INPUT"] = string(o.fields["tool_input"])
	if h.Source.Root != "" {
		env["CLAUDE_PLUGIN_ROOT"], env["CLAUDE_PLUGIN_DATA"] = h.Source.Root, h.Source.Data
	}
	env["CLAUDE_ENV_FILE"] = ""
	if strings.Contains(envFileEvents, " "+o.row.Event+" ") {
		env["CLAUDE_ENV_FILE"] = d.c.EnvFile
	}
	for name, value := range env {
		if len(value) > maxVariable || strings.ContainsRune(value, 0) {
			env[name] = "" // it would keep the program from starting; stdin has it
		}
	}
	return env
}

// file is the path that an event is about, "" when there is none.
func (o *occasion) file() string {
	for _, path := range []string{"tool_input.file_path", "tool_input.notebook_path", "tool_input.path", "file_path"} {
		if v := gjson.GetBytes(o.payload, path); v.Type == gjson.String {
			return v.Str
		}
	}
	return ""
}
