package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/session"
)

// Close codes of the socket beside those of the protocol.
const (
	codeSignedOut websocket.StatusCode = 4001
	codeRemoved   websocket.StatusCode = 4004
)

// client is one socket. Its reader and its writer are two goroutines; the writer
// reads the session's log from its own place.
type client struct {
	room  *room
	guest *guest
	conn  *websocket.Conn
	lines bool
	views bool
	wake  chan struct{}
	end   context.CancelCauseFunc

	// seq, frame and draft are what was sent: the writer's alone, but for draft,
	// which the room's lock guards.
	seq   int
	frame *frame
	draft int

	mu   sync.Mutex
	own  [][]byte // what is for this client alone
	size int      // of own, in bytes
}

// maxOwn bounds what waits for a client alone: answers to its requests, in bytes.
const maxOwn = 32 << 20

func (c *client) stir() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// tell puts a message for this client alone. Whoever asks and does not read is cut off.
func (c *client) tell(message []byte) {
	c.mu.Lock()
	c.own = append(c.own, message)
	c.size += len(message)
	full := c.size > maxOwn
	c.mu.Unlock()
	if full {
		c.end(errStalled)
	}
	c.stir()
}

func (c *client) next() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.own) == 0 {
		return nil
	}
	m := c.own[0]
	c.own = c.own[1:]
	c.size -= len(m)
	return m
}

var (
	errStalled   = errors.New("the client takes nothing")
	errSignedOut = errors.New("signed out")
	errRemoved   = errors.New("the session was removed")
)

// socket connects a client to a session.
func (s *Server) socket(w http.ResponseWriter, r *http.Request, g *guest) (any, error) {
	m, leave, err := s.visit(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	defer leave()
	if s.count.sockets.Add(1) > int64(s.c.Limits.Sockets) {
		s.count.sockets.Add(-1)
		w.Header().Set("Retry-After", "10")
		return nil, refuse(http.StatusServiceUnavailable, "full", "there are %d sockets already", s.c.Limits.Sockets)
	}
	defer s.count.sockets.Add(-1)
	conn, err := websocket.Accept(w, r, nil) // checks the origin once more
	if err != nil {
		return nil, nil // Accept has answered
	}
	conn.SetReadLimit(int64(s.c.Limits.Message))
	c := &client{room: m, guest: g, conn: conn, wake: make(chan struct{}, 1)}
	for want := range strings.SplitSeq(r.URL.Query().Get("want"), ",") {
		c.views = c.views || want == "view"
		c.lines = c.lines || want == "lines"
	}
	c.lines = c.lines || !c.views
	s.busy.Add(1)
	defer s.busy.Done()
	c.serve(r.URL.Query().Get("after"))
	return nil, nil
}

// serve runs the socket until it ends.
func (c *client) serve(after string) {
	m := c.room
	ctx, end := context.WithCancelCause(m.s.ctx)
	defer end(nil)
	c.end = end
	read := make(chan error, 1)
	m.mu.Lock()
	c.begin(after)
	m.clients[c] = true
	m.mu.Unlock()
	// Reading ends with the connection: a context that ends would close it before
	// the client is told why.
	go func() { read <- c.read(context.WithoutCancel(ctx)) }()
	err := c.write(ctx, read)
	m.mu.Lock()
	delete(m.clients, c)
	m.mu.Unlock()
	c.part(err)
}

// part closes the connection with the reason.
func (c *client) part(err error) {
	switch {
	case errors.Is(err, errSignedOut):
		_ = c.conn.Close(codeSignedOut, "signed out")
	case errors.Is(err, errRemoved):
		_ = c.conn.Close(codeRemoved, "the session was removed")
	case errors.Is(err, errStalled):
		c.room.s.count.stalled.Add(1)
	case c.room.s.ctx.Err() != nil:
		_ = c.conn.Close(websocket.StatusGoingAway, "the server has ended")
	}
	_ = c.conn.CloseNow() // closed already, or nothing more can be said
}

// begin finds the client's place and greets it. m.mu is held.
func (c *client) begin(after string) {
	m := c.room
	c.seq, c.draft = m.log.last(), m.draft.Rev
	if epoch, seq, ok := strings.Cut(after, ":"); ok && epoch == m.epoch {
		if n, err := strconv.Atoi(seq); err == nil && n >= 0 && n < c.seq {
			c.seq = n
		}
	}
	r := m.row
	r.State, r.Questions, r.Clients = m.now(), len(m.asked.open), len(m.clients)+1
	var f Facts
	if l := m.live.Load(); l != nil {
		f = l.Facts()
	}
	c.tell(msg.Encode(map[string]any{
		"type": "hello", "client": c.guest.id, "session": r, "epoch": m.epoch, "seq": m.log.last(), "first": m.log.first, "mode": f.Mode, "model": f.Model,
		"draft": m.draft, "read_only": m.s.c.ReadOnly, "version": m.s.c.Version, "page": m.s.page.name, "now": m.s.c.Now().UnixMilli(),
	}))
	for _, q := range m.asked.open {
		c.tell(q.line)
	}
}

// write sends what is new until something ends the connection.
func (c *client) write(ctx context.Context, read <-chan error) error {
	ping := time.NewTicker(c.room.s.c.Limits.Ping)
	defer ping.Stop()
	show := time.NewTimer(0)
	defer show.Stop()
	due, sent := true, time.Time{}
	for {
		if err := c.flush(ctx); err != nil {
			return err
		}
		if c.views && due {
			if err := c.see(ctx); err != nil {
				return err
			}
			due, sent = false, time.Now()
		}
		select {
		case <-c.wake:
			if rest := pace - time.Since(sent); rest > 0 {
				show.Reset(rest)
			} else {
				due = true
			}
		case <-show.C:
			due = true
		case <-ping.C:
			if err := c.alive(ctx); err != nil {
				return err
			}
		case <-c.guest.gone:
			return errSignedOut
		case err := <-read:
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// alive asks for a sign of life, and signs out whoever was silent for long.
func (c *client) alive(ctx context.Context) error {
	s := c.room.s
	if c.guest.silent(s.c.Now()) > s.c.Entrance.Idle {
		s.door.dismiss(c.guest)
		return errSignedOut
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.c.Limits.Stalled, errStalled)
	defer cancel()
	if err := c.conn.Ping(ctx); err != nil {
		return errors.Join(err, context.Cause(ctx))
	}
	return nil
}

// flush sends what is for this client alone, and the lines behind its place.
func (c *client) flush(ctx context.Context) error {
	for own := c.next(); own != nil; own = c.next() {
		if err := c.send(ctx, own); err != nil {
			return err
		}
	}
	m := c.room
	for {
		m.mu.Lock()
		batch, next, gap := m.log.after(c.seq)
		var lost map[string]bool
		if gap {
			lost = m.log.missing(c.seq)
		}
		d, stale := m.draft, m.draft.Rev != c.draft
		c.draft = m.draft.Rev
		m.mu.Unlock()
		if stale {
			if err := c.send(ctx, msg.Encode(map[string]any{"type": "draft", "text": d.Text, "rev": d.Rev, "client": d.by})); err != nil {
				return err
			}
		}
		if gap {
			if err := c.recall(ctx, next, lost); err != nil {
				return err
			}
		}
		for _, e := range batch {
			if c.lines || e.question {
				if err := c.send(ctx, e.data); err != nil {
					return err
				}
			}
		}
		done := c.seq == next
		c.seq = next
		if done {
			return nil
		}
	}
}

// recall sends from the transcript what the log has dropped.
func (c *client) recall(ctx context.Context, next int, lost map[string]bool) error {
	if !c.lines {
		return nil
	}
	if err := c.send(ctx, msg.Encode(map[string]any{"type": "gap", "after": c.seq, "next": next + 1})); err != nil {
		return err
	}
	c.room.mu.Lock()
	id := c.room.id
	c.room.mu.Unlock()
	if len(lost) == 0 {
		return nil
	}
	sum, err := c.room.s.find(id)
	if err != nil { // what was said cannot be shown; what follows can
		c.fail("", err)
		return nil
	}
	_, err = session.Replay(sum.Path, func(e session.Entry) error {
		if !lost[e.ID] {
			return nil
		}
		if line := pastLine(id, e); line != nil {
			return c.send(ctx, line)
		}
		return nil
	})
	return err
}

// see sends what has changed of what there is to see.
func (c *client) see(ctx context.Context) error {
	f, data := c.room.look(c.frame)
	c.frame = f
	if data == nil {
		return nil
	}
	return c.send(ctx, data)
}

// send writes one message. The connection ends when the client takes nothing.
func (c *client) send(ctx context.Context, message []byte) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.room.s.c.Limits.Stalled, errStalled)
	defer cancel()
	if err := c.conn.Write(ctx, websocket.MessageText, message); err != nil {
		return errors.Join(err, context.Cause(ctx))
	}
	c.room.s.count.sent.Add(1)
	return nil
}
