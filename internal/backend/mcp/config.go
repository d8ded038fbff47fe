package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/hew-agent/hew/internal/backend/shell"
)

// Config is what connections need. Fields without a comment that says otherwise
// are required.
type Config struct {
	// Version is hew's.
	Version string
	// Dir is where processes of servers start: the project's folder.
	Dir string
	// Runner starts processes; Find looks a program up by name. Both are needed
	// for stdio servers only. HideSecrets keeps provider keys from them.
	Runner      *shell.Runner
	Find        func(name string) (string, error)
	HideSecrets bool
	// Lookup reads a variable for ${…}.
	Lookup func(name string) (string, bool)
	// Roots are the folders that servers may ask for, absolute.
	Roots []string
	// Helper runs a headersHelper. Optional.
	Helper func(ctx context.Context, e Entry) (map[string]string, error)
	// Proxy chooses the proxy of a request. Optional.
	Proxy func(*http.Request) (*url.URL, error)
	// Tokens holds logins. Optional.
	Tokens *Tokens
	// Host opens the connection to a server that runs in the host's process. Optional.
	Host func(ctx context.Context, name string) (Frames, error)
	// Elicit asks a person in a server's name, Sample asks a model. Each is
	// offered to servers only when it is there.
	Elicit func(ctx context.Context, r Request) (Reply, error)
	Sample func(ctx context.Context, r Sampling) (Sampled, error)
	// Judge is given the tools of a server each time they were listed and returns
	// the names of those that must not be offered, with the reason. Optional.
	Judge func(e Entry, tools []Tool) map[string]string
	// Notice is told what a person should know, from any goroutine.
	Notice func(text string)
	// Changed is told that a server's state or what it offers has changed, from
	// any goroutine; it must not block. Optional.
	Changed func()

	// Connect bounds a connection (MCP_TIMEOUT), Call a call (MCP_TOOL_TIMEOUT),
	// Idle a call that shows no sign of life. 0 for the usual.
	Connect, Call, Idle time.Duration
	Now                 func() time.Time
	// Sleep waits or returns early with ctx.Err().
	Sleep func(ctx context.Context, d time.Duration) error
}

// Request is what a server wants from the person: a form, or a visit to a URL.
type Request struct {
	Server, Message, Mode, URL, ID string
	Schema                         json.RawMessage
}

// Reply is the person's answer: accept, decline or cancel.
type Reply struct {
	Action  string
	Content map[string]any
}

// Sampling is a server's wish for a model's words.
type Sampling struct {
	Server, System string
	Messages       []Said
	MaxTokens      int64
}

// Sampled is the model's answer.
type Sampled struct{ Text, Model string }
