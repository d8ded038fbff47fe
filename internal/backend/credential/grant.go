package credential

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Login is the login at one issuer: begun by a person, kept in the vault,
// refreshed when it gets old. It is safe for concurrent use, by several
// processes too: one of them refreshes, the others take what it got.
type Login struct {
	Issuer Issuer
	Vault  Vault
	// Lock is the file that those who change the login lock.
	Lock string
	// For is the host that the tokens are for; they are sent to no other.
	For    string
	Client *http.Client
	// Now is the clock.
	Now func() time.Time

	mu    sync.Mutex
	known *grant
}

// ErrLoginEnded is wrapped where the issuer does not prolong a login any more.
var ErrLoginEnded = errors.New("the login has ended")

// earlier is how long before its end a token is refreshed: clocks differ, and
// requests take time.
const earlier = time.Minute

// grant is what is kept of a login.
type grant struct {
	Issuer    string    `json:"issuer"`
	ClientID  string    `json:"clientId"`
	For       string    `json:"for"`
	TokenURL  string    `json:"tokenUrl"`
	RevokeURL string    `json:"revokeUrl,omitempty"`
	Access    string    `json:"accessToken"`
	Refresh   string    `json:"refreshToken,omitempty"`
	Expiry    time.Time `json:"expiry"`
}

// take stores a token, if it is one that can be sent.
func (g *grant) take(t *oauth2.Token) error {
	if kind := t.Type(); !strings.EqualFold(kind, "Bearer") {
		return fmt.Errorf("the login server gave a token of a kind that hew cannot send: %q", clip(kind))
	}
	if _, err := checked(Credential{NewSecret(t.AccessToken), OAuth, "the login server"}); err != nil {
		return err
	}
	g.Access, g.Expiry = t.AccessToken, t.Expiry
	if t.RefreshToken != "" {
		g.Refresh = t.RefreshToken
	}
	return nil
}

func (l *Login) name() string { return "login " + l.Issuer.URL }

// source is where the credential comes from, as people are told.
func (l *Login) source() string { return "the login at " + l.Issuer.URL }

func (l *Login) with(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, l.Client)
}

func (l *Login) load() (*grant, error) {
	s, ok, err := l.Vault.Get(l.name())
	if err != nil || !ok {
		return nil, err
	}
	var g grant
	if json.Unmarshal([]byte(s.Reveal()), &g) != nil || g.Access == "" {
		return nil, errors.New("the stored login is damaged: run hew auth login")
	}
	return &g, nil
}

func (l *Login) save(ctx context.Context, g *grant) (where string, err error) {
	raw, err := json.Marshal(g)
	if err != nil {
		return "", fmt.Errorf("encode the login: %w", err)
	}
	if where, err = l.Vault.Set(ctx, l.name(), NewSecret(string(raw))); err == nil {
		l.known = g
	}
	return where, err
}

// keep stores a fresh login.
func (l *Login) keep(ctx context.Context, g *grant) (where string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lockErr := fsys.WithLock(ctx, l.Lock, func() error { where, err = l.save(ctx, g); return err })
	return where, lockErr
}

// Key is the token to send; ok is false when nobody has logged in. rejected is
// "" or a token that the server refused, which is then refreshed once.
func (l *Login) Key(ctx context.Context, rejected string) (c Credential, ok bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil || rejected != "" {
		if l.known, err = l.load(); err != nil || l.known == nil {
			return Credential{}, false, err
		}
	}
	if l.known.For != l.For {
		return Credential{}, false, fmt.Errorf("the login at %s is for %s, but requests go to %s: run hew auth login, or check ANTHROPIC_BASE_URL", l.Issuer.URL, l.known.For, l.For)
	}
	if l.old(l.known, rejected) {
		if err := l.refresh(ctx, rejected); err != nil {
			return Credential{}, false, err
		}
	}
	return Credential{NewSecret(l.known.Access), OAuth, l.source()}, true, nil
}

func (l *Login) old(g *grant, rejected string) bool {
	return g.Access == rejected || !g.Expiry.IsZero() && !g.Expiry.After(l.Now().Add(earlier))
}

// refresh changes the token for a new one, unless another process was first.
func (l *Login) refresh(ctx context.Context, rejected string) error {
	return fsys.WithLock(ctx, l.Lock, func() error {
		g, err := l.load()
		if err != nil {
			return err
		}
		if g == nil {
			return fmt.Errorf("%w: somebody logged out of %s; run hew auth login", ErrLoginEnded, l.Issuer.URL)
		}
		if !l.old(g, rejected) {
			l.known = g
			return nil
		}
		if g.Refresh == "" {
			return fmt.Errorf("%w: the token of %s has expired, and there is none to refresh it with; run hew auth login", ErrLoginEnded, l.Issuer.URL)
		}
		conf := oauth2.Config{ClientID: g.ClientID, Endpoint: oauth2.Endpoint{TokenURL: g.TokenURL, AuthStyle: oauth2.AuthStyleInParams}}
		t, err := conf.TokenSource(l.with(ctx), &oauth2.Token{RefreshToken: g.Refresh}).Token()
		if err != nil {
			return fmt.Errorf("refresh the login at %s: %w", l.Issuer.URL, l.refusal(err, g.Refresh, g.Access))
		}
		if err := g.take(t); err != nil {
			return fmt.Errorf("refresh the login at %s: %w", l.Issuer.URL, err)
		}
		_, err = l.save(ctx, g)
		return err
	})
}

// refusal is what a person may be told of a failed exchange: the answer itself
// may hold secrets.
func (l *Login) refusal(err error, secrets ...string) error {
	var re *oauth2.RetrieveError
	if !errors.As(err, &re) {
		return unwrapURL(err)
	}
	text := strings.TrimSpace(clip(re.ErrorCode) + " " + clip(re.ErrorDescription))
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, redacted)
		}
	}
	switch {
	case re.ErrorCode == "invalid_grant":
		return fmt.Errorf("%w: it is expired or was revoked (%s); run hew auth login", ErrLoginEnded, text)
	case text != "":
		return fmt.Errorf("the login server says: %s", text)
	case re.Response != nil && re.Response.StatusCode/100 == 3:
		return errors.New("the login server redirects to another place, which hew does not follow")
	case re.Response != nil && re.Response.StatusCode != http.StatusOK:
		return fmt.Errorf("the login server answers HTTP %d", re.Response.StatusCode)
	}
	return errors.New("the login server's answer holds no token")
}

// Until tells whether there is a login and when its token ends; the zero time
// when that is not known.
func (l *Login) Until() (at time.Time, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	g, err := l.load()
	if err != nil || g == nil {
		return time.Time{}, false
	}
	return g.Expiry, true
}

// Forget removes the login, after telling the issuer that it counts no more. was
// tells whether there was one; untold is why the issuer could not be told.
func (l *Login) Forget(ctx context.Context) (was bool, untold, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err = fsys.WithLock(ctx, l.Lock, func() error {
		g, loadErr := l.load()
		if g == nil && loadErr == nil {
			return nil
		}
		was, l.known = true, nil
		if g != nil && g.RevokeURL != "" {
			untold = l.revoke(ctx, g)
		}
		return l.Vault.Delete(ctx, l.name()) // a damaged one as well
	})
	return was, untold, err
}

// revoke is RFC 7009.
func (l *Login) revoke(ctx context.Context, g *grant) error {
	form := url.Values{"client_id": {g.ClientID}, "token": {g.Access}}
	if g.Refresh != "" {
		form.Set("token", g.Refresh)
		form.Set("token_type_hint", "refresh_token")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.RevokeURL, strings.NewReader(form.Encode()))
	if err != nil {
		return errors.New("its address cannot be read")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := l.Client.Do(req)
	if err != nil {
		return unwrapURL(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("it answers HTTP %d", resp.StatusCode)
	}
	return nil
}
