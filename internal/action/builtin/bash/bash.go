// Package bash holds the Bash tool and its background jobs.
//
// A command is judged by the facts that policy reads, runs through
// backend/shell, and answers with text that is bounded, harmless and honest:
// what was left out, what still runs and what it changed under the model's
// feet is said in the result.
package bash

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/action/policy/shellread"
	"github.com/hew-agent/hew/internal/action/task"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/tool"
)

//go:embed *.md *.json
var prose embed.FS

// Background says whether commands may go on in the background.
type Background int

// The choices. WithoutBackground is CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: a
// command that reaches its time limit is then ended, and the tools for jobs
// are not offered.
const (
	WithBackground Background = iota
	WithoutBackground
)

// Carry says whether a change of directory outlives its command.
type Carry int

// The choices. StayInProject is CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR.
const (
	CarryCwd Carry = iota
	StayInProject
)

// Config is what the tools need from outside. Zero fields get the defaults
// named with them. One conversation has one Shell; a child conversation gets
// its own, with the same Runner and Seen cloned.
type Config struct {
	// Runner runs the commands. Its output folder is where output files of
	// jobs stand, so the model must be allowed to read there. It is closed by
	// whoever made it. Required.
	Runner *shell.Runner
	// Facts remembers what command texts were read as; give the reader that
	// policy uses. Default: nothing is remembered.
	Facts *shellread.Reader
	// Dialect is the language of the Runner's shell, the same as policy is told.
	Dialect shellread.Shell
	// Seen is what the model has seen of which file. Default: nothing yet.
	Seen *fsys.ReadState
	// DefaultTimeout (BASH_DEFAULT_TIMEOUT_MS) is the time limit of a command
	// that names none, 2 min; MaxTimeout (BASH_MAX_TIMEOUT_MS) the longest it
	// may name, 10 min.
	DefaultTimeout, MaxTimeout time.Duration
	// MaxOutput (BASH_MAX_OUTPUT_LENGTH) is the number of characters of output
	// that a success shows, 30,000; at most 150,000.
	MaxOutput int
	// Tasks takes up the commands in the background. Default: a list of its own.
	Tasks *task.List
	// Sources are scripts read before each command (CLAUDE_ENV_FILE, files that
	// hooks wrote); missing ones are skipped.
	Sources []string
	// Prefix (CLAUDE_CODE_SHELL_PREFIX) is a program, or one with options, that
	// is given the whole command as its last argument.
	Prefix string
	// Env is laid over the inherited environment of commands.
	Env map[string]string
	// HideSecrets keeps keys of model providers from commands
	// (CLAUDE_CODE_SUBPROCESS_ENV_SCRUB).
	HideSecrets bool
	Background  Background
	Carry       Carry
	// Outside tells whether a command runs outside of the sandbox; wanted is
	// what the call itself asked for. Nil: there is no sandbox.
	Outside func(command string, wanted bool) bool
	// MayAsk offers the field by which a call asks to run outside.
	MayAsk bool
}

// Limits of time (tools.md §5). A job may be given more than the default, up
// to maxJob; a command that was moved to the background gets movedLimit more.
const (
	defaultTimeout = 2 * time.Minute
	longestTimeout = 10 * time.Minute
	defaultJob     = 30 * time.Minute
	maxJob         = 2 * time.Hour
	movedLimit     = 10 * time.Minute
)

// Sizes of what is shown, in characters, and what they cost at most.
const (
	defaultOutput = 30_000
	longestOutput = 150_000
	failedOutput  = 10_000
)

// Shell is the shell of one conversation. It is safe for concurrent use.
type Shell struct {
	c    Config
	tool tool.Tool
}

// New makes the shell and its tool. It starts nothing.
func New(c Config) *Shell {
	c.fill()
	s := &Shell{c: c}
	s.tool = s.newBash()
	return s
}

// Tool is the tool that runs commands.
func (s *Shell) Tool() tool.Tool { return s.tool }

func (c *Config) fill() {
	if c.Seen == nil {
		c.Seen = &fsys.ReadState{}
	}
	if c.Tasks == nil {
		c.Tasks = &task.List{}
	}
	if c.DefaultTimeout <= 0 {
		c.DefaultTimeout = defaultTimeout
	}
	if c.MaxTimeout <= 0 {
		c.MaxTimeout = longestTimeout
	}
	c.MaxTimeout = max(c.MaxTimeout, c.DefaultTimeout)
	if c.MaxOutput <= 0 {
		c.MaxOutput = defaultOutput
	}
	c.MaxOutput = min(c.MaxOutput, longestOutput)
}

// define completes a spec from its description and schema, with the limits of
// this session filled in, and makes the tool.
func define[In any](c *Config, spec tool.Spec, description, schema []byte, plan func(In, tool.Env) (tool.Call, error)) tool.Tool {
	fill := strings.NewReplacer(
		"{{default}}", strconv.FormatInt(c.DefaultTimeout.Milliseconds(), 10),
		"{{max}}", strconv.FormatInt(c.MaxTimeout.Milliseconds(), 10),
		"{{chars}}", strconv.Itoa(c.MaxOutput),
	)
	spec.Description = strings.TrimSpace(fill.Replace(string(description)))
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(fill.Replace(string(schema)))); err != nil {
		panic(fmt.Sprintf("schema of %s: %v", spec.Name, err)) // a fault of the build, which any test shows
	}
	spec.Schema, spec.Origin = compact.Bytes(), "builtin"
	return tool.Define(spec, plan)
}

func embedded(name string) []byte {
	text, err := prose.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return text
}
