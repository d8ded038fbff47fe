package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/state/trust"
	"github.com/hew-agent/hew/internal/surface/streamjson"
	"github.com/hew-agent/hew/internal/wiring"
)

// maxStdin bounds what a pipe may add to a prompt, in bytes.
const maxStdin = 10 << 20

// runPrompt is the headless surface: one prompt, or a stream of them.
func runPrompt(e Env, o *Options) error {
	r := &headless{e: e, o: o}
	if err := r.check(); err != nil {
		return err
	}
	if o.Trace == "" {
		o.Trace = o.DebugFile
	}
	tr, err := openTrace(o.Trace)
	if err != nil {
		return err
	}
	defer tr.close()
	tr.mark("security")
	secure()
	ctx, stop := signals(context.Background())
	defer stop()
	tr.mark("signals")
	r.trace = tr
	tr.mark("mode")
	return r.run(ctx)
}

type headless struct {
	e     Env
	o     *Options
	trace *traceFile
	mu    sync.Mutex // guards Stderr and said
	said  map[string]bool
}

// check refuses combinations that cannot mean anything.
func (r *headless) check() error {
	o := r.o
	switch {
	case o.Output == "stream-json" && !o.Verbose:
		return &usageError{"when using --print, --output-format=stream-json requires --verbose"}
	case o.Input == "stream-json" && o.Output != "stream-json":
		return &usageError{"--input-format=stream-json requires --output-format=stream-json"}
	case o.Partial && o.Output != "stream-json":
		return &usageError{"--include-partial-messages requires --output-format=stream-json"}
	case o.HookEvents && o.Output != "stream-json":
		return &usageError{"--include-hook-events requires --output-format=stream-json"}
	case o.Replay && (o.Input != "stream-json" || o.Output != "stream-json"):
		return &usageError{"--replay-user-messages requires --input-format and --output-format stream-json"}
	case o.ResumeAt != "" && o.Resume == "" && !o.Continue:
		return &usageError{"--resume-session-at goes with --resume or --continue"}
	case o.DropsTurn != "" && o.ResumeAt == "":
		return &usageError{"--resume-drops-turn goes with --resume-session-at"}
	case o.Given("system-prompt") && o.Given("system-prompt-file"):
		return &usageError{"--system-prompt and --system-prompt-file exclude each other"}
	case o.PromptTool != "" && o.PromptTool != "stdio" && !strings.HasPrefix(o.PromptTool, "mcp__"):
		return &usageError{"--permission-prompt-tool takes stdio or the name of an MCP tool, mcp__SERVER__TOOL"}
	case o.Given("session-id") && o.SessionID == "":
		return &usageError{`invalid session ID "": it must be a UUID`}
	case o.Given("resume") && o.Resume == "":
		return &usageError{"--resume needs a session id or name in a headless run; without a terminal there is no picker"}
	case o.InitOnly && o.Input == "stream-json":
		return &usageError{"--init-only takes no input"}
	case o.Maintenance && (o.Init || o.InitOnly):
		return &usageError{"--maintenance excludes --init and --init-only"}
	case o.Continue && o.Resume != "":
		return &usageError{"--continue and --resume exclude each other"}
	case !o.Print && !o.InitOnly && r.e.StdoutTTY && o.Input != "stream-json" && o.Output == "text":
		return &usageError{"standard input is no terminal: use hew -p \"your prompt\", or start hew without a pipe"}
	}
	return nil
}

func (r *headless) run(ctx context.Context) error {
	stream := r.o.Input == "stream-json"
	prompt, err := r.prompt(stream)
	if err != nil {
		return err
	}
	var host *streamjson.Host
	if stream {
		host = streamjson.NewHost(session.NewID, r.patience())
	}
	w, err := r.wiring(host)
	if err != nil {
		return err
	}
	if o := r.o.withoutEffect(); len(o) > 0 {
		r.warn("these options have no effect in this build: " + strings.Join(o, ", "))
	}
	// A reader that has gone away calls off what still runs, as a signal does.
	open, callOff := context.WithCancel(ctx)
	defer callOff()
	c := streamjson.Config{
		Out: r.e.Stdout, Format: streamjson.Format(r.o.Output), Partial: r.o.Partial, Verbose: r.o.Verbose, Replay: r.o.Replay,
		Hooks: r.o.HookEvents, Host: host, Now: time.Now, NewID: session.NewID,
		Warn:   r.warn,
		States: stream && r.e.getenv("CLAUDE_CODE_SDK_READS_SESSION_STATE") != "",
	}
	s := &sdk{r: r, host: host, w: w, began: time.Now()}
	if stream {
		c.Open = func(_ context.Context, raw json.RawMessage) (*streamjson.Live, error) { return s.open(open, raw) }
		c.Abandoned = r.e.abandoned
	}
	surface := streamjson.New(c)
	w.HookStarted = surface.HookStarted
	if r.o.Mirror {
		w.Mirror = surface.Mirror
	}
	s.patience = wiring.Bounded
	if stream {
		s.patience = wiring.Endless
		err = surface.Stream(ctx, r.e.Stdin)
	} else if err = r.once(open, s, surface, prompt); err != nil && s.conv == nil {
		return err
	}
	if err != nil {
		callOff()
	}
	err = errors.Join(r.ended(ctx, err), s.close())
	if err == nil && surface.Failed() {
		return &failure{exitError}
	}
	return err
}

const noPrompt = "input must be provided either through stdin or as a prompt argument when using --print"

// once runs one prompt. There may be none where the session ends with a call
// that a hook has put off.
func (r *headless) once(ctx context.Context, s *sdk, surface *streamjson.Surface, prompt string) error {
	conv, err := wiring.Open(ctx, s.w)
	if err != nil {
		return r.ended(ctx, r.failed(err))
	}
	s.conv = conv
	if r.o.InitOnly {
		conv.SetUp(ctx)
		return nil
	}
	conv.Ready(ctx)
	live := &streamjson.Live{Engine: conv.Engine, Commands: conv.Commands, Next: s.next, Facts: func() streamjson.Facts { return facts(conv) }}
	switch {
	case prompt != "":
		return surface.Prompt(ctx, live, s.w.User(prompt))
	case conv.Engine.Deferring():
		return surface.Prompt(ctx, live, nil)
	}
	return &usageError{noPrompt}
}

// longPatience is how long a question may stay without an answer when
// HEW_HOST_TIMEOUT_MS says nothing: people sleep over some.
const longPatience = 24 * time.Hour

func (r *headless) patience() time.Duration {
	if n, err := strconv.Atoi(r.e.getenv("HEW_HOST_TIMEOUT_MS")); err == nil && n > 0 {
		return time.Duration(n) * time.Millisecond
	}
	return longPatience
}

// ended turns a signal into its exit code.
func (r *headless) ended(ctx context.Context, err error) error {
	var s *signalled
	if errors.As(context.Cause(ctx), &s) {
		return &failure{128 + s.number}
	}
	return err
}

// failed reports an error from before the run in the form that programs on
// the other side of a pipe expect.
func (r *headless) failed(err error) error {
	var none *wiring.NoSession
	var cannot *wiring.CannotResume
	if r.o.Output == "stream-json" && (errors.As(err, &none) || errors.As(err, &cannot)) {
		streamjson.Refuse(r.e.Stdout, session.NewID(), session.NewID(), err.Error())
	}
	return err
}

// prompt joins the argument and what a pipe brings.
func (r *headless) prompt(stream bool) (string, error) {
	if stream {
		if r.o.Prompt != "" {
			return "", &usageError{"with --input-format=stream-json the prompt comes on standard input, not as an argument"}
		}
		return "", nil
	}
	if r.o.InitOnly {
		return "", nil
	}
	piped, err := r.piped()
	if err != nil {
		return "", err
	}
	parts := []string{}
	for _, p := range []string{r.o.Prompt, piped} {
		if strings.TrimSpace(p) != "" {
			parts = append(parts, p)
		}
	}
	if len(parts) == 0 && (r.o.Resume != "" || r.o.Continue) {
		return "", nil // enough where a call was put off; see once
	}
	if len(parts) == 0 {
		return "", &usageError{noPrompt}
	}
	return strings.Join(parts, "\n"), nil
}

func (r *headless) piped() (string, error) {
	if r.e.StdinTTY || r.e.Stdin == nil {
		return "", nil
	}
	in := io.Reader(r.e.Stdin)
	if r.o.Prompt != "" {
		in = r.patient(in)
	}
	data, err := io.ReadAll(io.LimitReader(in, maxStdin+1))
	if err != nil {
		r.warn("standard input cannot be read and is left out: " + err.Error())
		return "", nil
	}
	if len(data) > maxStdin {
		return "", fmt.Errorf("standard input is larger than %d MB; write it to a file and name the file in the prompt", maxStdin>>20)
	}
	return string(data), nil
}

// firstByte is how long a run that has its prompt waits for a pipe that says nothing.
const firstByte = 3 * time.Second

// patient gives up on a pipe that nobody writes to: parents often leave one
// open, and a run that has its prompt must not hang on it.
func (r *headless) patient(in io.Reader) io.Reader {
	type read struct {
		data []byte
		err  error
	}
	first := make(chan read, 1)
	go func() {
		buf := make([]byte, 64<<10)
		n, err := in.Read(buf)
		first <- read{buf[:n], err}
	}()
	t := time.NewTimer(firstByte)
	defer t.Stop()
	select {
	case got := <-first:
		if got.err != nil {
			return bytes.NewReader(got.data)
		}
		return io.MultiReader(bytes.NewReader(got.data), in)
	case <-t.C:
		r.warn("nothing arrived on standard input within 3 seconds; going on without it (use < /dev/null to skip the wait)")
		return strings.NewReader("")
	}
}

// warn says something on standard error, once: what a conversation tells its
// opener may come as an event of the run as well.
func (r *headless) warn(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.said[text] {
		return
	}
	if r.said == nil {
		r.said = map[string]bool{}
	}
	r.said[text] = true
	fmt.Fprintln(r.e.Stderr, "hew: "+plain.Clip(text, maxShown))
}

// wiring maps the command line to what a conversation is made of.
func (r *headless) wiring(host *streamjson.Host) (*wiring.Options, error) {
	o := r.o
	w := &wiring.Options{
		Version: Version(), Entrypoint: r.entrypoint(), Environ: r.e.Environ, Cwd: r.e.Dir, Root: r.e.UID == 0,
		Continue: o.Continue, Fork: o.Fork, NoPersist: o.NoPersist, Resume: o.Resume, SessionID: o.SessionID, Name: o.Name,
		Team: o.Team, IDE: o.IDE, AgentName: o.AgentName, AgentType: o.AgentType,
		PluginDirs: slices.Concat(o.PluginDirs, o.PluginDirsNoServers), PluginDirsNoServers: o.PluginDirsNoServers, Agents: o.Agents, Agent: o.Agent, NoCommands: o.NoCommands, Model: o.Model, Effort: o.Effort, Thinking: o.Thinking, ThinkingDisplay: o.ThinkingDisplay, Fallback: ruleList([]string{o.Fallback}), Betas: ruleList([]string{o.Betas}),
		MaxThinking: o.MaxThinking, AutoCompact: o.AutoCompact, MaxTurns: o.MaxTurns, TaskBudget: o.TaskBudget, MaxBudget: o.MaxBudget,
		SystemGiven: o.Given("system-prompt") || o.Given("system-prompt-file"), SystemPrompt: o.SystemPrompt, AppendPrompt: o.AppendPrompt,
		Bare: o.Bare, Tools: ruleList(o.Tools), ToolsGiven: o.Given("tools"),
		Allowed: ruleList(o.Allowed), Disallowed: ruleList(o.Disallowed), AddDirs: o.AddDirs, Mode: o.Mode,
		SkipPermissions: o.SkipPermissions, AllowSkip: o.AllowSkip, NoPrompts: o.Prompts == "none", Sandbox: o.Sandbox,
		Settings: o.Settings, HostPolicy: o.HostPolicy, Sources: o.Sources, ResumeAt: o.ResumeAt, DropsTurn: o.DropsTurn, Consent: o.consent(), Events: o.Partial, Notice: r.warn,
		Reaper: shell.ReaperCommand(), Servers: o.Servers, StrictServers: o.StrictServers, Defers: true,
		Now: time.Now, Sleep: engine.Sleep, Jitter: rand.Float64, NewID: session.NewID,
	}
	w.Lends = host != nil && strings.HasPrefix(r.e.getenv("CLAUDE_CODE_ENTRYPOINT"), "sdk-")
	switch {
	case o.Init, o.InitOnly:
		w.Setup = "init"
	case o.Maintenance:
		w.Setup = "maintenance"
	}
	if o.PromptTool != "stdio" {
		w.PromptTool = o.PromptTool
	}
	if host != nil && o.PromptTool == "stdio" && o.Prompts != "none" {
		w.Asker, w.Interactive = host, true
	}
	if host != nil && o.Prompts != "none" {
		w.Forms = host
	}
	if r.trace != nil && r.trace.t != nil {
		w.Trace = r.trace.t.Event
	}
	if err := r.files(w); err != nil {
		return nil, err
	}
	return w, nil
}

// consent is what the command line says about the folder's own settings.
// Naming the project's settings as a source agrees to what they run.
func (o *Options) consent() trust.Consent {
	named := slices.ContainsFunc(strings.Split(o.Sources, ","), func(s string) bool { return strings.TrimSpace(s) == "project" })
	switch {
	case o.Trust:
		return trust.ConsentAll
	case o.Given("setting-sources") && named:
		return trust.ConsentRun
	}
	return trust.ConsentNone
}

func (r *headless) entrypoint() string {
	if v := r.e.getenv("CLAUDE_CODE_ENTRYPOINT"); v != "" {
		return v
	}
	return "sdk-cli"
}

// maxOption bounds a file that an option names, in bytes.
const maxOption = 10 << 20

// readOption reads a file that an option names. It may be a pipe, as a shell
// makes one for <(command), and a device that never ends.
func readOption(path string) (data []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if data, err = io.ReadAll(io.LimitReader(f, maxOption+1)); err != nil {
		return nil, err
	}
	if len(data) > maxOption {
		return nil, fmt.Errorf("%s is larger than %d MB", path, maxOption>>20)
	}
	return data, nil
}

// files reads the options that name files.
func (r *headless) files(w *wiring.Options) error {
	o := r.o
	if o.SystemPromptFile != "" {
		data, err := readOption(o.SystemPromptFile)
		if err != nil {
			return fmt.Errorf("--system-prompt-file: %w", err)
		}
		w.SystemPrompt = string(data)
	}
	if o.AppendPromptFile != "" {
		data, err := readOption(o.AppendPromptFile)
		if err != nil {
			return fmt.Errorf("--append-system-prompt-file: %w", err)
		}
		w.AppendPrompt = strings.TrimSpace(w.AppendPrompt + "\n\n" + string(data))
	}
	if o.Schema == "" {
		return nil
	}
	schema := []byte(o.Schema)
	if !strings.HasPrefix(strings.TrimSpace(o.Schema), "{") {
		data, err := readOption(o.Schema)
		if err != nil {
			return fmt.Errorf("--json-schema is neither a JSON object nor a readable file: %w", err)
		}
		schema = data
	}
	var object map[string]any
	if err := json.Unmarshal(schema, &object); err != nil {
		return fmt.Errorf("--json-schema is not a JSON object: %w", err)
	}
	w.Schema = schema
	return nil
}

func facts(c *wiring.Conversation) streamjson.Facts {
	var names []string
	for _, s := range c.Engine.Offered() {
		names = append(names, c.HostName(s))
	}
	var agents []string
	for _, a := range c.Agents() {
		agents = append(agents, a.Name)
	}
	return streamjson.Facts{
		Servers: serverFacts(c), Plugins: pluginFacts(c), Agents: agents,
		Cwd: c.Engine.Place().Cwd, Tools: names, Model: c.Engine.Model().ID, PermissionMode: c.Engine.Mode(),
		APIKeySource: c.KeySource, Version: Version(), OutputStyle: c.Style, Memory: c.Notes, Additional: c.Additional, Commands: c.Commands.Names(),
		Skills: c.Skills(),
	}
}

func serverFacts(c *wiring.Conversation) []streamjson.Server {
	var out []streamjson.Server
	for _, s := range c.Servers() {
		out = append(out, streamjson.Server{Name: s.Name, Status: s.State, Source: s.Scope})
	}
	return out
}

func pluginFacts(c *wiring.Conversation) []streamjson.Plugin {
	var out []streamjson.Plugin
	for _, p := range c.Plugins() {
		out = append(out, streamjson.Plugin{Name: p.Name, Path: p.Path, Source: p.Source})
	}
	return out
}

// traceFile is the target of --trace, or nothing.
type traceFile struct {
	f *os.File
	t *engine.Tracer
}

func openTrace(path string) (*traceFile, error) {
	if path == "" {
		return &traceFile{}, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--trace: %w", err)
	}
	return &traceFile{f, engine.NewTracer(f, time.Now)}, nil
}

func (t *traceFile) mark(name string) {
	if t.t != nil {
		t.t.Mark("start", name)
	}
}

func (t *traceFile) close() {
	if t.f != nil {
		_ = t.f.Close() // a trace is best effort
	}
}

var _ event.Asker = (*streamjson.Host)(nil)
