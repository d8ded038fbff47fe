package policy

import (
	"net/netip"
	"net/url"
	"strings"
)

// fetchHost returns the host that a fetch of raw really goes to, normalised for
// comparison. plain is false for anything but an ordinary http or https address:
// such an address is never covered by an allow rule.
func fetchHost(raw string) (host string, plain bool) {
	u, err := url.Parse(raw)
	if err != nil {
		return roughHost(raw), false
	}
	host = normalHost(u.Hostname())
	plain = (u.Scheme == "http" || u.Scheme == "https") && u.User == nil && host != "" &&
		!strings.ContainsAny(raw, "\\ \t\r\n") && !strings.ContainsAny(host, "%*@\\") && printableASCII(raw)
	return host, plain
}

func printableASCII(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// roughHost finds the host of an address that does not parse, for denials.
func roughHost(raw string) string {
	_, rest, ok := strings.Cut(raw, "//")
	if !ok {
		return ""
	}
	rest, _, _ = strings.Cut(strings.ReplaceAll(rest, `\`, "/"), "/")
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = rest[at+1:]
	}
	host, _, _ := strings.Cut(rest, ":")
	return normalHost(host)
}

func normalHost(h string) string {
	return strings.ToLower(strings.TrimSuffix(strings.TrimSpace(h), "."))
}

// hostMatch compares with the pattern of a domain rule: a leading "*." covers
// any depth below, "*" alone every host; elsewhere * stays inside one label.
func hostMatch(pattern, host string) bool {
	if pattern == "*" {
		return true
	}
	if rest, ok := strings.CutPrefix(pattern, "*."); ok && !strings.Contains(rest, "*") {
		return strings.HasSuffix(host, "."+rest) && len(host) > len(rest)+1
	}
	p, h := strings.Split(pattern, "."), strings.Split(host, ".")
	if len(p) != len(h) {
		return false
	}
	for i := range p {
		if !globMatch(p[i], h[i]) {
			return false
		}
	}
	return true
}

// metadataHost reports addresses that hand out credentials of the machine; a
// rule must name them to open them.
func metadataHost(host string) bool {
	switch host {
	case "metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal":
		return true
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return numericHost(host)
	}
	addr = addr.Unmap()
	return addr.IsLinkLocalUnicast() || addr == netip.MustParseAddr("fd00:ec2::254") || addr == netip.MustParseAddr("100.100.100.200")
}

// numericHost reports the other spellings of an address (one number, octal,
// hexadecimal): whatever they mean, they hide it.
func numericHost(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last != "" && strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x")
}
