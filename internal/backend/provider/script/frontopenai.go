package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/msg"
)

// native is a request of the Messages API under construction.
type native struct {
	Model     string            `json:"model"`
	MaxTokens int64             `json:"max_tokens"`
	Stream    bool              `json:"stream"`
	Config    map[string]string `json:"output_config,omitempty"`
	Choice    map[string]string `json:"tool_choice,omitempty"`
	System    []json.RawMessage `json:"system,omitempty"`
	Tools     []json.RawMessage `json:"tools,omitempty"`
	Messages  []*nativeMessage  `json:"messages"`
}

type nativeMessage struct {
	Role    string            `json:"role"`
	Content []json.RawMessage `json:"content"`
}

// say appends a block; blocks of one role in a row make one message.
func (n *native) say(role string, b msg.Block) {
	if len(n.Messages) == 0 || n.Messages[len(n.Messages)-1].Role != role {
		n.Messages = append(n.Messages, &nativeMessage{Role: role})
	}
	last := n.Messages[len(n.Messages)-1]
	last.Content = append(last.Content, b.JSON())
}

func (n *native) tool(f gjson.Result, schema string) {
	n.Tools = append(n.Tools, json.RawMessage(fmt.Sprintf(`{"name":%s,"description":%s,"input_schema":%s}`,
		quote(f.Get("name").String()), quote(f.Get("description").String()), f.Get(schema).Raw)))
}

func (n *native) effort(v gjson.Result) {
	if v.Str != "" {
		n.Config = map[string]string{"effort": v.Str}
	}
}

// dataURL is an image of a data URL.
func dataURL(u string) msg.Block {
	kind, data, _ := strings.Cut(strings.TrimPrefix(u, "data:"), ";base64,")
	return msg.NewImage(kind, data)
}

func resultOf(id, text string) msg.Block {
	var content []msg.Block
	failed := strings.HasPrefix(text, "Error: ")
	if text != "" {
		content = []msg.Block{msg.NewText(strings.TrimPrefix(text, "Error: "))}
	}
	return msg.NewToolResult(id, content, msg.Outcome(failed))
}

func chatRequest(body []byte, _ string) ([]byte, error) {
	v := gjson.ParseBytes(body)
	if !v.Get("messages").IsArray() {
		return nil, errors.New("messages: a list is required")
	}
	n := &native{Model: v.Get("model").String(), Stream: v.Get("stream").Bool(), MaxTokens: v.Get("max_tokens").Int() + v.Get("max_completion_tokens").Int()}
	n.effort(v.Get("reasoning_effort"))
	if f := v.Get("tool_choice.function.name"); f.Exists() {
		n.Choice = map[string]string{"type": "tool", "name": f.Str}
	}
	for _, t := range v.Get("tools").Array() {
		n.tool(t.Get("function"), "parameters")
	}
	for _, m := range v.Get("messages").Array() {
		switch c := m.Get("content"); m.Get("role").Str {
		case "system":
			n.System = append(n.System, json.RawMessage(`{"type":"text","text":`+quote(c.String())+`}`))
		case "tool":
			n.say("user", resultOf(m.Get("tool_call_id").String(), c.String()))
		case "assistant":
			if c.Str != "" {
				n.say("assistant", msg.NewText(c.Str))
			}
			for _, t := range m.Get("tool_calls").Array() {
				args := t.Get("function.arguments").String()
				if !gjson.Valid(args) {
					return nil, errors.New("tool_calls: arguments are not valid JSON")
				}
				n.say("assistant", msg.NewToolUse(t.Get("id").String(), t.Get("function.name").String(), json.RawMessage(args)))
			}
		default:
			sayParts(n, c, "text", "image_url.url")
		}
	}
	return json.Marshal(n)
}

func sayParts(n *native, c gjson.Result, text, image string) {
	if c.Type == gjson.String {
		n.say("user", msg.NewText(c.Str))
		return
	}
	for _, p := range c.Array() {
		if u := p.Get(image); u.Exists() {
			n.say("user", dataURL(u.String()))
			continue
		}
		n.say("user", msg.NewText(p.Get(text).String()))
	}
}

// figures adds up the usage of message_start and message_delta.
type figures struct{ input, cached, output int64 }

func (f *figures) take(u gjson.Result) {
	if v := u.Get("input_tokens"); v.Exists() {
		f.input = v.Int() + u.Get("cache_creation_input_tokens").Int()
	}
	if v := u.Get("cache_read_input_tokens"); v.Exists() {
		f.cached = v.Int()
	}
	if v := u.Get("output_tokens"); v.Exists() {
		f.output = v.Int()
	}
}

func (f *figures) chat() string {
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}`,
		f.input+f.cached, f.output, f.input+f.cached+f.output, f.cached)
}

func chatFinish(reason string) string {
	switch reason {
	case "end_turn", "stop_sequence":
		return "stop"
	case "max_tokens":
		return "length"
	case "tool_use":
		return "tool_calls"
	case "refusal":
		return "content_filter"
	}
	return reason
}

func chatFailure(status int, v gjson.Result) []byte {
	return fmt.Appendf(nil, `{"error":{"message":%s,"type":%s,"code":null,"status":%d}}`,
		quote(v.Get("error.message").String()), quote(v.Get("error.type").String()), status)
}

func chatFront() *front {
	var id, model string
	var u figures
	calls := map[int64]int{}
	chunk := func(delta, finish string) []byte {
		return dataLine(fmt.Sprintf(`{"id":%s,"object":"chat.completion.chunk","created":0,"model":%s,"choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`,
			quote(id), quote(model), delta, finish))
	}
	event := func(v gjson.Result) []byte {
		at := v.Get("index").Int()
		switch v.Get("type").Str {
		case "message_start":
			id, model = v.Get("message.id").Str, v.Get("message.model").Str
			u.take(v.Get("message.usage"))
			return chunk(`{"role":"assistant","content":""}`, "null")
		case "content_block_start":
			if b := v.Get("content_block"); b.Get("type").Str == "tool_use" {
				calls[at] = len(calls)
				return chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":""}}]}`,
					calls[at], quote(b.Get("id").Str), quote(b.Get("name").Str)), "null")
			}
		case "content_block_delta":
			d := v.Get("delta")
			switch d.Get("type").Str {
			case "text_delta":
				return chunk(`{"content":`+d.Get("text").Raw+`}`, "null")
			case "thinking_delta":
				return chunk(`{"reasoning_content":`+d.Get("thinking").Raw+`}`, "null")
			case "input_json_delta":
				return chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, calls[at], d.Get("partial_json").Raw), "null")
			}
		case "message_delta":
			u.take(v.Get("usage"))
			out := chunk(`{}`, quote(chatFinish(v.Get("delta.stop_reason").Str)))
			return append(out, dataLine(fmt.Sprintf(`{"id":%s,"model":%s,"choices":[],"usage":%s}`, quote(id), quote(model), u.chat()))...)
		case "message_stop":
			return dataLine("[DONE]")
		case "error":
			return dataLine(string(chatFailure(0, v)))
		}
		return []byte(": nothing\n\n")
	}
	return &front{request: chatRequest, stream: "text/event-stream", event: event, whole: chatWhole, failure: chatFailure}
}

func chatWhole(v gjson.Result) []byte {
	text, thought := "", ""
	var calls []string
	for _, b := range v.Get("content").Array() {
		switch b.Get("type").Str {
		case "text":
			text += b.Get("text").String()
		case "thinking":
			thought += b.Get("thinking").String()
		case "tool_use":
			calls = append(calls, fmt.Sprintf(`{"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}`,
				quote(b.Get("id").Str), quote(b.Get("name").Str), quote(b.Get("input").Raw)))
		}
	}
	var u figures
	u.take(v.Get("usage"))
	return fmt.Appendf(nil, `{"id":%s,"object":"chat.completion","model":%s,"choices":[{"index":0,"message":{"role":"assistant","content":%s,"reasoning_content":%s,"tool_calls":[%s]},"finish_reason":%s}],"usage":%s}`,
		quote(v.Get("id").Str), quote(v.Get("model").Str), quote(text), quote(thought), strings.Join(calls, ","), quote(chatFinish(v.Get("stop_reason").Str)), u.chat())
}
