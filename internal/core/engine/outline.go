package engine

import (
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// Outline is what people are shown of a call before it runs.
type Outline struct {
	Title string
	Act   tool.Act
	// Paths are the files that it wants to touch, absolute.
	Paths   []string
	Preview tool.View
}

// Outline describes a call. One that cannot be understood has its tool's name as
// title and nothing else.
func (e *Engine) Outline(use *msg.ToolUse) Outline {
	o := Outline{Title: use.Name, Act: tool.ActOther}
	t, ok := e.find(use.Name)
	if !ok {
		return o
	}
	call, err := t.Plan(use.Input, e.env())
	if err != nil {
		return o
	}
	o.Title, o.Preview, o.Act = call.Title(), call.Preview(), t.Spec().Act
	for _, n := range call.Needs() {
		if n.Path != "" {
			o.Paths = append(o.Paths, n.Path)
		}
		if o.Act == "" {
			o.Act = acts()[n.Kind]
		}
	}
	if o.Act == "" {
		o.Act = tool.ActOther
	}
	return o
}

// acts is what a call does by what it needs.
func acts() map[tool.NeedKind]tool.Act {
	return map[tool.NeedKind]tool.Act{
		tool.NeedRead: tool.ActRead, tool.NeedEdit: tool.ActEdit, tool.NeedExec: tool.ActExecute, tool.NeedFetch: tool.ActFetch,
	}
}
