package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/surface/view"
)

// frame is what a session looks like at a moment, ready to be compared with a
// later one. It is made once for all clients and never changed.
type frame struct {
	rev int
	// generation tells when the items were replaced, not only continued.
	generation int
	state      view.State
	live       [][]byte // Live, encoded
	// fields are what is sent whole when it has changed.
	fields [][2]string
}

// firstItems is how many finished items a client gets at first.
const firstItems = 200

// scene is what a frame is made of beside the items.
type scene struct {
	facts     Facts
	state     string
	questions []question
}

func newFrame(rev, generation int, s view.State, c scene) *frame {
	f := &frame{rev: rev, generation: generation, state: s}
	for _, it := range s.Live {
		f.live = append(f.live, view.Encode(it))
	}
	todo := []map[string]string{}
	for _, it := range s.Todo {
		todo = append(todo, map[string]string{"text": it.Text, "state": it.State})
	}
	put := func(name string, v any) { f.fields = append(f.fields, [2]string{name, string(msg.Encode(v))}) }
	put("todo", todo)
	put("tasks", tasks(s.Tasks))
	run := map[string]any{"busy": s.Run.Busy, "turn": s.Run.Turn, "tokens": s.Run.Tokens(), "waits": s.Run.Waits, "active": s.Run.Active, "began_ms": nil}
	if s.Run.Busy {
		run["began_ms"] = s.Run.Began.UnixMilli()
	}
	put("run", run)
	put("window", map[string]int{"used": s.Window, "size": c.facts.Window})
	put("questions", shown(c.questions, s.Questions))
	put("state", c.state)
	put("mode", c.facts.Mode)
	put("model", c.facts.Model)
	put("cost_usd", c.facts.CostUSD)
	return f
}

// task is background work as clients read it.
type task struct {
	ID         string `json:"id"`
	Kind       string `json:"kind"`
	Status     string `json:"status"`
	Summary    string `json:"summary"`
	Use        string `json:"tool_use_id,omitempty"`
	Foreground bool   `json:"foreground"`
	Type       string `json:"subagent_type,omitempty"`
	Prompt     string `json:"prompt,omitempty"`
	Depth      int    `json:"depth"`
	LastTool   string `json:"last_tool,omitempty"`
	Tokens     int    `json:"tokens"`
	Calls      int    `json:"calls"`
	Millis     int64  `json:"took_ms"`
}

func tasks(list []event.TaskChanged) []task {
	out := []task{}
	for _, t := range list {
		out = append(out, task{
			t.ID, t.Kind, t.Status, t.Summary, t.Use, t.Foreground, t.Type, t.Prompt, t.Depth, t.LastTool, t.Spent.Tokens, t.Spent.Calls, t.Spent.Millis,
		})
	}
	return out
}

// shown are the open questions with what the state knows of them.
func shown(open []question, known []event.Question) []map[string]any {
	out := []map[string]any{}
	for _, q := range open {
		use := q.body.Get("tool_use_id").Str
		m := map[string]any{
			"request_id": q.id, "request": json.RawMessage(q.body.Raw), "kind": "permission", "title": q.body.Get("description").Str,
			"preview": nil, "risk": "", "agent": q.body.Get("agent_id").Str, "asked_ms": q.at.UnixMilli(),
		}
		if s := q.body.Get("subtype").Str; s != "can_use_tool" {
			m["kind"], m["title"] = s, q.body.Get("message").Str
		}
		for _, k := range known {
			if k.Use != nil && k.Use.ID == use && use != "" {
				m["kind"], m["preview"], m["risk"] = k.Kind, view.EncodeView(k.Preview), k.Risk
			}
		}
		out = append(out, m)
	}
	return out
}

// since is the message that leads from an older frame to this one; an older one of
// nil is a client that has nothing. It is nil when there is nothing to say.
func (f *frame) since(old *frame) []byte {
	if old == f {
		return nil
	}
	if old == nil || old.generation != f.generation || len(old.state.Items) > len(f.state.Items) {
		return f.whole()
	}
	var b message
	b.begin(f.rev)
	if more := f.state.Items[len(old.state.Items):]; len(more) > 0 {
		b.items("items", more)
	}
	f.changed(old, &b)
	for i, kv := range f.fields {
		if kv != old.fields[i] {
			b.field(kv[0], []byte(kv[1]))
		}
	}
	return b.end()
}

// changed adds what has become of the live items.
func (f *frame) changed(old *frame, b *message) {
	was := map[string]int{}
	for i, it := range old.state.Live {
		was[it.Key()] = i
	}
	var live [][]byte
	grow := []map[string]string{}
	for i, it := range f.state.Live {
		at, ok := was[it.Key()]
		delete(was, it.Key())
		switch {
		case !ok:
			live = append(live, f.live[i])
		case bytes.Equal(f.live[i], old.live[at]):
		default:
			if more, grown := growth(old.state.Live[at], it); grown {
				grow = append(grow, map[string]string{"id": it.Key(), "more": more})
			} else {
				live = append(live, f.live[i])
			}
		}
	}
	if live != nil {
		b.list("live", live)
	}
	if len(grow) > 0 {
		b.field("grow", msg.Encode(grow))
	}
	gone := []string{}
	for _, it := range old.state.Live {
		if _, left := was[it.Key()]; left {
			gone = append(gone, it.Key())
		}
	}
	if len(gone) > 0 {
		b.field("gone", msg.Encode(gone))
	}
}

// growth is what an open text has gained; grown is false for any other change.
func growth(old, now view.Item) (more string, grown bool) {
	switch n := now.(type) {
	case view.Reply:
		if o, ok := old.(view.Reply); ok && o.Open && n.Open && len(n.Text) >= len(o.Text) {
			return n.Text[len(o.Text):], true
		}
	case view.Thought:
		if o, ok := old.(view.Thought); ok && o.Open && n.Open && len(n.Text) >= len(o.Text) {
			return n.Text[len(o.Text):], true
		}
	case view.Prompt, view.Call, view.Note, view.Command, view.Compaction, view.Ending:
	}
	return "", false
}

// whole is everything, for a client that has nothing.
func (f *frame) whole() []byte {
	var b message
	b.begin(f.rev)
	b.field("reset", []byte("true"))
	b.field("total", fmt.Append(nil, len(f.state.Items)))
	b.items("items", f.state.Items[max(0, len(f.state.Items)-firstItems):])
	b.list("live", f.live)
	for _, kv := range f.fields {
		b.field(kv[0], []byte(kv[1]))
	}
	return b.end()
}

// message is a view message in the making.
type message struct {
	bytes.Buffer
	any bool
}

func (m *message) begin(rev int) { fmt.Fprintf(m, `{"type":"view","rev":%d`, rev) }

func (m *message) field(name string, value []byte) {
	m.any = true
	fmt.Fprintf(m, `,%q:`, name)
	m.Write(value)
}

func (m *message) list(name string, values [][]byte) {
	m.any = true
	fmt.Fprintf(m, `,%q:[`, name)
	for i, v := range values {
		if i > 0 {
			m.WriteByte(',')
		}
		m.Write(v)
	}
	m.WriteByte(']')
}

func (m *message) items(name string, list []view.Item) {
	encoded := make([][]byte, len(list))
	for i, it := range list {
		encoded[i] = view.Encode(it)
	}
	m.list(name, encoded)
}

// end is the message; nil when nothing was put into it.
func (m *message) end() []byte {
	if !m.any {
		return nil
	}
	m.WriteByte('}')
	return m.Bytes()
}

// pace is how often a client is shown something new while much happens.
const pace = 20 * time.Millisecond

// steps remembers how frames lead to each other: clients that keep up all take the
// same one.
type steps struct {
	list [8]step
	next int
}

type step struct {
	from, to *frame
	data     []byte
}

func (s *steps) find(from, to *frame) ([]byte, bool) {
	for _, k := range s.list {
		if k.from == from && k.to == to && to != nil {
			return k.data, true
		}
	}
	return nil, false
}

func (s *steps) keep(from, to *frame, data []byte) {
	s.list[s.next] = step{from, to, data}
	s.next = (s.next + 1) % len(s.list)
}
