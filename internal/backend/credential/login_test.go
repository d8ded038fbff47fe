package credential_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/backend/credential"
)

// issuer is a login server that rotates its refresh tokens, as strict ones do.
type issuer struct {
	*httptest.Server
	t *testing.T

	mu        sync.Mutex
	meta      func(m map[string]any)
	token     func(w http.ResponseWriter) bool // answers in the place of the server
	challenge string
	lifetime  int // seconds
	serial    int
	refresh   string
	refreshed int
	revoked   string
}

func newIssuer(t *testing.T) *issuer {
	s := &issuer{t: t, lifetime: 3600}
	mux := http.NewServeMux()
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		m := map[string]any{
			"issuer": s.URL, "authorization_endpoint": s.URL + "/authorize", "token_endpoint": s.URL + "/token",
			"revocation_endpoint": s.URL + "/revoke", "code_challenge_methods_supported": []string{"S256"},
		}
		if s.meta != nil {
			s.meta(m)
		}
		_ = json.NewEncoder(w).Encode(m)
	})
	mux.HandleFunc("/token", s.serveToken)
	mux.HandleFunc("/revoke", func(_ http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.revoked = r.FormValue("token")
	})
	return s
}

func (s *issuer) serveToken(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token != nil && s.token(w) {
		return
	}
	fail := func(code string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":%q,"error_description":"what was sent: %s%s"}`, code, r.FormValue("code"), r.FormValue("refresh_token"))
	}
	switch r.FormValue("grant_type") {
	case "authorization_code":
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		if r.FormValue("code") != "c0de" || base64.RawURLEncoding.EncodeToString(sum[:]) != s.challenge {
			fail("invalid_grant")
			return
		}
	case "refresh_token":
		if r.FormValue("refresh_token") != s.refresh {
			fail("invalid_grant")
			return
		}
		s.refreshed++
	}
	s.serial++
	s.refresh = fmt.Sprintf("again-%d", s.serial)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"access_token": fmt.Sprintf("access-%d", s.serial), "refresh_token": s.refresh, "token_type": "bearer", "expires_in": s.lifetime,
	})
}

// browser visits the address as a person's browser does, and returns where it ends.
func (s *issuer) browser(address string, answer url.Values) string {
	s.t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		s.t.Fatal(err)
	}
	q := u.Query()
	s.mu.Lock()
	s.challenge = q.Get("code_challenge")
	s.mu.Unlock()
	if q.Get("code_challenge_method") != "S256" || q.Get("client_id") != "hew-test" || q.Get("response_type") != "code" {
		s.t.Errorf("the address is %s", address)
	}
	out := url.Values{"code": {"c0de"}, "state": {q.Get("state")}}
	maps.Copy(out, answer)
	return q.Get("redirect_uri") + "?" + out.Encode()
}

func get(t *testing.T, address string) (int, string) {
	t.Helper()
	r, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

func (s *issuer) login(dir string) *credential.Login {
	return &credential.Login{
		Issuer: credential.Issuer{URL: s.URL, ClientID: "hew-test", Scopes: []string{"models"}},
		Vault:  credential.Vault{Path: filepath.Join(dir, "logins.json")}, Lock: filepath.Join(dir, "logins.lock"),
		For: "api.example", Client: credential.IssuerClient(http.DefaultTransport), Now: time.Now,
	}
}

// loggedIn is a login that was done.
func (s *issuer) loggedIn(dir string) *credential.Login {
	s.t.Helper()
	l := s.login(dir)
	p, err := l.Begin(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	defer p.Close()
	if code, _ := get(s.t, s.browser(p.URL(), nil)); code != 200 {
		s.t.Fatalf("the browser gets %d", code)
	}
	if _, err := p.Wait(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	return l
}

func TestLogin(t *testing.T) {
	s, dir := newIssuer(t), t.TempDir()
	l := s.loggedIn(dir)
	c, ok, err := l.Key(t.Context(), "")
	if err != nil || !ok || c.Secret.Reveal() != "access-1" || !c.Bearer() || !strings.Contains(c.Source, s.URL) {
		t.Fatalf("%+v %v %v", c, ok, err)
	}
	st, err := os.Stat(l.Vault.Path)
	if err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v %v", st, err)
	}
	other := s.login(dir)
	if c, ok, err = other.Key(t.Context(), ""); err != nil || !ok || c.Secret.Reveal() != "access-1" {
		t.Errorf("a second process: %v %v", ok, err)
	}
	other.For = "elsewhere.example"
	if _, _, err = other.Key(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "is for api.example, but requests go to elsewhere.example") {
		t.Errorf("another endpoint: %v", err)
	}
	was, untold, err := l.Forget(t.Context())
	if !was || untold != nil || err != nil || s.revoked != "again-1" {
		t.Errorf("logout: %v %v %v, revoked %q", was, untold, err, s.revoked)
	}
	if _, ok, err := l.Key(t.Context(), ""); ok || err != nil {
		t.Errorf("after the logout: %v %v", ok, err)
	}
	if was, _, err = l.Forget(t.Context()); was || err != nil {
		t.Errorf("a second logout: %v %v", was, err)
	}
}

func TestLoginByPaste(t *testing.T) {
	for name, paste := range map[string]func(end string) string{
		"address":   func(end string) string { return " " + end + "\n" },
		"code":      func(string) string { return "c0de" },
		"with hash": func(end string) string { u, _ := url.Parse(end); return "c0de#" + u.Query().Get("state") },
	} {
		s := newIssuer(t)
		p, err := s.login(t.TempDir()).Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		end := s.browser(p.URL(), nil)
		for _, bad := range []string{"", "two words", "c0de#other-state", strings.Replace(end, "state=", "state=x", 1), "code=c0de"} {
			if err := p.Paste(bad); err == nil {
				t.Errorf("%q was taken", bad)
			}
		}
		if err := p.Paste(paste(end)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := p.Wait(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A callback of another login, or by another name of this machine, changes nothing: the login goes on.
func TestForeignCallbacksAreIgnored(t *testing.T) {
	s := newIssuer(t)
	p, err := s.login(t.TempDir()).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	end := s.browser(p.URL(), nil)
	for _, bad := range []string{
		s.browser(p.URL(), url.Values{"state": {"guessed"}}), s.browser(p.URL(), url.Values{"state": {"x"}, "error": {"access_denied"}}),
		strings.Replace(end, "127.0.0.1", "localhost", 1), strings.Replace(end, "/callback", "/other", 1),
		s.browser(p.URL(), url.Values{"code": {""}}),
	} {
		if code, _ := get(t, bad); code == 200 {
			t.Errorf("taken: %s", bad)
		}
	}
	if code, _ := get(t, end); code != 200 {
		t.Error("the true answer was refused")
	}
	if _, err := p.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestLyingIssuers(t *testing.T) {
	for name, c := range map[string]struct {
		meta   func(m map[string]any)
		change func(l *credential.Login)
		answer url.Values
		token  func(w http.ResponseWriter) bool
		want   string
	}{
		"another name":          {meta: func(m map[string]any) { m["issuer"] = "https://evil.example" }, want: "calls itself"},
		"token elsewhere":       {meta: func(m map[string]any) { m["token_endpoint"] = "https://evil.example/token" }, want: "another host"},
		"page elsewhere":        {meta: func(m map[string]any) { m["authorization_endpoint"] = "https://evil.example/" }, want: "another host"},
		"revocation elsewhere":  {meta: func(m map[string]any) { m["revocation_endpoint"] = "https://evil.example/" }, want: "another host"},
		"no PKCE":               {meta: func(m map[string]any) { m["code_challenge_methods_supported"] = []string{"plain"} }, want: "PKCE"},
		"no client":             {change: func(l *credential.Login) { l.Issuer.ClientID = "" }, want: "oauth.clientId"},
		"plain http":            {change: func(l *credential.Login) { l.Issuer.URL = "http://login.example" }, want: "must begin with https://"},
		"no address":            {change: func(l *credential.Login) { l.Issuer.URL = "login" }, want: "no address"},
		"answer of another one": {answer: url.Values{"iss": {"https://evil.example"}}, want: "another login server"},
		"refused":               {answer: url.Values{"error": {"access_denied"}, "error_description": {"no\x1b[2Jway"}}, want: "access_denied no [2Jway"},
		"wrong code":            {answer: url.Values{"code": {"wr0ng"}}, want: "what was sent: [redacted]"},
		"kind of token": {token: func(w http.ResponseWriter) bool {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"access_token":"a","token_type":"mac"}`)
			return true
		}, want: "cannot send"},
		"unsendable token": {token: func(w http.ResponseWriter) bool {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"access_token":"a\r\nX: y"}`)
			return true
		}, want: "a character that no key has"},
		"HTML": {token: func(w http.ResponseWriter) bool { fmt.Fprint(w, `<html>`); return true }, want: "log in:"},
		"redirected token": {token: func(w http.ResponseWriter) bool {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(http.StatusTemporaryRedirect)
			return true
		}, want: "does not follow"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newIssuer(t)
			s.meta, s.token = c.meta, c.token
			l := s.login(t.TempDir())
			if c.change != nil {
				c.change(l)
			}
			p, err := l.Begin(t.Context())
			if err == nil {
				defer p.Close()
				get(t, s.browser(p.URL(), c.answer))
				_, err = p.Wait(t.Context())
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsRune(err.Error(), 0x1b) {
				t.Errorf("%v", err)
			}
			if _, ok, _ := l.Key(t.Context(), ""); ok {
				t.Error("a login was kept")
			}
		})
	}
}

// What the setting itself names may be on other hosts.
func TestEndpointsOfTheSetting(t *testing.T) {
	s := newIssuer(t)
	l := s.login(t.TempDir())
	l.Issuer.URL, l.Issuer.AuthorizationURL, l.Issuer.TokenURL = "https://login.example", s.URL+"/authorize", s.URL+"/token"
	p, err := l.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	get(t, s.browser(p.URL(), nil))
	if _, err := p.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestSlowIssuer(t *testing.T) {
	hold := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hold:
		case <-r.Context().Done():
		}
	}))
	defer srv.Close()
	defer close(hold)
	s := newIssuer(t)
	l := s.login(t.TempDir())
	l.Issuer.URL = srv.URL
	l.Client.Timeout = 20 * time.Millisecond
	if _, err := l.Begin(t.Context()); err == nil || !strings.Contains(err.Error(), "did not answer in time") {
		t.Errorf("%v", err)
	}
	p, err := s.login(t.TempDir()).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Wait(gone); err == nil || !strings.Contains(err.Error(), "nobody finished") {
		t.Errorf("%v", err)
	}
}

func TestRefresh(t *testing.T) {
	s, dir := newIssuer(t), t.TempDir()
	s.lifetime = 30 // within the minute before its end: as good as expired, whatever the clocks say
	l := s.loggedIn(dir)
	s.lifetime = 3600
	c, _, err := l.Key(t.Context(), "")
	if err != nil || c.Secret.Reveal() != "access-2" {
		t.Fatalf("near its end: %v", err)
	}
	if c, _, err = l.Key(t.Context(), "access-2"); err != nil || c.Secret.Reveal() != "access-3" {
		t.Errorf("refused by the server: %v", err)
	}
	if c, _, err = l.Key(t.Context(), "access-2"); err != nil || c.Secret.Reveal() != "access-3" {
		t.Errorf("a late refusal of the old one: %v", err)
	}
	s.refresh = "revoked by somebody"
	r := credential.New(credential.Config{Login: l})
	_, err = r.Key(t.Context(), "access-3")
	if !errors.Is(err, credential.ErrLoginEnded) || !strings.Contains(err.Error(), "run hew auth login") || strings.Contains(err.Error(), "again-") {
		t.Errorf("revoked: %v", err)
	}
	s.token = func(w http.ResponseWriter) bool { w.WriteHeader(http.StatusBadGateway); return true }
	if _, _, err = l.Key(t.Context(), "access-3"); err == nil || errors.Is(err, credential.ErrLoginEnded) || !strings.Contains(err.Error(), "HTTP 502") {
		t.Errorf("a broken server: %v", err)
	}
}

// Several processes with an expired token: one refreshes, as the server takes a refresh token only once.
func TestRefreshTogether(t *testing.T) {
	s, dir := newIssuer(t), t.TempDir()
	s.lifetime = 1
	s.loggedIn(dir)
	s.lifetime = 3600
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if c, ok, err := s.login(dir).Key(t.Context(), ""); err != nil || !ok || c.Secret.Reveal() != "access-2" {
				t.Errorf("%v %v", ok, err)
			}
		})
	}
	wg.Wait()
	if s.refreshed != 1 {
		t.Errorf("%d refreshes", s.refreshed)
	}
}

func TestExpiredWithoutRefreshToken(t *testing.T) {
	s, dir := newIssuer(t), t.TempDir()
	s.token = func(w http.ResponseWriter) bool {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"access_token":"once","expires_in":1}`)
		return true
	}
	l := s.loggedIn(dir)
	if _, _, err := l.Key(t.Context(), ""); !errors.Is(err, credential.ErrLoginEnded) || !strings.Contains(err.Error(), "run hew auth login") {
		t.Errorf("%v", err)
	}
	r := credential.New(credential.Config{Login: s.login(t.TempDir())})
	if _, err := r.Key(t.Context(), ""); !errors.Is(err, credential.ErrNone) || !strings.Contains(err.Error(), "hew auth login") {
		t.Errorf("nobody logged in: %v", err)
	}
}
