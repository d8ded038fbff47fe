package mcp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// LoginConfig is what a login needs.
type LoginConfig struct {
	// Entry has its variables filled in.
	Entry  Entry
	Tokens *Tokens
	// Client reaches the server and its login server.
	Client *http.Client
	// Show tells the person the address to visit, and may open it.
	Show func(url string)
	// Paste is where the person may paste the address that the browser ended at,
	// for browsers on another machine. Optional.
	Paste io.Reader
}

// loginWait is how long a person may take.
const loginWait = 10 * time.Minute

// Login lets a person log in to a server: discovery (RFC 9728, RFC 8414), client
// registration where none is given, then the authorization code with PKCE and a
// redirect to loopback. It says where the login is kept.
func Login(ctx context.Context, c LoginConfig) (where string, err error) {
	ctx, cancel := context.WithTimeout(ctx, loginWait)
	defer cancel()
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Entry.OAuth.CallbackPort)))
	if err != nil {
		return "", fmt.Errorf("listen for the browser's answer: %w", err)
	}
	defer ln.Close()
	addr, ok := ln.Addr().(*net.TCPAddr)
	if !ok {
		return "", fmt.Errorf("listen for the browser's answer: %s is no TCP address", ln.Addr())
	}
	redirect := fmt.Sprintf("http://localhost:%d/callback", addr.Port)
	req, resp, err := c.knock(ctx)
	if err != nil {
		return "", err
	}
	if !refusal(resp.StatusCode) {
		discard(resp)
		return "", fmt.Errorf("the server answered HTTP %d without asking for a login", resp.StatusCode)
	}
	f := &flow{c: c, ln: ln, redirect: redirect}
	h, err := f.handler()
	if err != nil {
		return "", errors.Join(fmt.Errorf("prepare the login: %w", err), resp.Body.Close())
	}
	if err := h.Authorize(ctx, req, resp); err != nil {
		return "", fmt.Errorf("log in: %w", err)
	}
	return f.where, nil
}

// knock makes the request that the server refuses: its answer says where to log in.
func (c LoginConfig) knock(ctx context.Context) (*http.Request, *http.Response, error) {
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"hew","version":"0"}}}`
	method, body := http.MethodPost, io.Reader(strings.NewReader(hello))
	if c.Entry.Transport == SSE {
		method, body = http.MethodGet, nil
	}
	req, err := http.NewRequestWithContext(ctx, method, c.Entry.URL, body)
	if err != nil {
		return nil, nil, fmt.Errorf("ask the server: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for k, v := range c.Entry.Headers {
		req.Header.Set(k, v)
	}
	resp, err := c.Client.Do(req)
	if err != nil {
		return nil, nil, fmt.Errorf("ask the server: %w", err)
	}
	return req, resp, nil
}

// flow is one login in progress.
type flow struct {
	c        LoginConfig
	ln       net.Listener
	redirect string
	where    string
}

func (f *flow) handler() (*auth.AuthorizationCodeHandler, error) {
	o := f.c.Entry.OAuth
	conf := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: f.redirect, RequestRefreshToken: true, Client: f.c.Client, AuthorizationCodeFetcher: f.fetch, NewTokenSource: f.keep,
	}
	if o.Scopes != "" {
		conf.ScopeFilter = func([]string) []string { return strings.Fields(o.Scopes) }
	}
	if o.ClientID != "" {
		conf.PreregisteredClient = &oauthex.ClientCredentials{ClientID: o.ClientID}
		g, err := f.c.Tokens.load(tokenKey(f.c.Entry))
		if err != nil {
			return nil, err
		}
		if g != nil && g.ClientSecret != "" {
			conf.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: g.ClientSecret}
		}
	} else {
		conf.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			RedirectURIs: []string{f.redirect}, ClientName: "hew", TokenEndpointAuthMethod: "none",
			GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"}, Scope: o.Scopes,
		}}
	}
	return auth.NewAuthorizationCodeHandler(conf)
}

// keep stores the login.
func (f *flow) keep(ctx context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
	g := &grant{
		URL: f.c.Entry.URL, ClientID: c.ClientID, ClientSecret: c.ClientSecret, TokenURL: c.Endpoint.TokenURL,
		AuthStyle: int(c.Endpoint.AuthStyle), Scopes: c.Scopes,
	}
	g.take(t)
	var err error
	f.where, err = f.c.Tokens.save(ctx, tokenKey(f.c.Entry), g)
	return oauth2.StaticTokenSource(t), err
}

// fetch shows the address and waits for the browser, or for the pasted address.
func (f *flow) fetch(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	got := make(chan url.Values, 1)
	offer := func(v url.Values) bool {
		if v.Get("code") == "" && v.Get("error") == "" {
			return false
		}
		select {
		case got <- v:
		default:
		}
		return true
	}
	srv := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if r.URL.Path != "/callback" || !offer(r.URL.Query()) {
			http.Error(w, "This is where hew waits for the end of a login.", http.StatusNotFound)
			return
		}
		fmt.Fprintln(w, "Thank you. You can close this page and go back to hew.")
	})}
	go func() { _ = srv.Serve(f.ln) }() // ends by Close
	defer func() {
		// The page is written before the flow goes on.
		quiet, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		_ = srv.Shutdown(quiet)
	}()
	f.c.Show(args.URL)
	if f.c.Paste != nil {
		go pasted(f.c.Paste, offer) // ends with its input
	}
	select {
	case v := <-got:
		if e := v.Get("error"); e != "" {
			return nil, fmt.Errorf("the login was refused: %s %s", line(e, 100), line(v.Get("error_description"), 300))
		}
		return &auth.AuthorizationResult{Code: v.Get("code"), State: v.Get("state"), Iss: v.Get("iss")}, nil
	case <-ctx.Done():
		return nil, errors.New("nobody finished the login in the browser")
	}
}

func pasted(in io.Reader, offer func(url.Values) bool) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		u, err := url.Parse(strings.TrimSpace(lines.Text()))
		if err == nil && offer(u.Query()) {
			return
		}
	}
}
