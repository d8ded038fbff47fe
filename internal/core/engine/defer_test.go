package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// served is a deferred tool of a server.
func served(name string) tool.Tool {
	return tool.Define(tool.Spec{Name: name, Description: "about " + name, Schema: json.RawMessage(`{"type":"object"}`), Deferred: true, Origin: "srv"},
		func(struct{}, tool.Env) (tool.Call, error) {
			return &tool.Func{Line: name, Do: func(context.Context, func(tool.Progress)) tool.Result { return tool.Text("ran " + name) }}, nil
		})
}

// finder loads the tools that its input names.
func finder() tool.Tool {
	return tool.Define(tool.Spec{Name: "Find", Schema: json.RawMessage(`{"type":"object"}`)}, func(in struct{ Names []string }, _ tool.Env) (tool.Call, error) {
		return &tool.Func{Line: "find", Do: func(context.Context, func(tool.Progress)) tool.Result {
			r := tool.Text("loaded")
			r.Effects = []tool.Effect{tool.LoadTools{Names: in.Names}}
			return r
		}}, nil
	})
}

func always([]tool.Spec, int, int) bool { return true }

func toolNames(r *provider.Request) string {
	var out []string
	for _, d := range r.Tools {
		out = append(out, d.Name)
	}
	return strings.Join(out, " ")
}

func deferring(model *canned, active func([]tool.Spec, int, int) bool, tools ...tool.Tool) *Engine {
	e := newEngine(model, &memo{})
	c := e.c
	c.Tools = append([]tool.Tool{finder(), moveTool()}, tools...)
	c.Deferral = Deferral{Search: "Find", Active: active}
	return New(c)
}

func TestDeferredToolsJoinRequestsWhenLoaded(t *testing.T) {
	var sixty []tool.Tool
	for i := range 60 {
		sixty = append(sixty, served(fmt.Sprintf("srv__t%02d", i)))
	}
	find := msg.NewToolUse("f", "Find", json.RawMessage(`{"Names":["srv__t07","srv__t03"]}`))
	model := &canned{replies: [][]msg.Block{{find}, {msg.NewToolUse("c", "srv__t07", json.RawMessage(`{}`))}, {msg.NewText("done")}}}
	e := deferring(model, always, sixty...)
	if end, _ := submit(e, "go"); end.Reason != event.Completed || len(model.requests) != 3 {
		t.Fatalf("%s after %d requests", end.Reason, len(model.requests))
	}
	if got := toolNames(model.requests[0]); got != "Find Move" {
		t.Errorf("first request: %s", got)
	}
	if got := toolNames(model.requests[1]); got != "Find Move srv__t07 srv__t03" || model.requests[1].Break != "tools_loaded" {
		t.Errorf("after the search: %s, break %q", got, model.requests[1].Break)
	}
	if model.requests[2].Break != "" {
		t.Errorf("third request breaks the prefix: %q", model.requests[2].Break)
	}
	if n := len(e.Deferred()); n != 58 || len(e.OnDemand()) != 60 || len(e.Offered()) != 62 {
		t.Errorf("%d hidden, %d on demand, %d offered", n, len(e.OnDemand()), len(e.Offered()))
	}
}

func TestACallOfADeferredToolRuns(t *testing.T) {
	model := &canned{replies: [][]msg.Block{{msg.NewToolUse("c", "srv__a", json.RawMessage(`{}`))}, {msg.NewText("done")}}}
	submit(deferring(model, always, served("srv__a")), "go")
	if got := model.requests[1].Messages; !strings.Contains(string(got[len(got)-1].Blocks[0].JSON()), "ran srv__a") {
		t.Error("the call was not run")
	}
}

func TestWithoutDeferringTheSearchIsNotOffered(t *testing.T) {
	never := func([]tool.Spec, int, int) bool { return false }
	e := deferring(&canned{}, never, served("srv__a"))
	if got := e.Offered(); len(got) != 2 || got[0].Name != "Move" || len(e.Deferred()) != 0 {
		t.Errorf("offered %v", got)
	}
}

func TestWhatWasSentStays(t *testing.T) {
	on := false
	e := deferring(&canned{}, func([]tool.Spec, int, int) bool { return on }, served("srv__a"))
	more := []tool.Tool{}
	e.c.More = func() []tool.Tool { return more }
	shown, _ := e.split()
	e.requested(shown)
	on, more = true, []tool.Tool{served("srv__b")}
	shown, hidden := e.split()
	if len(shown) != 3 || !slices.ContainsFunc(shown, func(s tool.Spec) bool { return s.Name == "srv__a" }) || len(hidden) != 1 || hidden[0].Name != "srv__b" {
		t.Errorf("shown %d, hidden %v", len(shown), hidden)
	}
	on = false
	if _, hidden = e.split(); len(hidden) != 1 {
		t.Error("deferring ended, and with it the prefix")
	}
}

func TestAResumedSessionKnowsWhatItLoaded(t *testing.T) {
	e := deferring(&canned{}, always, served("srv__a"), served("srv__b"))
	c := e.c
	c.History = []*msg.Message{msg.User("u", c.Now(), "x")}
	c.Deferral.Loaded = func([]*msg.Message) []string { return []string{"srv__b", "gone", "srv__b"} }
	shown, hidden := New(c).split()
	if len(shown) != 3 || shown[2].Name != "srv__b" || len(hidden) != 1 {
		t.Errorf("shown %v, hidden %v", shown, hidden)
	}
}
