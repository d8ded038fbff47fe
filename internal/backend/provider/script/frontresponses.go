package script

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/msg"
)

func responsesRequest(body []byte, _ string) ([]byte, error) {
	v := gjson.ParseBytes(body)
	if !v.Get("input").IsArray() {
		return nil, errors.New("input: a list is required")
	}
	n := &native{Model: v.Get("model").String(), Stream: v.Get("stream").Bool(), MaxTokens: v.Get("max_output_tokens").Int()}
	n.effort(v.Get("reasoning.effort"))
	if s := v.Get("instructions").String(); s != "" {
		n.System = append(n.System, json.RawMessage(`{"type":"text","text":`+quote(s)+`}`))
	}
	for _, t := range v.Get("tools").Array() {
		n.tool(t, "parameters")
	}
	if f := v.Get("tool_choice.name"); f.Exists() {
		n.Choice = map[string]string{"type": "tool", "name": f.Str}
	}
	for _, m := range v.Get("input").Array() {
		if err := responsesItem(n, m); err != nil {
			return nil, err
		}
	}
	return json.Marshal(n)
}

func responsesItem(n *native, m gjson.Result) error {
	switch m.Get("type").Str {
	case "function_call":
		n.say("assistant", msg.NewToolUse(m.Get("call_id").String(), m.Get("name").String(), json.RawMessage(m.Get("arguments").String())))
	case "function_call_output":
		o := m.Get("output")
		if o.Type == gjson.String {
			n.say("user", resultOf(m.Get("call_id").String(), o.Str))
			break
		}
		var content []msg.Block
		for _, p := range o.Array() {
			if u := p.Get("image_url"); u.Exists() {
				content = append(content, dataURL(u.String()))
				continue
			}
			content = append(content, msg.NewText(p.Get("text").String()))
		}
		n.say("user", msg.NewToolResult(m.Get("call_id").String(), content, msg.OK))
	case "reasoning":
		code := m.Get("encrypted_content").Str
		raw, err := base64.StdEncoding.DecodeString(code)
		if err != nil {
			return errors.New("reasoning: encrypted_content is not what was sent")
		}
		b, err := msg.DecodeBlock(raw)
		if err != nil {
			return fmt.Errorf("reasoning: %w", err)
		}
		n.say("assistant", b)
	default:
		if m.Get("role").Str != "assistant" {
			sayParts(n, m.Get("content"), "text", "image_url")
			break
		}
		for _, p := range m.Get("content").Array() {
			n.say("assistant", msg.NewText(p.Get("text").String()))
		}
	}
	return nil
}

func (f *figures) responses() string {
	return fmt.Sprintf(`{"input_tokens":%d,"output_tokens":%d,"input_tokens_details":{"cached_tokens":%d}}`, f.input+f.cached, f.output, f.cached)
}

// ending puts a stop reason into the words of Responses.
func responsesEnding(reason string) (status, details string) {
	switch reason {
	case "max_tokens":
		return "incomplete", `{"reason":"max_output_tokens"}`
	case "refusal":
		return "incomplete", `{"reason":"content_filter"}`
	}
	return "completed", "null"
}

func reasoningOf(text, signature string) string {
	b := fmt.Sprintf(`{"type":"thinking","thinking":%s,"signature":%s}`, quote(text), quote(signature))
	return fmt.Sprintf(`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":%s}],"encrypted_content":%s}`,
		quote(text), quote(base64.StdEncoding.EncodeToString([]byte(b))))
}

// responsesEvents is a stream under way.
type responsesEvents struct {
	id, model        string
	u                figures
	kind             map[int64]gjson.Result
	text, sign, args map[int64]string
}

func (s *responsesEvents) event(v gjson.Result) []byte {
	at := v.Get("index").Int()
	switch v.Get("type").Str {
	case "message_start":
		s.id, s.model = v.Get("message.id").Str, v.Get("message.model").Str
		s.u.take(v.Get("message.usage"))
		return dataLine(fmt.Sprintf(`{"type":"response.created","response":{"id":%s,"model":%s,"status":"in_progress"}}`, quote(s.id), quote(s.model)))
	case "content_block_start":
		b := v.Get("content_block")
		s.kind[at] = b
		if b.Get("type").Str == "tool_use" {
			return dataLine(fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":{"type":"function_call","call_id":%s,"name":%s,"arguments":""}}`,
				at, quote(b.Get("id").Str), quote(b.Get("name").Str)))
		}
	case "content_block_delta":
		return s.delta(at, v.Get("delta"))
	case "content_block_stop":
		return s.stop(at)
	case "message_delta":
		s.u.take(v.Get("usage"))
		status, details := responsesEnding(v.Get("delta.stop_reason").Str)
		return dataLine(fmt.Sprintf(`{"type":"response.%s","response":{"id":%s,"model":%s,"status":%s,"incomplete_details":%s,"usage":%s}}`,
			status, quote(s.id), quote(s.model), quote(status), details, s.u.responses()))
	case "error":
		return dataLine(fmt.Sprintf(`{"type":"error","code":%s,"message":%s}`, quote(v.Get("error.type").Str), quote(v.Get("error.message").Str)))
	}
	return []byte(": nothing\n\n")
}

func (s *responsesEvents) delta(at int64, d gjson.Result) []byte {
	line := func(kind, raw string) []byte {
		return dataLine(fmt.Sprintf(`{"type":"response.%s.delta","output_index":%d,"delta":%s}`, kind, at, raw))
	}
	switch d.Get("type").Str {
	case "text_delta":
		return line("output_text", d.Get("text").Raw)
	case "thinking_delta":
		s.text[at] += d.Get("thinking").Str
		return line("reasoning_summary_text", d.Get("thinking").Raw)
	case "signature_delta":
		s.sign[at] += d.Get("signature").Str
	case "input_json_delta":
		s.args[at] += d.Get("partial_json").Str
		return line("function_call_arguments", d.Get("partial_json").Raw)
	}
	return []byte(": nothing\n\n")
}

func (s *responsesEvents) stop(at int64) []byte {
	item := `{"type":"message"}`
	switch b := s.kind[at]; b.Get("type").Str {
	case "thinking":
		item = reasoningOf(s.text[at], s.sign[at])
	case "tool_use":
		item = fmt.Sprintf(`{"type":"function_call","call_id":%s,"name":%s,"arguments":%s}`, quote(b.Get("id").Str), quote(b.Get("name").Str), quote(s.args[at]))
	}
	return dataLine(fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, at, item))
}

func responsesFront() *front {
	s := &responsesEvents{kind: map[int64]gjson.Result{}, text: map[int64]string{}, sign: map[int64]string{}, args: map[int64]string{}}
	return &front{request: responsesRequest, stream: "text/event-stream", event: s.event, whole: responsesWhole, failure: chatFailure}
}

func responsesWhole(v gjson.Result) []byte {
	var items []string
	for _, b := range v.Get("content").Array() {
		switch b.Get("type").Str {
		case "text":
			items = append(items, `{"type":"message","role":"assistant","content":[{"type":"output_text","text":`+b.Get("text").Raw+`}]}`)
		case "thinking":
			items = append(items, reasoningOf(b.Get("thinking").String(), b.Get("signature").Str))
		case "tool_use":
			items = append(items, fmt.Sprintf(`{"type":"function_call","call_id":%s,"name":%s,"arguments":%s}`,
				quote(b.Get("id").Str), quote(b.Get("name").Str), quote(b.Get("input").Raw)))
		}
	}
	status, details := responsesEnding(v.Get("stop_reason").Str)
	var u figures
	u.take(v.Get("usage"))
	return fmt.Appendf(nil, `{"id":%s,"object":"response","model":%s,"status":%s,"incomplete_details":%s,"error":null,"output":[%s],"usage":%s}`,
		quote(v.Get("id").Str), quote(v.Get("model").Str), quote(status), details, strings.Join(items, ","), u.responses())
}
