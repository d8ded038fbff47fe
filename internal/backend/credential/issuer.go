package credential

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Issuer is a login server, as the user's settings name it.
type Issuer struct {
	// URL is the issuer's identifier; its metadata is looked for below it.
	URL      string   `json:"issuer"`
	ClientID string   `json:"clientId"`
	Scopes   []string `json:"scopes"`
	// AuthorizationURL and TokenURL go before what the metadata say. An address on
	// another host than the issuer's is taken from here only.
	AuthorizationURL string `json:"authorizationUrl"`
	TokenURL         string `json:"tokenUrl"`
	// CallbackPort is where the browser comes back to; 0 takes any free port.
	CallbackPort int `json:"callbackPort"`
}

// endpoints are what an issuer's metadata tell.
type endpoints struct {
	Issuer        string   `json:"issuer"`
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	Revocation    string   `json:"revocation_endpoint"`
	Challenges    []string `json:"code_challenge_methods_supported"`
	// NamesIssuer tells that answers to the browser say who gave them (RFC 9207).
	NamesIssuer bool `json:"authorization_response_iss_parameter_supported"`
}

// Limits of a login server's answers.
const (
	issuerWait   = 30 * time.Second
	maxMetadata  = 1 << 20
	maxShownText = 200
)

// IssuerClient is the client that login servers are reached with: bounded in
// time, and a redirect is an answer that nobody follows, since codes and tokens
// are for the host that the user named.
func IssuerClient(t http.RoundTripper) *http.Client {
	return &http.Client{
		Transport: t, Timeout: issuerWait,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// safeURL parses an address that secrets may be sent to: https, or http on this machine.
func safeURL(what, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return nil, fmt.Errorf("%s is no address: %q", what, clip(text))
	}
	if u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname()) {
		return u, nil
	}
	return nil, fmt.Errorf("%s must begin with https://: %q", what, clip(text))
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// discover finds the issuer's endpoints and refuses those that are not its own.
func (i Issuer) discover(ctx context.Context, c *http.Client) (endpoints, error) {
	base, err := safeURL("the setting oauth.issuer", i.URL)
	if err != nil {
		return endpoints{}, err
	}
	if i.AuthorizationURL != "" && i.TokenURL != "" {
		return i.named(endpoints{Issuer: i.URL})
	}
	var e endpoints
	for _, u := range metadataURLs(base) {
		found, err := fetchMetadata(ctx, c, u, &e)
		if err != nil {
			return endpoints{}, fmt.Errorf("ask the login server %s: %w", base.Host, err)
		}
		if found {
			return i.judged(base, e)
		}
	}
	return endpoints{}, fmt.Errorf("the login server %s publishes no metadata: check the setting oauth.issuer, or name oauth.authorizationUrl and oauth.tokenUrl", base.Host)
}

// judged refuses metadata that lead elsewhere.
func (i Issuer) judged(base *url.URL, e endpoints) (endpoints, error) {
	if strings.TrimSuffix(e.Issuer, "/") != strings.TrimSuffix(i.URL, "/") {
		return e, fmt.Errorf("the login server %s calls itself %q: check the setting oauth.issuer", base.Host, clip(e.Issuer))
	}
	if len(e.Challenges) > 0 && !slices.Contains(e.Challenges, "S256") {
		return e, fmt.Errorf("the login server %s does not know PKCE with S256, without which a login can be stolen on its way", base.Host)
	}
	for _, f := range []struct{ name, url, own string }{
		{"authorization_endpoint", e.Authorization, i.AuthorizationURL},
		{"token_endpoint", e.Token, i.TokenURL},
		{"revocation_endpoint", e.Revocation, e.Token},
	} {
		u, err := url.Parse(f.url)
		if f.own == "" && (err != nil || u.Host != base.Host) || f.name == "revocation_endpoint" && f.url != "" && (err != nil || u.Host != base.Host) {
			return e, fmt.Errorf("the login server %s names an address of another host as its %s: %q; if that is right, name it in the setting oauth (authorizationUrl, tokenUrl)", base.Host, f.name, clip(f.url))
		}
	}
	return i.named(e)
}

// named puts what the setting names in the place of what the metadata say.
func (i Issuer) named(e endpoints) (endpoints, error) {
	if i.AuthorizationURL != "" {
		e.Authorization = i.AuthorizationURL
	}
	if i.TokenURL != "" {
		e.Token = i.TokenURL
	}
	for name, text := range map[string]string{"the login server's authorization_endpoint": e.Authorization, "the login server's token_endpoint": e.Token} {
		if _, err := safeURL(name, text); err != nil {
			return e, err
		}
	}
	return e, nil
}

// metadataURLs are where RFC 8414 and OpenID Connect keep metadata.
func metadataURLs(base *url.URL) []string {
	path := strings.TrimSuffix(base.Path, "/")
	at := func(p string) string {
		return (&url.URL{Scheme: base.Scheme, Host: base.Host, Path: p}).String()
	}
	return []string{at("/.well-known/oauth-authorization-server" + path), at(path + "/.well-known/openid-configuration")}
}

func fetchMetadata(ctx context.Context, c *http.Client, u string, into *endpoints) (found bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		return false, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := c.Do(req)
	if err != nil {
		return false, unwrapURL(err)
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case resp.StatusCode == http.StatusNotFound:
		return false, nil
	case resp.StatusCode != http.StatusOK:
		return false, fmt.Errorf("it answers HTTP %d", resp.StatusCode)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxMetadata))
	if err != nil {
		return false, unwrapURL(err)
	}
	*into = endpoints{}
	if json.Unmarshal(raw, into) != nil {
		return false, errors.New("its metadata are no JSON")
	}
	return true, nil
}

// unwrapURL takes the address off an error: it is named already, and may hold a code.
func unwrapURL(err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		if ue.Timeout() {
			return errors.New("it did not answer in time")
		}
		return ue.Err
	}
	return err
}

// clip makes foreign text short and harmless.
func clip(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	if len(s) > maxShownText {
		s = strings.ToValidUTF8(s[:maxShownText], "") + "…"
	}
	return s
}
