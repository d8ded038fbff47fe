package hew

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/hew-agent/hew/internal/action/hook"
)

// Hook is called when something happens. The events and what each may answer are
// those of docs/hooks.md.
type Hook struct {
	// Event is its name: PreToolUse, PostToolUse, UserPromptSubmit, Stop, ….
	Event string
	// Matcher is a regular expression over the event's subject, for events of tools
	// the tool's name; "" is all.
	Matcher string
	Run     func(ctx context.Context, in HookInput) (HookOutput, error)
}

// HookInput is what happened.
type HookInput struct {
	Event     string          `json:"hook_event_name"`
	Session   string          `json:"session_id"`
	Cwd       string          `json:"cwd"`
	Tool      string          `json:"tool_name"`
	ToolInput json.RawMessage `json:"tool_input"`
	Prompt    string          `json:"prompt"`
	// Raw is all of it, as hooks that are commands read it.
	Raw json.RawMessage `json:"-"`
}

// HookOutput is what a hook wants; the zero value wants nothing.
type HookOutput struct {
	// Permission is allow, deny or ask, for PreToolUse; Input replaces the call's.
	Permission string
	Input      json.RawMessage
	// Block keeps a prompt from the model, or the run from ending; Reason says why.
	Block  bool
	Reason string
	// Context is told to the model.
	Context string
	// Stop ends the run.
	Stop bool
}

func (o HookOutput) json(event string) json.RawMessage {
	out := map[string]any{}
	if o.Block {
		out["decision"] = "block"
	}
	if o.Stop {
		out["continue"], out["stopReason"] = false, o.Reason
	}
	if o.Reason != "" {
		out["reason"] = o.Reason
	}
	own := map[string]any{"hookEventName": event}
	if o.Permission != "" {
		own["permissionDecision"], own["permissionDecisionReason"] = o.Permission, o.Reason
	}
	if len(o.Input) > 0 {
		own["updatedInput"] = o.Input
	}
	if o.Context != "" {
		own["additionalContext"] = o.Context
	}
	if len(own) > 1 {
		out["hookSpecificOutput"] = own
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return json.RawMessage("{}") // Input is no JSON; the call stays as it is
	}
	return raw
}

// hooks are the hooks of the caller as the engine knows those of a host.
func hooks(list []Hook) (json.RawMessage, func(context.Context, hook.HostCall) (json.RawMessage, error), error) {
	if len(list) == 0 {
		return nil, nil, nil
	}
	type group struct {
		Matcher string   `json:"matcher,omitempty"`
		IDs     []string `json:"hookCallbackIds"`
	}
	table := map[string][]group{}
	for i, h := range list {
		if h.Run == nil {
			return nil, nil, fmt.Errorf("the hook of %s has no function", h.Event)
		}
		table[h.Event] = append(table[h.Event], group{h.Matcher, []string{strconv.Itoa(i)}})
	}
	raw, err := json.Marshal(table)
	if err != nil {
		return nil, nil, err // texts: cannot fail
	}
	if raw, err = hook.HostHooks(raw); err != nil {
		return nil, nil, err
	}
	return raw, func(ctx context.Context, c hook.HostCall) (json.RawMessage, error) {
		i, err := strconv.Atoi(c.ID)
		if err != nil || i < 0 || i >= len(list) {
			return nil, fmt.Errorf("there is no hook %q", c.ID)
		}
		in := HookInput{Raw: c.Input}
		if err := json.Unmarshal(c.Input, &in); err != nil {
			return nil, fmt.Errorf("the input of the hook: %w", err)
		}
		out, err := list[i].Run(ctx, in)
		if err != nil {
			return nil, err
		}
		return out.json(in.Event), nil
	}, nil
}
