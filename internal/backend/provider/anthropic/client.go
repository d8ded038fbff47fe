// Package anthropic is the adapter for the Anthropic Messages API.
//
// Any endpoint that speaks the API will do; what differs between them is configuration.
package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/provider/messages"
)

// Defaults of an endpoint.
const (
	DefaultBaseURL    = "https://api.anthropic.com"
	DefaultAPIVersion = "2023-06-01"
	// DefaultHeaderTimeout is the time to the first byte of an answer (API_TIMEOUT_MS).
	DefaultHeaderTimeout = 600 * time.Second
)

// Style is the way in which a credential is sent.
type Style int

// The styles; NoKey sends none, for gateways that ask for none.
const (
	NoKey Style = iota
	APIKey
	Bearer
)

// Auth is a credential, ready to be sent. Its secret is never printed.
type Auth struct {
	Style  Style
	Secret string
	// Betas are features of the API that this kind of credential needs.
	Betas []string
}

// String hides the secret.
func (Auth) String() string { return "[credential]" }

// GoString hides the secret.
func (Auth) GoString() string { return "[credential]" }

// Config describes one endpoint. Only Auth is needed.
type Config struct {
	// BaseURL may hold a path; "/v1/messages" is added to it.
	BaseURL    string
	APIVersion string
	// Version is hew's own, for the User-Agent.
	Version string
	// Auth returns the credential to use. rejected is "" at first; after a 401
	// it is the secret that was refused, and a source that can renew itself
	// returns another one. nil sends no credential.
	Auth func(ctx context.Context, rejected string) (Auth, error)
	// Headers are sent with each request, Betas in the header anthropic-beta.
	Headers []Header
	Betas   []string
	// ExtraBody is a JSON object whose members are put into each request.
	ExtraBody string
	// HeaderTimeout bounds the wait for an answer to begin, StallTimeout the
	// silence between two pieces of it. 0 means the default, < 0 no bound.
	HeaderTimeout, StallTimeout time.Duration
	Network                     Network
	// Now is the clock for retry-after dates; nil is time.Now.
	Now func() time.Time
}

// Header is one extra HTTP header.
type Header struct{ Name, Value string }

// ParseHeaders reads ANTHROPIC_CUSTOM_HEADERS: one "Name: Value" a line.
func ParseHeaders(s string) ([]Header, error) {
	var out []Header
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		name = strings.TrimSpace(name)
		if !ok || name == "" || strings.ContainsAny(name, " \t") {
			return nil, errors.New("custom headers: a line is not of the form \"Name: Value\"")
		}
		out = append(out, Header{name, strings.TrimSpace(value)})
	}
	return out, nil
}

// Client is a provider.Provider and provider.Counter for one endpoint. It is
// safe for concurrent use and keeps its connections.
type Client struct {
	c        Config
	messages string
	count    string
	host     string
	loopback bool
	encoder  *messages.Encoder
	http     *http.Client
	hidden   []string // secrets of the configuration itself
}

// New checks the configuration. It makes no connection.
func New(c Config) (*Client, error) {
	setDefaults(&c)
	base, err := url.Parse(strings.TrimRight(c.BaseURL, "/"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, errors.New("base URL of the model API is not an http(s) address: check ANTHROPIC_BASE_URL")
	}
	extra, err := messages.ParseExtra(c.ExtraBody)
	if err != nil {
		return nil, err
	}
	transport, err := c.Network.transport()
	if err != nil {
		return nil, err
	}
	cl := &Client{
		c:        c,
		messages: base.JoinPath("v1/messages").String(),
		count:    base.JoinPath("v1/messages/count_tokens").String(),
		host:     base.Host,
		loopback: isLoopback(base.Hostname()),
		encoder:  messages.NewEncoder(extra),
		http:     &http.Client{Transport: transport, CheckRedirect: sameHost},
	}
	cl.hide(base)
	return cl, nil
}

func setDefaults(c *Config) {
	if c.BaseURL == "" {
		c.BaseURL = DefaultBaseURL
	}
	if c.APIVersion == "" {
		c.APIVersion = DefaultAPIVersion
	}
	if c.Version == "" {
		c.Version = "unknown"
	}
	if c.HeaderTimeout == 0 {
		c.HeaderTimeout = DefaultHeaderTimeout
	}
	if c.StallTimeout == 0 {
		c.StallTimeout = provider.StallTimeout
	}
	if c.Now == nil {
		c.Now = time.Now
	}
}

// hide collects what the configuration holds that may be secret.
func (c *Client) hide(base *url.URL) {
	for _, h := range c.c.Headers {
		c.hidden = append(c.hidden, h.Value)
		if _, token, ok := strings.Cut(h.Value, " "); ok {
			c.hidden = append(c.hidden, token)
		}
	}
	for _, u := range append(c.c.Network.proxies(), base) {
		if pw, ok := u.User.Password(); ok {
			c.hidden = append(c.hidden, pw, url.QueryEscape(pw), url.PathEscape(pw))
		}
	}
}

// sameHost lets a redirect through only where it cannot carry the credential
// elsewhere and cannot turn the POST into a GET.
func sameHost(r *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > 5 || r.Method != first.Method || r.URL.Scheme != first.URL.Scheme || r.URL.Host != first.URL.Host {
		return http.ErrUseLastResponse
	}
	return nil
}

// request builds the HTTP request for a body.
func (c *Client) request(ctx context.Context, to string, b *messages.Body, a Auth, r *provider.Request) (*http.Request, error) {
	hr, err := http.NewRequestWithContext(ctx, http.MethodPost, to, b.Reader())
	if err != nil {
		return nil, fmt.Errorf("build request: %w", err)
	}
	hr.ContentLength = b.Len()
	hr.GetBody = func() (io.ReadCloser, error) { return b.Reader(), nil }
	h := hr.Header
	h["Content-Type"] = []string{"application/json"}
	h["Accept"] = []string{"text/event-stream, application/json"}
	h["User-Agent"] = []string{"hew/" + c.c.Version}
	h["Anthropic-Version"] = []string{c.c.APIVersion}
	betas := append(append([]string(nil), c.c.Betas...), a.Betas...)
	if len(betas) > 0 {
		h["Anthropic-Beta"] = []string{strings.Join(betas, ",")}
	}
	switch a.Style {
	case NoKey:
	case APIKey:
		h["X-Api-Key"] = []string{a.Secret}
	case Bearer:
		h["Authorization"] = []string{"Bearer " + a.Secret}
	}
	for _, x := range c.c.Headers {
		h.Set(x.Name, x.Value)
	}
	if c.loopback {
		c.testHeaders(h, r)
	}
	return hr, nil
}

// The headers that a scripted model on loopback is told hew's intent by.
const (
	HeaderBreak = "X-Hew-Prefix-Break"
	HeaderSide  = "X-Hew-Side"
)

func (c *Client) testHeaders(h http.Header, r *provider.Request) {
	if r.Break != "" {
		h[HeaderBreak] = []string{r.Break}
	}
	if r.Side != "" {
		h[HeaderSide] = []string{r.Side}
	}
}

// CountTokens asks the endpoint for the size of r in tokens.
func (c *Client) CountTokens(ctx context.Context, r *provider.Request) (int, error) {
	x := c.newExchange(ctx, r)
	defer x.close()
	resp, err := x.open(c.count, messages.EncodeCount(r))
	if err != nil {
		return 0, err
	}
	body, err := x.readAll(resp.Body, maxWhole)
	if err != nil {
		return 0, err
	}
	var out struct {
		N *int `json:"input_tokens"`
	}
	if json.Unmarshal(body, &out) != nil || out.N == nil {
		return 0, x.scrub(messages.NotAPI(resp.StatusCode, body))
	}
	return *out.N, nil
}
