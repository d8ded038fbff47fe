// Package gemini is the adapter for the Gemini API.
package gemini

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/provider/endpoint"
	"github.com/hew-agent/hew/internal/backend/provider/messages"
	"github.com/hew-agent/hew/internal/msg"
)

// DefaultBaseURL is Google's own endpoint.
const DefaultBaseURL = "https://generativelanguage.googleapis.com/v1beta"

// Config describes one server.
type Config struct {
	endpoint.Config
	// Notice is told, once each, what a request could not carry. Optional.
	Notice func(text string)
}

// New checks the configuration. It makes no connection.
func New(c Config) (*endpoint.Client, error) {
	if c.BaseURL == "" {
		c.BaseURL = DefaultBaseURL
	}
	if c.Address == "" {
		c.Address = "GEMINI_BASE_URL"
	}
	extra, err := messages.ParseExtra(c.ExtraBody)
	if err != nil {
		return nil, err
	}
	d := &dialect{extra: extra, lost: func() {}}
	if c.Notice != nil {
		d.lost = sync.OnceFunc(func() { c.Notice("a block that only another provider understands is not sent to this model") })
	}
	return endpoint.New(c.Config, d)
}

// dialect is generateContent, streamed or not.
type dialect struct {
	extra []messages.Member
	lost  func()
}

// signed marks a thought signature that is kept in a thinking block.
const signed = "gemini-thought:"

type request struct {
	System   *content  `json:"systemInstruction,omitempty"`
	Contents []content `json:"contents"`
	Tools    []tools   `json:"tools,omitempty"`
	Choice   any       `json:"toolConfig,omitempty"`
	Config   config    `json:"generationConfig"`
}

type config struct {
	MaxOutput int       `json:"maxOutputTokens,omitempty"`
	Thinking  *thoughts `json:"thinkingConfig,omitempty"`
}

type thoughts struct {
	Include bool   `json:"includeThoughts"`
	Budget  int    `json:"thinkingBudget,omitempty"`
	Level   string `json:"thinkingLevel,omitempty"`
}

type tools struct {
	Functions []declaration `json:"functionDeclarations"`
}

type declaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"parametersJsonSchema"`
}

type content struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts"`
}

type part struct {
	Text      string    `json:"text,omitempty"`
	Inline    *inline   `json:"inlineData,omitempty"`
	File      *file     `json:"fileData,omitempty"`
	Call      *call     `json:"functionCall,omitempty"`
	Response  *response `json:"functionResponse,omitempty"`
	Signature string    `json:"thoughtSignature,omitempty"`
}

type inline struct {
	Type string `json:"mimeType"`
	Data string `json:"data"`
}

type file struct {
	URI string `json:"fileUri"`
}

type call struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type response struct {
	ID       string            `json:"id,omitempty"`
	Name     string            `json:"name"`
	Response map[string]string `json:"response"`
}

// Request encodes r.
func (d *dialect) Request(r *provider.Request) (string, *messages.Body, error) {
	q := request{Config: config{MaxOutput: r.MaxTokens}, Contents: []content{}}
	var system []part
	for _, s := range r.System {
		system = append(system, part{Text: s.Text})
	}
	if system != nil {
		q.System = &content{Parts: system}
	}
	q.Config.Thinking = thinking(r)
	if t := d.tools(r.Tools); len(t) > 0 {
		q.Tools = []tools{{t}}
	}
	if r.ForceTool != "" {
		q.Choice = map[string]any{"functionCallingConfig": map[string]any{"mode": "ANY", "allowedFunctionNames": []string{r.ForceTool}}}
	}
	names := map[string]string{}
	for _, m := range r.Messages {
		if parts := d.parts(m, names); len(parts) > 0 {
			q.Contents = append(q.Contents, content{role(m.Role), parts})
		}
	}
	raw, err := msg.Marshal(q)
	for _, m := range d.extra {
		if err == nil {
			raw, err = sjson.SetRawBytes(raw, m.Key, m.Value)
		}
	}
	if err != nil {
		return "", nil, &provider.Error{Class: provider.Protocol, Message: "encode the request: " + err.Error(), Err: err}
	}
	path := "models/" + url.PathEscape(r.Model)
	if r.Whole {
		return path + ":generateContent", messages.NewBody(raw), nil
	}
	return path + ":streamGenerateContent?alt=sse", messages.NewBody(raw), nil
}

func role(r msg.Role) string {
	if r == msg.RoleAssistant {
		return "model"
	}
	return "user"
}

// thinking maps a budget or an effort level.
func thinking(r *provider.Request) *thoughts {
	if r.Thinking == (provider.Thinking{}) && r.Effort == "" {
		return nil
	}
	t := &thoughts{Include: true, Budget: r.Thinking.Budget}
	if t.Budget > 0 {
		return t
	}
	switch r.Effort {
	case "low", "medium":
		t.Level = r.Effort
	case "high", "xhigh", "max":
		t.Level = "high"
	}
	return t
}

func (d *dialect) tools(defs []provider.ToolDef) []declaration {
	var out []declaration
	for _, t := range defs {
		v := gjson.ParseBytes(t.JSON)
		schema := v.Get("input_schema")
		if !schema.IsObject() {
			d.lost()
			continue
		}
		out = append(out, declaration{t.Name, v.Get("description").String(), json.RawMessage(schema.Raw)})
	}
	return out
}

// parts encodes a message. names keeps which call has which function's name: an
// answer must repeat it.
func (d *dialect) parts(m *msg.Message, names map[string]string) []part {
	var out []part
	signature := ""
	add := func(p part) {
		p.Signature, signature = signature, ""
		out = append(out, p)
	}
	for _, b := range m.Blocks {
		switch b := b.(type) {
		case *msg.Text:
			add(part{Text: b.Text})
		case *msg.Thinking:
			if s, ok := strings.CutPrefix(b.Signature, signed); ok {
				signature = s
			}
		case *msg.ToolUse:
			names[b.ID] = b.Name
			add(part{Call: &call{Name: b.Name, Args: b.Input, ID: b.ID}})
		case *msg.ToolResult:
			out = append(out, d.result(b, names)...)
		case *msg.Image, *msg.Document:
			add(media(b))
		case *msg.Opaque:
			d.lost()
		}
	}
	return out
}

// result is the answer of a function: text, then what else it holds as parts.
func (d *dialect) result(b *msg.ToolResult, names map[string]string) []part {
	var texts []string
	var rest []part
	for _, c := range b.Content {
		switch c := c.(type) {
		case *msg.Text:
			texts = append(texts, c.Text)
		case *msg.Image, *msg.Document:
			rest = append(rest, media(c))
		case *msg.Opaque:
			d.lost()
		case *msg.Thinking, *msg.ToolUse, *msg.ToolResult:
		}
	}
	key := "output"
	if b.IsError {
		key = "error"
	}
	p := part{Response: &response{b.ToolUseID, names[b.ToolUseID], map[string]string{key: strings.Join(texts, "\n")}}}
	return append([]part{p}, rest...)
}

// media is a picture or a document.
func media(b msg.Block) part {
	src := gjson.GetBytes(b.JSON(), "source")
	switch src.Get("type").Str {
	case "base64":
		return part{Inline: &inline{src.Get("media_type").String(), src.Get("data").Str}}
	case "url":
		return part{File: &file{src.Get("url").String()}}
	case "text":
		return part{Text: src.Get("data").String()}
	}
	return part{Text: "[A file stood here that is kept at another provider.]"}
}

// Header adds the key.
func (d *dialect) Header(h http.Header, a endpoint.Auth, _ *provider.Request) {
	switch a.Style {
	case endpoint.NoKey:
	case endpoint.APIKey:
		h["X-Goog-Api-Key"] = []string{a.Secret}
	case endpoint.Bearer:
		h["Authorization"] = []string{"Bearer " + a.Secret}
	}
}

// Classify types an error answer. Google answers a wrong key with 400.
func (d *dialect) Classify(status int, h http.Header, body []byte, now time.Time) *provider.Error {
	if gjson.ValidBytes(body) {
		if first := gjson.GetBytes(body, "0"); first.IsObject() { // streams wrap errors in a list
			body = []byte(first.Raw)
		}
	}
	e := messages.Classify(status, h, body, now)
	v := gjson.GetBytes(body, "error")
	e.Type = v.Get("status").String()
	text := strings.ToLower(e.Message)
	switch {
	case strings.Contains(v.Get("details").Raw, "API_KEY_INVALID") || strings.Contains(text, "api key not valid"):
		e.Class = provider.Auth
	case strings.Contains(text, "input token count") && strings.Contains(text, "exceeds"):
		e.Class = provider.TooLong
	case status == http.StatusNotFound:
		e.ModelUnknown = strings.Contains(text, "models/")
	case e.Type == "UNAVAILABLE":
		e.Class = provider.Overloaded
	case e.Type == "DEADLINE_EXCEEDED":
		e.Class = provider.Timeout
	}
	return e
}

// Reply reads answers, one an event.
func (d *dialect) Reply(c messages.Config, r *provider.Request, _ string) endpoint.Reply {
	x := &reply{c: c, r: r, b: messages.NewBuilder(c), d: d}
	split := messages.NewSplitter(x.event)
	return endpoint.Reply{
		Feed: split.Feed, Whole: x.whole, Ended: x.b.Ended,
		End: func() error {
			if err := split.End(); err != nil {
				return err
			}
			return x.end()
		},
	}
}
