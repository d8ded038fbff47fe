package hewtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/action/gate"
	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/provider/script"
	"github.com/hew-agent/hew/internal/core/compact"
	"github.com/hew-agent/hew/internal/core/engine"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/prompt"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/surface/streamjson"
	"github.com/hew-agent/hew/internal/tool"
)

// shout is a tool that hew does not have. Everything about it is here: name,
// schema, validation, what it needs, whether it may run beside others, progress,
// what programs and people see, how large its result may be.
func shout(meet *sync.WaitGroup) tool.Tool {
	type input struct {
		Text string `json:"text"`
		Loud bool   `json:"loud,omitempty"`
	}
	spec := tool.Spec{
		Name: "Shout", Description: "Says a text in capitals.", MainField: "text", Always: true, MaxResult: 5000,
		Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"},"loud":{"type":"boolean"}},"required":["text"],"additionalProperties":false}`),
	}
	return tool.Define(spec, func(in input, _ tool.Env) (tool.Call, error) {
		call := &tool.Func{
			Facts: tool.Traits{ReadOnly: !in.Loud, ConcurrencySafe: !in.Loud},
			Line:  "Shout " + in.Text, Before: tool.TextView{Text: in.Text},
		}
		if in.Loud {
			call.Wants = []tool.Need{{Kind: tool.NeedUse, Detail: in.Text}}
		}
		call.Do = func(_ context.Context, emit func(tool.Progress)) tool.Result {
			emit(tool.Progress{Text: "breathing in", Elapsed: 10})
			if strings.HasPrefix(in.Text, "together") && !met(meet) {
				return tool.Failure("nobody else is running")
			}
			res := tool.Text(strings.ToUpper(in.Text))
			if in.Text == "long" {
				res = tool.Text(strings.Repeat("LONG ", 10_000))
			}
			res.Data = json.RawMessage(fmt.Sprintf(`{"said":%q}`, in.Text))
			res.View = tool.TextView{Text: "said it"}
			return res
		}
		return call, nil
	})
}

// met tells whether another call runs at the same time.
func met(meet *sync.WaitGroup) bool {
	meet.Done()
	done := make(chan struct{})
	go func() { meet.Wait(); close(done) }()
	select {
	case <-done:
		return true
	case <-time.After(patience):
		return false
	}
}

type plainPaths struct{}

func (plainPaths) Resolve(p string) (string, bool) { return p, true }
func (plainPaths) Glob(string) []string            { return nil }

// TestNewToolNeedsOneFile is row T-21: a tool described in one place and named
// in the pool is offered, validated, judged by rules under its name, scheduled
// by its own traits, bounded, and shown on the surface; nothing else knows it.
func TestNewToolNeedsOneFile(t *testing.T) {
	model := script.New(parse(t, `{"steps":[
	 {"match":{"tools":["Shout"]},"reply":[
	  {"tool":"Shout","id":"a","input":{"text":"together one"}},{"tool":"Shout","id":"b","input":{"text":"together two"}},
	  {"tool":"Shout","id":"c","input":{"txt":"x"}},{"tool":"Shout","id":"d","input":{"text":"hello","loud":true}},
	  {"tool":"Shout","id":"e","input":{"text":"other","loud":true}},{"tool":"Shout","id":"f","input":{"text":"long"}}]},
	 {"match":{"result":"HELLO"},"reply":[{"text":"heard"}]}]}`), script.Config{Keep: true})
	var meet sync.WaitGroup
	meet.Add(2)
	out := converse(t, model, shout(&meet), policy.Layer{Allow: []string{"Shout(hello)"}})
	if err := model.Done(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ where, want string }{
		{`type=="result"`, `"result":"heard"`},
		{`subtype=="init"`, `"tools":["Shout"]`},
		{`type=="tool_progress"`, `breathing in`},
		{`subtype=="permission_denied"`, `"tool_use_id":"e"`},
		{`message.content.0.tool_use_id=="a"`, `TOGETHER ONE`},
		{`message.content.0.tool_use_id=="b"`, `"said":"together two"`},
		{`message.content.0.tool_use_id=="c"`, "required parameter `text` is missing"},
		{`message.content.0.tool_use_id=="d"`, `HELLO`},
		{`message.content.0.tool_use_id=="e"`, `Permission to use Shout`},
		{`message.content.0.tool_use_id=="f"`, `persisted-output`},
	} {
		line := gjson.Get(out, `..#(`+c.where+`)`).Raw
		if !strings.Contains(line, c.want) {
			t.Errorf("the line with %s lacks %s: %.400s", c.where, c.want, line)
		}
	}
	last := model.Requests()[1].Body
	if n := len(gjson.GetBytes(last, `messages.@reverse.0.content.5`).Raw); n == 0 || n > 5000 {
		t.Errorf("the long result reached the model with %d bytes", n)
	}
}

// TestDeniedToolIsNotNamed: the pool is filtered by rules that know the tool by its name only.
func TestDeniedToolIsNotNamed(t *testing.T) {
	model := script.New(parse(t, `{"steps":[{"match":{"no_tools":["Shout"]},"reply":[{"text":"quiet"}]}]}`), script.Config{})
	out := converse(t, model, shout(nil), policy.Layer{Deny: []string{"Shout"}})
	if err := model.Done(); err != nil || !strings.Contains(out, `"result":"quiet"`) {
		t.Errorf("%v: %s", err, out)
	}
}

func parse(t *testing.T, text string) *script.Scenario {
	t.Helper()
	s, err := script.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// converse runs one prompt with a pool of one tool through gate, loop and the
// stream-json surface and returns what came out.
func converse(t *testing.T, model *script.Model, own tool.Tool, l policy.Layer) string {
	t.Helper()
	dir := t.TempDir()
	l.Origin = policy.Origin{Scope: policy.ScopeUser, File: "settings.json"}
	g := gate.New(gate.Config{
		Snapshot: policy.New(policy.Config{Layers: []policy.Layer{l}, Mode: policy.Default, Project: dir, Home: dir, Tools: []tool.Spec{own.Spec()}}),
		Paths:    plainPaths{}, NewID: session.NewID,
	})
	e := engine.New(engine.Config{
		Session: session.NewID(), Place: engine.Place{Cwd: dir, Project: dir, Roots: []string{dir}},
		Model: engine.Model{Provider: model, Name: "m", Lookup: func(n string) provider.Model { return provider.Lookup(n, provider.Overrides{}) }},
		Tools: []tool.Tool{own}, System: []string{"be brief"}, Gate: g,
		Layout: func(r *provider.Request, h []*msg.Message) { prompt.Layout(r, h) },
		Bound:  compact.Budget{Keep: func([]byte) (string, error) { return dir, nil }}.Bound,
		Now:    time.Now, Sleep: engine.Sleep, Jitter: func() float64 { return 0 }, NewID: session.NewID,
	})
	var out bytes.Buffer
	s := streamjson.New(streamjson.Config{
		Out: &out, Format: streamjson.StreamJSON, Verbose: true, Now: time.Now, NewID: session.NewID,
	})
	live := &streamjson.Live{Engine: e, Facts: func() streamjson.Facts {
		var names []string
		for _, spec := range e.Offered() {
			names = append(names, spec.Name)
		}
		return streamjson.Facts{Cwd: dir, Tools: names}
	}}
	if err := s.Prompt(t.Context(), live, msg.User(session.NewID(), time.Now(), "shout")); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
