package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/surface/web"
	"github.com/hew-agent/hew/internal/wiring"
)

// serving are the options of hew serve; all others are those of a run.
type serving struct {
	listen, password, cert, key, clients string
	hosts                                []string
	idle                                 time.Duration
	readOnly, noOpen, hash               bool
}

// readServing takes the options of hew serve out of the words.
func readServing(args []string) (s serving, rest []string, err error) {
	s = serving{listen: "127.0.0.1:0", idle: 12 * time.Hour}
	switches := map[string]*bool{"--read-only": &s.readOnly, "--no-open": &s.noOpen, "--hash-password": &s.hash}
	values := map[string]func(string) error{
		"--listen": set(&s.listen), "--password-file": set(&s.password), "--tls-cert": set(&s.cert), "--tls-key": set(&s.key), "--client-ca": set(&s.clients),
		"--host": func(v string) error {
			if v == "" || strings.ContainsFunc(v, foreignToHosts) {
				return &usageError{fmt.Sprintf("--host takes a name or an address without a port, not %q", plain.Line(v))}
			}
			s.hosts = append(s.hosts, strings.ToLower(v))
			return nil
		},
		"--idle": func(v string) error {
			d, err := time.ParseDuration(v)
			if err != nil || d <= 0 {
				return &usageError{fmt.Sprintf("--idle takes a duration such as 30m or 12h, not %q", v)}
			}
			s.idle = d
			return nil
		},
	}
	for i := 0; i < len(args); i++ {
		name, value, given := strings.Cut(args[i], "=")
		if on, ok := switches[name]; ok && !given {
			*on = true
			continue
		}
		put, ok := values[name]
		if !ok {
			rest = append(rest, args[i])
			continue
		}
		if !given {
			if i++; i == len(args) {
				return s, nil, &usageError{name + " needs a value"}
			}
			value = args[i]
		}
		if err := put(value); err != nil {
			return s, nil, err
		}
	}
	return s, rest, nil
}

func foreignToHosts(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '.' && r != ':'
}

func set(to *string) func(string) error {
	return func(v string) error { *to = v; return nil }
}

// runServe serves sessions to browsers and programs until a signal ends it.
func runServe(e Env, args []string) error {
	s, rest, err := readServing(args)
	if err != nil {
		return err
	}
	if s.hash {
		return hashPassword(e)
	}
	o, err := parse(rest)
	if err != nil {
		return err
	}
	if o.Prompt != "" || o.Resume != "" || o.Continue || o.Print {
		return &usageError{"hew serve takes options such as --listen, --model and --permission-mode; prompts and sessions come from its clients"}
	}
	secure()
	ctx, stop := signals(context.Background())
	defer stop()
	tr, err := openTrace(o.Trace)
	if err != nil {
		return err
	}
	defer tr.close()
	r := &headless{e: e, o: o, trace: tr}
	return r.ended(ctx, r.serve(ctx, s))
}

// serve listens and serves.
func (r *headless) serve(ctx context.Context, s serving) error {
	l, err := net.Listen("tcp", s.listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", s.listen, err)
	}
	defer func() { _ = l.Close() }() // closed by the server before, in most cases
	secrecy, err := s.tls()
	if err != nil {
		return err
	}
	addr := l.Addr().(*net.TCPAddr) // of a TCP listener
	if err := s.safe(addr.IP, secrecy != nil); err != nil {
		return err
	}
	entrance, err := s.entrance(addr, secrecy != nil)
	if err != nil {
		return err
	}
	w, err := r.wiring(nil)
	if err != nil {
		return err
	}
	w.Entrypoint, w.Defers, w.Events = "serve", false, true
	sessions, err := wiring.OpenSessions(wiring.Options{Version: Version(), Environ: r.e.Environ, Cwd: r.e.Dir, Sources: w.Sources, Settings: w.Settings, Notice: r.warn})
	if err != nil {
		return err
	}
	h := &served{r: r, w: w, audit: &audit{home: sessions.Home}}
	server, err := web.New(ctx, web.Config{
		Version: Version(), Home: sessions.Home, Cwd: sessions.Cwd, Entrance: entrance, ReadOnly: s.readOnly,
		Open: h.open, Folder: h.folder, Accept: h.accept, Files: suggest, Audit: h.note, Warn: r.warn, Now: time.Now, NewID: session.NewID,
	})
	if err != nil {
		return err
	}
	if secrecy != nil {
		l = tls.NewListener(l, secrecy)
	}
	defer r.announce(s, server, entrance, addr)()
	return listen(ctx, l, server)
}

// listen serves until ctx ends; then everything is closed.
func listen(ctx context.Context, l net.Listener, server *web.Server) error {
	hs := &http.Server{Handler: server, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	var end sync.WaitGroup
	served := make(chan error, 1)
	end.Go(func() { served <- hs.Serve(l) })
	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
	}
	err = errors.Join(err, server.Close(), hs.Close())
	end.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// announce tells the person where to look, and opens a browser if there is one;
// what that leaves behind is cleaned up at the end.
func (r *headless) announce(s serving, server *web.Server, e web.Entrance, addr *net.TCPAddr) (clean func()) {
	scheme := "http"
	if e.TLS {
		scheme = "https"
	}
	base := scheme + "://" + net.JoinHostPort(s.name(addr.IP), e.Port)
	who := "only this machine can reach it"
	if !addr.IP.IsLoopback() {
		who = "other machines can reach it"
		r.warn("whoever signs in, from any machine that reaches this one, can run programs here as you")
	}
	fmt.Fprintf(r.e.Stdout, "hew serves %s/ (%s)\n", base, who)
	if s.readOnly {
		fmt.Fprintln(r.e.Stdout, "nothing can be changed: --read-only")
	}
	fmt.Fprintf(r.e.Stdout, "open %s%s (works once, within 10 minutes)\n", base, server.Link())
	if s.noOpen {
		return func() {}
	}
	clean, err := openBrowser(r.e, base+server.Link())
	if err != nil {
		r.warn("no browser was opened: " + err.Error())
	}
	return clean
}

// name is how people call the server.
func (s serving) name(ip net.IP) string {
	switch {
	case len(s.hosts) > 0:
		return s.hosts[0]
	case ip.IsUnspecified():
		if h, err := os.Hostname(); err == nil {
			return h
		}
	}
	return ip.String()
}

// safe refuses to be reached by other machines without a lock on the door.
func (s serving) safe(ip net.IP, secret bool) error {
	if ip.IsLoopback() {
		return nil
	}
	if !secret || s.password == "" && s.clients == "" {
		return &usageError{fmt.Sprintf("%s can be reached by other machines, and whoever gets in can run programs here: that needs --tls-cert and --tls-key, and --password-file or --client-ca (docs/serve.md). "+
			"Or listen on 127.0.0.1 and come in through ssh -L", plain.Line(s.listen))}
	}
	return nil
}

// entrance says who may come in.
func (s serving) entrance(addr *net.TCPAddr, secret bool) (web.Entrance, error) {
	e := web.Entrance{Hosts: slices.Clone(s.hosts), Port: fmt.Sprint(addr.Port), TLS: secret, Idle: s.idle, Certificates: s.clients != ""}
	switch {
	case addr.IP.IsLoopback():
		e.Hosts = append(e.Hosts, "localhost", "127.0.0.1", "::1", addr.IP.String())
	case addr.IP.IsUnspecified():
		e.Hosts = append(e.Hosts, "localhost", "127.0.0.1", "::1", strings.ToLower(s.name(addr.IP)))
		all, err := net.InterfaceAddrs()
		if err != nil {
			return e, fmt.Errorf("find the addresses of this machine: %w", err)
		}
		for _, a := range all {
			if n, ok := a.(*net.IPNet); ok {
				e.Hosts = append(e.Hosts, n.IP.String())
			}
		}
	default:
		e.Hosts = append(e.Hosts, addr.IP.String())
	}
	if s.password == "" {
		return e, nil
	}
	check, err := passwords(s.password)
	e.Password = check
	return e, err
}

// tls is how the server proves who it is and keeps others from listening; nil
// when it does neither.
func (s serving) tls() (*tls.Config, error) {
	if s.cert == "" && s.key == "" && s.clients == "" {
		return nil, nil
	}
	if s.cert == "" || s.key == "" {
		return nil, &usageError{"--tls-cert and --tls-key go together, and --client-ca needs both"}
	}
	pair, err := tls.LoadX509KeyPair(s.cert, s.key)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert and --tls-key: %w", err)
	}
	c := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	if s.clients == "" {
		return c, nil
	}
	data, err := readOption(s.clients)
	if err != nil {
		return nil, fmt.Errorf("--client-ca: %w", err)
	}
	c.ClientCAs, c.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
	if s.password != "" { // a password is enough, too
		c.ClientAuth = tls.VerifyClientCertIfGiven
	}
	if !c.ClientCAs.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("--client-ca: %s holds no certificate in PEM form", s.clients)
	}
	return c, nil
}
