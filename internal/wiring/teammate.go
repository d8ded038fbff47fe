package wiring

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hew-agent/hew/internal/action/builtin"
	"github.com/hew-agent/hew/internal/action/builtin/agent"
	"github.com/hew-agent/hew/internal/action/team"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// mates tells whether a named subagent of this conversation becomes a member of
// its team: of the main conversation, while it leads one.
func (s *subagents) mates(h homeOf) bool {
	return s.b.team != nil && s.b.team.Leads() && h.depth == 0
}

// seat makes the subagent a member of its conversation's team: it shares the task
// list, has a mailbox, and goes on when mail comes.
func (c *child) seat(ctx context.Context) error {
	b := c.s.b
	if !c.task.Mate {
		return nil
	}
	me := team.Member{Name: c.task.Name, AgentType: c.kind(), Model: c.model(), Cwd: c.cwd(), Session: b.id}
	seat, err := team.Join(ctx, b.team.Folder, me, b.o.Now)
	if err != nil {
		var taken *team.Taken
		if errors.As(err, &taken) {
			return fmt.Errorf("the team %s has a running member %s already; write to it, or choose another name", taken.Team, taken.Name)
		}
		return err
	}
	c.team = &membership{Seat: seat, b: b, idle: map[string]bool{}}
	c.s.mate.Store(c.id(), true)
	// Once: a later member may have the name.
	c.leave = sync.OnceValue(func() error { return seat.Leave(context.WithoutCancel(ctx)) })
	c.ends = append(c.ends, c.leave)
	return nil
}

// shareTasks lets a member's task tools work on the team's list, under its name.
func (c *child) shareTasks(cfg *builtin.Config) {
	if c.team == nil {
		return
	}
	cfg.Tasks = c.s.b.tasksFolder()
	cfg.Member, cfg.TaskOwnerGone, cfg.TaskLog = c.team.Me.Name, c.team.Gone, c.team.Log
}

// crewOf bounds what a member of a team delegates: its subagents are waited for,
// and its messages go to the team.
func (c *child) crewOf(cfg agent.Config) agent.Config {
	if c.team != nil {
		cfg.Background, cfg.Mail, cfg.Peers = false, c.team.post, c.team.peers
	}
	return cfg
}

// stays runs a member of a team: prompt after prompt, until it agrees to end, a
// run fails or the session is over. Each run tells its own end.
func (c *child) stays(ctx context.Context, in engine.Input, wake func(), yield func(event.Event) bool) {
	for in.Message != nil {
		failed, gone := "", false
		c.home.engine().Relay(ctx, c.e, in, wake)(func(ev event.Event) bool {
			if d, ok := ev.Body.(event.Done); ok && ev.Origin == c.e.Origin() {
				failed = ""
				if d.Terminal.Err != nil {
					failed = "(it ended: " + d.Terminal.Detail + ")"
				}
			}
			gone = !yield(ev)
			return !gone
		})
		if failed != "" && ctx.Err() == nil {
			if err := c.team.Send(ctx, team.Lead, failed, "failed"); err != nil {
				c.s.b.notice(fmt.Sprintf("the team's member %s ended %s, and its lead could not be told: %v", c.team.Me.Name, failed, err))
			}
		}
		if failed != "" || gone {
			return
		}
		in.Message = nil
		if text := c.awaits(ctx); text != "" {
			in.Message = msg.User(c.s.b.o.NewID(), c.s.b.o.Now(), text)
			in.Message.Meta = true
		}
	}
}

// awaits tells the lead that the member is idle and waits for its mail, "" when
// the member is to end.
func (c *child) awaits(ctx context.Context) string {
	m, b := c.team, c.s.b
	look := func() string {
		mail, err := m.look(ctx)
		if err != nil && ctx.Err() == nil {
			b.notice(fmt.Sprintf("the mailbox of the team's member %s: %v", m.Me.Name, err))
		}
		if !mail {
			return ""
		}
		return m.mailText()
	}
	if m.leaving {
		return ""
	}
	if text := look(); text != "" {
		return text
	}
	if why := m.rest(ctx); why != "" {
		return why
	}
	for b.o.Sleep(ctx, lookEvery) == nil {
		if text := look(); text != "" {
			return text
		}
	}
	return ""
}
