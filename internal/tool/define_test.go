package tool

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

type probe struct {
	Path  string   `json:"path"`
	Count int      `json:"count"`
	Tags  []string `json:"tags"`
}

func probeTool() Tool {
	return Define(Spec{Name: "Probe", Schema: json.RawMessage(`{"type":"object","properties":{
		"path":{"type":"string","minLength":1},"count":{"type":"integer","minimum":1},
		"mode":{"type":"string","enum":["a","b"]},"tags":{"type":"array","items":{"type":"string"},"maxItems":2}},
		"required":["path"],"additionalProperties":false}`)},
		func(in probe, _ Env) (Call, error) { return &Func{Line: in.Path}, nil })
}

func TestPlanNamesEveryFault(t *testing.T) {
	for in, want := range map[string]string{
		`{}`:                                "required parameter `path` is missing",
		`{"path":1}`:                        "`path` type is expected as `string` but provided as `integer`",
		`{"path":"x","zzz":1}`:              "unexpected parameter `zzz`",
		`{"path":"x","count":1.5}`:          "`count` type is expected as `integer` but provided as `number`",
		`{"path":"x","count":0}`:            "`count` is out of range",
		`{"path":"x","mode":"c"}`:           "`mode` must be one of a, b",
		`{"path":"x","tags":[1]}`:           "`tags[0]` type is expected as `string`",
		`{"path":"x","tags":["a","b","c"]}`: "at most 2 items",
		`{"path":""}`:                       "out of its limits",
		`[1]`:                               "`input` type is expected as `object`",
		`{"path":`:                          "not valid JSON",
	} {
		_, err := probeTool().Plan(json.RawMessage(in), Env{})
		var ie *InputError
		if !errors.As(err, &ie) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "Probe") {
			t.Errorf("%s: got %v, want %q", in, err, want)
		}
	}
}

func TestPlanTakesGoodInput(t *testing.T) {
	c, err := probeTool().Plan(json.RawMessage(`{"path":"p","count":2,"tags":["a"]}`), Env{})
	if err != nil || c.Title() != "p" {
		t.Fatalf("%v %v", c, err)
	}
}

func FuzzPlan(f *testing.F) {
	f.Add([]byte(`{"path":"x"}`))
	f.Add([]byte(`{"path":{"a":[null]},"tags":[[]]}`))
	p := probeTool()
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := p.Plan(data, Env{})
		if (c == nil) == (err == nil) {
			t.Fatalf("call %v, error %v", c, err)
		}
	})
}
