package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// ToolAsker puts questions to a tool (--permission-prompt-tool): one of an MCP
// server, found when the question comes because servers come and go. The tool
// is called with {tool_name, input, tool_use_id} and answers with the text
// {"behavior":"allow","updatedInput":…} or {"behavior":"deny","message":…}.
// Whatever else happens is an error, and an error is no permission.
type ToolAsker struct {
	Name string
	// Find looks a tool up in the pool of the conversation.
	Find func(name string) (tool.Tool, bool)
	Env  func() tool.Env
	// Patience is how long an answer is waited for.
	Patience time.Duration
}

// maxAnswer bounds the text of an answer, in bytes.
const maxAnswer = 1 << 20

// Ask asks the tool. What only a person can say it is not asked.
func (a *ToolAsker) Ask(ctx context.Context, q event.Question) (event.Answer, error) {
	if q.Kind != event.AskPermission {
		return event.Answer{}, fmt.Errorf("only a person can answer it, and questions go to the tool %s", a.Name)
	}
	t, ok := a.Find(a.Name)
	if !ok {
		return event.Answer{}, fmt.Errorf("there is no tool %s (--permission-prompt-tool); its server may not be connected", a.Name)
	}
	input, err := json.Marshal(struct {
		Tool  string          `json:"tool_name"`
		Input json.RawMessage `json:"input"`
		Use   string          `json:"tool_use_id"`
	}{q.Tool, q.Use.Input, q.Use.ID})
	if err != nil {
		return event.Answer{}, fmt.Errorf("encode the question for %s: %w", a.Name, err)
	}
	call, err := t.Plan(input, a.Env())
	if err != nil {
		return event.Answer{}, fmt.Errorf("the tool %s does not take questions about permissions: %w", a.Name, err)
	}
	r, err := a.run(ctx, call)
	if err != nil {
		return event.Answer{}, err
	}
	return toolAnswer(a.Name, r)
}

// run waits for the tool, also for one that does not heed the end of ctx.
func (a *ToolAsker) run(ctx context.Context, call tool.Call) (tool.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, a.Patience)
	defer cancel()
	done := make(chan tool.Result, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- tool.Failure(fmt.Sprintf("it panicked: %v", p))
			}
		}()
		done <- call.Run(ctx, func(tool.Progress) {})
	}()
	select {
	case r := <-done:
		return r, nil
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return tool.Result{}, fmt.Errorf("the tool %s did not answer within %s", a.Name, a.Patience)
		}
		return tool.Result{}, ctx.Err()
	}
}

// toolAnswer reads what the tool said. An allowance must be said in so many
// words; an empty updatedInput leaves the input as it is.
func toolAnswer(name string, r tool.Result) (event.Answer, error) {
	var text strings.Builder
	for _, b := range r.Content {
		if t, ok := b.(*msg.Text); ok && text.Len() <= maxAnswer {
			text.WriteString(t.Text)
		}
	}
	switch {
	case r.IsError:
		return event.Answer{}, fmt.Errorf("the tool %s failed: %.300s", name, text.String())
	case text.Len() > maxAnswer:
		return event.Answer{}, fmt.Errorf("the tool %s answered with more than %d bytes", name, maxAnswer)
	}
	var in struct {
		Behavior  tool.Behavior      `json:"behavior"`
		Input     json.RawMessage    `json:"updatedInput"`
		Updates   []event.Suggestion `json:"updatedPermissions"`
		Message   string             `json:"message"`
		Interrupt bool               `json:"interrupt"`
	}
	if err := json.Unmarshal([]byte(text.String()), &in); err != nil {
		return event.Answer{}, fmt.Errorf("the tool %s answered with something else than {\"behavior\":…}: %w", name, err)
	}
	if string(in.Input) == "null" {
		in.Input = nil
	}
	switch in.Behavior {
	case tool.Allow:
		return event.Answer{Behavior: tool.Allow, Input: in.Input, Updates: in.Updates}, nil
	case tool.Deny:
		return event.Answer{Behavior: tool.Deny, Message: in.Message, Interrupt: in.Interrupt}, nil
	case tool.Ask:
	}
	return event.Answer{}, fmt.Errorf("the tool %s answered with the behavior %.40q, want allow or deny", name, in.Behavior)
}
