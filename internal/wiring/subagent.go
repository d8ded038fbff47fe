package wiring

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/hew-agent/hew/internal/action/builtin/agent"
	"github.com/hew-agent/hew/internal/action/gate"
	"github.com/hew-agent/hew/internal/action/task"
	"github.com/hew-agent/hew/internal/backend/feature"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/catalog"
	"github.com/hew-agent/hew/internal/state/memory"
	"github.com/hew-agent/hew/internal/state/prompt"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/tool"
)

// child is one subagent.
type child struct {
	s     *subagents
	home  homeOf
	task  agent.Task
	e     *engine.Engine
	gate  *gate.Gate
	pool  []tool.Tool
	seen  *fsys.ReadState
	work  task.List               // its own background work
	book  *memory.Notebook        // nil without a memory of its own
	tree  *tree                   // nil without a worktree
	own   atomic.Pointer[servers] // those that its file brings, while it runs
	log   *session.Log
	team  *membership  // its place in the team, nil for one that only reports
	leave func() error // gives that place up
	craft *skillset    // its skills, nil when they are switched off
	meta  meta
	stop  []func() error // what ends with a run
	ends  []func() error // what ends with the session
}

func (c *child) id() string { return c.task.ID }

func (c *child) kind() string {
	if c.task.Kind == nil {
		return "fork"
	}
	return c.task.Kind.Name
}

// make builds the engine; past is what a resumed one goes on with.
func (c *child) make(ctx context.Context, past *session.Conversation) error {
	b, t := c.s.b, c.task
	if err := c.place(ctx); err != nil {
		return err
	}
	if err := c.seat(ctx); err != nil {
		return err
	}
	c.remembers()
	c.gate = c.home.gate().Child(gate.ChildConfig{Shape: c.shape, Asker: c.asker(), HooksFirst: t.Background || b.team != nil})
	if err := c.tools(); err != nil {
		return err
	}
	cfg := engine.Child{
		Origin: event.Origin{Agent: t.ID, ParentUse: t.Use}, Tools: c.pool, More: c.more, Gate: c.permissions(), Cwd: c.task.Cwd,
		Model: c.model(), Effort: t.Effort, Interactive: b.o.Interactive && c.asker() != nil, Sources: c.sources(),
	}
	if err := c.mind(&cfg, past); err != nil {
		return err
	}
	if b.hooks != nil {
		cfg.Hooks = &childHooks{b.hooks, c}
		c.s.types.Store(t.ID, c.kind())
	}
	if err := c.record(&cfg, past); err != nil {
		return err
	}
	cfg.Shaper = b.shaperOf(c)
	c.e = c.home.engine().Child(cfg)
	return nil
}

// place settles where the subagent works: where it was told to, inside the
// working directories, or in a worktree of its own.
func (c *child) place(ctx context.Context) error {
	if feature.AgentCwd && c.task.Cwd != "" && c.tree == nil {
		if err := c.settle(c.task.Cwd); err != nil {
			return err
		}
	}
	if c.task.Isolation != isolationWorktree {
		return nil
	}
	if err := c.openTree(ctx); err != nil {
		return err
	}
	c.task.Cwd = c.tree.dir()
	return nil
}

// settle lets the subagent work in a folder of the working directories.
func (c *child) settle(dir string) error {
	at, err := fsys.Locate(c.home.engine().Place().Cwd, dir)
	if err != nil {
		return fmt.Errorf("the subagent's folder: %w", err)
	}
	if k := fsys.KindOf(at.Real); k != fsys.KindDir {
		return fmt.Errorf("the subagent's folder %s is not a directory (%s)", fsys.Printable(dir), k)
	}
	roots := c.home.engine().Place().Roots
	if !slices.ContainsFunc(roots, func(r string) bool { return fsys.Within(r, at.Real) }) {
		return fmt.Errorf("the subagent's folder %s lies outside the working directories (%s)", fsys.Printable(dir), strings.Join(roots, ", "))
	}
	c.task.Cwd = at.Real
	return nil
}

// model is what answers: the environment, the call, the agent's file, the parent.
func (c *child) model() string {
	if c.task.Kind == nil {
		return "" // a copy shares its parent's prefix
	}
	if m := c.s.b.env("CLAUDE_CODE_SUBAGENT_MODEL"); m != "" && m != "inherit" {
		return m
	}
	if c.task.Model != "" && c.task.Model != "inherit" {
		return c.task.Model
	}
	return c.task.Kind.Model
}

// mind settles what the subagent is told and what it remembers.
func (c *child) mind(cfg *engine.Child, past *session.Conversation) error {
	b, k := c.s.b, c.task.Kind
	if k == nil {
		cfg.System, cfg.History = c.home.engine().Conversation()
		cfg.Copy, cfg.Effort, cfg.Sources = past == nil, "", nil
		if past != nil {
			cfg.History, cfg.Break = past.Messages, "resume"
		}
		return nil
	}
	body, err := k.Prompt()
	if err != nil {
		return err
	}
	if c.team == nil { // what the file brings for a subagent is not for a member
		body += c.skills()
	}
	env := b.surroundings()
	env.Cwd = c.cwd()
	if k.Bare {
		env.Git = nil
	}
	if c.book != nil {
		body += "\n\n" + c.book.Instructions()
	}
	cfg.System = prompt.System(prompt.Config{Role: body, Env: env})
	if c.tree != nil {
		cfg.System = append(cfg.System, c.tree.about())
	}
	cfg.MaxTurns = k.MaxTurns
	if cfg.Effort == "" {
		cfg.Effort = k.Effort
	}
	if past != nil {
		cfg.History, cfg.Break = past.Messages, "resume"
	}
	return nil
}

func (c *child) cwd() string {
	if c.task.Cwd != "" {
		return c.task.Cwd
	}
	return c.home.engine().Place().Cwd
}

// skills are the instructions of the skills that the agent's file names: those
// that a model may invoke, whole, with what they would run left as it is written.
func (c *child) skills() string {
	var out strings.Builder
	for _, name := range c.task.Kind.Skills {
		i := slices.IndexFunc(c.s.kinds().Skills, func(s *catalog.Skill) bool { return s.Name == name })
		if i < 0 || !c.s.kinds().Skills[i].ForModel {
			c.s.b.notice(fmt.Sprintf("agent %s: there is no skill %q that a model may use", c.kind(), name))
			continue
		}
		s := c.s.kinds().Skills[i]
		body, err := s.Body()
		if err != nil {
			c.s.b.notice(fmt.Sprintf("agent %s: %v", c.kind(), err))
			continue
		}
		out.WriteString("\n\n# Skill " + s.Name + "\n")
		if s.Dir != "" {
			out.WriteString("Base directory of this skill: " + s.Dir + "\n")
		}
		out.WriteString("\n" + strings.TrimSpace(body))
	}
	return out.String()
}

// remembers gives the subagent the notebook that its file asks for.
func (c *child) remembers() {
	b, k := c.s.b, c.task.Kind
	if k == nil || k.Memory == "" || b.notebook == nil {
		return
	}
	n, err := memory.AgentNotebook(k.Memory, strings.ReplaceAll(k.Name, ":", "-"), b.home.Dir, b.place.Project)
	if err != nil {
		b.notice(err.Error())
		return
	}
	if in := filepath.Join(b.place.Project, ".claude"); fsys.Within(in, n.Dir) {
		n.Within = b.place.Project // no link of a repository leads the notes out of it
	}
	c.book = &n
}

// sources are what speaks up in the subagent's conversation.
func (c *child) sources() []prompt.Source {
	b := c.s.b
	out := []prompt.Source{backgroundNotices{work: &c.work}}
	if k := c.task.Kind; k != nil && !k.Bare && !b.uninstructed() {
		out = append(out, &lazyFiles{b: b})
	}
	if c.craft != nil {
		out = append(out, c.craft)
	}
	if c.team != nil {
		out = append(out, teamMail{c.team})
	}
	return append(out, agentListing{b: b, offers: func(s tool.Spec) bool {
		return slices.ContainsFunc(c.pool, func(t tool.Tool) bool { return t.Spec().Name == s.Name }) && c.gate.Offered(s)
	}, gate: func() *gate.Gate { return c.gate }})
}

// Run gives the subagent a prompt.
func (c *child) Run(ctx context.Context, text string, wake func()) iter.Seq[event.Event] {
	b := c.s.b
	in := engine.Input{Message: msg.User(b.o.NewID(), b.o.Now(), text), Source: "agent"}
	return func(yield func(event.Event) bool) {
		if err := c.start(ctx); err != nil {
			yield(event.Event{Origin: c.e.Origin(), Body: event.Done{Terminal: event.Terminal{Reason: event.SetupFailed, Err: err, Detail: err.Error()}}})
			return
		}
		if c.team != nil {
			c.stays(ctx, in, wake, yield)
			return
		}
		c.home.engine().Relay(ctx, c.e, in, wake)(yield)
	}
}

// start brings in what the subagent has only while it runs.
func (c *child) start(ctx context.Context) error {
	if len(c.stop) > 0 {
		return nil // it goes on
	}
	c.stop = append(c.stop, func() error { return nil })
	if c.leave != nil {
		c.stop = append(c.stop, c.leave)
	}
	if c.tree != nil {
		if err := c.tree.enter(ctx); err != nil {
			return err
		}
	}
	b, k := c.s.b, c.task.Kind
	if k == nil {
		return nil
	}
	if b.hooks != nil && k.Hooks != nil {
		remove := b.hooks.d.Register(agentHooks(c.task))
		c.stop = append(c.stop, func() error { remove(); return nil })
	}
	if c.team != nil {
		return nil
	}
	return c.connect(ctx)
}

// Mail is the queue of messages.
func (c *child) Mail() agent.Mail { return mail{c} }

type mail struct{ c *child }

// Steer queues a message.
func (m mail) Steer(text string) {
	b := m.c.s.b
	m.c.e.Steer(msg.User(b.o.NewID(), b.o.Now(), text))
}

// Unread takes back what was not taken up.
func (m mail) Unread() string {
	var texts []string
	for q := m.c.e.Queued(); q != nil; q = m.c.e.Queued() {
		texts = append(texts, q.Text())
	}
	return strings.Join(texts, "\n\n")
}

// Transcript is the sidechain's file.
func (c *child) Transcript() string {
	if c.log == nil {
		return ""
	}
	return c.log.Path()
}

// Close ends what the subagent had while it ran.
func (c *child) Close(ctx context.Context, end event.Terminal) agent.Rest {
	var rest agent.Rest
	faults := []error{c.work.Close()}
	for _, f := range slices.Backward(c.stop) {
		faults = append(faults, f())
	}
	c.stop = nil
	if err := errors.Join(faults...); err != nil {
		rest.Note = "What it had left running could not be ended: " + err.Error()
	}
	if c.tree != nil {
		rest = c.tree.leave(ctx, rest)
	}
	if err := errors.Join(c.finished(end), c.log.Rest()); err != nil {
		c.s.b.notice("the transcript of the subagent " + c.id() + ": " + err.Error())
	}
	return rest
}

// free gives back what the subagent keeps for another run.
func (c *child) free() error {
	var faults []error
	for _, f := range slices.Backward(c.ends) {
		faults = append(faults, f())
	}
	return errors.Join(faults...)
}
