package web

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/surface/view"
)

// The first valid answer counts, exactly once; the others see the question close.
func TestAnswers(t *testing.T) {
	t.Parallel()
	d := newStand(t, nil)
	ann, bob := d.person("ann"), d.person("bob")
	id, k := ann.begin()
	a, b := ann.socket("/api/sessions/"+id+"/socket"), bob.socket("/api/sessions/"+id+"/socket?want=view")
	a.next(typed("hello"))
	b.next(typed("hello"))
	k.line(asksBash)
	for _, s := range []*sock{a, b} {
		if q := s.next(typed("control_request")); q.Get("request_id").Str != "q1" {
			t.Fatal(q.Raw)
		}
	}
	late := ann.socket("/api/sessions/" + id + "/socket")
	late.next(typed("control_request"))
	b.refused(`{"type":"control_response","response":{"subtype":"success","request_id":"q1","response":{"behavior":"maybe"}}}`, "invalid_answer")
	b.refused(`{"type":"control_response","response":{"subtype":"success","request_id":"q1","response":{"behavior":"allow","updatedPermissions":"all"}}}`, "invalid_answer")
	b.refused(`{"type":"control_response","response":{"subtype":"error","request_id":"q1","error":"x"}}`, "invalid_answer")
	b.refused(allow("q9"), "unknown_question")
	b.say(allow("q1"))
	for _, s := range []*sock{a, b, late} {
		if c := s.next(typed("control_cancel_request")); c.Get("answered_by").Str != "bob" || c.Get("request_id").Str != "q1" {
			t.Errorf("%s", c.Raw)
		}
	}
	a.refused(allow("q1"), "answered")
	if got := k.lines(); len(got) != 1 || gjson.Get(got[0], "response.response.behavior").Str != "allow" {
		t.Errorf("the conversation heard %v", got)
	}
	d.mu.Lock()
	last := d.acts[len(d.acts)-1]
	d.mu.Unlock()
	if last.Op != "answer" || last.Name != "bob" || last.Tool != "Bash" || last.Behavior != "allow" || last.Session != id {
		t.Errorf("the audit log has %+v", last)
	}
}

// Many clients that answer at once: one of them counts.
func TestAnswersAtOnce(t *testing.T) {
	t.Parallel()
	d := newStand(t, nil)
	p := d.person("ann")
	id, k := p.begin()
	var all []*sock
	for range 8 {
		s := p.socket("/api/sessions/" + id + "/socket")
		s.next(typed("hello"))
		all = append(all, s)
	}
	for round := range 20 {
		q := fmt.Sprint("r", round)
		k.line(strings.ReplaceAll(asksBash, `"q1"`, `"`+q+`"`))
		var wg sync.WaitGroup
		for _, s := range all {
			wg.Go(func() {
				s.next(func(v gjson.Result) bool {
					return v.Get("request_id").Str == q && v.Get("type").Str == "control_request"
				})
				s.say(allow(q))
				s.next(func(v gjson.Result) bool {
					return v.Get("request_id").Str == q && v.Get("type").Str == "control_cancel_request"
				})
			})
		}
		wg.Wait()
	}
	if got := k.lines(); len(got) != 20 {
		t.Errorf("the conversation heard %d answers to 20 questions", len(got))
	}
}

// What clients send that is no message is their own trouble.
func TestBadMessages(t *testing.T) {
	t.Parallel()
	d := newStand(t, nil)
	p := d.person("ann")
	id, k := p.begin()
	s := p.socket("/api/sessions/" + id + "/socket")
	s.next(typed("hello"))
	for _, c := range [][2]string{
		{`{`, "not_json"},
		{`[]`, "not_json"},
		{``, "not_json"},
		{`{"type":"user"}`, "bad_message"},
		{`{"type":"tomorrow"}`, "bad_message"},
		{`{"type":"control_request","request":{}}`, "bad_message"},
		{`{"type":"control_response"}`, "unknown_question"},
		{`{"type":"draft","text":"` + strings.Repeat("x", maxDraft+1) + `"}`, "too_large"},
	} {
		s.refused(c[0], c[1])
	}
	for _, r := range []string{
		`{"subtype":"mcp_set_servers","servers":{}}`, `{"subtype":"mcp_message"}`, `{"subtype":"initialize","hooks":{"Stop":[{}]}}`,
		`{"subtype":"reload_plugins","add_plugins":[{}]}`, `{"subtype":"initialize","mcpServers":{"a":{}}}`,
	} {
		s.say(`{"type":"control_request","request_id":"x","request":` + r + `}`)
		if v := s.next(typed("control_response")); v.Get("response.error_code").Str != "forbidden" {
			t.Errorf("%s: %s", r, v.Raw)
		}
	}
	if err := s.conn.Write(t.Context(), websocket.MessageBinary, []byte("x")); err != nil {
		t.Fatal(err)
	}
	s.next(typed("error"))
	s.say("{\"type\":\n\"user\",\r\n\"message\":{\"role\":\"user\",\"content\":\"hi\"}}")
	until(t, "the good message is heard", func() bool { return len(k.lines()) == 1 })
	if got := k.lines()[0]; strings.Contains(got, "\n") {
		t.Errorf("a line has breaks: %q", got)
	}
}

// A message of 20 MB ends its socket and nothing else.
func TestHugeMessage(t *testing.T) {
	t.Parallel()
	d := newStand(t, nil)
	p := d.person("ann")
	id, k := p.begin()
	other := p.socket("/api/sessions/" + id + "/socket")
	other.next(typed("hello"))
	s := p.socket("/api/sessions/" + id + "/socket")
	s.next(typed("hello"))
	go func() { // the server may stop reading in the middle
		_ = s.conn.Write(t.Context(), websocket.MessageText, []byte(`{"type":"user","message":"`+strings.Repeat("x", 20<<20)+`"}`))
	}()
	for {
		_, _, err := s.conn.Read(t.Context())
		if err != nil {
			if c := websocket.CloseStatus(err); c != websocket.StatusMessageTooBig {
				t.Errorf("the socket ends with %v", err)
			}
			break
		}
	}
	if code, body := p.ask("POST", "/api/sessions/"+id+"/control", `{"x":"`+strings.Repeat("x", 20<<20)+`"}`); code != 413 {
		t.Errorf("a request of 20 MB: %d %s", code, body)
	}
	k.line(asksBash)
	other.next(typed("control_request"))
}

// A control request is answered to who made it, under the id that it had.
func TestRequestIDsAreEachClientsOwn(t *testing.T) {
	t.Parallel()
	d := newStand(t, nil)
	p := d.person("ann")
	id, _ := p.begin()
	a, b := p.socket("/api/sessions/"+id+"/socket"), p.socket("/api/sessions/"+id+"/socket")
	a.say(`{"type":"control_request","request_id":1,"request":{"subtype":"one"}}`)
	b.say(`{"type":"control_request","request_id":1,"request":{"subtype":"two"}}`)
	for s, want := range map[*sock]string{a: "one", b: "two"} {
		v := s.next(typed("control_response"))
		if v.Get("response.request_id").Raw != "1" || v.Get("response.response.did").Str != want || v.Get("seq").Exists() {
			t.Errorf("%s", v.Raw)
		}
	}
	if code, body := p.ask("POST", "/api/sessions/"+id+"/control", `{"subtype":"three"}`); code != 200 || gjson.Get(body, "did").Str != "three" {
		t.Errorf("%d %s", code, body)
	}
}

// A client that reads from its own place misses nothing, whatever was cut and
// however little the log keeps.
func TestCursor(t *testing.T) {
	t.Parallel()
	d := newStand(t, func(c *Config) {
		c.Limits = Ordinary()
		c.Limits.Window = 8 << 10
	})
	p := d.person("ann")
	id := d.past(3)
	watch := p.socket("/api/sessions/" + id + "/socket")
	epoch := watch.next(typed("hello")).Get("epoch").Str
	if code, body := p.ask("POST", "/api/sessions", fmt.Sprintf(`{"resume":%q}`, id)); code != 201 {
		t.Fatal(body)
	}
	k := d.talk(id)
	for i := range 50 {
		k.line(fmt.Sprintf(`{"type":"stream_event","n":%d}`, i))
	}
	watch.next(func(v gjson.Result) bool { return v.Get("n").Int() == 49 })
	s := p.socket("/api/sessions/" + id + "/socket?after=" + epoch + ":10")
	for want := int64(11); want <= 50; want++ {
		v := s.next(func(v gjson.Result) bool { return v.Get("seq").Exists() && v.Get("type").Str != "hello" })
		if v.Get("seq").Int() != want || v.Get("n").Int() != want-1 {
			t.Fatalf("want line %d, got %s", want, v.Raw)
		}
	}
	// The messages of the transcript pass by; then so much that they are dropped.
	_, history := p.ask("GET", "/api/sessions/"+id+"/history", "")
	var uuids []string
	for l := range strings.SplitSeq(strings.TrimSpace(history), "\n") {
		valid(t, l)
		u := gjson.Get(l, "uuid").Str
		uuids = append(uuids, u)
		k.line(fmt.Sprintf(`{"type":%q,"uuid":%q}`, gjson.Get(l, "type").Str, u))
	}
	if len(uuids) != 6 {
		t.Fatalf("the history has %d messages: %s", len(uuids), history)
	}
	for range 50 {
		k.line(`{"type":"stream_event","x":"` + strings.Repeat("x", 500) + `"}`)
	}
	back := p.socket("/api/sessions/" + id + "/socket?after=" + epoch + ":52")
	gap := back.next(typed("gap"))
	for _, want := range uuids[2:] {
		v := back.next(func(gjson.Result) bool { return true })
		if v.Get("uuid").Str != want || !v.Get("isReplay").Bool() || v.Get("seq").Exists() {
			t.Fatalf("want %s from the transcript, got %s", want, v.Raw)
		}
	}
	if v := back.next(func(gjson.Result) bool { return true }); v.Get("seq").Int() != gap.Get("next").Int() {
		t.Errorf("behind the gap comes %s, want %s", v.Raw, gap.Raw)
	}
	fresh := p.socket("/api/sessions/" + id + "/socket?after=another:3")
	fresh.next(typed("hello"))
	k.line(`{"type":"stream_event","last":true}`)
	if v := fresh.next(func(gjson.Result) bool { return true }); !v.Get("last").Bool() {
		t.Errorf("a client of another server gets %s", v.Raw)
	}
}

// A client that never reads is cut off and slows nobody.
func TestClientThatNeverReads(t *testing.T) {
	t.Parallel()
	d := newStand(t, func(c *Config) {
		c.Limits = Ordinary()
		c.Limits.Stalled = 300 * time.Millisecond
	})
	p := d.person("ann")
	id, k := p.begin()
	small := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err == nil {
			err = c.(*net.TCPConn).SetReadBuffer(4 << 10)
		}
		return c, err
	}}
	deaf, _, err := (&person{d, &http.Client{Jar: p.c.Jar, Transport: small}}).dial("/api/sessions/" + id + "/socket")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = deaf.CloseNow() }()
	good := p.socket("/api/sessions/" + id + "/socket")
	good.next(typed("hello"))
	last := 120
	go func() {
		for i := range last {
			k.line(fmt.Sprintf(`{"type":"stream_event","n":%d,"x":%q}`, i+1, strings.Repeat("x", 64<<10)))
		}
	}()
	good.next(func(v gjson.Result) bool { return v.Get("n").Int() == int64(last) })
	until(t, "the deaf client is cut off", func() bool { return d.s.count.sockets.Load() == 1 && d.s.count.stalled.Load() == 1 })
}

// Sockets that are cut at any byte leave nothing behind.
func TestSocketsCut(t *testing.T) {
	t.Parallel()
	d := newStand(t, nil)
	p := d.person("ann")
	id, k := p.begin()
	host := strings.TrimPrefix(d.http.URL, "http://")
	u, err := http.NewRequest("GET", d.http.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	cookie := p.c.Jar.Cookies(u.URL)[0]
	head := fmt.Sprintf("GET /api/sessions/%s/socket?want=lines,view HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"+
		"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nCookie: %s=%s\r\n\r\n", id, host, cookie.Name, cookie.Value)
	mask := "\x81\x9a\x00\x00\x00\x00" + `{"type":"draft","text":"x"}`[:26]
	whole := head + mask + mask
	for range 60 {
		c, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte(whole[:rand.IntN(len(whole))])); err != nil {
			t.Fatal(err)
		}
		k.line(`{"type":"stream_event"}`)
		_ = c.Close()
	}
	until(t, "all sockets are gone", func() bool { return d.s.count.sockets.Load() == 0 })
	m, leave, err := d.s.visit(id)
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.clients) != 0 || m.visitors != 1 {
		t.Errorf("%d clients and %d visitors are left", len(m.clients), m.visitors)
	}
}

func TestTooManySockets(t *testing.T) {
	t.Parallel()
	d := newStand(t, func(c *Config) {
		c.Limits = Ordinary()
		c.Limits.Sockets = 20
	})
	p := d.person("ann")
	id, k := p.begin()
	var all []*sock
	for range 20 {
		s := p.socket("/api/sessions/" + id + "/socket")
		s.next(typed("hello"))
		all = append(all, s)
	}
	if _, res, err := p.dial("/api/sessions/" + id + "/socket"); err == nil || res.StatusCode != 503 || res.Header.Get("Retry-After") == "" {
		t.Fatalf("one too many: %v", err)
	}
	k.line(asksBash)
	for _, s := range all {
		s.next(typed("control_request"))
	}
	_ = all[0].conn.CloseNow()
	until(t, "there is room again", func() bool { return d.s.count.sockets.Load() == 19 })
	p.socket("/api/sessions/" + id + "/socket").next(typed("control_request"))
}

// Drafts outlive the page and the server, and every client has them.
func TestDrafts(t *testing.T) {
	t.Parallel()
	d := newStand(t, nil)
	p := d.person("ann")
	id := d.past(1)
	a, b := p.socket("/api/sessions/"+id+"/socket"), p.socket("/api/sessions/"+id+"/socket")
	a.next(typed("hello"))
	b.next(typed("hello"))
	a.say(`{"type":"draft","text":"half a th\u00f6ught"}`)
	if v := b.next(typed("draft")); v.Get("text").Str != "half a thöught" || v.Get("rev").Int() != 1 {
		t.Error(v.Raw)
	}
	again, err := New(t.Context(), d.s.c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Close() }()
	until(t, "the draft is on disk", func() bool { return again.readDraft(id).Text == "half a thöught" })
	b.say(`{"type":"draft","text":""}`)
	a.next(typed("draft"))
	until(t, "the draft is gone", func() bool { return again.readDraft(id) == draft{} })
}

// Views lead from each state to the next: a client that applies them has what the
// server has, whatever it missed in between.
func TestViewsAddUp(t *testing.T) {
	t.Parallel()
	d := newStand(t, nil)
	p := d.person("ann")
	id, k := p.begin()
	s := p.socket("/api/sessions/" + id + "/socket?want=view")
	s.next(typed("view"))
	var text strings.Builder
	for i := range 300 {
		w := fmt.Sprint("w", i, " ")
		text.WriteString(w)
		k.out.Heard(delta(w))
	}
	got := ""
	for got != text.String() {
		v := s.next(typed("view"))
		valid(t, v.Raw)
		for _, it := range v.Get("live").Array() {
			got = it.Get("text").Str
		}
		for _, g := range v.Get("grow").Array() {
			got += g.Get("more").Str
		}
		if !strings.HasPrefix(text.String(), got) {
			t.Fatalf("the client has %q", got)
		}
	}
	m, leave, err := d.s.visit(id)
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	m.replace(view.State{})
	m.mu.Lock()
	m.stir()
	m.mu.Unlock()
	if v := s.next(typed("view")); !v.Get("reset").Bool() || len(v.Get("items").Array()) != 0 {
		t.Errorf("after a reset: %s", v.Raw)
	}
}

func TestSleepAndWake(t *testing.T) {
	t.Parallel()
	d := newStand(t, func(c *Config) {
		c.Limits = Ordinary()
		c.Limits.Sleep = 20 * time.Millisecond
	})
	p := d.person("ann")
	id := d.past(300)
	s := p.socket("/api/sessions/" + id + "/socket?want=view,lines")
	if h := s.next(typed("hello")); h.Get("session.state").Str != asleep {
		t.Error(h.Raw)
	}
	v := s.next(typed("view"))
	items := v.Get("items").Array()
	if len(items) != firstItems || v.Get("total").Int() != 600 {
		t.Fatalf("%d items of %s", len(items), v.Get("total").Raw)
	}
	_, older := p.ask("GET", "/api/sessions/"+id+"/items?limit=1000&before="+items[0].Get("id").Str, "")
	if n := len(gjson.Get(older, "items").Array()); n != 400 || gjson.Get(older, "more").Bool() {
		t.Errorf("%d older items", n)
	}
	if d.talk(id) != nil {
		t.Fatal("looking has opened the session")
	}
	s.say(`{"type":"user","uuid":"u","message":{"role":"user","content":"hi"}}`)
	s.say(`{"type":"user","uuid":"u","message":{"role":"user","content":"hi"}}`)
	until(t, "the session is woken", func() bool { return d.talk(id) != nil && len(d.talk(id).lines()) == 1 })
	d.later(time.Minute)
	_ = s.conn.CloseNow()
	until(t, "nobody needs it any more", func() bool {
		d.later(time.Second)
		select {
		case <-d.talk(id).ended:
			return true
		default:
			return false
		}
	})
}

func TestBusyElsewhere(t *testing.T) {
	t.Parallel()
	d := newStand(t, nil)
	p := d.person("ann")
	id := d.past(1)
	d.open = func(Request) error { return &session.Busy{ID: id, PID: 7} }
	s := p.socket("/api/sessions/" + id + "/socket")
	s.next(typed("hello"))
	s.refused(`{"type":"user","message":{"role":"user","content":"hi"}}`, "busy")
	if code, body := p.ask("POST", "/api/sessions", fmt.Sprintf(`{"resume":%q}`, id)); code != 409 || gjson.Get(body, "error.code").Str != "busy" {
		t.Errorf("%d %s", code, body)
	}
	d.open = func(Request) error { return context.DeadlineExceeded }
	s.refused(`{"type":"user","message":{"role":"user","content":"hi"}}`, asleep)
}
