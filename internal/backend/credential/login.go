package credential

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// Pending is a login that waits for the person: in a browser that comes back to
// loopback, or by what is pasted. Close ends it.
type Pending struct {
	l        *Login
	ends     endpoints
	conf     oauth2.Config
	state    string
	verifier string
	ln       net.Listener
	srv      *http.Server
	got      chan answer
}

// answer is what the login server sent the browser back with.
type answer struct {
	code string
	err  error
}

// Begin asks the issuer where to log in and starts to listen for the browser.
func (l *Login) Begin(ctx context.Context) (*Pending, error) {
	if l.Issuer.ClientID == "" {
		return nil, errors.New("log in: the setting oauth.clientId is missing; it is the name under which the login server knows hew")
	}
	ends, err := l.Issuer.discover(ctx, l.Client)
	if err != nil {
		return nil, fmt.Errorf("log in: %w", err)
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(l.Issuer.CallbackPort)))
	if err != nil {
		return nil, fmt.Errorf("log in: listen for the browser's answer: %w", err)
	}
	p := &Pending{l: l, ends: ends, state: oauth2.GenerateVerifier(), verifier: oauth2.GenerateVerifier(), ln: ln, got: make(chan answer, 1)}
	p.conf = oauth2.Config{
		ClientID: l.Issuer.ClientID, Scopes: l.Issuer.Scopes, RedirectURL: "http://" + ln.Addr().String() + "/callback",
		Endpoint: oauth2.Endpoint{AuthURL: ends.Authorization, TokenURL: ends.Token, AuthStyle: oauth2.AuthStyleInParams},
	}
	p.srv = &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(p.callback)}
	go func() { _ = p.srv.Serve(ln) }() // ends by Close
	return p, nil
}

// URL is the address that the person visits.
func (p *Pending) URL() string {
	return p.conf.AuthCodeURL(p.state, oauth2.S256ChallengeOption(p.verifier))
}

// Close stops listening.
func (p *Pending) Close() {
	quiet, cancel := context.WithTimeout(context.Background(), time.Second) // for the page to be written
	defer cancel()
	if p.srv.Shutdown(quiet) != nil {
		_ = p.srv.Close()
	}
}

// callback takes what the browser brings. What is not of this login is refused,
// and the login goes on: a page that guesses must not be able to end it.
func (p *Pending) callback(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if r.URL.Path != "/callback" || r.Host != p.ln.Addr().String() {
		http.Error(w, "This is where hew waits for the end of a login.", http.StatusNotFound)
		return
	}
	a, err := p.read(r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p.take(a)
	if a.err != nil {
		fmt.Fprintln(w, "The login was refused. You can close this page; hew says why.")
		return
	}
	fmt.Fprintln(w, "Thank you. You can close this page and go back to hew.")
}

func (p *Pending) take(a answer) {
	select {
	case p.got <- a:
	default: // a second visit of the page
	}
}

var errNotThisLogin = errors.New("this answer belongs to another login: it has another state")

// read judges the parameters of an answer. The error is for those that are not of this login.
func (p *Pending) read(q url.Values) (answer, error) {
	if subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(p.state)) != 1 {
		return answer{}, errNotThisLogin
	}
	if iss := q.Get("iss"); iss != p.ends.Issuer && (iss != "" || p.ends.NamesIssuer) {
		return answer{err: fmt.Errorf("the answer comes from another login server: %q", clip(iss))}, nil
	}
	if e := q.Get("error"); e != "" {
		return answer{err: fmt.Errorf("the login was refused: %s", strings.TrimSpace(clip(e)+" "+clip(q.Get("error_description"))))}, nil
	}
	if q.Get("code") == "" {
		return answer{}, errors.New("this answer holds no code")
	}
	return answer{code: q.Get("code")}, nil
}

// Paste takes what a person copied from a browser on another machine: the whole
// address that it ended at, CODE#STATE, or the code alone, which PKCE ties to
// this login.
func (p *Pending) Paste(text string) error {
	text = strings.TrimSpace(text)
	if code, state, ok := strings.Cut(text, "#"); ok && !strings.Contains(code, "/") {
		a, err := p.read(url.Values{"code": {code}, "state": {state}, "iss": {p.ends.Issuer}})
		if err != nil {
			return err
		}
		p.take(a)
		return nil
	}
	if strings.Contains(text, "://") {
		u, err := url.Parse(text)
		if err != nil {
			return errors.New("this is no address: paste the whole address that the browser ended at")
		}
		a, err := p.read(u.Query())
		if err != nil {
			return err
		}
		p.take(a)
		return nil
	}
	if text == "" || strings.ContainsAny(text, " \t?=&") {
		return errors.New("paste the whole address that the browser ended at, or the code that it shows")
	}
	p.take(answer{code: text})
	return nil
}

// Wait ends when the person has, and keeps the login. It says where.
func (p *Pending) Wait(ctx context.Context) (where string, err error) {
	var a answer
	select {
	case a = <-p.got:
	case <-ctx.Done():
		return "", errors.New("nobody finished the login in the browser")
	}
	if a.err != nil {
		return "", a.err
	}
	t, err := p.conf.Exchange(p.l.with(ctx), a.code, oauth2.VerifierOption(p.verifier))
	if err != nil {
		return "", fmt.Errorf("log in: %w", p.l.refusal(err, a.code, p.verifier))
	}
	g := &grant{
		Issuer: p.l.Issuer.URL, ClientID: p.conf.ClientID, For: p.l.For, TokenURL: p.ends.Token, RevokeURL: p.ends.Revocation,
	}
	if err := g.take(t); err != nil {
		return "", fmt.Errorf("log in: %w", err)
	}
	return p.l.keep(ctx, g)
}
