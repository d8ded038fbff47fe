package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/surface/view"
)

// Session is a session of a server that this client follows.
type Session struct {
	s  *Server
	id string
	// Store is what a person sees of it.
	Store *view.Store
	f     Follow

	mu      sync.Mutex
	conn    *websocket.Conn
	joined  chan struct{} // closed at the first hello
	hello   sync.Once
	epoch   string
	seq     int64
	shown   picture
	asked   map[string]gjson.Result // open questions, by request id
	waiting map[string]chan gjson.Result
	serial  int
	end     context.CancelCauseFunc
	over    chan struct{}
	err     error
	// said are prompts of which the server has not spoken yet. They are said again
	// over a new connection; the server counts them once.
	said   map[string][]byte
	unsent [][]byte // what else was said while there was no connection
}

// Follow is what to hear of a session beside its views. All is optional.
type Follow struct {
	// Lines is told each line of stream-json, in order.
	Lines func(line json.RawMessage)
	// Trouble is told when something that was said is not accepted.
	Trouble func(*Fault)
}

// Attach follows a session until ctx ends or Close.
func (s *Server) Attach(ctx context.Context, id string, f Follow) (*Session, error) {
	c := &Session{
		s: s, id: id, f: f, joined: make(chan struct{}), over: make(chan struct{}),
		asked: map[string]gjson.Result{}, waiting: map[string]chan gjson.Result{}, said: map[string][]byte{},
	}
	c.Store = view.NewStore(view.Fold{}, view.State{})
	ctx, c.end = context.WithCancelCause(ctx)
	conn, err := c.dial(ctx)
	if err != nil {
		c.end(nil)
		return nil, fmt.Errorf("follow session %s: %w", id, err)
	}
	go c.follow(ctx, conn)
	select {
	case <-c.joined:
		return c, nil
	case <-c.over:
		return nil, fmt.Errorf("follow session %s: %w", id, context.Cause(ctx))
	}
}

// Close leaves the session, which goes on.
func (c *Session) Close() error {
	c.end(errLeft)
	<-c.over
	return nil
}

// Done is closed when the session is not followed any more; Err then says why.
func (c *Session) Done() <-chan struct{} { return c.over }

// Err is why the session is not followed any more.
func (c *Session) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

var errLeft = errors.New("the session was left")

func (c *Session) dial(ctx context.Context) (*websocket.Conn, error) {
	want := "view"
	if c.f.Lines != nil {
		want = "view,lines"
	}
	c.mu.Lock()
	after := fmt.Sprintf("%s:%d", c.epoch, c.seq)
	c.mu.Unlock()
	path := fmt.Sprintf("/api/sessions/%s/socket?want=%s&after=%s", url.PathEscape(c.id), want, url.QueryEscape(after))
	conn, res, err := websocket.Dial(ctx, c.s.base+path, &websocket.DialOptions{HTTPClient: c.s.http})
	if err == nil {
		conn.SetReadLimit(maxAnswer)
		return conn, nil
	}
	if res != nil && res.StatusCode < http.StatusInternalServerError && res.StatusCode != http.StatusTooManyRequests {
		return nil, &Fault{Status: res.StatusCode, Code: "refused", Text: "the server answers " + res.Status}
	}
	return nil, err
}

// follow reads until the end, over as many connections as it takes.
func (c *Session) follow(ctx context.Context, conn *websocket.Conn) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.err = context.Cause(ctx)
		close(c.over)
	}()
	for tries := 0; conn != nil; {
		c.repeat(ctx, conn)
		if c.read(ctx, conn) {
			tries = 0
		}
		_ = conn.CloseNow()
		c.lost()
		conn = c.back(ctx, &tries)
	}
}

// repeat says over a new connection what may not have arrived over the old one.
func (c *Session) repeat(ctx context.Context, conn *websocket.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.said {
		_ = conn.Write(ctx, websocket.MessageText, m) // whether it broke again, reading tells
	}
	for _, m := range c.unsent {
		_ = conn.Write(ctx, websocket.MessageText, m)
	}
	c.conn, c.unsent = conn, nil
}

// lost gives up the requests of a connection that broke.
func (c *Session) lost() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn = nil
	for id, answer := range c.waiting {
		delete(c.waiting, id)
		answer <- gjson.Parse(`{"subtype":"error","error":"the connection broke","error_code":"disconnected"}`)
	}
}

// back makes a connection anew; nil when that has no point any more.
func (c *Session) back(ctx context.Context, tries *int) *websocket.Conn {
	for ; ctx.Err() == nil; *tries++ {
		wait := time.NewTimer(again(*tries))
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return nil
		}
		conn, err := c.dial(ctx)
		if err == nil {
			return conn
		}
		var f *Fault
		if errors.As(err, &f) { // signed out, or the session is gone
			c.end(err)
		}
	}
	return nil
}

// read takes messages until the connection breaks, and tells whether there were any.
func (c *Session) read(ctx context.Context, conn *websocket.Conn) (some bool) {
	for {
		_, data, err := conn.Read(ctx)
		if err != nil {
			switch websocket.CloseStatus(err) {
			case 4001:
				c.end(&Fault{Status: http.StatusUnauthorized, Code: "unauthorized", Text: "the server has signed this client out"})
			case 4004:
				c.end(&Fault{Status: http.StatusNotFound, Code: "not_found", Text: "the session was removed"})
			}
			return some
		}
		some = true
		c.take(data)
	}
}

// take takes one message in.
func (c *Session) take(data []byte) {
	v := gjson.ParseBytes(data)
	switch v.Get("type").Str {
	case "hello":
		c.mu.Lock()
		if epoch := v.Get("epoch").Str; epoch != c.epoch { // another server, or the first
			c.epoch, c.seq = epoch, v.Get("seq").Int()
		}
		clear(c.asked)
		c.mu.Unlock()
		c.hello.Do(func() { close(c.joined) })
		return
	case "view":
		c.see(v)
		return
	case "control_response":
		c.mu.Lock()
		id := v.Get("response.request_id").Str
		answer := c.waiting[id]
		delete(c.waiting, id)
		c.mu.Unlock()
		if answer != nil {
			answer <- v.Get("response")
		}
		return
	case "error":
		c.heard(v.Get("request_id").Str)
		if c.f.Trouble != nil {
			c.f.Trouble(&Fault{Code: v.Get("code").Str, Text: v.Get("message").Str})
		}
		return
	case "user":
		c.heard(v.Get("uuid").Str)
	case "control_request":
		c.mu.Lock()
		c.asked[v.Get("request_id").Str] = v.Get("request")
		c.mu.Unlock()
	case "control_cancel_request":
		c.mu.Lock()
		delete(c.asked, v.Get("request_id").Str)
		c.mu.Unlock()
	}
	if seq := v.Get("seq").Int(); seq > 0 {
		c.mu.Lock()
		old := seq <= c.seq && v.Get("type").Str != "control_request"
		c.seq = max(c.seq, seq)
		c.mu.Unlock()
		if old {
			return
		}
	}
	if c.f.Lines != nil {
		c.f.Lines(data)
	}
}

// heard notes that the server has a prompt.
func (c *Session) heard(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.said, id)
}

// see takes a view message in.
func (c *Session) see(v gjson.Result) {
	c.mu.Lock()
	c.shown.apply(v)
	st := c.shown.state()
	for id := range c.said {
		for _, it := range v.Get("items.#.id").Array() {
			if it.Str == id || it.Str == "command-"+id {
				delete(c.said, id)
			}
		}
	}
	c.mu.Unlock()
	c.Store.Replace(st)
}

// send says something, now or when there is a connection again.
func (c *Session) send(ctx context.Context, v any) {
	data := msg.Encode(v)
	if c.write(ctx, data) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unsent = append(c.unsent, data)
}

func (c *Session) write(ctx context.Context, data []byte) bool {
	c.mu.Lock()
	conn := c.conn
	c.mu.Unlock()
	return conn != nil && conn.Write(ctx, websocket.MessageText, data) == nil
}

// Prompt says something: a prompt, or while something runs a word to it. The id
// is that of the message; it counts once, however often the connection breaks.
func (c *Session) Prompt(ctx context.Context, m *msg.Message) {
	content := []json.RawMessage{}
	for _, b := range m.Blocks {
		content = append(content, b.JSON())
	}
	data := msg.Encode(map[string]any{"type": "user", "uuid": m.ID, "message": map[string]any{"role": "user", "content": content}})
	c.mu.Lock()
	c.said[m.ID] = data
	c.mu.Unlock()
	c.write(ctx, data)
}

// Facts are the session's state (idle, running, waiting, asleep), permission mode and model.
func (c *Session) Facts() (state, mode, model string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shown.facts["state"], c.shown.facts["mode"], c.shown.facts["model"]
}

// Draft tells what the person has typed and not sent.
func (c *Session) Draft(ctx context.Context, text string) {
	c.send(ctx, map[string]any{"type": "draft", "text": text})
}

// Asked are the open questions by the ids by which they are answered. The tool use
// of each is in its request.
func (c *Session) Asked() map[string]json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[string]json.RawMessage{}
	for id, q := range c.asked {
		out[id] = json.RawMessage(q.Raw)
	}
	return out
}

// Answer answers a question of the state, by its ID.
func (c *Session) Answer(ctx context.Context, id string, a event.Answer) {
	response := map[string]any{"behavior": a.Behavior}
	if len(a.Input) > 0 {
		response["updatedInput"] = a.Input
	}
	if a.Message != "" || a.Behavior == "deny" {
		response["message"] = a.Message
	}
	if len(a.Updates) > 0 {
		response["updatedPermissions"] = a.Updates
	}
	if a.Interrupt {
		response["interrupt"] = true
	}
	c.send(ctx, map[string]any{"type": "control_response", "response": map[string]any{"subtype": "success", "request_id": id, "response": response}})
}

// Control makes a control request; fields must hold its subtype.
func (c *Session) Control(ctx context.Context, fields map[string]any) (json.RawMessage, error) {
	answer := make(chan gjson.Result, 1)
	c.mu.Lock()
	c.serial++
	id := fmt.Sprintf("r%d", c.serial)
	c.waiting[id] = answer
	c.mu.Unlock()
	if !c.write(ctx, msg.Encode(map[string]any{"type": "control_request", "request_id": id, "request": fields})) {
		c.mu.Lock()
		delete(c.waiting, id)
		c.mu.Unlock()
		return nil, &Fault{Code: "disconnected", Text: "there is no connection to the server at the moment"}
	}
	select {
	case r := <-answer:
		if r.Get("subtype").Str == "error" {
			return nil, &Fault{Code: r.Get("error_code").Str, Text: r.Get("error").Str}
		}
		return json.RawMessage(r.Get("response").Raw), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-c.over:
		return nil, errLeft
	}
}
