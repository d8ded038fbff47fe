//lint:file-ignore SA1019 the newest protocol gives up roots and sampling; the servers of today use them

package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Server is one server of a Set.
type Server struct {
	set   *Set
	entry Entry
	name  string        // normalised
	tried chan struct{} // closed after the first attempt
	wake  chan struct{} // asks for an attempt at once
	quit  chan struct{}
	gone  chan struct{} // closed when live has returned
	once  sync.Once
	calls calls

	mu        sync.Mutex
	state     State
	detail    string
	secrets   *strings.Replacer // what no detail may hold
	changed   chan struct{}     // closed at the next change of state
	client    *sdk.Client
	session   *sdk.ClientSession
	tools     []Tool
	prompts   []Prompt
	resources []Resource
	stale     chan struct{} // asks for fresh lists
	dirty     int           // changes that were announced; the lists are as of clean
	clean     int
}

func newServer(s *Set, e Entry, name string) *Server {
	return &Server{
		set: s, entry: e, name: name, state: Pending, tried: make(chan struct{}), wake: make(chan struct{}, 1),
		quit: make(chan struct{}), gone: make(chan struct{}), changed: make(chan struct{}), stale: make(chan struct{}, 1),
	}
}

// Entry is the configuration; Name is the normalised name.
func (o *Server) Entry() Entry { return o.entry }

// Name is the server's name as tools have it.
func (o *Server) Name() string { return o.name }

// Status is how the server is doing.
func (o *Server) Status() Status {
	o.mu.Lock()
	defer o.mu.Unlock()
	st := Status{
		Name: o.entry.Name, Scope: o.entry.Scope, State: o.state, Detail: o.detail,
		Tools: len(o.tools), Prompts: len(o.prompts), Resources: len(o.resources),
	}
	if o.session == nil {
		return st
	}
	if r := o.session.InitializeResult(); r != nil {
		st.ProtocolVersion = line(r.ProtocolVersion, 40)
		if r.ServerInfo != nil {
			st.Server, st.Version = line(r.ServerInfo.Name, 80), line(r.ServerInfo.Version, 40)
		}
	}
	return st
}

// Instructions are the server's words about its use, "" for none or when it is
// not connected.
func (o *Server) Instructions() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.session == nil || o.session.InitializeResult() == nil {
		return ""
	}
	return strings.TrimSpace(clean(o.session.InitializeResult().Instructions, maxText))
}

// HasResources tells whether the server, connected, offers resources.
func (o *Server) HasResources() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.session == nil || o.session.InitializeResult() == nil {
		return false
	}
	c := o.session.InitializeResult().Capabilities
	return c != nil && c.Resources != nil
}

// offers is what the server contributes now; nothing while it is not connected.
func (o *Server) offers() ([]Tool, []Prompt) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.state != Connected {
		return nil, nil
	}
	return o.tools, o.prompts
}

func (o *Server) turn(st State, detail string) {
	o.mu.Lock()
	if o.secrets != nil {
		detail = o.secrets.Replace(detail)
	}
	o.state, o.detail = st, detail
	close(o.changed)
	o.changed = make(chan struct{})
	o.mu.Unlock()
	o.set.touch()
}

func (o *Server) stop() {
	o.once.Do(func() { close(o.quit) })
	<-o.gone
}

// Reconnect asks for a new attempt when the server is not connected.
func (o *Server) Reconnect() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// live connects the server, watches the connection, and connects again. A
// process that ended is started anew when somebody needs it, at the earliest
// after a pause that doubles; a remote server is tried again by itself.
func (o *Server) live(ctx context.Context) {
	defer close(o.gone)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, cancel)
	defer stop()
	go func() { // ends with ctx, which ends with this function
		select {
		case <-o.quit:
			cancel()
		case <-ctx.Done():
		}
	}()
	var once sync.Once
	fails, delay := 0, firstBackoff
	for ctx.Err() == nil {
		began := o.set.c.Now()
		l, err := o.connect(ctx)
		if err == nil {
			fails = 0
			if o.watch(ctx, l, &once); ctx.Err() != nil {
				break
			}
		} else {
			o.turn(failure(err, l), describe(err, l))
			fails++
		}
		once.Do(func() { close(o.tried) })
		if o.set.c.Now().Sub(began) > greatestDelay {
			delay = firstBackoff
		}
		if !o.pause(ctx, err, fails, delay) {
			break
		}
		delay = min(2*delay, greatestDelay)
	}
	once.Do(func() { close(o.tried) })
}

// watch follows a connection to its end.
func (o *Server) watch(ctx context.Context, l *link, once *sync.Once) {
	defer l.close()
	o.mu.Lock()
	o.client, o.session, o.clean = l.client, l.session, o.dirty
	o.mu.Unlock()
	o.refresh(ctx)
	o.turn(Connected, "")
	once.Do(func() { close(o.tried) })
	ended := make(chan error, 1)
	go func() { ended <- l.session.Wait() }() // ends when l is closed
	for {
		select {
		case <-o.stale:
			o.mu.Lock()
			upTo := o.dirty
			o.mu.Unlock()
			o.refresh(ctx)
			o.relisted(upTo)
		case err := <-ended:
			o.lost()
			if p, ok := l.frames.(*stdio); ok {
				p.settle()
			}
			o.turn(Failed, describe(orErr(err, errors.New("the connection has ended")), l))
			return
		case <-ctx.Done():
			o.lost()
			return
		}
	}
}

// announced notes that the server has something else to offer.
func (o *Server) announced() {
	o.mu.Lock()
	o.dirty++
	o.mu.Unlock()
	select {
	case o.stale <- struct{}{}:
	default:
	}
}

// relisted notes that the lists hold all that was announced before they were asked for.
func (o *Server) relisted(upTo int) {
	o.mu.Lock()
	o.clean = upTo
	close(o.changed)
	o.changed = make(chan struct{})
	o.mu.Unlock()
	o.set.touch()
}

func (o *Server) lost() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.client, o.session = nil, nil
}

func orErr(err, def error) error {
	if err == nil {
		return def
	}
	return err
}

// pause waits for the time of the next attempt; false when there will be none.
func (o *Server) pause(ctx context.Context, err error, fails int, delay time.Duration) bool {
	tries := returnTries
	if err != nil && fails > 0 {
		tries = connectTries
	}
	byItself := o.entry.Remote() && fails < tries && (err == nil || passing(err))
	if !byItself {
		select {
		case <-o.wake:
		case <-ctx.Done():
			return false
		}
	}
	if o.set.c.Sleep(ctx, delay) != nil {
		return false
	}
	o.turn(Pending, "")
	return true
}

// orCause prefers the reason why ctx has ended to what came of it.
func orCause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// link is one connection.
type link struct {
	cancel  func()
	client  *sdk.Client
	session *sdk.ClientSession
	web     *web
	frames  Frames
}

func (l *link) close() {
	if l == nil {
		return
	}
	if l.session != nil {
		_ = l.session.Close() // says "signal: terminated" of a process that was ended
	}
	if l.frames != nil {
		_ = l.frames.Close()
	}
	l.cancel()
}

// connect makes a connection. The SDK may need longer than the time allowed to
// give up, so nobody waits for it: what comes too late is closed.
func (o *Server) connect(ctx context.Context) (*link, error) {
	e, missing := o.entry.Expand(o.set.c.Lookup)
	if len(missing) > 0 {
		o.set.c.Notice(fmt.Sprintf("MCP server %q: not set, so left as they stand: %s", o.entry.Name, strings.Join(missing, ", ")))
	}
	o.mu.Lock()
	o.secrets = secretsOf(e)
	o.mu.Unlock()
	// The context lives as long as the connection: that of SSE is a request.
	ctx, cancel := context.WithCancelCause(ctx)
	l := &link{client: o.newClient(), cancel: func() { cancel(nil) }}
	late := time.AfterFunc(o.set.c.Connect, func() { cancel(context.DeadlineExceeded) })
	defer late.Stop()
	var t sdk.Transport
	var err error
	if t, l.web, l.frames, err = o.set.c.dial(ctx, e); err != nil {
		err = orCause(ctx, err)
		l.close()
		return l, err
	}
	type made struct {
		session *sdk.ClientSession
		err     error
	}
	got := make(chan made, 1)
	o.set.wg.Go(func() {
		s, err := l.client.Connect(ctx, t, connectOptions(e))
		got <- made{s, err}
	})
	select {
	case m := <-got:
		if l.session = m.session; m.err != nil {
			err = orCause(ctx, m.err)
			l.close()
			return l, err
		}
		if !late.Stop() {
			l.close()
			return l, context.DeadlineExceeded
		}
		return l, nil
	case <-ctx.Done():
		err = context.Cause(ctx)
		l.close()
		go func() { // bounded by the closed connection and the ended context
			if m := <-got; m.session != nil {
				_ = m.session.Close()
			}
		}()
		return l, err
	}
}

// connectOptions begins with the handshake that every server knows. Over HTTP
// a server that does not know a newer one says so at once; a process may well
// say nothing.
func connectOptions(e Entry) *sdk.ClientSessionOptions {
	if e.Transport == HTTP {
		return nil
	}
	return &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"}
}

// failure is the state after a failed attempt.
func failure(_ error, l *link) State {
	if l != nil && l.web != nil && l.web.status() != 0 {
		return NeedsAuth
	}
	return Failed
}

// describe says what went wrong, with a process's last words.
func describe(err error, l *link) string {
	if l != nil && l.web != nil && l.web.status() != 0 {
		return fmt.Sprintf("it refused the request (HTTP %d); it may need a login: hew mcp login NAME", l.web.status())
	}
	text := err.Error()
	if errors.Is(err, context.DeadlineExceeded) {
		text = "it did not answer in time (MCP_TIMEOUT)"
	}
	if l != nil {
		if p, ok := l.frames.(*stdio); ok {
			if o := p.obituary(); o != "" {
				text = "the process ended: " + o
			}
		}
	}
	return line(text, 600)
}

// passing tells whether a failure may go away by itself.
func passing(err error) bool {
	var ue *url.Error
	if errors.As(err, &ue) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	for _, s := range []string{"Internal Server Error", "Bad Gateway", "Service Unavailable", "Gateway Timeout", "Too Many Requests"} {
		if strings.Contains(err.Error(), s) { // the SDK gives the status as text only
			return true
		}
	}
	return false
}

func rootOf(dir string) *sdk.Root {
	return &sdk.Root{URI: (&url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}).String(), Name: filepath.Base(dir)}
}

func (o *Server) reroot(dirs []string) {
	o.mu.Lock()
	c := o.client
	o.mu.Unlock()
	if c == nil {
		return
	}
	now := map[string]bool{}
	for _, d := range dirs {
		r := rootOf(d)
		now[r.URI] = true
		c.AddRoots(r)
	}
	for _, d := range o.set.c.Roots {
		if r := rootOf(d); !now[r.URI] {
			c.RemoveRoots(r.URI)
		}
	}
}
