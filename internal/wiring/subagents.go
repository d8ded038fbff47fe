package wiring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/hew-agent/hew/internal/action/builtin"
	"github.com/hew-agent/hew/internal/action/builtin/agent"
	"github.com/hew-agent/hew/internal/action/builtin/bash"
	"github.com/hew-agent/hew/internal/action/gate"
	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/action/task"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/catalog"
	"github.com/hew-agent/hew/internal/state/prompt"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/tool"
)

// neverDelegated are tools of the main conversation: they speak with its user
// or belong to its surface.
var neverDelegated = []string{
	"AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "EndConversation", "ScheduleWakeup", "TaskOutput", "WaitForMcpServers", "Workflow",
	builtin.StructuredOutputName,
}

// backgroundTools are what subagents in the background keep beside MCP tools.
var backgroundTools = []string{
	"Read", "Grep", "Glob", "Bash", "PowerShell", "Edit", "Write", "NotebookEdit", "WebFetch", "WebSearch", "TodoWrite", "Skill",
	"ToolSearch", "EnterWorktree", "ExitWorktree", "Monitor", "TaskStop", "SendMessage", "Artifact", "Agent",
}

// home is the conversation that a crew belongs to.
type homeOf struct {
	engine func() *engine.Engine
	gate   func() *gate.Gate
	pool   func() []tool.Tool
	depth  int
}

// subagents is the session's delegation: what all crews share.
type subagents struct {
	b       *build
	kinds   func() *catalog.Catalog
	running agent.Count
	types   sync.Map // agent id to its type, for hooks
	wg      sync.WaitGroup
	life    func() context.Context
	end     context.CancelFunc
}

// delegation makes the tools that start subagents of the main conversation.
func (b *build) delegation(ctx context.Context) []tool.Tool {
	if b.o.Bare {
		return nil
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	b.crew = &subagents{b: b, kinds: sync.OnceValue(b.definitions), life: func() context.Context { return life }, end: end}
	b.conv.close = append(b.conv.close, b.crew.close)
	main := homeOf{
		engine: func() *engine.Engine { return b.conv.Engine }, gate: func() *gate.Gate { return b.gateRef },
		pool: func() []tool.Tool { return b.pool },
	}
	cfg := b.crew.config(main, &b.background)
	if b.team != nil {
		cfg.Mail, cfg.Peers = b.team.post, b.team.peers
	}
	crew := agent.New(cfg)
	return append(crew.Tools(), b.listing(crew)...)
}

// close ends the subagents that are still at work.
func (s *subagents) close() error {
	s.end()
	s.wg.Wait()
	return nil
}

func (s *subagents) config(h homeOf, tasks *task.List) agent.Config {
	b := s.b
	return agent.Config{
		Kinds: func() []*catalog.Agent { return s.kinds().Agents },
		Offered: func(kind string) bool {
			return !denied(h.gate().Snapshot(), kind)
		},
		Spawn: func(ctx context.Context, t agent.Task) (agent.Child, error) { return s.spawn(ctx, h, t) },
		Tasks: tasks, Depth: h.depth, Deepest: b.limit("CLAUDE_CODE_MAX_SUBAGENT_SPAWN_DEPTH", agent.DefaultDeepest),
		Most: b.limit("CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS", agent.DefaultMost), Running: &s.running,
		Background: b.env("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS") == "",
		Fork:       b.forks() && h.depth == 0,
		Go: func(work func(context.Context)) {
			s.wg.Go(func() { work(s.life()) })
		},
		Now: b.o.Now, NewID: shortID(b.o.NewID),
	}
}

// denied tells that a rule keeps an agent from being started.
func denied(s *policy.Snapshot, kind string) bool {
	input, err := json.Marshal(map[string]string{"subagent_type": kind})
	if err != nil {
		return true // a text: cannot fail
	}
	d := s.Decide(policy.Request{Spec: agent.Spec(), Input: input, Cwd: s.Config().Project, Paths: disk{}})
	return d.Behavior == tool.Deny
}

// shortID makes ids that are file names and easy to repeat.
func shortID(newID func() string) func() string {
	return func() string {
		id := strings.ReplaceAll(newID(), "-", "")
		return id[:min(len(id), 16)]
	}
}

func (b *build) limit(name string, def int) int {
	if n := b.number(name); n > 0 {
		return n
	}
	return def
}

// forks tells whether a conversation can be copied into a subagent.
func (b *build) forks() bool {
	switch b.env("CLAUDE_CODE_FORK_SUBAGENT") {
	case "1":
		return true
	case "0":
		return false
	}
	return b.o.Interactive
}

// spawn makes a subagent of a conversation.
func (s *subagents) spawn(ctx context.Context, h homeOf, t agent.Task) (agent.Child, error) {
	c := &child{s: s, home: h, task: t, ends: nil}
	if err := c.make(ctx, nil); err != nil {
		return nil, errors.Join(err, c.free())
	}
	return c, nil
}

// child is one subagent.
type child struct {
	s    *subagents
	home homeOf
	task agent.Task
	e    *engine.Engine
	gate *gate.Gate
	pool []tool.Tool
	work task.List // its own background work
	log  *session.Log
	ends []func() error
}

func (c *child) id() string { return c.task.ID }

// make builds the engine; past is what a resumed one goes on with.
func (c *child) make(ctx context.Context, past *session.Conversation) error {
	b, t := c.s.b, c.task
	c.gate = c.home.gate().Child(gate.ChildConfig{Shape: c.shape, Asker: c.asker()})
	if err := c.tools(); err != nil {
		return err
	}
	cfg := engine.Child{
		Origin: event.Origin{Agent: t.ID, ParentUse: t.Use}, Tools: c.pool, Gate: c.gate, Cwd: t.Cwd,
		Model: c.model(), Effort: t.Effort, Interactive: b.o.Interactive && c.asker() != nil,
	}
	if err := c.mind(&cfg, past); err != nil {
		return err
	}
	if b.hooks != nil {
		cfg.Hooks = &childHooks{b.hooks, c}
		c.s.types.Store(t.ID, c.kind())
		if t.Kind != nil && t.Kind.Hooks != nil {
			remove := b.hooks.d.Register(agentHooks(t))
			c.ends = append(c.ends, func() error { remove(); return nil })
		}
	}
	if err := c.record(&cfg, past); err != nil {
		return err
	}
	c.e = c.home.engine().Child(cfg)
	return nil
}

func (c *child) kind() string {
	if c.task.Kind == nil {
		return "fork"
	}
	return c.task.Kind.Name
}

// model is what answers: the environment, the call, the agent's file, the parent.
func (c *child) model() string {
	if m := c.s.b.env("CLAUDE_CODE_SUBAGENT_MODEL"); m != "" && m != "inherit" {
		return m
	}
	if c.task.Model != "" && c.task.Model != "inherit" {
		return c.task.Model
	}
	if c.task.Kind != nil {
		return c.task.Kind.Model
	}
	return ""
}

// mind settles what the subagent is told and what it remembers.
func (c *child) mind(cfg *engine.Child, past *session.Conversation) error {
	b, k := c.s.b, c.task.Kind
	if k == nil { // a copy of the conversation shares its prefix
		cfg.System, cfg.History = c.home.engine().Conversation()
		return nil
	}
	body, err := k.Prompt()
	if err != nil {
		return err
	}
	env := b.surroundings()
	env.Cwd = c.cwd()
	if k.Bare {
		env.Git = nil
	}
	cfg.System = prompt.System(prompt.Config{Role: body, Env: env})
	cfg.MaxTurns = k.MaxTurns
	if cfg.Effort == "" {
		cfg.Effort = k.Effort
	}
	if past != nil {
		cfg.History = past.Messages
	}
	return nil
}

func (c *child) cwd() string {
	if c.task.Cwd != "" {
		return c.task.Cwd
	}
	return c.home.engine().Place().Cwd
}

// shape is the policy of the subagent: the conversation's mode when that was
// opened up by the person, else its own; the rules are the conversation's.
func (c *child) shape(s *policy.Snapshot) *policy.Snapshot {
	if c.task.Allowed != nil {
		s = policy.New(scoped(s.Config(), c.task.Allowed))
	}
	own := c.task.Mode
	if own == "" && c.task.Kind != nil {
		own = c.task.Kind.Mode
	}
	if own == "" || prevails(s.Mode()) {
		return s
	}
	m, _, err := policy.ParseMode(own)
	if err != nil || m == policy.Bypass && !(c.s.b.o.SkipPermissions || c.s.b.o.AllowSkip) {
		return s
	}
	return s.WithMode(m)
}

// prevails tells the modes of a parent that hold for its subagents, whatever
// these ask for.
func prevails(m policy.Mode) bool {
	switch m {
	case policy.Bypass, policy.AcceptEdits, policy.Auto:
		return true
	case policy.Default, policy.Plan, policy.DontAsk:
	}
	return false
}

// scoped puts rules in the place of those that the session has given; rules of
// files and of the command line stay.
func scoped(cfg policy.Config, allowed []string) policy.Config {
	cfg.Layers = slices.Clone(cfg.Layers)
	cfg.Layers = slices.DeleteFunc(cfg.Layers, func(l policy.Layer) bool { return l.Origin.Scope == policy.ScopeSession })
	cfg.Layers = append(cfg.Layers, policy.Layer{
		Origin: policy.Origin{Scope: policy.ScopeSession, File: "the agent's allowed tools", Dir: cfg.Project}, Allow: allowed,
	})
	return cfg
}

// asker is who the subagent asks: the person of the conversation, told which
// agent it is that asks.
func (c *child) asker() gate.Asker {
	if c.s.b.o.Asker == nil {
		return nil
	}
	return speaking{c.s.b.o.Asker, c}
}

// speaking puts the agent's name to a question.
type speaking struct {
	gate.Asker
	c *child
}

// Ask asks.
func (n speaking) Ask(ctx context.Context, q event.Question) (event.Answer, error) {
	q.Origin = n.c.e.Origin()
	q.Title = n.c.kind() + " agent: " + q.Title
	return n.Asker.Ask(ctx, q)
}

// tools makes the subagent's own tools: what it has read and its to-do list are
// not its parent's.
func (c *child) tools() error {
	b := c.s.b
	seen := &fsys.ReadState{}
	cfg := b.builtins(seen)
	cfg.Interactive, cfg.Background, cfg.Tasks, cfg.Todos = false, nil, "", nil
	cfg.Mode = func() string { return c.gate.Mode() }
	if b.env("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS") == "" {
		cfg.Background = &c.work
	}
	sh := b.bashConfig(seen)
	sh.Tasks = &c.work
	pool := append(builtin.New(cfg), bash.New(sh).Tool())
	inner := homeOf{
		engine: func() *engine.Engine { return c.e }, gate: func() *gate.Gate { return c.gate },
		pool: func() []tool.Tool { return c.pool }, depth: c.home.depth + 1,
	}
	pool = append(pool, agent.New(c.s.config(inner, &c.work)).Tools()...)
	c.ends = append(c.ends, c.work.Close)
	for _, t := range c.home.pool() { // what is neither built in nor the parent's own: servers' tools
		if t.Spec().Origin != "builtin" {
			pool = append(pool, t)
		}
	}
	var err error
	c.pool, err = c.filtered(c.parents(pool))
	slices.SortStableFunc(c.pool, func(x, y tool.Tool) int { return strings.Compare(x.Spec().Name, y.Spec().Name) })
	return err
}

// parents leaves what the parent has: a limited pool stays limited.
func (c *child) parents(pool []tool.Tool) []tool.Tool {
	has := map[string]bool{}
	for _, t := range c.home.pool() {
		has[t.Spec().Name] = true
	}
	return slices.DeleteFunc(pool, func(t tool.Tool) bool { return !has[t.Spec().Name] })
}

// filtered takes away what subagents never have, then what this one is denied,
// and leaves of the rest what it is allowed.
func (c *child) filtered(pool []tool.Tool) ([]tool.Tool, error) {
	drop := func(names []string) {
		pool = slices.DeleteFunc(pool, func(t tool.Tool) bool { return matches(names, t.Spec()) })
	}
	drop(neverDelegated)
	if c.task.Background {
		pool = slices.DeleteFunc(pool, func(t tool.Tool) bool {
			return !matches(backgroundTools, t.Spec()) && t.Spec().Origin == "builtin"
		})
	}
	k := c.task.Kind
	if k == nil {
		return pool, nil
	}
	drop(k.Denied)
	if k.Tools == nil || slices.Contains(k.Tools, "*") {
		return pool, nil
	}
	left := slices.DeleteFunc(pool, func(t tool.Tool) bool { return !matches(k.Tools, t.Spec()) })
	if len(left) == 0 && len(k.Tools) > 0 {
		return nil, fmt.Errorf("the agent %s names only tools that do not exist here: %s", k.Name, strings.Join(k.Tools, ", "))
	}
	return left, nil
}

// matches tells whether a list names a tool: by its name, an older name, with
// parentheses behind it, or by its server.
func matches(names []string, s tool.Spec) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		n, _, _ = strings.Cut(n, "(")
		n = strings.TrimSpace(n)
		if server, ok := strings.CutPrefix(n, "mcp__"); ok {
			server = strings.TrimSuffix(server, "__*")
			return s.Name == n || strings.HasPrefix(s.Name, "mcp__"+server+"__")
		}
		return called(s, n)
	})
}

// Run gives the subagent a prompt.
func (c *child) Run(ctx context.Context, text string, wake func()) iter.Seq[event.Event] {
	b := c.s.b
	in := engine.Input{Message: msg.User(b.o.NewID(), b.o.Now(), text), Source: "agent"}
	return c.home.engine().Relay(ctx, c.e, in, wake)
}

// Steer queues a message.
func (c *child) Steer(text string) {
	m := msg.User(c.s.b.o.NewID(), c.s.b.o.Now(), text)
	c.e.Steer(m)
}

// Transcript is the sidechain's file.
func (c *child) Transcript() string {
	if c.log == nil {
		return ""
	}
	return c.log.Path()
}

// Close ends what the subagent had running.
func (c *child) Close(context.Context) string {
	if err := c.work.Close(); err != nil {
		return "What it had left running could not be ended: " + err.Error()
	}
	return ""
}

func (c *child) free() error {
	var faults []error
	for i := len(c.ends) - 1; i >= 0; i-- {
		faults = append(faults, c.ends[i]())
	}
	return errors.Join(faults...)
}

// record opens the sidechain: the subagent's own transcript, and beside it what
// it is.
func (c *child) record(cfg *engine.Child, past *session.Conversation) error {
	b := c.s.b
	if b.log == nil {
		return nil
	}
	log, err := b.store.OpenSidechain(b.id, c.id())
	if err != nil {
		return fmt.Errorf("open the subagent's transcript: %w", err)
	}
	c.log, c.ends = log, append(c.ends, log.Close)
	log.Mirror(b.o.Mirror)
	meta, err := json.Marshal(c.meta())
	if err != nil {
		return err // plain values: cannot fail
	}
	if err := writeFile(strings.TrimSuffix(log.Path(), ".jsonl")+".meta.json", meta); err != nil {
		return fmt.Errorf("write what the subagent is: %w", err)
	}
	branch := "HEAD"
	if g := b.git(); g != nil {
		branch = g.Branch
	}
	w := session.NewWriter(session.WriterConfig{
		Log: log, Mode: c.gate.Mode(), Now: b.o.Now, NewID: b.o.NewID, From: past,
		Stamp: session.Stamp{Session: b.id, Cwd: c.cwd(), Version: b.o.Version, Branch: branch, Entrypoint: b.o.Entrypoint, Agent: c.id()},
	})
	cfg.Store, cfg.Sync = w, log.Sync
	if past == nil && c.task.Kind != nil && !c.task.Kind.Bare {
		cfg.Start = func() (*msg.Message, error) {
			m := prompt.Context(b.o.NewID(), b.o.Now(), b.files())
			return m, w.Context(m, nil)
		}
	}
	return nil
}

// meta is what the ecosystem keeps of a subagent beside its transcript.
func (c *child) meta() map[string]any {
	shape := "foreground"
	if c.task.Background {
		shape = "background"
	}
	model := c.model()
	if model == "" {
		model = c.home.engine().Model().ID
	}
	return map[string]any{
		"agentType": c.kind(), "isBuiltIn": c.task.Kind == nil || c.task.Kind.Origin.Scope == catalog.Bundled,
		"description": c.task.Description, "name": c.task.Name, "toolUseId": c.task.Use, "spawnDepth": c.home.depth + 1,
		"requestShape": shape, "model": model,
	}
}
