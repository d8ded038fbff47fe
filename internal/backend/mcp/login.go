package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"github.com/hew-agent/hew/internal/backend/credential"
)

// Tokens keeps logins of servers.
type Tokens struct{ Vault credential.Vault }

// grant is what is kept of a login: enough to refresh it.
type grant struct {
	URL          string    `json:"url"`
	ClientID     string    `json:"clientId"`
	ClientSecret string    `json:"clientSecret,omitempty"`
	TokenURL     string    `json:"tokenUrl,omitempty"`
	AuthStyle    int       `json:"authStyle,omitempty"`
	Scopes       []string  `json:"scopes,omitempty"`
	Access       string    `json:"accessToken,omitempty"`
	Refresh      string    `json:"refreshToken,omitempty"`
	Kind         string    `json:"tokenType,omitempty"`
	Expiry       time.Time `json:"expiry"`
}

// tokenKey binds a login to the place where it may be sent.
func tokenKey(e Entry) string { return "mcp " + e.Name + " " + digest(e.URL)[:16] }

func (t *Tokens) load(key string) (*grant, error) {
	s, ok, err := t.Vault.Get(key)
	if err != nil || !ok {
		return nil, err
	}
	var g grant
	if err := json.Unmarshal([]byte(s.Reveal()), &g); err != nil {
		return nil, fmt.Errorf("read the stored login: it is damaged; log in again")
	}
	return &g, nil
}

func (t *Tokens) save(ctx context.Context, key string, g *grant) (where string, err error) {
	raw, err := json.Marshal(g)
	if err != nil {
		return "", fmt.Errorf("encode the login: %w", err)
	}
	return t.Vault.Set(ctx, key, credential.NewSecret(string(raw)))
}

// KeepSecret stores the secret of a client that was registered beforehand.
func (t *Tokens) KeepSecret(ctx context.Context, e Entry, secret string) error {
	_, err := t.save(ctx, tokenKey(e), &grant{URL: e.URL, ClientID: e.OAuth.ClientID, ClientSecret: secret})
	return err
}

// Forget removes a server's login. It tells whether there was one.
func (t *Tokens) Forget(ctx context.Context, e Entry) (bool, error) {
	g, err := t.load(tokenKey(e))
	if g == nil && err == nil {
		return false, nil
	}
	return true, t.Vault.Delete(ctx, tokenKey(e))
}

// Has tells whether there is a login for the server.
func (t *Tokens) Has(e Entry) bool {
	g, err := t.load(tokenKey(e))
	return err == nil && g != nil && (g.Access != "" || g.Refresh != "")
}

func (g *grant) config() *oauth2.Config {
	return &oauth2.Config{
		ClientID: g.ClientID, ClientSecret: g.ClientSecret, Scopes: g.Scopes,
		Endpoint: oauth2.Endpoint{TokenURL: g.TokenURL, AuthStyle: oauth2.AuthStyle(g.AuthStyle)},
	}
}

func (g *grant) token() *oauth2.Token {
	return &oauth2.Token{AccessToken: g.Access, RefreshToken: g.Refresh, TokenType: g.Kind, Expiry: g.Expiry}
}

func (g *grant) take(t *oauth2.Token) {
	g.Access, g.Kind, g.Expiry = t.AccessToken, t.TokenType, t.Expiry
	if t.RefreshToken != "" {
		g.Refresh = t.RefreshToken
	}
}

// login adds a stored token to requests and refreshes it.
type login struct {
	store  *Tokens
	key    string
	client *http.Client

	mu     sync.Mutex
	loaded bool
	g      *grant
}

// authorize sets the header when there is a login. refused tells that the
// server did not take the token that it was sent.
func (l *login) authorize(r *http.Request, refused bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.loaded || refused {
		g, err := l.store.load(l.key)
		if err != nil {
			return err
		}
		// Another process may have refreshed it: then this one is new to the server.
		if refused && g != nil && l.g != nil && g.Access == l.g.Access {
			g.Expiry = time.Unix(1, 0)
		}
		l.g, l.loaded = g, true
	}
	if l.g == nil || l.g.Access == "" && l.g.Refresh == "" {
		return nil
	}
	ctx := context.WithValue(r.Context(), oauth2.HTTPClient, l.client)
	t, err := l.g.config().TokenSource(ctx, l.g.token()).Token()
	if err != nil {
		return nil // expired for good: the server says so, and the state tells to log in again
	}
	if t.AccessToken != l.g.Access {
		l.g.take(t)
		if _, err := l.store.save(ctx, l.key, l.g); err != nil {
			return err
		}
	}
	t.SetAuthHeader(r)
	return nil
}
