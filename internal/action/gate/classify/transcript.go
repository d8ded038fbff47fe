package classify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// Bounds of the view, in bytes. What a person said is never cut: a boundary that
// the judge does not see is no boundary. Payloads of earlier calls are cut, and
// the oldest left out.
const (
	maxWords  = 400_000
	maxCalls  = 60_000
	maxString = 400 // of one string in an earlier call's input
)

// Transcript is the conversation as the judge may see it: what people said and
// what the agent did, never what the model or a tool wrote. It is safe for
// concurrent use.
type Transcript struct {
	mu    sync.Mutex
	lines []line
}

// line is one element in wire form.
type line struct {
	text string
	call bool
}

// Hear takes in an event of the run.
func (t *Transcript) Hear(e event.Event) {
	m, ok := e.Body.(event.Message)
	if !ok || e.Origin.Agent != "" { // what a subagent is told, a model wrote
		return
	}
	t.words(m.Msg)
}

// Load takes in the history of a session that goes on.
func (t *Transcript) Load(history []*msg.Message) {
	for _, m := range history {
		t.words(m)
		for _, u := range m.ToolUses() {
			t.call(u.Name, u.Input)
		}
	}
}

// Ran notes an admitted call. Lookups say nothing about what the agent is up to
// and are left out.
func (t *Transcript) Ran(p tool.Planned) {
	if !p.Call.Traits().ReadOnly {
		t.call(p.Use.Name, p.Use.Input)
	}
}

// words takes what a person said in a user message: its text blocks, unless the
// harness wrote them or they stand beside tool results.
func (t *Transcript) words(m *msg.Message) {
	if m.Role != msg.RoleUser || m.Meta {
		return
	}
	var said []string
	for _, b := range m.Blocks {
		switch b := b.(type) {
		case *msg.Text:
			said = append(said, b.Text)
		case *msg.ToolResult:
			return
		case *msg.Image, *msg.Document, *msg.Thinking, *msg.ToolUse, *msg.Opaque:
		}
	}
	if text := strings.Join(said, "\n"); strings.TrimSpace(text) != "" {
		t.add(line{text: jsonLine("user", text)})
	}
}

func (t *Transcript) call(name string, input json.RawMessage) {
	t.add(line{text: jsonLine("call", struct {
		Tool  string `json:"tool"`
		Input any    `json:"input"`
	}{name, compact(input)}), call: true})
}

func (t *Transcript) add(l line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, l)
}

// render joins the lines, oldest first. It fails when people said more than a
// judge can be shown.
func (t *Transcript) render() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	words, calls, left := 0, 0, 0
	keep := make([]bool, len(t.lines))
	for i := len(t.lines) - 1; i >= 0; i-- {
		l := t.lines[i]
		switch {
		case !l.call:
			words += len(l.text)
			keep[i] = true
		case calls+len(l.text) <= maxCalls:
			calls += len(l.text)
			keep[i] = true
		default:
			calls, left = maxCalls, left+1 // no older one either, so that there is one gap
		}
	}
	if words > maxWords {
		return "", fmt.Errorf("the conversation is too long for the classifier (%d bytes of user messages)", words)
	}
	var b strings.Builder
	if left > 0 {
		b.WriteString(jsonLine("note", fmt.Sprintf("%d earlier calls are left out", left)))
	}
	for i, l := range t.lines {
		if keep[i] {
			b.WriteString(l.text)
		}
	}
	return b.String(), nil
}

// jsonLine is {"key":value}. encoding/json escapes <, > and &, so that nothing in
// a value can look like the end of a section.
func jsonLine(key string, value any) string {
	data, err := json.Marshal(map[string]any{key: value})
	if err != nil {
		// Strings, numbers and what was decoded from JSON always marshal.
		data = []byte(`{"note":"something that cannot be shown"}`)
	}
	return string(data) + "\n"
}

// compact is an input with its long strings cut in the middle.
func compact(input json.RawMessage) any {
	v, err := decode(input)
	if err != nil {
		return cut(string(input))
	}
	return shorten(v)
}

func decode(input json.RawMessage) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(input))
	d.UseNumber()
	return v, d.Decode(&v)
}

func shorten(v any) any {
	switch v := v.(type) {
	case string:
		return cut(v)
	case []any:
		for i := range v {
			v[i] = shorten(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = shorten(v[k])
		}
	}
	return v
}

func cut(s string) string {
	if len(s) <= maxString {
		return s
	}
	head, tail := maxString*3/4, len(s)-maxString/4
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return fmt.Sprintf("%s… %d bytes left out …%s", s[:head], tail-head, s[tail:])
}
