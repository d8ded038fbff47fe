package web

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// A26: nothing is answered to strangers but the probe and the files of the page.
func TestStrangersGetNothing(t *testing.T) {
	t.Parallel()
	d := newStand(t, nil)
	id := d.past(1)
	p := d.stranger()
	for _, path := range []string{"/api/me", "/api/sessions", "/api/sessions/" + id, "/api/sessions/" + id + "/items", "/api/sessions/" + id + "/socket", "/api/x", "/api/sessions/" + id + "/history"} {
		if code, body := p.ask("GET", path, ""); code != 401 || !strings.Contains(body, `"unauthorized"`) {
			t.Errorf("GET %s: %d %s", path, code, body)
		}
	}
	for _, path := range []string{"/api/sessions", "/api/links", "/api/logout", "/api/sessions/" + id + "/fork", "/api/sessions/" + id + "/control"} {
		if code, _ := p.ask("POST", path, "{}"); code != 401 {
			t.Errorf("POST %s: %d", path, code)
		}
	}
	if code, _ := p.ask("DELETE", "/api/sessions/"+id, ""); code != 401 {
		t.Errorf("DELETE: %d", code)
	}
	if _, res, err := p.dial("/api/sessions/" + id + "/socket"); err == nil || res.StatusCode != 401 {
		t.Errorf("a stranger has a socket: %v", err)
	}
	for path, want := range map[string]int{"/healthz": 200, "/": 200, "/no.js": 404, "/no/such.txt": 404, "/metrics": 200} {
		if code, _ := p.ask("GET", path, ""); code != want {
			t.Errorf("GET %s: %d, want %d", path, code, want)
		}
	}
}

// A token works once and for ten minutes; wrong ones are slowed down.
func TestTokens(t *testing.T) {
	t.Parallel()
	d := newStand(t, nil)
	p := d.stranger()
	login := func(body string) int { code, _ := p.ask("POST", "/api/login", body); return code }
	_, token, _ := strings.Cut(d.s.Link(), "token=")
	if code := login(`{"token":"` + token + `"}`); code != 200 {
		t.Fatalf("a good token: %d", code)
	}
	if code := login(`{"token":"` + token + `"}`); code != 403 {
		t.Errorf("a token that was used: %d", code)
	}
	_, old, _ := strings.Cut(d.s.Link(), "token=")
	d.later(linkLife + time.Second)
	if code := login(`{"token":"` + old + `"}`); code != 403 {
		t.Errorf("an old token: %d", code)
	}
	if code := login(`{"password":"open sesame"}`); code != 200 {
		t.Errorf("the password: %d", code)
	}
	_, link, _ := strings.Cut(d.s.Link(), "token=")
	for range freeTries - 1 {
		if code := login(`{"password":"guess"}`); code != 403 {
			t.Fatalf("a guess: %d", code)
		}
	}
	if code := login(`{"password":"open sesame"}`); code != 429 {
		t.Errorf("after many guesses: %d", code)
	}
	if code := login(`{"token":"` + link + `"}`); code != 200 {
		t.Errorf("a good token after many guesses: %d", code)
	}
	d.later(10 * time.Second)
	if code := login(`{"password":"open sesame"}`); code != 200 {
		t.Errorf("after the wait: %d", code)
	}
	if code := login(`{`); code != 400 {
		t.Errorf("no JSON: %d", code)
	}
}

// The link of a browser: a cookie that scripts cannot read, and the page.
func TestLink(t *testing.T) {
	t.Parallel()
	d := newStand(t, nil)
	p := d.stranger()
	link := d.s.Link()
	res, err := p.c.Get(d.http.URL + link)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	c := res.Cookies()
	if res.StatusCode != 303 || res.Header.Get("Location") != "/" || len(c) != 1 || !c[0].HttpOnly || c[0].SameSite != http.SameSiteStrictMode || c[0].Path != "/" {
		t.Fatalf("%d %v %v", res.StatusCode, res.Header, c)
	}
	if code, _ := p.ask("GET", "/api/me", ""); code != 200 {
		t.Errorf("with the cookie: %d", code)
	}
	if code, _ := d.stranger().ask("GET", d.s.Link(), "", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: image"); code != 403 {
		t.Errorf("a picture of another site signs in: %d", code)
	}
	if code, body := d.stranger().ask("GET", link, ""); code != 403 || !strings.Contains(body, "does not work") {
		t.Errorf("a second time: %d %s", code, body)
	}
	if code, _ := p.ask("POST", "/api/logout", "{}"); code != 200 {
		t.Errorf("logout: %d", code)
	}
	if code, _ := p.ask("GET", "/api/me", ""); code != 401 {
		t.Errorf("after the logout: %d", code)
	}
}

// Other sites, and names that somebody has pointed at this machine.
func TestForeignPages(t *testing.T) {
	t.Parallel()
	d := newStand(t, nil)
	p := d.person("ann")
	id := d.past(1)
	host := strings.TrimPrefix(d.http.URL, "http://")
	for _, c := range []struct {
		method, header string
		want           int
	}{
		{"GET", "Host: evil.example", 421},
		{"GET", "Host: evil.example:80", 421},
		{"GET", "Host: 127.0.0.1.evil.example", 421},
		{"GET", "Origin: https://evil.example", 403},
		{"GET", "Origin: http://127.0.0.1:1", 403},
		{"GET", "Origin: null", 403},
		{"GET", "Origin: http://" + host, 200},
		{"GET", "Sec-Fetch-Site: cross-site", 403},
		{"GET", "Sec-Fetch-Site: same-site", 403},
		{"GET", "Sec-Fetch-Site: same-origin", 200},
		{"POST", "Content-Type: text/plain", 415},
		{"POST", "Content-Type: application/x-www-form-urlencoded", 415},
		{"POST", "Origin: https://evil.example", 403},
	} {
		path := "/api/me"
		if c.method == "POST" {
			path = "/api/links"
		}
		if code, _ := p.ask(c.method, path, "{}", c.header); code != c.want {
			t.Errorf("%s with %s: %d, want %d", c.method, c.header, code, c.want)
		}
	}
	if _, res, err := p.dial("/api/sessions/"+id+"/socket", "Origin: https://evil.example"); err == nil || res.StatusCode != 403 {
		t.Errorf("a socket for another site: %v", err)
	}
	res, err := p.c.Get(d.http.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	h := res.Header
	if h.Get("Access-Control-Allow-Origin") != "" || !strings.Contains(h.Get("Content-Security-Policy"), "script-src 'self'") || strings.Contains(h.Get("Content-Security-Policy"), "unsafe") ||
		h.Get("X-Frame-Options") != "DENY" || h.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("headers: %v", h)
	}
}

func TestSilenceSignsOut(t *testing.T) {
	t.Parallel()
	d := newStand(t, func(c *Config) {
		c.Limits = Ordinary()
		c.Limits.Ping = 5 * time.Millisecond
	})
	p := d.person("ann")
	s := p.socket("/api/sessions/" + d.past(1) + "/socket")
	s.next(typed("hello"))
	d.later(50 * time.Minute)
	s.say(`{"type":"keep_alive"}`) // is no word of a person
	d.later(15 * time.Minute)
	_, _, err := s.conn.Read(t.Context())
	if err == nil || !strings.Contains(err.Error(), "4001") {
		t.Errorf("the socket of a silent client: %v", err)
	}
	if code, _ := p.ask("GET", "/api/me", ""); code != 401 {
		t.Errorf("a silent client: %d", code)
	}
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	d := newStand(t, func(c *Config) { c.ReadOnly = true })
	p := d.person("ann")
	id := d.past(2)
	for _, c := range [][2]string{
		{"POST", "/api/sessions"},
		{"POST", "/api/sessions/" + id + "/fork"},
		{"POST", "/api/sessions/" + id + "/control"},
		{"DELETE", "/api/sessions/" + id},
		{"PATCH", "/api/sessions/" + id},
		{"POST", "/api/links"},
		{"GET", "/api/sessions/" + id + "/context"},
	} {
		if code, body := p.ask(c[0], c[1], `{"cwd":"/","title":"x"}`); code != 403 || !strings.Contains(body, `"read_only"`) {
			t.Errorf("%s %s: %d %s", c[0], c[1], code, body)
		}
	}
	s := p.socket("/api/sessions/" + id + "/socket?want=view")
	if v := s.next(typed("view")); v.Get("total").Int() != 4 {
		t.Errorf("%s", v.Raw)
	}
	s.refused(`{"type":"user","message":{"role":"user","content":"x"}}`, "read_only")
	s.refused(`{"type":"draft","text":"x"}`, "read_only")
	s.refused(allow("q"), "read_only")
	if len(d.talks) > 0 {
		t.Error("a session was opened")
	}
}
