// Package acp holds the Agent Client Protocol for editors.
//
// One process serves many sessions over JSON-RPC on standard input and output.
// Each session has a worker that runs its prompts one after the other; requests
// run beside the reader, so that a cancellation or an answer always gets through.
package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/core/command"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
)

// Request says which session to open.
type Request struct {
	// Resume is the id of a session to go on with, "" for a new one.
	Resume string
	Cwd    string
	// Servers is a JSON object of MCP servers as configuration files have it, "" for none.
	Servers     string
	Directories []string
	// Editor is the client: it answers questions and fills forms.
	Editor *Editor
}

// Live is an open session.
type Live struct {
	Engine   *engine.Engine
	Commands *command.Book
	// Ready waits for what the first request needs. Optional.
	Ready func(ctx context.Context)
	// Next waits for what the conversation goes on with by itself between two
	// runs; nil tells that there is nothing. Optional.
	Next func(ctx context.Context) *msg.Message
	// Modes and Models are what a person can choose.
	Modes  []Mode
	Models []Choice
	Close  func() error
}

// Past is a session that can be gone on with.
type Past struct {
	ID, Cwd, Title string
	Updated        time.Time
}

// ErrNoSession is in errors of Open and Remove about a session that does not exist.
var ErrNoSession = errors.New("there is no such session")

// Config makes an Agent. All fields are required unless they say otherwise.
type Config struct {
	In      io.Reader
	Out     io.Writer
	Version string
	// Open opens a session; ctx lives as long as the session may.
	Open func(ctx context.Context, r Request) (*Live, error)
	// List lists sessions of a folder, or of all folders for "", newest first.
	List func(cwd string) ([]Past, error)
	// Remove removes a session that is not open.
	Remove func(id string) error
	// Abandoned returns true once nobody reads the output any more, and false when
	// ctx ends. Optional.
	Abandoned func(ctx context.Context) bool
	// Warn tells the user's log of a notice.
	Warn func(text string)
	// Patience bounds how long a question may stay without an answer.
	Patience time.Duration
	Now      func() time.Time
	NewID    func() string
}

// Agent serves one client.
type Agent struct {
	c    Config
	conn *conn
	ctx  func() context.Context // of the connection

	mu       sync.Mutex
	client   initializeIn
	sessions map[string]*conversation
}

// Serve serves until the client closes the connection or ctx ends. Every session
// is closed before it returns.
func Serve(ctx context.Context, c Config) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a := &Agent{c: c, sessions: map[string]*conversation{}}
	a.ctx = func() context.Context { return ctx }
	a.conn = &conn{
		in: c.In, w: c.Out, serve: a.serve, notified: a.notified,
		pending: map[string]chan frame{}, serving: map[string]context.CancelCauseFunc{},
	}
	a.conn.bye = func(err error) { cancel(err) }
	var watch sync.WaitGroup
	if c.Abandoned != nil {
		watch.Go(func() {
			if c.Abandoned(ctx) {
				cancel(errClientGone)
			}
		})
	}
	err := a.conn.run(ctx)
	cancel(errClientGone)
	watch.Wait()
	if errors.Is(err, errClientGone) {
		err = nil // that is how every connection ends
	}
	for _, s := range a.all() {
		err = errors.Join(err, s.close())
	}
	return err
}

func (a *Agent) all() []*conversation {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []*conversation
	for _, s := range a.sessions {
		out = append(out, s)
	}
	return out
}

// followed is an answer after which something else is sent.
type followed struct {
	res  any
	then func()
}

type method func(ctx context.Context, params json.RawMessage) (func() (any, error), *Error)

// on makes a method of a function that takes typed parameters and may take its time.
func on[In any](do func(ctx context.Context, in In) (any, error)) method {
	return func(ctx context.Context, params json.RawMessage) (func() (any, error), *Error) {
		var in In
		if err := json.Unmarshal(params, &in); err != nil {
			return nil, badParams("the parameters: %v", err)
		}
		return func() (any, error) { return do(ctx, in) }, nil
	}
}

func (a *Agent) methods() map[string]method {
	return map[string]method{
		"initialize":                a.initialize,
		"authenticate":              on(a.authenticate),
		"logout":                    on(func(context.Context, empty) (any, error) { return empty{}, nil }),
		"session/new":               on(a.open),
		"session/load":              on(a.load),
		"session/resume":            on(a.resume),
		"session/list":              on(a.list),
		"session/delete":            on(a.remove),
		"session/close":             on(a.close),
		"session/prompt":            a.prompt,
		"session/set_mode":          on(a.setMode),
		"session/set_config_option": on(a.setOption),
	}
}

func (a *Agent) serve(ctx context.Context, name string, params json.RawMessage) (func() (any, error), *Error) {
	m, ok := a.methods()[name]
	if !ok {
		return nil, &Error{codeMethod, fmt.Sprintf("there is no method %q", name)}
	}
	return m(ctx, params)
}

func (a *Agent) notified(name string, params json.RawMessage) {
	var in sessionIn
	if name != "session/cancel" || json.Unmarshal(params, &in) != nil {
		return // notifications of newer clients are left
	}
	if s, err := a.session(in.ID); err == nil {
		s.cancel()
	}
}

func (a *Agent) initialize(_ context.Context, params json.RawMessage) (func() (any, error), *Error) {
	var in initializeIn
	if err := json.Unmarshal(params, &in); err != nil {
		return nil, badParams("the parameters: %v", err)
	}
	a.mu.Lock()
	a.client = in
	a.mu.Unlock()
	return func() (any, error) {
		return initializeOut{
			Version: protocolVersion, Auth: []struct{}{}, Agent: program{"hew", "hew", a.c.Version},
			Abilities: abilities{Load: true, Prompt: promptAbilities{Image: true, Embedded: true}, Servers: serverAbilities{HTTP: true, SSE: true}},
		}, nil
	}, nil
}

func (a *Agent) authenticate(_ context.Context, in struct {
	Method string `json:"methodId"`
},
) (any, error) {
	return nil, badParams("there is no authentication method %q: hew takes its key from the environment or its settings", in.Method)
}

// session finds an open session.
func (a *Agent) session(id string) (*conversation, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.sessions[id]; s != nil {
		return s, nil
	}
	return nil, &Error{codeNotFound, fmt.Sprintf("no session %q is open here", id)}
}

func (a *Agent) open(ctx context.Context, in sessionIn) (any, error) {
	in.ID = ""
	s, err := a.begin(ctx, in)
	if err != nil {
		return nil, err
	}
	return followed{s.facts(s.id), s.commands}, nil
}

func (a *Agent) load(ctx context.Context, in sessionIn) (any, error) {
	s, err := a.begin(ctx, in)
	if err != nil {
		return nil, err
	}
	s.replay()
	return followed{s.facts(""), s.commands}, nil
}

func (a *Agent) resume(ctx context.Context, in sessionIn) (any, error) {
	s, err := a.begin(ctx, in)
	if err != nil {
		return nil, err
	}
	return followed{s.facts(""), s.commands}, nil
}

// begin opens a session. One that is open here already is closed first: the
// client has lost it, or reloads it.
func (a *Agent) begin(ctx context.Context, in sessionIn) (*conversation, error) {
	if !filepath.IsAbs(in.Cwd) {
		return nil, badParams("cwd must be an absolute path, not %q", in.Cwd)
	}
	servers, err := configured(in.Servers)
	if err != nil {
		return nil, err
	}
	if in.ID != "" {
		if old, err := a.session(in.ID); err == nil {
			if err := a.drop(old); err != nil {
				return nil, err
			}
		}
	}
	s := newConversation(a)
	a.mu.Lock()
	s.editor = &Editor{a: a, s: s, client: a.client}
	a.mu.Unlock()
	live, err := a.c.Open(a.ctx(), Request{Resume: in.ID, Cwd: in.Cwd, Servers: servers, Directories: in.Directories, Editor: s.editor})
	switch {
	case errors.Is(err, ErrNoSession):
		return nil, &Error{codeNotFound, err.Error()}
	case err != nil:
		return nil, err
	}
	s.take(live)
	a.mu.Lock()
	a.sessions[s.id] = s
	a.mu.Unlock()
	go s.work(a.ctx()) // ends with the session, for which close waits
	return s, context.Cause(ctx)
}

// configured writes the client's MCP servers as configuration files have them.
func configured(list []server) (string, error) {
	if len(list) == 0 {
		return "", nil
	}
	all := map[string]any{}
	for _, s := range list {
		if s.Name == "" {
			return "", badParams("an MCP server has no name")
		}
		entry := map[string]any{"type": s.Type, "url": s.URL, "headers": table(s.Headers)}
		switch s.Type {
		case "", "stdio":
			entry = map[string]any{"command": s.Command, "args": append([]string{}, s.Args...), "env": table(s.Env)}
		case "http", "sse":
		default:
			return "", badParams("the MCP server %s is of the type %q; hew speaks stdio, http and sse", s.Name, s.Type)
		}
		all[s.Name] = entry
	}
	return string(msg.Encode(map[string]any{"mcpServers": all})), nil
}

func table(pairs []pair) map[string]string {
	out := map[string]string{}
	for _, p := range pairs {
		out[p.Name] = p.Value
	}
	return out
}

// page is how many sessions an answer lists.
const page = 100

func (a *Agent) list(_ context.Context, in struct {
	Cwd    string `json:"cwd"`
	Cursor string `json:"cursor"`
},
) (any, error) {
	all, err := a.c.List(in.Cwd)
	if err != nil {
		return nil, err
	}
	if in.Cursor != "" {
		at := slices.IndexFunc(all, func(p Past) bool { return p.ID == in.Cursor })
		if at < 0 {
			return nil, badParams("the cursor %q does not lead anywhere; list from the beginning", in.Cursor)
		}
		all = all[at+1:]
	}
	type row struct {
		ID      string `json:"sessionId"`
		Cwd     string `json:"cwd"`
		Title   string `json:"title,omitempty"`
		Updated string `json:"updatedAt,omitempty"`
	}
	out := struct {
		Sessions []row  `json:"sessions"`
		Next     string `json:"nextCursor,omitempty"`
	}{Sessions: []row{}}
	for i, p := range all {
		if i == page {
			out.Next = all[i-1].ID
			break
		}
		out.Sessions = append(out.Sessions, row{p.ID, p.Cwd, p.Title, p.Updated.UTC().Format(time.RFC3339)})
	}
	return out, nil
}

func (a *Agent) remove(_ context.Context, in sessionIn) (any, error) {
	if s, err := a.session(in.ID); err == nil {
		if err := a.drop(s); err != nil {
			return nil, err
		}
	}
	if err := a.c.Remove(in.ID); err != nil && !errors.Is(err, ErrNoSession) {
		return nil, err // what is gone already was removed
	}
	return empty{}, nil
}

func (a *Agent) close(_ context.Context, in sessionIn) (any, error) {
	s, err := a.session(in.ID)
	if err != nil {
		return nil, err
	}
	return empty{}, a.drop(s)
}

// drop closes a session and forgets it.
func (a *Agent) drop(s *conversation) error {
	a.mu.Lock()
	delete(a.sessions, s.id)
	a.mu.Unlock()
	return s.close()
}

var (
	_ event.Asker  = (*Editor)(nil)
	_ event.Filler = (*Editor)(nil)
)
