package sandbox

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// proxied is a client of a relay without a sandbox around it.
func proxied(t *testing.T, cfg Config) *http.Client {
	t.Helper()
	r := newRelay(cfg)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.door, r.addr = l, l.Addr().String()
	go func() { _ = r.server.Serve(l) }()
	t.Cleanup(func() { _ = r.close() })
	proxy, err := url.Parse(r.url())
	if err != nil {
		t.Fatal(err)
	}
	tr := &http.Transport{Proxy: func(*http.Request) (*url.URL, error) { return proxy, nil }}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// fetch returns the body, or the error with what the proxy said.
func fetch(c *http.Client, url string) string {
	resp, err := c.Get(url)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return strconv.Itoa(resp.StatusCode) + " " + string(b)
}

func TestRelay(t *testing.T) {
	hello := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Proxy-Authorization") != "" {
			t.Error("what was meant for the proxy reached the server")
		}
		fmt.Fprint(w, "hello "+r.Host)
	})
	plain, secure := httptest.NewServer(hello), httptest.NewTLSServer(hello)
	defer plain.Close()
	defer secure.Close()
	host := strings.TrimPrefix(plain.URL, "http://")
	c := proxied(t, Config{Hosts: Hosts{Allow: []string{"127.0.0.1"}}})
	c.Transport.(*http.Transport).TLSClientConfig = secure.Client().Transport.(*http.Transport).TLSClientConfig
	for _, u := range []string{plain.URL, secure.URL} {
		if got := fetch(c, u); !strings.HasPrefix(got, "200 hello 127.0.0.1:") {
			t.Errorf("%s: %s", u, got)
		}
	}
	none := proxied(t, Config{Hosts: Hosts{Allow: []string{"127.0.0.1:1", "example.com"}}})
	for _, u := range []string{plain.URL, secure.URL} {
		if got := fetch(none, u); !strings.Contains(got, "Forbidden") && !strings.Contains(got, "not an allowed host") {
			t.Errorf("%s: %s", u, got)
		}
	}
	// A name must not lead to this machine.
	local := proxied(t, Config{Hosts: Hosts{Allow: []string{"*"}}})
	if got := fetch(local, "http://localhost.localdomain:"+host[strings.LastIndexByte(host, ':')+1:]); strings.HasPrefix(got, "200") {
		t.Errorf("a name led to loopback: %s", got)
	}
}

func TestRelayAsks(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	var asked atomic.Int32
	answer := make(chan bool)
	c := proxied(t, Config{Hosts: Hosts{Deny: []string{"denied.test"}}, Ask: func(_ context.Context, host string, port int) bool {
		asked.Add(1)
		if host != "127.0.0.1" || port == 0 {
			t.Errorf("asked about %s:%d", host, port)
		}
		return <-answer
	}})
	go func() { answer <- false }()
	if got := fetch(c, server.URL); !strings.HasPrefix(got, "403") {
		t.Errorf("after a no: %s", got)
	}
	var all sync.WaitGroup
	for range 4 { // one question for all of them
		all.Go(func() {
			if got := fetch(c, server.URL); !strings.HasPrefix(got, "200") {
				t.Errorf("after a yes: %s", got)
			}
		})
	}
	answer <- true
	all.Wait()
	if got := fetch(c, server.URL); !strings.HasPrefix(got, "200") {
		t.Errorf("a yes is not remembered: %s", got)
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("asked %d times, want 2", n)
	}
	if got := fetch(c, "http://denied.test/"); !strings.HasPrefix(got, "403") {
		t.Errorf("denied: %s", got)
	}
}

func TestRelayGoesThroughTheMachinesProxy(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "through") }))
	defer server.Close()
	var seen atomic.Value
	outer := newRelay(Config{Hosts: Hosts{Allow: []string{"*"}}})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Store(r.Method + " " + r.Header.Get("Proxy-Authorization"))
		outer.ServeHTTP(w, r)
	}))
	defer upstream.Close()
	at := strings.TrimPrefix(upstream.URL, "http://")
	c := proxied(t, Config{Hosts: Hosts{Allow: []string{"127.0.0.1"}}, Upstream: func(scheme, target string) string {
		if scheme != "https" || target == "" {
			t.Errorf("asked for %s %s", scheme, target)
		}
		return "http://me:word@" + at
	}})
	c.Transport.(*http.Transport).TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig
	if got := fetch(c, server.URL); got != "200 through" {
		t.Error(got)
	}
	if got := seen.Load(); got != "CONNECT Basic bWU6d29yZA==" {
		t.Errorf("the proxy saw %v", got)
	}
}
