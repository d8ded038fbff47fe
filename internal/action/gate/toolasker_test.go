package gate

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/tool"
)

// oracle is a permission tool as an MCP server would bring it.
func oracle(heard *json.RawMessage, say func(context.Context) tool.Result) *ToolAsker {
	t := tool.Define(tool.Spec{
		Name: "mcp__oracle__ask", Description: "answers", Origin: "oracle",
		Schema: json.RawMessage(`{"type":"object","properties":{"tool_name":{"type":"string"},"input":{"type":"object"},"tool_use_id":{"type":"string"}},"required":["tool_name","input"]}`),
	}, func(in struct {
		Tool  string          `json:"tool_name"`
		Input json.RawMessage `json:"input"`
		Use   string          `json:"tool_use_id"`
	}, _ tool.Env,
	) (tool.Call, error) {
		raw, err := json.Marshal(in)
		if heard != nil {
			*heard = raw
		}
		return &tool.Func{Line: "ask", Do: func(ctx context.Context, _ func(tool.Progress)) tool.Result { return say(ctx) }}, err
	})
	return &ToolAsker{
		Name: "mcp__oracle__ask", Patience: time.Minute, Env: func() tool.Env { return tool.Env{} },
		Find: func(name string) (tool.Tool, bool) { return t, name == t.Spec().Name },
	}
}

func says(text string) func(context.Context) tool.Result {
	return func(context.Context) tool.Result { return tool.Text(text) }
}

func TestPermissionPromptTool(t *testing.T) {
	var heard json.RawMessage
	for _, c := range []struct{ name, say, refusal string }{
		{"allow", `{"behavior":"allow"}`, ""},
		{"allow with its input", ` {"behavior":"allow","updatedInput":{"at":"y"}} `, ""},
		{"deny", `{"behavior":"deny","message":"not in March"}`, "not in March"},
		{"garbage", `sure, go ahead: allow`, "could not be answered"},
		{"another word", `{"behavior":"yes"}`, "could not be answered"},
		{"ask back", `{"behavior":"ask"}`, "could not be answered"},
		{"nothing", ``, "could not be answered"},
		{"a list", `[{"behavior":"allow"}]`, "could not be answered"},
		{"too much", `{"behavior":"allow","message":"` + strings.Repeat("x", maxAnswer) + `"}`, "could not be answered"},
		{"an input of which the tool understands nothing", `{"behavior":"allow","updatedInput":{"at":7}}`, "changed input"},
		{"an input that a deny rule names", `{"behavior":"allow","updatedInput":{"at":"secret"}}`, "denied"},
	} {
		g := newGate(Config{Asker: oracle(&heard, says(c.say))}, layer(policy.Layer{Deny: []string{"Poke(secret)"}}), policy.Default)
		_, r, _ := admit(g, planned(t, "x"))
		if (r == nil) != (c.refusal == "") || r != nil && !strings.Contains(text(r.Result), c.refusal) {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
	if s := string(heard); !strings.Contains(s, `"tool_name":"Poke"`) || !strings.Contains(s, `"input":{"at":"x"}`) || !strings.Contains(s, `"tool_use_id":`) {
		t.Errorf("asked with %s", s)
	}
	if _, r, _ := admit(newGate(Config{Asker: oracle(nil, says(`{"behavior":"allow"}`))}, layer(policy.Layer{Deny: []string{"Poke"}}), policy.Default), planned(t, "x")); r == nil {
		t.Error("the tool lifted a deny rule")
	}
}

// A tool that fails, panics, is gone or never answers is no permission.
func TestPermissionPromptToolFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		defer close(stuck)
		gone := oracle(nil, says(`{"behavior":"allow"}`))
		gone.Name = "mcp__oracle__gone"
		for name, c := range map[string]struct {
			asker *ToolAsker
			want  string
		}{
			"failure": {oracle(nil, func(context.Context) tool.Result { return tool.Failure(`{"behavior":"allow"}`) }), "failed"},
			"panic":   {oracle(nil, func(context.Context) tool.Result { panic("no") }), "panicked"},
			"gone":    {gone, "there is no tool mcp__oracle__gone"},
			"deaf": {oracle(nil, func(context.Context) tool.Result {
				<-stuck
				return tool.Text(`{"behavior":"allow"}`)
			}), "did not answer within 1m0s"},
		} {
			_, r, _ := admit(newGate(Config{Asker: c.asker}, layer(policy.Layer{}), policy.Default), planned(t, "x"))
			if r == nil || !strings.Contains(text(r.Result), c.want) {
				t.Errorf("%s: %+v", name, r)
			}
		}
	})
}

// The tool that answers is nothing for the model, and cannot answer for a person.
func TestPermissionPromptToolIsHidden(t *testing.T) {
	g := newGate(Config{PromptTool: "mcp__oracle__ask"}, layer(policy.Layer{}), policy.Default)
	if g.Offered(tool.Spec{Name: "mcp__oracle__ask"}) || !g.Offered(tool.Spec{Name: "mcp__oracle__other"}) {
		t.Error("offered to the model")
	}
}
