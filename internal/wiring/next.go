package wiring

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/msg"
)

// Patience says how long a conversation that nobody speaks to waits for what it
// has begun itself.
type Patience int

const (
	// Bounded waits up to the ceiling of a run of one prompt.
	Bounded Patience = iota
	// Endless waits as long as there is something to come: a host is there.
	Endless
)

// waitCeiling bounds how long a run of one prompt waits after its answer
// (settings.md: CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS; 0 is no bound).
const waitCeiling = 10 * time.Minute

// lookEvery is how often files and clocks are looked at while a conversation
// waits: nothing else tells of another process's mail on every system.
const lookEvery = 100 * time.Millisecond

func (b *build) ceiling() time.Duration {
	n, err := strconv.Atoi(b.env("CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS"))
	if err != nil || n < 0 {
		return waitCeiling
	}
	return time.Duration(n) * time.Millisecond
}

// Next waits between two runs for what the conversation should go on with by
// itself: a scheduled prompt, lines of a watched command, the end of a subagent
// in the background, mail of the team. Nil: there is nothing to wait for, or no
// more patience. It must not be called during a run. With
// Options.Lends other processes may continue the session until the next run.
func (c *Conversation) Next(ctx context.Context, patience Patience) *msg.Message {
	b := c.build
	if b.o.Lends {
		if err := b.log.Lend(); err != nil {
			b.notice(err.Error())
		}
	}
	if why := b.restless(ctx); why != "" {
		return b.automatic(why)
	}
	var waited time.Duration
	limit := b.ceiling()
	for ctx.Err() == nil {
		if text := b.happened(ctx); text != "" {
			return b.automatic(text)
		}
		what := b.awaited(ctx)
		if what == "" {
			return nil
		}
		if patience == Bounded && limit > 0 && waited >= limit {
			b.notice(fmt.Sprintf("the run ends after waiting %s for %s (CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS)", limit, what))
			return nil
		}
		if b.o.Sleep(ctx, lookEvery) != nil {
			return nil
		}
		waited += lookEvery
	}
	return nil
}

// restless asks, once a run is over, whether a member of a team may rest.
func (b *build) restless(ctx context.Context) string {
	if b.team == nil || b.team.leaving || !b.team.worked {
		return ""
	}
	if mail, err := b.team.look(ctx); mail || err != nil {
		return "" // it is not idle; what is wrong is told below
	}
	return b.team.rest(ctx)
}

// automatic makes the prompt of what nobody typed.
func (b *build) automatic(text string) *msg.Message {
	m := msg.User(b.o.NewID(), b.o.Now(), text)
	m.Meta = true
	return m
}

// happened is what there is to go on with now, "" for nothing.
func (b *build) happened(ctx context.Context) string {
	var texts []string
	for _, p := range b.plans.Due() {
		texts = append(texts, fmt.Sprintf("<scheduled-prompt id=%q>\n%s\n</scheduled-prompt>", p.ID, p.Prompt))
	}
	for _, n := range b.background.Events() {
		texts = append(texts, n.Text)
	}
	for _, n := range b.background.Notices() {
		texts = append(texts, n.Text)
	}
	if b.team != nil && !b.team.leaving {
		if mail, err := b.team.look(ctx); err != nil {
			b.notice("the team's mailbox: " + err.Error())
		} else if mail {
			texts = append(texts, b.team.mailText())
		}
	}
	return strings.Join(texts, "\n")
}

// isMate tells a subagent that is a member of the team: whether something may
// still come of it, the team tells.
func (b *build) isMate(id string) bool {
	if b.crew == nil {
		return false
	}
	_, mate := b.crew.mate.Load(id)
	return mate
}

// awaited names what may still come, "" for nothing.
func (b *build) awaited(ctx context.Context) string {
	agent, watch := false, false
	for _, w := range b.background.All() {
		st := w.Status()
		running := !st.State.Final() && !b.isMate(st.ID)
		agent = agent || running && !st.Stream
		watch = watch || running && st.Watch
	}
	switch {
	case agent:
		return "a subagent"
	case watch:
		return "a watched command"
	case len(b.plans.All()) > 0:
		return "a scheduled prompt"
	case b.team != nil && b.team.expects(ctx):
		return "the team"
	}
	return ""
}
