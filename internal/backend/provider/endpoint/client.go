// Package endpoint sends requests to a model API over HTTP and reads what it answers; a Dialect is the wire format.
//
// It owns what all APIs have in common: the proxy and the certificates, one
// fresh credential after a 401, redirects, time-outs, watchdogs over streams,
// and errors without secrets.
package endpoint

import (
	"context"
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

// DefaultHeaderTimeout is the time to the first byte of an answer (API_TIMEOUT_MS).
const DefaultHeaderTimeout = 600 * time.Second

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

// Config describes one endpoint. Only BaseURL is needed.
type Config struct {
	// BaseURL may hold a path; the Dialect's paths are added to it.
	BaseURL    string
	APIVersion string
	// Version is hew's own, for the User-Agent.
	Version string
	// Auth returns the credential to use. rejected is "" at first; after a 401
	// it is the secret that was refused, and a source that can renew itself
	// returns another one. nil sends no credential.
	Auth func(ctx context.Context, rejected string) (Auth, error)
	// Sign is the last to see a request, with its whole body: it adds what proves
	// who sends it. nil adds nothing. Errors are of class Credential.
	Sign func(ctx context.Context, r *http.Request, body []byte) error
	// Headers are sent with each request, Betas in the header anthropic-beta.
	Headers []Header
	Betas   []string
	// ExtraBody is a JSON object whose members are put into each request.
	ExtraBody string
	// HeaderTimeout bounds the wait for an answer to begin, StallTimeout the
	// silence between two pieces of it. 0 means the default, < 0 no bound.
	HeaderTimeout, StallTimeout time.Duration
	Network                     Network
	// Fix says what a person can do about failures of a class, in the words of
	// this way to the model; a class without an entry has provider's own advice.
	Fix map[provider.Class]string
	// Address names the variable that holds BaseURL, for error texts.
	Address string
	// Now is the clock for retry-after dates; nil is time.Now.
	Now func() time.Time
}

// Dialect is a wire format.
type Dialect interface {
	// Request is the path, below the base URL, and the body for r.
	Request(r *provider.Request) (path string, b *messages.Body, err error)
	// Header adds the headers of the API and of the credential.
	Header(h http.Header, a Auth, r *provider.Request)
	// Reply starts the reading of an answer to r. kind is the media type of the
	// answer, "" when the endpoint named none.
	Reply(c messages.Config, r *provider.Request, kind string) Reply
	// Classify types an answer that is not a success.
	Classify(status int, h http.Header, body []byte, now time.Time) *provider.Error
}

// Reply reads one answer. Its methods return messages.ErrStopped when the
// consumer has left, otherwise a *provider.Error.
type Reply struct {
	// Feed takes the next bytes of a stream, End what is left when it has ended;
	// Whole takes an answer in one piece.
	Feed  func(chunk []byte) error
	End   func() error
	Whole func(body []byte) error
	// Ended tells whether the reply is complete.
	Ended func() bool
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

// Client is a provider.Provider for one endpoint. It is safe for concurrent use
// and keeps its connections.
type Client struct {
	c        Config
	dialect  Dialect
	base     *url.URL
	host     string
	loopback bool
	http     *http.Client
	hidden   []string // secrets of the configuration itself
}

// New checks the configuration. It makes no connection.
func New(c Config, d Dialect) (*Client, error) {
	setDefaults(&c)
	base, err := url.Parse(strings.TrimRight(c.BaseURL, "/"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("base URL of the model API is not an http(s) address: check %s", c.Address)
	}
	transport, err := c.Network.Transport()
	if err != nil {
		return nil, err
	}
	cl := &Client{
		c: c, dialect: d, base: base, host: base.Host, loopback: isLoopback(base.Hostname()),
		http: &http.Client{Transport: transport, CheckRedirect: sameHost},
	}
	cl.hide(base)
	return cl, nil
}

func setDefaults(c *Config) {
	if c.Address == "" {
		c.Address = "the base URL"
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
func (x *exchange) request(path string, b *messages.Body, a Auth) (*http.Request, error) {
	c := x.c
	hr, err := http.NewRequestWithContext(x.ctx, http.MethodPost, c.join(path), b.Reader())
	if err != nil {
		return nil, fmt.Errorf("build request: %w", err)
	}
	hr.ContentLength = b.Len()
	hr.GetBody = func() (io.ReadCloser, error) { return b.Reader(), nil }
	h := hr.Header
	h["Content-Type"] = []string{"application/json"}
	h["Accept"] = []string{"text/event-stream, application/json"}
	h["User-Agent"] = []string{"hew/" + c.c.Version}
	c.dialect.Header(h, a, x.r)
	for _, e := range c.c.Headers {
		h.Set(e.Name, e.Value)
	}
	if c.loopback {
		c.testHeaders(h, x.r)
	}
	if c.c.Sign == nil {
		return hr, nil
	}
	if err := c.c.Sign(x.ctx, hr, b.Bytes()); err != nil {
		return nil, x.unsigned(err)
	}
	return hr, nil
}

// unsigned is the error for a request that could not be signed.
func (x *exchange) unsigned(err error) error {
	if x.caller.Err() != nil {
		return x.caller.Err()
	}
	return &provider.Error{Class: provider.Credential, Message: err.Error(), Err: err}
}

// join puts a path, with its query and its escapes, behind the base URL.
func (c *Client) join(path string) string {
	u := *c.base
	path, query, _ := strings.Cut(path, "?")
	if query != "" {
		u.RawQuery = query
	}
	return u.JoinPath(path).String()
}

// The headers that a scripted model on loopback is told hew's intent by.
const (
	HeaderBreak = "X-Hew-Prefix-Break"
	HeaderSide  = "X-Hew-Side"
	// HeaderSession names the conversation, where the wire format has no place for it.
	HeaderSession = "X-Hew-Session"
)

func (c *Client) testHeaders(h http.Header, r *provider.Request) {
	if r.Break != "" {
		h[HeaderBreak] = []string{r.Break}
	}
	if r.Session != "" {
		h[HeaderSession] = []string{r.Session}
	}
	if r.Side != "" {
		h[HeaderSide] = []string{r.Side}
	}
}

// Ask makes one request that is answered in one piece, which read takes.
func (c *Client) Ask(ctx context.Context, r *provider.Request, path string, b *messages.Body, read func(body []byte) error) error {
	x := c.newExchange(ctx, r)
	defer x.close()
	resp, err := x.open(path, b)
	if err != nil {
		return err
	}
	body, err := x.readAll(resp.Body, maxWhole)
	if err != nil {
		return err
	}
	return x.decodeError(read(body))
}

// MessagesReply reads the server-sent events of a Messages API.
func MessagesReply(c messages.Config) Reply {
	d := messages.NewDecoder(c)
	split := messages.NewSplitter(d.Event)
	return Reply{Feed: split.Feed, End: split.End, Whole: d.Whole, Ended: d.Ended}
}
