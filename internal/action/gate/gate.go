// Package gate holds the admission of calls: validation → hooks → policy → classifier → question; grants; exactly-once answers.
//
// It is the only place where hooks, policy and a person's word come together.
// Tools contain no permission code, and policy opens nothing and asks nobody.
package gate

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/tool"
)

// Asker answers questions. It blocks until there is an answer or ctx ends.
type Asker interface {
	Ask(ctx context.Context, q event.Question) (event.Answer, error)
}

// Config makes a Gate.
type Config struct {
	Snapshot *policy.Snapshot
	Paths    policy.Paths
	// Shell is the language of the shell that runs commands.
	Shell policy.Shell
	// Confined tells that a shell call would run in the sandbox, and that this
	// is enough to run it unasked. Nil is never.
	Confined func(tool.Planned) bool
	// Asker is nil when nobody can be asked: a call that would ask is refused.
	Asker Asker
	// PromptTool is the tool behind Asker, which the model is not to see; "" for none.
	PromptTool string
	// Hooks is optional.
	Hooks Hooks
	// HooksFirst tells that a person is asked only after the hooks gave no answer,
	// as where other work goes on meanwhile; else they are asked side by side.
	HooksFirst bool
	// Classifier is nil when auto mode is not available.
	Classifier Classifier
	// Resumed tells that the session goes on from an earlier process, whose
	// session grants are not restored.
	Resumed bool
	// Defers tells that a call which a hook puts off can be kept for later.
	Defers bool
	// BypassAllowed tells that bypassPermissions was enabled at launch.
	BypassAllowed bool
	// Save writes a lasting answer to the settings file of its destination. Optional.
	Save  func(event.Suggestion) error
	NewID func() string
}

// Gate admits calls. It is safe for concurrent use.
type Gate struct {
	c    Config
	snap atomic.Pointer[policy.Snapshot] // nil in a subagent's gate that keeps to its heritage
	mu   sync.Mutex                      // guards replacing snap
	up   *heritage                       // nil in the main conversation
	// own is the mode that a subagent has entered by itself.
	own atomic.Pointer[policy.Mode]
	// lent are rules on loan; see Lend.
	lent atomic.Pointer[lent]
	// prior is the mode that plan mode was entered from.
	prior policy.Mode
}

// New makes a gate.
func New(c Config) *Gate {
	g := &Gate{c: c}
	g.snap.Store(c.Snapshot)
	return g
}

// Snapshot is the policy in force.
func (g *Gate) Snapshot() *policy.Snapshot {
	s := g.settled()
	if l := g.lent.Load(); l != nil {
		return l.over(s)
	}
	return s
}

// settled is the policy without what is lent.
func (g *Gate) settled() *policy.Snapshot {
	if g.up == nil {
		return g.snap.Load()
	}
	s := g.up.snapshot()
	if own := g.own.Load(); own != nil {
		return s.WithMode(*own)
	}
	return s
}

// enter changes the mode: in the main conversation for everything, in a
// subagent for it alone.
func (g *Gate) enter(m policy.Mode) {
	if g.up != nil {
		g.own.Store(&m)
		return
	}
	g.snap.Store(g.snap.Load().WithMode(m))
}

// Mode is the permission mode.
func (g *Gate) Mode() string { return string(g.Snapshot().Mode()) }

// SetMode changes the mode. bypassPermissions must have been enabled at launch.
func (g *Gate) SetMode(name string) error {
	m, _, err := policy.ParseMode(name)
	if err != nil {
		return err
	}
	if m == policy.Bypass && !g.c.BypassAllowed {
		return fmt.Errorf("the mode %s can only be entered when it was enabled at launch (--dangerously-skip-permissions or --allow-dangerously-skip-permissions)", m)
	}
	if m == policy.Auto && g.c.Classifier == nil {
		return fmt.Errorf("the mode %s is not available: it is switched off by disableAutoMode", m)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if now := g.Snapshot().Mode(); m == policy.Plan && now != policy.Plan {
		g.prior = now
	}
	g.enter(m)
	return nil
}

// Reload replaces the policy by what next makes of the one in force; updates
// and changes of the mode wait. next must be pure but for what it reads.
func (g *Gate) Reload(next func(now *policy.Snapshot) *policy.Snapshot) {
	if g.up != nil {
		g.up.from.Reload(next)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.snap.Store(next(g.snap.Load()))
}

// AfterPlan is the mode to go on with when a plan is approved: the one that the
// answer chose, else the one before the plan.
func (g *Gate) AfterPlan() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if m := g.Snapshot().Mode(); m != policy.Plan {
		return string(m)
	}
	if g.prior == "" {
		return string(policy.Default)
	}
	return string(g.prior)
}

// Offered reports whether the model may see a tool: one that is denied as a
// whole is not even named.
func (g *Gate) Offered(s tool.Spec) bool {
	if s.Name == g.c.PromptTool {
		return false
	}
	_, removed := g.Snapshot().Removed(s)
	return !removed
}

// Admit is the whole order of the permission chain. Each stage adds a step to
// the decision's trace.
func (g *Gate) Admit(ctx context.Context, p tool.Planned, emit func(event.Body)) (tool.Admitted, *tool.Refusal) {
	before, p, err := g.before(ctx, p, emit)
	a, r := g.judged(ctx, p, before, err, emit)
	return a, informed(r, before.Context)
}

// judged is Admit after the hooks; err says that they made an input of which
// the tool understands nothing.
func (g *Gate) judged(ctx context.Context, p tool.Planned, before HookAnswer, err error, emit func(event.Body)) (tool.Admitted, *tool.Refusal) {
	if err != nil {
		return g.refuse(p, invalid("hooks", err), tool.Refused(err.Error()), emit)
	}
	d := g.decide(p, before)
	if g.judges(d) {
		judged := g.places(p)
		if d = g.classified(ctx, p, d, before, emit); g.moved(p, judged) {
			return g.refuse(p, d.Decision, tool.Failure(movedText), emit)
		}
	}
	if before.Deferred && d.Behavior != tool.Deny && g.c.Defers && g.up == nil {
		return g.putOff(d)
	}
	if d.Behavior == tool.Ask {
		return g.ask(ctx, p, g.unrestored(d), before, emit)
	}
	if d.Behavior == tool.Deny {
		return g.blocked(ctx, p, d, emit)
	}
	return g.admit(p, d.Decision, emit)
}

func (g *Gate) decide(p tool.Planned, h HookAnswer) policy.Decision {
	return g.Snapshot().Decide(g.request(p, h))
}

// request is a call as the policy sees it; a live call and an explained one
// are the same.
func (g *Gate) request(p tool.Planned, h HookAnswer) policy.Request {
	return policy.Request{
		Spec: p.Tool.Spec(), Input: p.Use.Input, Needs: p.Call.Needs(), Traits: p.Call.Traits(),
		Cwd: p.Env.Cwd, Paths: g.c.Paths, Shell: g.c.Shell, Hook: h.Behavior, HookReason: h.Reason,
		Sandboxed: g.c.Confined != nil && g.c.Confined(p),
	}
}

func (g *Gate) admit(p tool.Planned, d tool.Decision, emit func(event.Body)) (tool.Admitted, *tool.Refusal) {
	if g.c.Classifier != nil {
		g.c.Classifier.Ran(p)
	}
	if p.Call.Traits().Confined {
		d.Trace = append(d.Trace, tool.Step{Name: "sandbox", Outcome: "confined"})
	}
	emit(event.Decided{Use: p.Use, Decision: d})
	return tool.Admitted{Tool: p.Tool, Use: p.Use, Call: p.Call, Decision: d}, nil
}

func (g *Gate) refuse(p tool.Planned, d tool.Decision, r tool.Result, emit func(event.Body)) (tool.Admitted, *tool.Refusal) {
	d.Behavior = tool.Deny
	emit(event.Decided{Use: p.Use, Decision: d})
	return tool.Admitted{}, &tool.Refusal{Result: r, Decision: d}
}

// Review runs the hooks after a call, and adds what the person said who allowed it.
func (g *Gate) Review(ctx context.Context, a tool.Admitted, r tool.Result, took time.Duration, emit func(event.Body)) (tool.Result, tool.Verdict) {
	if g.c.Hooks == nil {
		return said(a, r), tool.Verdict{}
	}
	res, v := g.c.Hooks.After(ctx, a, r, took, emit)
	if g.c.Classifier != nil {
		for _, n := range v.Notes {
			g.c.Classifier.Noted(n)
		}
	}
	return said(a, res), v
}
