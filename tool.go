package hew

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/hew-agent/hew/internal/tool"
)

// Tool is a tool of the caller, which the model may call. A call that no rule
// allows (Options.Allow holds the tool's name, or Name(text) for the calls whose
// first text parameter fits) is put to Options.Permission, unless the tool is
// ReadOnly.
type Tool struct {
	// Name is 1 to 64 letters, digits, _ and -, and none of hew's own.
	Name string
	// Description tells the model what the tool does and when to use it.
	Description string
	// Schema is the JSON schema of the input, an object.
	Schema json.RawMessage
	// ReadOnly tools change nothing: their calls run unasked, and beside others.
	ReadOnly bool
	// Run carries out a call whose input fits Schema. The text goes to the model, an
	// error as a failure that it may react to. It must return soon after ctx ends.
	Run func(ctx context.Context, input json.RawMessage) (string, error)
}

// NewTool makes a tool of a function. The schema is that of the type In, whose
// fields have the tags json and jsonschema (the text that describes the field).
func NewTool[In any](name, description string, run func(ctx context.Context, in In) (string, error)) Tool {
	t := Tool{Name: name, Description: description}
	s, err := jsonschema.For[In](nil)
	if err == nil {
		t.Schema, err = json.Marshal(s)
	}
	t.Run = func(ctx context.Context, raw json.RawMessage) (string, error) {
		var in In
		if err := json.Unmarshal(raw, &in); err != nil {
			return "", fmt.Errorf("the input does not fit: %w", err)
		}
		return run(ctx, in)
	}
	if err != nil { // Open says so
		t.Schema = json.RawMessage(fmt.Sprintf("type %T: %v", *new(In), err))
	}
	return t
}

var toolName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`) })

// ownTools are the tools of the caller as the engine knows tools.
func ownTools(list []Tool) ([]tool.Tool, error) {
	var out []tool.Tool
	for _, t := range list {
		if !toolName().MatchString(t.Name) {
			return nil, fmt.Errorf("the name of the tool %q is not 1 to 64 letters, digits, _ and -", t.Name)
		}
		if t.Run == nil {
			return nil, fmt.Errorf("the tool %s has no function", t.Name)
		}
		var s struct {
			Type       string                     `json:"type"`
			Properties map[string]json.RawMessage `json:"properties"`
			Required   []string                   `json:"required"`
		}
		if err := json.Unmarshal(t.Schema, &s); err != nil || s.Type != "object" {
			return nil, errors.Join(fmt.Errorf("the schema of the tool %s is not that of an object: %s", t.Name, t.Schema), err)
		}
		main := ""
		if len(s.Required) > 0 {
			main = s.Required[0]
		}
		out = append(out, t.define(main))
	}
	return out, nil
}

func (t Tool) define(main string) tool.Tool {
	spec := tool.Spec{Name: t.Name, Description: t.Description, Schema: t.Schema, MainField: main, Always: true, Origin: "host"}
	return tool.Define(spec, func(in map[string]json.RawMessage, _ tool.Env) (tool.Call, error) {
		raw, err := json.Marshal(in)
		if err != nil {
			return nil, err // parts of JSON: cannot fail
		}
		var detail string
		if json.Unmarshal(in[main], &detail) != nil {
			detail = "" // no text: rules name the tool alone
		}
		c := &tool.Func{
			Facts: tool.Traits{ReadOnly: t.ReadOnly, ConcurrencySafe: t.ReadOnly},
			Line:  strings.TrimSpace(t.Name + " " + detail), Before: tool.TextView{Text: string(raw)},
		}
		if !t.ReadOnly {
			c.Wants = []tool.Need{{Kind: tool.NeedUse, Detail: detail}}
		}
		c.Do = func(ctx context.Context, _ func(tool.Progress)) tool.Result {
			text, err := t.Run(ctx, raw)
			if err != nil {
				return tool.Failure(strings.TrimSpace(text + "\n" + err.Error()))
			}
			return tool.Text(text)
		}
		return c, nil
	})
}
