package session

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// Stamp is what every entry of a session carries.
type Stamp struct {
	Session string
	Cwd     string
	// Version is hew's version; readers want three numbers first and get them.
	Version string
	// Branch is the git branch, "HEAD" outside git.
	Branch string
	// Entrypoint is cli, sdk-cli or sdk-ts.
	Entrypoint string
	// Agent is a subagent's id; it makes the entries a sidechain.
	Agent string
}

// WriterConfig makes a Writer.
type WriterConfig struct {
	Log   *Log
	Stamp Stamp
	// Mode is the permission mode at the start.
	Mode string
	// Now and NewID are the clock and the id generator; nil means the real ones.
	Now   func() time.Time
	NewID func() string
	// From is the conversation that is continued; nil starts one.
	From *Conversation
}

// Writer turns messages and events into entries and keeps the chain: it knows
// which entry is the parent of the next. It is safe for concurrent use. After
// an error the chain is as before, so that the same call may be tried again.
type Writer struct {
	mu    sync.Mutex
	log   *Log
	stamp Stamp
	mode  string
	now   func() time.Time
	newID func() string

	prompt string // promptId of the current run
	chain  chain
	anchor string // id of the summary that a boundary has announced
	// decided holds how a call was judged until its result is written.
	decided map[string]tool.Decision
	// prefix is the system prompt, sources the files of the context message; a
	// compaction repeats both behind its boundary.
	prefix  []string
	sources []Source
}

// NewWriter makes a writer for a session.
func NewWriter(c WriterConfig) *Writer {
	w := &Writer{
		log: c.Log, stamp: c.Stamp, mode: c.Mode, now: c.Now, newID: c.NewID,
		chain: newChain(c.From), decided: map[string]tool.Decision{},
	}
	if w.now == nil {
		w.now = time.Now
	}
	if w.newID == nil {
		w.newID = NewID
	}
	if c.From != nil {
		w.prefix = c.From.System
	}
	w.sources = []Source{}
	w.stamp.Version = semver(w.stamp.Version)
	w.prompt = w.newID()
	return w
}

// Prompt is what is known of a prompt beside its text.
type Prompt struct {
	// Source says how it came: "typed", "sdk", "queue", ….
	Source string
}

// Prompt writes what a person or host program asked, which opens a run.
func (w *Writer) Prompt(m *msg.Message, p Prompt) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.prompt = w.newID()
	return w.user(m, p.Source)
}

// User writes any other user message: steering, reminders. Tool results in it
// that were not written yet become entries of their own.
func (w *Writer) User(m *msg.Message) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var rest []msg.Block
	for _, b := range m.Blocks {
		r, ok := b.(*msg.ToolResult)
		if !ok {
			rest = append(rest, b)
			continue
		}
		if w.chain.open(r.ToolUseID) {
			one := &msg.Message{Role: msg.RoleUser, Blocks: []msg.Block{r}, Time: m.Time}
			if len(m.Blocks) == 1 {
				one.ID = m.ID
			}
			if err := w.result(one, r, tool.Result{IsError: r.IsError}); err != nil {
				return err
			}
		}
	}
	if len(rest) == 0 {
		return nil
	}
	c := *m
	c.Blocks = rest
	return w.user(&c, "")
}

func (w *Writer) user(m *msg.Message, source string) error {
	e := w.open("user", m, w.chain.last)
	e.str("promptId", w.prompt).opt("permissionMode", w.mode).opt("promptSource", source)
	if m.ID != "" && m.ID == w.anchor {
		e.flag("isCompactSummary", true).flag("isVisibleInTranscriptOnly", true)
	}
	if m.Meta {
		e.flag("isMeta", true)
	}
	e.raw("message", newLine().str("role", "user").raw("content", content(m.Blocks)).done())
	if err := w.log.Append(e.done()); err != nil {
		return err
	}
	w.chain.add(e.id, e.parent)
	return nil
}

// Result writes the answer to a call. Its parent is the entry of the call.
func (w *Writer) Result(m *msg.Message, r tool.Result) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, b := range m.Blocks {
		if block, ok := b.(*msg.ToolResult); ok {
			return w.result(m, block, r)
		}
	}
	return nil
}

func (w *Writer) result(m *msg.Message, block *msg.ToolResult, r tool.Result) error {
	parent, known := w.chain.calls[block.ToolUseID]
	if !known {
		parent = w.chain.last
	}
	e := w.open("user", m, parent)
	e.str("promptId", w.prompt).opt("permissionMode", w.mode)
	if known {
		e.str("sourceToolAssistantUUID", parent)
	}
	if d, ok := w.decided[block.ToolUseID]; ok {
		e.val("permissionDecision", struct {
			Decision   tool.Behavior `json:"decision"`
			Source     string        `json:"source"`
			ReasonType string        `json:"reasonType"`
		}{d.Behavior, d.Layer, d.Layer})
	}
	e.raw("message", newLine().str("role", "user").raw("content", blockList(m.Blocks)).done())
	e.raw("toolUseResult", structured(block, r))
	if err := w.log.Append(e.done()); err != nil {
		return err
	}
	delete(w.decided, block.ToolUseID)
	w.chain.answer(block.ToolUseID, e.id, parent)
	return nil
}

// structured is the result for programs: the tool's own data, else its text.
func structured(block *msg.ToolResult, r tool.Result) []byte {
	if len(r.Data) > 0 && json.Valid(r.Data) {
		return r.Data
	}
	text := (&msg.Message{Blocks: block.Content}).Text()
	if block.IsError {
		text = "Error: " + text
	}
	return encode(text)
}

// Reply writes blocks of a model's reply, one entry each.
func (w *Writer) Reply(m *msg.Message) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := m.Reply
	if r == nil {
		r = &msg.Reply{}
	}
	for i, b := range m.Blocks {
		one := &msg.Message{ID: m.ID, Time: m.Time}
		if i > 0 {
			one.ID = w.newID()
		}
		part := *r
		part.Block += i
		if i < len(m.Blocks)-1 {
			part.Final, part.StopReason = false, ""
		}
		key := r.ID + "\x00" + r.RequestID
		e := w.open("assistant", one, w.chain.replyParent(key))
		e.opt("requestId", r.RequestID).opt("requestedModel", r.Requested).val("apiBlockIndex", part.Block)
		if r.Synthetic {
			e.flag("isApiErrorMessage", true)
		}
		e.raw("message", replyMessage(&part, b))
		if err := w.log.Append(e.done()); err != nil {
			return err
		}
		w.chain.addReply(key, e.id, e.parent, b, m.ID)
	}
	return nil
}

const syntheticModel = "<synthetic>"

func replyMessage(r *msg.Reply, b msg.Block) []byte {
	model := r.Model
	if r.Synthetic {
		model = syntheticModel
	}
	stop := ""
	if r.Final {
		stop = r.StopReason
	}
	return newLine().str("id", r.ID).str("type", "message").str("role", "assistant").str("model", model).
		raw("content", blockList([]msg.Block{b})).
		strOrNull("stop_reason", stop).strOrNull("stop_sequence", "").
		raw("usage", replyUsage(r)).done()
}

// entry is a chained line under construction.
type entry struct {
	line
	id, parent string
}

// open begins an entry with the fields that all chained entries share. Short
// fields come first, so that a scan finds them before the message.
func (w *Writer) open(kind string, m *msg.Message, parent string) *entry {
	e := &entry{line: *newLine(), id: m.ID, parent: parent}
	if e.id == "" {
		e.id = w.newID()
	}
	at := m.Time
	if at.IsZero() {
		at = w.now()
	}
	s := w.stamp
	e.strOrNull("parentUuid", parent).flag("isSidechain", s.Agent != "").opt("agentId", s.Agent).
		str("type", kind).str("uuid", e.id).str("timestamp", stampTime(at)).str("sessionId", s.Session).
		str("cwd", s.Cwd).str("version", s.Version).str("gitBranch", s.Branch).
		str("userType", "external").str("entrypoint", s.Entrypoint).str("client", client)
	return e
}

// client marks the entries that hew wrote: attachments of another program
// describe tools and surroundings that hew does not have.
const client = "hew"

// SetPlace changes the directory and branch of the entries to come.
func (w *Writer) SetPlace(cwd, branch string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stamp.Cwd, w.stamp.Branch = cwd, branch
}

// Leaf is the entry that the next one will hang on, "" at the start.
func (w *Writer) Leaf() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.chain.last
}
