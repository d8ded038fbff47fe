package web

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// forbiddenError says that an address is not on the public internet.
type forbiddenError struct{ host, why string }

func (e *forbiddenError) Error() string {
	return fmt.Sprintf("%s is %s; a permission rule that names the host (domain:%s) opens it", e.host, e.why, e.host)
}

// blocked lists ranges that the standard predicates do not cover: shared
// address space, benchmarks, documentation, protocol assignments, and IPv6
// prefixes that carry an IPv4 address inside.
func blocked() []netip.Prefix {
	var out []netip.Prefix
	for _, p := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"64:ff9b::/96", "64:ff9b:1::/48", "2001:db8::/32", "2002::/16", "2001::/32", "fec0::/10",
	} {
		out = append(out, netip.MustParsePrefix(p))
	}
	return out
}

// private says why an address is not public, "" when it is.
func private(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	switch {
	case a.IsLoopback():
		return "on this machine"
	case a.IsPrivate():
		return "on a private network"
	case a.IsLinkLocalUnicast():
		return "a link-local address, where machines hand out their credentials"
	case a.IsUnspecified(), a.IsMulticast(), a.IsLinkLocalMulticast(), a.IsInterfaceLocalMulticast():
		return "no address of a server"
	}
	for _, p := range blocked() {
		if p.Contains(a) {
			return "in a range that is not public"
		}
	}
	return ""
}

// client reaches host, and checks where it is when the connection is made:
// what a name meant when permission was given does not count.
func (c *Config) client(host string) *http.Client {
	named := c.Private != nil && c.Private(host)
	dial := &net.Dialer{Timeout: 15 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		a, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("the address of %s: %w", host, err)
		}
		if why := private(a.Addr()); why != "" && !named {
			return &forbiddenError{host, why}
		}
		return nil
	}}
	t := &http.Transport{DialContext: dial.DialContext, TLSHandshakeTimeout: 15 * time.Second, DisableKeepAlives: true, MaxResponseHeaderBytes: 1 << 20}
	if c.Proxy != nil {
		t.Proxy = func(r *http.Request) (*url.URL, error) {
			p, err := c.Proxy(r)
			if p == nil || err != nil {
				return nil, err
			}
			if err := c.behindProxy(r.Context(), host, named); err != nil {
				return nil, err
			}
			dial.Control = nil // the proxy's own address is the user's choice
			return p, nil
		}
	}
	return &http.Client{
		Transport: t, Timeout: fetchTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// behindProxy judges a host that a proxy connects to: a literal address, or
// what its name means here, where it means anything.
func (c *Config) behindProxy(ctx context.Context, host string, named bool) error {
	if named {
		return nil
	}
	if a, err := netip.ParseAddr(host); err == nil {
		if why := private(a); why != "" {
			return &forbiddenError{host, why}
		}
		return nil
	}
	if h := strings.ToLower(strings.TrimSuffix(host, ".")); h == "localhost" || strings.HasSuffix(h, ".localhost") {
		return &forbiddenError{host, "on this machine"}
	}
	lookup := c.Lookup
	if lookup == nil {
		lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	addrs, err := lookup(ctx, host)
	if err != nil {
		return nil // only the proxy can resolve it
	}
	for _, a := range addrs {
		if why := private(a); why != "" {
			return &forbiddenError{host, why}
		}
	}
	return nil
}
