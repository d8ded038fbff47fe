// Package mcptool holds the tools of MCP servers as tools of the pool, and those that list and read resources.
//
// What a server says of its tool is a claim: it never replaces a rule or a
// question. A tool that calls itself read-only may run beside others, no more.
package mcptool

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"path/filepath"
	"strings"

	"github.com/hew-agent/hew/internal/backend/mcp"
	"github.com/hew-agent/hew/internal/backend/picture"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// Caller calls the tools of one server.
type Caller interface {
	Call(ctx context.Context, name string, input json.RawMessage, progress func(mcp.Progress)) (mcp.Answer, error)
}

// Config is what all tools of servers share.
type Config struct {
	// MaxText is the text of a result that may enter the conversation, in bytes.
	MaxText int
	// Deferred lets tools wait until they are asked for by name, where the session
	// does that and the server does not say otherwise.
	Deferred bool
	// Save writes a file that a result brings, making folders as needed.
	Save func(path string, data []byte) error
}

// DefaultTokens and TokenBytes give Config.MaxText when MAX_MCP_OUTPUT_TOKENS is
// not set: 25,000 tokens of about four bytes.
const (
	DefaultTokens = 25_000
	TokenBytes    = 4
)

// New makes a tool of the pool.
func New(t mcp.Tool, server Caller, c Config) tool.Tool {
	spec := tool.Spec{
		Name: t.Full, Description: t.Description, Schema: t.Schema, Origin: t.Server,
		Condition: "the MCP server " + t.Server + " is connected", MaxResult: c.MaxText,
	}
	if spec.Description = strings.TrimSpace(spec.Description); spec.Description == "" {
		spec.Description = "The tool " + t.Full + " of the MCP server " + t.Server + ", which says nothing about it."
	}
	if t.MaxResult > 0 {
		spec.MaxResult = t.MaxResult
	}
	spec.Deferred = c.Deferred && !t.AlwaysLoad
	return &remote{t: t, spec: spec, server: server, c: c}
}

type remote struct {
	t      mcp.Tool
	spec   tool.Spec
	server Caller
	c      Config
}

func (r *remote) Spec() tool.Spec { return r.spec }

// Plan checks that the input is an object. The rest of the schema is the
// server's to check: it may use more of JSON Schema than hew knows.
func (r *remote) Plan(in json.RawMessage, env tool.Env) (tool.Call, error) {
	if len(bytes.TrimSpace(in)) == 0 {
		in = json.RawMessage("{}")
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(in, &fields); err != nil || fields == nil {
		return nil, &tool.InputError{Tool: r.spec.Name, Faults: []string{"The input is not a JSON object"}}
	}
	if missing := r.missing(fields); len(missing) > 0 {
		return nil, &tool.InputError{Tool: r.spec.Name, Faults: missing}
	}
	shown := shell.Sanitize([]byte(pretty(in)))
	return &tool.Func{
		Facts: tool.Traits{
			ReadOnly: r.t.ReadOnly, ConcurrencySafe: r.t.ReadOnly, Destructive: r.t.Destructive, NeedsUser: r.t.NeedsUser,
		},
		Wants:  []tool.Need{{Kind: tool.NeedUse, Detail: string(in)}},
		Line:   r.title(in),
		Before: tool.TextView{Text: r.t.Server + ": " + r.t.Name + "\n" + shown},
		Do:     func(ctx context.Context, emit func(tool.Progress)) tool.Result { return r.run(ctx, in, env, emit) },
	}, nil
}

// missing names required parameters that are not there: the commonest slip, told
// without asking the server.
func (r *remote) missing(fields map[string]json.RawMessage) []string {
	var s struct {
		Required []string `json:"required"`
	}
	if json.Unmarshal(r.spec.Schema, &s) != nil {
		return nil
	}
	var out []string
	for _, name := range s.Required {
		if _, ok := fields[name]; !ok {
			out = append(out, fmt.Sprintf("The required parameter `%s` is missing", name))
		}
	}
	return out
}

const maxTitle = 200

func (r *remote) title(in json.RawMessage) string {
	name := r.t.Title
	if name == "" {
		name = r.t.Name
	}
	text := r.t.Server + ": " + name
	if string(in) != "{}" {
		text += " " + string(in)
	}
	text = strings.Join(strings.Fields(shell.Sanitize([]byte(text))), " ")
	if len(text) > maxTitle {
		text = strings.ToValidUTF8(text[:maxTitle], "") + "…"
	}
	return text
}

func pretty(in json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, in, "", "  ") != nil {
		return string(in)
	}
	return b.String()
}

func (r *remote) run(ctx context.Context, in json.RawMessage, env tool.Env, emit func(tool.Progress)) tool.Result {
	a, err := r.server.Call(ctx, r.t.Name, in, func(p mcp.Progress) { emit(tool.Progress{Text: shown(p)}) })
	if err != nil {
		return tool.Failure(err.Error())
	}
	b := blocks{c: r.c, env: env}
	for _, p := range a.Parts {
		b.add(p)
	}
	if len(a.Parts) == 0 && len(a.Structured) > 0 {
		b.text(string(a.Structured))
	}
	if len(b.list) == 0 {
		b.text("(the tool returned nothing)")
	}
	return tool.Result{
		Content: b.list, Data: a.Structured, IsError: a.IsError,
		View: tool.TextView{Text: shell.Sanitize([]byte(strings.Join(b.words, "\n")))},
	}
}

func shown(p mcp.Progress) string {
	switch {
	case p.Total > 0 && p.Text != "":
		return fmt.Sprintf("%g of %g: %s", p.Done, p.Total, p.Text)
	case p.Total > 0:
		return fmt.Sprintf("%g of %g", p.Done, p.Total)
	case p.Text != "":
		return p.Text
	}
	return fmt.Sprintf("%g", p.Done)
}

// blocks turns the parts of a result into what the model may be sent.
type blocks struct {
	c     Config
	env   tool.Env
	list  []msg.Block
	words []string
	saved int
}

func (b *blocks) text(s string) {
	s = strings.ToValidUTF8(s, "\ufffd")
	if s == "" {
		return
	}
	b.list = append(b.list, msg.NewText(s))
	b.words = append(b.words, s)
}

func (b *blocks) add(p mcp.Part) {
	switch {
	case p.Data == nil && p.URI != "" && p.MIMEType != "":
		b.text("[Resource " + p.URI + "]\n" + p.Text)
	case p.Data == nil:
		b.text(p.Text)
	case strings.HasPrefix(p.MIMEType, "image/") || picture.Sniff(p.Data) != "":
		b.picture(p)
	default:
		b.file(p)
	}
}

func (b *blocks) picture(p mcp.Part) {
	if len(p.Data) > picture.MaxFile {
		b.text(fmt.Sprintf("[A picture of %d bytes is too large to be looked at.]", len(p.Data)))
		return
	}
	img, err := picture.Fit(p.Data)
	if err != nil {
		img, err = picture.Fit(mended(p.Data))
	}
	if err != nil {
		b.text(fmt.Sprintf("[A picture cannot be shown: %v]", err))
		return
	}
	b.list = append(b.list, msg.NewImage(img.MediaType, base64.StdEncoding.EncodeToString(img.Bytes)))
	b.words = append(b.words, fmt.Sprintf("[%s, %d×%d pixels]", img.MediaType, img.OriginalWidth, img.OriginalHeight))
}

// file keeps what a model cannot be sent (sound, archives) where other tools
// can read it.
func (b *blocks) file(p mcp.Part) {
	b.saved++
	name := fmt.Sprintf("%s-%d%s", safe(b.env.Use), b.saved, extension(p.MIMEType))
	path := filepath.Join(b.env.SpillDir, name)
	if b.c.Save == nil || b.env.SpillDir == "" {
		b.text(fmt.Sprintf("[%d bytes of %s were left out.]", len(p.Data), kind(p.MIMEType)))
		return
	}
	if err := b.c.Save(path, p.Data); err != nil {
		b.text(fmt.Sprintf("[%d bytes of %s could not be saved: %v]", len(p.Data), kind(p.MIMEType), err))
		return
	}
	b.text(fmt.Sprintf("[%d bytes of %s saved to %s]", len(p.Data), kind(p.MIMEType), path))
}

func kind(mimeType string) string {
	if mimeType == "" {
		return "binary data"
	}
	return mimeType
}

func extension(mimeType string) string {
	list, err := mime.ExtensionsByType(mimeType)
	if err != nil || len(list) == 0 {
		return ".bin"
	}
	return list[0]
}

func safe(id string) string {
	id = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, id)
	return "mcp-" + id[:min(len(id), 100)]
}
