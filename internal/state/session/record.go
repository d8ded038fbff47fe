package session

import (
	"encoding/json"
	"maps"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// Record writes what an event leaves in the transcript, before anybody else
// sees the event. Events that leave nothing are no error.
func (w *Writer) Record(body event.Body) error {
	switch b := body.(type) {
	case event.Message:
		return w.message(b)
	case event.ToolFinished:
		if b.Msg == nil {
			return nil
		}
		return w.Result(b.Msg, b.Result)
	case event.Retracted:
		return w.Retract(b.IDs, b.Reason)
	case event.Compacted:
		return w.Boundary(b)
	case event.Shaped:
		return w.Shaped(b)
	case event.Decided:
		if b.Use != nil {
			w.decide(b.Use.ID, b.Decision)
		}
	case event.ModelCall:
		if b.Break != "" && b.Side == "" {
			return w.PrefixBreak(b.Break, b.Model)
		}
	case event.Notice:
		if b.Level != event.Info || b.Code == event.Deferred {
			return w.Notice(b)
		}
	case event.CommandRan:
		return w.Command(b)
	case event.TurnStarted, event.Retrying, event.Delta, event.ToolStarted, event.ToolProgress, event.HookRan,
		event.Asked, event.Answered, event.Compacting, event.TaskChanged, event.Step, event.Done:
	}
	return nil
}

func (w *Writer) message(e event.Message) error {
	switch {
	case e.Msg == nil:
		return nil
	case e.Msg.Role == msg.RoleAssistant:
		return w.Reply(e.Msg)
	case e.Source == "prompt":
		return w.Prompt(e.Msg, Prompt{})
	case e.From != "":
		return w.Attach(e.From, e.Msg)
	}
	return w.User(e.Msg)
}

func (w *Writer) decide(useID string, d tool.Decision) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.decided[useID] = d
}

// system writes a chained entry of the harness.
func (w *Writer) system(subtype, text, level string, parent string, fill func(*entry)) error {
	e := w.open("system", &msg.Message{}, parent)
	e.str("subtype", subtype).str("content", text).str("level", level).flag("isMeta", false)
	fill(e)
	if err := w.log.Append(e.done()); err != nil {
		return err
	}
	w.chain.add(e.id, e.parent)
	return nil
}

// Retract takes the messages ids off the chain: their entries stay in the
// file, this entry names them, and what follows hangs on what was before.
func (w *Writer) Retract(ids []string, reason string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.chain
	before.calls = maps.Clone(before.calls)
	all := w.chain.retract(ids)
	err := w.system("retracted", "A reply was replaced: "+reason, "info", w.chain.last, func(e *entry) {
		e.val("retractedUuids", all)
	})
	if err != nil {
		w.chain = before
	}
	return err
}

// quarantine is the subtype of the entry that names, by digest, blocks which the
// model's API refused and which no request holds any more. It counts wherever
// it stands: what was refused once is refused on every branch.
const quarantine = "quarantine"

// deferred is the subtype of the entry behind a call that a hook has put off. At
// the end of the conversation it tells that the call never began.
const deferred = "tool_deferred"

// Notice writes something that a person should know.
func (w *Writer) Notice(n event.Notice) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(n.Blocks) > 0 {
		return w.system(quarantine, n.Text, string(n.Level), w.chain.last, func(e *entry) { e.opt("code", n.Code).val("withheldBlocks", n.Blocks) })
	}
	if n.Code == event.Deferred {
		return w.system(deferred, n.Text, string(n.Level), w.chain.last, func(*entry) {})
	}
	return w.system("notice", n.Text, string(n.Level), w.chain.last, func(e *entry) { e.opt("code", n.Code) })
}

// Command writes what a slash command said. It is no part of what the model sees.
func (w *Writer) Command(c event.CommandRan) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := "<command-name>/" + c.Name + "</command-name>\n<command-args>" + c.Args + "</command-args>\n" + c.Tagged()
	level := "info"
	if c.Failed {
		level = "error"
	}
	return w.system("local_command", text, level, w.chain.last, func(*entry) {})
}

// cleared is the subtype of the entry with which a conversation begins that took
// the place of another one in the same process.
const cleared = "cleared"

// Cleared begins the file of a conversation that nobody has spoken in yet, so
// that going on with the newest session does not lead to the one before it, old.
func (w *Writer) Cleared(old string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.system(cleared, "The conversation was cleared; the one before it is session "+old, string(event.Info), "", func(e *entry) { e.opt("clearedFrom", old) })
}

// Source is a file whose text is part of a context message.
type Source struct {
	Path string `json:"path"`
	// Type is the scope: User, Project, Local, Managed.
	Type string `json:"type"`
}

// Context writes the message that instruction files and date make up. A
// resume repeats its text and puts it in front of the conversation, wherever
// in the file it stands; it should follow the first prompt, because third-party
// lists look for that in the first 64 KB.
func (w *Writer) Context(m *msg.Message, files []Source) error {
	if files == nil {
		files = []Source{}
	}
	w.mu.Lock()
	w.sources = files
	w.mu.Unlock()
	return w.attach(m, kindInstructions, "user", func(a *line) { a.val("files", files) })
}

// Attach writes context that the harness injected at this place of the
// conversation; kind is for programs.
func (w *Writer) Attach(kind string, m *msg.Message) error {
	return w.attach(m, kind, "user", func(*line) {})
}

// Snapshot writes the system prompt as it is sent, a text a block, so that a
// resume can repeat it.
func (w *Writer) Snapshot(system []string) error {
	w.mu.Lock()
	w.prefix = system
	w.mu.Unlock()
	return w.attach(snapshotMessage(system), kindSnapshot, "system", func(*line) {})
}

// The kinds of attachment that have a meaning on loading.
const (
	kindInstructions = "instructions"
	kindSnapshot     = "prompt_snapshot"
)

func (w *Writer) attach(m *msg.Message, kind, role string, fill func(*line)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := w.attachment(m, kind, role, w.chain.last, fill)
	if err := w.log.Append(e.done()); err != nil {
		return err
	}
	w.chain.add(e.id, e.parent)
	return nil
}

// attachment makes the entry of context that the harness injected.
func (w *Writer) attachment(m *msg.Message, kind, role, parent string, fill func(*line)) *entry {
	type text struct {
		Content string `json:"content"`
	}
	texts := []text{}
	for _, b := range m.Blocks {
		if t, ok := b.(*msg.Text); ok {
			texts = append(texts, text{t.Text})
		}
	}
	e := w.open("attachment", m, parent)
	a := newLine().str("type", kind)
	fill(a)
	e.raw("attachment", a.done()).val("rendered", texts).str("renderedRole", role)
	return e
}

// side writes an entry outside the chain.
func (w *Writer) side(kind string, fill func(*line)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := newLine().str("type", kind)
	fill(l)
	return w.log.Append(l.str("sessionId", w.stamp.Session).done())
}

// PrefixBreak notes that a request did not extend the one before it, and why.
func (w *Writer) PrefixBreak(reason, model string) error {
	at := stampTime(w.now())
	return w.side("prefix-break", func(l *line) { l.str("reason", reason).opt("model", model).str("timestamp", at) })
}

// Prefix notes what the requests begin with from here on, in words of the
// engine's; "" is unknown. A resume that begins otherwise cannot extend the
// last request.
func (w *Writer) Prefix(prefix string) error {
	return w.side("request-prefix", func(l *line) { l.str("prefix", prefix) })
}

// Queue notes that a prompt was queued ("enqueue") or taken up ("dequeue").
func (w *Writer) Queue(operation string) error {
	at := stampTime(w.now())
	return w.side("queue-operation", func(l *line) { l.str("operation", operation).str("timestamp", at) })
}

// LastPrompt notes the newest prompt, for lists of sessions.
func (w *Writer) LastPrompt(text string) error {
	leaf := w.Leaf()
	return w.side("last-prompt", func(l *line) { l.str("lastPrompt", typed(text)).strOrNull("leafUuid", leaf) })
}

// Title names the session; the newest title wins.
func (w *Writer) Title(title string) error {
	return w.side("custom-title", func(l *line) { l.str("customTitle", title) })
}

// Color notes the accent of the session; the newest wins.
func (w *Writer) Color(name string) error {
	return w.side("agent-color", func(l *line) { l.str("agentColor", name) })
}

// SetMode notes a new permission mode. It records what was, not what is
// allowed: a resume asks the settings and flags again.
func (w *Writer) SetMode(mode string) error {
	w.mu.Lock()
	w.mode = mode
	w.mu.Unlock()
	return w.side("permission-mode", func(l *line) { l.str("permissionMode", mode) })
}

// Cost is the account of a session at the end of a run, in the field names of
// the ecosystem. Durations are milliseconds.
type Cost struct {
	TotalUSD     float64 `json:"totalCostUSD"`
	APIDuration  int64   `json:"totalAPIDuration"`
	Duration     int64   `json:"totalDuration"`
	ToolDuration int64   `json:"totalToolDuration"`
	LinesAdded   int     `json:"totalLinesAdded"`
	LinesRemoved int     `json:"totalLinesRemoved"`
	StartTime    int64   `json:"startTime"`
	// ModelUsage is the object of usage and cost by model.
	ModelUsage json.RawMessage `json:"modelUsage,omitempty"`
}

// Cost notes the account; the newest wins.
func (w *Writer) Cost(c Cost) error {
	return w.side("cost-state", func(l *line) {
		body := encode(c)
		if len(body) > 2 {
			l.b = append(append(l.b, ','), body[1:len(body)-1]...)
			flatten(l.b)
		}
	})
}
