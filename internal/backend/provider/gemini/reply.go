package gemini

import (
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/provider/messages"
	"github.com/hew-agent/hew/internal/msg"
)

// reply reads one answer.
type reply struct {
	c       messages.Config
	r       *provider.Request
	b       *messages.Builder
	d       *dialect
	id      string
	usage   msg.Usage
	reason  string
	thought int
	written int
}

// event takes one piece of an answer.
func (x *reply) event(data []byte) error {
	if x.b.Ended() || len(data) == 0 {
		return nil
	}
	if !gjson.ValidBytes(data) {
		return x.notAPI(data)
	}
	v := gjson.Parse(string(data))
	if v.IsArray() {
		v = v.Get("0")
	}
	if v.Get("error").IsObject() {
		status := int(v.Get("error.code").Int())
		if status < 400 {
			status = 500
		}
		return x.d.Classify(status, nil, []byte(v.Raw), time.Time{})
	}
	if !v.Get("candidates").Exists() && !v.Get("promptFeedback").Exists() && !v.Get("usageMetadata").Exists() {
		return x.notAPI(data)
	}
	if !x.b.Begun() {
		x.id = v.Get("responseId").String()
	}
	if err := x.b.Start(x.id, v.Get("modelVersion").String()); err != nil {
		return err
	}
	x.count(v.Get("usageMetadata"))
	if v.Get("promptFeedback.blockReason").String() != "" {
		x.reason = "SAFETY"
	}
	c := v.Get("candidates.0")
	for _, p := range c.Get("content.parts").Array() {
		if err := x.part(p); err != nil {
			return err
		}
	}
	if f := c.Get("finishReason").String(); f != "" {
		x.reason = f
	}
	return nil
}

func (x *reply) notAPI(data []byte) error {
	e := messages.NotAPI(200, data)
	e.Message = strings.ReplaceAll(e.Message, "Messages API", "Gemini API")
	e.Fix = "Check GEMINI_BASE_URL"
	return e
}

func (x *reply) count(v gjson.Result) {
	if !v.IsObject() {
		return
	}
	cached := int(v.Get("cachedContentTokenCount").Int())
	x.usage.CacheReadInputTokens = cached
	x.usage.InputTokens = max(0, int(v.Get("promptTokenCount").Int())-cached)
	x.usage.OutputTokens = int(v.Get("candidatesTokenCount").Int() + v.Get("thoughtsTokenCount").Int())
}

// part takes a piece. A signature belongs to the part that it stands on, and
// must come back on it: it goes into a thinking block in front.
func (x *reply) part(p gjson.Result) error {
	if p.Get("thought").Bool() {
		s := p.Get("text").String()
		x.thought += len(s)
		x.written += len(s)
		if x.thought > max(256<<10, 64*x.r.MaxTokens) {
			return &provider.Error{
				Class: provider.Protocol, Message: "the model reasons on and on without an answer",
				Fix: "Lower the effort, or choose another model with --model",
			}
		}
		return x.b.Thinking(s)
	}
	if s := p.Get("thoughtSignature").String(); s != "" {
		if err := x.b.Sign(signed + s); err != nil {
			return err
		}
	}
	if c := p.Get("functionCall"); c.IsObject() {
		return x.call(c)
	}
	s := p.Get("text").String()
	x.written += len(s)
	return x.b.Text(s)
}

func (x *reply) call(c gjson.Result) error {
	id := c.Get("id").String()
	if id == "" {
		id = fmt.Sprintf("call_%s_%d", x.id, x.b.Calls()+1)
	}
	i, err := x.b.Call(id, c.Get("name").String())
	if err != nil {
		return err
	}
	args := c.Get("args")
	x.written += len(args.Raw)
	if !args.Exists() {
		return nil
	}
	return x.b.Input(i, args.Raw)
}

// end is the end of the stream: whole when the reply said why it ended.
func (x *reply) end() error {
	if x.b.Ended() || x.reason == "" {
		return nil
	}
	reason := provider.StopEndTurn
	switch {
	case x.reason == "MALFORMED_FUNCTION_CALL" || x.reason == "UNEXPECTED_TOOL_CALL":
		return &provider.Error{Class: provider.Truncated, Message: "the model wrote a call that its server could not read", RequestID: x.c.RequestID}
	case x.reason == "MAX_TOKENS":
		reason = provider.StopMaxTokens
	case x.b.Calls() > 0:
		reason = provider.StopToolUse
	case x.reason != "STOP":
		reason = provider.StopRefusal
	}
	if x.usage.Context() == 0 {
		x.usage = msg.Usage{InputTokens: 1, OutputTokens: (x.written + 3) / 4}
	}
	return x.b.Finish(reason, x.usage)
}

// whole takes an answer in one piece.
func (x *reply) whole(body []byte) error {
	if err := x.event(body); err != nil {
		return err
	}
	if x.reason == "" {
		return messages.Truncated(x.c.RequestID, nil)
	}
	return x.end()
}
