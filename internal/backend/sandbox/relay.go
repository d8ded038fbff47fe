package sandbox

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// relay is the proxy through which confined commands reach the network. It
// judges the host that a client names; TLS is not opened.
type relay struct {
	cfg    Config
	door   io.Closer // where listeners come in
	addr   string    // what clients connect to
	dialer net.Dialer
	server http.Server
	cut    context.CancelFunc // ends what is under way

	mu      sync.Mutex
	asked   map[string]*question
	granted map[string]bool
}

// question is one that somebody is being asked; others wait for its answer.
type question struct {
	done chan struct{}
	yes  bool
}

const (
	dialTimeout = 30 * time.Second
	// headerTimeout bounds what a client that sends nothing can hold.
	headerTimeout = 30 * time.Second
)

func newRelay(cfg Config) *relay {
	r := &relay{cfg: cfg, asked: map[string]*question{}, granted: map[string]bool{}}
	r.dialer = net.Dialer{Timeout: dialTimeout}
	life, cut := context.WithCancel(context.Background())
	r.cut = cut
	r.server = http.Server{Handler: r, ReadHeaderTimeout: headerTimeout, BaseContext: func(net.Listener) context.Context { return life }}
	return r
}

func (r *relay) url() string { return "http://" + r.addr }

func (r *relay) close() error {
	r.cut()
	var errs []error
	for _, c := range []io.Closer{&r.server, r.door} {
		// The server closes its listeners, and so does a command that ends.
		if err := c.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// ServeHTTP answers one request of a command.
func (r *relay) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	target, port := req.URL.Host, 80 // never the Host header
	if req.Method == http.MethodConnect {
		target, port = req.Host, 443
	}
	host, text, err := net.SplitHostPort(target)
	if err != nil {
		host = target
	} else if port, err = strconv.Atoi(text); err != nil || port < 1 || port > 65535 {
		http.Error(w, "hew sandbox: the port is no number from 1 to 65535", http.StatusBadRequest)
		return
	}
	if req.Method != http.MethodConnect && (req.URL.Scheme != "http" || req.URL.Host == "") {
		http.Error(w, "hew sandbox: this is a proxy; it takes CONNECT and http:// requests", http.StatusBadRequest)
		return
	}
	if !r.allows(req.Context(), host, port) {
		w.Header().Set("X-Hew-Sandbox", "blocked")
		http.Error(w, fmt.Sprintf("hew sandbox: %q is not an allowed host (sandbox.network.allowedDomains)", host), http.StatusForbidden)
		return
	}
	if req.Method == http.MethodConnect {
		r.tunnel(w, req, net.JoinHostPort(plainHost(host), strconv.Itoa(port)))
		return
	}
	r.forward(w, req)
}

// allows asks the rules, then what was answered before, then a person. A no is
// not remembered: the next command may ask again.
func (r *relay) allows(ctx context.Context, host string, port int) bool {
	switch r.cfg.Hosts.Verdict(host, port) {
	case Allowed:
		return true
	case Denied:
		return false
	case Unknown:
	}
	if r.cfg.Ask == nil {
		return false
	}
	key := net.JoinHostPort(plainHost(host), strconv.Itoa(port))
	r.mu.Lock()
	if r.granted[key] {
		r.mu.Unlock()
		return true
	}
	q, others := r.asked[key]
	if !others {
		q = &question{done: make(chan struct{})}
		r.asked[key] = q
	}
	r.mu.Unlock()
	if others {
		select {
		case <-q.done:
			return q.yes
		case <-ctx.Done():
			return false
		}
	}
	q.yes = r.cfg.Ask(ctx, plainHost(host), port)
	r.mu.Lock()
	delete(r.asked, key)
	if q.yes {
		r.granted[key] = true
	}
	r.mu.Unlock()
	close(q.done)
	return q.yes
}

// tunnel joins the client to host:port.
func (r *relay) tunnel(w http.ResponseWriter, req *http.Request, target string) {
	out, err := r.dial(req.Context(), "https", target)
	if err != nil {
		http.Error(w, "hew sandbox: "+err.Error(), http.StatusBadGateway)
		return
	}
	defer out.Close()
	in, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "hew sandbox: "+err.Error(), http.StatusInternalServerError)
		return
	}
	defer in.Close()
	stop := context.AfterFunc(req.Context(), func() { in.Close(); out.Close() })
	defer stop()
	if _, err := io.WriteString(in, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { pump(out, buffered.Reader) })
	both.Go(func() { pump(in, out) })
	both.Wait()
}

// pump copies until the source ends and tells the other side so.
func pump(to net.Conn, from io.Reader) {
	_, _ = io.Copy(to, from) // either side may go away at any time
	if half, ok := to.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		return
	}
	_ = to.Close()
}

// forward sends a plain request on. Whatever the client said to the proxy
// itself stays here.
func (r *relay) forward(w http.ResponseWriter, req *http.Request) {
	out := req.Clone(req.Context())
	out.RequestURI, out.Host = "", req.URL.Host
	for _, h := range []string{"Proxy-Connection", "Proxy-Authorization", "Connection", "Keep-Alive", "Te", "Trailer", "Upgrade"} {
		out.Header.Del(h)
	}
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
		return r.direct(ctx, addr)
	}}
	if up := r.upstream("http", req.URL.Host); up != nil {
		transport.Proxy = http.ProxyURL(up)
		transport.DialContext = r.dialer.DialContext
	}
	resp, err := transport.RoundTrip(out)
	if err != nil {
		http.Error(w, "hew sandbox: "+err.Error(), http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	maps.Copy(w.Header(), resp.Header)
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(w, resp.Body) // the client sees a short body, which is the truth
}

func (r *relay) upstream(scheme, hostPort string) *url.URL {
	if r.cfg.Upstream == nil {
		return nil
	}
	u, err := url.Parse(r.cfg.Upstream(scheme, hostPort))
	if err != nil || u.Host == "" {
		return nil
	}
	return u
}

// dial reaches a target, through the proxy that the machine itself must use.
func (r *relay) dial(ctx context.Context, scheme, target string) (net.Conn, error) {
	up := r.upstream(scheme, target)
	if up == nil {
		return r.direct(ctx, target)
	}
	addr := up.Host
	if up.Port() == "" {
		addr = net.JoinHostPort(up.Hostname(), "80")
	}
	if up.Scheme != "http" {
		return nil, fmt.Errorf("the proxy %s is not reached by http, which is all that the relay speaks", up.Redacted())
	}
	conn, err := r.dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: target}, Host: target, Header: http.Header{}}
	if up.User != nil {
		word, _ := up.User.Password()
		req.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(up.User.Username()+":"+word)))
	}
	if err := conn.SetDeadline(time.Now().Add(dialTimeout)); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if err := req.Write(conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	resp, err := http.ReadResponse(bufio.NewReaderSize(oneByte{conn}, 16), req)
	if err != nil || resp.StatusCode != http.StatusOK {
		if err == nil {
			err = fmt.Errorf("the proxy %s answers %s", addr, resp.Status)
		}
		return nil, errors.Join(err, conn.Close())
	}
	return conn, conn.SetDeadline(time.Time{})
}

// oneByte keeps a buffered reader from taking more than the answer's head.
type oneByte struct{ r io.Reader }

func (o oneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(1, len(p))]) }

// direct dials, but not from a name to this machine: an allowed name that
// resolves to a loopback address would open every local service.
func (r *relay) direct(ctx context.Context, target string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(target)
	if err != nil {
		return nil, err
	}
	d := r.dialer
	if _, err := netip.ParseAddr(host); err != nil && host != "localhost" {
		d.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
			a, err := netip.ParseAddrPort(address)
			if ip := a.Addr().Unmap(); err != nil || ip.IsLoopback() || ip.IsUnspecified() || ip.IsLinkLocalUnicast() {
				return fmt.Errorf("%s resolves to %s, an address of this machine or link; allow the address itself if that is meant", host, address)
			}
			return nil
		}
	}
	return d.DialContext(ctx, "tcp", target)
}
