package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/backend/credential"
)

// authority is a resource and its login server in one: discovery, registration,
// authorization code with PKCE, and refresh.
type authority struct {
	*httptest.Server
	refreshed atomic.Int32
	valid     atomic.Value // the access token that counts
}

func newAuthority(t *testing.T) *authority {
	a := &authority{}
	a.valid.Store("first")
	mux := http.NewServeMux()
	a.Server = httptest.NewServer(mux)
	t.Cleanup(a.Close)
	reply := func(w http.ResponseWriter, status int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer "+a.valid.Load().(string) {
			fmt.Fprint(w, "welcome")
			return
		}
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+a.URL+`/.well-known/oauth-protected-resource/mcp"`)
		w.WriteHeader(http.StatusUnauthorized)
	})
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 200, map[string]any{"resource": a.URL + "/mcp", "authorization_servers": []string{a.URL}})
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 200, map[string]any{
			"issuer": a.URL, "authorization_endpoint": a.URL + "/authorize", "token_endpoint": a.URL + "/token", "registration_endpoint": a.URL + "/register",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
			"grant_types_supported": []string{"authorization_code", "refresh_token"}, "token_endpoint_auth_methods_supported": []string{"none"},
		})
	})
	mux.HandleFunc("/register", func(w http.ResponseWriter, r *http.Request) {
		var in map[string]any
		_ = json.NewDecoder(r.Body).Decode(&in)
		in["client_id"] = "registered"
		reply(w, 201, in)
	})
	mux.HandleFunc("/authorize", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if q.Get("code_challenge_method") != "S256" || q.Get("client_id") != "registered" {
			http.Error(w, "bad request", 400)
			return
		}
		http.Redirect(w, r, q.Get("redirect_uri")+"?code=c0de&state="+q.Get("state"), http.StatusFound)
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		switch r.Form.Get("grant_type") {
		case "authorization_code":
			if r.Form.Get("code") != "c0de" || r.Form.Get("code_verifier") == "" {
				reply(w, 400, map[string]string{"error": "invalid_grant"})
				return
			}
			reply(w, 200, map[string]any{"access_token": "first", "refresh_token": "again", "token_type": "Bearer", "expires_in": 3600})
		case "refresh_token":
			a.refreshed.Add(1)
			reply(w, 200, map[string]any{"access_token": "second", "token_type": "Bearer", "expires_in": 3600})
		}
	})
	return a
}

func TestLogin(t *testing.T) {
	a := newAuthority(t)
	path := filepath.Join(t.TempDir(), "logins.json")
	tokens := &Tokens{Vault: credential.Vault{Path: path}}
	e := Entry{Name: "far", Transport: HTTP, URL: a.URL + "/mcp"}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	where, err := Login(ctx, LoginConfig{Entry: e, Tokens: tokens, Client: a.Client(), Show: func(url string) {
		go func() { // the person's browser
			resp, err := http.Get(url)
			if err == nil {
				_ = resp.Body.Close()
			}
		}()
	}})
	if err != nil || where != path {
		t.Fatalf("%q %v", where, err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm()&0o077 != 0 {
		t.Fatalf("mode %v %v", st.Mode(), err)
	}
	c := &Config{Tokens: tokens}
	w, err := c.web(e)
	if err != nil {
		t.Fatal(err)
	}
	get := func() int {
		resp, err := w.client().Get(e.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	if got := get(); got != 200 {
		t.Fatalf("with the login: HTTP %d", got)
	}
	// The server takes the token no more: it is refreshed once, and kept.
	a.valid.Store("second")
	if got := get(); got != 200 || a.refreshed.Load() != 1 {
		t.Fatalf("after the token's end: HTTP %d, refreshed %d times", got, a.refreshed.Load())
	}
	if raw, _ := os.ReadFile(path); !strings.Contains(string(raw), "second") {
		t.Error("the refreshed token was not kept")
	}
	// A refusal for good is told.
	a.valid.Store("nobody has it")
	if got := get(); got != 401 || w.status() != 401 {
		t.Fatalf("HTTP %d, status %d", got, w.status())
	}
	if was, err := tokens.Forget(ctx, e); !was || err != nil || tokens.Has(e) {
		t.Errorf("%v %v", was, err)
	}
}

func TestHeadersGoNowhereElse(t *testing.T) {
	var leaked atomic.Value
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { leaked.Store(r.Header.Get("X-Key")) }))
	defer other.Close()
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	defer first.Close()
	e := Entry{Name: "x", Transport: HTTP, URL: first.URL, Headers: map[string]string{"X-Key": "secret"}}
	w, err := (&Config{}).web(e)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.client().Get(first.URL); err == nil || !strings.Contains(err.Error(), "another host") {
		t.Errorf("followed: %v", err)
	}
	if leaked.Load() != nil {
		t.Errorf("%v reached another host", leaked.Load())
	}
}
