package credential

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Kind says what a credential is.
type Kind string

// The kinds.
const (
	None   Kind = "none"
	Token  Kind = "auth_token"  // sent as a bearer token
	APIKey Kind = "api_key"     // sent as x-api-key
	OAuth  Kind = "oauth_token" // sent as a bearer token, with the OAuth feature of the API
)

// OAuthBeta is the feature of the API that OAuth tokens need, as the header anthropic-beta names it.
const OAuthBeta = "oauth-2025-04-20"

// Credential is a secret and what is known of it.
type Credential struct {
	Secret Secret
	Kind   Kind
	// Source is where it came from, fit to be shown: a variable's name,
	// "apiKeyHelper", or the path of a file.
	Source string
}

// Bearer tells whether the secret goes into the header Authorization rather than x-api-key.
func (c Credential) Bearer() bool { return c.Kind == Token || c.Kind == OAuth }

// Betas are the features of the API that the credential needs.
func (c Credential) Betas() []string {
	if c.Kind == OAuth {
		return []string{OAuthBeta}
	}
	return nil
}

// Config is where credentials may come from.
type Config struct {
	// Env reads a variable, from the environment or the settings' env block.
	Env func(name string) string
	// Helper is the setting apiKeyHelper: a shell command that prints a key.
	Helper string
	// Run runs the helper and returns what it printed; nil when there is none
	// to run it. Errors must not quote the output.
	Run func(ctx context.Context, command string) (stdout string, err error)
	// Home is the configuration folder that holds the token file.
	Home string
	// Login is the login at the issuer that the settings name; nil without one.
	Login *Login
	// KeysOnly leaves out tokens of a login, stored or not (--bare).
	KeysOnly bool
	// Notice is told, at most once each, what a person should know; may be nil.
	Notice func(text string)
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Limits of the helper.
const (
	defaultTTL     = 5 * time.Minute
	helperAttempts = 3
	slowHelper     = 10 * time.Second
)

// ErrNone is wrapped by the error for the case that there is no credential at all.
var ErrNone = errors.New("no API key")

// Resolver finds the credential to use. It is safe for concurrent use; one
// helper runs at a time, the others wait for its answer.
type Resolver struct {
	c      Config
	mu     sync.Mutex
	helped Secret
	when   time.Time
	told   map[string]bool
}

// New makes a resolver. It reads and runs nothing yet.
func New(c Config) *Resolver {
	if c.Env == nil {
		c.Env = func(string) string { return "" }
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Resolver{c: c, told: map[string]bool{}}
}

// Key returns the credential of highest precedence: ANTHROPIC_AUTH_TOKEN,
// ANTHROPIC_API_KEY, the helper, CLAUDE_CODE_OAUTH_TOKEN, the login, the token file.
//
// rejected is "" or a secret that the server has refused. A helper is then run
// again and a file read again; a variable cannot change, and the same
// credential comes back, which tells the caller to give up.
func (r *Resolver) Key(ctx context.Context, rejected string) (Credential, error) {
	if c, ok := r.fromEnv("ANTHROPIC_AUTH_TOKEN", Token); ok {
		return checked(c)
	}
	if c, ok := r.fromEnv("ANTHROPIC_API_KEY", APIKey); ok {
		return checked(c)
	}
	if r.c.Helper != "" {
		s, err := r.help(ctx, rejected)
		if err != nil {
			return Credential{}, err
		}
		return checked(Credential{s, APIKey, "apiKeyHelper"})
	}
	if !r.c.KeysOnly {
		if c, ok := r.fromEnv("CLAUDE_CODE_OAUTH_TOKEN", OAuth); ok {
			return checked(c)
		}
		c, ok, err := r.loggedIn(ctx, rejected)
		if err != nil {
			return Credential{}, err
		}
		if ok {
			return checked(c)
		}
	}
	if r.c.Login != nil && !r.c.KeysOnly {
		return Credential{}, fmt.Errorf("%w and no login: run hew auth login, or set ANTHROPIC_API_KEY", ErrNone)
	}
	return Credential{}, fmt.Errorf("%w: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, or the setting apiKeyHelper", ErrNone)
}

// loggedIn is the token of a login: of hew's own, else the one that is in the file.
func (r *Resolver) loggedIn(ctx context.Context, rejected string) (Credential, bool, error) {
	if r.c.Login != nil {
		if c, ok, err := r.c.Login.Key(ctx, rejected); ok || err != nil {
			return c, ok, err
		}
	}
	return r.stored()
}

func (r *Resolver) fromEnv(name string, k Kind) (Credential, bool) {
	v := strings.TrimSpace(r.c.Env(name))
	return Credential{NewSecret(v), k, name}, v != ""
}

// checked refuses what could not be sent in a header, without quoting it.
func checked(c Credential) (Credential, error) {
	for _, b := range []byte(c.Secret.Reveal()) {
		if b < 0x21 || b > 0x7e {
			return Credential{}, fmt.Errorf("the credential from %s holds a space or a character that no key has: check how it is set", c.Source)
		}
	}
	return c, nil
}

// help returns the helper's key, from memory while it is fresh.
func (r *Resolver) help(ctx context.Context, rejected string) (Secret, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh := !r.helped.Empty() && r.c.Now().Sub(r.when) < r.ttl()
	if fresh && r.helped.Reveal() != rejected {
		return r.helped, nil
	}
	if r.c.Run == nil {
		return Secret{}, errors.New("run apiKeyHelper: nothing here can run commands")
	}
	var err error
	for range helperAttempts {
		var s Secret
		if s, err = r.runHelper(ctx); err == nil {
			r.helped, r.when = s, r.c.Now()
			return s, nil
		}
		if ctx.Err() != nil {
			return Secret{}, ctx.Err()
		}
	}
	r.helped = Secret{}
	return Secret{}, fmt.Errorf("run apiKeyHelper, %d times: %w; run the command by hand to see what is wrong", helperAttempts, err)
}

func (r *Resolver) runHelper(ctx context.Context) (Secret, error) {
	begin := r.c.Now()
	out, err := r.c.Run(ctx, r.c.Helper)
	if took := r.c.Now().Sub(begin); took > slowHelper {
		r.notice(fmt.Sprintf("apiKeyHelper took %s; each key is asked for again after %s", took.Round(time.Second), r.ttl()))
	}
	if err != nil {
		return Secret{}, err
	}
	key := strings.TrimSpace(out)
	if key == "" {
		return Secret{}, errors.New("it printed nothing")
	}
	return NewSecret(key), nil
}

func (r *Resolver) ttl() time.Duration {
	ms, err := strconv.ParseInt(strings.TrimSpace(r.c.Env("CLAUDE_CODE_API_KEY_HELPER_TTL_MS")), 10, 64)
	if err != nil || ms < 0 || ms > int64(365*24*time.Hour/time.Millisecond) {
		return defaultTTL
	}
	return time.Duration(ms) * time.Millisecond
}

// notice is called with mu held or before any other use.
func (r *Resolver) notice(text string) {
	if r.c.Notice == nil || r.told[text] {
		return
	}
	r.told[text] = true
	r.c.Notice(text)
}

// Status is what may be told of the credential in use.
type Status struct {
	LoggedIn bool   `json:"loggedIn"`
	Kind     Kind   `json:"kind"`
	Source   string `json:"source,omitempty"`
	// Issuer is the login server of the settings, ExpiresAt when the token of the
	// login in use ends.
	Issuer    string     `json:"issuer,omitempty"`
	ExpiresAt *time.Time `json:"expiresAt,omitempty"`
	// Problem says why there is none, or why it cannot be used.
	Problem string `json:"problem,omitempty"`
}

// Status tells which credential would be used. A helper is run for it, as
// nothing else shows whether it works.
func (r *Resolver) Status(ctx context.Context) Status {
	issuer := ""
	if r.c.Login != nil {
		issuer = r.c.Login.Issuer.URL
	}
	c, err := r.Key(ctx, "")
	if err != nil {
		return Status{Kind: None, Issuer: issuer, Problem: err.Error()}
	}
	s := Status{LoggedIn: true, Kind: c.Kind, Source: c.Source, Issuer: issuer}
	if r.c.Login != nil && c.Source == r.c.Login.source() {
		if at, ok := r.c.Login.Until(); ok && !at.IsZero() {
			s.ExpiresAt = &at
		}
	}
	return s
}
