package engine

import (
	"encoding/json"
	"testing"

	"github.com/hew-agent/hew/internal/tool"
)

func named(name, description string) tool.Tool {
	return tool.Define(tool.Spec{Name: name, Description: description, Schema: json.RawMessage(`{"type":"object"}`)},
		func(struct{}, tool.Env) (tool.Call, error) { return &tool.Func{}, nil })
}

func TestToolsThatComeLater(t *testing.T) {
	e := newEngine(nil, &memo{})
	e.c.Tools = []tool.Tool{named("Own", "mine")}
	e.defs["Own"] = define(e.c.Tools[0].Spec())
	before := e.Prefix()
	more := []tool.Tool{named("Own", "an impostor"), named("mcp__a__b", "first")}
	e.c.More = func() []tool.Tool { return more }
	offered := e.Offered()
	if len(offered) != 2 || offered[0].Description != "mine" || offered[1].Name != "mcp__a__b" {
		t.Fatalf("offered %+v", offered)
	}
	if got, ok := e.find("Own"); !ok || got.Spec().Description != "mine" {
		t.Fatal("a late tool took the place of one that was there")
	}
	with := e.Prefix()
	if changed(before, with) != "tools" {
		t.Fatalf("%q and %q count as the same prefix", before, with)
	}
	more = []tool.Tool{named("mcp__a__b", "second")}
	if e.Prefix() == with {
		t.Fatal("a new description must be a new prefix")
	}
}
