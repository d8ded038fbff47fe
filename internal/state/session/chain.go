package session

import "maps"

import "github.com/hew-agent/hew/internal/msg"

// chain is the tree of a session as far as a writer needs it. The rules
// (transcript format, §2): an entry's parent is the one before it; each block
// of a reply hangs on the block before; each tool result hangs on its call;
// the next reply hangs on the result of the last call.
type chain struct {
	last string
	// reply is the key of the newest reply, tail its newest block.
	reply, tail string
	// calls maps the id of each unanswered call to its entry.
	calls map[string]string
	// parents holds the parent of each entry written, parts the further entries of a message.
	parents map[string]string
	parts   map[string][]string
}

func newChain(c *Conversation) chain {
	out := chain{calls: map[string]string{}, parents: map[string]string{}, parts: map[string][]string{}}
	if c != nil {
		out.last, out.tail = c.Leaf, c.tail
		maps.Copy(out.calls, c.calls)
	}
	return out
}

// open reports whether the call is known and unanswered.
func (c *chain) open(useID string) bool {
	_, ok := c.calls[useID]
	return ok
}

func (c *chain) add(id, parent string) {
	c.last = id
	c.parents[id] = parent
}

// replyParent is the parent of the next block of the reply key: the block
// before it, even when a call that started early has been answered since.
func (c *chain) replyParent(key string) string {
	if key == c.reply && key != "\x00" && c.tail != "" {
		return c.tail
	}
	return c.last
}

func (c *chain) addReply(key, id, parent string, b msg.Block, message string) {
	c.add(id, parent)
	c.reply, c.tail = key, id
	if message != "" && message != id {
		c.parts[message] = append(c.parts[message], id)
	}
	if u, ok := b.(*msg.ToolUse); ok {
		c.calls[u.ID] = id
	}
}

// answer notes a result. It moves the end of the chain only when it answers
// the newest block of the reply and nothing has come between, because a walk
// from it must pass all blocks.
func (c *chain) answer(useID, id, parent string) {
	delete(c.calls, useID)
	c.parents[id] = parent
	if c.last == parent {
		c.last = id
	}
}

// retract returns all entries of the messages ids and moves the end of the
// chain to before them.
func (c *chain) retract(ids []string) []string {
	var all []string
	gone := map[string]bool{}
	for _, id := range ids {
		for _, e := range append([]string{id}, c.parts[id]...) {
			all = append(all, e)
			gone[e] = true
		}
	}
	for use, entry := range c.calls {
		if gone[entry] {
			delete(c.calls, use)
		}
	}
	for at := c.last; at != ""; at = c.parents[at] {
		if gone[at] {
			c.last = c.parents[at]
			c.reply, c.tail = "", ""
		}
	}
	return all
}
