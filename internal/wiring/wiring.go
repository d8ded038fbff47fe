// Package wiring holds tools + providers + state → Engine; imported by `app` and by the public package `hew`.
//
// Everything concrete is chosen here, once, at start: which provider, which
// tools, which session. What comes out is an engine that knows none of them.
package wiring

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/action/builtin"
	"github.com/hew-agent/hew/internal/action/gate"
	"github.com/hew-agent/hew/internal/action/hook"
	"github.com/hew-agent/hew/internal/action/policy/shellread"
	"github.com/hew-agent/hew/internal/action/task"
	"github.com/hew-agent/hew/internal/backend/credential"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/mcp"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/core/command"
	"github.com/hew-agent/hew/internal/core/compact"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/catalog"
	"github.com/hew-agent/hew/internal/state/memory"
	"github.com/hew-agent/hew/internal/state/plugin"
	"github.com/hew-agent/hew/internal/state/prompt"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/state/settings"
	"github.com/hew-agent/hew/internal/state/trust"
	"github.com/hew-agent/hew/internal/tool"
)

// Options say what the caller wants. Env, Cwd, Version and the clock fields
// are required.
type Options struct {
	Version, Entrypoint string
	// Environ is the process's environment, Cwd its directory.
	Environ []string
	Cwd     string
	// Root tells that the process has the rights of the superuser.
	Root bool

	Continue, Fork, NoPersist bool
	// Resume names the session to go on with, by id or title.
	Resume, SessionID, Name string
	// ResumeAt is the id of the message behind which a resumed conversation ends, ""
	// for all of it. DropsTurn is the id of the one prompt that may stand behind it.
	ResumeAt, DropsTurn string
	// Interactive tells that somebody can answer questions; Asker reaches them.
	Interactive bool
	Asker       gate.Asker
	// Defers tells that the process ends with its run and can be started again: a
	// hook may put a call off until then.
	Defers bool
	// Lends tells that a program drives hew, which may continue the session in
	// another process while this one waits; see session.Log.Lend.
	Lends bool
	// Setup is the trigger of the Setup hooks that run before the session's start:
	// init, maintenance, or "" for none.
	Setup string
	// Forms puts the forms of MCP servers to somebody; nil when nobody is there.
	Forms event.Filler

	// Servers are the values of --mcp-config; StrictServers leaves all others out.
	Servers       []string
	StrictServers bool
	// AskServers tells that a person will be asked about each server of the project.
	AskServers bool
	// InHost are servers in the host's process, and HostServers opens a connection
	// to one of them. Optional together.
	InHost      []mcp.Entry
	HostServers func(ctx context.Context, name string) (mcp.Frames, error)
	// HostHooks are hooks whose callbacks are in the host, as hook.Source has them,
	// and HookCallback runs one. Optional together.
	HostHooks    json.RawMessage
	HookCallback func(ctx context.Context, c hook.HostCall) (json.RawMessage, error)
	// Mirror is told each line of each transcript once it is written; see
	// session.Log. Optional.
	Mirror func(path string, line []byte)
	// ServersChanged is told of changes of MCP servers, from any goroutine. Optional.
	ServersChanged func()
	// Own are tools of the program that this package is part of. Embedded tells that
	// the program is not hew: it cannot be started again as a helper.
	Own      []tool.Tool
	Embedded bool
	// PromptTool is the tool that answers in the place of Asker, "" for none.
	PromptTool string

	// Team is the team to join, AgentName this process's name in it ("" leads),
	// AgentType what it is. All optional.
	Team, AgentName, AgentType string
	// IDE connects to the editor in which the folder is open.
	IDE bool

	Model, Effort, Thinking string
	// ThinkingDisplay is what the server shows of thinking, "" for its default.
	ThinkingDisplay       string
	Fallback, Betas       []string
	MaxThinking, MaxTurns int
	TaskBudget            int
	MaxBudget             float64
	// AutoCompact is the size of the window for compaction as given, "" for the settings'.
	AutoCompact string

	// SystemPrompt replaces hew's own when SystemGiven; AppendPrompt follows it.
	SystemPrompt, AppendPrompt string
	SystemGiven                bool
	// SystemBlocks replaces SystemPrompt by several texts. Minimal asks for a prompt
	// of a few lines; a resumed session keeps the one that it has.
	SystemBlocks []string
	Minimal      bool
	// Schema is what the run's structured output must fit, nil for none.
	Schema json.RawMessage
	Bare   bool
	// Reaper is how a process is started that ends commands when hew is killed
	// (shell.ReaperCommand); nil for none.
	Reaper []string
	// NoStartFiles runs commands without the user's shell start-up file.
	NoStartFiles bool

	// PluginDirs are folders and archives of plugins that count for this run.
	PluginDirs []string
	// PluginDirsNoServers are those of PluginDirs whose MCP servers stay out.
	PluginDirsNoServers []string
	// Agent names the agent whose prompt, tools and model the main conversation
	// has, "" for none.
	Agent string
	// Skills are the skills that the model is told of, nil for all.
	Skills []string
	// NoCommands switches skills and slash commands off.
	NoCommands bool
	// Agents is a JSON object of agents that count for this run, "" for none.
	Agents string
	// Tools limits the built-in tools when ToolsGiven.
	Tools                        []string
	ToolsGiven                   bool
	Allowed, Disallowed, AddDirs []string
	// Asking are rules whose calls are always put to somebody.
	Asking []string
	// Aliases are further names of tools that the model may use, by the alias.
	Aliases map[string]string
	// FreshPrompt makes the system prompt of a resumed session anew.
	FreshPrompt                bool
	Mode                       string
	SkipPermissions, AllowSkip bool
	// Sandbox confines commands whatever sandbox.enabled says.
	Sandbox           bool
	NoPrompts         bool
	Settings, Sources string
	// HostPolicy is a JSON object of settings that restrict the session, "" for none.
	HostPolicy string
	// Consent is what the user said about the folder for this run.
	Consent trust.Consent

	Events bool
	Trace  func(event.Event)
	// HookStarted is told of each hook before it runs, from any goroutine. Optional.
	HookStarted func(id, event, name string)
	// Notice is told what a person should know. It may be called from several goroutines.
	Notice func(text string)

	Now    func() time.Time
	Sleep  func(context.Context, time.Duration) error
	Jitter func() float64
	NewID  func() string
}

func (o *Options) getenv(name string) string {
	prefix := name + "="
	for i := len(o.Environ) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(o.Environ[i], prefix); ok {
			return v
		}
	}
	return ""
}

func (o *Options) userHome() string {
	if h := o.getenv("HOME"); h != "" {
		return h
	}
	return o.getenv("USERPROFILE")
}

// defaultStyle is the output style when nobody has chosen one.
const defaultStyle = "default"

// Conversation is an engine and what belongs to it.
type Conversation struct {
	Engine *engine.Engine
	// Commands are the slash commands; surfaces submit prompts through them.
	Commands *command.Book
	// KeySource says where the credential comes from.
	KeySource string
	// Style is the output style.
	Style string
	// Fallbacks are the models to go on with when the first is not available.
	Fallbacks []string
	// Transcript is the session file, "" when nothing is written.
	Transcript string
	// Additional are the working directories beside the first.
	Additional []string
	mcp        *servers
	close      []func() error
	view       func() compact.Report
	// Notes is the folder of the model's own notes, "" when it keeps none.
	Notes string
	build *build
}

// Context is what is in the window now. It must not be asked for while a run is
// under way.
func (c *Conversation) Context() compact.Report { return c.view() }

// Close ends what runs in the background and frees the session.
func (c *Conversation) Close() error {
	var errs []error
	for i := len(c.close) - 1; i >= 0; i-- {
		errs = append(errs, c.close[i]())
	}
	return errors.Join(errs...)
}

// build is one Open in progress.
type build struct {
	o              *Options
	home           settings.Home
	settingsConfig settings.Config
	settings       *settings.Settings
	place          engine.Place
	conv           *Conversation
	store          session.Store
	log            *session.Log
	closeLog       func() error
	past           *session.Conversation
	id             string
	tasks          string    // where commands write their output
	unkept         bool      // there is no transcript, though one was wanted
	bound          *boundary // nil without a sandbox
	runner         *shell.Runner
	background     task.List
	stirred        chan struct{}   // a value after the end of background work
	writes         sync.Mutex      // held from the look at a file to its writing, by all agents
	pool           []tool.Tool     // all tools of the main conversation
	crew           *subagents      // nil in a bare run
	shapers        *compact.Config // nil when nothing is shaped
	defs           *definitions
	away           *mainTree          // moves into worktrees; nil where there is none
	drawn          *statusFacts       // nil without a status line
	asksCode       tool.Tool          // asks language servers; nil without one
	diagnoses      prompt.Source      // what they find; nil as asksCode
	skills         *skills            // nil when they are switched off
	craft          *skillset          // of the main conversation; nil as skills
	variables      map[string]string  // of commands; changed between runs only
	git            func() *prompt.Git // see askGit
	gateRef        *gate.Gate
	hooks          *hooks // nil in a bare run
	mcp            *servers
	team           *membership // nil outside of a team
	plans          task.Schedule
	seen           fsys.ReadState // what the model knows of which file
	todos          builtin.Todos
	noted          *noting // nil when nothing is kept
	facts          *shellread.Reader
	main           *catalog.Agent              // what the main conversation is, nil for hew's own
	torn           bool                        // a file of the administrator's policy cannot be read
	plugins        []plugin.Loaded             // in use, strongest first
	trust          trust.Verdict               // what the folder asks for, and whether the user agreed
	keeps          bool                        // a first sight of a trusted folder is recorded
	disk           memory.Disk                 // what instructions were read from
	memory         func() *memory.Instructions // read once
	files          func() []memory.File        // instructions of the start
	recall         *recall                     // nil when auto memory is off
	notebook       *memory.Notebook            // nil when auto memory is off
	lazy           *lazyFiles                  // nil without instructions
	said           listener                    // of the classifier; nil as judge
	judge          gate.Classifier             // nil when auto mode is switched off
	account        *Account                    // what /login and /logout act on
	signIn         sync.Once                   // sets signedIn, nil without an issuer, and signInErr
	signedIn       *credential.Login
	signInErr      error
}

func (b *build) notice(text string) {
	if b.o.Notice != nil {
		b.o.Notice(text)
	}
}

// Open settles everything and returns the conversation. Nothing has been sent
// to a model and, for a new session, nothing was written. When ctx has ended,
// Close does not wait for background commands.
func Open(ctx context.Context, o *Options) (*Conversation, error) {
	b := &build{o: o, conv: &Conversation{Style: defaultStyle}, stirred: make(chan struct{}, 1), facts: shellread.NewReader(rememberedCommands), keeps: true}
	c, err := b.open(ctx)
	if err != nil {
		return nil, errors.Join(err, b.conv.Close())
	}
	return c, nil
}

func (b *build) open(ctx context.Context) (*Conversation, error) {
	if err := b.locate(); err != nil {
		return nil, err
	}
	if err := errors.Join(b.session(ctx), b.findPlugins()); err != nil {
		return nil, err
	}
	b.plans.Now = b.o.Now
	if err := b.joinTeam(ctx); err != nil {
		return nil, err
	}
	b.memory = sync.OnceValue(b.instructions)
	b.files = func() []memory.File { return b.memory().Files() }
	if b.notebook = b.ownNotes(); b.notebook != nil {
		b.conv.Notes = b.notebook.Dir
	}
	b.defs = &definitions{b: b}
	b.promptTool()
	if err := b.commands(ctx); err != nil {
		return nil, err
	}
	b.git = b.askGit(ctx)
	model, err := b.model(ctx)
	if err != nil {
		return nil, err
	}
	b.conv.Fallbacks = model.Fallbacks
	tools, err := b.tools(ctx)
	if err != nil {
		return nil, err
	}
	if tools, err = b.mainAgent(tools, &model); err != nil {
		return nil, err
	}
	specs := make([]tool.Spec, len(tools))
	for i, t := range tools {
		specs[i] = t.Spec()
	}
	snapshot, err := b.safety(specs)
	if err != nil {
		return nil, err
	}
	b.auto(ctx, snapshot.Mode())
	if err := b.connect(ctx); err != nil {
		return nil, err
	}
	b.listen(ctx, specs)
	b.gateRef = b.gate(snapshot)
	usd, err := b.allowance()
	if err != nil {
		return nil, err
	}
	cfg := engine.Config{
		Session: b.id, Place: b.place, Model: model, Tools: tools, More: b.mcp.tools, Gate: b.gateRef,
		MaxTurns: b.maxTurns(), Limits: engine.Limits{USD: usd, OutputTokens: b.o.TaskBudget},
		Aliases: b.o.Aliases, Deferral: b.deferral(), Sources: b.sources(ctx), Tasks: b.taskChanges, Interactive: b.o.Interactive, Events: b.o.Events, Trace: b.observed(),
		Concurrency: b.number("CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY"),
		Now:         b.o.Now, Sleep: b.o.Sleep, Jitter: b.o.Jitter, NewID: b.o.NewID,
	}
	if b.o.Schema != nil {
		cfg.Output = builtin.StructuredOutputName
	}
	if b.hooks != nil {
		cfg.Hooks, cfg.Switches = b.hooks, modelHooks{b.hooks}
	}
	b.prompt(&cfg)
	b.shaping(&cfg)
	b.checkpoints(&cfg)
	b.hear(&cfg)
	b.follow(ctx, &cfg)
	b.conv.Engine, b.conv.build = engine.New(cfg), b
	b.conv.Commands = b.slash(ctx)
	b.conv.Additional = b.place.Roots[1:]
	return b.conv, nil
}

// locate finds the directories and reads the settings.
func (b *build) locate() error {
	if b.o.Cwd == "" {
		return errors.New("the current directory was deleted or cannot be read; change to another one and start again")
	}
	cwd, err := fsys.Real(b.o.Cwd)
	if err != nil {
		return fmt.Errorf("the current directory: %w", err)
	}
	if b.home, err = settings.FindHome(b.o.getenv, cwd); err != nil {
		return err
	}
	sources, err := settings.ParseSources(b.o.Sources)
	if err != nil {
		return err
	}
	b.settingsConfig = settings.Config{
		Home: b.home, Cwd: cwd, ManagedDir: b.o.getenv("HEW_MANAGED_DIR"), FlagSettings: b.o.Settings, Sources: sources, HostPolicy: b.o.HostPolicy,
	}
	b.judgeFolder()
	var problems []settings.Problem
	b.settings, problems = settings.Load(b.settingsConfig)
	for _, p := range problems {
		if p.Scope == settings.Flag && p.Severity == settings.FileIgnored {
			return fmt.Errorf("--settings: %s", p)
		}
		if p.File == settings.HostPolicyFile && p.Severity == settings.FileIgnored { // a policy must not be dropped
			return fmt.Errorf("--managed-settings: %s", p.Text)
		}
		b.torn = b.torn || p.Scope == settings.Managed && p.Severity == settings.FileIgnored
		if p.Severity != settings.Held { // told in one line; see judgeFolder
			b.notice(p.String())
		}
	}
	b.place = engine.Place{Cwd: cwd, Project: cwd, Roots: []string{cwd}}
	return b.addDirs()
}

// addDirs adds the working directories of flags and settings. A folder of the
// command line must exist; one of a settings file may be gone by now.
func (b *build) addDirs() error {
	for _, d := range b.o.AddDirs {
		real, err := b.dir(d)
		if err != nil {
			return fmt.Errorf("--add-dir: %w", err)
		}
		b.place.Roots = append(b.place.Roots, real)
	}
	for _, r := range b.settings.Permissions().AdditionalDirectories {
		real, err := b.dir(r.Text)
		if err != nil {
			b.notice("additional directory of " + r.Top().String() + ": " + err.Error())
			continue
		}
		b.place.Roots = append(b.place.Roots, real)
	}
	return nil
}

func (b *build) dir(name string) (string, error) {
	l, err := fsys.Locate(b.place.Cwd, name)
	if err != nil {
		return "", err
	}
	if k := fsys.KindOf(l.Real); k != fsys.KindDir {
		return "", fmt.Errorf("%s is not a directory (%s)", fsys.Printable(name), k)
	}
	return l.Real, nil
}

func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	_, err := fsys.WriteFile(path, data, fsys.WriteOptions{Mode: 0o600})
	return err
}

// keepIn keeps texts in a folder, each under the digest of its bytes.
func keepIn(dir string) func([]byte) (string, error) {
	return func(data []byte) (string, error) {
		path, _, err := fsys.Keep(dir, ".txt", bytes.NewReader(data))
		return path, err
	}
}

// User makes the message of one prompt.
func (o *Options) User(text string) *msg.Message { return msg.User(o.NewID(), o.Now(), text) }
