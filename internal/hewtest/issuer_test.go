package hewtest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// loginServer is an OAuth issuer whose pages ask nobody. It gives access-1,
// access-2, …, and takes each refresh token once.
type loginServer struct {
	mu        sync.Mutex
	url       string
	first     int // seconds that the first token counts
	serial    int
	challenge string
	refresh   string
	revoked   bool
}

// issuer VAR SECONDS sets VAR to the URL of a login server whose first token
// ends after so long; issuer revoke makes it forget all logins.
func cmdIssuer(ts *testscript.TestScript, neg bool, args []string) {
	s := on(ts)
	if len(args) == 1 && args[0] == "revoke" && s.issuer != nil {
		s.issuer.mu.Lock()
		defer s.issuer.mu.Unlock()
		s.issuer.revoked = true
		return
	}
	if len(args) != 2 || neg {
		ts.Fatalf("usage: issuer VAR SECONDS | issuer revoke")
	}
	i := &loginServer{}
	_, err := fmt.Sscan(args[1], &i.first)
	ts.Check(err)
	mux := http.NewServeMux()
	srv := httptest.NewServer(mux)
	ts.Defer(srv.Close)
	i.url = srv.URL
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		i.reply(w, http.StatusOK, map[string]any{
			"issuer": i.url, "authorization_endpoint": i.url + "/authorize", "token_endpoint": i.url + "/token", "revocation_endpoint": i.url + "/revoke",
		})
	})
	mux.HandleFunc("/authorize", func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		i.challenge = r.FormValue("code_challenge")
		i.mu.Unlock()
		http.Redirect(w, r, r.FormValue("redirect_uri")+"?code=c0de&state="+r.FormValue("state"), http.StatusFound)
	})
	mux.HandleFunc("/token", i.token)
	mux.HandleFunc("/revoke", func(http.ResponseWriter, *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.revoked = true
	})
	s.issuer = i
	ts.Setenv(args[0], srv.URL)
}

func (i *loginServer) reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a caller that has gone away
}

func (i *loginServer) token(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	ok := false
	switch r.FormValue("grant_type") {
	case "authorization_code":
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		ok = r.FormValue("code") == "c0de" && base64.RawURLEncoding.EncodeToString(sum[:]) == i.challenge
		i.revoked = false
	case "refresh_token":
		ok = r.FormValue("refresh_token") == i.refresh && !i.revoked
	}
	if !ok {
		i.reply(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant", "error_description": "no such grant"})
		return
	}
	i.serial++
	life := 3600
	if i.serial == 1 {
		life = i.first
	}
	i.refresh = fmt.Sprintf("again-%d", i.serial)
	i.reply(w, http.StatusOK, map[string]any{"access_token": fmt.Sprintf("access-%d", i.serial), "refresh_token": i.refresh, "token_type": "Bearer", "expires_in": life})
}

var loginAddress = regexp.MustCompile(`http://127\.0\.0\.1:\d+/authorize\?[^\s"\\]+`)

// visit NAME goes, as a browser does, to the newest login address that a process
// has shown; visit NAME FILE goes only as far as the address that it would end
// at, which is written to FILE behind what FILE holds.
func cmdVisit(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 1 || len(args) > 2 || neg {
		ts.Fatalf("usage: visit NAME [FILE]")
	}
	p := proc(ts, args[0])
	var found []string
	if err := until(func() bool { found = loginAddress.FindAllString(p.text(), -1); return len(found) > 0 }); err != nil {
		ts.Fatalf("%s shows no login address:\n%s", args[0], p.text())
	}
	c := &http.Client{}
	if len(args) == 2 {
		c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	resp, err := c.Get(found[len(found)-1])
	ts.Check(err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	ts.Check(err)
	if len(args) == 2 {
		ts.Check(appendTo(ts.MkAbs(args[1]), []byte(resp.Header.Get("Location")+"\n")))
		return
	}
	if resp.StatusCode != http.StatusOK {
		ts.Fatalf("the browser sees HTTP %d: %s", resp.StatusCode, body)
	}
}
