package script

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/msg"
)

func geminiRequest(body []byte, at string) ([]byte, error) {
	v := gjson.ParseBytes(body)
	if !v.Get("contents").IsArray() {
		return nil, errors.New("contents: a list is required")
	}
	model, method, _ := strings.Cut(path.Base(at), ":")
	n := &native{Model: model, Stream: method == "streamGenerateContent", MaxTokens: v.Get("generationConfig.maxOutputTokens").Int()}
	n.effort(v.Get("generationConfig.thinkingConfig.thinkingLevel"))
	for _, p := range v.Get("systemInstruction.parts").Array() {
		n.System = append(n.System, json.RawMessage(`{"type":"text","text":`+p.Get("text").Raw+`}`))
	}
	for _, t := range v.Get("tools.0.functionDeclarations").Array() {
		n.tool(t, "parametersJsonSchema")
	}
	if f := v.Get("toolConfig.functionCallingConfig.allowedFunctionNames.0"); f.Exists() {
		n.Choice = map[string]string{"type": "tool", "name": f.Str}
	}
	for _, c := range v.Get("contents").Array() {
		role := "user"
		if c.Get("role").Str == "model" {
			role = "assistant"
		}
		for _, p := range c.Get("parts").Array() {
			geminiPart(n, role, p)
		}
	}
	return json.Marshal(n)
}

func geminiPart(n *native, role string, p gjson.Result) {
	if s := p.Get("thoughtSignature").Str; s != "" {
		if raw, err := base64.StdEncoding.DecodeString(s); err == nil {
			if b, err := msg.DecodeBlock(raw); err == nil {
				n.say(role, b)
			}
		}
	}
	switch {
	case p.Get("functionCall").Exists():
		c := p.Get("functionCall")
		n.say(role, msg.NewToolUse(c.Get("id").String(), c.Get("name").String(), json.RawMessage(c.Get("args").Raw)))
	case p.Get("functionResponse").Exists():
		r := p.Get("functionResponse")
		text, out := r.Get("response.output").String(), msg.OK
		if e := r.Get("response.error"); e.Exists() {
			text, out = e.String(), msg.Failed
		}
		var content []msg.Block
		if text != "" {
			content = append(content, msg.NewText(text))
		}
		n.say(role, msg.NewToolResult(r.Get("id").String(), content, out))
	case p.Get("inlineData").Exists():
		n.say(role, msg.NewImage(p.Get("inlineData.mimeType").Str, p.Get("inlineData.data").Str))
	case p.Get("text").Str != "":
		n.say(role, msg.NewText(p.Get("text").String()))
	}
}

func geminiFinish(reason string) string {
	switch reason {
	case "max_tokens":
		return "MAX_TOKENS"
	case "refusal":
		return "SAFETY"
	}
	return "STOP"
}

func geminiFailure(status int, v gjson.Result) []byte {
	return fmt.Appendf(nil, `{"error":{"code":%d,"message":%s,"status":%s}}`, status,
		quote(v.Get("error.message").String()), quote(strings.ToUpper(strings.ReplaceAll(http.StatusText(status), " ", "_"))))
}

func (f *figures) gemini() string {
	return fmt.Sprintf(`{"promptTokenCount":%d,"candidatesTokenCount":%d,"cachedContentTokenCount":%d}`, f.input+f.cached, f.output, f.cached)
}

// geminiEvents is a stream under way: calls come whole.
type geminiEvents struct {
	id, model string
	u         figures
	calls     map[int64]gjson.Result
	args      map[int64]string
	// thought and sign are the open reasoning; it travels whole in the signature.
	thought, sign string
}

func (s *geminiEvents) piece(part, rest string) []byte {
	return dataLine(fmt.Sprintf(`{"responseId":%s,"modelVersion":%s,"candidates":[{"index":0,"content":{"role":"model","parts":[%s]}%s}],"usageMetadata":%s}`,
		quote(s.id), quote(s.model), part, rest, s.u.gemini()))
}

// signed adds the signature that belongs to the next part.
func (s *geminiEvents) signed(part string) string {
	if s.sign == "" {
		return part
	}
	b := `{"type":"thinking","thinking":` + quote(s.thought) + `,"signature":` + quote(s.sign) + `}`
	part = strings.TrimSuffix(part, "}") + `,"thoughtSignature":"` + base64.StdEncoding.EncodeToString([]byte(b)) + `"}`
	s.thought, s.sign = "", ""
	return part
}

func (s *geminiEvents) event(v gjson.Result) []byte {
	at := v.Get("index").Int()
	switch v.Get("type").Str {
	case "message_start":
		s.id, s.model = v.Get("message.id").Str, v.Get("message.model").Str
		s.u.take(v.Get("message.usage"))
		return s.piece("", "")
	case "content_block_start":
		if b := v.Get("content_block"); b.Get("type").Str == "tool_use" {
			s.calls[at] = b
		}
	case "content_block_delta":
		d := v.Get("delta")
		switch d.Get("type").Str {
		case "text_delta":
			return s.piece(s.signed(`{"text":`+d.Get("text").Raw+`}`), "")
		case "thinking_delta":
			s.thought += d.Get("thinking").Str
			return s.piece(`{"thought":true,"text":`+d.Get("thinking").Raw+`}`, "")
		case "signature_delta":
			s.sign += d.Get("signature").Str
		case "input_json_delta":
			s.args[at] += d.Get("partial_json").Str
		}
	case "content_block_stop":
		if b, ok := s.calls[at]; ok {
			args := s.args[at]
			if !gjson.Valid(args) {
				args = "{}"
			}
			return s.piece(s.signed(fmt.Sprintf(`{"functionCall":{"id":%s,"name":%s,"args":%s}}`, quote(b.Get("id").Str), quote(b.Get("name").Str), args)), "")
		}
	case "message_delta":
		s.u.take(v.Get("usage"))
		return s.piece("", `,"finishReason":`+quote(geminiFinish(v.Get("delta.stop_reason").Str)))
	case "error":
		return dataLine(string(geminiFailure(503, v)))
	}
	return []byte(": nothing\n\n")
}

func geminiFront() *front {
	s := &geminiEvents{calls: map[int64]gjson.Result{}, args: map[int64]string{}}
	return &front{request: geminiRequest, stream: "text/event-stream", event: s.event, whole: geminiWhole, failure: geminiFailure}
}

func geminiWhole(v gjson.Result) []byte {
	var parts []string
	for _, b := range v.Get("content").Array() {
		switch b.Get("type").Str {
		case "text":
			parts = append(parts, `{"text":`+b.Get("text").Raw+`}`)
		case "thinking":
			parts = append(parts, `{"thought":true,"text":`+b.Get("thinking").Raw+`}`)
		case "tool_use":
			parts = append(parts, fmt.Sprintf(`{"functionCall":{"id":%s,"name":%s,"args":%s}}`, quote(b.Get("id").Str), quote(b.Get("name").Str), b.Get("input").Raw))
		}
	}
	var u figures
	u.take(v.Get("usage"))
	return fmt.Appendf(nil, `{"responseId":%s,"modelVersion":%s,"candidates":[{"content":{"role":"model","parts":[%s]},"finishReason":%s}],"usageMetadata":%s}`,
		quote(v.Get("id").Str), quote(v.Get("model").Str), strings.Join(parts, ","), quote(geminiFinish(v.Get("stop_reason").Str)), u.gemini())
}
