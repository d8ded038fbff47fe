package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// Hook is one handler as it was understood.
type Hook struct {
	Event   string
	Matcher string
	Kind    Kind
	// If is the permission rule that the call must meet, "" for none.
	If string
	// Timeout is the limit; Set tells that the configuration chose it.
	Timeout time.Duration
	Set     bool
	// Status is what a spinner says while the hook runs.
	Status string
	// Once hooks run once, then never again (skills only).
	Once bool
	// Async hooks are not waited for; Rewake ones may wake the model with exit code 2.
	Async, Rewake bool
	// BlockOnFailure treats a hook that gives no valid answer as one that says no.
	BlockOnFailure bool
	// What runs, by kind.
	Command         string
	Args            []string // not nil: started directly, without a shell
	Shell           string
	URL             string
	Headers         map[string]string
	AllowedEnv      []string
	Server, Tool    string
	Input           json.RawMessage
	Prompt, Model   string
	ContinueOnBlock bool
	Callback        string

	Source Source
	// Off says why the hook does not run, "" when it does.
	Off string
}

// Title is one line that says what runs.
func (h Hook) Title() string {
	var s string
	switch h.Kind {
	case Command:
		s = strings.Join(append([]string{h.Command}, h.Args...), " ")
	case HTTP:
		s = h.URL
	case MCPTool:
		s = h.Server + ": " + h.Tool
	case Prompt, Verifier:
		s = h.Kind.String() + ": " + h.Prompt
	case Callback:
		s = "callback " + h.Callback
	}
	return fsys.Printable(clip(s, 120))
}

// Note is something about the configuration that a person should know.
type Note struct {
	Source Source
	Event  string
	Text   string
}

// String is one line.
func (n Note) String() string {
	s := n.Source.String()
	if n.Source.Line > 0 {
		s += fmt.Sprintf(":%d", n.Source.Line)
	}
	if n.Event != "" {
		s += ": " + fsys.Printable(n.Event)
	}
	return s + ": " + n.Text
}

// loaded is a hook ready to run.
type loaded struct {
	Hook
	match matcher
	cond  *condition
	key   string // equal keys are one hook
	spent atomic.Bool
}

// maxHooks bounds one source, so that a generated file cannot start thousands
// of programs at an event.
const maxHooks = 500

type parser struct {
	d      *Dispatcher
	src    Source
	limits Limits
	out    []*loaded
	notes  []Note
	full   bool
}

func (p *parser) note(event, format string, args ...any) {
	p.notes = append(p.notes, Note{Source: p.src, Event: event, Text: fmt.Sprintf(format, args...)})
}

func (p *parser) source() {
	events, order, ok := objectOf(p.src.Hooks)
	if !ok {
		if len(bytes.TrimSpace(p.src.Hooks)) > 0 {
			p.note("", "hooks must be an object of event names; all of it is ignored")
		}
		return
	}
	for _, event := range order {
		p.event(event, events[event])
	}
}

func (p *parser) event(event string, raw json.RawMessage) {
	if event == "description" && p.src.Scope == Plugin {
		return
	}
	r := rowIndex()[event]
	if r == nil {
		p.note(event, "no such event; the entry is ignored%s", suggestion(event))
		return
	}
	if p.src.Agent != "" && r.Event == "Stop" {
		r = rowIndex()["SubagentStop"]
	}
	var groups []json.RawMessage
	if json.Unmarshal(raw, &groups) != nil {
		p.note(event, "must be a list; the entry is ignored")
		return
	}
	for _, g := range groups {
		p.group(r, g)
	}
}

// suggestion names an event that differs in case only.
func suggestion(event string) string {
	for _, r := range rows() {
		near := strings.HasPrefix(r.Event, event) && len(r.Event) <= len(event)+2 || strings.HasPrefix(event, r.Event)
		if near || strings.EqualFold(r.Event, event) {
			return " (did you mean " + r.Event + "?)"
		}
	}
	return ""
}

// group reads {"matcher", "hooks": […]}, and the flat form in which the handler
// stands beside the matcher.
func (p *parser) group(r *Row, raw json.RawMessage) {
	g, order, ok := objectOf(raw)
	if !ok {
		p.note(r.Event, "an entry must be an object with hooks; it is ignored")
		return
	}
	pattern, ok := textOf(g["matcher"])
	if !ok {
		p.note(r.Event, "matcher must be a string; the entry is ignored")
		return
	}
	var handlers []json.RawMessage
	switch {
	case g["hooks"] != nil:
		if json.Unmarshal(g["hooks"], &handlers) != nil {
			p.note(r.Event, "hooks must be a list; the entry is ignored")
			return
		}
		for _, k := range order {
			if k != "matcher" && k != "hooks" {
				p.note(r.Event, "unknown key %q beside matcher and hooks", clip(k, 60))
			}
		}
	case g["command"] != nil || g["type"] != nil || g["url"] != nil || g["prompt"] != nil:
		p.note(r.Event, "flat form: write {\"matcher\": …, \"hooks\": [{\"type\": \"command\", …}]}; it is read as that")
		handlers = []json.RawMessage{flat(g)}
	default:
		p.note(r.Event, "an entry without hooks does nothing")
		return
	}
	m, why := newMatcher(r, pattern)
	if why != "" {
		p.note(r.Event, "matcher %q: %s; the entry is ignored", clip(pattern, 60), why)
		return
	}
	p.neverMatches(r, pattern, m)
	for _, h := range handlers {
		p.handler(r, m, h)
	}
}

// flat is the handler of a flat entry in the form that is published.
func flat(g map[string]json.RawMessage) json.RawMessage {
	h := maps.Clone(g)
	delete(h, "matcher")
	if h["type"] == nil {
		h["type"] = json.RawMessage(`"command"`)
	}
	raw, err := json.Marshal(h)
	if err != nil {
		return json.RawMessage("{}") // the parts are valid JSON: cannot fail
	}
	return raw
}

func (p *parser) handler(r *Row, m matcher, raw json.RawMessage) {
	if len(p.out) == maxHooks {
		if !p.full {
			p.full = true
			p.note(r.Event, "more than %d hooks in one source; the rest is ignored", maxHooks)
		}
		return
	}
	w, err := decodeHandler(raw)
	if err != nil {
		p.note(r.Event, "%v; the hook is ignored", err)
		return
	}
	h := &loaded{Hook: w.hook(), match: m, key: p.identity(raw)}
	h.Event, h.Matcher, h.Source = r.Event, m.text, p.src
	if why := p.unfit(r, h, w); why != "" {
		p.note(r.Event, "%s; the hook is ignored", why)
		return
	}
	p.limit(r, h)
	p.remarks(r, h, raw)
	if h.If != "" && r.judged {
		var warning string
		if h.cond, warning = p.d.newCondition(h.If); warning != "" {
			p.note(r.Event, "if %q: %s", clip(h.If, 60), warning)
		}
	}
	h.Off = p.limits.off(p.src)
	if h.Off == "" && h.If != "" && !r.judged {
		h.Off = "if needs a tool event"
	}
	p.out = append(p.out, h)
}

// unfit says why a handler cannot be used at all.
func (p *parser) unfit(r *Row, h *loaded, w wireHook) string {
	switch {
	case h.Kind == 0:
		return fmt.Sprintf("type %q is not one of command, http, mcp_tool, prompt, agent", clip(w.Type, 40))
	case h.Kind == Callback && p.src.Scope != Host:
		return "callbacks exist only between hew and an SDK host"
	case r.Kinds&h.Kind == 0:
		return fmt.Sprintf("hooks of type %s cannot be used for this event", h.Kind)
	case h.missing() != "":
		return fmt.Sprintf("a hook of type %s needs %s", h.Kind, h.missing())
	case h.Shell != "" && h.Shell != "bash" && h.Shell != "powershell":
		return fmt.Sprintf("shell %q is neither bash nor powershell", clip(h.Shell, 40))
	}
	return ""
}

// missing names the field without which a handler does nothing.
func (h *loaded) missing() string {
	switch h.Kind {
	case Command:
		return unless(h.Command, "command")
	case HTTP:
		return unless(h.URL, "url")
	case MCPTool:
		return unless(h.Server, "server") + unless(h.Tool, "tool")
	case Prompt, Verifier:
		return unless(h.Prompt, "prompt")
	case Callback:
		return unless(h.Callback, "an id")
	}
	return ""
}

func unless(v, field string) string {
	if strings.TrimSpace(v) != "" {
		return ""
	}
	return field
}

// maxTimeout keeps a number in a file from overflowing a duration.
const maxTimeout = 24 * time.Hour

// limit fills in the time limit.
func (p *parser) limit(r *Row, h *loaded) {
	switch {
	case h.Set:
		h.Timeout = min(h.Timeout, maxTimeout)
	case h.Kind == Prompt:
		h.Timeout = 30 * time.Second
	case h.Kind == Verifier:
		h.Timeout = time.Minute
	case r.timeout > 0:
		h.Timeout = r.timeout
	default:
		h.Timeout = 10 * time.Minute
	}
	if r.heedless || h.Async {
		h.BlockOnFailure = false
	}
}

// remarks are lint notes about a hook that is used.
func (p *parser) remarks(r *Row, h *loaded, raw json.RawMessage) {
	keys, order, _ := objectOf(raw)
	for _, k := range order {
		if !slices.Contains(handlerKeys(h.Kind), k) {
			p.note(r.Event, "unknown key %q in a hook of type %s", clip(k, 60), h.Kind)
		}
	}
	if h.Once && p.src.Scope != Skill {
		h.Once = false
		p.note(r.Event, "once counts only in the front matter of a skill")
	}
	if h.If != "" && !r.judged {
		p.note(r.Event, "if can be met only by tool events: the hook never runs")
	}
	if keys["onFailure"] != nil && r.heedless {
		p.note(r.Event, "onFailure is ignored for this event")
	}
	if h.Matcher != "" && r.Matcher == "" {
		p.note(r.Event, "the event has no matcher: the hook runs every time")
	}
}

// identity is equal for handlers that are one: the same from several settings
// files run once, copies of plugins and skills stay apart.
func (p *parser) identity(raw json.RawMessage) string {
	m, _, _ := objectOf(raw)
	delete(m, "statusMessage")
	canonical, err := json.Marshal(m) // keys sorted
	if err != nil {
		canonical = raw
	}
	var b bytes.Buffer
	if json.Compact(&b, canonical) != nil {
		b.Write(canonical)
	}
	if p.src.own() {
		return p.src.File + "\x00" + p.src.Root + "\x00" + p.src.Agent + "\x00" + b.String()
	}
	return b.String()
}
