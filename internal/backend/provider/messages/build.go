package messages

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hew-agent/hew/internal/msg"
)

// Builder makes the parts of a reply that came in another API's form: it writes
// the events that the Messages API would have sent, so that one decoder serves
// all. Text and thinking come one after another; calls may come interleaved.
type Builder struct {
	d     *Decoder
	next  int  // index of the next block
	open  int  // the open text or thinking block, -1 for none
	think bool // the open block is thinking
	begun bool
	calls []int
}

// NewBuilder starts a reply.
func NewBuilder(c Config) *Builder { return &Builder{d: NewDecoder(c), open: -1} }

// Ended tells whether Finish has been called with success.
func (b *Builder) Ended() bool { return b.d.Ended() }

// Begun tells whether the reply has started.
func (b *Builder) Begun() bool { return b.begun }

// Blocks is how many blocks there were so far.
func (b *Builder) Blocks() int { return b.next }

// Calls is how many tool calls there were so far.
func (b *Builder) Calls() int { return len(b.calls) }

type startEvent struct {
	Type    string       `json:"type"`
	Message startMessage `json:"message"`
}

type startMessage struct {
	ID      string            `json:"id"`
	Type    string            `json:"type"`
	Role    string            `json:"role"`
	Model   string            `json:"model"`
	Content []json.RawMessage `json:"content"`
	Usage   msg.Usage         `json:"usage"`
}

// Start begins the reply; calls after the first do nothing.
func (b *Builder) Start(id, model string) error {
	if b.begun {
		return nil
	}
	b.begun = true
	return b.d.Event(msg.Encode(startEvent{"message_start", startMessage{
		ID: id, Type: "message", Role: "assistant", Model: model, Content: []json.RawMessage{},
	}}))
}

// Text adds text.
func (b *Builder) Text(s string) error {
	if s == "" {
		return nil
	}
	if b.open < 0 || b.think {
		if err := b.plain(`{"type":"text","text":""}`); err != nil {
			return err
		}
		b.think = false
	}
	return b.delta(b.open, `{"type":"text_delta","text":%s}`, s)
}

// Thinking adds reasoning.
func (b *Builder) Thinking(s string) error {
	if s == "" {
		return nil
	}
	if err := b.thinking(); err != nil {
		return err
	}
	return b.delta(b.open, `{"type":"thinking_delta","thinking":%s}`, s)
}

// Sign signs the open reasoning, or an empty piece of it, and closes it.
func (b *Builder) Sign(signature string) error {
	if signature == "" {
		return nil
	}
	if err := b.thinking(); err != nil {
		return err
	}
	if err := b.delta(b.open, `{"type":"signature_delta","signature":%s}`, signature); err != nil {
		return err
	}
	return b.Close()
}

func (b *Builder) thinking() error {
	if b.open >= 0 && b.think {
		return nil
	}
	b.think = true
	return b.plain(`{"type":"thinking","thinking":"","signature":""}`)
}

// Call opens a tool call and returns its index for Input.
func (b *Builder) Call(id, name string) (int, error) {
	if err := b.Close(); err != nil {
		return 0, err
	}
	i := b.next
	b.next++
	b.calls = append(b.calls, i)
	return i, b.d.Event(fmt.Appendf(nil, `{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":%s,"name":%s,"input":{}}}`,
		i, msg.Encode(id), msg.Encode(name)))
}

// Input adds to the input of call i.
func (b *Builder) Input(i int, s string) error {
	if s == "" {
		return nil
	}
	return b.delta(i, `{"type":"input_json_delta","partial_json":%s}`, s)
}

// Close ends the open text or reasoning, if any.
func (b *Builder) Close() error {
	if b.open < 0 {
		return nil
	}
	i := b.open
	b.open = -1
	return b.stop(i)
}

// Finish ends the reply.
func (b *Builder) Finish(reason string, u msg.Usage) error {
	if err := b.Close(); err != nil {
		return err
	}
	slices.Sort(b.calls)
	for _, i := range b.calls {
		if err := b.stop(i); err != nil {
			return err
		}
	}
	err := b.d.Event(fmt.Appendf(nil, `{"type":"message_delta","delta":{"stop_reason":%s,"stop_sequence":null},"usage":%s}`,
		msg.Encode(reason), msg.Encode(u)))
	if err != nil {
		return err
	}
	return b.d.Event([]byte(`{"type":"message_stop"}`))
}

func (b *Builder) plain(start string) error {
	if err := b.Close(); err != nil {
		return err
	}
	b.open = b.next
	b.next++
	return b.d.Event(fmt.Appendf(nil, `{"type":"content_block_start","index":%d,"content_block":%s}`, b.open, start))
}

func (b *Builder) delta(i int, form, s string) error {
	return b.d.Event(fmt.Appendf(nil, `{"type":"content_block_delta","index":%d,"delta":`+form+`}`, i, msg.Encode(s)))
}

func (b *Builder) stop(i int) error {
	return b.d.Event(fmt.Appendf(nil, `{"type":"content_block_stop","index":%d}`, i))
}
