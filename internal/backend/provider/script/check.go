package script

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/provider/messages"
)

// rules collects violations; the first is what the API would answer with.
type rules struct {
	r     *request
	found []string
}

// breach notes a violation.
func (c *rules) breach(format string, args ...any) {
	c.found = append(c.found, fmt.Sprintf(format, args...))
}

// check applies the rules of the API that need no memory of other requests.
// knownTools is a list of tools that has passed before.
func check(r *request, count bool, knownTools string) []string {
	c := &rules{r: r}
	c.shape(count)
	if r.toolsRaw != knownTools {
		c.tools()
	}
	c.marks()
	c.roles()
	for i, m := range r.messages {
		c.content(i, m)
		c.calls(i, m)
	}
	c.images()
	return c.found
}

func (c *rules) shape(count bool) {
	r := c.r
	if r.model == "" {
		c.breach("model: Field required")
	}
	if !count && r.maxTokens < 1 {
		c.breach("max_tokens: must be greater than or equal to 1")
	}
	if r.thinking == "budget" && (r.budget < 1024 || !count && r.budget >= r.maxTokens) {
		c.breach("`max_tokens` must be greater than `thinking.budget_tokens`, which must be at least 1024")
	}
	for i, b := range r.system {
		if b.Get("text").String() == "" {
			c.breach("system.%d: text content blocks must be non-empty", i)
		}
	}
	if !slices.Contains(provider.Breaks(), r.brk) && r.brk != "" {
		c.breach("hew: the reason %q for a new prefix is not in the closed list", r.brk)
	}
}

func (c *rules) roles() {
	ms := c.r.messages
	switch {
	case len(ms) == 0:
		c.breach("messages: at least one message is required")
		return
	case ms[0].role != "user":
		c.breach("messages: first message must use the \"user\" role")
	case ms[len(ms)-1].role == "assistant":
		c.breach("This model does not support assistant message prefill. The conversation must end with a user message.")
	}
	for i, m := range ms {
		switch m.role {
		case "user", "assistant", "system":
		default:
			c.breach("messages.%d.role: Unexpected role %q", i, m.role)
		}
	}
}

func (c *rules) content(i int, m message) {
	if len(m.blocks) == 0 || m.content.Type == gjson.String && m.content.Str == "" {
		c.breach("messages.%d: all messages must have non-empty content", i)
		return
	}
	for j, b := range m.blocks {
		at := fmt.Sprintf("messages.%d.content.%d", i, j)
		switch kind := b.Get("type"); kind.String() {
		case "":
			c.breach("%s.type: Field required", at)
		case "text":
			c.text(at, b)
		case "tool_result":
			for k, n := range blocksOf(b.Get("content")) {
				if n.Get("type").Str == "text" {
					c.text(fmt.Sprintf("%s.content.%d", at, k), n)
				}
			}
		case "thinking":
			if b.Get("signature").String() == "" {
				c.breach("%s.thinking.signature: Field required", at)
			}
		}
		if m.role == "user" && slices.Contains([]string{"tool_use", "thinking", "redacted_thinking"}, b.Get("type").Str) {
			c.breach("%s: `%s` blocks can only be in `assistant` messages", at, b.Get("type").Str)
		}
		if m.role != "user" && b.Get("type").Str == "tool_result" {
			c.breach("%s: `tool_result` blocks can only be in `user` messages", at)
		}
	}
}

func (c *rules) text(at string, b gjson.Result) {
	switch t := b.Get("text").String(); {
	case t == "":
		c.breach("%s: text content blocks must be non-empty", at)
	case strings.TrimSpace(t) == "":
		c.breach("%s: text content blocks must contain non-whitespace text", at)
	}
}

// calls checks that the calls of an assistant message are answered, each once
// and in order, at the head of the next message, and that nothing else is.
func (c *rules) calls(i int, m message) {
	if m.role == "user" {
		if i == 0 || c.r.messages[i-1].role != "assistant" {
			c.orphans(i, m, nil)
		}
		return
	}
	if m.role != "assistant" {
		return
	}
	var want []string
	for j, b := range m.blocks {
		if b.Get("type").Str != "tool_use" {
			continue
		}
		id := b.Get("id").String()
		if slices.Contains(want, id) {
			c.breach("messages.%d.content.%d: `tool_use` ids must be unique", i, j)
		}
		if !callID().MatchString(b.Get("id").String()) {
			c.breach("messages.%d.content.%d.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", i, j)
		}
		if !toolName().MatchString(b.Get("name").String()) {
			c.breach("messages.%d.content.%d.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", i, j)
		}
		if !b.Get("input").IsObject() {
			c.breach("messages.%d.content.%d.tool_use.input: Input should be a valid dictionary", i, j)
		}
		want = append(want, id)
	}
	var next message
	if i+1 < len(c.r.messages) {
		next = c.r.messages[i+1]
	}
	if next.role != "user" {
		next = message{}
	}
	got := c.orphans(i+1, next, want)
	missing := slices.DeleteFunc(slices.Clone(want), func(id string) bool { return slices.Contains(got, id) })
	if len(missing) > 0 {
		c.breach("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. "+
			"Each `tool_use` block must have a corresponding `tool_result` block in the next message.", i, strings.Join(missing, ", "))
	} else if len(got) == len(want) && !slices.Equal(got, want) {
		c.breach("hew: messages.%d: the results are not in the order of the calls", i+1)
	}
}

// orphans lists the answered ids of m, of which only want may be there.
func (c *rules) orphans(i int, m message, want []string) []string {
	var got []string
	head := true
	for j, b := range m.blocks {
		if b.Get("type").Str != "tool_result" {
			head = false
			continue
		}
		id := b.Get("tool_use_id").String()
		switch {
		case slices.Contains(got, id):
			c.breach("messages.%d.content.%d: each tool_use must have a single result. "+
				"Found multiple `tool_result` blocks with id: %s", i, j, id)
			continue
		case !slices.Contains(want, id):
			c.breach("messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s. "+
				"Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", i, j, id)
			continue
		case !head:
			c.breach("messages.%d.content.%d: `tool_result` blocks must come before other content", i, j)
		}
		got = append(got, id)
	}
	return got
}

func (c *rules) marks() {
	marks := c.r.marks
	if len(marks) > messages.MaxMarks {
		c.breach("A maximum of %d blocks with cache_control may be provided. Found %d.", messages.MaxMarks, len(marks))
	}
	for i, m := range marks {
		switch kind := m.block.Get("type").Str; {
		case kind == "thinking", kind == "redacted_thinking":
			c.breach("%s.%s.cache_control: Extra inputs are not permitted", m.where, kind)
		case kind == "text" && m.block.Get("text").String() == "":
			c.breach("%s: cache_control cannot be set for empty text blocks", m.where)
		}
		if m.ttl != "5m" && m.ttl != "1h" {
			c.breach("%s.cache_control.ttl: Input should be '5m' or '1h'", m.where)
		}
		if i > 0 && m.ttl == "1h" && marks[i-1].ttl == "5m" {
			c.breach("%s: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block", m.where)
		}
	}
}
