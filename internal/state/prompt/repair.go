package prompt

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/msg"
)

// Texts that Repair puts in where something is missing. They are fixed, so
// that the same history always gives the same bytes.
const (
	// Interrupted answers a call that has no result: its process was stopped.
	Interrupted = "[Interrupted: this call has no result. It may have taken effect in part; it was not run again.]"
	noOutput    = "(no output)"
	lostStart   = "[The beginning of this conversation is not available.]"
	goOn        = "Continue."
)

// Note is one thing that Repair changed.
type Note struct {
	// Message is the index in the history given, -1 when nothing there is to blame.
	Message int
	Text    string
}

// Repair makes messages that the Messages API accepts out of any history.
// Every request goes through it.
//
//   - The first message is the user's. A trailing assistant message gets a
//     short user message after it, because models refuse to continue their own
//     text; a reply that the server paused stays last, as the API wants it.
//   - Each call is answered exactly once, in call order, by the message after
//     it, which holds nothing else. Missing answers say Interrupted, results
//     out of place are moved, orphans and duplicates left out. A call id that
//     was used before gets a new one; ids and names of calls lose the characters
//     that the API refuses.
//   - Blocks that the API refuses are left out: empty text, kinds that the role
//     may not send, thinking of another model than the one asked now (model ""
//     keeps all), thinking that no other block follows or that stands beside
//     thinking without a signature, calls of the server's own tools without
//     their results and the reverse, replies that hew wrote itself. Messages
//     without a block are left out.
//   - Images and documents fit the limits of one and of all together: shrunk,
//     given their true media type, or replaced by a text that says where they
//     are. Cache marks, zero bytes, halves of characters, JSON that is too deep
//     and impossible numbers are taken out of blocks.
//   - Pieces of one reply become one message. Neighbours of the same role are
//     otherwise left apart, which the API allows: joining would change the
//     bytes of a message that was sent before.
//   - A system message becomes a user message in the wrapper of reminders.
//
// It is deterministic and stable. Messages that need no change keep their
// pointer, and changed ones share the blocks, so nothing large is encoded
// again. Repair of its own result changes nothing. If history ends with a user
// message and all its calls are answered, Repair of a longer history begins
// with Repair of this one.
func Repair(history []*msg.Message, model string) ([]*msg.Message, []Note) {
	r := newRepair(plainModel(model), newFilter())
	for i, m := range history {
		r.take(i, m)
	}
	for _, id := range slices.Sorted(maps.Keys(r.early)) {
		r.note(r.early[id].index, "left out a result for a call that does not exist: %s", id)
	}
	var w weights
	out := r.lay(nil)
	for _, m := range out {
		w.add(r.filter, m)
	}
	return r.close(w.relieved(out)), r.notes
}

// item is a message to be, without tool results.
type item struct {
	m      *msg.Message
	index  int
	blocks []msg.Block
	// same tells that blocks are exactly m's.
	same  bool
	calls []*call
	// unsigned tells that thinking without a signature was among the blocks.
	unsigned bool
}

// call is a tool call that was kept.
type call struct {
	use    *msg.ToolUse
	answer answer
}

// answer is a result and the message that it came in.
type answer struct {
	block *msg.ToolResult
	from  *msg.Message
	index int
}

type repair struct {
	model  string
	filter *filter
	items  []*item
	notes  []Note
	ids    map[string]bool    // ids given to calls so far
	open   map[string][]*call // by the id that the model gave
	early  map[string]answer  // results that stand before their call
	// waiting is how many calls have no answer yet.
	waiting int
}

func newRepair(model string, f *filter) *repair {
	return &repair{model: model, filter: f, ids: map[string]bool{}, open: map[string][]*call{}, early: map[string]answer{}}
}

func (r *repair) note(i int, format string, args ...any) {
	r.notes = append(r.notes, Note{Message: i, Text: fmt.Sprintf(format, args...)})
}

func (r *repair) take(i int, m *msg.Message) {
	if m == nil {
		r.note(i, "left out a missing message")
		return
	}
	switch m.Role {
	case msg.RoleUser:
		r.user(i, m, m.Blocks)
	case msg.RoleAssistant:
		r.assistant(i, m)
	case msg.RoleSystem:
		r.user(i, m, reminders(m.Blocks))
	default:
		r.note(i, "left out a message of the unknown role %q", m.Role)
	}
}

// reminders turns what the harness said as "system" into text that a user message may hold.
func reminders(blocks []msg.Block) []msg.Block {
	var out []msg.Block
	for _, b := range blocks {
		if t, ok := b.(*msg.Text); ok && strings.TrimSpace(t.Text) != "" {
			out = append(out, msg.NewText(Reminder(t.Text)))
		}
	}
	return out
}

func (r *repair) user(i int, m *msg.Message, blocks []msg.Block) {
	it := &item{m: m, index: i, blocks: make([]msg.Block, 0, len(blocks))}
	changed := false
	for _, b := range blocks {
		if !encoded(b) {
			continue
		}
		if result, ok := b.(*msg.ToolResult); ok {
			r.result(i, m, result)
			continue
		}
		was := b
		if b = r.filter.sound(m, b); b == nil {
			r.note(i, "left out a block that no API reads")
			continue
		}
		changed = changed || b != was
		switch b := b.(type) {
		case *msg.ToolResult:
		case *msg.Text:
			if strings.TrimSpace(b.Text) != "" {
				it.blocks = append(it.blocks, b)
			}
		case *msg.Image, *msg.Document:
			it.blocks = append(it.blocks, b)
		case *msg.Opaque:
			if passes(b) {
				it.blocks = append(it.blocks, b)
			}
		case *msg.Thinking, *msg.ToolUse:
			r.note(i, "left out a block that only the model may send")
		}
	}
	it.same = m.Role == msg.RoleUser && len(it.blocks) == len(m.Blocks) && !changed
	if len(it.blocks) > 0 {
		r.items = append(r.items, it)
	}
}

// passes refuses blocks of a known kind that could not be read as such.
func passes(b *msg.Opaque) bool {
	switch b.Type {
	case "text", "thinking", "redacted_thinking", "tool_use", "tool_result", "image", "document":
		return false
	}
	return true
}

// encoded tells whether b has a wire form; a block that no constructor made has none.
func encoded(b msg.Block) bool { return b != nil && bytes.HasPrefix(b.JSON(), []byte("{")) }

func (r *repair) result(i int, m *msg.Message, b *msg.ToolResult) {
	a := answer{block: r.fixResult(m, b), from: m, index: i}
	if a.block != b {
		a.from = nil
	}
	id := b.ToolUseID
	if open := r.open[id]; len(open) > 0 {
		open[len(open)-1].answer = a
		r.open[id] = open[:len(open)-1]
		r.waiting--
		return
	}
	if _, twice := r.early[id]; r.ids[id] || twice {
		r.note(i, "left out a second result for call %s", id)
		return
	}
	r.early[id] = a
}

// fixResult returns b, or a copy with nested blocks as the API takes them.
func (r *repair) fixResult(m *msg.Message, b *msg.ToolResult) *msg.ToolResult {
	id := b.ToolUseID
	now, ok := r.filter.sound(m, b).(*msg.ToolResult)
	if !ok { // left out as a whole: an empty answer is one, too
		return msg.NewToolResult(id, failedContent(b.IsError, nil), msg.Outcome(b.IsError))
	}
	content, same := make([]msg.Block, 0, len(now.Content)), !now.IsError || len(now.Content) > 0
	for _, c := range now.Content {
		was := c
		if encoded(c) && nested(c, now.IsError) {
			c = r.filter.sound(m, c)
		}
		if c == nil || !nested(c, now.IsError) {
			same = false
			continue
		}
		same = same && c == was
		content = append(content, c)
	}
	if same {
		return now
	}
	return msg.NewToolResult(id, failedContent(now.IsError, content), msg.Outcome(now.IsError))
}

// failedContent gives a failed result the text that it must have.
func failedContent(failed bool, content []msg.Block) []msg.Block {
	if failed && len(content) == 0 {
		return []msg.Block{msg.NewText(noOutput)}
	}
	return content
}

// nested tells whether a tool result may hold c; a failed one holds text only.
func nested(c msg.Block, failed bool) bool {
	if !encoded(c) {
		return false
	}
	switch c := c.(type) {
	case *msg.Text:
		return strings.TrimSpace(c.Text) != ""
	case *msg.Image, *msg.Document:
		return !failed
	case *msg.Opaque:
		return !failed && passes(c)
	case *msg.Thinking, *msg.ToolUse, *msg.ToolResult:
	}
	return false
}

func (r *repair) assistant(i int, m *msg.Message) {
	if m.Reply != nil && m.Reply.Synthetic {
		r.note(i, "left out a text that hew wrote in the model's place")
		return
	}
	it := r.joinable(m)
	if it == nil {
		it = &item{m: m, index: i, same: true, blocks: make([]msg.Block, 0, len(m.Blocks))}
		r.items = append(r.items, it)
	} else {
		it.continued(m)
	}
	own := r.ownThinking(m.Reply)
	for _, b := range m.Blocks {
		if !encoded(b) {
			it.same = false
			continue
		}
		was := b
		if b = r.filter.sent(m, b); b == nil {
			r.note(i, "left out a block that only the user may send, or that no API reads")
			it.same = false
			continue
		}
		kept := b
		switch b := b.(type) {
		case *msg.Text:
			if strings.TrimSpace(b.Text) == "" {
				kept = nil
			}
		case *msg.Thinking:
			if unsigned := b.Signature == "" && b.Data == ""; !own || unsigned {
				it.unsigned = it.unsigned || unsigned
				kept = nil
			}
		case *msg.ToolUse:
			kept = r.call(i, it, b)
		case *msg.Opaque:
			if !passes(b) {
				kept = nil
			}
		case *msg.ToolResult, *msg.Image, *msg.Document:
			kept = nil
		}
		if kept != was || kept == nil {
			it.same = false
		}
		if kept != nil {
			it.blocks = append(it.blocks, kept)
		}
	}
}

// joinable is the item that m continues: the piece before it of the same reply.
func (r *repair) joinable(m *msg.Message) *item {
	if len(r.items) == 0 {
		return nil
	}
	if last := r.items[len(r.items)-1]; last.sameReply(m) {
		return last
	}
	return nil
}

func (it *item) sameReply(m *msg.Message) bool {
	a, b := it.m.Reply, m.Reply
	return a != nil && b != nil && it.m.Role == msg.RoleAssistant && m.Role == msg.RoleAssistant &&
		a.ID != "" && a.ID == b.ID && a.RequestID == b.RequestID && a.Model == b.Model && a.Requested == b.Requested
}

// continued makes the item end where m ends.
func (it *item) continued(m *msg.Message) {
	whole, reply := *it.m, *m.Reply
	reply.Block = it.m.Reply.Block
	whole.Reply = &reply
	it.m, it.same = &whole, false
}

// ownThinking tells whether the model asked now made the reply.
func (r *repair) ownThinking(reply *msg.Reply) bool {
	if r.model == "" {
		return true
	}
	return reply != nil && (plainModel(reply.Model) == r.model || plainModel(reply.Requested) == r.model)
}

// plainModel drops the suffix that asks for a larger window of the same model.
func plainModel(name string) string { return strings.TrimSuffix(name, "[1m]") }

// call keeps a tool call, under a new id when the id was used before; nil when
// it cannot be kept.
func (r *repair) call(i int, it *item, b *msg.ToolUse) msg.Block {
	if b.Name == "" || !bytes.HasPrefix(bytes.TrimLeft(b.Input, " \t\r\n"), []byte("{")) {
		r.note(i, "left out a call whose name or input is unusable")
		return nil
	}
	c := &call{use: b}
	id, name := plainName(b.ID, maxCallID), plainName(b.Name, maxToolName)
	switch {
	case b.ID == "" || r.ids[b.ID]:
		for _, old := range it.calls {
			if bytes.Equal(old.use.JSON(), b.JSON()) {
				r.note(i, "left out a copy of call %s", b.ID)
				return nil
			}
		}
		c.use = msg.NewToolUse(r.freshID(id), name, b.Input)
		r.note(i, "renamed a call whose id %q was used before", b.ID)
	case id != b.ID || name != b.Name:
		if r.ids[id] {
			id = r.freshID(id)
		}
		c.use = msg.NewToolUse(id, name, b.Input)
		r.note(i, "renamed a call whose id %q or name %q the API refuses", b.ID, b.Name)
	}
	r.ids[b.ID], r.ids[c.use.ID] = true, true
	it.calls = append(it.calls, c)
	if a, ok := r.early[b.ID]; ok {
		c.answer = a
		delete(r.early, b.ID)
	} else {
		r.open[b.ID] = append(r.open[b.ID], c)
		r.waiting++
	}
	return c.use
}

func (r *repair) freshID(id string) string {
	if id == "" {
		id = "call"
	}
	for n := 2; ; n++ {
		if fresh := fmt.Sprintf("%s_%d", id, n); !r.ids[fresh] {
			return fresh
		}
	}
}
