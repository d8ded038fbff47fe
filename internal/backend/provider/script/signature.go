package script

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
)

// signed is what a signature stands for; an empty model is any.
type signed struct{ text, model string }

// mint makes up a signature that any instance of the scripted model can check
// later, so that a conversation survives a restart.
func mint(model, text string) string {
	return base64.StdEncoding.EncodeToString([]byte("hew-script\n" + model + "\n" + digest(text)))
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%x", sum[:12])
}

// genuine tells whether sig signs text for model.
func genuine(known map[string]signed, sig, text, model string) error {
	if s, ok := known[sig]; ok {
		switch {
		case s.text != text:
			return fmt.Errorf("the text of the `thinking` block was changed")
		case s.model != "" && s.model != model:
			return fmt.Errorf("the signature is of model %s", s.model)
		}
		return nil
	}
	raw, err := base64.StdEncoding.DecodeString(sig)
	parts := strings.Split(string(raw), "\n")
	if err != nil || len(parts) != 3 || parts[0] != "hew-script" {
		return fmt.Errorf("the signature was never served")
	}
	switch {
	case parts[2] != digest(text):
		return fmt.Errorf("the text of the `thinking` block was changed")
	case parts[1] != model:
		return fmt.Errorf("the signature is of model %s", parts[1])
	}
	return nil
}

// signatures checks the thinking blocks of a request.
func signatures(known map[string]signed, r *request) []string {
	var found []string
	for i, m := range r.messages {
		if m.role != "assistant" {
			continue
		}
		for j, b := range m.blocks {
			if b.Get("type").Str != "thinking" {
				continue
			}
			err := genuine(known, b.Get("signature").String(), b.Get("thinking").String(), r.model)
			if err != nil {
				found = append(found, fmt.Sprintf("messages.%d.content.%d: Invalid `signature` in `thinking` block (%v)", i, j, err))
			}
		}
	}
	return found
}

// declared collects the signatures that a scenario states itself.
func declared(s *Scenario) map[string]signed {
	out := map[string]signed{}
	add := func(steps []Step) {
		for _, st := range steps {
			for _, r := range st.Reply {
				if r.Signature != "" && !strings.Contains(r.Thinking, "{{") {
					out[r.Signature] = signed{text: r.Thinking}
				}
			}
		}
	}
	add(s.Steps)
	for _, l := range s.Lanes {
		add(l.Steps)
	}
	for _, steps := range s.Side {
		add(steps)
	}
	return out
}
