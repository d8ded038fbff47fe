package session

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

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
}

func (l *loader) conversation() (*Conversation, error) {
	t, err := l.newTree()
	if err != nil {
		return nil, err
	}
	b := &builder{tree: t, c: &Conversation{ID: l.id, Mode: l.mode}, answered: map[string]bool{}, entryOf: map[string]string{}}
	leaf := t.leaf()
	way := t.walk(leaf)
	onWay := make(map[int]bool, len(way))
	for _, i := range way {
		onWay[i] = true
	}
	used := map[int]bool{}
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
	return b.c, b.err
}

// finish fills what is only known at the end.
func (b *builder) finish(leaf int) {
	c := b.c
	if leaf >= 0 && c.Leaf == "" {
		c.Leaf = b.recs[leaf].uuid
	}
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
	c.Title = or(b.sideField(b.title, "customTitle"), b.sideField(b.aiName, "aiTitle"))
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

// decoded is one chained line that was read again, whole this time.
type decoded struct {
	fields  map[string][]byte // of the entry; valid until the next line is decoded
	content []byte            // message.content
	message map[string][]byte
	time    time.Time
}

// decode reads entry i; nil when it is damaged, which is reported.
func (b *builder) decode(i int) *decoded {
	r := b.recs[i]
	line, err := b.read(r.off, r.size)
	if err != nil {
		b.err = err
		return nil
	}
	if !gjson.ValidBytes(line) {
		b.report(r.line, "left out: it is not valid JSON")
		return nil
	}
	d := &decoded{fields: members(line)}
	d.message = members(d.fields["message"])
	d.content = d.message["content"]
	d.time, _ = time.Parse(time.RFC3339, str(d.fields["timestamp"]))
	b.c.Cwd = or(str(d.fields["cwd"]), b.c.Cwd)
	b.c.Branch = or(str(d.fields["gitBranch"]), b.c.Branch)
	b.c.Version = or(str(d.fields["version"]), b.c.Version)
	return d
}

func members(object []byte) map[string][]byte {
	out := make(map[string][]byte, 24)
	eachField(object, func(key, val []byte) bool {
		out[string(key)] = val
		return true
	})
	return out
}

func (d *decoded) is(flag string) bool { return string(d.fields[flag]) == "true" }

// blocks decodes message.content. The blocks have memory of their own.
func (b *builder) blocks(i int, content []byte) []msg.Block {
	if len(content) > 0 && content[0] == '"' {
		if s := str(content); s != "" {
			return []msg.Block{msg.NewText(s)}
		}
		return nil
	}
	var out []msg.Block
	eachElement(content, func(val []byte) bool {
		block, err := msg.DecodeBlock(bytes.Clone(val))
		if err != nil {
			b.report(b.recs[i].line, "left out a content block: %v", err)
			return true
		}
		out = append(out, block)
		return true
	})
	return out
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
			m.Reply.Block = int(gjson.ParseBytes(d.fields["apiBlockIndex"]).Int())
		}
		b.fillReply(m.Reply, d)
		for _, block := range b.blocks(i, d.content) {
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
	r.ID = or(r.ID, str(d.message["id"]))
	r.RequestID = or(r.RequestID, str(d.fields["requestId"]))
	r.Model = or(r.Model, str(d.message["model"]))
	r.Requested = or(r.Requested, str(d.fields["requestedModel"]))
	r.Synthetic = r.Synthetic || r.Model == syntheticModel || d.is("isApiErrorMessage")
	if stop := str(d.message["stop_reason"]); stop != "" {
		r.StopReason, r.Final = stop, true
	}
	var u msg.Usage
	if usage := d.message["usage"]; len(usage) > 0 && json.Unmarshal(usage, &u) == nil {
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
			m.Meta = d.is("isMeta") || d.is("isCompactSummary")
		}
		if role := str(d.message["role"]); role == string(msg.RoleSystem) {
			m.Role = msg.RoleSystem
		}
		for _, block := range b.blocks(i, d.content) {
			if r, ok := block.(*msg.ToolResult); ok {
				b.answered[r.ToolUseID] = true
			}
			m.Blocks = append(m.Blocks, block)
		}
	}
	if len(m.Blocks) > 0 {
		b.c.Messages = append(b.c.Messages, m)
	}
}

// attachment adds the rendered text of context that the harness injected.
func (b *builder) attachment(i int) {
	d := b.decode(i)
	if d == nil {
		return
	}
	inner := members(d.fields["attachment"])
	kind := str(inner["type"])
	rendered := d.fields["rendered"]
	if rendered == nil {
		rendered = inner["rendered"]
	}
	own := str(d.fields["client"]) == client
	if !own && surroundings(kind) {
		return
	}
	var texts []string
	eachElement(rendered, func(val []byte) bool {
		v := gjson.ParseBytes(val)
		if c := v.Get("content"); c.Type == gjson.String {
			v = c
		}
		if v.Type == gjson.String && v.String() != "" {
			texts = append(texts, v.String())
		}
		return true
	})
	if len(texts) == 0 {
		return
	}
	if kind == kindSnapshot {
		b.c.System = texts
		return
	}
	m := &msg.Message{ID: b.recs[i].uuid, Role: msg.RoleUser, Meta: true, Time: d.time}
	for _, s := range texts {
		m.Blocks = append(m.Blocks, msg.NewText(s))
	}
	if kind == kindInstructions {
		b.c.Context = m
		return
	}
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
