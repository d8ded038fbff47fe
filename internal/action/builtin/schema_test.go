package builtin

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/hew-agent/hew/internal/tool"
)

// A schema is read when its tool is first called, so nothing but this shows
// one that cannot be read before somebody needs the tool.
func TestEverySchemaIsRead(t *testing.T) {
	for _, ch := range All(Config{}) {
		_, err := ch.Tool.Plan(json.RawMessage(`[]`), tool.Env{})
		if fault := new(tool.InputError); !errors.As(err, &fault) {
			t.Errorf("%s took a list for its parameters: %v", ch.Tool.Spec().Name, err)
		}
	}
}
