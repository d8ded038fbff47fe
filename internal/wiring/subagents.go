package wiring

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hew-agent/hew/internal/action/builtin"
	"github.com/hew-agent/hew/internal/action/builtin/agent"
	"github.com/hew-agent/hew/internal/action/gate"
	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/action/task"
	"github.com/hew-agent/hew/internal/backend/feature"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/state/catalog"
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

// homeOf is the conversation that a crew belongs to. more are the tools of
// servers that it has now.
type homeOf struct {
	engine     func() *engine.Engine
	gate       func() *gate.Gate
	pool, more func() []tool.Tool
	// wall is the worktree that it must not leave; nil without one.
	wall  func() *tree
	depth int
}

// subagents is the session's delegation: what all crews share.
type subagents struct {
	b       *build
	kinds   func() *catalog.Catalog
	running agent.Count
	told    atomic.Int64 // how many were at work when a forecast was told last
	types   sync.Map     // agent id to its type, for hooks
	mate    sync.Map     // ids of those that are members of the team
	wg      sync.WaitGroup
	life    func() context.Context
	end     context.CancelFunc
	trees   sync.Mutex // one change of the repository's worktrees at a time

	mu   sync.Mutex
	ends []func() error // of subagents that have ended a run, and may go on
}

// delegation makes the tools that start subagents of the main conversation.
func (b *build) delegation(ctx context.Context) []tool.Tool {
	if b.o.Bare {
		return nil
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	b.crew = &subagents{b: b, kinds: b.defs.now, life: func() context.Context { return life }, end: end}
	b.conv.close = append(b.conv.close, b.crew.close)
	b.crew.sweep()
	main := homeOf{
		engine: func() *engine.Engine { return b.conv.Engine }, gate: func() *gate.Gate { return b.gateRef },
		pool: func() []tool.Tool { return b.pool }, more: func() []tool.Tool { return b.mcp.tools() },
	}
	cfg := b.crew.config(main, &b.background)
	if b.team != nil {
		cfg.Mail, cfg.Peers = b.team.post, b.team.peers
	}
	crew := agent.New(cfg)
	if !b.o.NoCommands {
		b.skills = &skills{b: b, hook: map[string]bool{}}
		b.craft = b.newSkills(main, crew, &b.seen)
	}
	return append(crew.Tools(), b.listing(crew)...)
}

// close ends the subagents that are still at work.
func (s *subagents) close() error {
	s.end()
	s.wg.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	var faults []error
	for _, end := range slices.Backward(s.ends) {
		faults = append(faults, end())
	}
	return errors.Join(faults...)
}

func (s *subagents) config(h homeOf, tasks *task.List) agent.Config {
	b := s.b
	return agent.Config{
		Kinds: func() []*catalog.Agent { return s.kinds().Agents },
		Offered: func(kind string) bool {
			return !denied(h.gate().Snapshot(), kind) && (h.depth > 0 || b.spawns(kind))
		},
		Spawn:  func(ctx context.Context, t agent.Task) (agent.Child, error) { return s.spawn(ctx, h, t) },
		Revive: func(ctx context.Context, id string) (agent.Child, agent.Task, error) { return s.revive(ctx, h, id) },
		Show: func(t event.TaskChanged) {
			if h.depth == 0 && t.Status != event.TaskProgress && t.Status != event.TaskMoved {
				b.hooks.follow(t)
				b.await(task.Notice{TaskID: t.ID, Status: t.Status})
			}
			h.engine().Aside(event.Event{Body: t})
		},
		Tasks: tasks, Depth: h.depth, Deepest: b.limit("CLAUDE_CODE_MAX_SUBAGENT_SPAWN_DEPTH", agent.DefaultDeepest),
		Most: b.limit("CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS", agent.DefaultMost), Running: &s.running,
		Background: b.env("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS") == "",
		Fork:       b.forks() && h.depth == 0,
		Worktrees:  s.worktrees(),
		Mates:      s.mates(h),
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
	if !feature.ForkSubagent {
		return false
	}
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
	s.forecast()
	return s.begin(ctx, &child{s: s, home: h, task: t}, nil)
}

// begin makes a subagent ready to run; past is what a resumed one goes on with.
func (s *subagents) begin(ctx context.Context, c *child, past *session.Conversation) (agent.Child, error) {
	if err := c.make(ctx, past); err != nil {
		return nil, errors.Join(err, c.free())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ends = append(s.ends, c.free)
	return c, nil
}
