package mcptool

import (
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/backend/mcp"
	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/tool"
)

// Store is where resources come from.
type Store interface {
	// List lists the resources of one server, or of all when server is "". A
	// server that fails is named in the error; the others' resources are there.
	List(ctx context.Context, server string) ([]mcp.Resource, error)
	Read(ctx context.Context, server, uri string) ([]mcp.Part, error)
}

//go:embed list_resources.md
var listText string

//go:embed read_resource.md
var readText string

// offered is the condition of the tools for resources.
const offered = "a connected MCP server has resources"

// Resources are the two tools for resources.
func Resources(s Store, c Config) []tool.Tool {
	return []tool.Tool{listTool(s, c), readTool(s, c)}
}

func listTool(s Store, c Config) tool.Tool {
	type input struct {
		Server string `json:"server"`
	}
	spec := tool.Spec{
		Name: "ListMcpResourcesTool", Description: strings.TrimSpace(listText), Origin: "builtin", Condition: offered,
		MaxResult: c.MaxText, Deferred: c.Deferred,
		Schema: json.RawMessage(`{"type":"object","properties":{"server":{"type":"string","description":"Optional: list only the resources of this server"}},"additionalProperties":false}`),
	}
	return tool.Define(spec, func(in input, _ tool.Env) (tool.Call, error) {
		return &tool.Func{
			Facts: tool.Traits{ReadOnly: true, ConcurrencySafe: true}, Line: short("List MCP resources " + in.Server),
			Do: func(ctx context.Context, _ func(tool.Progress)) tool.Result {
				list, err := s.List(ctx, in.Server)
				if err != nil && len(list) == 0 {
					return tool.Failure(err.Error())
				}
				return listed(list, err)
			},
		}, nil
	})
}

func listed(list []mcp.Resource, err error) tool.Result {
	if list == nil {
		list = []mcp.Resource{}
	}
	raw, merr := json.Marshal(list)
	if merr != nil {
		return tool.Failure("The list cannot be shown: " + merr.Error())
	}
	text := string(raw)
	if len(list) == 0 {
		text = "No resources found. MCP servers may still have tools."
	}
	r := tool.Text(text)
	if err != nil {
		r = tool.Text(text + "\n" + err.Error())
	}
	r.Data, r.View = raw, tool.TextView{Text: fmt.Sprintf("%d resources", len(list))}
	return r
}

func readTool(s Store, c Config) tool.Tool {
	type input struct {
		Server string `json:"server"`
		URI    string `json:"uri"`
	}
	spec := tool.Spec{
		Name: "ReadMcpResourceTool", Description: strings.TrimSpace(readText), Origin: "builtin", Condition: offered,
		MaxResult: c.MaxText, Deferred: c.Deferred,
		Schema: json.RawMessage(`{"type":"object","properties":{"server":{"type":"string","description":"The name of the MCP server","minLength":1},"uri":{"type":"string","description":"The URI of the resource","minLength":1}},"required":["server","uri"],"additionalProperties":false}`),
	}
	return tool.Define(spec, func(in input, env tool.Env) (tool.Call, error) {
		return &tool.Func{
			Facts: tool.Traits{ReadOnly: true, ConcurrencySafe: true}, Line: short("Read " + in.URI + " of " + in.Server),
			Do: func(ctx context.Context, _ func(tool.Progress)) tool.Result {
				parts, err := s.Read(ctx, in.Server, in.URI)
				if err != nil {
					return tool.Failure(err.Error())
				}
				return read(parts, blocks{c: c, env: env})
			},
		}, nil
	})
}

func read(parts []mcp.Part, b blocks) tool.Result {
	type content struct {
		URI      string `json:"uri"`
		MIMEType string `json:"mimeType,omitempty"`
		Text     string `json:"text,omitempty"`
		Blob     string `json:"blob,omitempty"`
	}
	var data struct {
		Contents []content `json:"contents"`
	}
	for _, p := range parts {
		b.add(p)
		c := content{URI: p.URI, MIMEType: p.MIMEType, Text: p.Text}
		if p.Data != nil && len(p.Data) < maxBlob {
			c.Blob = base64.StdEncoding.EncodeToString(p.Data)
		}
		data.Contents = append(data.Contents, c)
	}
	if len(b.list) == 0 {
		b.text("(the resource is empty)")
	}
	raw, err := json.Marshal(data)
	if err != nil {
		raw = nil // texts of a server always marshal
	}
	return tool.Result{Content: b.list, Data: raw, View: tool.TextView{Text: shell.Sanitize([]byte(strings.Join(b.words, "\n")))}}
}

// maxBlob bounds the binary content that structured results repeat, in bytes.
const maxBlob = 256 << 10

func short(s string) string {
	return plain.Cut(strings.Join(strings.Fields(shell.Sanitize([]byte(s))), " "), maxTitle)
}
