package mcp

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Scope says where the entry of a server stands.
type Scope string

// The scopes, by the names that people see.
const (
	ScopeManaged Scope = "managed"
	ScopeFlag    Scope = "dynamic" // --mcp-config
	ScopeSDK     Scope = "sdk"
	ScopeLocal   Scope = "local"
	ScopeProject Scope = "project"
	ScopeUser    Scope = "user"
	ScopePlugin  Scope = "plugin"
	ScopeAgent   Scope = "agent"
)

// Transport is how a server is reached.
type Transport string

// The transports, as configuration files spell them.
const (
	Stdio Transport = "stdio"
	HTTP  Transport = "http"
	SSE   Transport = "sse"
	WS    Transport = "ws"
	SDK   Transport = "sdk"
)

// OAuth is what is known of a server's login beforehand.
type OAuth struct {
	ClientID     string `json:"clientId,omitempty"`
	CallbackPort int    `json:"callbackPort,omitempty"`
	Scopes       string `json:"scopes,omitempty"`
	MetadataURL  string `json:"authServerMetadataUrl,omitempty"`
}

// Entry is the configuration of one server.
type Entry struct {
	Name      string
	Scope     Scope
	File      string // where it stands, "" for the command line
	Transport Transport
	Command   string
	Args      []string
	Env       map[string]string
	URL       string
	Headers   map[string]string
	// HeadersHelper is a shell command that prints headers as a JSON object.
	HeadersHelper string
	OAuth         OAuth
	// Timeout bounds calls, 0 for the session's.
	Timeout    time.Duration
	AlwaysLoad bool
	// Digest binds an approval: it covers all of the entry as it is written,
	// before variables are filled in.
	Digest string
}

type wireEntry struct {
	Type          string            `json:"type"`
	Command       string            `json:"command"`
	Args          []string          `json:"args"`
	Env           map[string]string `json:"env"`
	URL           string            `json:"url"`
	Headers       map[string]string `json:"headers"`
	HeadersHelper string            `json:"headersHelper"`
	OAuth         OAuth             `json:"oauth"`
	Timeout       float64           `json:"timeout"` // milliseconds
	AlwaysLoad    bool              `json:"alwaysLoad"`
}

// minTimeout is the least `timeout` of an entry, in milliseconds.
const minTimeout = 1000

// reserved are names that servers of the ecosystem's own have.
const reserved = "|workspace|claude-in-chrome|computer-use|claude preview|claude browser|"

// ParseEntry reads the entry of a server. Unknown keys are ignored.
func ParseEntry(name string, raw json.RawMessage) (Entry, error) {
	var w wireEntry
	if err := json.Unmarshal(raw, &w); err != nil {
		return Entry{}, fmt.Errorf("MCP server %q: %w", clip(name, 80), err)
	}
	e := Entry{
		Name: name, Transport: Transport(w.Type), Command: w.Command, Args: w.Args, Env: w.Env, URL: w.URL, Headers: w.Headers,
		HeadersHelper: w.HeadersHelper, OAuth: w.OAuth, AlwaysLoad: w.AlwaysLoad, Timeout: time.Duration(w.Timeout) * time.Millisecond,
	}
	switch w.Type {
	case "":
		e.Transport = Stdio
	case "streamable-http":
		e.Transport = HTTP
	}
	if err := e.check(w); err != nil {
		return Entry{}, fmt.Errorf("MCP server %q: %w", clip(name, 80), err)
	}
	var flat bytes.Buffer
	if err := json.Compact(&flat, raw); err != nil {
		return Entry{}, fmt.Errorf("MCP server %q: %w", clip(name, 80), err)
	}
	sum := sha256.Sum256(flat.Bytes())
	e.Digest = hex.EncodeToString(sum[:])
	return e, nil
}

func (e Entry) check(w wireEntry) error {
	if why := CheckName(e.Name); why != "" {
		return fmt.Errorf("%s", why)
	}
	if w.Timeout != 0 && (w.Timeout < minTimeout || w.Timeout > 1e9) {
		return fmt.Errorf("timeout is in milliseconds and at least %d", minTimeout)
	}
	switch e.Transport {
	case Stdio:
		switch {
		case e.Command == "" && e.URL != "":
			return fmt.Errorf(`it has a url and no type; say "type": "http" (or "sse", "ws")`)
		case e.Command == "":
			return fmt.Errorf("it names no command")
		}
	case HTTP, SSE, WS:
		if e.URL == "" {
			return fmt.Errorf("type %s needs a url", e.Transport)
		}
	case SDK:
	default:
		return fmt.Errorf("type %q is not one of stdio, http, sse, ws", clip(w.Type, 40))
	}
	return nil
}

// CheckName says why a server may not have this name, "" when it may. Names of
// files may hold what names of tools cannot; see Normal.
func CheckName(name string) string {
	switch {
	case name == "":
		return "it has no name"
	case len(name) > maxName:
		return fmt.Sprintf("its name is longer than %d characters", maxName)
	case strings.Contains(reserved, "|"+strings.ToLower(name)+"|"):
		return "its name is reserved"
	case Normal(name) == "":
		return "its name holds no letter or digit"
	}
	return ""
}

// StrictName tells whether a name may be given to a new server: letters, digits, - and _.
func StrictName(name string) bool {
	return name != "" && len(name) <= maxName && strings.IndexFunc(name, odd) < 0
}

// ParseServers reads {"mcpServers": {…}}, or the map alone. A bad entry is a
// fault and leaves the others usable.
func ParseServers(raw []byte) (list []Entry, faults []error) {
	var file struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, []error{err}
	}
	if file.Servers == nil {
		return nil, []error{fmt.Errorf(`there is no object "mcpServers"`)}
	}
	for _, name := range slices.Sorted(maps.Keys(file.Servers)) {
		e, err := ParseEntry(name, file.Servers[name])
		if err != nil {
			faults = append(faults, err)
			continue
		}
		list = append(list, e)
	}
	return list, faults
}

// Expand fills variables in: ${VAR} and ${VAR:-default}, in command, args, env,
// url and headers. missing lists what is not set and has no default; its text
// stays as it is.
func (e Entry) Expand(lookup func(name string) (string, bool)) (out Entry, missing []string) {
	x := expander{lookup: lookup}
	out = e
	out.Command, out.URL = x.text(e.Command), x.text(e.URL)
	out.Args = make([]string, len(e.Args))
	for i, a := range e.Args {
		out.Args[i] = x.text(a)
	}
	out.Env, out.Headers = x.all(e.Env), x.all(e.Headers)
	return out, x.missing
}

type expander struct {
	lookup  func(string) (string, bool)
	missing []string
}

func (x *expander) all(m map[string]string) map[string]string {
	out := make(map[string]string, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out[k] = x.text(m[k])
	}
	return out
}

func (x *expander) text(s string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "${")
		inner, after, closed := strings.Cut(rest, "}")
		if !ok || !closed {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(before)
		b.WriteString(x.value(inner))
		s = after
	}
}

func (x *expander) value(inner string) string {
	name, def, hasDefault := strings.Cut(inner, ":-")
	if !variable(name) {
		return "${" + inner + "}"
	}
	v, set := x.lookup(name)
	switch {
	case set && (v != "" || !hasDefault):
		return v
	case hasDefault:
		return def
	}
	if !slices.Contains(x.missing, name) {
		x.missing = append(x.missing, name)
	}
	return "${" + inner + "}"
}

func variable(name string) bool {
	for i, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

// Runs is what the entry runs or reaches, in one line for people: a command
// line, or a URL without its query.
func (e Entry) Runs() string {
	switch e.Transport {
	case Stdio:
		words := make([]string, 0, 1+len(e.Args))
		for _, w := range append([]string{e.Command}, e.Args...) {
			if w == "" || strings.ContainsAny(w, " \t\n\"'\\$") {
				w = fmt.Sprintf("%q", w)
			}
			words = append(words, w)
		}
		return strings.Join(words, " ")
	case SDK:
		return "in the program that runs hew"
	case HTTP, SSE, WS:
	}
	u, err := url.Parse(e.URL)
	if err != nil {
		return e.URL
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String() + " (" + string(e.Transport) + ")"
}

// Remote tells whether the server is reached over a network.
func (e Entry) Remote() bool { return e.Transport == HTTP || e.Transport == SSE || e.Transport == WS }
