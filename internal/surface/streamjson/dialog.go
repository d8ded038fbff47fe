package streamjson

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/event"
)

// RefusalDialog is the kind of the one dialog that hew knows: the model has
// refused to answer, and there is another to ask.
const RefusalDialog = "refusal_fallback_prompt"

// Declare says which kinds of dialog the host can show. No other is sent.
func (h *Host) Declare(kinds []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dialogs = slices.Clone(kinds)
}

func (h *Host) shows(kind string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Contains(h.dialogs, kind)
}

// Dialog puts a dialog of a kind to the person behind the host. The result is
// nil when it was put away.
func (h *Host) Dialog(ctx context.Context, kind string, payload any) (json.RawMessage, error) {
	if !h.shows(kind) {
		return nil, fmt.Errorf("the host has not declared that it shows dialogs of the kind %s", kind)
	}
	raw, err := h.asked(ctx, "a dialog", struct {
		Subtype string `json:"subtype"`
		Kind    string `json:"dialog_kind"`
		Payload any    `json:"payload"`
	}{"request_user_dialog", kind, payload})
	if err != nil {
		return nil, err
	}
	var in struct {
		Behavior string          `json:"behavior"`
		Result   json.RawMessage `json:"result"`
	}
	if err := unpack(raw, &in); err != nil {
		return nil, fmt.Errorf("a dialog: %w", err)
	}
	if in.Behavior != "completed" {
		return nil, nil
	}
	return in.Result, nil
}

// agrees reads the answer to a dialog that is a yes or a no: true, or a word
// alone or under "action", "choice" or "decision" that is no refusal.
func agrees(result json.RawMessage) bool {
	var v any
	if json.Unmarshal(result, &v) != nil {
		return false
	}
	if m, ok := v.(map[string]any); ok {
		for _, k := range []string{"action", "choice", "decision"} {
			if m[k] != nil {
				v = m[k]
			}
		}
	}
	switch v := v.(type) {
	case bool:
		return v
	case string:
		return slices.Contains([]string{"retry", "accept", "yes", "switch", "fallback", "allow"}, strings.ToLower(v))
	}
	return false
}

// refused is the run again with the next model, when the model has refused to
// answer and the host's person agrees; nil when it stays refused.
func (s *Surface) refused(ctx context.Context, t event.Terminal, in engine.Input) *engine.Input {
	if s.c.Format != StreamJSON || t.Reason != event.ModelError || t.StopReason != provider.StopRefusal {
		return nil
	}
	model := s.live.Engine.Model().ID
	next, ok := s.other(ctx, model, in)
	if !ok {
		s.p.write(struct {
			envelope
			Model   string  `json:"original_model"`
			Request *string `json:"request_id"`
			Text    string  `json:"content"`
		}{s.p.head("system", "model_refusal_no_fallback"), model, nil, "The model " + model + " refused to answer."})
		return nil
	}
	retracted := replies(t, in)
	if _, err := s.live.Engine.Rewind(ctx, engine.Rewind{To: in.Message.ID, Conversation: true}); err != nil {
		s.Tell(event.Notice{Level: event.Warning, Code: "refusal", Text: "the prompt cannot be asked again: " + err.Error()})
		return nil
	}
	if err := s.live.Engine.SetModel(ctx, next, "refusal", nil); err != nil {
		s.Tell(event.Notice{Level: event.Warning, Code: "refusal", Text: err.Error()})
		return nil
	}
	s.p.write(struct {
		envelope
		Trigger   string   `json:"trigger"`
		Direction string   `json:"direction"`
		Scope     string   `json:"scope"`
		From      string   `json:"original_model"`
		To        string   `json:"fallback_model"`
		Request   *string  `json:"request_id"`
		Retracted []string `json:"retracted_message_uuids"`
		Prompt    string   `json:"refused_user_message_uuid"`
		Text      string   `json:"content"`
	}{
		s.p.head("system", "model_refusal_fallback"), "refusal", "retry", "session", model, next, nil, retracted, in.Message.ID,
		model + " refused to answer; asking " + next + ".",
	})
	again := *in.Message
	again.ID = s.c.NewID()
	in.Message = &again
	return &in
}

// other is the model to ask instead, when there is one and the person agrees.
func (s *Surface) other(ctx context.Context, model string, in engine.Input) (string, bool) {
	i := slices.IndexFunc(s.live.Fallbacks, func(m string) bool { return m != model })
	if i < 0 || in.Message == nil || s.c.Host == nil || !s.c.Host.shows(RefusalDialog) {
		return "", false
	}
	next := s.live.Fallbacks[i]
	result, err := s.c.Host.Dialog(ctx, RefusalDialog, map[string]string{"original_model": model, "fallback_model": next})
	return next, err == nil && agrees(result)
}

// replies are the ids of what the model has said to a prompt.
func replies(t event.Terminal, in engine.Input) []string {
	out := []string{}
	for i := len(t.History) - 1; i >= 0 && t.History[i].ID != in.Message.ID; i-- {
		if t.History[i].Reply != nil {
			out = append(out, t.History[i].ID)
		}
	}
	return out
}
