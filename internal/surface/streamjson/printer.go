// Package streamjson is the headless surface: text, one JSON result, or a JSON line an event; reads user messages and control requests.
package streamjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// Format is what is written to the output.
type Format string

// The formats.
const (
	Text       Format = "text"
	JSON       Format = "json"
	StreamJSON Format = "stream-json"
)

// Facts describe the conversation in system/init.
type Facts struct {
	Cwd            string
	Tools          []string
	Model          string
	PermissionMode string
	APIKeySource   string
	Version        string
	OutputStyle    string
	// Agents are the names of the subagents.
	Agents []string
	// Commands are the names of the slash commands.
	Commands []string
	// Skills are the names of the skills and custom commands.
	Skills []string
	// Servers are the MCP servers.
	Servers []Server
	// Plugins are the plugins of the session.
	Plugins []Plugin
	// Additional are the working directories beside Cwd.
	Additional []string
	// Memory is the folder of automatic memory, "" when there is none.
	Memory string
}

// Printer writes events as the ecosystem's stream-json lines. It is safe for
// concurrent use: control traffic and events share the output. Its first
// failed write is kept in Err, and nothing is written after it.
type Printer struct {
	session func() string
	partial bool
	replay  bool
	hooks   bool // all hook events, not only those of a session's start
	forward bool // what subagents say, not only what they do
	newID   func() string
	now     func() time.Time

	mu     sync.Mutex
	w      io.Writer
	buf    bytes.Buffer
	err    error
	agents map[string]event.TaskChanged // beginnings of subagents, by id
	// thought and thoughtTold are how much the model has thought, in bytes, and
	// what was told of it, in tokens; the run's goroutine alone.
	thought, thoughtTold int
	// live is the work in the background, in order of start.
	live []liveTask
}

// Err is the first error of the output: the reader went away.
func (p *Printer) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// write puts one object on a line of its own.
func (p *Printer) write(v any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return
	}
	p.buf.Reset()
	enc := json.NewEncoder(&p.buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		p.err = fmt.Errorf("encode %T for the output: %w", v, err)
		return
	}
	if _, err := p.w.Write(p.buf.Bytes()); err != nil {
		p.err = fmt.Errorf("write to the output: %w", err)
	}
}

// envelope is what every line carries.
type envelope struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype,omitempty"`
	UUID    string `json:"uuid"`
	Session string `json:"session_id"`
}

func (p *Printer) head(kind, subtype string) envelope {
	return envelope{kind, subtype, p.newID(), p.id()}
}

// id is that of the session.
func (p *Printer) id() string {
	p.mu.Lock()
	session := p.session
	p.mu.Unlock()
	return session()
}

// Server is an MCP server and how it is doing.
type Server struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	Source string `json:"source,omitempty"`
}

// Plugin is a plugin of the session; Source is its name with its marketplace.
type Plugin struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	Source string `json:"source,omitempty"`
}

// Init writes system/init, which opens every user turn.
func (p *Printer) Init(f Facts) {
	paths := map[string]string{}
	if f.Memory != "" {
		paths["auto"] = f.Memory
	}
	p.write(struct {
		envelope
		Cwd            string            `json:"cwd"`
		Tools          []string          `json:"tools"`
		MCPServers     []Server          `json:"mcp_servers"`
		Model          string            `json:"model"`
		PermissionMode string            `json:"permissionMode"`
		SlashCommands  []string          `json:"slash_commands"`
		APIKeySource   string            `json:"apiKeySource"`
		Version        string            `json:"claude_code_version"`
		OutputStyle    string            `json:"output_style"`
		Agents         []string          `json:"agents"`
		Skills         []string          `json:"skills"`
		Plugins        []Plugin          `json:"plugins"`
		Capabilities   []string          `json:"capabilities"`
		MemoryPaths    map[string]string `json:"memory_paths"`
		Additional     []string          `json:"additional_directories"`
		FastMode       string            `json:"fast_mode_state"`
	}{
		p.head("system", "init"), f.Cwd, list(f.Tools),
		append([]Server{}, f.Servers...),
		f.Model, f.PermissionMode,
		list(f.Commands),
		f.APIKeySource, f.Version, f.OutputStyle,
		list(f.Agents),
		list(f.Skills),
		append([]Plugin{}, f.Plugins...),
		Capabilities(),
		paths, list(f.Additional), "off",
	})
}

// Capabilities are the parts of the protocol that hosts ask for by name.
func Capabilities() []string {
	return []string{"interrupt_receipt_v1", "interrupt_cancel_queued_v1", "reload_plugins_refuse_if_busy_v1"}
}

// list keeps an empty list from becoming null.
func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// Event writes what an event says on the stream; many say nothing there.
func (p *Printer) Event(e event.Event) {
	switch b := e.Body.(type) {
	case event.TurnStarted:
		if p.partial {
			p.status("requesting", "")
		}
	case event.Retrying:
		p.retry(b)
	case event.Delta:
		if p.partial && e.Origin.Agent == "" {
			p.thinking(b)
		}
		if p.partial && len(b.Raw) > 0 {
			p.write(struct {
				envelope
				Event  json.RawMessage `json:"event"`
				Parent *string         `json:"parent_tool_use_id"`
			}{p.head("stream_event", ""), b.Raw, parent(e)})
		}
	case event.Message:
		p.message(e, b)
	case event.ToolFinished:
		p.user(e, b.Msg, b.Result.Data, false, false)
	case event.ToolProgress:
		p.progress(e, b)
	case event.Decided:
		p.denied(b)
	case event.Retracted:
		p.write(struct {
			envelope
			UUIDs  []string `json:"uuids"`
			Reason string   `json:"reason"`
		}{p.head("system", "messages_retracted"), b.IDs, b.Reason})
	case event.Compacting:
		p.compacting(b)
	case event.Compacted:
		p.compacted(e, b)
	case event.Notice:
		p.write(struct {
			envelope
			Content string `json:"content"`
			Level   string `json:"level"`
			Code    string `json:"code"`
		}{p.head("system", "informational"), b.Text, string(b.Level), b.Code})
	case event.TaskChanged:
		p.task(b)
	case event.HookRan:
		p.hookRan(b)
	case event.CommandRan:
		p.user(e, msg.User(p.newID(), b.At, b.Tagged()), nil, false, true)
	case event.ToolStarted, event.Asked, event.Answered, event.ModelCall, event.Shaped, event.Step, event.Done:
	}
}

func parent(e event.Event) *string {
	if e.Origin.ParentUse == "" {
		return nil
	}
	return &e.Origin.ParentUse
}

func (p *Printer) status(status, mode string) {
	line := struct {
		envelope
		Status *string `json:"status"`
		Mode   string  `json:"permissionMode,omitempty"`
	}{p.head("system", "status"), nil, mode}
	if status != "" {
		line.Status = &status
	}
	p.write(line)
}

func (p *Printer) retry(r event.Retrying) {
	line := struct {
		envelope
		Attempt int    `json:"attempt"`
		Max     int    `json:"max_retries"`
		Delay   int64  `json:"retry_delay_ms"`
		Status  *int   `json:"error_status"`
		Error   string `json:"error"`
	}{p.head("system", "api_retry"), r.Attempt, r.Max, r.Delay.Milliseconds(), nil, r.Category}
	if r.Status != 0 {
		line.Status = &r.Status
	}
	p.write(line)
}

func (p *Printer) progress(e event.Event, b event.ToolProgress) {
	if b.Progress.Quiet() {
		return
	}
	p.write(struct {
		envelope
		Use     string  `json:"tool_use_id"`
		Tool    string  `json:"tool_name"`
		Parent  *string `json:"parent_tool_use_id"`
		Elapsed float64 `json:"elapsed_time_seconds"`
		Bytes   int64   `json:"output_bytes,omitempty"`
		Text    string  `json:"output_tail,omitempty"`
	}{p.head("tool_progress", ""), b.UseID, b.Name, parent(e), float64(b.Progress.Elapsed) / 1000, b.Progress.Bytes, b.Progress.Text})
}

// speaker is what a subagent's lines say of it; nothing in the main conversation.
type speaker struct {
	Agent string `json:"agent_id,omitempty"`
	Type  string `json:"subagent_type,omitempty"`
	Task  string `json:"task_description,omitempty"`
}

func (p *Printer) speaker(e event.Event) speaker {
	if e.Origin.Agent == "" {
		return speaker{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.agents[e.Origin.Agent]
	return speaker{e.Origin.Agent, t.Type, t.Summary}
}

func (p *Printer) denied(b event.Decided) {
	if b.Decision.Behavior != tool.Deny || b.Decision.Layer == "person" {
		return
	}
	p.write(struct {
		envelope
		Tool    string `json:"tool_name"`
		Use     string `json:"tool_use_id"`
		Message string `json:"message"`
		Kind    string `json:"decision_reason_type"`
	}{p.head("system", "permission_denied"), b.Use.Name, b.Use.ID, b.Decision.Reason, b.Decision.Layer})
}

func (p *Printer) message(e event.Event, b event.Message) {
	switch b.Msg.Role {
	case msg.RoleAssistant:
		p.assistant(e, b.Msg)
	case msg.RoleUser, msg.RoleSystem:
		switch {
		case e.Origin.Agent != "":
			if b.Source == "prompt" {
				p.user(e, b.Msg, nil, false, false)
			}
		case b.Source == "prompt" || b.Source == "steer":
			if p.replay {
				p.user(e, b.Msg, nil, false, true)
			}
		case b.From != "": // what the harness tells the model is not part of the talk
		default:
			p.user(e, b.Msg, nil, true, false)
		}
	}
}

// wireMessage is a reply as hosts see it: one block, the usage of its start,
// no stop reason yet.
type wireMessage struct {
	ID       string            `json:"id"`
	Type     string            `json:"type"`
	Role     string            `json:"role"`
	Model    string            `json:"model"`
	Content  []json.RawMessage `json:"content"`
	Stop     *string           `json:"stop_reason"`
	Sequence *string           `json:"stop_sequence"`
	Usage    msg.Usage         `json:"usage"`
}

func (p *Printer) assistant(e event.Event, m *msg.Message) {
	r := m.Reply
	content := blocks(m)
	if e.Origin.Agent != "" && !p.forward {
		if content = doings(m); len(content) == 0 {
			return
		}
	}
	p.write(struct {
		envelope
		Message wireMessage `json:"message"`
		Parent  *string     `json:"parent_tool_use_id"`
		At      string      `json:"timestamp"`
		Request string      `json:"request_id,omitempty"`
		speaker
	}{
		envelope{"assistant", "", m.ID, p.id()},
		wireMessage{r.ID, "message", "assistant", r.Model, content, nil, nil, r.Usage},
		parent(e), stamp(m.Time), r.RequestID, p.speaker(e),
	})
}

// doings are the calls of a reply.
func doings(m *msg.Message) []json.RawMessage {
	var out []json.RawMessage
	for _, u := range m.ToolUses() {
		out = append(out, u.JSON())
	}
	return out
}

func blocks(m *msg.Message) []json.RawMessage {
	out := make([]json.RawMessage, len(m.Blocks))
	for i, b := range m.Blocks {
		out[i] = b.JSON()
	}
	return out
}

func (p *Printer) user(e event.Event, m *msg.Message, data json.RawMessage, synthetic, replayed bool) {
	type body struct {
		Role    string            `json:"role"`
		Content []json.RawMessage `json:"content"`
	}
	p.write(struct {
		envelope
		Message   body            `json:"message"`
		Parent    *string         `json:"parent_tool_use_id"`
		Result    json.RawMessage `json:"tool_use_result,omitempty"`
		At        string          `json:"timestamp"`
		Synthetic bool            `json:"isSynthetic,omitempty"`
		Replay    bool            `json:"isReplay,omitempty"`
		speaker
	}{
		envelope{"user", "", m.ID, p.id()}, body{"user", blocks(m)}, parent(e), data, stamp(m.Time), synthetic, replayed, p.speaker(e),
	})
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
