package wiring

import (
	"time"

	"github.com/hew-agent/hew/internal/action/gate"
	"github.com/hew-agent/hew/internal/tool"
)

// promptPatience is how long a tool may take to answer a question when
// MCP_TOOL_TIMEOUT says nothing: a person may be behind it.
const promptPatience = 10 * time.Minute

// promptTool lets a tool answer questions (--permission-prompt-tool).
func (b *build) promptTool() {
	if b.o.PromptTool == "" || b.o.Asker != nil || b.o.NoPrompts {
		return
	}
	patience := promptPatience
	if ms := b.number("MCP_TOOL_TIMEOUT"); ms > 0 {
		patience = time.Duration(ms) * time.Millisecond
	}
	b.o.Asker = &gate.ToolAsker{
		Name: b.o.PromptTool, Patience: patience,
		Find: func(name string) (tool.Tool, bool) { return b.conv.Engine.Tool(name) },
		Env:  func() tool.Env { return b.conv.Engine.Env() },
	}
}
