package openai

import (
	"encoding/base64"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/provider/messages"
)

// responsesReply reads one answer of Responses.
type responsesReply struct {
	c       messages.Config
	r       *provider.Request
	b       *messages.Builder
	names   names
	losses  *losses
	calls   map[int64]int // output index → block
	fed     map[int64]bool
	thought int
	written int
	refused bool
}

// event takes one event. Kinds that hew does not know are passed over.
func (x *responsesReply) event(data []byte) error {
	if x.b.Ended() || len(data) == 0 || string(data) == "[DONE]" {
		return nil
	}
	if !gjson.ValidBytes(data) {
		return notAPI("Responses", data)
	}
	v := gjson.Parse(string(data))
	at := v.Get("output_index").Int()
	switch v.Get("type").Str {
	case "response.created", "response.in_progress":
		return x.b.Start(v.Get("response.id").String(), v.Get("response.model").String())
	case "response.output_text.delta":
		return x.say(v.Get("delta").String())
	case "response.refusal.delta":
		x.refused = true
		return x.say(v.Get("delta").String())
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return x.think(v.Get("delta").String())
	case "response.output_item.added":
		if v.Get("item.type").Str == "function_call" {
			return x.open(at, v.Get("item"))
		}
	case "response.function_call_arguments.delta":
		return x.input(at, v.Get("delta").String())
	case "response.output_item.done":
		return x.item(at, v.Get("item"))
	case "response.completed", "response.incomplete", "response.failed":
		return x.finish(v.Get("response"))
	case "error":
		e := v
		if v.Get("error").IsObject() {
			e = v.Get("error")
		}
		return bodyError(e, x.c.RequestID)
	}
	if v.Get("type").Type != gjson.String {
		if e := v.Get("error"); e.Exists() {
			return bodyError(e, x.c.RequestID)
		}
		return notAPI("Responses", data)
	}
	return nil
}

func (x *responsesReply) say(s string) error {
	if err := x.b.Start("", x.r.Model); err != nil {
		return err
	}
	x.written += len(s)
	return x.b.Text(s)
}

func (x *responsesReply) think(s string) error {
	if err := x.b.Start("", x.r.Model); err != nil {
		return err
	}
	x.thought += len(s)
	x.written += len(s)
	if err := runaway(x.r, x.thought); err != nil {
		return err
	}
	return x.b.Thinking(s)
}

func (x *responsesReply) open(at int64, item gjson.Result) error {
	if _, ok := x.calls[at]; ok {
		return nil
	}
	if err := x.b.Start("", x.r.Model); err != nil {
		return err
	}
	block, err := x.b.Call(item.Get("call_id").String(), x.names.own(item.Get("name").String()))
	if err != nil {
		return err
	}
	x.calls[at] = block
	return nil
}

func (x *responsesReply) input(at int64, s string) error {
	block, ok := x.calls[at]
	if !ok {
		return &provider.Error{Class: provider.Protocol, Message: "the endpoint sent arguments of a call that is not open"}
	}
	if x.fed == nil {
		x.fed = map[int64]bool{}
	}
	x.fed[at] = true
	x.written += len(s)
	return x.b.Input(block, s)
}

// item takes a finished item: what its events did not bring is taken from it.
func (x *responsesReply) item(at int64, item gjson.Result) error {
	switch item.Get("type").Str {
	case "function_call":
		if err := x.open(at, item); err != nil || x.fed[at] {
			return err
		}
		return x.input(at, arguments(item.Get("arguments")))
	case "reasoning":
		if item.Get("encrypted_content").String() == "" {
			return x.b.Close() // nothing that could go back
		}
		if err := x.b.Start("", x.r.Model); err != nil {
			return err
		}
		return x.b.Sign(signed + base64.StdEncoding.EncodeToString([]byte(item.Raw)))
	}
	return x.b.Close()
}

func (x *responsesReply) finish(v gjson.Result) error {
	if err := x.b.Start(v.Get("id").String(), v.Get("model").String()); err != nil {
		return err
	}
	if e := v.Get("error"); e.IsObject() {
		return bodyError(e, x.c.RequestID)
	}
	if v.Get("status").Str == "failed" {
		return &provider.Error{Class: provider.Server, Message: "the response failed", RequestID: x.c.RequestID}
	}
	u, ok := usage(v.Get("usage"))
	if !ok {
		x.losses.tell("this server sends no token figures: they are estimated, and costs with them")
		u = estimate(x.r, x.written)
	}
	reason := ""
	switch v.Get("incomplete_details.reason").Str {
	case "max_output_tokens":
		reason = "length"
	case "content_filter":
		reason = "content_filter"
	}
	if x.refused {
		reason = "content_filter"
	}
	return x.b.Finish(stopReason(reason, x.b.Calls()), u)
}

// whole takes an answer in one piece.
func (x *responsesReply) whole(body []byte) error {
	v := gjson.ParseBytes(body)
	if !gjson.ValidBytes(body) || !v.IsObject() {
		return notAPI("Responses", body)
	}
	if e := v.Get("error"); e.IsObject() || e.Type == gjson.String {
		return bodyError(e, x.c.RequestID)
	}
	if !v.Get("output").IsArray() {
		return notAPI("Responses", body)
	}
	if err := x.b.Start(v.Get("id").String(), v.Get("model").String()); err != nil {
		return err
	}
	for i, item := range v.Get("output").Array() {
		if err := x.wholeItem(int64(i), item); err != nil {
			return err
		}
	}
	return x.finish(v)
}

func (x *responsesReply) wholeItem(at int64, item gjson.Result) error {
	for _, s := range item.Get("summary").Array() {
		if err := x.think(s.Get("text").String()); err != nil {
			return err
		}
	}
	for _, c := range item.Get("content").Array() {
		x.refused = x.refused || c.Get("type").Str == "refusal"
		if err := x.say(c.Get("text").String() + c.Get("refusal").String()); err != nil {
			return err
		}
	}
	return x.item(at, item)
}
