package sandbox

import (
	"strings"
	"testing"
)

func TestVerdict(t *testing.T) {
	rules := Hosts{
		Allow: []string{"example.com", "*.go.dev", "api.test:8443", "192.0.2.7", "[2001:db8::1]:443", "EXAMPLE.org", "127.0.0.1:80"},
		Deny:  []string{"evil.go.dev", "*.evil.go.dev", "10.0.0.1"},
	}
	for _, c := range []struct {
		host string
		port int
		want Verdict
	}{
		{"example.com", 443, Allowed},
		{"EXAMPLE.com.", 80, Allowed},
		{"example.org", 1, Allowed},
		{"www.example.com", 443, Unknown},
		{"xexample.com", 443, Unknown},
		{"proxy.go.dev", 443, Allowed},
		{"go.dev", 443, Unknown},
		{"evil.go.dev", 443, Denied},
		{"a.evil.go.dev", 443, Denied},
		{"api.test", 8443, Allowed},
		{"api.test", 443, Unknown},
		{"192.0.2.7", 22, Allowed},
		{"2001:db8:0::1", 443, Allowed},
		{"[2001:db8::1]", 443, Allowed},
		{"2001:db8::1", 80, Unknown},
		{"::ffff:192.0.2.7", 22, Allowed},
		{"10.0.0.1", 80, Denied},
		{"::ffff:10.0.0.1", 80, Denied},
		{"10.1", 80, Denied},
		{"0x0a000001", 80, Denied},
		{"167772161", 80, Denied},
		{"127.1", 80, Denied}, // another spelling of an address, while some address is denied
		{"", 80, Denied},
		{"a b", 80, Denied},
		{"user@example.com", 80, Denied},
		{"example.com\r\nx", 80, Denied},
	} {
		if got := rules.Verdict(c.host, c.port); got != c.want {
			t.Errorf("%q:%d: %v, want %v", c.host, c.port, got, c.want)
		}
	}
	if (Hosts{Allow: []string{"*"}}).Verdict("any.test", 1) != Allowed {
		t.Error("* does not allow")
	}
	if (Hosts{Allow: []string{"*"}, Deny: []string{"a*b"}}).Verdict("any.test", 1) != Denied {
		t.Error("a deny rule that cannot be read does not deny all")
	}
}

func TestCheck(t *testing.T) {
	for _, bad := range []string{"", "a b", "http://x", "x:0", "x:70000", "x:y", "*.", "a*.b", "*.*.c", "x/y", "[::1]:x"} {
		if (Hosts{Allow: []string{bad}}).Check() == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
	if err := (Hosts{Allow: []string{"a", "*.b:1", "::1", "[::1]:2", "*"}}).Check(); err != nil {
		t.Error(err)
	}
}

// FuzzVerdict: an allow rule never speaks for more than its name, and a deny
// rule for the same name always wins.
func FuzzVerdict(f *testing.F) {
	for _, s := range []string{"example.com", "*.x", "[::1]:4", ":", "]:1", "*.[::1]", "1.2.3.4"} {
		f.Add(s, "example.com", 443)
	}
	f.Fuzz(func(t *testing.T, rule, host string, port int) {
		allowed := Hosts{Allow: []string{rule}}.Verdict(host, port) == Allowed
		if allowed && (Hosts{Allow: []string{rule}, Deny: []string{rule}}).Verdict(host, port) != Denied {
			t.Errorf("%q allows %q and does not deny it", rule, host)
		}
		if allowed && strings.ContainsAny(host, "@/\r\n\x00 ") {
			t.Errorf("%q allows %q", rule, host)
		}
	})
}
