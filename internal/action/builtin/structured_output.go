package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/hew-agent/hew/internal/tool"
)

// StructuredOutputName is the extra tool through which a run returns an answer
// in a form that was asked for; the engine demands its call by name.
const StructuredOutputName = "StructuredOutput"

// StructuredOutput makes the tool whose input is the wanted answer. A valid
// call ends the run with it. The error is for the person who gave the schema,
// which must describe an object.
func StructuredOutput(schema json.RawMessage) (tool.Tool, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, schema); err != nil {
		return nil, fmt.Errorf("the schema for structured output is not valid JSON: %w", err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, fmt.Errorf("the schema for structured output cannot be read: %w", err)
	}
	if s.Type != "object" {
		return nil, fmt.Errorf(`the schema for structured output must have "type": "object" at its root`)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("the schema for structured output cannot be used: %w", err)
	}
	text, err := prose.ReadFile("structured_output.md")
	if err != nil {
		return nil, err
	}
	return &structured{resolved, tool.Spec{
		Name: StructuredOutputName, Description: string(bytes.TrimSpace(text)), Schema: compact.Bytes(),
		Condition: "when a schema for the answer was given", Origin: "builtin",
	}}, nil
}

// structured checks with a full validator: the schema is a user's, not one of
// the simple ones that tool.Define knows.
type structured struct {
	schema *jsonschema.Resolved
	spec   tool.Spec
}

func (s *structured) Spec() tool.Spec { return s.spec }

func (s *structured) Plan(in json.RawMessage, _ tool.Env) (tool.Call, error) {
	if len(bytes.TrimSpace(in)) == 0 {
		in = json.RawMessage("{}")
	}
	var v any
	if err := json.Unmarshal(in, &v); err != nil {
		return nil, &tool.InputError{Tool: s.spec.Name, Faults: []string{"The input is not valid JSON: " + err.Error()}}
	}
	if _, ok := v.(map[string]any); !ok {
		return nil, &tool.InputError{Tool: s.spec.Name, Faults: []string{"The input must be an object"}}
	}
	if err := s.schema.Validate(v); err != nil {
		return nil, &tool.InputError{Tool: s.spec.Name, Faults: []string{"The output does not match the schema: " + err.Error()}}
	}
	var out bytes.Buffer
	if err := json.Compact(&out, in); err != nil {
		return nil, &tool.InputError{Tool: s.spec.Name, Faults: []string{"The input is not valid JSON: " + err.Error()}}
	}
	return &tool.Func{
		Facts: tool.Traits{ReadOnly: true},
		Line:  "Return the structured output",
		Do: func(context.Context, func(tool.Progress)) tool.Result {
			res := tool.Text("The structured output was accepted.")
			res.Data = out.Bytes()
			res.View = tool.TextView{Text: out.String()}
			res.Effects = []tool.Effect{tool.EndRun{Output: out.Bytes()}}
			return res
		},
	}, nil
}
