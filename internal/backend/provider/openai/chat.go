package openai

import (
	"net/http"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/provider/endpoint"
	"github.com/hew-agent/hew/internal/backend/provider/messages"
	"github.com/hew-agent/hew/internal/msg"
)

// chat is the dialect Chat Completions.
type chat struct {
	c      Config
	extra  []messages.Member
	losses *losses
}

type chatRequest struct {
	Model     string         `json:"model"`
	MaxNew    int            `json:"max_completion_tokens,omitempty"`
	MaxTokens int            `json:"max_tokens,omitempty"`
	Stream    bool           `json:"stream"`
	Options   *streamOptions `json:"stream_options,omitempty"`
	Effort    string         `json:"reasoning_effort,omitempty"`
	Choice    any            `json:"tool_choice,omitempty"`
	Tools     []chatTool     `json:"tools,omitempty"`
	Messages  []*chatMessage `json:"messages"`
}

type streamOptions struct {
	Usage bool `json:"include_usage"`
}

type chatTool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type chatMessage struct {
	Role    string     `json:"role"`
	Content any        `json:"content"` // a string, parts, or null beside calls
	Calls   []chatCall `json:"tool_calls,omitempty"`
	CallID  string     `json:"tool_call_id,omitempty"`
}

type chatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type chatPart struct {
	Type  string    `json:"type"`
	Text  string    `json:"text,omitempty"`
	Image *imageURL `json:"image_url,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

// Request encodes r.
func (d *chat) Request(r *provider.Request) (string, *messages.Body, error) {
	q := &chatRequest{Model: r.Model, Stream: !r.Whole, Effort: d.c.effort(r.Effort)}
	if d.c.Own {
		q.MaxNew = r.MaxTokens
	} else {
		q.MaxTokens = r.MaxTokens
	}
	if q.Stream {
		q.Options = &streamOptions{true}
	}
	for _, f := range functions(r.Tools, d.losses) {
		q.Tools = append(q.Tools, chatTool{"function", f})
	}
	if r.ForceTool != "" {
		q.Choice = map[string]any{"type": "function", "function": map[string]string{"name": short(r.ForceTool)}}
	}
	if s := systemText(r); s != "" {
		q.Messages = append(q.Messages, &chatMessage{Role: "system", Content: s})
	}
	for _, m := range r.Messages {
		q.Messages = append(q.Messages, d.message(m)...)
	}
	b, err := bodyOf(q, d.extra)
	return "chat/completions", b, err
}

func systemText(r *provider.Request) string {
	texts := make([]string, len(r.System))
	for i, s := range r.System {
		texts[i] = s.Text
	}
	return strings.Join(texts, "\n\n")
}

func (d *chat) message(m *msg.Message) []*chatMessage {
	switch m.Role {
	case msg.RoleAssistant:
		return d.assistant(m)
	case msg.RoleSystem:
		return []*chatMessage{{Role: "system", Content: m.Text()}}
	case msg.RoleUser:
	}
	var out []*chatMessage
	var parts []chatPart
	for _, b := range m.Blocks {
		if res, ok := b.(*msg.ToolResult); ok {
			answer, pictures := d.result(res)
			out = append(out, answer)
			parts = append(parts, pictures...)
			continue
		}
		parts = append(parts, d.part(b)...)
	}
	if len(parts) > 0 {
		out = append(out, &chatMessage{Role: "user", Content: content(parts)})
	}
	return out
}

// content is a plain string where it can be: not every server takes parts.
func content(parts []chatPart) any {
	if len(parts) == 1 && parts[0].Type == "text" {
		return parts[0].Text
	}
	return parts
}

// assistant leaves reasoning out: it belongs to the model that wrote it, and
// this API has no place for it.
func (d *chat) assistant(m *msg.Message) []*chatMessage {
	out := &chatMessage{Role: "assistant"}
	var text strings.Builder
	for _, b := range m.Blocks {
		switch b := b.(type) {
		case *msg.Text:
			text.WriteString(b.Text)
		case *msg.ToolUse:
			out.Calls = append(out.Calls, chatCall{b.ID, "function", chatFunction{short(b.Name), string(b.Input)}})
		case *msg.Opaque:
			d.losses.tell(lostOpaque)
		case *msg.Thinking, *msg.ToolResult, *msg.Image, *msg.Document:
		}
	}
	if text.String() != "" {
		out.Content = text.String()
	}
	if text.String() == "" && len(out.Calls) == 0 {
		return nil
	}
	return []*chatMessage{out}
}

// result makes the message of a tool's result. It can hold text only: pictures
// go into the user message behind the results.
func (d *chat) result(b *msg.ToolResult) (*chatMessage, []chatPart) {
	var texts []string
	var pictures []chatPart
	for _, c := range b.Content {
		for _, p := range d.part(c) {
			if p.Type == "text" {
				texts = append(texts, p.Text)
				continue
			}
			texts = append(texts, "[image: see the next message]")
			pictures = append(pictures, p)
		}
	}
	text := strings.Join(texts, "\n")
	if b.IsError {
		text = "Error: " + text
	}
	return &chatMessage{Role: "tool", CallID: b.ToolUseID, Content: text}, pictures
}

func (d *chat) part(b msg.Block) []chatPart {
	switch b := b.(type) {
	case *msg.Text:
		return []chatPart{{Type: "text", Text: b.Text}}
	case *msg.Image:
		if u := picture(b); u != "" {
			return []chatPart{{Type: "image_url", Image: &imageURL{u}}}
		}
		return []chatPart{{Type: "text", Text: noteImage}}
	case *msg.Document:
		if text, ok := document(b); ok {
			return []chatPart{{Type: "text", Text: text}}
		}
		d.losses.tell(lostDocument)
		return []chatPart{{Type: "text", Text: noteDocument}}
	case *msg.Opaque:
		d.losses.tell(lostOpaque)
	case *msg.Thinking, *msg.ToolUse, *msg.ToolResult:
	}
	return nil
}

// Header adds the key.
func (d *chat) Header(h http.Header, a endpoint.Auth, _ *provider.Request) { header(h, a) }

// Classify types an error answer.
func (d *chat) Classify(status int, h http.Header, body []byte, now time.Time) *provider.Error {
	return classifyAt(status, h, body, now)
}

// Reply reads chunks.
func (d *chat) Reply(c messages.Config, r *provider.Request, _ string) endpoint.Reply {
	x := &chatReply{c: c, r: r, b: messages.NewBuilder(c), names: namesOf(r.Tools), losses: d.losses, used: taken(r)}
	split := messages.NewSplitter(x.event)
	return endpoint.Reply{
		Feed: split.Feed, Whole: x.whole, Ended: x.b.Ended,
		End: func() error {
			if err := split.End(); err != nil {
				return err
			}
			return x.end()
		},
	}
}
