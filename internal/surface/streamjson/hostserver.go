package streamjson

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/hew-agent/hew/internal/backend/mcp"
)

// Manifest is what a server in the host says of itself, sent beforehand so that
// the handshake needs no round trips. Tools is nil when it is to be asked.
type Manifest struct {
	Initialize json.RawMessage `json:"initializeResult"`
	Tools      json.RawMessage `json:"toolsListResult"`
}

// hostServer carries JSON-RPC messages to an MCP server in the host program.
// Each request is a control request, and its answer comes back with it.
type hostServer struct {
	h    *Host
	name string
	in   chan []byte
	ctx  context.Context
	end  context.CancelFunc

	mu       sync.Mutex
	manifest Manifest
}

// Server opens the connection to a server in the host. m may be the zero Manifest.
func (h *Host) Server(ctx context.Context, name string, m Manifest) (mcp.Frames, error) {
	select {
	case <-h.greeted:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.gone != nil {
		return nil, h.gone
	}
	if old := h.servers[name]; old != nil {
		old.end()
	}
	s := &hostServer{h: h, name: name, in: make(chan []byte, 16), manifest: m}
	s.ctx, s.end = context.WithCancel(context.WithoutCancel(ctx))
	h.servers[name] = s
	return s, nil
}

// Receive returns the next message of the server.
func (s *hostServer) Receive(ctx context.Context) ([]byte, error) {
	select {
	case m := <-s.in:
		return m, nil
	case <-s.ctx.Done():
		return nil, io.EOF
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// rpc is what matters of a JSON-RPC message here.
type rpc struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Send hands a message over and does not wait for its answer.
func (s *hostServer) Send(_ context.Context, message []byte) error {
	if s.ctx.Err() != nil {
		return io.ErrClosedPipe
	}
	var m rpc
	if err := json.Unmarshal(message, &m); err != nil {
		return err
	}
	if known, ok := s.known(m); ok {
		if known != nil {
			go s.deliver(rpc{Version: "2.0", ID: m.ID, Result: known})
		}
		return nil
	}
	q, err := s.h.pose("the MCP server "+s.name, struct {
		Subtype string          `json:"subtype"`
		Server  string          `json:"server_name"`
		Message json.RawMessage `json:"message"`
	}{"mcp_message", s.name, message})
	if err != nil {
		return err
	}
	go s.carry(m, q)
	return nil
}

// known answers from the manifest: the handshake, and the first list of tools.
// An answer of nil is a notification that the host need not hear of.
func (s *hostServer) known(m rpc) (json.RawMessage, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.manifest.Initialize == nil {
		return nil, false
	}
	switch m.Method {
	case "initialize":
		return s.manifest.Initialize, true
	case "notifications/initialized":
		return nil, true
	case "tools/list":
		t := s.manifest.Tools
		s.manifest.Tools = nil // whoever asks again has been told that it changed
		return t, t != nil
	}
	return nil, false
}

// carry waits for the host's answer and delivers it. What is no request is
// acknowledged with an empty answer, which nobody waits for.
func (s *hostServer) carry(m rpc, q question) {
	raw, err := q.wait(s.ctx)
	if len(m.ID) == 0 || m.Method == "" {
		return
	}
	var out struct {
		Response json.RawMessage `json:"mcp_response"`
	}
	if err == nil {
		err = unpack(raw, &out)
	}
	var answer rpc
	if err == nil {
		err = json.Unmarshal(out.Response, &answer)
	}
	if err == nil && answer.Result == nil && answer.Error == nil {
		err = errors.New("the host's answer holds neither a result nor an error")
	}
	if err != nil {
		answer = rpc{Error: &rpcError{-32603, err.Error()}} // the code of an internal error
	}
	answer.Version, answer.ID = "2.0", m.ID
	s.deliver(answer)
}

func (s *hostServer) deliver(m rpc) {
	raw, err := json.Marshal(m)
	if err != nil {
		return // its parts are JSON already
	}
	s.push(raw)
}

func (s *hostServer) push(raw []byte) {
	select {
	case s.in <- raw:
	case <-s.ctx.Done():
	}
}

// Close ends the connection.
func (s *hostServer) Close() error {
	s.end()
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	if s.h.servers[s.name] == s {
		delete(s.h.servers, s.name)
	}
	return nil
}

// fromServer takes what a server in the host says by itself.
func (h *Host) fromServer(raw json.RawMessage) (any, error) {
	var in struct {
		Server  string          `json:"server_name"`
		Message json.RawMessage `json:"message"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	h.mu.Lock()
	s := h.servers[in.Server]
	h.mu.Unlock()
	if s == nil {
		return nil, errors.New("the host runs no connected MCP server of that name")
	}
	go s.push(in.Message) // ends with the connection
	return struct{}{}, nil
}
