package policy

import (
	"encoding/json"
	"strconv"

	"github.com/hew-agent/hew/internal/backend/plain"
)

// maxShown bounds the text of a command that is repeated in a reason, in bytes.
const maxShown = 300

// visible makes text safe to show: what could steer a terminal or hide itself
// is escaped, and a long text is cut where that can be seen.
func visible(s string) string {
	return plain.Line(plain.Clip(s, maxShown))
}

// scalar returns a top-level field of the input as text, when it is a string, a
// number or a boolean.
func scalar(input json.RawMessage, field string) (string, bool) {
	var m map[string]json.RawMessage
	if json.Unmarshal(input, &m) != nil {
		return "", false
	}
	var v any
	if json.Unmarshal(m[field], &v) != nil {
		return "", false
	}
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return "", false
}

// hasField reports whether an object schema names a top-level property.
func hasField(schema json.RawMessage, field string) bool {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return false
	}
	_, ok := s.Properties[field]
	return ok
}
