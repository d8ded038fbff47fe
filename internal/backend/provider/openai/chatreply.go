package openai

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/provider/messages"
	"github.com/hew-agent/hew/internal/msg"
)

// chatReply reads one answer of Chat Completions.
type chatReply struct {
	c       messages.Config
	r       *provider.Request
	b       *messages.Builder
	names   names
	losses  *losses
	id      string
	usage   msg.Usage
	counted bool
	reason  string
	calls   []*openCall
	used    map[string]bool // ids of calls, of this reply and before
	text    strings.Builder
	thought int
	written int
}

// openCall is a call whose pieces are arriving.
type openCall struct {
	at    int    // the server's index
	id    string // the server's id
	block int
}

func noTime() time.Time { return time.Time{} }

// event takes one chunk.
func (x *chatReply) event(data []byte) error {
	if x.b.Ended() || len(data) == 0 {
		return nil
	}
	if strings.TrimSpace(string(data)) == "[DONE]" {
		return x.done()
	}
	if !gjson.ValidBytes(data) {
		return notAPI("Chat Completions", data)
	}
	v := gjson.Parse(string(data))
	if e := v.Get("error"); e.Exists() && e.Type != gjson.Null {
		return bodyError(e, x.c.RequestID)
	}
	if !x.b.Begun() {
		x.id = v.Get("id").String()
		if err := x.b.Start(x.id, v.Get("model").String()); err != nil {
			return err
		}
	}
	if u, ok := usage(v.Get("usage")); ok {
		x.usage, x.counted = u, true
	}
	choice := v.Get("choices.0")
	if err := x.delta(choice.Get("delta")); err != nil {
		return err
	}
	if f := choice.Get("finish_reason"); f.Type == gjson.String && f.Str != "" {
		x.reason = f.Str
	}
	if x.reason != "" && x.counted {
		return x.finish()
	}
	return nil
}

// delta takes what a chunk, or a whole message, adds.
func (x *chatReply) delta(v gjson.Result) error {
	for _, k := range []string{"reasoning_content", "reasoning"} {
		if t := v.Get(k); t.Type == gjson.String && t.Str != "" {
			if err := x.think(t.Str); err != nil {
				return err
			}
			break // servers that send both send the same twice
		}
	}
	if err := x.content(v.Get("content")); err != nil {
		return err
	}
	if err := x.say(v.Get("refusal").String()); err != nil {
		return err
	}
	for _, c := range v.Get("tool_calls").Array() {
		if err := x.call(c); err != nil {
			return err
		}
	}
	return nil
}

// content is a string, or a list of parts.
func (x *chatReply) content(v gjson.Result) error {
	if v.Type == gjson.String {
		return x.say(v.Str)
	}
	for _, p := range v.Array() {
		var err error
		switch p.Get("type").Str {
		case "thinking":
			err = x.think(p.Get("thinking.0.text").String())
		default:
			err = x.say(p.Get("text").String())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (x *chatReply) think(s string) error {
	x.thought += len(s)
	x.written += len(s)
	if err := runaway(x.r, x.thought); err != nil {
		return err
	}
	return x.b.Thinking(s)
}

func (x *chatReply) say(s string) error {
	x.written += len(s)
	x.text.WriteString(s)
	return x.b.Text(s)
}

func (x *chatReply) call(v gjson.Result) error {
	id, name := v.Get("id").String(), v.Get("function.name").String()
	c := x.known(v.Get("index"), id, name)
	if c == nil {
		at := len(x.calls)
		if i := v.Get("index"); i.Type == gjson.Number {
			at = int(i.Int())
		}
		block, err := x.b.Call(x.fresh(id), x.names.own(name))
		if err != nil {
			return err
		}
		c = &openCall{at, id, block}
		x.calls = append(x.calls, c)
	}
	args := arguments(v.Get("function.arguments"))
	x.written += len(args)
	return x.b.Input(c.block, args)
}

// known finds the call that a piece belongs to. Servers number calls, or name
// them, or give all of them the number 0, or say nothing after the first piece.
func (x *chatReply) known(index gjson.Result, id, name string) *openCall {
	if len(x.calls) == 0 {
		return nil
	}
	last := x.calls[len(x.calls)-1]
	if index.Type != gjson.Number {
		if id != "" && id != last.id || id == "" && name != "" {
			return nil
		}
		return last
	}
	for i := len(x.calls) - 1; i >= 0; i-- {
		c := x.calls[i]
		if c.at != int(index.Int()) {
			continue
		}
		if id != "" && c.id != "" && id != c.id {
			return nil
		}
		return c
	}
	return nil
}

// taken are the ids of the calls that a request holds: some servers begin anew
// with each reply, and other APIs refuse an id that stands twice.
func taken(r *provider.Request) map[string]bool {
	out := map[string]bool{}
	for _, m := range r.Messages {
		for _, b := range m.Blocks {
			if u, ok := b.(*msg.ToolUse); ok {
				out[u.ID] = true
			}
		}
	}
	return out
}

// fresh is an id that no other call of the conversation has.
func (x *chatReply) fresh(id string) string {
	if id == "" {
		id = "call_" + x.id
	}
	out := id
	for n := 2; x.used[out]; n++ {
		out = fmt.Sprintf("%s_%d", id, n)
	}
	x.used[out] = true
	return out
}

// done is the end that the server announces.
func (x *chatReply) done() error {
	if !x.b.Begun() {
		return notAPI("Chat Completions", []byte("[DONE]"))
	}
	if x.reason == "" && x.b.Blocks() == 0 {
		return messages.Truncated(x.c.RequestID, nil)
	}
	return x.finish()
}

// end is the end of the stream: whole when the reply said why it ended.
func (x *chatReply) end() error {
	if x.b.Ended() || x.reason == "" {
		return nil
	}
	return x.finish()
}

func (x *chatReply) finish() error {
	if err := x.spoken(); err != nil {
		return err
	}
	if !x.counted {
		x.losses.tell("this server sends no token figures: they are estimated, and costs with them")
		x.usage = estimate(x.r, x.written)
	}
	return x.b.Finish(stopReason(x.reason, x.b.Calls()), x.usage)
}

// stopReason puts a reason into the words of the Messages API.
func stopReason(reason string, calls int) string {
	switch reason {
	case "length":
		return provider.StopMaxTokens
	case "content_filter":
		return provider.StopRefusal
	case "stop", "tool_calls", "function_call", "":
		if calls > 0 {
			return provider.StopToolUse
		}
		return provider.StopEndTurn
	}
	return reason
}

// spokenCall is the form that small models write calls in when their server
// does not recognise it: between tags, in a fence, or bare.
var spokenCall = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?s)^(?:<tool_call>|```(?:json)?)?\\s*(\\{.*\\})\\s*(?:</tool_call>|```)?$")
})

// spoken takes a call that the model wrote as text, when the whole text is
// nothing else and names a tool that was offered.
func (x *chatReply) spoken() error {
	text := strings.TrimSpace(x.text.String())
	if x.b.Calls() > 0 || len(x.r.Tools) == 0 || len(text) > 1<<20 {
		return nil
	}
	m := spokenCall().FindStringSubmatch(text)
	if m == nil || !gjson.Valid(m[1]) {
		return nil
	}
	v := gjson.Parse(m[1])
	name, args := v.Get("name").String(), v.Get("arguments")
	if !args.Exists() {
		args = v.Get("parameters")
	}
	if !x.names.has(name) || arguments(args) == "" {
		return nil
	}
	x.losses.tell("the model wrote a tool call as text; hew reads it as a call")
	i, err := x.b.Call(x.fresh(""), x.names.own(name))
	if err != nil {
		return err
	}
	return x.b.Input(i, arguments(args))
}

// whole takes an answer in one piece.
func (x *chatReply) whole(body []byte) error {
	v := gjson.ParseBytes(body)
	if !gjson.ValidBytes(body) || !v.IsObject() {
		return notAPI("Chat Completions", body)
	}
	if e := v.Get("error"); e.Exists() && e.Type != gjson.Null {
		return bodyError(e, x.c.RequestID)
	}
	m := v.Get("choices.0.message")
	if !m.IsObject() {
		return notAPI("Chat Completions", body)
	}
	x.id = v.Get("id").String()
	if err := x.b.Start(x.id, v.Get("model").String()); err != nil {
		return err
	}
	x.usage, x.counted = usage(v.Get("usage"))
	if err := x.delta(m); err != nil {
		return err
	}
	x.reason = v.Get("choices.0.finish_reason").String()
	return x.finish()
}
