package msg

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unsafe"

	"github.com/tidwall/gjson"
)

// Block is one piece of a message's content. The union is sealed: *Text,
// *Thinking, *ToolUse, *ToolResult, *Image, *Document, *Opaque.
//
//sumtype:decl
type Block interface {
	// JSON is the block's wire form: the bytes it was decoded from, or those it
	// was encoded to when it was made. Callers must not change them.
	JSON() json.RawMessage
	block()
}

// raw is the wire form that every block carries, which is what makes unknown
// fields and signatures survive a round trip byte for byte.
type raw struct{ bytes json.RawMessage }

// JSON returns the wire form.
func (r raw) JSON() json.RawMessage { return r.bytes }

// The pointers alone are Blocks, which is what lets switches over Block be checked for exhaustiveness.
func (*Text) block()       {}
func (*Thinking) block()   {}
func (*ToolUse) block()    {}
func (*ToolResult) block() {}
func (*Image) block()      {}
func (*Document) block()   {}
func (*Opaque) block()     {}

// Text is plain text.
type Text struct {
	raw
	Text string
}

// Thinking is reasoning. Data is set instead of Text when the provider
// redacted it. Signature must go back unchanged, and only to the model that
// made it.
type Thinking struct {
	raw
	Text, Signature, Data string
}

// ToolUse is the model's request to run a tool. Input is exactly what the
// model wrote, valid JSON, not yet checked against a schema.
type ToolUse struct {
	raw
	ID, Name string
	Input    json.RawMessage
}

// ToolResult answers one ToolUse.
type ToolResult struct {
	raw
	ToolUseID string
	Content   []Block
	IsError   bool
}

// Image is a picture. MediaType is empty when the source is a URL or a file id.
type Image struct {
	raw
	MediaType string
}

// Document is a PDF or text document.
type Document struct {
	raw
	MediaType, Title string
}

// Opaque is a block of a kind that hew does not interpret (server tool calls,
// kinds of tomorrow). It goes back as it came.
type Opaque struct {
	raw
	Type string
}

// NewText makes a text block. The API refuses empty text, so callers leave
// empty blocks out.
func NewText(s string) *Text {
	return &Text{raw{Encode(struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}{"text", s})}, s}
}

// NewToolUse makes a tool call; input must be valid JSON.
func NewToolUse(id, name string, input json.RawMessage) *ToolUse {
	return &ToolUse{raw{Encode(struct {
		Type  string          `json:"type"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	}{"tool_use", id, name, input})}, id, name, input}
}

// Outcome says whether a tool result reports success.
type Outcome bool

// The outcomes of a call.
const (
	OK     Outcome = false
	Failed Outcome = true
)

// NewToolResult answers the call id with content. An empty content is legal:
// it is sent as an empty list, which the API takes as "no output".
func NewToolResult(id string, content []Block, o Outcome) *ToolResult {
	list := make([]json.RawMessage, len(content))
	for i, b := range content {
		list[i] = b.JSON()
	}
	return &ToolResult{raw{Encode(struct {
		Type      string            `json:"type"`
		ToolUseID string            `json:"tool_use_id"`
		Content   []json.RawMessage `json:"content"`
		IsError   bool              `json:"is_error,omitempty"`
	}{"tool_result", id, list, bool(o)})}, id, content, bool(o)}
}

// NewImage makes an image block from base64 data.
func NewImage(mediaType, base64 string) *Image {
	return &Image{raw{encodeSource("image", mediaType, base64)}, mediaType}
}

// NewDocument makes a document block from base64 data.
func NewDocument(mediaType, base64 string) *Document {
	return &Document{raw{encodeSource("document", mediaType, base64)}, mediaType, ""}
}

func encodeSource(kind, mediaType, data string) json.RawMessage {
	type source struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	}
	return Encode(struct {
		Type   string `json:"type"`
		Source source `json:"source"`
	}{kind, source{"base64", mediaType, data}})
}

// Data returns the base64 payload of the image, or "" when it is a reference.
func (b *Image) Data() string { return gjson.GetBytes(b.bytes, "source.data").Str }

// Marshal is json.Marshal without HTML escaping: the model sees the bytes, and
// "<" escaped in every file would cost tokens.
func Marshal(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}

// Encode is Marshal of plain values and of JSON that was read before, which
// cannot fail. It panics where v is neither: a caller's bug, not input.
func Encode(v any) json.RawMessage {
	raw, err := Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("msg: encode %T: %v", v, err))
	}
	return raw
}

// DecodeBlock reads one block. Kinds and fields that hew does not know are
// kept. It fails only when data is not a JSON object with a string "type".
// The block keeps data, which must not change any more.
func DecodeBlock(data json.RawMessage) (Block, error) {
	if !json.Valid(data) {
		return nil, fmt.Errorf("decode block: not valid JSON (%d bytes)", len(data))
	}
	return DecodeValid(data)
}

// DecodeValid is DecodeBlock for data that is known to be valid JSON.
func DecodeValid(data json.RawMessage) (Block, error) {
	data = bytes.TrimSpace(data)
	// Nothing changes data, so a string may share its memory: a transcript is loaded with one copy instead of four.
	v := gjson.Parse(unsafe.String(unsafe.SliceData(data), len(data)))
	kind := v.Get("type")
	if !v.IsObject() || kind.Type != gjson.String {
		return nil, fmt.Errorf("decode block: no string field %q in %.60s", "type", data)
	}
	return decodeKind(kind.Str, v, raw{data}), nil
}

// RestoreText is DecodeValid for a caller that has read the text out of the
// wire form already, as the loader of long transcripts does.
func RestoreText(data json.RawMessage, text string) *Text { return &Text{raw{data}, text} }

// RestoreToolResult is the same for a tool result.
func RestoreToolResult(data json.RawMessage, id string, content []Block, o Outcome) *ToolResult {
	return &ToolResult{raw{data}, id, content, bool(o)}
}

func decodeKind(kind string, v gjson.Result, r raw) Block {
	switch kind {
	case "text":
		if t := v.Get("text"); t.Type == gjson.String {
			return &Text{r, t.String()}
		}
	case "thinking":
		return &Thinking{r, v.Get("thinking").String(), v.Get("signature").String(), ""}
	case "redacted_thinking":
		return &Thinking{r, "", "", v.Get("data").String()}
	case "tool_use":
		in := v.Get("input")
		if in.Raw == "" {
			return &Opaque{r, kind}
		}
		return &ToolUse{r, v.Get("id").String(), v.Get("name").String(), json.RawMessage(in.Raw)}
	case "tool_result":
		c, ok := decodeContent(v.Get("content"))
		if !ok {
			return &Opaque{r, kind}
		}
		return &ToolResult{r, v.Get("tool_use_id").String(), c, v.Get("is_error").Bool()}
	case "image":
		return &Image{r, v.Get("source.media_type").String()}
	case "document":
		return &Document{r, v.Get("source.media_type").String(), v.Get("title").String()}
	}
	return &Opaque{r, kind}
}

// decodeContent reads the two forms of content: a string, or a list of blocks.
func decodeContent(c gjson.Result) ([]Block, bool) {
	switch {
	case !c.Exists() || c.Type == gjson.Null:
		return nil, true
	case c.Type == gjson.String:
		if c.Str == "" {
			return nil, true
		}
		return []Block{NewText(c.String())}, true
	case !c.IsArray():
		return nil, false
	}
	var out []Block
	ok := true
	c.ForEach(func(_, e gjson.Result) bool {
		b, err := DecodeValid(unsafe.Slice(unsafe.StringData(e.Raw), len(e.Raw)))
		if err != nil {
			ok = false
			return false
		}
		out = append(out, b)
		return true
	})
	return out, ok
}

// Decode reads a message in wire form ({"role","content"}). Content may be a
// string or a list of blocks.
func Decode(data json.RawMessage) (*Message, error) {
	if !json.Valid(data) {
		return nil, fmt.Errorf("decode message: not valid JSON (%d bytes)", len(data))
	}
	v := gjson.ParseBytes(data)
	role := Role(v.Get("role").String())
	switch role {
	case RoleUser, RoleAssistant, RoleSystem:
	default:
		return nil, fmt.Errorf("decode message: unknown role %q", role)
	}
	blocks, ok := decodeContent(v.Get("content"))
	if !ok {
		return nil, fmt.Errorf("decode message: content is neither a string nor a list of blocks")
	}
	return &Message{Role: role, Blocks: blocks}, nil
}
