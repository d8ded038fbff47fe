package web

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/backend/plain"
)

// Entrance says who may come in.
type Entrance struct {
	// Hosts are the names, without a port, by which browsers may call the server.
	Hosts []string
	// Port makes the cookie's name: cookies know no ports.
	Port string
	// TLS tells that the server speaks it.
	TLS bool
	// Idle is after how long without a word a client is signed out.
	Idle time.Duration
	// Password checks one; nil when nobody has one. It may take its time.
	Password func(string) bool
	// Certificates lets in whoever has proved to own one that TLS has verified.
	Certificates bool
}

const (
	linkLife  = 10 * time.Minute
	maxLinks  = 16
	maxGuests = 256
	maxName   = 60
	// freeTries are how many wrong tries of an address are free; each further one
	// doubles the wait, up to maxWait.
	freeTries = 5
	maxWait   = 5 * time.Minute
	maxTriers = 4096
)

// guest is a client that has signed in.
type guest struct {
	id, name string
	remote   string

	mu   sync.Mutex
	seen time.Time
	gone chan struct{} // closed when it is signed out
	left bool
}

func (g *guest) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.left {
		g.left = true
		close(g.gone)
	}
}

// said notes a word of the guest.
func (g *guest) said(now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seen = now
}

func (g *guest) silent(now time.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return now.Sub(g.seen)
}

// door knows who has signed in. Secrets are kept as digests only.
type door struct {
	e   Entrance
	now func() time.Time

	mu     sync.Mutex
	links  map[digest]time.Time // one-time tokens and when they end
	guests map[digest]*guest    // by cookie or certificate
	tries  map[string]*try      // by address
	serial int
	check  sync.Mutex // one password at a time
}

type (
	digest [sha256.Size]byte
	try    struct {
		n     int
		until time.Time
	}
)

func newDoor(e Entrance, now func() time.Time) *door {
	return &door{e: e, now: now, links: map[digest]time.Time{}, guests: map[digest]*guest{}, tries: map[string]*try{}}
}

// secret is 256 random bits.
func secret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// token makes a one-time token. When there are many, the oldest ends.
func (d *door) token() string {
	t, now := secret(), d.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	var oldest digest
	for k, until := range d.links {
		if now.After(until) {
			delete(d.links, k)
		} else if o, ok := d.links[oldest]; !ok || until.Before(o) {
			oldest = k
		}
	}
	if len(d.links) >= maxLinks {
		delete(d.links, oldest)
	}
	d.links[sha256.Sum256([]byte(t))] = now.Add(linkLife)
	return t
}

// spend uses a one-time token up and tells whether it was good.
func (d *door) spend(token string) bool {
	k := sha256.Sum256([]byte(token))
	d.mu.Lock()
	defer d.mu.Unlock()
	until, ok := d.links[k]
	delete(d.links, k)
	return ok && !d.now().After(until)
}

// wait is how long an address must wait before it may try again.
func (d *door) wait(address string) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.tries[address]
	if t == nil {
		return 0
	}
	return max(0, t.until.Sub(d.now()))
}

// failed counts a wrong try.
func (d *door) failed(address string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	if len(d.tries) >= maxTriers {
		for k, t := range d.tries {
			if now.After(t.until.Add(maxWait)) {
				delete(d.tries, k)
			}
		}
	}
	t := d.tries[address]
	if t == nil || now.After(t.until.Add(maxWait)) && t.n > 0 {
		t = &try{}
		d.tries[address] = t
	}
	t.n++
	t.until = now
	if t.n >= freeTries {
		t.until = now.Add(min(maxWait, time.Second<<min(t.n-freeTries, 10)))
	}
}

// password checks one, one at a time: a hash is meant to be slow.
func (d *door) password(p string) bool {
	if d.e.Password == nil || p == "" {
		return false
	}
	d.check.Lock()
	defer d.check.Unlock()
	return d.e.Password(p)
}

// admit makes a guest and the cookie that it is known by.
func (d *door) admit(name, remote string) (*guest, string) {
	cookie := secret()
	return d.enter(sha256.Sum256([]byte(cookie)), name, remote), cookie
}

// enter makes a guest known by a key. When there are very many, the one that was
// silent longest is signed out.
func (d *door) enter(k digest, name, remote string) *guest {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	var oldest digest
	longest := time.Duration(-1)
	for k, g := range d.guests {
		if s := g.silent(now); s > longest {
			oldest, longest = k, s
		}
	}
	if len(d.guests) >= maxGuests {
		d.guests[oldest].leave()
		delete(d.guests, oldest)
	}
	d.serial++
	g := &guest{id: fmt.Sprintf("c%d", d.serial), name: clean(name), remote: remote, seen: now, gone: make(chan struct{})}
	if g.name == "" {
		g.name = "client " + g.id
	}
	d.guests[k] = g
	return g
}

// clean makes a name of a client fit to be shown.
func clean(name string) string {
	return plain.Line(plain.Cut(strings.Join(strings.Fields(name), " "), maxName))
}

// known is the guest behind a request, nil for a stranger. Asking counts as a word.
func (d *door) known(r *http.Request) *guest {
	if d.e.Certificates && r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		return d.certified(r)
	}
	c, err := r.Cookie(d.cookieName())
	if err != nil {
		return nil
	}
	return d.find(sha256.Sum256([]byte(c.Value)))
}

func (d *door) find(k digest) *guest {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := d.guests[k]
	if g == nil {
		return nil
	}
	now := d.now()
	if g.silent(now) > d.e.Idle {
		g.leave()
		delete(d.guests, k)
		return nil
	}
	g.said(now)
	return g
}

func (d *door) certified(r *http.Request) *guest {
	cert := r.TLS.VerifiedChains[0][0]
	k := sha256.Sum256(append([]byte("certificate "), cert.Raw...))
	if g := d.find(k); g != nil {
		return g
	}
	return d.enter(k, cert.Subject.CommonName, address(r))
}

// dismiss signs a guest out.
func (d *door) dismiss(g *guest) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for k, have := range d.guests {
		if have == g {
			delete(d.guests, k)
		}
	}
	g.leave()
}

func (d *door) cookieName() string {
	if d.e.TLS {
		return "__Host-hew-" + d.e.Port
	}
	return "hew-" + d.e.Port
}

func (d *door) cookie(value string) *http.Cookie {
	c := &http.Cookie{Name: d.cookieName(), Value: value, Path: "/", HttpOnly: true, Secure: d.e.TLS, SameSite: http.SameSiteStrictMode}
	if value == "" {
		c.MaxAge = -1
	}
	return c
}

// address is where a request comes from, without the port.
func address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
