package acp

import "encoding/json"

// Wire structs of the Agent Client Protocol, version 1 (agentclientprotocol.com).

// protocolVersion is the one version that hew speaks.
const protocolVersion = 1

type initializeIn struct {
	Version int `json:"protocolVersion"`
	Client  struct {
		Elicitation struct {
			Form json.RawMessage `json:"form"`
			URL  json.RawMessage `json:"url"`
		} `json:"elicitation"`
	} `json:"clientCapabilities"`
}

// empty is {}: in capabilities "yes", in answers "done".
type empty struct{}

type promptAbilities struct {
	Image    bool `json:"image"`
	Audio    bool `json:"audio"`
	Embedded bool `json:"embeddedContext"`
}

type serverAbilities struct {
	HTTP bool `json:"http"`
	SSE  bool `json:"sse"`
}

type sessionAbilities struct {
	List        empty `json:"list"`
	Delete      empty `json:"delete"`
	Resume      empty `json:"resume"`
	Close       empty `json:"close"`
	Directories empty `json:"additionalDirectories"`
}

type abilities struct {
	Load     bool             `json:"loadSession"`
	Prompt   promptAbilities  `json:"promptCapabilities"`
	Servers  serverAbilities  `json:"mcpCapabilities"`
	Sessions sessionAbilities `json:"sessionCapabilities"`
}

type program struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Version string `json:"version"`
}

type initializeOut struct {
	Version   int        `json:"protocolVersion"`
	Abilities abilities  `json:"agentCapabilities"`
	Auth      []struct{} `json:"authMethods"`
	Agent     program    `json:"agentInfo"`
}

// sessionIn is what all requests about a session may hold.
type sessionIn struct {
	ID          string   `json:"sessionId"`
	Cwd         string   `json:"cwd"`
	Servers     []server `json:"mcpServers"`
	Directories []string `json:"additionalDirectories"`
}

type pair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type server struct {
	Type    string   `json:"type"`
	Name    string   `json:"name"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Env     []pair   `json:"env"`
	URL     string   `json:"url"`
	Headers []pair   `json:"headers"`
}

// Mode is a permission mode that a person can choose.
type Mode struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// About is one line for people.
	About string `json:"description,omitempty"`
}

type modes struct {
	Current   string `json:"currentModeId"`
	Available []Mode `json:"availableModes"`
}

// Choice is a value of an option that a person can choose.
type Choice struct {
	Value string `json:"value"`
	Name  string `json:"name"`
	About string `json:"description,omitempty"`
}

type configOption struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Category string   `json:"category"`
	Type     string   `json:"type"`
	Current  string   `json:"currentValue"`
	Options  []Choice `json:"options"`
}

type sessionOut struct {
	ID      string         `json:"sessionId,omitempty"`
	Modes   modes          `json:"modes"`
	Options []configOption `json:"configOptions"`
}

// content is a content block of prompts and updates.
type content struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitempty"`
	Data     string    `json:"data,omitempty"`
	MIME     string    `json:"mimeType,omitempty"`
	URI      string    `json:"uri,omitempty"`
	Name     string    `json:"name,omitempty"`
	Resource *resource `json:"resource,omitempty"`
}

type resource struct {
	URI  string  `json:"uri"`
	MIME string  `json:"mimeType"`
	Text *string `json:"text"`
	Blob string  `json:"blob"`
}

func text(s string) content { return content{Type: "text", Text: s} }

// part is an item of a tool call's content: a block or a diff.
type part struct {
	Type    string   `json:"type"`
	Content *content `json:"content,omitempty"`
	Path    string   `json:"path,omitempty"`
	Old     *string  `json:"oldText,omitempty"`
	New     *string  `json:"newText,omitempty"`
}

type location struct {
	Path string `json:"path"`
}

// toolUpdate is a tool call, or what has changed of it.
type toolUpdate struct {
	Kind      string          `json:"sessionUpdate,omitempty"`
	ID        string          `json:"toolCallId"`
	Title     string          `json:"title,omitempty"`
	Act       string          `json:"kind,omitempty"`
	Status    string          `json:"status,omitempty"`
	Content   []part          `json:"content,omitempty"`
	Locations []location      `json:"locations,omitempty"`
	Input     json.RawMessage `json:"rawInput,omitempty"`
	Output    json.RawMessage `json:"rawOutput,omitempty"`
}

type chunk struct {
	Kind    string  `json:"sessionUpdate"`
	Content content `json:"content"`
	Message string  `json:"messageId,omitempty"`
}

type planEntry struct {
	Content  string `json:"content"`
	Priority string `json:"priority"`
	Status   string `json:"status"`
}

type slashCommand struct {
	Name  string `json:"name"`
	About string `json:"description"`
	Input *hint  `json:"input,omitempty"`
}

type hint struct {
	Hint string `json:"hint"`
}

type cost struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"`
}

type option struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

type promptOut struct {
	Stop string `json:"stopReason"`
}
