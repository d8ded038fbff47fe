package session

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/msg"
)

// builder turns the way from root to leaf into messages.
type builder struct {
	*tree
	c        *Conversation
	answered map[string]bool
	entryOf  map[string]string // call → entry
	order    []*msg.ToolUse
	err      error // of reading the file
	scratch  []byte
	keep     bool // blocks may keep the memory of the lines
}

func (l *loader) conversation() (*Conversation, error) {
	t, err := l.newTree()
	if err != nil {
		return nil, err
	}
	b := &builder{tree: t, c: &Conversation{ID: l.id, Mode: l.mode}, answered: map[string]bool{}, entryOf: map[string]string{}}
	leaf, err := t.end(l.at)
	if err != nil {
		return nil, err
	}
	way := t.walk(leaf)
	onWay := make([]bool, len(t.recs))
	for _, i := range way {
		onWay[i] = true
	}
	b.keep = l.data != nil && b.share(way)
	used := make([]bool, len(t.recs))
	for _, i := range way {
		if used[i] || b.err != nil {
			continue
		}
		switch t.recs[i].kind {
		case kindAssistant:
			r := t.reply(i, onWay)
			for _, k := range append(slices.Clone(r.blocks), r.results...) {
				used[k] = true
			}
			b.reply(r, leaf)
		case kindUser:
			if !t.orphaned(i) {
				b.user([]int{i})
			}
		case kindAttachment:
			b.attachment(i)
		case kindSystem, kindOther:
		}
	}
	b.finish(leaf)
	b.c.Boundaries = t.boundaries()
	return b.c, b.err
}

// share tells whether most of a file that is in memory is alive; the blocks
// then keep it, instead of copies.
func (b *builder) share(way []int) bool {
	live := 0
	for _, i := range way {
		live += b.recs[i].size
	}
	return 2*live >= len(b.data)
}

// finish fills what is only known at the end.
func (b *builder) finish(leaf int) {
	c := b.c
	if leaf >= 0 && c.Leaf == "" {
		c.Leaf = b.recs[leaf].uuid
	}
	c.Withheld = b.withheld
	c.Rewound = leaf >= 0 && b.recs[leaf].subtype == rewound
	if c.Context != nil {
		c.Messages = slices.Insert(c.Messages, 0, c.Context)
	}
	c.calls = map[string]string{}
	for _, u := range b.order {
		if !b.answered[u.ID] {
			c.Pending = append(c.Pending, u)
			c.calls[u.ID] = b.entryOf[u.ID]
		}
	}
	c.Deferred = leaf >= 0 && b.recs[leaf].subtype == deferred && len(c.Pending) == 1 && len(c.Messages) > 0 &&
		slices.Contains(c.Messages[len(c.Messages)-1].ToolUses(), c.Pending[0])
	c.Title = or(b.sideField(b.title, "customTitle"), b.sideField(b.aiName, "aiTitle"))
	if c.Title != "" && b.title.size > 0 && b.title.off < b.own {
		c.Title += forkSuffix
	}
	c.LastPrompt = b.sideField(b.last, "lastPrompt")
	if b.cost.size > 0 {
		if line, err := b.read(b.cost.off, b.cost.size); err == nil {
			c.Cost.Known = json.Unmarshal(line, &c.Cost.Cost) == nil
		}
	}
}

func (b *builder) sideField(at lineRef, field string) string {
	if at.size == 0 {
		return ""
	}
	line, err := b.read(at.off, at.size)
	if err != nil {
		return ""
	}
	return gjson.GetBytes(line, field).String()
}

// reply adds one assistant message of all blocks, and one user message of the results.
func (b *builder) reply(r reply, leaf int) {
	m := &msg.Message{Role: msg.RoleAssistant}
	tailResult := ""
	for _, i := range r.blocks {
		d := b.decode(i)
		if d == nil {
			continue
		}
		if m.Reply == nil {
			m.ID, m.Time, m.Reply = b.recs[i].uuid, d.time, &msg.Reply{}
			m.Reply.Block = int(gjson.ParseBytes(d.block).Int())
		}
		b.fillReply(m.Reply, d)
		for _, block := range d.blocks {
			m.Blocks = append(m.Blocks, block)
			if u, ok := block.(*msg.ToolUse); ok {
				b.order = append(b.order, u)
				b.entryOf[u.ID] = b.recs[i].uuid
			}
		}
	}
	if len(m.Blocks) > 0 {
		b.c.Messages = append(b.c.Messages, m)
	}
	tail := b.recs[r.blocks[len(r.blocks)-1]].uuid
	for _, i := range r.results {
		if or(b.recs[i].source, b.recs[i].parent) == tail {
			tailResult = b.recs[i].uuid
		}
	}
	if slices.Contains(r.blocks, leaf) || slices.Contains(r.results, leaf) {
		b.c.tail, b.c.Leaf = tail, or(tailResult, tail)
	}
	if len(r.results) > 0 {
		b.user(r.results)
	}
}

func (b *builder) fillReply(r *msg.Reply, d *decoded) {
	r.ID = or(r.ID, str(d.message.id))
	r.RequestID = or(r.RequestID, str(d.request))
	r.Model = or(r.Model, str(d.message.model))
	r.Requested = or(r.Requested, str(d.requested))
	r.Synthetic = r.Synthetic || r.Model == syntheticModel || d.apiError
	if stop := str(d.message.stop); stop != "" {
		r.StopReason, r.Final = stop, true
	}
	var u msg.Usage
	if usage := d.message.usage; len(usage) > 0 && json.Unmarshal(usage, &u) == nil {
		r.Usage = u
	}
	if !r.Synthetic {
		b.c.Model = or(or(r.Requested, r.Model), b.c.Model)
	}
}

// user adds one user message made of the entries.
func (b *builder) user(entries []int) {
	m := &msg.Message{Role: msg.RoleUser}
	for _, i := range entries {
		d := b.decode(i)
		if d == nil {
			continue
		}
		if m.ID == "" {
			m.ID, m.Time = b.recs[i].uuid, d.time
			m.Meta = d.meta || d.summary
		}
		if role := str(d.message.role); role == string(msg.RoleSystem) {
			m.Role = msg.RoleSystem
		}
		for _, block := range d.blocks {
			if r, ok := block.(*msg.ToolResult); ok {
				b.answered[r.ToolUseID] = true
			}
			m.Blocks = append(m.Blocks, block)
		}
	}
	if len(m.Blocks) > 0 {
		b.c.Messages = append(b.c.Messages, m)
		b.point(entries[0], m)
	}
}

// attachment adds the rendered text of context that the harness injected.
func (b *builder) attachment(i int) {
	d := b.decode(i)
	if d == nil {
		return
	}
	inner := members(d.attachment)
	kind := str(inner["type"])
	rendered := d.rendered
	if rendered == nil {
		rendered = inner["rendered"]
	}
	own := str(d.client) == client
	if !own && surroundings(kind) {
		return
	}
	lines := texts(rendered)
	if len(lines) == 0 {
		return
	}
	if kind == kindSnapshot {
		b.c.System = lines
		return
	}
	m := &msg.Message{ID: b.recs[i].uuid, Role: msg.RoleUser, Meta: true, Time: d.time}
	for _, s := range lines {
		m.Blocks = append(m.Blocks, msg.NewText(s))
	}
	if kind == kindInstructions {
		b.c.Context = m
		return
	}
	if b.c.Kinds == nil {
		b.c.Kinds = map[string]string{}
	}
	b.c.Kinds[m.ID] = kind
	b.c.Messages = append(b.c.Messages, m)
}

// surroundings are the kinds of attachment by which another program described
// its own tools, prompt and machine; they would be wrong here.
func surroundings(kind string) bool {
	switch kind {
	case "environment", "model", "session_context", "date", "remote_session_change", kindInstructions, kindSnapshot:
		return true
	}
	return strings.HasSuffix(kind, "_delta") || strings.HasSuffix(kind, "_listing")
}
