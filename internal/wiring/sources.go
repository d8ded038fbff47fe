package wiring

import (
	"context"
	"slices"

	"github.com/hew-agent/hew/internal/action/task"
	"github.com/hew-agent/hew/internal/state/prompt"
	"github.com/hew-agent/hew/internal/tool"
)

// sources are what speaks up while a conversation runs, in the order in which
// it stands in the window: one line each.
func (b *build) sources(ctx context.Context) []prompt.Source {
	out := []prompt.Source{
		&deferredTools{list: func() []tool.Spec { return b.conv.Engine.OnDemand() }},
		b.agentListing(),
		&styleReminder{b: b},
		backgroundNotices{&b.background, b.lostWork()},
		b.mcp,
	}
	if b.crew != nil {
		out = append(out, agentMention{b})
	}
	if !b.o.Bare {
		out = append(out, fileMention{b})
	}
	if b.team != nil {
		out = append(out, teamMail{b.team})
	}
	if b.craft != nil {
		out = append(out, b.craft)
	}
	if !b.uninstructed() {
		b.lazy = &lazyFiles{b: b}
		out = append(out, b.lazy)
	}
	if b.diagnoses != nil {
		out = append(out, b.diagnoses)
	}
	if b.notebook != nil {
		b.recall = b.remember(ctx)
		out = append(out, b.recall)
	}
	return out
}

// backgroundNotices tells of background work that has ended.
type backgroundNotices struct {
	work *task.List
	// lost is what ran when an earlier process of this session ended; each item is
	// said once.
	lost []prompt.Item
}

// Name is the source's word for programs.
func (backgroundNotices) Name() string { return "background_notice" }

// Class says that notices come while the work goes on.
func (backgroundNotices) Class() prompt.Class { return prompt.Runtime }

// Delta is what watched commands printed and a notice of each command that has
// ended since the last call.
func (n backgroundNotices) Delta(context.Context, prompt.Facts) ([]prompt.Item, error) {
	out := slices.Clone(n.lost)
	for _, t := range append(n.work.Events(), n.work.Notices()...) {
		out = append(out, prompt.Item{Text: t.Text, Tagged: true})
	}
	return out, nil
}
