package web

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/session"
)

// talk is a conversation that does what a test says.
type talk struct {
	out   Outlet
	mu    sync.Mutex
	heard []string // lines of clients
	ended chan struct{}
	once  sync.Once
}

func (k *talk) say(line []byte) error {
	if t := gjson.GetBytes(line, "type").Str; t == "user" && !gjson.GetBytes(line, "message.content").Exists() {
		return fmt.Errorf("no content")
	}
	k.mu.Lock()
	k.heard = append(k.heard, string(line))
	k.mu.Unlock()
	if r := gjson.GetBytes(line, "request_id").Str; gjson.GetBytes(line, "type").Str == "control_request" {
		k.line(fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{"did":%q}}}`, r, gjson.GetBytes(line, "request.subtype").Str))
	}
	return nil
}

func (k *talk) line(text string) { _, _ = io.WriteString(k.out.Lines, text+"\n") }

func (k *talk) lines() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]string(nil), k.heard...)
}

// stand is a server with scripted conversations, and the clock that it goes by.
type stand struct {
	t     *testing.T
	s     *Server
	http  *httptest.Server
	home  string
	mu    sync.Mutex
	clock time.Time
	acts  []Act
	talks map[string]*talk
	open  func(Request) error
}

func (d *stand) now() time.Time { d.mu.Lock(); defer d.mu.Unlock(); return d.clock }

func (d *stand) later(by time.Duration) { d.mu.Lock(); defer d.mu.Unlock(); d.clock = d.clock.Add(by) }

func newStand(t *testing.T, change func(*Config)) *stand {
	t.Helper()
	d := &stand{t: t, clock: time.Unix(1_700_000_000, 0), talks: map[string]*talk{}, home: t.TempDir()}
	c := Config{
		Version: "1", Home: d.home, Cwd: t.TempDir(), Now: d.now, NewID: session.NewID, Warn: func(string) {},
		Entrance: Entrance{Hosts: []string{"127.0.0.1"}, Port: "1", Idle: time.Hour, Password: func(p string) bool { return p == "open sesame" }},
		Audit:    func(a Act) { d.mu.Lock(); defer d.mu.Unlock(); d.acts = append(d.acts, a) },
		Folder:   func(string) (Folder, error) { return Folder{}, nil },
		Accept:   func(context.Context, string) error { return nil },
		Files:    func(context.Context, string, string) ([]string, error) { return []string{"a.go"}, nil },
		Open:     d.opened,
	}
	if change != nil {
		change(&c)
	}
	s, err := New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	d.s, d.http = s, httptest.NewServer(s)
	t.Cleanup(func() {
		_ = s.Close()
		d.http.CloseClientConnections()
		d.http.Close()
	})
	return d
}

func (d *stand) opened(_ context.Context, q Request, out Outlet) (*Live, error) {
	if d.open != nil {
		if err := d.open(q); err != nil {
			return nil, err
		}
	}
	k := &talk{out: out, ended: make(chan struct{})}
	id := q.ID + q.Resume
	d.mu.Lock()
	d.talks[id] = k
	d.mu.Unlock()
	return &Live{
		ID: func() string { return id }, Say: k.say, Ended: k.ended, Facts: func() Facts { return Facts{Mode: "default", Model: "m"} },
		Outline: outlined, Close: func() error { k.once.Do(func() { close(k.ended) }); return nil },
	}, nil
}

func (d *stand) talk(id string) *talk { d.mu.Lock(); defer d.mu.Unlock(); return d.talks[id] }

// past writes a transcript with so many prompts and answers.
func (d *stand) past(prompts int) string {
	d.t.Helper()
	id := session.NewID()
	store := session.Store{Home: d.home, Project: session.Key("/somewhere")}
	log, err := store.Create(id)
	if err != nil {
		d.t.Fatal(err)
	}
	w := session.NewWriter(session.WriterConfig{Log: log, Stamp: session.Stamp{Session: id, Cwd: "/somewhere", Version: "1"}, Now: d.now, NewID: session.NewID})
	for i := range prompts {
		if err := w.Prompt(msg.User(session.NewID(), d.now(), fmt.Sprint("prompt ", i)), session.Prompt{}); err != nil {
			d.t.Fatal(err)
		}
		m := &msg.Message{ID: session.NewID(), Role: msg.RoleAssistant, Time: d.now(), Blocks: []msg.Block{msg.NewText(fmt.Sprint("answer ", i))}, Reply: &msg.Reply{ID: fmt.Sprint("msg_", i), Model: "m"}}
		if err := w.Reply(m); err != nil {
			d.t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		d.t.Fatal(err)
	}
	return id
}

// person is a client with cookies.
type person struct {
	d *stand
	c *http.Client
}

func (d *stand) stranger() *person {
	jar, err := cookiejar.New(nil)
	if err != nil {
		d.t.Fatal(err)
	}
	return &person{d, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

func (d *stand) person(name string) *person {
	d.t.Helper()
	p := d.stranger()
	_, token, _ := strings.Cut(d.s.Link(), "token=")
	if code, body := p.ask("POST", "/api/login", fmt.Sprintf(`{"token":%q,"name":%q}`, token, name)); code != 200 {
		d.t.Fatalf("login: %d %s", code, body)
	}
	return p
}

func (p *person) ask(method, path, body string, headers ...string) (int, string) {
	p.d.t.Helper()
	r, err := http.NewRequest(method, p.d.http.URL+path, strings.NewReader(body))
	if err != nil {
		p.d.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		k, v, _ := strings.Cut(h, ": ")
		r.Header.Set(k, v)
		if k == "Host" {
			r.Host = v
		}
	}
	res, err := p.c.Do(r)
	if err != nil {
		p.d.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		p.d.t.Fatal(err)
	}
	return res.StatusCode, string(data)
}

// begin opens a new session and returns its id and its conversation.
func (p *person) begin() (string, *talk) {
	p.d.t.Helper()
	code, body := p.ask("POST", "/api/sessions", fmt.Sprintf(`{"cwd":%q}`, p.d.s.c.Cwd))
	if code != 201 {
		p.d.t.Fatalf("%d %s", code, body)
	}
	id := gjson.Get(body, "id").Str
	return id, p.d.talk(id)
}

// sock is a socket of a person.
type sock struct {
	t    *testing.T
	conn *websocket.Conn
}

func (p *person) socket(path string) *sock {
	p.d.t.Helper()
	c, res, err := p.dial(path)
	if err != nil {
		p.d.t.Fatalf("%v (%v)", err, res)
	}
	c.SetReadLimit(-1)
	p.d.t.Cleanup(func() { _ = c.CloseNow() })
	return &sock{p.d.t, c}
}

func (p *person) dial(path string, headers ...string) (*websocket.Conn, *http.Response, error) {
	h := http.Header{}
	for _, kv := range headers {
		k, v, _ := strings.Cut(kv, ": ")
		h.Set(k, v)
	}
	return websocket.Dial(p.d.t.Context(), p.d.http.URL+path, &websocket.DialOptions{HTTPClient: p.c, HTTPHeader: h})
}

// next is the next message that a test wants; others are passed over.
func (s *sock) next(want func(gjson.Result) bool) gjson.Result {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Second)
	defer cancel()
	for {
		_, data, err := s.conn.Read(ctx)
		if err != nil {
			s.t.Fatalf("no such message came: %v", err)
		}
		if v := gjson.ParseBytes(data); want(v) {
			return v
		}
	}
}

func typed(kind string) func(gjson.Result) bool {
	return func(v gjson.Result) bool { return v.Get("type").Str == kind }
}

func (s *sock) say(text string) {
	s.t.Helper()
	if err := s.conn.Write(s.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *sock) refused(text, code string) gjson.Result {
	s.t.Helper()
	s.say(text)
	v := s.next(typed("error"))
	if v.Get("code").Str != code {
		s.t.Errorf("%.80s is refused with %s, want %s", text, v.Raw, code)
	}
	return v
}

const asksBash = `{"type":"control_request","request_id":"q1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"description":"ls","tool_use_id":"u1"}}`

func allow(id string) string {
	return fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{"behavior":"allow"}}}`, id)
}

// until polls with a deadline.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	end := time.After(20 * time.Second)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatal(what)
		}
	}
}

func valid(t *testing.T, raw string) {
	t.Helper()
	if !json.Valid([]byte(raw)) {
		t.Errorf("not JSON: %.200s", raw)
	}
}

func delta(text string) event.Event {
	return event.Event{Body: event.Delta{Kind: event.DeltaText, Text: text}}
}
