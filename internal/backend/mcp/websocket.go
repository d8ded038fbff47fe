package mcp

import (
	"context"
	"fmt"
	"net/http"

	"github.com/coder/websocket"
)

// socket is a server behind a WebSocket; a text message is a message.
type socket struct{ c *websocket.Conn }

func (w *web) socket(ctx context.Context, url string) (Frames, error) {
	h := http.Header{}
	for k, v := range w.plain {
		h.Set(k, v)
	}
	more, err := w.fromHelper(ctx, false)
	if err != nil {
		return nil, err
	}
	for k, v := range more {
		h.Set(k, v)
	}
	client := &http.Client{Transport: w.base, CheckRedirect: func(*http.Request, []*http.Request) error { return errOtherHost }}
	c, resp, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPClient: client, HTTPHeader: h, Subprotocols: []string{"mcp"}})
	if err != nil {
		if resp != nil && refusal(resp.StatusCode) {
			w.refuse(resp.StatusCode)
		}
		return nil, fmt.Errorf("open the WebSocket: %w", err)
	}
	c.SetReadLimit(maxMessage)
	return &socket{c}, nil
}

// Receive returns the next message.
func (s *socket) Receive(ctx context.Context) ([]byte, error) {
	_, raw, err := s.c.Read(ctx)
	if err != nil {
		return nil, fmt.Errorf("read from the server: %w", err)
	}
	return raw, nil
}

// Send sends a message.
func (s *socket) Send(ctx context.Context, message []byte) error {
	if err := s.c.Write(ctx, websocket.MessageText, message); err != nil {
		return fmt.Errorf("write to the server: %w", err)
	}
	return nil
}

// Close ends the connection without waiting for the other side's word.
func (s *socket) Close() error { return s.c.CloseNow() }
