// Package messages holds the wire form of the Anthropic Messages API: request bodies, event streams, error answers.
//
// The Anthropic adapter and the scripted model share it, so that both speak
// exactly the same bytes.
package messages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/msg"
)

// Limits of the API: cache marks of one request, and the least thinking budget.
const (
	MaxMarks  = 4
	minBudget = 1024
)

// Member is one top-level member of a request body; one without a Value is left
// out of the body.
type Member struct {
	Key   string
	Value json.RawMessage
}

// ParseExtra reads a JSON object whose members are to be put into each request
// (the variable CLAUDE_CODE_EXTRA_BODY). Members that hew must own, because
// history and prompt cache hang on them, are refused.
func ParseExtra(s string) ([]Member, error) {
	if s == "" {
		return nil, nil
	}
	v := gjson.Parse(s)
	if !gjson.Valid(s) || !v.IsObject() {
		return nil, fmt.Errorf("extra request body: not a JSON object")
	}
	var out []Member
	var err error
	v.ForEach(func(k, val gjson.Result) bool {
		switch k.String() {
		case "messages", "system", "tools", "stream", "model":
			err = fmt.Errorf("extra request body: member %q cannot be replaced", k.String())
			return false
		}
		out = append(out, Member{k.String(), json.RawMessage(val.Raw)})
		return true
	})
	return out, err
}

// Body is a request body made of segments that share the memory of the
// messages' blocks: a history of many megabytes is never copied.
type Body struct {
	// The body is head, shared and segs in this order; shared belongs to an
	// Encoder's prefix.
	head, shared, segs [][]byte
	size               int64
}

// Encode writes r as a request to create a message. Tools, system and messages
// come last and in this order, so that they form a growing prefix.
//
// A thinking budget that leaves no room for an answer is lowered below
// MaxTokens; thinking is left out together with ForceTool, since the API
// refuses the pair.
func Encode(r *provider.Request, extra []Member) *Body { return encode(r, extra, nil) }

func encode(r *provider.Request, extra []Member, known *prefix) *Body {
	e := newEncoder(r, extra, known)
	e.member("model", msg.Encode(r.Model))
	e.member("max_tokens", strconv.AppendInt(nil, int64(r.MaxTokens), 10))
	e.member("stream", strconv.AppendBool(nil, !r.Whole))
	e.thinking(r)
	if r.Effort != "" {
		e.member("output_config", []byte(`{"effort":`+string(msg.Encode(r.Effort))+`}`))
	}
	if r.Session != "" {
		e.member("metadata", []byte(`{"user_id":`+string(msg.Encode(r.Session))+`}`))
	}
	for _, m := range extra {
		if m.Value != nil {
			e.add(m.Key, m.Value)
		}
	}
	e.prompt(r, markJSON(r.Mark))
	return &e.Body
}

// EncodeCount writes r as a request to count its tokens.
func EncodeCount(r *provider.Request) *Body {
	e := newEncoder(r, nil, nil)
	e.member("model", msg.Encode(r.Model))
	e.thinking(r)
	e.prompt(r, nil)
	return &e.Body
}

type encoder struct {
	Body
	extra []Member
	first bool
	known *prefix // nil: nothing is shared
}

func newEncoder(r *provider.Request, extra []Member, known *prefix) *encoder {
	n := 32 + 2*len(r.Tools) + 8*len(r.System) + 4*len(extra)
	if known == nil {
		n += segments(r.Messages)
	}
	return &encoder{Body: Body{segs: make([][]byte, 0, n)}, extra: extra, first: true, known: known}
}

// segments is about how many segments messages make.
func segments(ms []*msg.Message) int {
	n := 0
	for _, m := range ms {
		n += 8 + 2*len(m.Blocks)
	}
	return n
}

func (e *encoder) bytes(b []byte) {
	e.segs = append(e.segs, b)
	e.size += int64(len(b))
}

func (e *encoder) raw(s string) { e.bytes([]byte(s)) }

// member writes one member unless the extra body replaces it.
func (e *encoder) member(key string, value []byte) {
	for _, m := range e.extra {
		if m.Key == key {
			return
		}
	}
	e.add(key, value)
}

func (e *encoder) add(key string, value []byte) {
	open := ","
	if e.first {
		open, e.first = "{", false
	}
	e.raw(open + string(msg.Encode(key)) + ":")
	e.bytes(value)
}

func (e *encoder) thinking(r *provider.Request) {
	switch {
	case r.ForceTool != "":
		e.member("tool_choice", []byte(`{"type":"tool","name":`+string(msg.Encode(r.ForceTool))+`}`))
	case r.Thinking.Adaptive:
		e.member("thinking", []byte(`{"type":"adaptive"`+display(r.Thinking)+`}`))
	case r.Thinking.Budget > 0:
		n := r.Thinking.Budget
		if r.MaxTokens > 0 {
			n = min(n, r.MaxTokens-1)
		}
		if n >= minBudget {
			e.member("thinking", []byte(`{"type":"enabled","budget_tokens":`+strconv.Itoa(n)+`}`))
		}
	}
}

func display(t provider.Thinking) string {
	if t.Display == "" {
		return ""
	}
	return `,"display":` + string(msg.Encode(t.Display))
}

func (e *encoder) prompt(r *provider.Request, mark []byte) {
	if len(r.Tools) > 0 {
		e.raw(`,"tools":[`)
		for i, t := range r.Tools {
			e.comma(i)
			e.bytes(t.JSON)
		}
		e.raw("]")
	}
	marks := MaxMarks
	if len(r.System) > 0 {
		e.system(r.System, mark)
		marks--
	}
	marked := marksAt(r, mark, marks)
	e.raw(`,"messages":[`)
	from := e.share(r.Messages, marked)
	for i, m := range r.Messages[from:] {
		i += from
		e.comma(i)
		var here []byte
		if marked[i] {
			here = mark
		}
		from := len(e.segs)
		e.segs = m.Segments(e.segs, here)
		for _, s := range e.segs[from:] {
			e.size += int64(len(s))
		}
	}
	e.raw("]}")
}

func (e *encoder) comma(i int) {
	if i > 0 {
		e.bytes(comma)
	}
}

// comma is shared by all bodies and never written to.
var comma = []byte(",")

// marksAt keeps the newest marks that the API's limit leaves room for.
func marksAt(r *provider.Request, mark []byte, room int) map[int]bool {
	if len(mark) == 0 {
		return nil
	}
	at := r.MarkAt[max(0, len(r.MarkAt)-room):]
	out := make(map[int]bool, len(at))
	for _, i := range at {
		out[i] = true
	}
	return out
}

func (e *encoder) system(blocks []provider.SystemBlock, mark []byte) {
	e.raw(`,"system":[`)
	for i, b := range blocks {
		e.comma(i)
		e.raw(`{"type":"text","text":`)
		e.bytes(msg.Encode(b.Text))
		if i == len(blocks)-1 && len(mark) > 0 {
			e.bytes(comma)
			e.bytes(mark)
		}
		e.raw("}")
	}
	e.raw("]")
}

func markJSON(ttl string) []byte {
	switch ttl {
	case "":
		return nil
	case "5m":
		return []byte(`"cache_control":{"type":"ephemeral"}`)
	}
	return []byte(`"cache_control":{"type":"ephemeral","ttl":` + string(msg.Encode(ttl)) + `}`)
}

// Len is the size of the body in bytes.
func (b *Body) Len() int64 { return b.size }

// Bytes joins the body into one slice, for callers that have no use for a stream.
func (b *Body) Bytes() []byte { return bytes.Join(slices.Concat(b.head, b.shared, b.segs), nil) }

// Reader starts a new reading of the body; each call is independent of the others.
func (b *Body) Reader() io.ReadCloser {
	return &reader{segs: b.head, rest: [2][][]byte{b.shared, b.segs}}
}

type reader struct {
	segs [][]byte
	at   int // in segs[0]
	rest [2][][]byte
}

func (r *reader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if len(r.segs) == 0 {
			if r.segs, r.rest = r.rest[0], [2][][]byte{r.rest[1]}; len(r.segs) == 0 && len(r.rest[0]) == 0 {
				break
			}
			continue
		}
		k := copy(p[n:], r.segs[0][r.at:])
		n += k
		r.at += k
		if r.at == len(r.segs[0]) {
			r.segs, r.at = r.segs[1:], 0
		}
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (r *reader) Close() error { return nil }

// compact puts JSON on one line: blocks end up in line-based transcripts.
func compact(raw []byte) []byte {
	if !bytes.ContainsAny(raw, "\n\r") {
		return raw
	}
	var buf bytes.Buffer
	if json.Compact(&buf, raw) != nil {
		return raw
	}
	return buf.Bytes()
}

// emptyObject is the input of a call without one.
func emptyObject() json.RawMessage { return json.RawMessage("{}") }

// decodeBlock reads a block whose JSON has been checked already.
func decodeBlock(raw []byte) (msg.Block, error) { return msg.DecodeBlock(compact(raw)) }

// NewBody is a body in one piece.
func NewBody(data []byte) *Body { return &Body{segs: [][]byte{data}, size: int64(len(data))} }
