package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// wireHook is a handler in configuration files.
type wireHook struct {
	Type            string            `json:"type"`
	If              string            `json:"if"`
	Timeout         *float64          `json:"timeout"` // seconds
	StatusMessage   string            `json:"statusMessage"`
	Once            bool              `json:"once"`
	OnFailure       string            `json:"onFailure"`
	Command         string            `json:"command"`
	Args            []string          `json:"args"`
	Shell           string            `json:"shell"`
	Async           bool              `json:"async"`
	AsyncRewake     bool              `json:"asyncRewake"`
	URL             string            `json:"url"`
	Headers         map[string]string `json:"headers"`
	AllowedEnvVars  []string          `json:"allowedEnvVars"`
	Server          string            `json:"server"`
	Tool            string            `json:"tool"`
	Input           json.RawMessage   `json:"input"`
	Prompt          string            `json:"prompt"`
	Model           string            `json:"model"`
	ContinueOnBlock bool              `json:"continueOnBlock"`
	CallbackID      string            `json:"callbackId"`
}

// handlerKeys lists what a handler of a kind may say.
func handlerKeys(k Kind) []string {
	keys := strings.Fields("type if timeout statusMessage once")
	switch k {
	case Command:
		return append(keys, "onFailure", "command", "args", "shell", "async", "asyncRewake")
	case HTTP:
		return append(keys, "onFailure", "url", "headers", "allowedEnvVars")
	case MCPTool:
		return append(keys, "onFailure", "server", "tool", "input")
	case Prompt, Verifier:
		return append(keys, "prompt", "model", "continueOnBlock")
	case Callback:
		return append(keys, "onFailure", "callbackId")
	}
	return keys
}

func decodeHandler(raw json.RawMessage) (wireHook, error) {
	var w wireHook
	if _, _, ok := objectOf(raw); !ok {
		return w, errors.New("a hook must be an object")
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		var te *json.UnmarshalTypeError
		if errors.As(err, &te) {
			return w, fmt.Errorf("%s must not be of type %s", te.Field, te.Value)
		}
		return w, err
	}
	if w.Timeout != nil && *w.Timeout <= 0 {
		return w, errors.New("timeout must be more than 0 seconds")
	}
	if w.OnFailure != "" && w.OnFailure != "continue" && w.OnFailure != "block" {
		return w, fmt.Errorf("onFailure %q is neither continue nor block", clip(w.OnFailure, 40))
	}
	return w, nil
}

func (w wireHook) hook() Hook {
	h := Hook{
		Kind: kindOf(w.Type), If: strings.TrimSpace(w.If), Status: w.StatusMessage, Once: w.Once,
		Async: w.Async || w.AsyncRewake, Rewake: w.AsyncRewake, BlockOnFailure: w.OnFailure == "block",
		Command: w.Command, Args: w.Args, Shell: w.Shell, URL: w.URL, Headers: w.Headers, AllowedEnv: w.AllowedEnvVars,
		Server: w.Server, Tool: w.Tool, Input: w.Input, Prompt: w.Prompt, Model: w.Model,
		ContinueOnBlock: w.ContinueOnBlock || w.Type == "agent", Callback: w.CallbackID,
	}
	if h.Kind != Command {
		h.Async, h.Rewake = false, false
	}
	if w.Timeout != nil {
		h.Set = true
		h.Timeout = time.Duration(min(*w.Timeout, maxTimeout.Seconds()) * float64(time.Second))
	}
	return h
}

// HostHooks is the value of "hooks" in an SDK host's initialize request, in the
// form that Source.Hooks has: {"Event": [{matcher, hookCallbackIds, timeout,
// onFailure}]}.
func HostHooks(raw json.RawMessage) (json.RawMessage, error) {
	var in map[string][]struct {
		Matcher   *string  `json:"matcher"`
		IDs       []string `json:"hookCallbackIds"`
		Timeout   *float64 `json:"timeout"`
		OnFailure string   `json:"onFailure"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, fmt.Errorf("read the hooks of the host: %w", err)
	}
	type handler struct {
		Type      string   `json:"type"`
		ID        string   `json:"callbackId"`
		Timeout   *float64 `json:"timeout,omitempty"`
		OnFailure string   `json:"onFailure,omitempty"`
	}
	type group struct {
		Matcher string    `json:"matcher,omitempty"`
		Hooks   []handler `json:"hooks"`
	}
	out := map[string][]group{}
	for event, list := range in {
		for _, m := range list {
			g := group{Hooks: []handler{}}
			if m.Matcher != nil {
				g.Matcher = *m.Matcher
			}
			for _, id := range m.IDs {
				g.Hooks = append(g.Hooks, handler{"callback", id, m.Timeout, m.OnFailure})
			}
			out[event] = append(out[event], g)
		}
	}
	return json.Marshal(out)
}

// objectOf splits a JSON object; order is that of the text, each key once.
func objectOf(raw json.RawMessage) (m map[string]json.RawMessage, order []string, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, nil, false
	}
	m = map[string]json.RawMessage{}
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		key, isText := t.(string)
		if err != nil || !isText {
			return nil, nil, false
		}
		var v json.RawMessage
		if dec.Decode(&v) != nil {
			return nil, nil, false
		}
		if !seen[key] {
			seen[key] = true
			order = append(order, key)
		}
		if m[key] = v; string(v) == "null" {
			delete(m, key)
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, nil, false
	}
	_, err := dec.Token()
	return m, order, errors.Is(err, io.EOF)
}

// textOf reads a string; a missing one is "".
func textOf(raw json.RawMessage) (string, bool) {
	if raw == nil {
		return "", true
	}
	var s string
	return s, json.Unmarshal(raw, &s) == nil
}

// clip keeps the first n characters.
func clip(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}
