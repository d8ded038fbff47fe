package wiring

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/backend/credential"
	"github.com/hew-agent/hew/internal/backend/provider/anthropic"
	"github.com/hew-agent/hew/internal/backend/provider/endpoint"
	"github.com/hew-agent/hew/internal/core/command"
	"github.com/hew-agent/hew/internal/event"
)

// loginWait is how long a person may take in the browser.
const loginWait = 10 * time.Minute

// oauthSetting is the setting oauth: where people log in for the main provider.
type oauthSetting struct {
	credential.Issuer
	// BaseURL is the API that the logins are for, when ANTHROPIC_BASE_URL names none.
	BaseURL string `json:"baseUrl"`
}

// oauth is the setting; the variables of the process go before it. They are not
// read from the settings' env block, which a project may have.
func (b *build) oauth() oauthSetting {
	var s oauthSetting
	if _, err := b.settings.Decode(&s, "oauth"); err != nil {
		b.notice("the setting oauth is left out: " + err.Error())
		s = oauthSetting{}
	}
	if v := b.o.getenv("HEW_OAUTH_ISSUER"); v != "" {
		s.URL = v
	}
	if v := b.o.getenv("HEW_OAUTH_CLIENT_ID"); v != "" {
		s.ClientID = v
	}
	if v := b.o.getenv("HEW_OAUTH_SCOPES"); v != "" {
		s.Scopes = strings.Fields(v)
	}
	return s
}

// directURL is the address of the API that is asked directly, "" for the maker's.
func (b *build) directURL() string {
	if u := b.env("ANTHROPIC_BASE_URL"); u != "" {
		return u
	}
	return b.oauth().BaseURL
}

// login is the login at the issuer; nil when no issuer is named.
func (b *build) login() (*credential.Login, error) {
	b.signIn.Do(func() {
		s := b.oauth()
		if s.URL == "" {
			return
		}
		t, err := endpoint.NetworkFromEnv(b.env).Transport()
		if err != nil {
			b.signInErr = err
			return
		}
		to := b.directURL()
		if to == "" {
			to = anthropic.DefaultBaseURL
		}
		if u, err := url.Parse(to); err == nil {
			to = u.Host
		}
		now := b.o.Now
		if now == nil {
			now = time.Now
		}
		b.signedIn = &credential.Login{
			Issuer: s.Issuer, Lock: b.home.Own("logins.lock"), For: to, Client: credential.IssuerClient(t), Now: now,
			Vault: credential.Vault{Path: b.home.Own("logins.json"), Keyring: credential.OSKeyring{}},
		}
	})
	return b.signedIn, b.signInErr
}

// Account logs in and out at the issuer of the settings. Its methods may be
// called at the same time.
type Account struct {
	b       *build
	mu      sync.Mutex
	pending *credential.Pending
}

// OpenAccount reads the settings of a folder; it connects to nothing.
func OpenAccount(o Options) (*Account, error) {
	b := &build{o: &o, conv: &Conversation{}}
	if err := b.locate(); err != nil {
		return nil, err
	}
	return &Account{b: b}, nil
}

// Account is the login of the conversation, for surfaces that show more of it
// than /login does.
func (c *Conversation) Account() *Account { return c.build.account }

var errNoIssuer = errors.New(`nobody says where to log in: set ANTHROPIC_API_KEY to a key, or name a login server in your settings: {"oauth": {"issuer": "https://…", "clientId": "…"}}`)

func (a *Account) login() (*credential.Login, error) {
	l, err := a.b.login()
	if err == nil && l == nil {
		err = errNoIssuer
	}
	return l, err
}

// Login waits until the person has logged in, in a browser at the address that
// show is told, and says what became of it in a sentence. A login that nobody
// ended can still be ended by Paste.
func (a *Account) Login(ctx context.Context, show func(url string)) (string, error) {
	l, err := a.login()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, loginWait)
	defer cancel()
	p, err := l.Begin(ctx)
	if err != nil {
		return "", err
	}
	a.swap(p)
	show(p.URL())
	return a.wait(ctx, p)
}

func (a *Account) wait(ctx context.Context, p *credential.Pending) (string, error) {
	where, err := p.Wait(ctx)
	if err != nil && ctx.Err() != nil {
		return "", err
	}
	a.swap(nil)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("Logged in at %s; the login is kept in %s.", a.b.oauth().URL, where)
	if first := a.b.keySource(); first != "oauth" {
		text += fmt.Sprintf(" It is not used as long as %s is set.", first)
	}
	return text, nil
}

// swap makes p the login in progress and ends the one before.
func (a *Account) swap(p *credential.Pending) {
	a.mu.Lock()
	old := a.pending
	a.pending = p
	a.mu.Unlock()
	if old != nil && old != p {
		old.Close()
	}
}

// Close ends a login in progress.
func (a *Account) Close() { a.swap(nil) }

// Paste hands the login in progress what the browser ended at. Login then goes on.
func (a *Account) Paste(text string) error {
	a.mu.Lock()
	p := a.pending
	a.mu.Unlock()
	if p == nil {
		return errors.New("no login is in progress: begin one with /login")
	}
	return p.Paste(text)
}

// PasteFrom hands over each line of in until one is taken.
func (a *Account) PasteFrom(in io.Reader, refused func(error)) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		err := a.Paste(lines.Text())
		if err == nil {
			return
		}
		refused(err)
	}
}

// Logout ends the login and says so in a sentence.
func (a *Account) Logout(ctx context.Context) (string, error) {
	l, err := a.login()
	if err != nil {
		return "", err
	}
	was, untold, err := l.Forget(ctx)
	switch {
	case err != nil:
		return "", err
	case !was:
		return "There was no login at " + l.Issuer.URL + ".", nil
	case untold != nil:
		return fmt.Sprintf("Logged out of %s here. The login server could not be told, so the login may count there until it expires: %v.", l.Issuer.URL, untold), nil
	}
	return "Logged out of " + l.Issuer.URL + ".", nil
}

// commands are /login and /logout.
func (a *Account) commands() (in, out func(context.Context, string, func(event.Event)) (string, error), hidden bool) {
	in = func(ctx context.Context, pasted string, emit func(event.Event)) (string, error) {
		if pasted == "" {
			return a.Login(ctx, func(address string) {
				emit(event.Event{Body: event.Notice{Level: event.Warning, Code: "login", Text: loginText(address)}})
			})
		}
		if err := a.Paste(pasted); err != nil {
			return "", err
		}
		a.mu.Lock()
		p := a.pending
		a.mu.Unlock()
		ctx, cancel := context.WithTimeout(ctx, loginWait)
		defer cancel()
		return a.wait(ctx, p)
	}
	out = func(ctx context.Context, _ string, _ func(event.Event)) (string, error) { return a.Logout(ctx) }
	return in, out, a.b.oauth().URL == ""
}

// loginText asks a person to log in.
func loginText(address string) string {
	return "Visit this address to log in: " + address + "\nWhen the browser runs on another machine, hand over the address that it ends at: /login ADDRESS"
}

// logins adds the two commands to the ports of the table.
func (b *build) logins(p *command.Ports) {
	b.account = &Account{b: b}
	b.conv.close = append(b.conv.close, func() error { b.account.Close(); return nil })
	p.Login, p.Logout, p.NoIssuer = b.account.commands()
}
