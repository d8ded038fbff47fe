// Package hew is the Go SDK: one prompt, or a conversation of many, in the process of the caller.
//
// It is the same engine that the program hew runs: the same tools, permission
// rules, hooks, sessions and transcripts, without a second process between.
// Query runs one prompt; Open makes a conversation. Both give an iterator of
// events whose last is Done.
package hew

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/wiring"
)

// Options say how a conversation is made. The zero value works: the current
// directory, the user's settings, the model and the credential that the
// environment and the settings name, and a refusal of every call that would ask.
type Options struct {
	// Dir is the working directory, "" for that of the process. Dirs are further ones.
	Dir  string
	Dirs []string
	// Env is the environment of the conversation and its commands, nil for that of
	// the process. It names the credential, the server and the configuration home.
	Env []string

	// Model is an alias or an id, "" for the settings'. Fallback are models to go on
	// with when it is not available. Effort is low, medium, high, xhigh, max or "".
	// script:FILE is the scripted model (docs/fakemodel.md), for tests.
	Model    string
	Fallback []string
	Effort   string
	// MaxTurns bounds the replies of a run, MaxUSD what the conversation may cost; 0
	// is no bound.
	MaxTurns int
	MaxUSD   float64

	// SystemPrompt replaces hew's own, AppendSystemPrompt follows it.
	SystemPrompt, AppendSystemPrompt string
	// Schema is a JSON schema that the answer of a run must fit; see Done.Output.
	Schema json.RawMessage

	// Tools are tools of the caller. BuiltIn names hew's own tools that exist; nil is
	// all, an empty list none.
	Tools   []Tool
	BuiltIn []string
	// Servers are MCP servers by name, as in a configuration file.
	Servers map[string]json.RawMessage
	// Agents are kinds of subagents by name.
	Agents map[string]Agent

	// Mode is the permission mode, "" for the settings'. Allow and Deny are rules,
	// such as "Bash(go test *)" or "Edit".
	Mode        string
	Allow, Deny []string
	// Permission is asked about calls that no rule decides; nil refuses them.
	Permission func(ctx context.Context, q Question) (Answer, error)
	// Hooks are called when something happens.
	Hooks []Hook

	// Settings are settings above those of the files: a JSON object or a file. Sources
	// are the files that are read, of user, project and local; nil is all, an empty
	// list none.
	Settings string
	Sources  []string

	// Resume is the id or the title of a session to go on with, Continue goes on with
	// the newest of the directory; Fork goes on with a copy. ID is the id of a new
	// session, "" for one that is made. NoTranscript writes nothing.
	Resume, ID     string
	Continue, Fork bool
	NoTranscript   bool
	// Trace gets a JSON line for each model call, decision, hook and tool, as the
	// option --trace of the program writes them. Optional.
	Trace io.Writer
	// Notice is told what a person should know and no event says. It may be called
	// from several goroutines. Optional.
	Notice func(text string)
}

// Agent is a kind of subagent.
type Agent struct {
	// Description tells the model when to use it.
	Description string `json:"description"`
	// Prompt is its system prompt.
	Prompt string `json:"prompt"`
	// Tools are those that it has, nil for all. Model is its model, "" for the
	// conversation's.
	Tools []string `json:"tools,omitempty"`
	Model string   `json:"model,omitempty"`
}

// Query runs one prompt in a conversation of its own, waits for the work that it
// left in the background, and closes the conversation. The last event is Done,
// also when the conversation could not be made; leaving the loop early interrupts
// the run.
func Query(ctx context.Context, prompt string, o Options) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		s, err := Open(ctx, o)
		if err != nil {
			yield(Done{Reason: Failed, Err: err})
			return
		}
		end, over := s.query(ctx, prompt, yield)
		for !over && end.Err == nil {
			m := s.conv.Next(ctx, wiring.Bounded)
			if m == nil {
				break
			}
			end, over = s.run(ctx, engine.Input{Message: m, Source: "automatic"}, yield)
		}
		if err := s.Close(); err != nil && end.Err == nil {
			end.Err = err
		}
		if !over {
			yield(end)
		}
	}
}

// Open makes a conversation. Nothing has been sent to a model, and for a new
// session nothing was written. The caller closes it.
func Open(ctx context.Context, o Options) (*Session, error) {
	w, err := o.wiring()
	if err != nil {
		return nil, err
	}
	conv, err := wiring.Open(ctx, w)
	if err != nil {
		return nil, err
	}
	conv.Ready(ctx)
	return &Session{conv: conv, w: w}, nil
}

// wiring are the options in the words of the engine.
func (o *Options) wiring() (*wiring.Options, error) {
	dir, env := o.Dir, o.Env
	if dir == "" {
		var err error
		if dir, err = os.Getwd(); err != nil {
			return nil, err
		}
	}
	if env == nil {
		env = os.Environ()
	}
	w := &wiring.Options{
		Version: version(), Entrypoint: "sdk-go", Environ: env, Cwd: dir, Root: os.Getuid() == 0, Embedded: true,
		Model: o.Model, Fallback: o.Fallback, Effort: o.Effort, MaxTurns: o.MaxTurns, MaxBudget: o.MaxUSD,
		SystemPrompt: o.SystemPrompt, SystemGiven: o.SystemPrompt != "", AppendPrompt: o.AppendSystemPrompt, Schema: o.Schema,
		Tools: o.BuiltIn, ToolsGiven: o.BuiltIn != nil, Allowed: o.Allow, Disallowed: o.Deny, AddDirs: o.Dirs, Mode: o.Mode,
		Settings: o.Settings, Sources: "user,project,local", Notice: o.Notice,
		Resume: o.Resume, SessionID: o.ID, Continue: o.Continue, Fork: o.Fork, NoPersist: o.NoTranscript,
		Now: time.Now, Sleep: engine.Sleep, Jitter: rand.Float64, NewID: session.NewID,
	}
	if o.Sources != nil {
		w.Sources = strings.Join(o.Sources, ",")
	}
	if o.Trace != nil {
		w.Trace = engine.NewTracer(o.Trace, time.Now).Event
	}
	if o.Permission != nil {
		w.Asker, w.Interactive = asker(o.Permission), true
	}
	var err error
	if w.Own, err = ownTools(o.Tools); err != nil {
		return nil, err
	}
	if w.HostHooks, w.HookCallback, err = hooks(o.Hooks); err != nil {
		return nil, err
	}
	return w, o.parts(w)
}

// parts are what the engine takes as JSON.
func (o *Options) parts(w *wiring.Options) error {
	if len(o.Servers) > 0 {
		raw, err := json.Marshal(map[string]any{"mcpServers": o.Servers})
		if err != nil {
			return errors.Join(errors.New("the configuration of the MCP servers is no JSON"), err)
		}
		w.Servers = []string{string(raw)}
	}
	if len(o.Agents) > 0 {
		raw, err := json.Marshal(o.Agents)
		if err != nil {
			return err // texts: cannot fail
		}
		w.Agents = string(raw)
	}
	return nil
}

// version is that of the module in the caller's program.
func version() string {
	const path = "github.com/hew-agent/hew"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "0.0.0-dev"
	}
	for _, m := range append(info.Deps, &info.Main) {
		if v := strings.TrimPrefix(m.Version, "v"); m.Path == path && v != "" && v[0] >= '0' && v[0] <= '9' {
			return v
		}
	}
	return "0.0.0-dev"
}
