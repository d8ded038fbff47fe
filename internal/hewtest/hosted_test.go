package hewtest

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/hewtest/mcpserver"
)

// hosted NAME SERVER ARGS… is a host with an MCP server in itself: what the
// process NAME says to SERVER reaches the well-behaved server of this test
// program (see mcpserver), whose answers are sent as the host's.
func cmdHosted(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || neg {
		ts.Fatalf("usage: hosted NAME SERVER ARGS…")
	}
	p := proc(ts, args[0])
	ctx, end := context.WithCancel(context.Background())
	ts.Defer(end)
	near, far := mcp.NewInMemoryTransports()
	_, err := mcpserver.New(args[2:]).Connect(ctx, far, nil)
	ts.Check(err)
	conn, err := near.Connect(ctx)
	ts.Check(err)
	h := &hosted{p: p, server: args[1], conn: conn}
	go h.serve(ctx)
}

type hosted struct {
	p      *process
	server string
	conn   mcp.Connection
	read   int // bytes of the output that were looked at
}

// serve answers until the process or the script ends.
func (h *hosted) serve(ctx context.Context) {
	for ctx.Err() == nil {
		_ = until(func() bool { return h.p.ended() || ctx.Err() != nil || strings.Contains(h.p.text()[h.read:], "\n") })
		out := h.p.text()
		for {
			line, _, whole := strings.Cut(out[h.read:], "\n")
			if !whole {
				break
			}
			h.read += len(line) + 1
			h.line(ctx, gjson.Parse(line))
		}
		if h.p.ended() {
			return
		}
	}
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (h *hosted) line(ctx context.Context, v gjson.Result) {
	if v.Get("request.subtype").String() != "mcp_message" || v.Get("request.server_name").String() != h.server {
		return
	}
	answer := json.RawMessage(`{"jsonrpc":"2.0","id":0,"result":{}}`) // what hosts say to a notification
	m, err := jsonrpc.DecodeMessage([]byte(v.Get("request.message").Raw))
	if err != nil || h.conn.Write(ctx, m) != nil {
		return
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		if answer, err = h.answer(ctx); err != nil {
			return
		}
	}
	reply, err := json.Marshal(map[string]any{"type": "control_response", "response": map[string]any{
		"subtype": "success", "request_id": v.Get("request_id").String(), "response": map[string]any{"mcp_response": answer},
	}})
	if err == nil {
		_, _ = h.p.in.Write(append(reply, '\n')) // a process that has ended needs no answer
	}
}

// answer is the server's next response.
func (h *hosted) answer(ctx context.Context) (json.RawMessage, error) {
	for {
		m, err := h.conn.Read(ctx)
		if err != nil {
			return nil, err
		}
		if _, ok := m.(*jsonrpc.Response); ok {
			return jsonrpc.EncodeMessage(m)
		}
	}
}
