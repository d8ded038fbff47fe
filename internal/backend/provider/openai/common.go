package openai

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/provider/messages"
	"github.com/hew-agent/hew/internal/msg"
)

// maxName is the longest name of a function.
const maxName = 64

// names translates the names of tools that are too long for the API.
type names struct{ back map[string]string }

func namesOf(tools []provider.ToolDef) names {
	n := names{map[string]string{}}
	for _, t := range tools {
		n.back[short(t.Name)] = t.Name
	}
	return n
}

// own is the name by which hew knows the function.
func (n names) own(name string) string {
	if own, ok := n.back[name]; ok {
		return own
	}
	return name
}

// has tells whether a tool was offered.
func (n names) has(name string) bool { _, ok := n.back[name]; return ok }

func short(name string) string {
	if len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return name[:maxName-9] + "_" + hex.EncodeToString(sum[:4])
}

// function is a tool without its envelope.
type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// functions are the tools that the API can be offered.
func functions(tools []provider.ToolDef, l *losses) []function {
	out := make([]function, 0, len(tools))
	for _, t := range tools {
		v := gjson.ParseBytes(t.JSON)
		schema := v.Get("input_schema")
		if !schema.IsObject() {
			l.tell("the tool " + t.Name + " runs at another provider; this model is not offered it")
			continue
		}
		out = append(out, function{short(t.Name), v.Get("description").String(), json.RawMessage(schema.Raw)})
	}
	return out
}

func encodeWith(v any, extra []messages.Member) ([]byte, error) {
	raw, err := msg.Marshal(v)
	if err != nil {
		return nil, err
	}
	for _, m := range extra {
		if raw, err = sjson.SetRawBytes(raw, strings.ReplaceAll(m.Key, ".", `\.`), m.Value); err != nil {
			return nil, err
		}
	}
	return raw, nil
}

// picture is an image as a URL, "" when its source is a file of another provider.
func picture(b *msg.Image) string {
	src := gjson.GetBytes(b.JSON(), "source")
	switch src.Get("type").Str {
	case "base64":
		return "data:" + src.Get("media_type").Str + ";base64," + src.Get("data").Str
	case "url":
		return src.Get("url").String()
	}
	return ""
}

// document is a document's text; ok is false when it is none.
func document(b *msg.Document) (text string, ok bool) {
	src := gjson.GetBytes(b.JSON(), "source")
	if src.Get("type").Str == "text" {
		return src.Get("data").String(), true
	}
	return "", false
}

// Notices of what cannot be sent.
const (
	lostDocument = "this model's API takes no PDF: a note stands in the place of the document"
	lostOpaque   = "a block that only another provider understands is not sent to this model"
	noteDocument = "[A PDF document stood here. This model cannot be sent documents; read the file as text instead.]"
	noteImage    = "[An image stood here that is kept at another provider.]"
)

// arguments reads what a server sends as a call's arguments: a string of JSON
// as documented, or the object itself.
func arguments(v gjson.Result) string {
	if v.Type == gjson.String {
		return v.Str
	}
	if v.IsObject() {
		return v.Raw
	}
	return ""
}

// usage reads the figures of both APIs.
func usage(v gjson.Result) (u msg.Usage, ok bool) {
	if !v.IsObject() {
		return u, false
	}
	number := func(paths ...string) int {
		for _, p := range paths {
			if f := v.Get(p); f.Type == gjson.Number {
				return int(f.Int())
			}
		}
		return 0
	}
	u.CacheReadInputTokens = number("prompt_tokens_details.cached_tokens", "input_tokens_details.cached_tokens", "prompt_cache_hit_tokens")
	u.InputTokens = max(0, number("prompt_tokens", "input_tokens")-u.CacheReadInputTokens)
	u.OutputTokens = number("completion_tokens", "output_tokens")
	return u, u.Context() > 0
}

// bytesPerToken is a cautious mean of English text and code.
const bytesPerToken = 4

// estimate stands in for figures that a server does not send: without any, a
// conversation would never be compacted.
func estimate(r *provider.Request, written int) msg.Usage {
	n := 0
	for _, s := range r.System {
		n += len(s.Text)
	}
	for _, t := range r.Tools {
		n += len(t.JSON)
	}
	for _, m := range r.Messages {
		for _, b := range m.Blocks {
			if _, ok := b.(*msg.Image); !ok {
				n += len(b.JSON())
			}
		}
	}
	return msg.Usage{InputTokens: n / bytesPerToken, OutputTokens: (written + bytesPerToken - 1) / bytesPerToken}
}

// runaway bounds reasoning without an answer, for servers that keep to no cap.
func runaway(r *provider.Request, thought int) error {
	if thought <= max(256<<10, 16*bytesPerToken*r.MaxTokens) {
		return nil
	}
	return &provider.Error{
		Class:   provider.Protocol,
		Message: "the model reasons on and on without an answer (" + strconv.Itoa(thought>>10) + " KB so far)",
		Fix:     "Lower the effort, or choose another model with --model",
	}
}

// refine types an error by the code that OpenAI's error objects carry.
func refine(e *provider.Error, body []byte) *provider.Error {
	v := gjson.GetBytes(body, "error")
	code, text := v.Get("code").String(), strings.ToLower(e.Message)
	if e.Type == "" {
		e.Type = code
	}
	switch {
	case code == "insufficient_quota":
		e.Class = provider.Billing
	case code == "context_length_exceeded" || strings.Contains(text, "context length") || strings.Contains(text, "context size"):
		e.Class = provider.TooLong
	case code == "model_not_found" || e.Status == 404 && strings.Contains(text, "model"):
		e.Class, e.ModelUnknown = provider.NotFound, true
	case code == "invalid_api_key":
		e.Class = provider.Auth
	case strings.Contains(text, "does not support tools") || strings.Contains(text, "tool use is not supported") || strings.Contains(text, "support tool use"):
		e.Class, e.Fix = provider.Invalid, "hew works by tools: choose a model that can call them with --model"
	}
	return e
}

// bodyError is the error of an answer that began as a success.
func bodyError(v gjson.Result, requestID string) *provider.Error {
	e := &provider.Error{Class: provider.Server, RequestID: requestID, Message: v.Get("message").String()}
	if v.Type == gjson.String {
		e.Message = v.Str
	}
	e.Type = v.Get("type").String()
	code := v.Get("code")
	e.Status = int(code.Int())
	if e.Status < 400 || e.Status > 599 {
		e.Status = 0
	}
	switch kind := e.Type + " " + code.String(); {
	case e.Status > 0:
		e = messages.Classify(e.Status, nil, []byte(`{"error":`+string(msg.Encode(map[string]string{"type": e.Type, "message": e.Message}))+`}`), noTime())
		e.RequestID = requestID
	case strings.Contains(kind, "rate_limit"):
		e.Class, e.Status = provider.RateLimited, 429
	case strings.Contains(kind, "overloaded"):
		e.Class, e.Status = provider.Overloaded, 503
	case strings.Contains(kind, "invalid"):
		e.Class, e.Status = provider.Invalid, 400
	case strings.Contains(kind, "auth"):
		e.Class, e.Status = provider.Auth, 401
	}
	if e.Message == "" {
		e.Message = "the answer reports an error"
	}
	return refine(e, []byte(`{"error":`+v.Raw+`}`))
}

// notAPI is the error for an answer that is none of this API.
func notAPI(api string, body []byte) *provider.Error {
	e := messages.NotAPI(200, body)
	e.Message = strings.ReplaceAll(e.Message, "Messages API", api)
	e.Fix = "Check that the base URL names an OpenAI-compatible API (it often ends with /v1)"
	return e
}
