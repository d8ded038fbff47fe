package streamjson

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hew-agent/hew/internal/action/hook"
)

// Hook runs a hook that is a callback in the host program.
func (h *Host) Hook(ctx context.Context, c hook.HostCall) (json.RawMessage, error) {
	raw, err := h.put(ctx, "a hook", struct {
		Subtype string          `json:"subtype"`
		ID      string          `json:"callback_id"`
		Input   json.RawMessage `json:"input"`
		Use     string          `json:"tool_use_id,omitempty"`
	}{"hook_callback", c.ID, c.Input, c.UseID})
	if err != nil {
		return nil, err
	}
	var out json.RawMessage
	if err := unpack(raw, &out); err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return json.RawMessage("{}"), nil
	}
	return out, nil
}

// Dialog shows one of the dialogs that the host has declared, and returns what
// was entered; ok is false when it was cancelled.
func (h *Host) Dialog(ctx context.Context, kind, use string, payload json.RawMessage) (result json.RawMessage, ok bool, err error) {
	raw, err := h.asked(ctx, "a dialog", struct {
		Subtype string          `json:"subtype"`
		Kind    string          `json:"dialog_kind"`
		Payload json.RawMessage `json:"payload"`
		Use     string          `json:"tool_use_id,omitempty"`
	}{"request_user_dialog", kind, payload, use})
	if err != nil {
		return nil, false, err
	}
	var in struct {
		Behavior string          `json:"behavior"`
		Result   json.RawMessage `json:"result"`
	}
	if err := unpack(raw, &in); err != nil {
		return nil, false, fmt.Errorf("the dialog %s: %w", kind, err)
	}
	return in.Result, in.Behavior == "completed", nil
}
