package app

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"

	"github.com/hew-agent/hew/internal/backend/mcp"
	"github.com/hew-agent/hew/internal/wiring"
)

type serverTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Hints       map[string]bool `json:"annotations,omitempty"`
}

type serverStatus struct {
	Name   string            `json:"name"`
	Status string            `json:"status"`
	Server map[string]string `json:"serverInfo,omitempty"`
	Error  string            `json:"error,omitempty"`
	Config map[string]any    `json:"config,omitempty"`
	Scope  string            `json:"scope,omitempty"`
	Tools  []serverTool      `json:"tools,omitempty"`
}

func (s *sdk) serverStatus(context.Context, nothing) (any, error) {
	out := []serverStatus{}
	for _, st := range s.conv.ServerStates() {
		out = append(out, statusOf(st))
	}
	return map[string]any{"mcpServers": out}, nil
}

func statusOf(st wiring.ServerState) serverStatus {
	out := serverStatus{Name: st.Name, Status: st.State, Scope: st.Scope}
	if st.State == "pending-approval" { // a word of hew's; hosts know five
		out.Status = string(mcp.Pending)
	}
	if st.State != string(mcp.Connected) {
		out.Error = st.Detail
	}
	if st.Status.Server != "" {
		out.Server = map[string]string{"name": st.Status.Server, "version": st.Status.Version}
	}
	switch st.Entry.Transport {
	case "":
	case mcp.Stdio:
		out.Config = map[string]any{"type": "stdio", "command": st.Entry.Command, "args": st.Entry.Args}
	case mcp.SDK:
		out.Config = map[string]any{"type": "sdk", "name": st.Name}
	case mcp.HTTP, mcp.SSE, mcp.WS:
		out.Config = map[string]any{"type": string(st.Entry.Transport), "url": st.Entry.URL}
	}
	for _, t := range st.Tools {
		row := serverTool{Name: t.Name, Description: t.Description}
		if t.ReadOnly || t.Destructive {
			row.Hints = map[string]bool{"readOnly": t.ReadOnly, "destructive": t.Destructive}
		}
		out.Tools = append(out.Tools, row)
	}
	return out
}

func (s *sdk) setServers(_ context.Context, in struct {
	Servers map[string]json.RawMessage `json:"servers"`
},
) (any, error) {
	added, removed, faults := s.conv.SetServers(in.Servers)
	return map[string]any{"added": added, "removed": removed, "errors": faults}, nil
}

type serverName struct {
	Name    string `json:"serverName"`
	Enabled bool   `json:"enabled"`
	URI     string `json:"uri"`
}

func (s *sdk) toggleServer(_ context.Context, in serverName) (any, error) {
	if in.Enabled {
		return nothing{}, s.conv.SwitchOn(in.Name)
	}
	return nothing{}, s.conv.SwitchOff(in.Name)
}

func (s *sdk) reconnectServer(_ context.Context, in serverName) (any, error) {
	return nothing{}, s.conv.ReconnectServer(in.Name)
}

// content is a part of an answer in the form of the MCP schema.
func content(p mcp.Part) map[string]any {
	data := base64.StdEncoding.EncodeToString(p.Data)
	switch {
	case p.Data == nil:
		return map[string]any{"type": "text", "text": p.Text}
	case strings.HasPrefix(p.MIMEType, "image/"):
		return map[string]any{"type": "image", "data": data, "mimeType": p.MIMEType}
	case strings.HasPrefix(p.MIMEType, "audio/"):
		return map[string]any{"type": "audio", "data": data, "mimeType": p.MIMEType}
	}
	return map[string]any{"type": "resource", "resource": map[string]any{"uri": p.URI, "mimeType": p.MIMEType, "blob": data}}
}

func (s *sdk) callServer(ctx context.Context, in struct {
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"arguments"`
	Soft bool            `json:"soft_error_result"`
},
) (any, error) {
	a, err := s.conv.CallServerTool(ctx, in.Tool, in.Args)
	if err != nil {
		return nil, err
	}
	parts, text := []map[string]any{}, ""
	for _, p := range a.Parts {
		parts, text = append(parts, content(p)), text+p.Text
	}
	if a.IsError && !in.Soft {
		return nil, errors.New(text)
	}
	out := map[string]any{"content": parts}
	if a.Structured != nil {
		out["structuredContent"] = a.Structured
	}
	if a.IsError {
		out["isError"] = true
	}
	return out, nil
}

func (s *sdk) readResource(ctx context.Context, in serverName) (any, error) {
	parts, err := s.conv.ReadServerResource(ctx, in.Name, in.URI)
	if err != nil {
		return nil, err
	}
	out := []map[string]any{}
	for _, p := range parts {
		item := map[string]any{"uri": p.URI, "mimeType": p.MIMEType}
		if p.Data != nil {
			item["blob"] = base64.StdEncoding.EncodeToString(p.Data)
		} else {
			item["text"] = p.Text
		}
		out = append(out, item)
	}
	return map[string]any{"contents": out}, nil
}
