package engine

import (
	"strings"

	"github.com/hew-agent/hew/internal/backend/picture"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// admit makes the pictures of a message fit before it enters the conversation:
// one that the model's API refuses would spoil every later request.
func (s *submission) admit(m *msg.Message) *msg.Message {
	if m == nil {
		return nil
	}
	blocks, problems := picture.Admit(m.Blocks)
	if len(problems) > 0 {
		s.keep(event.Event{Body: event.Notice{Level: event.Warning, Code: "picture", Text: strings.Join(problems, "; ")}})
	}
	if len(blocks) == 0 || &blocks[0] == &m.Blocks[0] {
		return m
	}
	fit := *m
	fit.Blocks = blocks
	return &fit
}

// bound is the one way of tool results into the conversation: pictures are
// made fit, then the result is cut to its budget.
func (e *Engine) bound(spec tool.Spec, use *msg.ToolUse, res tool.Result) tool.Result {
	res.Content, _ = picture.Admit(res.Content) // what cannot be shown says so in its place
	if e.c.Bound == nil {
		return res
	}
	return e.c.Bound(spec, use, res)
}
