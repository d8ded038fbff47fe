package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/backend/sandbox"
	"github.com/hew-agent/hew/internal/backend/shell"
)

// version is set by the linker.
var version = "dev"

// Version is hew's version as programs read it: three numbers first. A build
// from a commit without a tag is 0.0.0 with the commit's name.
func Version() string {
	v := strings.TrimPrefix(version, "v")
	if major, _, _ := strings.Cut(v, "."); major != "" && strings.Trim(major, "0123456789") == "" && v != major {
		return v
	}
	return "0.0.0-" + version
}

// Env is the process as app sees it, so that tests can stand in for it.
type Env struct {
	Args           []string
	Environ        []string
	Dir            string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// StdinTTY and StdoutTTY tell whether a terminal is at the other end.
	StdinTTY, StdoutTTY bool
	UID                 int
	// screen is Stdout without the escaping of foreign text, for what draws itself.
	screen io.Writer
}

// Process is the real process.
func Process() Env {
	dir, err := os.Getwd()
	if err != nil {
		dir = ""
	}
	return Env{
		Args: os.Args[1:], Environ: os.Environ(), Dir: dir, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		StdinTTY: isTerminal(os.Stdin), StdoutTTY: isTerminal(os.Stdout), UID: os.Getuid(),
	}
}

func isTerminal(f *os.File) bool {
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0 && st.Mode()&os.ModeDevice != 0 && f.Name() != os.DevNull
}

func (e Env) getenv(name string) string {
	for i := len(e.Environ) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(e.Environ[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// Exit codes. A signal's is 128 plus its number.
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 1 // the ecosystem's tools use 1 for a wrong command line, too
)

// command is one subcommand.
type command struct {
	name, args, help string
	run              func(e Env, args []string) error
	// raw commands pass on what programs print, byte for byte.
	raw bool
}

func commands() []command {
	return []command{
		{"demo", "[--keep]", "see hew at work on a bundled project, with a scripted model and no key", runDemo, true},
		{"tools", "[--json]", "list the tools and when each is offered", runTools, false},
		{"features", "[--json]", "list what this build or this run can be without, and what decides", runFeatures, false},
		{"models", "[--json] [--discover]", "list the models that hew knows, or with --discover those of servers on this machine", runModels, false},
		{"usage", "[--since WHEN] [--by model|project|day|agent|tool] [--json]", "add up what the transcripts of all projects say was used", runUsage, false},
		{"auth", "status|login|logout", "say which credential would be used, without showing it; log in at your login server, or out", runAuth, false},
		{"doctor", "", "check the installation and the settings; changes nothing", runDoctor, false},
		{"rewind", "SESSION [--to MESSAGE] [--files|--conversation] [--preview]", "take back what a session changed, said, or both", runRewind, false},
		{"context", "[--json] [--explain] [SESSION]", "show what fills the window of a session (without SESSION: the newest of this folder), and with --explain what was taken out of it and where it is", runContext, false},
		{"permissions", "list|explain CALL|test FILE", "show what decides about calls, explain one, judge case tables", runPermissions, false},
		{"sessions", "list|show|search|export|fork|rename|prune|redact", "look into past sessions and keep them in order; --help shows more", runSessions, false},
		{"hooks", "list|test EVENT", "list the hooks and why one does not run; try what an event runs", runHooks, false},
		{"config", "lint [--json]", "say what is wrong in settings, hooks, permission rules and keys", runConfig, false},
		{"memory", "list [--json]|path", "list the instruction files and notes of this folder and why each is read or not; say where the notes are", runMemory, false},
		{"team", "status [TEAM] [--json]", "show the members and tasks of teams of several hew processes", runTeam, false},
		{"agents", "list [--json]", "list the agents of this folder, where each comes from and what is wrong with it", runAgents, false},
		{"skills", "list [--json]", "list the skills and custom commands of this folder, where each comes from and what is wrong with it", runSkills, false},
		{"statusline", "[--json] [SESSION]", "run your status line command once, or with --json print what it reads", runStatusLine, false},
		{"trust", "[list] [--json]|accept|forget", "show what this folder would run or be granted, and agree to it or take that back", runTrust, false},
		{"mcp", "add|list|get|remove|approve|login|serve|…", "show and change MCP servers, log in to them; or be one", runMCP, true},
		{"acp", "[options]", "be an agent for an editor that speaks the Agent Client Protocol, on standard input and output", serveACP, true},
		{"serve", "[--listen ADDRESS] [--read-only] [options]", "show sessions to browsers and programs, on this machine or, with TLS and a password, on others", runServe, true},
		{"attach", "URL [--session ID | --cwd DIR] [-p PROMPT]", "work in a session that hew serve has on another machine; without -p list its sessions", runAttach, false},
		{"plugin", "install|list|update|validate|marketplace|…", "install plugins and marketplaces, switch them, check one; alone it shows more", runPlugin, false},
		{"sandbox", "status [--json]|run -- COMMAND", "say what this machine can confine commands with, or run one confined", runSandbox, true},
		{"auto-mode", "defaults|config", "print the rules of auto mode's classifier: hew's own, or those in force here", runAutoMode, false},
		{"completion", "bash|zsh|fish", "print a shell completion script", runCompletion, false},
		{"help", "[command]", "print this help", runHelp, false},
	}
}

// legible puts the escaping of foreign text between hew and a person's eyes: on
// standard error always, on standard output where a command shows or a terminal
// is at the other end. What a run writes into a pipe is data.
func (e *Env) legible() (stdout, stderr *plain.Writer) {
	shows, raw := false, false
	if len(e.Args) > 0 {
		for _, c := range commands() {
			shows, raw = shows || c.name == e.Args[0], raw || c.name == e.Args[0] && c.raw
		}
	}
	stdout, stderr = plain.NewWriter(e.Stdout), plain.NewWriter(e.Stderr)
	e.screen = e.Stdout
	if raw {
		return stdout, stderr
	}
	e.Stderr = stderr
	if shows || e.StdoutTTY {
		e.Stdout = stdout
	}
	return stdout, stderr
}

// failure is an error that has already been told; only the exit code is left.
type failure struct{ code int }

func (f *failure) Error() string { return fmt.Sprintf("exit code %d", f.code) }

// Main runs the program and returns its exit code.
func Main(e Env) (code int) {
	if code, mine := sandbox.Helper(e.Args); mine {
		return code
	}
	if code, mine := shell.Reap(e.Args); mine {
		return code
	}
	stdout, stderr := e.legible()
	err := dispatch(e)
	_ = stdout.Flush() // a last half of a character; its reader has gone anyway
	defer func() { _ = stderr.Flush() }()
	var f *failure
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &f):
		return f.code
	}
	fmt.Fprintln(e.Stderr, sentence(err))
	var u *usageError
	if errors.As(err, &u) {
		return exitUsage
	}
	return exitError
}

// sentence is an error as a person should see it.
func sentence(err error) string {
	var u *usageError
	if errors.As(err, &u) {
		return u.Error()
	}
	return "Error: " + err.Error()
}

func dispatch(e Env) error {
	if len(e.Args) > 0 {
		for _, c := range commands() {
			if c.name != e.Args[0] {
				continue
			}
			if asksHelp(e.Args[1:]) {
				return runHelp(e, e.Args[:1])
			}
			return c.run(e, e.Args[1:])
		}
	}
	o, err := parse(e.Args)
	if err != nil {
		return err
	}
	switch {
	case o.Help:
		return runHelp(e, nil)
	case o.Version:
		_, err := fmt.Fprintf(e.Stdout, "%s (hew)\n", Version())
		return err
	}
	if err := mistyped(e, o); err != nil {
		return err
	}
	if interactive(e, o) {
		return runTerminal(e, o)
	}
	return runPrompt(e, o)
}

// mistyped catches a subcommand that is spelled wrong, before it becomes a
// prompt that costs money.
func mistyped(e Env, o *Options) error {
	if len(e.Args) != 1 || o.Print || o.Prompt == "" || strings.ContainsAny(o.Prompt, " \n\t") || !e.StdinTTY {
		return nil
	}
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	if near := nearest(names, o.Prompt); near != "" {
		return &usageError{fmt.Sprintf("unknown command '%s'\n(Did you mean hew %s? To send the word as a prompt: hew -p %s)", o.Prompt, near, o.Prompt)}
	}
	return nil
}
