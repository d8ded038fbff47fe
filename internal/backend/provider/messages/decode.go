package messages

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/msg"
)

// Decoder turns the events of one reply into parts.
type Decoder struct {
	c       Config
	started bool
	ended   bool
	usage   msg.Usage
	open    map[int]*openBlock
}

// Config says what a Decoder delivers.
type Config struct {
	// RequestID is the request's id as the HTTP header gave it.
	RequestID string
	// Events asks for the raw events.
	Events bool
	// Yield takes each part; false ends the decoding.
	Yield func(provider.Part) bool
}

// NewDecoder starts the decoding of one reply.
func NewDecoder(c Config) *Decoder { return &Decoder{c: c, open: map[int]*openBlock{}} }

// Ended tells whether the reply is complete (message_stop has been seen).
func (d *Decoder) Ended() bool { return d.ended }

// Event takes the data of one event. It returns ErrStopped when the consumer
// has left, otherwise a *provider.Error. Unknown kinds of event are passed
// over, as the API's rules for versions ask.
func (d *Decoder) Event(data []byte) error {
	if len(data) == 0 || string(data) == "[DONE]" || d.ended {
		return nil
	}
	if !gjson.ValidBytes(data) {
		return protocolError("an event that is not JSON: " + snippet(data))
	}
	// Nothing below keeps v beyond this call without cloning.
	v := gjson.Parse(unsafe.String(&data[0], len(data)))
	switch v.Get("type").Str {
	case "content_block_delta":
		return d.delta(v, data)
	case "content_block_start":
		return d.blockStart(v, data)
	case "content_block_stop":
		return d.blockStop(int(v.Get("index").Int()), data)
	case "message_start":
		return d.messageStart(v, data)
	case "message_delta":
		return d.messageDelta(v, data)
	case "message_stop":
		return d.messageStop(data)
	case "error":
		return eventError(v, d.c.RequestID)
	}
	return nil
}

func (d *Decoder) yield(p provider.Part) error {
	if !d.c.Yield(p) {
		return ErrStopped
	}
	return nil
}

func (d *Decoder) raw(data []byte) json.RawMessage {
	if !d.c.Events {
		return nil
	}
	return compact(slices.Clone(data))
}

func (d *Decoder) messageStart(v gjson.Result, data []byte) error {
	m := v.Get("message")
	d.addUsage(m.Get("usage"))
	d.started = true
	return d.yield(provider.Started{
		MessageID: strings.Clone(m.Get("id").Str),
		RequestID: d.c.RequestID,
		Model:     strings.Clone(m.Get("model").Str),
		Usage:     d.usage,
		Raw:       d.raw(data),
	})
}

// addUsage lays the members that are present over what is known: the figures
// of message_delta are cumulative. Figures of a wrong type are passed over.
func (d *Decoder) addUsage(u gjson.Result) {
	if !u.IsObject() {
		return
	}
	next := d.usage
	if json.Unmarshal([]byte(u.Raw), &next) == nil {
		d.usage = next
	}
}

func (d *Decoder) blockStart(v gjson.Result, data []byte) error {
	if !d.started {
		return protocolError("a content block before message_start")
	}
	i, b := int(v.Get("index").Int()), v.Get("content_block")
	kind := b.Get("type")
	if !b.IsObject() || kind.Type != gjson.String {
		return protocolError("a content_block_start without a typed block")
	}
	if d.open[i] != nil {
		return protocolError(fmt.Sprintf("block %d was opened twice", i))
	}
	d.open[i] = &openBlock{start: []byte(b.Raw)}
	p := provider.BlockStarted{Index: i, Type: strings.Clone(kind.Str), Raw: d.raw(data)}
	p.ID, p.Name = strings.Clone(b.Get("id").Str), strings.Clone(b.Get("name").Str)
	return d.yield(p)
}

func (d *Decoder) delta(v gjson.Result, data []byte) error {
	i := int(v.Get("index").Int())
	b := d.open[i]
	if b == nil {
		return protocolError(fmt.Sprintf("a delta for block %d, which is not open", i))
	}
	p := provider.BlockDelta{Index: i, Raw: d.raw(data)}
	in := v.Get("delta")
	switch in.Get("type").Str {
	case "text_delta":
		p.Kind, p.Text = provider.DeltaText, take(&b.text, in.Get("text"))
	case "thinking_delta":
		p.Kind, p.Text = provider.DeltaThinking, take(&b.thinking, in.Get("thinking"))
	case "signature_delta":
		p.Kind, p.Text = provider.DeltaSignature, take(&b.signature, in.Get("signature"))
	case "input_json_delta":
		p.Kind, p.Text = provider.DeltaInput, take(&b.input, in.Get("partial_json"))
	case "citations_delta":
		if c := in.Get("citation"); c.IsObject() {
			b.citations = append(b.citations, strings.Clone(c.Raw))
		}
	}
	return d.yield(p)
}

// take appends the inside of a JSON string to dst as it was written, and
// returns its value. Keeping the escapes until the block is complete joins
// pairs of them that a server has split.
func take(dst *[]byte, v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	*dst = extend(*dst, v.Raw[1:len(v.Raw)-1])
	return strings.Clone(v.Str)
}

func (d *Decoder) blockStop(i int, data []byte) error {
	b := d.open[i]
	if b == nil {
		return protocolError(fmt.Sprintf("the end of block %d, which is not open", i))
	}
	delete(d.open, i)
	block, malformed, err := b.finish()
	if err != nil {
		return protocolError(err.Error())
	}
	return d.yield(provider.BlockDone{Index: i, Block: block, Malformed: malformed, Raw: d.raw(data)})
}

// closeOpen ends blocks whose stop event a careless server left out although
// the reply itself is complete.
func (d *Decoder) closeOpen() error {
	left := make([]int, 0, len(d.open))
	for i := range d.open {
		left = append(left, i)
	}
	slices.Sort(left)
	for _, i := range left {
		stop := fmt.Appendf(nil, `{"type":"content_block_stop","index":%d}`, i)
		if err := d.blockStop(i, stop); err != nil {
			return err
		}
	}
	return nil
}

func (d *Decoder) messageDelta(v gjson.Result, data []byte) error {
	if !d.started {
		return protocolError("message_delta before message_start")
	}
	d.addUsage(v.Get("usage"))
	reason := v.Get("delta.stop_reason")
	if reason.Type != gjson.String {
		return nil // interim figures
	}
	if err := d.closeOpen(); err != nil {
		return err
	}
	return d.yield(provider.Finished{
		StopReason: strings.Clone(reason.Str), Usage: d.usage, Raw: d.raw(data),
	})
}

func (d *Decoder) messageStop(data []byte) error {
	if !d.started {
		return protocolError("message_stop before message_start")
	}
	if err := d.closeOpen(); err != nil {
		return err
	}
	d.ended = true
	return d.yield(provider.Ended{Raw: d.raw(data)})
}
