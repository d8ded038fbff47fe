package anthropic_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/provider/anthropic"
	"github.com/hew-agent/hew/internal/backend/provider/endpoint"
)

// everyText is all that an error can show.
func everyText(err error) string {
	b, _ := json.Marshal(err)
	var s strings.Builder
	s.WriteString(fmt.Sprintf("%v\n%+v\n%#v\n%s", err, err, err, b))
	for e := err; e != nil; e = errors.Unwrap(e) {
		s.WriteString("\n" + e.Error())
	}
	return s.String()
}

// TestNoErrorHoldsTheKey runs every kind of failure against a server that
// echoes what it is sent.
func TestNoErrorHoldsTheKey(t *testing.T) {
	const extra = "extra-secret-987654"
	echo := func(status int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Request-Id", r.Header.Get("X-Api-Key"))
			w.WriteHeader(status)
			all := r.Header.Get("X-Api-Key") + r.Header.Get("Authorization") + " " + r.Header.Get("X-Gate")
			_, _ = io.WriteString(w, strings.ReplaceAll(body, "KEY", all))
		}
	}
	apiError := `{"type":"error","error":{"type":"KEY","message":"bad key KEY"}}`
	for name, h := range map[string]http.HandlerFunc{
		"401":       echo(401, "application/json", apiError),
		"400":       echo(400, "application/json", apiError),
		"500":       echo(500, "text/plain", "trace: KEY"),
		"html":      echo(200, "text/html", "<html>KEY</html>"),
		"json":      echo(200, "application/json", `{"KEY":1}`),
		"half":      echo(200, "application/json", `{"KEY`),
		"bad event": echo(200, "text/event-stream", "data: KEY\n\n"),
		"error":     echo(200, "text/event-stream", "data: {\"type\":\"error\",\"error\":{\"type\":\"x\",\"message\":\"KEY\"}}\n\n"),
		"cut":       echo(200, "text/event-stream", "data: {\"type\":\"message_start\",\"message\":{\"id\":\"KEY\"}}\n\n"),
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://x.invalid/"+r.Header.Get("X-Api-Key"), http.StatusTemporaryRedirect)
		},
		"odd header": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", r.Header.Get("X-Api-Key"))
			w.WriteHeader(529)
		},
	} {
		for _, style := range []endpoint.Style{endpoint.APIKey, endpoint.Bearer} {
			s := httptest.NewServer(h)
			cl := client(t, endpoint.Config{
				BaseURL: strings.Replace(s.URL, "://", "://user:pass-word-1@", 1),
				Headers: []endpoint.Header{{Name: "X-Gate", Value: "Token " + extra}},
				Auth: func(context.Context, string) (endpoint.Auth, error) {
					return endpoint.Auth{Style: style, Secret: key}, nil
				},
			})
			_, err := collect(t.Context(), cl, request())
			_, cerr := cl.CountTokens(t.Context(), request())
			s.Close()
			_, gone := collect(t.Context(), cl, request())
			for _, e := range []error{err, cerr, gone} {
				if e == nil {
					t.Errorf("%s: no error", name)
				}
				for _, secret := range []string{key, extra, "pass-word-1"} {
					if text := everyText(e); strings.Contains(text, secret) {
						t.Errorf("%s: %s in %s", name, secret, text)
					}
				}
			}
		}
	}
	if text := fmt.Sprintf("%v %+v %#v %s", endpoint.Auth{Secret: key}, endpoint.Auth{Secret: key}, endpoint.Auth{Secret: key}, &endpoint.Auth{Secret: key}); strings.Contains(text, key) {
		t.Error(text)
	}
}

func TestRefusedKeyIsRenewedOnce(t *testing.T) {
	for _, c := range []struct {
		name     string
		keys     []string // what the source returns, call by call
		accepted string
		requests int
		ok       bool
	}{
		{"a new key works", []string{"old-key", "new-key"}, "new-key", 2, true},
		{"a new key is refused too", []string{"old-key", "new-key", "third"}, "none", 2, false},
		{"no other key", []string{"old-key", "old-key"}, "none", 1, false},
	} {
		requests, calls := 0, 0
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			requests++
			_, _ = io.Copy(io.Discard, r.Body)
			if r.Header.Get("X-Api-Key") != c.accepted {
				w.WriteHeader(401)
				return
			}
			sse(w, stream)
		})
		var rejected []string
		cl := client(t, endpoint.Config{BaseURL: s.URL, Auth: func(_ context.Context, r string) (endpoint.Auth, error) {
			rejected = append(rejected, r)
			calls++
			return endpoint.Auth{Style: endpoint.APIKey, Secret: c.keys[calls-1]}, nil
		}})
		_, err := collect(t.Context(), cl, request())
		var e *provider.Error
		if c.ok != (err == nil) || requests != c.requests || !c.ok && (!errors.As(err, &e) || e.Class != provider.Auth) {
			t.Errorf("%s: %v after %d requests", c.name, err, requests)
		}
		if len(rejected) != 2 || rejected[0] != "" || rejected[1] != "old-key" {
			t.Errorf("%s: the source was told %q", c.name, rejected)
		}
	}
}

func TestNoCredentialIsTyped(t *testing.T) {
	cl := client(t, endpoint.Config{BaseURL: "http://127.0.0.1:1", Auth: func(context.Context, string) (endpoint.Auth, error) {
		return endpoint.Auth{}, errors.New("no API key: set ANTHROPIC_API_KEY")
	}})
	_, err := collect(t.Context(), cl, request())
	var e *provider.Error
	if !errors.As(err, &e) || e.Class != provider.Credential || !strings.Contains(err.Error(), "ANTHROPIC_API_KEY") {
		t.Errorf("%v", err)
	}
}

func TestConnectionErrorsSayWhatToDo(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	url := s.URL
	s.Close()
	_, err := collect(t.Context(), client(t, endpoint.Config{BaseURL: url}), request())
	var e *provider.Error
	if !errors.As(err, &e) || e.Class != provider.Connection || !strings.Contains(err.Error(), "ANTHROPIC_BASE_URL") {
		t.Errorf("%v", err)
	}
}

func TestCertificates(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { sse(w, stream) }))
	defer s.Close()
	s.Config.ErrorLog = nil
	_, err := collect(t.Context(), client(t, endpoint.Config{BaseURL: s.URL}), request())
	var e *provider.Error
	if !errors.As(err, &e) || e.Class != provider.Certificate || e.Class.Retryable() || !strings.Contains(err.Error(), "NODE_EXTRA_CA_CERTS") {
		t.Fatalf("%v", err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	data := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	env := func(name string) string {
		if name == "NODE_EXTRA_CA_CERTS" {
			return file
		}
		return ""
	}
	cl := client(t, endpoint.Config{BaseURL: s.URL, Network: endpoint.NetworkFromEnv(env)})
	if _, err := collect(t.Context(), cl, request()); err != nil {
		t.Error(err)
	}
	if _, err := anthropic.New(endpoint.Config{Network: endpoint.Network{CAFiles: []string{file + ".not"}}}); err == nil {
		t.Error("a missing file of authorities was passed over")
	}
}

func TestConfigErrors(t *testing.T) {
	for name, c := range map[string]endpoint.Config{
		"base URL":   {BaseURL: "ftp://x"},
		"no URL":     {BaseURL: "api.anthropic.com"},
		"extra body": {ExtraBody: "{"},
		"messages":   {ExtraBody: `{"messages":[]}`},
		"proxy":      {Network: endpoint.Network{HTTPSProxy: "http://"}},
		"client key": {Network: endpoint.Network{ClientCert: "/nowhere"}},
	} {
		if _, err := anthropic.New(c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := endpoint.ParseHeaders("A: 1\n\nbroken line\n"); err == nil {
		t.Error("a broken header line was taken")
	}
	h, err := endpoint.ParseHeaders("A: 1\n\n B:two: three \n")
	if err != nil || len(h) != 2 || h[1] != (endpoint.Header{Name: "B", Value: "two: three"}) {
		t.Errorf("%v %v", h, err)
	}
}

func TestAnswersWithoutAType(t *testing.T) {
	for kind, body := range map[string]string{
		"stream": "\n\n: hi\n\n" + stream,
		"whole":  ` {"type":"message","id":"x","model":"m","content":[{"type":"text","text":"x"}],"stop_reason":"end_turn","usage":{}}`,
	} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/octet-stream")
			_, _ = io.WriteString(w, body)
		})
		if _, err := collect(t.Context(), client(t, endpoint.Config{BaseURL: s.URL}), request()); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
