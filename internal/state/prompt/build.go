package prompt

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/msg"
)

// lay puts the items behind out, each assistant message followed by its answers.
func (r *repair) lay(out []*msg.Message) []*msg.Message {
	r.compact()
	out = slices.Grow(out, len(r.items)+len(r.items)/2+1)
	for _, it := range r.items {
		if it.m.Role != msg.RoleAssistant {
			out = append(out, it.message(msg.RoleUser))
			continue
		}
		if len(out) == 0 {
			r.note(it.index, "put a user message in front")
			out = append(out, &msg.Message{Role: msg.RoleUser, Meta: true, Blocks: []msg.Block{msg.NewText(lostStart)}})
		}
		out = append(out, it.message(msg.RoleAssistant))
		if len(it.calls) > 0 {
			out = append(out, r.answers(it))
		}
	}
	return out
}

// close ends the conversation with a message of the user.
func (r *repair) close(out []*msg.Message) []*msg.Message {
	if n := len(out); n == 0 || out[n-1].Role == msg.RoleAssistant && !paused(out[n-1]) {
		out = append(out, &msg.Message{Role: msg.RoleUser, Meta: true, Blocks: []msg.Block{msg.NewText(goOn)}})
	}
	return out
}

// compact drops replies without a block, which may bring pieces of one reply together.
func (r *repair) compact() {
	kept := r.items[:0]
	var before *item
	for _, it := range r.items {
		if it.m.Role == msg.RoleAssistant {
			it.trimServer(before)
			it.trimThinking()
		}
		before = it
		if len(it.blocks) == 0 {
			r.note(it.index, "left out a reply with no usable block")
			continue
		}
		if n := len(kept); n > 0 && kept[n-1].sameReply(it.m) {
			last := kept[n-1]
			last.continued(it.m)
			last.blocks, last.calls = append(last.blocks, it.blocks...), append(last.calls, it.calls...)
			continue
		}
		kept = append(kept, it)
	}
	r.items = kept
}

// paused tells that the server stopped the reply to go on with it when it is
// sent back as it is.
func paused(m *msg.Message) bool { return m.Reply != nil && m.Reply.StopReason == "pause_turn" }

// trimThinking drops thinking that nothing follows: the API refuses it, and it
// only occurs in a reply that was cut.
//
// Thinking goes back whole or not at all: beside a piece without a signature
// the others of the reply go, too.
func (it *item) trimThinking() {
	if it.unsigned {
		it.without(func(b msg.Block) bool { _, ok := b.(*msg.Thinking); return ok })
	}
	n := len(it.blocks)
	for n > 0 {
		if _, ok := it.blocks[n-1].(*msg.Thinking); !ok {
			break
		}
		n--
	}
	if n < len(it.blocks) {
		it.blocks, it.same = it.blocks[:n], false
	}
}

func (it *item) message(role msg.Role) *msg.Message {
	if it.same {
		return it.m
	}
	m := *it.m
	m.Role, m.Blocks = role, it.blocks
	return &m
}

// answers is the message that answers the calls of it: the one in history when
// it is exactly that.
func (r *repair) answers(it *item) *msg.Message {
	from := it.calls[0].answer.from
	same := from != nil && len(from.Blocks) == len(it.calls)
	out := &msg.Message{Role: msg.RoleUser, Blocks: make([]msg.Block, len(it.calls))}
	for i, c := range it.calls {
		b := c.answer.block
		switch {
		case b == nil:
			b = msg.NewToolResult(c.use.ID, []msg.Block{msg.NewText(Interrupted)}, msg.Failed)
			r.note(it.index, "answered call %s as interrupted", c.use.ID)
		case b.ToolUseID != c.use.ID:
			b = msg.NewToolResult(c.use.ID, b.Content, msg.Outcome(b.IsError))
		}
		out.Blocks[i] = b
		same = same && from.Blocks[i] == msg.Block(b)
		if f := c.answer.from; f != nil && out.ID == "" {
			out.ID, out.Time = f.ID, f.Time
		}
	}
	if same {
		return from
	}
	return out
}

// without drops the blocks that bad tells.
func (it *item) without(bad func(msg.Block) bool) {
	if kept := slices.DeleteFunc(slices.Clone(it.blocks), bad); len(kept) < len(it.blocks) {
		it.blocks, it.same = kept, false
	}
}

// trimServer drops calls of the server's own tools that have no result in the
// reply, and results without their call. A reply that the server paused may
// end in a call; the reply after it begins with the result.
func (it *item) trimServer(before *item) {
	if !slices.ContainsFunc(it.blocks, func(b msg.Block) bool { _, ok := b.(*msg.Opaque); return ok }) {
		return
	}
	calls, results := map[string]bool{}, map[string]bool{}
	if before != nil && paused(before.m) {
		for _, b := range before.blocks {
			if o, ok := b.(*msg.Opaque); ok {
				calls[serverCall(o)] = true
			}
		}
	}
	for _, b := range it.blocks {
		if o, ok := b.(*msg.Opaque); ok {
			calls[serverCall(o)], results[serverResult(o)] = true, true
		}
	}
	it.without(func(b msg.Block) bool {
		o, ok := b.(*msg.Opaque)
		if !ok {
			return false
		}
		call, result := serverCall(o), serverResult(o)
		return call != "" && !results[call] && !paused(it.m) || result != "" && !calls[result]
	})
}

func serverCall(o *msg.Opaque) string {
	if !strings.HasSuffix(o.Type, "_tool_use") {
		return ""
	}
	return gjson.GetBytes(o.JSON(), "id").String()
}

func serverResult(o *msg.Opaque) string {
	if !strings.HasSuffix(o.Type, "_tool_result") {
		return ""
	}
	return gjson.GetBytes(o.JSON(), "tool_use_id").String()
}
