package streamjson

import (
	"context"
	"encoding/json"

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
