package script

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// rendered is a reply, ready to be sent.
type rendered struct {
	id, model  string
	stopReason string
	usage      string // JSON
	startUsage string // JSON, before any output
	blocks     []renderedBlock
	signed     map[string]signed
}

type renderedBlock struct {
	start  string // JSON
	deltas []string
	delay  time.Duration
	// whole is the block in one piece, size about how long that is. It is made
	// on demand: a text for a bench may be many megabytes.
	whole func() string
	size  int
}

func (b renderedBlock) as(whole string) renderedBlock {
	b.whole, b.size = func() string { return whole }, len(whole)
	return b
}

// reply is what a step needs to know of its place in the conversation.
type reply struct {
	step   *Step
	r      *request
	v      values
	serial int // how many steps were used before
	chunk  int
	usage  usage
}

type usage struct{ input, created, read int }

// render fills in a step's blocks.
func (p reply) render() (*rendered, error) {
	out := &rendered{
		id:     fmt.Sprintf("msg_%02d_%03d", p.serial, len(p.r.messages)),
		model:  p.r.model,
		signed: map[string]signed{},
	}
	stop, bytes := "end_turn", 0
	for i, b := range p.step.Reply {
		rb, err := p.block(i, b, out)
		if err != nil {
			return nil, fmt.Errorf("reply %d: %w", i+1, err)
		}
		if b.Tool != "" {
			stop = "tool_use"
		}
		bytes += rb.size
		out.blocks = append(out.blocks, rb)
	}
	if p.step.StopReason != "" {
		stop = p.step.StopReason
	}
	out.stopReason = stop
	out.startUsage = p.usage.json(1)
	out.usage = p.usage.json(max(1, bytes/4))
	if len(p.step.Usage) > 0 {
		out.usage = string(p.step.Usage)
		out.startUsage = out.usage
	}
	return out, nil
}

func (u usage) json(output int) string {
	return fmt.Sprintf(`{"input_tokens":%d,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,`+
		`"cache_creation":{"ephemeral_5m_input_tokens":%d,"ephemeral_1h_input_tokens":0},"output_tokens":%d}`,
		u.input, u.created, u.read, u.created, output)
}

func (p reply) block(i int, b Reply, out *rendered) (renderedBlock, error) {
	delay := time.Duration(b.DelayMS) * time.Millisecond
	switch {
	case b.Tool != "":
		rb, err := p.tool(i, b)
		rb.delay = delay
		return rb, err
	case b.Text != "":
		text, err := p.v.expand(b.Text, plain)
		return p.text(text, b.Times, delay), err
	case b.Redacted != "":
		raw := `{"type":"redacted_thinking","data":` + quote(b.Redacted) + `}`
		return renderedBlock{start: raw, delay: delay}.as(raw), nil
	case len(b.Block) > 0:
		raw, err := p.v.expand(oneLine(b.Block), inString)
		return renderedBlock{start: raw, delay: delay}.as(raw), err
	}
	text, err := p.v.expand(b.Thinking, plain)
	sig := b.Signature
	if sig == "" {
		sig = mint(p.r.model, text)
	}
	out.signed[sig] = signed{text: text, model: p.r.model}
	rb := renderedBlock{start: `{"type":"thinking","thinking":"","signature":""}`, delay: delay}
	rb = rb.as(`{"type":"thinking","thinking":` + quote(text) + `,"signature":` + quote(sig) + `}`)
	for _, s := range split(text, p.chunk) {
		rb.deltas = append(rb.deltas, `{"type":"thinking_delta","thinking":`+quote(s)+`}`)
	}
	rb.deltas = append(rb.deltas, `{"type":"signature_delta","signature":`+quote(sig)+`}`)
	return rb, err
}

func (p reply) text(text string, times int, delay time.Duration) renderedBlock {
	rb := renderedBlock{start: `{"type":"text","text":""}`, delay: delay}
	pieces := split(text, p.chunk)
	if times > 0 {
		pieces = make([]string, times)
		for i := range pieces {
			pieces[i] = text
		}
	}
	last, lastDelta := "", ""
	for _, s := range pieces {
		if s != last || lastDelta == "" {
			last, lastDelta = s, `{"type":"text_delta","text":`+quote(s)+`}`
		}
		rb.deltas = append(rb.deltas, lastDelta)
	}
	rb.size = len(text) * max(1, times)
	rb.whole = func() string { return `{"type":"text","text":` + quote(strings.Repeat(text, max(1, times))) + `}` }
	return rb
}

func (p reply) tool(i int, b Reply) (renderedBlock, error) {
	id := b.ID
	if id == "" {
		id = fmt.Sprintf("toolu_%02d_%03d_%d", p.serial, len(p.r.messages), i+1)
	}
	head := `{"type":"tool_use","id":` + quote(id) + `,"name":` + quote(b.Tool) + `,"input":`
	input, err := "", error(nil)
	if b.Raw != "" {
		input, err = p.v.expand(b.Raw, inString)
	} else if input, err = p.v.expand(oneLine(b.Input), inString); input == "" {
		input = "{}"
	}
	rb := renderedBlock{start: head + "{}}"}.as(head + input + "}")
	if !gjson.Valid(input) {
		rb = rb.as(head + quote(input) + "}") // the closest that one piece of JSON can come
	}
	for _, s := range split(input, p.chunk) {
		rb.deltas = append(rb.deltas, `{"type":"input_json_delta","partial_json":`+quote(s)+`}`)
	}
	return rb, err
}

// oneLine takes the layout out of JSON that was written for people.
func oneLine(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	return gjson.GetBytes(raw, "@ugly").Raw
}

// split cuts s into pieces of n characters.
func split(s string, n int) []string {
	if n <= 0 {
		n = 24
	}
	var out []string
	for len(s) > 0 {
		end := 0
		for k := 0; k < n && end < len(s); k++ {
			end++
			for end < len(s) && s[end]&0xc0 == 0x80 {
				end++
			}
		}
		out = append(out, s[:end])
		s = s[end:]
	}
	return out
}

// message is the reply in one piece.
func (p *rendered) message(blocks []string, usage, stop string) string {
	return `{"id":` + quote(p.id) + `,"type":"message","role":"assistant","model":` + quote(p.model) +
		`,"content":[` + strings.Join(blocks, ",") + `],"stop_reason":` + stop + `,"stop_sequence":null,"usage":` + usage + `}`
}

func (p *rendered) whole() string {
	var blocks []string
	for _, b := range p.blocks {
		blocks = append(blocks, b.whole())
	}
	return p.message(blocks, p.usage, quote(p.stopReason))
}
