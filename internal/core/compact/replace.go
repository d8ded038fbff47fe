package compact

import (
	"context"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/core/loop"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// Parts of the room that each piece of a new window may take, in percent; what
// is left over is for what estimates miss.
const (
	keptPart    = 33
	summaryPart = 30
	wordsPart   = 20
	livePart    = 12
)

// keptGroups is how many of the newest groups may stay word for word.
const keptGroups = 3

// cut decides what stays and what is summarised.
func (j *job) cut() {
	ms, c := j.w.Messages, j.a.c
	at := 0
	if len(ms) > 0 && ms[0].Role == msg.RoleUser && ms[0].Meta && !isSummary(ms[0]) && !marks(ms[0]) {
		j.context, at = ms[0], 1
	}
	fixed := 0
	if j.context != nil {
		fixed = j.context.EstimateTokens()
	}
	if c.Overhead != nil {
		fixed += c.Overhead()
	}
	j.before = j.w.Size
	j.available = j.l.Target - fixed
	if j.available < j.l.Window/10 {
		j.available = (j.l.Hard - fixed) / 2
	}
	from := j.keepFrom(groups(ms, at), at)
	if from == at && j.trigger == "manual" { // a person wants it shorter, however short it is
		from, j.edits = len(ms), nil
	}
	j.old, j.kept = ms[at:from], ms[from:]
	if len(j.old) == 1 && isSummary(j.old[0]) {
		j.old = nil
	}
	if len(j.edits) > 0 {
		j.kept = Project(j.kept, j.edits)
	}
}

// keepFrom is the index of the first message that stays. A prompt that waits for
// its answer always does.
func (j *job) keepFrom(gs []group, at int) int {
	ms, room := j.w.Messages, j.available*keptPart/100
	from, sum := len(ms), 0
	for i := len(gs) - 1; i >= 0 && len(gs)-i <= keptGroups; i-- {
		g := gs[i]
		if isSummary(ms[g.from]) || g.from < at {
			break
		}
		waits := i == len(gs)-1 && g.prompt || g.until == from && g.prompt && sum > 0 && sum+g.tokens <= 2*room
		if sum+g.tokens > room && !waits {
			if i < len(gs)-1 {
				break
			}
			edits := j.a.c.tighten(ms[g.from:g.until], room)
			for _, e := range edits {
				g.tokens -= e.Tokens
			}
			if g.tokens > room {
				break
			}
			j.edits = edits
		}
		sum += g.tokens
		from = g.from
	}
	return from
}

// summaryOf is the text of a summary message without what people said.
func summaryOf(m *msg.Message) string {
	if len(m.Blocks) > 1 {
		if t, ok := m.Blocks[1].(*msg.Text); ok {
			return t.Text
		}
	}
	text, _, _ := strings.Cut(m.Text(), openWords)
	return text
}

// message is the summary message. Its blocks are the lead, the summary, what
// people said, and what they pinned.
func (j *job) message(summary string) *msg.Message {
	c := j.a.c
	m := &msg.Message{ID: c.NewID(), Role: msg.RoleUser, Meta: true, Time: c.Now()}
	room := bytesOf(j.available * summaryPart / 100)
	if len(summary) > room {
		summary = headTail(summary, room)
	}
	m.Blocks = []msg.Block{msg.NewText(c.lead(j.kept)), msg.NewText("\n\n" + summary)}
	pinned := j.pinned()
	if said := quote(words(j.old), bytesOf(j.available*wordsPart/100)-len(pinned)); said != "" {
		m.Blocks = append(m.Blocks, msg.NewText("\n\nWhat the user said, word for word:\n"+said))
	}
	if pinned != "" {
		m.Blocks = append(m.Blocks, msg.NewText(pinned))
	}
	return m
}

// replace makes the new window and tells of it, in the order of the transcript:
// boundary and summary, what stays, live state, what hooks add.
func (j *job) replace(ctx context.Context, summary string) (loop.Window, error) {
	c := j.a.c
	m := j.message(summary)
	if c.Context != nil {
		if now := c.Context(); now != nil {
			j.context = now
		}
	}
	var next []*msg.Message
	if j.context != nil {
		next = append(next, j.context)
	}
	next = append(append(next, m), j.kept...)
	live := j.live()
	post := tokens(next)
	for _, x := range live {
		post += x.EstimateTokens()
	}
	if c.Overhead != nil {
		post += c.Overhead()
	}
	if len(j.edits) > 0 {
		j.emit(event.Shaped{Stage: StageBudget, Before: j.before, After: j.before, Detail: "results of the newest calls were cut", Edits: j.edits})
	}
	j.a.dropped += max(0, j.before-post)
	done := event.Compacted{
		Trigger: j.trigger, PreTokens: j.before, PostTokens: post, Dropped: j.a.dropped, Took: c.Now().Sub(j.began),
		Boundary: c.NewID(), AnchorID: m.ID, Summary: m, Context: j.context,
	}
	if len(j.kept) > 0 {
		done.HeadID, done.TailID = j.kept[0].ID, j.kept[len(j.kept)-1].ID
	}
	j.emit(event.Compacting{Trigger: j.trigger, Percent: post * 100 / j.l.Window, Over: true})
	j.emit(done)
	if ctx.Err() != nil { // the boundary may not be in the transcript
		return j.w, context.Cause(ctx)
	}
	if c.Hooks != nil {
		live = append(live, c.Hooks.After(ctx, j.trigger, summary, j.emit)...)
	}
	for _, x := range live {
		j.emit(event.Message{Msg: x, Source: "inject"})
	}
	j.emit(event.Shaped{Stage: StageAuto, Before: j.before, After: post, Detail: j.trigger})
	w := j.w
	w.Messages, w.Size, w.Break, w.Summarised = append(next, live...), post, StageAuto, true
	return w, nil
}

// live is what goes on beside the conversation, said again.
func (j *job) live() []*msg.Message {
	c := j.a.c
	if c.Live == nil {
		return nil
	}
	room := bytesOf(j.available * livePart / 100)
	m := &msg.Message{ID: c.NewID(), Role: msg.RoleUser, Meta: true, Time: c.Now()}
	all := c.Live(j.old)
	slices.SortStableFunc(all, func(a, b Announcement) int {
		switch {
		case a.Pinned == b.Pinned:
			return 0
		case a.Pinned:
			return -1
		}
		return 1
	})
	for _, x := range all {
		if len(x.Text) > room && !x.Pinned {
			continue
		}
		room -= len(x.Text)
		m.Blocks = append(m.Blocks, msg.NewText("<system-reminder>\n"+x.Text+"\n</system-reminder>"))
	}
	if len(m.Blocks) == 0 {
		return nil
	}
	return []*msg.Message{m}
}
