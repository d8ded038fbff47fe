package openai

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/provider/endpoint"
	"github.com/hew-agent/hew/internal/backend/provider/messages"
	"github.com/hew-agent/hew/internal/msg"
)

// responses is the dialect Responses. Nothing is stored at the server: the
// reasoning comes encrypted, and goes back as it came.
type responses struct {
	c      Config
	extra  []messages.Member
	losses *losses
}

type responsesRequest struct {
	Model        string          `json:"model"`
	Instructions string          `json:"instructions,omitempty"`
	MaxOutput    int             `json:"max_output_tokens,omitempty"`
	Stream       bool            `json:"stream"`
	Store        bool            `json:"store"`
	Include      []string        `json:"include,omitempty"`
	Reasoning    *reasoning      `json:"reasoning,omitempty"`
	Choice       any             `json:"tool_choice,omitempty"`
	Tools        []responsesTool `json:"tools,omitempty"`
	Input        []any           `json:"input"`
}

type reasoning struct {
	Effort  string `json:"effort,omitempty"`
	Summary string `json:"summary,omitempty"`
}

type responsesTool struct {
	Type string `json:"type"`
	function
	Strict bool `json:"strict"`
}

type inputMessage struct {
	Role    string      `json:"role"`
	Content []inputPart `json:"content"`
}

type inputPart struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	Image    string `json:"image_url,omitempty"`
	FileName string `json:"filename,omitempty"`
	File     string `json:"file_data,omitempty"`
}

type functionCall struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type functionOutput struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	Output any    `json:"output"`
}

// signed marks reasoning items that are kept in a thinking block's signature.
const signed = "openai-reasoning:"

// Request encodes r.
func (d *responses) Request(r *provider.Request) (string, *messages.Body, error) {
	q := &responsesRequest{Model: r.Model, Instructions: systemText(r), MaxOutput: r.MaxTokens, Stream: !r.Whole, Input: []any{}}
	if r.Thinking != (provider.Thinking{}) || r.Effort != "" {
		q.Reasoning = &reasoning{Effort: d.c.effort(r.Effort), Summary: "auto"}
		q.Include = []string{"reasoning.encrypted_content"}
	}
	for _, f := range functions(r.Tools, d.losses) {
		q.Tools = append(q.Tools, responsesTool{Type: "function", function: f})
	}
	if r.ForceTool != "" {
		q.Choice = map[string]string{"type": "function", "name": short(r.ForceTool)}
	}
	for _, m := range r.Messages {
		q.Input = append(q.Input, d.items(m)...)
	}
	b, err := bodyOf(q, d.extra)
	return "responses", b, err
}

func (d *responses) items(m *msg.Message) []any {
	role, kind := "user", "input_text"
	switch m.Role {
	case msg.RoleAssistant:
		role, kind = "assistant", "output_text"
	case msg.RoleSystem:
		role = "developer"
	case msg.RoleUser:
	}
	var out []any
	var open *inputMessage
	say := func(p inputPart) {
		if open == nil {
			open = &inputMessage{Role: role}
			out = append(out, open)
		}
		open.Content = append(open.Content, p)
	}
	for _, b := range m.Blocks {
		switch b := b.(type) {
		case *msg.Text:
			say(inputPart{Type: kind, Text: b.Text})
		case *msg.Image, *msg.Document:
			say(d.part(b))
		case *msg.Thinking:
			if item := reasoningItem(b.Signature); item != nil {
				out, open = append(out, item), nil
			}
		case *msg.ToolUse:
			out, open = append(out, functionCall{"function_call", b.ID, short(b.Name), string(b.Input)}), nil
		case *msg.ToolResult:
			out, open = append(out, functionOutput{"function_call_output", b.ToolUseID, d.output(b)}), nil
		case *msg.Opaque:
			d.losses.tell(lostOpaque)
		}
	}
	return out
}

// reasoningItem is the item that a signature holds, nil for another model's.
func reasoningItem(signature string) json.RawMessage {
	code, ok := strings.CutPrefix(signature, signed)
	if !ok {
		return nil
	}
	raw, err := base64.StdEncoding.DecodeString(code)
	if err != nil || !gjson.ValidBytes(raw) {
		return nil
	}
	return raw
}

// output is a result: a string, or parts when there are pictures.
func (d *responses) output(b *msg.ToolResult) any {
	var texts []string
	var parts []inputPart
	rich := false
	for _, c := range b.Content {
		p := d.part(c)
		if p.Type == "" {
			continue
		}
		rich = rich || p.Type != "input_text"
		parts, texts = append(parts, p), append(texts, p.Text)
	}
	if rich {
		return parts
	}
	text := strings.Join(texts, "\n")
	if b.IsError {
		text = "Error: " + text
	}
	return text
}

func (d *responses) part(b msg.Block) inputPart {
	switch b := b.(type) {
	case *msg.Text:
		return inputPart{Type: "input_text", Text: b.Text}
	case *msg.Image:
		if u := picture(b); u != "" {
			return inputPart{Type: "input_image", Image: u}
		}
		return inputPart{Type: "input_text", Text: noteImage}
	case *msg.Document:
		if text, ok := document(b); ok {
			return inputPart{Type: "input_text", Text: text}
		}
		src := gjson.GetBytes(b.JSON(), "source")
		if src.Get("type").Str == "base64" && d.c.Own {
			return inputPart{Type: "input_file", FileName: "document.pdf", File: "data:" + src.Get("media_type").Str + ";base64," + src.Get("data").Str}
		}
		d.losses.tell(lostDocument)
		return inputPart{Type: "input_text", Text: noteDocument}
	case *msg.Opaque:
		d.losses.tell(lostOpaque)
	case *msg.Thinking, *msg.ToolUse, *msg.ToolResult:
	}
	return inputPart{}
}

// Header adds the key.
func (d *responses) Header(h http.Header, a endpoint.Auth, _ *provider.Request) { header(h, a) }

// Classify types an error answer.
func (d *responses) Classify(status int, h http.Header, body []byte, now time.Time) *provider.Error {
	return classifyAt(status, h, body, now)
}

// Reply reads events.
func (d *responses) Reply(c messages.Config, r *provider.Request, _ string) endpoint.Reply {
	x := &responsesReply{c: c, r: r, b: messages.NewBuilder(c), names: namesOf(r.Tools), losses: d.losses, calls: map[int64]int{}}
	split := messages.NewSplitter(x.event)
	return endpoint.Reply{Feed: split.Feed, End: split.End, Whole: x.whole, Ended: x.b.Ended}
}
