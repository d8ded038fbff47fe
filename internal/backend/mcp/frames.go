package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Frames carries whole JSON-RPC messages. Send may be called from several
// goroutines, Receive from one; Close ends both and may be called twice. A host
// that runs servers in its own process implements it.
type Frames interface {
	Receive(ctx context.Context) ([]byte, error)
	Send(ctx context.Context, message []byte) error
	Close() error
}

// framed makes an SDK connection of Frames. What is no message is dropped: one
// line of log on a server's output must not end its connection.
type framed struct {
	f     Frames
	queue []json.RawMessage // the rest of a batch
	once  sync.Once
	err   error
}

// Connect returns the connection itself: Frames are open when they are made.
func (c *framed) Connect(context.Context) (sdk.Connection, error) { return c, nil }

// SessionID is empty: only HTTP has one.
func (c *framed) SessionID() string { return "" }

// Read returns the next message.
func (c *framed) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		raw, err := c.next(ctx)
		if err != nil {
			return nil, err
		}
		if m, ok := decode(raw); ok {
			return m, nil
		}
	}
}

func (c *framed) next(ctx context.Context) (json.RawMessage, error) {
	if len(c.queue) > 0 {
		raw := c.queue[0]
		c.queue = c.queue[1:]
		return raw, nil
	}
	raw, err := c.f.Receive(ctx)
	if err != nil {
		return nil, err
	}
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] == '[' && json.Unmarshal(raw, &c.queue) == nil {
		return nil, nil // an empty message; the batch follows
	}
	return raw, nil
}

// decode tells messages from everything else.
func decode(raw []byte) (jsonrpc.Message, bool) {
	if len(raw) == 0 || raw[0] != '{' {
		return nil, false
	}
	m, err := jsonrpc.DecodeMessage(raw)
	return m, err == nil && m != nil
}

// Write sends a message.
func (c *framed) Write(ctx context.Context, m jsonrpc.Message) error {
	raw, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	return c.f.Send(ctx, raw)
}

// Close ends the connection.
func (c *framed) Close() error {
	c.once.Do(func() { c.err = c.f.Close() })
	return c.err
}
