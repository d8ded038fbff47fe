package compact

import (
	"slices"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// Project shows history with edits made, in their order. Messages that none of
// them is about keep their pointer; an edit about something that is not there is
// left out. It is a pure function: a resumed session that projects the recorded
// edits onto its transcript sends the bytes that it sent before.
func Project(history []*msg.Message, edits []event.Edit) []*msg.Message {
	out := slices.Clone(history)
	results := map[string]event.Edit{}
	for _, e := range edits {
		switch {
		case e.Use != "":
			results[e.Use] = e
		case e.Message != "":
			out = restate(out, e)
		case e.From != "":
			out = span(out, e)
		}
	}
	if len(results) == 0 {
		return out
	}
	for i, m := range out {
		out[i] = cleared(m, results)
	}
	return out
}

// cleared is m with the results of calls replaced.
func cleared(m *msg.Message, results map[string]event.Edit) *msg.Message {
	var blocks []msg.Block
	for i, b := range m.Blocks {
		r, ok := b.(*msg.ToolResult)
		if !ok {
			continue
		}
		e, ok := results[r.ToolUseID]
		if !ok || shows(r, e.Text) {
			continue
		}
		if blocks == nil {
			blocks = slices.Clone(m.Blocks)
		}
		blocks[i] = msg.NewToolResult(r.ToolUseID, []msg.Block{msg.NewText(e.Text)}, msg.Outcome(r.IsError))
	}
	if blocks == nil {
		return m
	}
	return with(m, blocks)
}

func shows(r *msg.ToolResult, text string) bool {
	if len(r.Content) != 1 {
		return false
	}
	t, ok := r.Content[0].(*msg.Text)
	return ok && t.Text == text
}

// with is a copy of m that holds blocks.
func with(m *msg.Message, blocks []msg.Block) *msg.Message {
	c := *m
	c.Blocks = blocks
	return &c
}

// restate replaces what a message of the user says; results of calls stay.
func restate(ms []*msg.Message, e event.Edit) []*msg.Message {
	i := slices.IndexFunc(ms, func(m *msg.Message) bool { return m.ID == e.Message })
	if i < 0 || ms[i].Role != msg.RoleUser {
		return ms
	}
	var blocks []msg.Block
	for _, b := range ms[i].Blocks {
		if r, ok := b.(*msg.ToolResult); ok {
			blocks = append(blocks, r)
		}
	}
	ms[i] = with(ms[i], append(blocks, msg.NewText(e.Text)))
	return ms
}

// span puts one message in the place of several. It has the id of the first, so
// that a later span may begin with it.
func span(ms []*msg.Message, e event.Edit) []*msg.Message {
	from := slices.IndexFunc(ms, func(m *msg.Message) bool { return m.ID == e.From })
	until := slices.IndexFunc(ms, func(m *msg.Message) bool { return m.ID == e.Until })
	if from < 0 || until <= from {
		return ms
	}
	marker := &msg.Message{
		ID: e.From, Role: msg.RoleUser, Meta: true, Time: ms[from].Time,
		Blocks: []msg.Block{msg.NewText(e.Text)},
	}
	return slices.Replace(ms, from, until, marker)
}
