package credential_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/backend/credential"
)

const key = "sk-very-secret-0123"

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestSecretIsNeverPrinted(t *testing.T) {
	c := credential.Credential{Secret: credential.NewSecret(key), Kind: credential.APIKey, Source: "x"}
	var b bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%T"} {
		fmt.Fprintf(&b, verb+"\n", c)
		fmt.Fprintf(&b, verb+"\n", c.Secret)
		fmt.Fprintf(&b, verb+"\n", &c.Secret)
	}
	slog.New(slog.NewJSONHandler(&b, nil)).Info("x", "c", c, "s", c.Secret)
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "c", c, "s", c.Secret)
	if err := json.NewEncoder(&b).Encode(map[string]any{"c": c, "p": &c.Secret}); err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{key, fmt.Sprintf("%x", key), fmt.Sprintf("%X", key)} {
		if strings.Contains(b.String(), form) {
			t.Errorf("the secret shows in\n%s", b.String())
		}
	}
	if c.Secret.Reveal() != key {
		t.Error("the secret is lost")
	}
}

func home(t *testing.T, content string, mode os.FileMode) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, credential.FileName)
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestPrecedence(t *testing.T) {
	dir := home(t, `{"claudeAiOauth":{"accessToken":"stored","refreshToken":"r","expiresAt":0},"other":1}`, 0o600)
	all := []string{
		"ANTHROPIC_AUTH_TOKEN", " token\n", "ANTHROPIC_API_KEY", "key", "CLAUDE_CODE_OAUTH_TOKEN", "oauth",
	}
	run := func(context.Context, string) (string, error) { return "helped\n", nil }
	for _, c := range []struct {
		name     string
		env      []string
		helper   string
		keysOnly bool
		want     string
		kind     credential.Kind
		source   string
		bearer   bool
	}{
		{"auth token", all, "h", false, "token", credential.Token, "ANTHROPIC_AUTH_TOKEN", true},
		{"api key", all[2:], "h", false, "key", credential.APIKey, "ANTHROPIC_API_KEY", false},
		{"helper", all[4:], "h", false, "helped", credential.APIKey, "apiKeyHelper", false},
		{"oauth token", all[4:], "", false, "oauth", credential.OAuth, "CLAUDE_CODE_OAUTH_TOKEN", true},
		{"stored", nil, "", false, "stored", credential.OAuth, filepath.Join(dir, credential.FileName), true},
		{"blank variables", []string{"ANTHROPIC_AUTH_TOKEN", "  ", "ANTHROPIC_API_KEY", ""}, "h", false, "helped", credential.APIKey, "apiKeyHelper", false},
		{"bare leaves out logins", all[4:], "", true, "", "", "", false},
	} {
		r := credential.New(credential.Config{Env: env(c.env...), Helper: c.helper, Run: run, Home: dir, KeysOnly: c.keysOnly})
		got, err := r.Key(t.Context(), "")
		if c.want == "" {
			if !errors.Is(err, credential.ErrNone) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil || got.Secret.Reveal() != c.want || got.Kind != c.kind || got.Source != c.source || got.Bearer() != c.bearer {
			t.Errorf("%s: %v %v", c.name, got, err)
		}
		if (len(got.Betas()) > 0) != (c.kind == credential.OAuth) {
			t.Errorf("%s: betas %v", c.name, got.Betas())
		}
	}
}

func TestHelper(t *testing.T) {
	now := time.Unix(1000, 0)
	runs := 0
	var fail error
	var notices []string
	slow := time.Duration(0)
	c := credential.Config{
		Helper: "print-key", Now: func() time.Time { return now },
		Notice: func(s string) { notices = append(notices, s) },
		Run: func(_ context.Context, cmd string) (string, error) {
			runs++
			now = now.Add(slow)
			return fmt.Sprintf("%s-%d\n", cmd, runs), fail
		},
	}
	r := credential.New(c)
	get := func(rejected string) string {
		t.Helper()
		k, err := r.Key(t.Context(), rejected)
		if err != nil {
			t.Fatal(err)
		}
		return k.Secret.Reveal()
	}
	if a, b := get(""), get(""); a != "print-key-1" || b != a {
		t.Errorf("%s, %s", a, b)
	}
	now = now.Add(4 * time.Minute)
	if got := get(""); got != "print-key-1" {
		t.Errorf("a fresh key was thrown away: %s", got)
	}
	if got := get("print-key-1"); got != "print-key-2" {
		t.Errorf("a refused key was kept: %s", got)
	}
	if got := get("print-key-1"); got != "print-key-2" {
		t.Errorf("a late refusal of the old key threw the new one away: %s", got)
	}
	now = now.Add(5*time.Minute + time.Second)
	slow = 11 * time.Second
	if got := get(""); got != "print-key-3" {
		t.Errorf("an old key was kept: %s", got)
	}
	if len(notices) != 1 || !strings.Contains(notices[0], "apiKeyHelper took 11s") {
		t.Errorf("notices %v", notices)
	}
	fail, runs = errors.New("exit status 1"), 0
	now = now.Add(time.Hour)
	if _, err := r.Key(t.Context(), ""); err == nil || runs != 3 || !strings.Contains(err.Error(), "exit status 1") {
		t.Errorf("after %d runs: %v", runs, err)
	}
}

func TestHelperTTLIsConfigurable(t *testing.T) {
	now := time.Unix(1000, 0)
	runs := 0
	r := credential.New(credential.Config{
		Env: env("CLAUDE_CODE_API_KEY_HELPER_TTL_MS", "1000"), Helper: "h", Now: func() time.Time { return now },
		Run: func(context.Context, string) (string, error) { runs++; return "k", nil },
	})
	for range 3 {
		if _, err := r.Key(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		now = now.Add(1100 * time.Millisecond)
	}
	if runs != 3 {
		t.Errorf("%d runs", runs)
	}
}

func TestHelperThatPrintsNothing(t *testing.T) {
	r := credential.New(credential.Config{Helper: "h", Run: func(context.Context, string) (string, error) { return " \n", nil }})
	if _, err := r.Key(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "printed nothing") {
		t.Errorf("%v", err)
	}
}

func TestStoredTokenFile(t *testing.T) {
	now := time.UnixMilli(5000)
	for _, c := range []struct {
		name, content string
		mode          os.FileMode
		want, problem string
		notice        bool
	}{
		{"sound", `{"claudeAiOauth":{"accessToken":"` + key + `","expiresAt":5001}}`, 0o600, key, "", false},
		{"expired", `{"claudeAiOauth":{"accessToken":"` + key + `","expiresAt":5000}}`, 0o600, "", "has expired", false},
		{"readable by others", `{"claudeAiOauth":{"accessToken":"` + key + `"}}`, 0o644, key, "", true},
		{"broken", `{"claudeAiOauth":{"accessToken":"` + key, 0o600, "", "not valid JSON", false},
		{"of others", `{"somethingElse":{}}`, 0o600, "", "no API key", false},
	} {
		var notices []string
		r := credential.New(credential.Config{
			Home: home(t, c.content, c.mode), Now: func() time.Time { return now },
			Notice: func(s string) { notices = append(notices, s) },
		})
		k, err := r.Key(t.Context(), "")
		switch {
		case c.want != "" && (err != nil || k.Secret.Reveal() != c.want):
			t.Errorf("%s: %v", c.name, err)
		case c.want == "" && (err == nil || !strings.Contains(err.Error(), c.problem) || strings.Contains(err.Error(), key)):
			t.Errorf("%s: %v", c.name, err)
		}
		if c.notice != (len(notices) > 0) && runtime.GOOS != "windows" {
			t.Errorf("%s: notices %v", c.name, notices)
		}
	}
}

func TestUnsendableKeysAreRefused(t *testing.T) {
	for _, bad := range []string{"a b", "k\r\nX-Evil: 1", "ключ"} {
		r := credential.New(credential.Config{Env: env("ANTHROPIC_API_KEY", bad)})
		if _, err := r.Key(t.Context(), ""); err == nil || strings.Contains(err.Error(), bad) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestStatusHidesTheSecret(t *testing.T) {
	r := credential.New(credential.Config{Env: env("ANTHROPIC_API_KEY", key)})
	b, err := json.Marshal(r.Status(t.Context()))
	if err != nil || string(b) != `{"loggedIn":true,"kind":"api_key","source":"ANTHROPIC_API_KEY"}` {
		t.Errorf("%s %v", b, err)
	}
	s := credential.New(credential.Config{}).Status(t.Context())
	if s.LoggedIn || s.Kind != credential.None || !strings.Contains(s.Problem, "ANTHROPIC_API_KEY") {
		t.Errorf("%+v", s)
	}
}
