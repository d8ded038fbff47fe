// Package lsp talks to language servers: starts them, keeps them told of files, and asks them.
//
// A server is a program that a plugin brings. It is started when a file of its
// languages is asked about or edited, never before; it may print garbage, fall
// silent or die, and costs no more than the call that it was asked for.
package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/backend/shell"
)

// Server is how a language server is started.
type Server struct {
	Name string
	// Argv is the program, by absolute path, and its arguments.
	Argv []string
	Env  map[string]string
	// Languages maps the ends of file names (".go") to language ids.
	Languages map[string]string
	// Options and Settings are passed to the server as they are.
	Options, Settings json.RawMessage
	// StartUp bounds its start, 0 for the default.
	StartUp time.Duration
}

// Defaults and bounds.
const (
	defaultStartUp = 30 * time.Second
	// CallLimit bounds one question; a large project takes a while at first.
	CallLimit  = 60 * time.Second
	closeGrace = 500 * time.Millisecond
	lastWords  = 400
)

// Config starts a client.
type Config struct {
	Runner *shell.Runner
	Server Server
	// Root is the folder of the project, absolute and canonical.
	Root, Version string
	HideSecrets   bool
}

// Client is a running server. It is safe for concurrent use.
type Client struct {
	c     Config
	peer  *shell.Served
	units units
	send  sync.Mutex // one message at a time
	once  sync.Once
	fault error // of Close

	mu      sync.Mutex
	next    int
	waiting map[int]chan<- answer
	gone    error // why nothing can be asked any more
	ended   chan struct{}
	files   map[string]*document // by URI
	stirred chan struct{}        // closed and replaced when diagnostics came
}

type answer struct {
	result json.RawMessage
	err    error
}

// message is any JSON-RPC message.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *wireError      `json:"error,omitempty"`
}

type wireError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Start starts a server and agrees with it on what both can do. ctx bounds the start.
func Start(ctx context.Context, c Config) (*Client, error) {
	limit := c.Server.StartUp
	if limit <= 0 {
		limit = defaultStartUp
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	peer, err := c.Runner.Serve(ctx, shell.Server{Argv: c.Server.Argv, Dir: c.Root, Env: c.Server.Env, HideSecrets: c.HideSecrets, Unconfined: true})
	if err != nil {
		return nil, fmt.Errorf("start the language server %s: %w", c.Server.Name, err)
	}
	l := &Client{
		c: c, peer: peer, waiting: map[int]chan<- answer{}, ended: make(chan struct{}), files: map[string]*document{}, stirred: make(chan struct{}),
	}
	go l.listen()
	if err := l.greet(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start the language server %s: %w", c.Server.Name, err), l.Close())
	}
	return l, nil
}

// greet is the handshake.
func (l *Client) greet(ctx context.Context) error {
	uri := URI(l.c.Root)
	raw, err := l.Call(ctx, "initialize", map[string]any{
		"processId": nil, "rootUri": uri, "rootPath": l.c.Root, "clientInfo": map[string]string{"name": "hew", "version": l.c.Version},
		"workspaceFolders":      []map[string]string{{"uri": uri, "name": "project"}},
		"initializationOptions": l.c.Server.Options,
		"capabilities": map[string]any{
			"general":   map[string]any{"positionEncodings": []string{"utf-8", "utf-16", "utf-32"}},
			"workspace": map[string]any{"configuration": true, "workspaceFolders": true},
			"textDocument": map[string]any{
				"synchronization":    map[string]any{"didSave": true},
				"hover":              map[string]any{"contentFormat": []string{"markdown", "plaintext"}},
				"documentSymbol":     map[string]any{"hierarchicalDocumentSymbolSupport": true},
				"publishDiagnostics": map[string]any{"versionSupport": true},
				"definition":         map[string]any{"linkSupport": true}, "implementation": map[string]any{"linkSupport": true},
				"references": map[string]any{}, "callHierarchy": map[string]any{},
			},
		},
	})
	if err != nil {
		return err
	}
	var got struct {
		Capabilities struct {
			Encoding string `json:"positionEncoding"`
		} `json:"capabilities"`
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		return fmt.Errorf("its answer to initialize cannot be read: %w", err)
	}
	l.units = units(got.Capabilities.Encoding)
	if err := l.tell(ctx, "initialized", struct{}{}); err != nil || l.c.Server.Settings == nil {
		return err
	}
	return l.tell(ctx, "workspace/didChangeConfiguration", map[string]any{"settings": l.c.Server.Settings})
}

// Call asks the server and waits for its answer.
func (l *Client) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, CallLimit)
	defer cancel()
	got := make(chan answer, 1)
	l.mu.Lock()
	if l.gone != nil {
		defer l.mu.Unlock()
		return nil, l.gone
	}
	l.next++
	id := l.next
	l.waiting[id] = got
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.waiting, id)
		l.mu.Unlock()
	}()
	if err := l.write(ctx, message{ID: json.RawMessage(strconv.Itoa(id)), Method: method}, params); err != nil {
		return nil, l.why(err)
	}
	select {
	case a := <-got:
		return a.result, a.err
	case <-ctx.Done():
		// Best effort: a server that is silent may not read this either.
		_ = l.tell(context.WithoutCancel(ctx), "$/cancelRequest", map[string]int{"id": id})
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, fmt.Errorf("the language server %s has not answered %s in time", l.c.Server.Name, method)
		}
		return nil, ctx.Err()
	}
}

// why is how the server has ended, when it could not be written to.
func (l *Client) why(err error) error {
	t := time.NewTimer(closeGrace)
	defer t.Stop()
	select {
	case <-l.ended:
		return l.Gone()
	case <-t.C:
		return err
	}
}

func (l *Client) tell(ctx context.Context, method string, params any) error {
	return l.write(ctx, message{Method: method}, params)
}

// write sends a message. A server that does not read cannot hold the sender.
func (l *Client) write(ctx context.Context, m message, params any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return fmt.Errorf("write a message for the language server: %w", err)
	}
	if m.JSONRPC = "2.0"; m.Method != "" {
		m.Params = raw
	} else if m.Error == nil {
		m.Result = raw
	}
	if raw, err = json.Marshal(m); err != nil {
		return fmt.Errorf("write a message for the language server: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, CallLimit)
	defer cancel()
	l.send.Lock()
	defer l.send.Unlock()
	stop := context.AfterFunc(ctx, func() { _ = l.peer.Stdin.SetWriteDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := l.peer.Stdin.Write(frame(raw)); err != nil {
		err = fmt.Errorf("the language server %s does not listen: %w", l.c.Server.Name, err)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			l.end(err) // half a message may have gone out
		}
		return err // else it has ended, and whoever reads from it says how
	}
	return nil
}

// listen reads what the server says until it says nothing any more.
func (l *Client) listen() {
	defer close(l.ended)
	in := bufio.NewReader(l.peer.Stdout)
	for {
		raw, err := readFrame(in)
		if err != nil {
			l.end(l.obituary(err))
			return
		}
		var m message
		if err := json.Unmarshal(raw, &m); err != nil {
			l.end(fmt.Errorf("the language server %s sends what is no JSON", l.c.Server.Name))
			return
		}
		l.take(m)
	}
}

func (l *Client) take(m message) {
	switch {
	case m.Method == "" && len(m.ID) > 0:
		l.answered(m)
	case len(m.ID) > 0:
		l.serve(m)
	case m.Method == "textDocument/publishDiagnostics":
		l.published(m.Params)
	}
}

func (l *Client) answered(m message) {
	id, err := strconv.Atoi(string(m.ID))
	if err != nil {
		return
	}
	a := answer{result: m.Result}
	if m.Error != nil {
		a.err = fmt.Errorf("the language server %s: %s (%d)", l.c.Server.Name, strings.TrimSpace(m.Error.Message), m.Error.Code)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if got, ok := l.waiting[id]; ok { // a second answer finds nobody
		delete(l.waiting, id)
		got <- a
	}
}

// methodNotFound is the code of JSON-RPC.
const methodNotFound = -32601

// serve answers what a server asks. Nothing that it asks changes a file.
func (l *Client) serve(m message) {
	reply := message{ID: m.ID}
	var result any
	switch m.Method {
	case "workspace/configuration":
		result = l.configuration(m.Params)
	case "workspace/workspaceFolders":
		result = []map[string]string{{"uri": URI(l.c.Root), "name": "project"}}
	case "workspace/applyEdit":
		result = map[string]any{"applied": false, "failureReason": "hew changes files itself"}
	case "client/registerCapability", "client/unregisterCapability", "window/workDoneProgress/create", "window/showMessageRequest":
	default:
		reply.Error = &wireError{methodNotFound, "hew does not do this"}
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	_ = l.write(ctx, reply, result) // a failure has ended the client
}

// configuration is the part of the settings that each item asks for.
func (l *Client) configuration(params json.RawMessage) []json.RawMessage {
	var p struct {
		Items []struct {
			Section string `json:"section"`
		} `json:"items"`
	}
	if json.Unmarshal(params, &p) != nil {
		return nil
	}
	out := make([]json.RawMessage, len(p.Items))
	for i, it := range p.Items {
		out[i] = section(l.c.Server.Settings, it.Section)
	}
	return out
}

func section(settings json.RawMessage, path string) json.RawMessage {
	for path != "" && settings != nil {
		var m map[string]json.RawMessage
		name, rest, _ := strings.Cut(path, ".")
		if json.Unmarshal(settings, &m) != nil {
			return nil
		}
		settings, path = m[name], rest
	}
	return settings
}

// end lets everybody who waits know that nothing comes any more.
func (l *Client) end(why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone != nil {
		return
	}
	l.gone = why
	for id, got := range l.waiting {
		got <- answer{err: why}
		delete(l.waiting, id)
	}
	close(l.stirred)
}

// Gone says why the server cannot be asked any more, nil while it can.
func (l *Client) Gone() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gone
}

// obituary says how the server ended and what it said last.
func (l *Client) obituary(cause error) error {
	how := cause.Error()
	if errors.Is(cause, io.EOF) {
		how = "it ended"
	}
	t := time.NewTimer(closeGrace)
	defer t.Stop()
	select {
	case <-l.peer.Done():
		if code, signal := l.peer.Exit(); signal != "" {
			how += ", signal " + signal
		} else {
			how += fmt.Sprintf(", exit code %d", code)
		}
	case <-t.C:
	}
	if text, err := l.peer.Errors(lastWords); err == nil {
		if said := strings.Join(strings.Fields(shell.Sanitize(text)), " "); said != "" {
			how += ": " + said
		}
	}
	return fmt.Errorf("the language server %s cannot be used any more: %s", l.c.Server.Name, how)
}

// Close ends the server and all that descends from it.
func (l *Client) Close() error {
	l.once.Do(func() {
		if l.Gone() == nil {
			ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
			if _, err := l.Call(ctx, "shutdown", nil); err == nil {
				_ = l.tell(ctx, "exit", nil) // it is stopped below
			}
			cancel()
		}
		l.end(fmt.Errorf("the language server %s was ended", l.c.Server.Name))
		_ = l.peer.Stdin.Close() // a polite server ends by this
		l.fault = l.peer.Stop()
		<-l.ended
		_ = l.peer.Stdout.Close()
	})
	return l.fault
}
