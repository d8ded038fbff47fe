package classify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
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
// what the agent did, never what the model or a tool wrote. It only collects;
// the view is made when a judge looks, since most sessions have none. It is safe
// for concurrent use.
type Transcript struct {
	mu    sync.Mutex
	lines []line
}

// line is what a person said, a call, or what a hook noted.
type line struct {
	said *msg.Message
	call *msg.ToolUse
	note string
}

// Hear takes in an event of the run.
func (t *Transcript) Hear(e event.Event) {
	m, ok := e.Body.(event.Message)
	if ok && e.Origin.Agent == "" && m.Msg.Role == msg.RoleUser { // what a subagent is told, a model wrote
		t.add(line{said: m.Msg})
	}
}

// Reset forgets everything: the conversation begins anew.
func (t *Transcript) Reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = nil
}

// Load takes in the history of a session that goes on.
func (t *Transcript) Load(history []*msg.Message) {
	for _, m := range history {
		if m.Role == msg.RoleUser {
			t.add(line{said: m})
		}
		for _, u := range m.ToolUses() {
			t.add(line{call: u})
		}
	}
}

// Ran notes an admitted call. Lookups say nothing about what the agent is up to
// and are left out.
func (t *Transcript) Ran(p tool.Planned) {
	if !p.Call.Traits().ReadOnly {
		t.add(line{call: p.Use})
	}
}

// Note takes in what a user's hook said for the judge to know.
func (t *Transcript) Note(text string) { t.add(line{note: text}) }

func (t *Transcript) add(l line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, l)
}

func (t *Transcript) all() []line {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lines[:len(t.lines):len(t.lines)]
}

// words is what a person said in a user message: its text blocks, unless the
// harness wrote them or they stand beside tool results.
func words(m *msg.Message) string {
	if m.Meta {
		return ""
	}
	var said []string
	for _, b := range m.Blocks {
		switch b := b.(type) {
		case *msg.Text:
			said = append(said, b.Text)
		case *msg.ToolResult:
			return ""
		case *msg.Image, *msg.Document, *msg.Thinking, *msg.ToolUse, *msg.Opaque:
		}
	}
	text := strings.Join(said, "\n")
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return jsonLine("user", text)
}

func acted(u *msg.ToolUse) string {
	return jsonLine("call", struct {
		Tool  string `json:"tool"`
		Input any    `json:"input"`
	}{u.Name, compact(u.Input)})
}

// render is the view, oldest first. It fails when people said more than a judge
// can be shown.
func (t *Transcript) render() (string, error) {
	lines := t.all()
	said, calls, left := 0, 0, 0
	var out []string
	for _, l := range slices.Backward(lines) {
		if l.said != nil {
			text := words(l.said)
			said += len(text)
			out = append(out, text)
			continue
		}
		if left > 0 { // no older one either, so that there is one gap
			left++
			continue
		}
		text := ""
		if l.call != nil {
			text = acted(l.call)
		} else {
			text = jsonLine("hook", cut(l.note))
		}
		if calls += len(text); calls > maxCalls {
			left++
			continue
		}
		out = append(out, text)
	}
	if said > maxWords {
		return "", fmt.Errorf("the conversation is too long for the classifier (%d bytes of user messages)", said)
	}
	if left > 0 {
		out = append(out, jsonLine("note", fmt.Sprintf("%d earlier calls are left out", left)))
	}
	slices.Reverse(out)
	return strings.Join(out, ""), nil
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
