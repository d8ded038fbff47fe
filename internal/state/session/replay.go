package session

import (
	"fmt"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/msg"
)

// Kind is what an entry of a replay is.
type Kind string

// The kinds of a replay's entries.
const (
	KindUser      Kind = "user"      // what a person or program asked
	KindHarness   Kind = "harness"   // what hew told the model: reminders, instructions, context
	KindAssistant Kind = "assistant" // a block of a reply
	KindResult    Kind = "result"    // the result of a call
	KindSummary   Kind = "summary"   // the summary after a compaction
	KindNotice    Kind = "notice"    // what hew told the person
)

// Entry is one line of a session as it was, for people and exports.
type Entry struct {
	ID   string
	Kind Kind
	// Message has the entry's content; nil for a notice.
	Message *msg.Message
	// Text is what a notice says.
	Text string
}

// Replay visits the whole history of the conversation of a transcript, in the
// order in which it happened: also what a compaction has since replaced, and
// without what was taken back or replaced. One entry is in memory at a time.
func Replay(path string, visit func(Entry) error) ([]Report, error) {
	f, err := openTranscript(path)
	if err != nil {
		return nil, fmt.Errorf("read session: %w", err)
	}
	defer f.close()
	l := &loader{f: f, byID: map[string]int{}, own: f.own, id: f.id}
	if f.lost != "" {
		l.report(0, "%s", f.lost)
	}
	if err := l.scan(0); err != nil {
		return l.reports, failed("read transcript", path, err)
	}
	l.mainIfAlone()
	t, err := l.newTree()
	if err != nil {
		return l.reports, failed("read transcript", path, err)
	}
	b := &builder{tree: t, c: &Conversation{}}
	for _, i := range t.history() {
		e, ok := b.entry(i)
		if b.err != nil {
			return l.reports, failed("read transcript", path, b.err)
		}
		if !ok {
			continue
		}
		if err := visit(e); err != nil {
			return l.reports, err
		}
	}
	return l.reports, nil
}

// mainIfAlone makes the sidechain of a subagent's file the conversation.
func (l *loader) mainIfAlone() {
	for _, r := range l.recs {
		if !r.sidechain {
			return
		}
	}
	for i := range l.recs {
		l.recs[i].sidechain = false
	}
}

// history is every entry from the first on that led to the leaf, in the order
// of the file: the stored parents are followed, over compactions too.
func (t *tree) history() []int {
	seen := make([]bool, len(t.recs))
	var out []int
	add := func(i int) {
		if !seen[i] && !t.gone[i] {
			out = append(out, i)
		}
		seen[i] = true
	}
	t.parentOf = map[int]int{}
	for at := t.leaf(); at >= 0; at = t.origin(at, seen) {
		add(at)
		if t.recs[at].kind != kindAssistant {
			continue
		}
		for k := range t.kids.of(at) { // results of parallel calls hang beside the way
			if t.recs[k].result {
				add(k)
			}
		}
	}
	slices.Sort(out)
	return out
}

// origin is the entry before i in time.
func (t *tree) origin(i int, seen []bool) int {
	r := t.recs[i]
	if r.subtype != "compact_boundary" {
		return t.up(i, seen)
	}
	line, err := t.read(r.off, r.size)
	if err != nil {
		return -1
	}
	if at, ok := t.byID[gjson.GetBytes(line, "logicalParentUuid").String()]; ok && !seen[at] {
		return at
	}
	return -1
}

// entry decodes line i; ok is false for what says nothing.
func (b *builder) entry(i int) (e Entry, ok bool) {
	r := b.recs[i]
	e.ID = r.uuid
	d := b.decode(i)
	if d == nil {
		return e, false
	}
	m := &msg.Message{ID: r.uuid, Role: msg.RoleUser, Time: d.time, Blocks: d.blocks}
	e.Message = m
	switch r.kind {
	case kindAssistant:
		e.Kind, m.Role, m.Reply = KindAssistant, msg.RoleAssistant, &msg.Reply{}
		b.fillReply(m.Reply, d)
	case kindUser:
		switch {
		case r.result:
			e.Kind = KindResult
		case d.summary:
			e.Kind = KindSummary
		case d.meta:
			e.Kind = KindHarness
		default:
			e.Kind = KindUser
		}
	case kindAttachment:
		e.Kind = KindHarness
		rendered := d.rendered
		if rendered == nil {
			rendered = members(d.attachment)["rendered"]
		}
		if str(members(d.attachment)["type"]) == kindSnapshot {
			return e, false // the system prompt is no part of what was said
		}
		for _, s := range texts(rendered) {
			m.Blocks = append(m.Blocks, msg.NewText(s))
		}
	case kindSystem:
		line, err := b.read(r.off, r.size)
		if err != nil {
			b.err = err
			return e, false
		}
		e.Kind, e.Text = KindNotice, gjson.GetBytes(line, "content").String()
		return e, e.Text != ""
	case kindOther:
		return e, false
	}
	return e, len(m.Blocks) > 0
}
