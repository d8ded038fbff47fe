package endpoint

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"
)

// Network says how endpoints are reached.
type Network struct {
	// HTTPProxy and HTTPSProxy are proxy addresses, NoProxy the hosts that are
	// reached without: a comma list of names, domains, addresses, CIDR ranges, "*".
	HTTPProxy, HTTPSProxy, NoProxy string
	// CAFiles are PEM files of authorities trusted besides the system's.
	CAFiles []string
	// ClientCert and ClientKey are PEM files for mutual TLS.
	ClientCert, ClientKey string
}

// NetworkFromEnv reads the usual variables through get.
func NetworkFromEnv(get func(string) string) Network {
	first := func(names ...string) string {
		for _, n := range names {
			if v := get(n); v != "" {
				return v
			}
		}
		return ""
	}
	n := Network{
		HTTPProxy:  first("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"),
		HTTPSProxy: first("https_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"),
		NoProxy:    first("no_proxy", "NO_PROXY"),
		ClientCert: get("CLAUDE_CODE_CLIENT_CERT"),
		ClientKey:  get("CLAUDE_CODE_CLIENT_KEY"),
	}
	for _, v := range []string{"NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"} {
		if f := get(v); f != "" {
			n.CAFiles = append(n.CAFiles, f)
		}
	}
	return n
}

// Transport builds a transport that keeps to n.
func (n Network) Transport() (*http.Transport, error) {
	conf, err := n.tls()
	if err != nil {
		return nil, err
	}
	proxy, err := n.proxy()
	if err != nil {
		return nil, err
	}
	dial := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:               proxy,
		DialContext:         dial.DialContext,
		TLSClientConfig:     conf,
		TLSHandshakeTimeout: 30 * time.Second,
		ForceAttemptHTTP2:   true,
		// Half-dead connections are found by pings instead of by the stall timeout.
		HTTP2:               &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
		MaxIdleConnsPerHost: 8,
		IdleConnTimeout:     90 * time.Second,
		// A stream must not sit in a decompressor's window.
		DisableCompression: true,
	}, nil
}

func (n Network) tls() (*tls.Config, error) {
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	if n.ClientCert != "" || n.ClientKey != "" {
		cert, err := tls.LoadX509KeyPair(n.ClientCert, n.ClientKey)
		if err != nil {
			return nil, fmt.Errorf("load client certificate %s: %w", n.ClientCert, err)
		}
		conf.Certificates = []tls.Certificate{cert}
	}
	if len(n.CAFiles) == 0 {
		return conf, nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // a system without authorities of its own
	}
	for _, f := range n.CAFiles {
		pem, err := os.ReadFile(f)
		if err != nil {
			return nil, fmt.Errorf("read certificate authorities: %w", err)
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("read certificate authorities: no PEM certificate in %s", f)
		}
	}
	conf.RootCAs = pool
	return conf, nil
}

func (n Network) proxy() (func(*http.Request) (*url.URL, error), error) {
	plain, err := proxyURL(n.HTTPProxy)
	if err != nil {
		return nil, err
	}
	secure, err := proxyURL(n.HTTPSProxy)
	if err != nil {
		return nil, err
	}
	if plain == nil && secure == nil {
		return nil, nil
	}
	return func(r *http.Request) (*url.URL, error) {
		if n.bypass(r.URL.Hostname(), r.URL.Port()) {
			return nil, nil
		}
		if r.URL.Scheme == "https" {
			return secure, nil
		}
		return plain, nil
	}, nil
}

// Proxy chooses the proxy of a request as Transport does; nil when there is none
// or its address cannot be read.
func (n Network) Proxy() func(*http.Request) (*url.URL, error) {
	p, err := n.proxy()
	if err != nil {
		return nil
	}
	return p
}

func proxyURL(s string) (*url.URL, error) {
	if s == "" {
		return nil, nil
	}
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return nil, errors.New("proxy address is not a URL: check HTTP_PROXY and HTTPS_PROXY")
	}
	return u, nil
}

func (n Network) proxies() []*url.URL {
	var out []*url.URL
	for _, s := range []string{n.HTTPProxy, n.HTTPSProxy} {
		if u, err := proxyURL(s); err == nil && u != nil {
			out = append(out, u)
		}
	}
	return out
}

// bypass tells whether host is reached directly. Loopback always is.
func (n Network) bypass(host, port string) bool {
	if isLoopback(host) {
		return true
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	ip, ipErr := netip.ParseAddr(host)
	for p := range strings.SplitSeq(n.NoProxy, ",") {
		p = strings.ToLower(strings.TrimSpace(p))
		if p == "*" {
			return true
		}
		if r, err := netip.ParsePrefix(p); err == nil && ipErr == nil && r.Contains(ip) {
			return true
		}
		if h, pp, err := net.SplitHostPort(p); err == nil {
			if pp != port {
				continue
			}
			p = h
		}
		domain := strings.TrimPrefix(strings.TrimPrefix(p, "*"), ".")
		if domain != "" && (host == domain || strings.HasSuffix(host, "."+domain)) {
			return true
		}
	}
	return false
}
