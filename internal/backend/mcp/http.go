package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// errOtherHost refuses to follow a server to another place: headers and tokens
// are meant for the one that the user named.
var errOtherHost = errors.New("the server points to another host, which hew does not follow")

// web is the HTTP side of one server: its own headers, its login, bounded bodies.
type web struct {
	base   http.RoundTripper
	origin url.URL
	plain  map[string]string
	helper func(ctx context.Context) (map[string]string, error) // nil without one
	login  *login                                               // nil without one

	mu      sync.Mutex
	helped  map[string]string
	refused int // the status with which the server refused us last, 0 for none
}

func (c *Config) web(e Entry) (*web, error) {
	u, err := url.Parse(e.URL)
	if err != nil {
		return nil, fmt.Errorf("read the server's url: %w", err)
	}
	switch u.Scheme {
	case "http", "https", "ws", "wss":
	default:
		return nil, fmt.Errorf("the url %q is not http, https, ws or wss", clip(e.URL, 100))
	}
	w := &web{base: c.roundTripper(e), origin: *u, plain: e.Headers}
	if e.HeadersHelper != "" && c.Helper != nil {
		w.helper = func(ctx context.Context) (map[string]string, error) { return c.Helper(ctx, e) }
	}
	if c.Tokens != nil && !hasHeader(e.Headers, "Authorization") {
		w.login = &login{store: c.Tokens, key: tokenKey(e), client: c.discovery()}
	}
	return w, nil
}

func (c *Config) roundTripper(e Entry) http.RoundTripper {
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t := base.Clone()
	t.Proxy = c.Proxy
	t.ResponseHeaderTimeout = max(firstByte, e.Timeout)
	return t
}

// discovery is the client for login servers: it carries no header of the entry.
func (c *Config) discovery() *http.Client {
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return &http.Client{Timeout: firstByte}
	}
	t := base.Clone()
	t.Proxy = c.Proxy
	return &http.Client{Transport: t, Timeout: firstByte}
}

func hasHeader(h map[string]string, name string) bool {
	for k := range h {
		if strings.EqualFold(k, name) {
			return true
		}
	}
	return false
}

// client uses w for each request, and follows no redirect to another host.
func (w *web) client() *http.Client {
	return &http.Client{Transport: w, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) > 5 || !w.same(r.URL) {
			return errOtherHost
		}
		return nil
	}}
}

func (w *web) same(u *url.URL) bool { return u.Host == w.origin.Host && u.Scheme == w.origin.Scheme }

// RoundTrip sends a request with what the server wants to see. A refusal is
// answered once, with fresh headers of the helper or a refreshed token.
func (w *web) RoundTrip(r *http.Request) (*http.Response, error) {
	if !w.same(r.URL) {
		return nil, errOtherHost
	}
	resp, err := w.send(r, false)
	if err != nil || !refusal(resp.StatusCode) {
		return resp, err
	}
	if (w.helper == nil && w.login == nil) || (r.Body != nil && r.GetBody == nil) {
		w.refuse(resp.StatusCode)
		return resp, nil
	}
	discard(resp)
	again := r.Clone(r.Context())
	if r.GetBody != nil {
		if again.Body, err = r.GetBody(); err != nil {
			return nil, err
		}
	}
	if resp, err = w.send(again, true); err == nil && refusal(resp.StatusCode) {
		w.refuse(resp.StatusCode)
	}
	return resp, err
}

func refusal(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

func discard(resp *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	_ = resp.Body.Close()
}

func (w *web) refuse(status int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refused = status
}

// status is the last refusal, 0 for none.
func (w *web) status() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.refused
}

func (w *web) send(r *http.Request, fresh bool) (*http.Response, error) {
	out := r.Clone(r.Context())
	for k, v := range w.plain {
		out.Header.Set(k, v)
	}
	more, err := w.fromHelper(r.Context(), fresh)
	if err != nil {
		return nil, err
	}
	for k, v := range more {
		out.Header.Set(k, v)
	}
	if w.login != nil && out.Header.Get("Authorization") == "" {
		if err := w.login.authorize(out, fresh); err != nil {
			return nil, err
		}
	}
	resp, err := w.base.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		resp.Body = &bounded{resp.Body, maxMessage}
	}
	return resp, nil
}

func (w *web) fromHelper(ctx context.Context, fresh bool) (map[string]string, error) {
	if w.helper == nil {
		return nil, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.helped != nil && !fresh {
		return w.helped, nil
	}
	h, err := w.helper(ctx)
	if err != nil {
		return nil, fmt.Errorf("headersHelper: %w", err)
	}
	w.helped = h
	return h, nil
}

// bounded ends a body with an error instead of going on for ever.
type bounded struct {
	io.ReadCloser
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("the answer is larger than %d MB", maxMessage>>20)
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}

// dial makes the connection of an entry whose variables are filled in.
func (c *Config) dial(ctx context.Context, e Entry) (sdk.Transport, *web, Frames, error) {
	switch e.Transport {
	case Stdio:
		s, err := c.launch(ctx, e)
		if err != nil {
			return nil, nil, nil, err
		}
		return &framed{f: s}, nil, s, nil
	case SDK:
		if c.Host == nil {
			return nil, nil, nil, errors.New("no program is there that could run it")
		}
		f, err := c.Host(ctx, e.Name)
		if err != nil {
			return nil, nil, nil, err
		}
		return &framed{f: f}, nil, f, nil
	case HTTP, SSE, WS:
	}
	w, err := c.web(e)
	if err != nil {
		return nil, nil, nil, err
	}
	switch e.Transport {
	case SSE:
		return &sdk.SSEClientTransport{Endpoint: e.URL, HTTPClient: w.client(), MaxEventSize: maxMessage}, w, nil, nil
	case WS:
		f, err := w.socket(ctx, e.URL)
		return &framed{f: f}, w, f, err
	case HTTP, Stdio, SDK:
	}
	return &sdk.StreamableClientTransport{Endpoint: e.URL, HTTPClient: w.client(), MaxEventSize: maxMessage}, w, nil, nil
}

// orElse returns d, or def when it is 0.
func orElse(d, def time.Duration) time.Duration {
	if d == 0 {
		return def
	}
	return d
}
