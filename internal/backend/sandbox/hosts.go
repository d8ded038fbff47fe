package sandbox

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Hosts are the network rules: "name", "*.name" (below name, not name itself),
// an address, IPv6 in brackets, each with an optional ":port"; "*" is every
// host. Deny beats allow.
type Hosts struct {
	Allow, Deny []string
}

// Verdict is what the rules say about a host.
type Verdict int

// The verdicts.
const (
	Unknown Verdict = iota
	Allowed
	Denied
)

// Check reports the first rule in Hosts that cannot be read.
func (h Hosts) Check() error {
	for _, list := range [][]string{h.Allow, h.Deny} {
		for _, text := range list {
			if _, ok := parseHost(text); !ok {
				return fmt.Errorf("sandbox: %q is no host rule; write name, *.name, an address or [IPv6], each with an optional :port", text)
			}
		}
	}
	return nil
}

// Verdict judges a host as a client wrote it. An allow rule that cannot be read
// allows nothing; a deny rule that cannot be read denies all.
func (h Hosts) Verdict(host string, port int) Verdict {
	name := plainHost(host)
	if name == "" {
		return Denied
	}
	for _, text := range h.Deny {
		if r, ok := parseHost(text); !ok || r.matches(name, port) || r.meansAddress(name) {
			return Denied
		}
	}
	if slices.ContainsFunc(h.Allow, func(text string) bool {
		r, ok := parseHost(text)
		return ok && r.matches(name, port)
	}) {
		return Allowed
	}
	return Unknown
}

type hostRule struct {
	name  string // plain; "" for every host
	below bool   // names below it
	port  int    // 0: any
}

func parseHost(text string) (hostRule, bool) {
	text = strings.TrimSpace(text)
	name, port := text, 0
	if i := strings.LastIndexByte(text, ':'); i >= 0 && (strings.Count(text, ":") == 1 || text[i-1] == ']') {
		n, err := strconv.ParseUint(text[i+1:], 10, 16)
		if err != nil || n == 0 {
			return hostRule{}, false
		}
		name, port = text[:i], int(n)
	}
	if name == "*" {
		return hostRule{port: port}, true
	}
	name, below := strings.CutPrefix(name, "*.")
	name = plainHost(name)
	if name == "" || strings.ContainsAny(name, "*/@ ") {
		return hostRule{}, false
	}
	return hostRule{name: name, below: below, port: port}, true
}

// plainHost is the one spelling of a host: lower case, without a trailing dot,
// without brackets, addresses as netip writes them. "" for what is none.
func plainHost(host string) string {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if inner, ok := strings.CutPrefix(host, "["); ok {
		host = strings.TrimSuffix(inner, "]")
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().WithZone("").String()
	}
	if strings.ContainsAny(host, ":/@ \t\r\n\x00") {
		return ""
	}
	return host
}

func (r hostRule) matches(name string, port int) bool {
	if r.port != 0 && r.port != port {
		return false
	}
	if r.name == "" {
		return true
	}
	if r.below {
		return strings.HasSuffix(name, "."+r.name)
	}
	return name == r.name
}

// meansAddress is for deny rules: 127.1, 0x7f000001 and 2130706433 are spellings
// of an address that some resolvers accept. Any rule about an address denies
// them all, and no allow rule knows them.
func (r hostRule) meansAddress(name string) bool {
	if _, err := netip.ParseAddr(r.name); err != nil {
		return false
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return false
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	_, err := strconv.ParseUint(last, 0, 64)
	return err == nil
}
