package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/coder/websocket"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/msg"
)

// read takes messages until the connection ends.
func (c *client) read(ctx context.Context) error {
	for {
		kind, data, err := c.conn.Read(ctx)
		if err != nil {
			return err
		}
		s := c.room.s
		s.count.received.Add(1)
		if kind != websocket.MessageText {
			c.fail("", refuse(0, "not_json", "messages are texts"))
			continue
		}
		c.take(data)
	}
}

// fail tells this client that something of it was not accepted.
func (c *client) fail(request string, err error) {
	f := &fault{code: "failed", text: err.Error()}
	_ = errors.As(err, &f)
	c.tell(msg.Encode(struct {
		Type    string `json:"type"`
		Code    string `json:"code"`
		Message string `json:"message"`
		Request string `json:"request_id,omitempty"`
	}{"error", f.code, f.text, request}))
}

// take carries out one message.
func (c *client) take(data []byte) {
	if !json.Valid(data) || !gjson.ParseBytes(data).IsObject() {
		c.fail("", refuse(0, "not_json", "a message is one JSON object"))
		return
	}
	data = oneLine(data)
	f := gjson.GetManyBytes(data, "type", "request_id", "response.request_id", "text")
	if f[0].Str != "keep_alive" {
		c.guest.said(c.room.s.c.Now())
	}
	if f[0].Str == "keep_alive" {
		return
	}
	if c.room.s.c.ReadOnly {
		c.fail(f[1].Str+f[2].Str, errReadOnly)
		return
	}
	var err error
	request := ""
	switch f[0].Str {
	case "user":
		request, err = gjson.GetBytes(data, "uuid").Str, c.room.prompt(data)
	case "control_response":
		request, err = f[2].Str, c.room.reply(c.guest, f[2].Str, gjson.GetBytes(data, "response"))
	case "control_request":
		request, err = f[1].String(), c.request(data, f[1])
	case "control_cancel_request":
		err = c.withdraw(f[1])
	case "draft":
		if len(f[3].Str) > maxDraft {
			err = refuse(0, "too_large", "a draft has at most %d MB", maxDraft>>20)
		} else {
			err = c.room.typed(c, f[3].Str)
		}
	default:
		err = refuse(0, "bad_message", "no message has the type %q", plain.Clip(f[0].Str, 40))
	}
	if err != nil {
		c.fail(request, err)
	}
}

// oneLine is JSON without line breaks between its parts; inside of texts there are none.
func oneLine(data []byte) []byte {
	return slices.DeleteFunc(data, func(b byte) bool { return b == '\n' || b == '\r' })
}

// prompt takes what a person says. The same message comes twice when a client was
// not sure; it counts once.
func (m *room) prompt(data []byte) error {
	id := gjson.GetBytes(data, "uuid").Str
	l, err := m.awake()
	if err != nil {
		return err
	}
	m.mu.Lock()
	twice := id != "" && m.said[id]
	if id != "" {
		m.said[id] = true
	}
	m.mu.Unlock()
	if twice {
		return nil
	}
	if err := l.Say(data); err != nil {
		m.mu.Lock()
		delete(m.said, id)
		m.mu.Unlock()
		return refuse(0, "bad_message", "%v", err)
	}
	return nil
}

// awake is the open conversation; one that sleeps is woken.
func (m *room) awake() (*Live, error) {
	if l := m.live.Load(); l != nil {
		return l, nil
	}
	l, err := m.wake(Request{})
	var f *fault
	if err != nil && !errors.As(err, &f) {
		err = refuse(0, asleep, "the session cannot be woken: %v", err)
	}
	return l, err
}

// reply takes the answer to a question. The first valid one counts.
func (m *room) reply(g *guest, id string, response gjson.Result) error {
	l := m.live.Load()
	m.mu.Lock()
	q, open := m.asked.find(id)
	by, closed := m.asked.closed[id]
	m.mu.Unlock()
	switch {
	case closed && by != "":
		return refuse(0, "answered", "%s has answered already", by)
	case !open || l == nil:
		return refuse(0, "unknown_question", "there is no such question, or it is not open any more")
	}
	a, bad := judge(q, json.RawMessage(response.Raw))
	if bad != nil {
		return bad
	}
	m.mu.Lock()
	first := m.withdraw(q, g.name)
	by = m.asked.closed[id]
	m.mu.Unlock()
	if !first {
		return refuse(0, "answered", "%s has answered already", by)
	}
	m.s.count.answers.Add(1)
	m.s.audit(g, Act{
		Op: "answer", Session: m.session(), Request: id, Tool: q.body.Get("tool_name").Str, Title: q.body.Get("description").Str, Behavior: a.behavior,
		Detail: detail(a),
	})
	return l.Say(msg.Encode(struct {
		Type     string          `json:"type"`
		Response json.RawMessage `json:"response"`
	}{"control_response", json.RawMessage(response.Raw)}))
}

// detail is what else an answer says: its reason, and the rules that it makes.
func detail(a reply) string {
	text := a.message
	if len(a.updates) > 0 {
		text += " " + string(msg.Encode(a.updates))
	}
	return plain.Cut(text, maxDetail)
}

// maxDetail bounds what the audit log keeps of an answer, in bytes.
const maxDetail = 4096

func (m *room) session() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.id
}

// maxCalls bounds the requests of a client that are under way.
const maxCalls = 64

// request passes a control request on. The conversation knows it by an id of the
// room's: those of clients are their own.
func (c *client) request(data []byte, id gjson.Result) error {
	if id.Raw == "" {
		return refuse(0, "bad_message", "a control request has a request_id")
	}
	err := c.room.control(call{from: c, id: id.Raw}, json.RawMessage(gjson.GetBytes(data, "request").Raw))
	if err == nil {
		return nil
	}
	f := &fault{code: "request_failed", text: err.Error()}
	_ = errors.As(err, &f)
	c.tell(failed(id.Raw, f))
	return nil
}

// failed is the answer to a control request that was not carried out.
func failed(id string, f *fault) []byte {
	return msg.Encode(map[string]any{"type": "control_response", "response": map[string]any{
		"subtype": "error", "request_id": json.RawMessage(id), "error": f.text, "error_code": f.code,
	}})
}

// control puts a control request to the conversation; its answer goes to who made it.
func (m *room) control(by call, request json.RawMessage) error {
	if err := allowed(request); err != nil {
		return err
	}
	l, err := m.awake()
	if err != nil {
		return err
	}
	m.mu.Lock()
	under := 0
	for _, k := range m.calls {
		if k.from == by.from && by.from != nil {
			under++
		}
	}
	m.serial++
	id := "hew-" + strconv.Itoa(m.serial)
	if under < maxCalls {
		m.calls[id] = by
	}
	m.mu.Unlock()
	if under >= maxCalls {
		return refuse(0, "too_many_requests", "%d requests of this client are still being carried out", under)
	}
	err = l.Say(msg.Encode(struct {
		Type    string          `json:"type"`
		ID      string          `json:"request_id"`
		Request json.RawMessage `json:"request"`
	}{"control_request", id, request}))
	if err != nil {
		m.mu.Lock()
		delete(m.calls, id)
		m.mu.Unlock()
	}
	return err
}

// allowed refuses requests that would bring programs of a client into the session.
func allowed(request json.RawMessage) error {
	r := gjson.ParseBytes(request)
	if !r.IsObject() {
		return refuse(0, "invalid_request", "the request is not an object")
	}
	brings := func(keys ...string) bool {
		return slices.ContainsFunc(keys, func(k string) bool {
			v := r.Get(k)
			return v.Exists() && v.Raw != "null" && v.Raw != "{}" && v.Raw != "[]"
		})
	}
	switch s := r.Get("subtype").Str; {
	case s == "mcp_set_servers", s == "mcp_message", s == "reload_plugins" && brings("add_plugins"),
		s == "initialize" && brings("hooks", "sdkMcpServers", "mcpServers", "plugins"):
		return refuse(0, "forbidden", "a client of a served session brings no programs into it: %s is refused", s)
	}
	return nil
}

// withdraw calls off a control request of this client.
func (c *client) withdraw(id gjson.Result) error {
	m := c.room
	l := m.live.Load()
	m.mu.Lock()
	known := ""
	for k, v := range m.calls {
		if v.from == c && v.id == id.Raw {
			known = k
		}
	}
	m.mu.Unlock()
	if l == nil || known == "" {
		return nil
	}
	line, err := sjson.SetBytes([]byte(`{"type":"control_cancel_request"}`), "request_id", known)
	if err != nil {
		return fmt.Errorf("call off a request: %w", err)
	}
	return l.Say(line)
}
