package session

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// Boundary writes a compact boundary and, with one write, what stands behind it:
// the summary, the system prompt, the message of instruction files. Either all of
// it is in the file or none. HeadID to TailID, when set, are the first and the
// last message that stay word for word; TailID must be the newest of the
// conversation. Without Summary, the message whose ID is AnchorID must come next.
func (w *Writer) Boundary(c event.Compacted) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := w.open("system", &msg.Message{ID: c.Boundary}, "")
	e.opt("logicalParentUuid", w.chain.last).
		str("subtype", "compact_boundary").str("content", "Conversation compacted").str("level", "info").flag("isMeta", false)
	meta := newLine().str("trigger", c.Trigger).val("preTokens", c.PreTokens).val("postTokens", c.PostTokens).
		val("durationMs", c.Took.Milliseconds()).val("cumulativeDroppedTokens", c.Dropped)
	if c.HeadID != "" {
		tail := c.TailID
		if w.chain.last != "" {
			tail = w.chain.last
		}
		meta.raw("preservedSegment", newLine().str("headUuid", c.HeadID).str("anchorUuid", c.AnchorID).str("tailUuid", tail).done())
	}
	e.raw("compactMetadata", meta.done())
	behind := w.behind(e.id, c)
	lines := [][]byte{e.done()}
	for _, b := range behind {
		lines = append(lines, b.done())
	}
	if err := w.log.Append(bytes.Join(lines, []byte("\n"))); err != nil {
		return err
	}
	w.anchor = c.AnchorID
	w.chain.add(e.id, "")
	for _, b := range behind {
		w.chain.add(b.id, b.parent)
	}
	w.chain.reply, w.chain.tail = "", ""
	return nil
}

// behind are the entries that belong to a boundary.
func (w *Writer) behind(parent string, c event.Compacted) []*entry {
	if c.Summary == nil {
		return nil
	}
	e := w.open("user", c.Summary, parent)
	e.str("promptId", w.prompt).opt("permissionMode", w.mode).flag("isCompactSummary", true).flag("isVisibleInTranscriptOnly", true)
	e.raw("message", newLine().str("role", "user").raw("content", content(c.Summary.Blocks)).done())
	out := []*entry{e}
	if w.prefix != nil {
		e = w.attachment(snapshotMessage(w.prefix), kindSnapshot, "system", e.id, func(*line) {})
		out = append(out, e)
	}
	if c.Context != nil {
		m := *c.Context
		m.ID = "" // an entry of its own: no id may occur twice
		e = w.attachment(&m, kindInstructions, "user", e.id, func(a *line) { a.val("files", w.sources) })
		out = append(out, e)
	}
	return out
}

func snapshotMessage(system []string) *msg.Message {
	m := &msg.Message{}
	for _, s := range system {
		m.Blocks = append(m.Blocks, msg.NewText(s))
	}
	return m
}

// typeEdit is the side entry of what a shaper replaced.
const typeEdit = "context-edit"

// Shaped notes what a shaper replaced in the view of the conversation. The
// entries themselves stay as they are.
func (w *Writer) Shaped(s event.Shaped) error {
	if len(s.Edits) == 0 {
		return nil
	}
	at := stampTime(w.now())
	return w.side(typeEdit, func(l *line) {
		l.str("stage", s.Stage).val("edits", s.Edits).str("timestamp", at)
	})
}

// Shaping is what one run of a shaper replaced.
type Shaping struct {
	Stage string       `json:"stage"`
	Edits []event.Edit `json:"edits"`
}

// shapings reads the recorded replacements, oldest first.
func (l *loader) shapings() []Shaping {
	var out []Shaping
	for _, at := range l.edits {
		line, err := l.read(at.off, at.size)
		if err != nil {
			continue // the lines of the conversation tell of a file that cannot be read
		}
		var s Shaping
		if json.Unmarshal(line, &s) != nil || s.Stage == "" {
			continue
		}
		out = append(out, s)
	}
	return out
}

// Boundary is one recorded compaction.
type Boundary struct {
	ID, Trigger string
	// Before and After are sizes of the window in tokens, 0 when not recorded.
	Before, After int
}

// boundaries reads the compactions of the file, oldest first.
func (t *tree) boundaries() []Boundary {
	var out []Boundary
	for i, r := range t.recs {
		if r.kind != kindSystem || r.subtype != boundarySubtype || r.sidechain || t.gone[i] {
			continue
		}
		line, err := t.read(r.off, r.size)
		if err != nil {
			continue
		}
		m := gjson.GetBytes(line, "compactMetadata")
		out = append(out, Boundary{
			ID: r.uuid, Trigger: m.Get("trigger").String(),
			Before: int(m.Get("preTokens").Int()), After: int(m.Get("postTokens").Int()),
		})
	}
	return out
}

const boundarySubtype = "compact_boundary"

// unfinished takes boundaries out that nothing hangs on: their writer was
// stopped before the summary was written, so that nothing was compacted.
func (t *tree) unfinished() {
	parents := map[string]bool{}
	for _, r := range t.recs {
		parents[r.parent] = true
	}
	for i, r := range t.recs {
		if r.kind == kindSystem && r.subtype == boundarySubtype && !r.sidechain && !parents[r.uuid] {
			t.gone[i] = true
			t.report(r.line, "skipped: a compaction that was stopped before its summary was written; the history before it is in force")
		}
	}
}

// known fills what is known of the size of the conversation: the usage of its
// newest reply, unless history was shaped since.
func (c *Conversation) known(reshaped string) {
	c.Reshaped = reshaped
	if reshaped != "" {
		return
	}
	for i, m := range slices.Backward(c.Messages) {
		if m.Reply == nil || m.Reply.Synthetic {
			continue
		}
		c.Used, c.Fresh = m.Reply.Usage.Context(), len(c.Messages)-1-i
		return
	}
}
