package event

import (
	"context"
	"encoding/json"
)

// Form is what an MCP server wants to know from the person: values that fit a
// schema, or a visit to an address. It is always shown who asks.
type Form struct {
	Server, Message string
	// Mode is "form" or "url"; URL and ID belong to the latter.
	Mode, URL, ID string
	// Schema is a JSON schema of an object with simple values.
	Schema json.RawMessage
}

// FormAnswer is the person's answer. Action is accept, decline or cancel;
// Content, an object, comes with accept.
type FormAnswer struct {
	Action  string
	Content json.RawMessage
}

// Filler puts forms to a person or a host program.
type Filler interface {
	Fill(ctx context.Context, f Form) (FormAnswer, error)
}
