// Package web is the served surface: HTTP, WebSocket and the page.
//
// It carries lines of stream-json between clients and conversations, and shows
// what they come to as views. It calls no model and no tool: a conversation is
// opened by a function that is handed in, and is steered by lines alone.
// docs/serve.md is the contract with clients.
package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/surface/view"
)

// Config makes a Server. What is not said to be optional is required.
type Config struct {
	Version string
	// Home is the configuration home, Cwd the folder in which the process stands.
	Home, Cwd string
	Entrance  Entrance
	// ReadOnly shows everything and changes nothing.
	ReadOnly bool
	// Open opens a conversation. ctx ends it; see Live.
	Open func(ctx context.Context, q Request, out Outlet) (*Live, error)
	// Folder says what a folder asks for, Accept records a person's yes to it.
	Folder func(cwd string) (Folder, error)
	Accept func(ctx context.Context, cwd string) error
	// Files are the files of a folder that fit what was typed, best first.
	Files func(ctx context.Context, cwd, typed string) ([]string, error)
	// Audit keeps what a client did.
	Audit func(Act)
	// Warn tells the person who started the process.
	Warn  func(text string)
	Now   func() time.Time
	NewID func() string
	// Limits; the zero value is Ordinary.
	Limits Limits
}

// Limits bound what clients can take.
type Limits struct {
	// Sockets are how many there may be at once, Message how long a message may
	// be, Window how many bytes of lines a session keeps.
	Sockets, Message, Window int
	// Stalled is how long a client may take nothing, Ping how often it is asked for
	// a sign of life, Sleep after what time without a client and without work a
	// conversation is closed.
	Stalled, Ping, Sleep time.Duration
}

// Ordinary are the limits of hew serve.
func Ordinary() Limits {
	return Limits{
		Sockets: 1024, Message: 16 << 20, Window: 4 << 20,
		Stalled: 30 * time.Second, Ping: 30 * time.Second, Sleep: 10 * time.Minute,
	}
}

// Request says which conversation to open: a new one with ID in the folder Cwd,
// or that of Resume.
type Request struct {
	ID, Cwd, Resume         string
	Name, Model, Permission string
	// Trusted uses what the folder asks for, for this conversation only.
	Trusted bool
}

// Outlet is where a conversation says what happens. Both may be called from any
// goroutine.
type Outlet struct {
	// Lines takes whole lines of stream-json.
	Lines io.Writer
	// Heard takes each event, in order.
	Heard func(event.Event)
}

// Live is an open conversation.
type Live struct {
	// ID is the session's id, which a clear changes.
	ID func() string
	// Say takes a line of a client. It does not wait.
	Say     func(line []byte) error
	Facts   func() Facts
	Outline func(*msg.ToolUse) view.Outline
	// Ended is closed when the conversation has ended by itself.
	Ended <-chan struct{}
	// Close ends it: what runs is interrupted, the session can be opened elsewhere.
	Close func() error
}

// Facts are what a conversation is like at the moment. Window is the size of its
// model's, in tokens.
type Facts struct {
	Mode, Model string
	Window      int
	CostUSD     float64
}

// Folder is what a folder would run or be granted without asking.
type Folder struct {
	// Open tells that somebody must agree first; Key is the folder that the yes is for.
	Open  bool
	Key   string
	Items []Item
}

// Item is one thing that a folder asks for.
type Item struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	File   string `json:"file,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// Act is something that a client did, for the audit log.
type Act struct {
	Time time.Time `json:"time"`
	// Op is login, refused_login, answer, open, close, rename, fork, remove, trust or rewind.
	Op      string `json:"op"`
	Client  string `json:"client"`
	Name    string `json:"name"`
	Remote  string `json:"remote,omitempty"`
	Session string `json:"session,omitempty"`
	// Of an answer: the question, the tool and its input, and what was said.
	Request  string `json:"request_id,omitempty"`
	Tool     string `json:"tool,omitempty"`
	Title    string `json:"title,omitempty"`
	Behavior string `json:"behavior,omitempty"`
	Detail   string `json:"detail,omitempty"`
}

// Server serves sessions. It is an http.Handler.
type Server struct {
	c     Config
	door  *door
	mux   *http.ServeMux
	page  *page
	count counters
	ctx   context.Context
	end   context.CancelFunc
	began time.Time

	mu    sync.Mutex
	rooms map[string]*room // by session id
	busy  sync.WaitGroup   // sockets and conversations
}

// New makes a server. Conversations end with ctx, at the latest by Close.
func New(ctx context.Context, c Config) (*Server, error) {
	if c.Limits == (Limits{}) {
		c.Limits = Ordinary()
	}
	p, err := newPage()
	if err != nil {
		return nil, err
	}
	s := &Server{c: c, door: newDoor(c.Entrance, c.Now), page: p, rooms: map[string]*room{}, began: c.Now()}
	s.ctx, s.end = context.WithCancel(ctx)
	s.mux = s.routes()
	s.busy.Go(s.tidy)
	return s, nil
}

// Link makes a one-time link, without the address of the server.
func (s *Server) Link() string { return "/login?token=" + s.door.token() }

// Close ends all conversations and sockets and waits for them.
func (s *Server) Close() error {
	s.end()
	var errs []error
	for _, r := range s.all() {
		errs = append(errs, r.sleep())
	}
	s.busy.Wait()
	return errors.Join(errs...)
}

// store is where sessions of the server's own folder are; it finds all others, too.
func (s *Server) store() session.Store {
	return session.Store{Home: s.c.Home, Project: session.Key(s.c.Cwd)}
}

func (s *Server) audit(g *guest, a Act) {
	a.Time = s.c.Now()
	if g != nil {
		a.Client, a.Name = g.id, g.name
	}
	s.c.Audit(a)
}
