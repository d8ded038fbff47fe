package script

import (
	"encoding/json"
	"regexp"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/tidwall/gjson"
)

var toolName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`) })

var callID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9_-]+$`) })

func (c *rules) tools() {
	names := map[string]bool{}
	for i, t := range c.r.tools {
		name := t.Get("name").String()
		if !toolName().MatchString(name) {
			c.breach("tools.%d.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", i)
		}
		if names[name] {
			c.breach("tools: Tool names must be unique.")
		}
		names[name] = true
		if kind := t.Get("type").String(); kind != "" && kind != "custom" {
			continue // a tool of the server's own
		}
		if why := badSchema(t.Get("input_schema")); why != "" {
			c.breach("tools.%d.custom.input_schema: %s", i, why)
		}
	}
}

func badSchema(v gjson.Result) string {
	switch {
	case !v.IsObject():
		return "Field required"
	case v.Get("type").String() != "object":
		return "Input should have type 'object'"
	}
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(v.Raw), &s); err != nil {
		return "JSON schema is invalid: " + err.Error()
	}
	if _, err := s.Resolve(nil); err != nil {
		return "JSON schema is invalid: " + err.Error()
	}
	for _, name := range s.Required {
		if s.Properties[name] == nil {
			return "JSON schema is invalid: the required property " + name + " is not described"
		}
	}
	return ""
}
