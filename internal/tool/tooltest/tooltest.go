// Package tooltest is the conformance suite that every tool must pass.
package tooltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/tool"
)

// Check tests what the loop, the gate and the API take for granted of a tool:
// a name that the API accepts, a description, a schema that is a valid object,
// a Plan that refuses junk with an error for the model and never panics, and
// calls whose traits, needs and title do not change. good is an input that
// Plan takes; nil when the tool takes an empty object.
func Check(t *testing.T, tl tool.Tool, env tool.Env, good json.RawMessage) {
	t.Helper()
	spec := tl.Spec()
	if len(good) == 0 {
		good = json.RawMessage(`{}`)
	}
	checkSpec(t, spec)
	checkCall(t, tl, env, good)
	checkJunk(t, tl, env, good)
}

func checkSpec(t *testing.T, s tool.Spec) {
	t.Helper()
	if s.Name == "" || len(s.Name) > 128 || strings.Trim(s.Name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
		t.Errorf("name %q is not one that the API accepts", s.Name)
	}
	if strings.TrimSpace(s.Description) == "" || strings.TrimSpace(s.Description) != s.Description {
		t.Errorf("%s: description %q is empty or padded", s.Name, s.Description)
	}
	if s.Origin == "" {
		t.Errorf("%s: no origin", s.Name)
	}
	if !s.Always && s.Condition == "" {
		t.Errorf("%s: neither always offered nor a condition named", s.Name)
	}
	var schema struct {
		Type       string                     `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if err := json.Unmarshal(s.Schema, &schema); err != nil || schema.Type != "object" {
		t.Fatalf("%s: schema is no object schema: %v", s.Name, err)
	}
	for _, r := range schema.Required {
		if schema.Properties[r] == nil {
			t.Errorf("%s: required parameter %s has no schema", s.Name, r)
		}
	}
	if s.MainField != "" && schema.Properties[s.MainField] == nil {
		t.Errorf("%s: main field %s has no schema", s.Name, s.MainField)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, s.Schema); err != nil || compact.Len() != len(s.Schema) {
		t.Errorf("%s: schema is not compact (%d of %d bytes): it is sent with every request", s.Name, compact.Len(), len(s.Schema))
	}
}

func checkCall(t *testing.T, tl tool.Tool, env tool.Env, good json.RawMessage) {
	t.Helper()
	name := tl.Spec().Name
	var seen string
	for range 3 {
		c, err := tl.Plan(good, env)
		if err != nil {
			t.Fatalf("%s: plan of %s: %v", name, good, err)
		}
		if c.Title() == "" || strings.ContainsAny(c.Title(), "\n\r") {
			t.Errorf("%s: title %q is not one line", name, c.Title())
		}
		for range 2 {
			now := fmt.Sprintf("%+v %+v %q", c.Traits(), c.Needs(), c.Title())
			if seen == "" {
				seen = now
			}
			if now != seen {
				t.Errorf("%s: the same call says %s and %s", name, seen, now)
			}
		}
		if tr := c.Traits(); tr.ReadOnly && tr.Destructive {
			t.Errorf("%s: read-only and destructive at once", name)
		}
		for _, n := range c.Needs() {
			checkNeed(t, name, n)
		}
		c.Preview() // must not panic; nil is allowed
		if k, ok := c.(tool.Checker); ok {
			first, second := k.Check(), k.Check()
			if (first == nil) != (second == nil) {
				t.Errorf("%s: check says %v and %v", name, first, second)
			}
		}
	}
}

func checkNeed(t *testing.T, name string, n tool.Need) {
	t.Helper()
	ok := false
	switch n.Kind {
	case tool.NeedRead, tool.NeedEdit:
		ok = n.Path != "" && n.Command == "" && n.URL == ""
	case tool.NeedExec:
		ok = n.Command != "" && n.Path == "" && n.URL == ""
	case tool.NeedFetch:
		ok = n.URL != "" && n.Path == "" && n.Command == ""
	case tool.NeedUse:
		ok = n.Path == "" && n.Command == "" && n.URL == ""
	}
	if !ok {
		t.Errorf("%s: need %+v does not set exactly the field of its kind", name, n)
	}
}

func checkJunk(t *testing.T, tl tool.Tool, env tool.Env, good json.RawMessage) {
	t.Helper()
	name := tl.Spec().Name
	for _, junk := range []string{`[]`, `"x"`, `7`, `null`, `{`, `{"a":`, "\x00", `{}{}`} {
		_, err := tl.Plan(json.RawMessage(junk), env)
		var ie *tool.InputError
		if !errors.As(err, &ie) {
			t.Errorf("%s: plan of junk %q gives %v, not an input error", name, junk, err)
		}
	}
	r := rand.New(rand.NewPCG(1, 2)) // a fixed sequence keeps a failure repeatable
	for range 300 {
		in := mutate(r, good)
		c, err := tl.Plan(in, env)
		if (c == nil) == (err == nil) {
			t.Fatalf("%s: plan of %q gives call %v and error %v", name, in, c, err)
		}
		if c != nil {
			c.Traits()
			c.Needs()
			c.Title()
		}
	}
}

// mutate changes a few bytes, or puts a value of another type somewhere.
func mutate(r *rand.Rand, good json.RawMessage) json.RawMessage {
	if r.IntN(2) == 0 {
		out := bytes.Clone(good)
		for range 1 + r.IntN(3) {
			out[r.IntN(len(out))] = byte(r.IntN(256))
		}
		return out
	}
	var v map[string]any
	if json.Unmarshal(good, &v) != nil {
		return good
	}
	odd := []any{nil, true, -1, 1.5, 1e300, "", "\x00\n", "/", strings.Repeat("é", 300), []any{}, []any{nil}, map[string]any{"": nil}}
	for k := range v {
		if r.IntN(2) == 0 {
			v[k] = odd[r.IntN(len(odd))]
		}
	}
	out, err := json.Marshal(v)
	if err != nil {
		return good
	}
	return out
}
