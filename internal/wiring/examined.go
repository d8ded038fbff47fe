package wiring

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/action/builtin"
	"github.com/hew-agent/hew/internal/action/builtin/bash"
	"github.com/hew-agent/hew/internal/action/gate"
	"github.com/hew-agent/hew/internal/action/policy/shellread"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// catalogue is every tool that a session may offer, for questions about calls
// that nobody makes.
func (b *build) catalogue(dialect shellread.Shell) []tool.Tool {
	sh := bash.New(bash.Config{Runner: b.runner, Facts: b.facts, Dialect: dialect})
	list := []tool.Tool{sh.Tool(), sh.Monitor(), sh.PowerShell("pwsh")}
	for _, c := range builtin.All(builtin.Config{Interactive: true}) {
		list = append(list, c.Tool)
	}
	return list
}

func specsOf(tools []tool.Tool) []tool.Spec {
	out := make([]tool.Spec, len(tools))
	for i, t := range tools {
		out[i] = t.Spec()
	}
	return out
}

// find is the tool of a name or an old name. A tool that is not in the list,
// such as one of a server that is not connected, is stood in for.
func find(tools []tool.Tool, name string) (t tool.Tool, known bool) {
	for _, t := range tools {
		if s := t.Spec(); s.Name == name || slices.Contains(s.Aliases, name) {
			return t, true
		}
	}
	return standIn(name, ""), false
}

// absent are tools of the ecosystem that the list may lack, with their main
// field and what their calls ask for.
var absent = []struct {
	spec   tool.Spec
	fields []string
	need   tool.NeedKind
}{
	{tool.Spec{Name: families.Fetch, MainField: "url"}, []string{"url", "prompt"}, tool.NeedFetch},
	{tool.Spec{Name: "WebSearch", MainField: "query"}, []string{"query"}, tool.NeedUse},
	{tool.Spec{Name: "Agent", Aliases: []string{"Task"}, MainField: "subagent_type"}, []string{"subagent_type", "prompt", "model"}, ""},
	{tool.Spec{Name: "Skill", MainField: "skill"}, []string{"skill", "args"}, tool.NeedUse},
}

// standIn is a tool that can be planned and never run. origin names the server
// that brings it, "" when only the name is known.
func standIn(name, origin string) tool.Tool {
	s := &placeholder{spec: tool.Spec{Name: name, Origin: origin}, need: tool.NeedUse}
	var fields []string
	for _, a := range absent {
		if a.spec.Name == name || slices.Contains(a.spec.Aliases, name) {
			s.spec, s.need, fields = a.spec, a.need, a.fields
		}
	}
	props := map[string]any{}
	for _, f := range fields {
		props[f] = map[string]string{}
	}
	// Plain maps of strings always marshal.
	s.spec.Schema, _ = json.Marshal(map[string]any{"type": "object", "properties": props})
	return s
}

type placeholder struct {
	spec tool.Spec
	need tool.NeedKind
}

func (s *placeholder) Spec() tool.Spec { return s.spec }

func (s *placeholder) Plan(in json.RawMessage, _ tool.Env) (tool.Call, error) {
	var fields map[string]any
	if err := json.Unmarshal(in, &fields); err != nil {
		return nil, &tool.InputError{Tool: s.spec.Name, Faults: []string{"The input is not a JSON object: " + err.Error()}}
	}
	main, _ := fields[s.spec.MainField].(string)
	call := &tool.Func{Line: s.spec.Name}
	switch s.need {
	case tool.NeedFetch:
		call.Wants = []tool.Need{{Kind: tool.NeedFetch, URL: main}}
	case tool.NeedUse:
		call.Wants = []tool.Need{{Kind: tool.NeedUse, Detail: main}}
	case tool.NeedRead, tool.NeedEdit, tool.NeedExec:
	}
	return call, nil
}

// readCall reads "Tool", "Tool(text)" with the text of the tool's main field,
// or "Tool {JSON input}".
func readCall(tools []tool.Tool, text string) (tool.Tool, json.RawMessage, error) {
	text = strings.TrimSpace(text)
	end := strings.IndexAny(text, "( \t\n{")
	if end < 0 {
		end = len(text)
	}
	name, rest := text[:end], strings.TrimSpace(text[end:])
	if name == "" {
		return nil, nil, fmt.Errorf("the call %q names no tool: write it as Tool, 'Tool(text)' or 'Tool {\"field\":…}'", text)
	}
	t, _ := find(tools, name)
	switch {
	case rest == "" && needsMain(t.Spec()):
		return nil, nil, fmt.Errorf("what %s may do depends on its %s: write the call as '%s(%s)'", name, t.Spec().MainField, name, t.Spec().MainField)
	case rest == "":
		return t, json.RawMessage("{}"), nil
	case strings.HasPrefix(rest, "{"):
		if !json.Valid([]byte(rest)) {
			return nil, nil, fmt.Errorf("the input of %s is not valid JSON", name)
		}
		return t, json.RawMessage(rest), nil
	case rest[0] != '(' || !strings.HasSuffix(rest, ")"):
		return nil, nil, fmt.Errorf("the call %q is not understood: write it as 'Tool(text)' or 'Tool {\"field\":…}'", text)
	}
	field, value := t.Spec().MainField, rest[1:len(rest)-1]
	if field == "" {
		return nil, nil, fmt.Errorf("%s has no main field: write its input as '%s {\"field\":…}'", name, name)
	}
	if host, ok := strings.CutPrefix(value, "domain:"); ok && t.Spec().Name == families.Fetch {
		value = (&url.URL{Scheme: "https", Host: host, Path: "/"}).String()
	}
	in, err := msg.Marshal(map[string]string{field: value})
	return t, in, err
}

// needsMain reports whether a call without the main field is not one.
func needsMain(s tool.Spec) bool {
	var schema struct{ Required []string }
	return json.Unmarshal(s.Schema, &schema) == nil && slices.Contains(schema.Required, s.MainField)
}

// unsandboxed is the field by which a shell call asks to run outside the
// sandbox. Where the tool lacks it, policy alone reads it.
const unsandboxed = "dangerouslyDisableSandbox"

// completed adds the required fields that a question about a permission leaves
// out; decisions do not look at them. It returns input unchanged when that is
// not possible, and the tool then says what is wrong with it.
func completed(s tool.Spec, input json.RawMessage) json.RawMessage {
	var schema struct {
		Required   []string
		Properties map[string]property
	}
	var in map[string]any
	if json.Unmarshal(s.Schema, &schema) != nil || json.Unmarshal(input, &in) != nil || in == nil {
		return input
	}
	if _, ok := schema.Properties[unsandboxed]; !ok {
		delete(in, unsandboxed)
	}
	for _, f := range schema.Required {
		if _, ok := in[f]; !ok {
			in[f] = schema.Properties[f].example(f)
		}
	}
	out, err := msg.Marshal(in)
	if err != nil {
		return input
	}
	return out
}

// property is what a schema says of one field.
type property struct {
	Type string
	Enum []string
}

// example is a value that fits; two fields of one call differ.
func (p property) example(name string) any {
	switch {
	case len(p.Enum) > 0:
		return p.Enum[0]
	case p.Type == "string":
		return name
	case p.Type == "boolean":
		return false
	case p.Type == "integer", p.Type == "number":
		return 1
	case p.Type == "array":
		return []any{}
	}
	return map[string]any{}
}

// judge plans a call and has the gate decide about it, as the loop would.
func judge(g *gate.Gate, t tool.Tool, input json.RawMessage, env tool.Env, h gate.HookAnswer) gate.Explanation {
	call, err := t.Plan(completed(t.Spec(), input), env)
	if err != nil {
		var e gate.Explanation
		e.Decision.Decision = gate.Invalid(err)
		return e
	}
	use := msg.NewToolUse("explain", t.Spec().Name, input)
	return g.Explain(tool.Planned{Tool: t, Use: use, Call: call, Env: env}, h)
}
