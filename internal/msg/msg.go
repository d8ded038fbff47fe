// Package msg holds Message, Block, Usage and the wire codec; unknown blocks are kept verbatim.
//
// The shapes are those of the Anthropic Messages API, which is hew's native
// form; adapters for other wire formats translate at their own border.
package msg

import (
	"encoding/json"
	"strings"
	"time"
)

// Role says who speaks in a message.
type Role string

// The roles of the Messages API. RoleSystem is only met in transcripts of
// newer models, where the harness may speak in the middle of a conversation.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleSystem    Role = "system"
)

// Message is one element of the linear conversation.
//
// A *Message is immutable once it is in a history: several goroutines and
// several requests share it, and the prompt cache depends on its bytes.
type Message struct {
	// ID is the uuid of the transcript entry that holds the message, or of the
	// first of them when it is stored as several entries. Never sent to a model.
	ID   string
	Role Role
	// Blocks are in wire order.
	Blocks []Block
	// Reply is set on assistant messages that a model produced.
	Reply *Reply
	// Meta marks text of the harness rather than of a person (reminders,
	// instruction files). Never sent to a model.
	Meta bool
	// Time is when the message came into being.
	Time time.Time
}

// Reply says which model reply an assistant message, or one block of it, belongs to.
type Reply struct {
	// ID is the API's message id, RequestID its request id: equal on all blocks
	// of one reply. Third-party usage readers de-duplicate by the pair.
	ID, RequestID string
	// Model is the model that answered, Requested the one that was asked for.
	Model, Requested string
	// Block is the index of the first block of this message in the reply.
	Block int
	// StopReason is empty until the reply is complete.
	StopReason string
	// Usage is the reply's usage as known when the message was made. Final
	// tells whether it is complete; until then OutputTokens is provisional.
	Usage Usage
	Final bool
	// Synthetic marks text that hew wrote in the model's place (an API error).
	Synthetic bool
}

// Usage is the token count of a request, as the Messages API reports it.
type Usage struct {
	InputTokens              int `json:"input_tokens"`
	OutputTokens             int `json:"output_tokens"`
	CacheCreationInputTokens int `json:"cache_creation_input_tokens"`
	CacheReadInputTokens     int `json:"cache_read_input_tokens"`
	// CacheCreation splits CacheCreationInputTokens by lifetime when the server tells.
	CacheCreation CacheCreation `json:"cache_creation"`
	ServerToolUse ServerToolUse `json:"server_tool_use"`
}

// CacheCreation splits written cache tokens by the lifetime of the entry.
type CacheCreation struct {
	Ephemeral5m int `json:"ephemeral_5m_input_tokens"`
	Ephemeral1h int `json:"ephemeral_1h_input_tokens"`
}

// ServerToolUse counts calls of tools that ran at the provider.
type ServerToolUse struct {
	WebSearchRequests int `json:"web_search_requests"`
	WebFetchRequests  int `json:"web_fetch_requests"`
}

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	u.InputTokens += v.InputTokens
	u.OutputTokens += v.OutputTokens
	u.CacheCreationInputTokens += v.CacheCreationInputTokens
	u.CacheReadInputTokens += v.CacheReadInputTokens
	u.CacheCreation.Ephemeral5m += v.CacheCreation.Ephemeral5m
	u.CacheCreation.Ephemeral1h += v.CacheCreation.Ephemeral1h
	u.ServerToolUse.WebSearchRequests += v.ServerToolUse.WebSearchRequests
	u.ServerToolUse.WebFetchRequests += v.ServerToolUse.WebFetchRequests
	return u
}

// Context is the number of tokens that were in the window when the reply
// ended: everything read, from the cache or not, and everything written.
func (u Usage) Context() int {
	return u.InputTokens + u.CacheCreationInputTokens + u.CacheReadInputTokens + u.OutputTokens
}

// User makes a user message from text.
func User(id string, at time.Time, text string) *Message {
	return &Message{ID: id, Role: RoleUser, Blocks: []Block{NewText(text)}, Time: at}
}

// Text joins the text blocks of m with nothing between them.
func (m *Message) Text() string {
	if len(m.Blocks) == 1 {
		if t, ok := m.Blocks[0].(*Text); ok {
			return t.Text
		}
	}
	var s strings.Builder
	for _, b := range m.Blocks {
		if t, ok := b.(*Text); ok {
			s.WriteString(t.Text)
		}
	}
	return s.String()
}

// ToolUses lists the tool calls of m in order.
func (m *Message) ToolUses() []*ToolUse {
	var out []*ToolUse
	for _, b := range m.Blocks {
		if u, ok := b.(*ToolUse); ok {
			out = append(out, u)
		}
	}
	return out
}

// Size is the number of bytes that Segments add up to.
func (m *Message) Size() int {
	n := len(openMessage) + len(m.Role) + len(openContent) + len(closeMessage)
	for i, b := range m.Blocks {
		if i > 0 {
			n++
		}
		n += len(b.JSON())
	}
	return n
}

const (
	openMessage  = `{"role":"`
	openContent  = `","content":[`
	closeMessage = `]}`
)

// Segments appends the message's wire form to dst as slices that share the
// blocks' memory, so that a request of many megabytes is sent without a copy.
// mark, when not empty, is a JSON member such as `"cache_control":{…}` that is
// put into the last block; a block that cannot carry it (thinking) is left
// alone and the one before it tried, as the API allows no mark on thinking.
func (m *Message) Segments(dst [][]byte, mark []byte) [][]byte {
	at := -1
	if len(mark) > 0 {
		at = m.markable()
	}
	dst = append(dst, openBytes, m.Role.bytes(), contentBytes)
	for i, b := range m.Blocks {
		if i > 0 {
			dst = append(dst, commaBytes)
		}
		raw := b.JSON()
		if i != at {
			dst = append(dst, raw)
			continue
		}
		dst = append(dst, raw[:len(raw)-1], commaBytes, mark, []byte("}"))
	}
	return append(dst, closeBytes)
}

// The segments that all messages share; nothing writes to them. A long history
// is put into a request every turn, so they are not made anew.
var (
	openBytes      = []byte(openMessage)
	contentBytes   = []byte(openContent)
	closeBytes     = []byte(closeMessage)
	commaBytes     = []byte(",")
	userBytes      = []byte(RoleUser)
	assistantBytes = []byte(RoleAssistant)
)

func (r Role) bytes() []byte {
	switch r {
	case RoleUser:
		return userBytes
	case RoleAssistant:
		return assistantBytes
	case RoleSystem:
	}
	return []byte(r)
}

func (m *Message) markable() int {
	for i := len(m.Blocks) - 1; i >= 0; i-- {
		switch m.Blocks[i].(type) {
		case *Thinking, *Opaque:
			continue
		case *Text, *ToolUse, *ToolResult, *Image, *Document:
			return i
		}
	}
	return -1
}

// JSON is the wire form in one piece, for tests, tools and small requests.
func (m *Message) JSON() json.RawMessage {
	out := make([]byte, 0, m.Size())
	for _, s := range m.Segments(nil, nil) {
		out = append(out, s...)
	}
	return out
}

// tokenBytes is the average number of bytes of a token in mixed code and
// prose. It only bridges the gap between two usage figures of the provider.
const tokenBytes = 3.5

// imageTokens is the published upper bound of one image after resizing.
const imageTokens = 1600

// EstimateTokens guesses the tokens of m from its size. Real figures come from
// the provider's usage; the guess covers what was added since.
func (m *Message) EstimateTokens() int {
	n := 4
	for _, b := range m.Blocks {
		n += estimate(b)
	}
	return n
}

func estimate(b Block) int {
	switch b := b.(type) {
	case *Image:
		return imageTokens
	case *ToolResult:
		n := 8
		for _, c := range b.Content {
			n += estimate(c)
		}
		return n
	case *Text, *Thinking, *ToolUse, *Document, *Opaque:
		return int(float64(len(b.JSON())) / tokenBytes)
	}
	return 0
}
