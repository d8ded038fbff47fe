// Package mcp holds server connections → tools, prompts, resources.
//
// A Set owns the connections of one session. Every server connects on a
// goroutine of its own, so that none delays a prompt, and comes back by itself
// when its connection is lost. What a server says is data from outside: names
// are normalised, texts cut and cleaned, answers bounded, and a server that
// breaks the protocol loses its message or its connection, never the session.
package mcp

import (
	"encoding/json"
	"time"
)

// Limits of what is taken from a server.
const (
	// maxMessage bounds one message, in bytes.
	maxMessage = 16 << 20
	// maxTools, maxPrompts and maxResources bound lists; the ecosystem's catalog holds 10,000 tools.
	maxTools     = 10_000
	maxPrompts   = 1_000
	maxResources = 10_000
	// maxText bounds descriptions and instructions, in bytes (2 KB, extensions.md §4).
	maxText = 2 << 10
	// maxSchema bounds one input schema, in bytes.
	maxSchema = 256 << 10
)

// State is how a server is doing.
type State string

// The states, in the words of the ecosystem's status lines.
const (
	Pending   State = "pending"
	Connected State = "connected"
	NeedsAuth State = "needs-auth"
	Failed    State = "failed"
	Disabled  State = "disabled"
)

// Status is what may be told of a server.
type Status struct {
	Name  string
	Scope Scope
	State State
	// Detail says why the state is not Connected; for people.
	Detail string
	// Server and Version are what it calls itself, ProtocolVersion what was agreed on.
	Server, Version, ProtocolVersion string
	// Tools, Prompts and Resources count what it offers.
	Tools, Prompts, Resources int
}

// Tool is one tool of a server, cleaned.
type Tool struct {
	// Server is the normalised name of its server, Full the name that the model
	// sees, Name what the server calls it.
	Server, Full, Name string
	Title, Description string
	// Schema is a JSON object of type object.
	Schema json.RawMessage
	// ReadOnly and Destructive are the server's claims about itself.
	ReadOnly, Destructive bool
	// AlwaysLoad keeps the tool out of tool search; NeedsUser marks one that a
	// person must confirm each time.
	AlwaysLoad, NeedsUser bool
	// MaxResult is the text of a result that may enter the conversation, in bytes; 0 for the usual.
	MaxResult int
	// Digest covers name, description and schema as the server gave them.
	Digest string
}

// Prompt is a template of a server.
type Prompt struct {
	// Server, Full and Name are those of Tool; Full is mcp__server__prompt.
	Server, Full, Name string
	Description        string
	Arguments          []Argument
}

// Argument is a value that a Prompt takes.
type Argument struct {
	Name, Description string
	Required          bool
}

// Resource is something that a server can be asked for by its URI.
type Resource struct {
	Server      string `json:"server"`
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mimeType,omitempty"`
}

// Part is one piece of a result: text, or bytes of a kind.
type Part struct {
	Text string
	Data []byte
	// MIMEType is set with Data, and for the text of a resource.
	MIMEType string
	// URI is set for what comes from a resource.
	URI string
}

// Answer is the result of a call.
type Answer struct {
	Parts   []Part
	IsError bool
	// Structured is the structured form, nil when there is none.
	Structured json.RawMessage
}

// Said is one message of a prompt; Role is user or assistant.
type Said struct {
	Role string
	Part Part
}

// Progress is a sign of life of a call.
type Progress struct {
	Text        string
	Done, Total float64
}

// Waits of a connection, when nothing else is configured.
const (
	defaultConnect = 30 * time.Second
	// defaultCall is as good as no limit: about 28 hours, as the ecosystem has it.
	defaultCall   = 100_000 * time.Second
	firstByte     = 60 * time.Second
	idleRemote    = 5 * time.Minute
	idleLocal     = 30 * time.Minute
	closeGrace    = 500 * time.Millisecond
	listTries     = 3
	connectTries  = 3
	returnTries   = 5
	firstBackoff  = time.Second
	greatestDelay = 16 * time.Second
)
