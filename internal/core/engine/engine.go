// Package engine holds one conversation: history, steering queue, budgets, mode, persistence, spawn.
//
// Every surface drives the same Engine: it submits a prompt and ranges over
// the run's events. What an event says is in the transcript before anybody
// hears it.
package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/core/compact"
	"github.com/hew-agent/hew/internal/core/loop"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/prompt"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/tool"
)

// Permissions judges calls and knows the permission mode; package gate implements it.
type Permissions interface {
	loop.Gate
	// Mode is the current mode; SetMode changes it, by a person's act only.
	Mode() string
	SetMode(mode string) error
	// Offered reports whether the model may see a tool at all.
	Offered(s tool.Spec) bool
}

// Recorder keeps what happens; package session implements it. A method that
// returns nil has made its argument survive the end of the process.
type Recorder interface {
	Prompt(m *msg.Message, p session.Prompt) error
	Record(body event.Body) error
	Cost(c session.Cost) error
	SetMode(mode string) error
}

// Conversation is the system prompt and the messages of the newest request, for
// a copy that shares their bytes. Nothing in it may be changed.
func (e *Engine) Conversation() (system []string, history []*msg.Message) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.c.System, slices.Clone(e.asked)
}

// Place is where a conversation works.
type Place struct {
	// Cwd is the current directory, Project the start directory, both canonical.
	// Roots are the working directories, Project first.
	Cwd, Project string
	Roots        []string
	// SpillDir is where oversized results go.
	SpillDir string
}

// Model is how a conversation asks models.
type Model struct {
	Provider provider.Provider
	// Name is the model, Fallbacks those to go on with when it is not available.
	Name      string
	Fallbacks []string
	// Lookup finds what is known of a model.
	Lookup func(name string) provider.Model
	// MaxOutput overrides the output cap, 0 for the model's own.
	MaxOutput int
	Thinking  provider.Thinking
	Effort    string
	// CacheTTL is "5m", "1h", or "" for no cache marks.
	CacheTTL string
	Retries  int
	NoWhole  bool
}

// Config makes an Engine. Fields without a comment that says otherwise are required.
type Config struct {
	Session string
	Place   Place
	Model   Model
	// Tools is the whole pool in a fixed order; what is denied as a whole is left out here.
	Tools []tool.Tool
	// More lists tools that come and go while the conversation runs (those of MCP
	// servers), in a fixed order, after Tools; a name that Tools has loses. It is
	// called for each request and call, from several goroutines, and must be
	// cheap. Optional.
	More func() []tool.Tool
	// Aliases are names that mean other tools: a call of the key is one of the value.
	// Optional.
	Aliases map[string]string
	// Deferral keeps definitions of tools out of requests. Optional.
	Deferral Deferral
	// System is the system prompt, a text a block.
	System []string
	// Layout turns history into the messages of a request, valid whatever
	// history holds, and sets the cache marks.
	Layout func(r *provider.Request, history []*msg.Message)
	// Quarantine takes out of requests what the server refuses. Optional.
	Quarantine loop.Quarantine
	// Start is called once, after the first prompt is recorded and before the
	// first request: it records and returns the message of instruction files and
	// date that stands in front of the conversation. Optional.
	Start func() (*msg.Message, error)
	// History is the conversation to go on with, nil for a new one.
	History []*msg.Message
	// Break says why the first request after a resume cannot extend the last one
	// before it ("resume": other tools or another system prompt), "" if it can.
	Break string
	// Sent is the Prefix of the last request before a resume, "" when that is
	// not known.
	Sent string
	// Deferred tells that History ends with a call that a hook has put off: the next
	// run takes it up first.
	Deferred bool
	// Used and Fresh are what is known of the size of History; see loop.Window.
	Used, Fresh int
	// Kinds, Shapings and Compacted are what View is to tell of a resumed past. Optional.
	Kinds     map[string]string
	Shapings  []event.Shaped
	Compacted []compact.Taken
	// Store records the conversation; Sync makes it survive a power cut. Optional together.
	Store Recorder
	Sync  func() error
	// Gate judges calls.
	Gate Permissions
	// Checkpoints saves what calls change, and Rewinder takes it back. Each is optional.
	Checkpoints Checkpoints
	Rewinder    Rewinder
	// Bound cuts oversized results. Optional.
	Bound func(tool.Spec, *msg.ToolUse, tool.Result) tool.Result
	// Shaper makes history fit the window. Optional.
	Shaper loop.Shaper
	// Stops is asked when a reply has no calls. Optional.
	Stops func(ctx context.Context, reply *msg.Message) loop.Stop
	// Hooks hear of what happens, Switches of changes of the model. Each is optional.
	Hooks    Hooks
	Switches Switches
	// Sources say what the model should learn while the conversation runs. They
	// are asked in this order before every request; see prompt.Source. Optional.
	Sources []prompt.Source
	// Tasks are the background tasks that began or ended since the last call, for
	// surfaces. Optional.
	Tasks func() []event.TaskChanged
	// Output is the name of the tool that a reply must end with, "" for none.
	Output   string
	MaxTurns int
	Limits   Limits
	// Interactive tells whether somebody can answer questions.
	Interactive bool
	// Events asks for raw stream events.
	Events bool
	// Trace is told every event, also those that no surface shows. Optional.
	Trace func(event.Event)

	Concurrency int
	Now         func() time.Time
	Sleep       func(ctx context.Context, d time.Duration) error
	Jitter      func() float64
	NewID       func() string
}

// Engine is one conversation. Submit must not be called while another run of
// the same engine is under way; everything else is safe for concurrent use.
type Engine struct {
	c      Config
	ledger *Ledger
	queue  queue
	aside  aside
	late   *prompt.Late
	facts  facts
	held   deferral
	defs   map[string]provider.ToolDef // of Config.Tools
	more   grown
	began  time.Time
	// origin and up are a subagent's: its name and its parent.
	origin event.Origin
	up     *Engine

	mu sync.Mutex
	// since is the ledger at the start of the newest run.
	since Totals
	// warned tells that the newest run has said that its budget is nearly spent.
	warned bool
	model  string
	// lentModel and lentEffort take the place of the conversation's own for a while.
	lentModel, lentEffort string
	// thinks is how models are asked to think.
	thinks provider.Thinking
	// broken is the reason for the next request not to extend the last one; it
	// holds until a reply shows that a request with it was taken. sent is the
	// prefix of that one, sending that of the newest request.
	broken, sent, sending string
	place                 Place
	history               []*msg.Message
	// asked is what the newest request was made of.
	asked      []*msg.Message
	kinds      map[string]string // context source of injected messages; the run's goroutine alone
	shapings   []event.Shaped
	compacted  []compact.Taken
	used, seen int // size of the first seen messages of history, 0 when not known; see loop.Window
	started    bool
	deferred   bool // history ends with a call to take up
	traced     bool // the trace knows what the conversation begins with
	tried      int  // replies of this run that lacked the demanded output
	cancel     context.CancelCauseFunc
}

// New makes the engine. It does nothing yet.
func New(c Config) *Engine {
	e := &Engine{
		c: c, ledger: newLedger(), defs: map[string]provider.ToolDef{}, began: c.Now(),
		late:  prompt.NewLate(prompt.LateConfig{Sources: c.Sources, Now: c.Now, NewID: c.NewID}),
		model: c.Model.Name, thinks: c.Model.Thinking, place: c.Place, history: c.History, started: len(c.History) > 0 && c.Start == nil,
	}
	if e.started {
		e.broken, e.sent, e.deferred = c.Break, c.Sent, c.Deferred
		e.used, e.seen = c.Used, len(c.History)-c.Fresh
		e.kinds, e.shapings, e.compacted = c.Kinds, c.Shapings, c.Compacted
	}
	for _, t := range c.Tools {
		s := t.Spec()
		e.defs[s.Name] = define(s)
	}
	e.reload(c.History)
	return e
}

// define encodes a tool's definition once; the bytes are part of the cached prefix.
func define(s tool.Spec) provider.ToolDef {
	return provider.ToolDef{Name: s.Name, JSON: msg.Encode(struct { // the schema was checked when the tool was made; see tool.Define
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"input_schema"`
	}{s.Name, s.Description, s.Schema})}
}

// Offered lists the tools that the model may call, those first whose definitions
// are in requests, in order.
func (e *Engine) Offered() []tool.Spec {
	shown, hidden := e.split()
	return append(shown, hidden...)
}

// Prefix identifies what requests begin with beside the system prompt, which a
// session never changes: a digest of the tools that are offered, definitions
// included, and the model, on which it depends what of the history is sent.
func (e *Engine) Prefix() string { return e.prefix(e.Model().ID) }

func (e *Engine) prefix(model string) string {
	h := sha256.New()
	shown, _ := e.split()
	for _, s := range shown {
		h.Write(e.def(s).JSON)
	}
	return hex.EncodeToString(h.Sum(nil)[:16]) + " " + model
}

// changed names what is different between two prefixes, "" for nothing or when
// the first is not known.
func changed(was, now string) string {
	tools, _, _ := strings.Cut(was, " ")
	switch {
	case was == "" || was == now:
		return ""
	case strings.HasPrefix(now, tools+" "):
		return "model"
	}
	return "tools"
}

// find looks a tool up by name or alias, among those that are offered.
func (e *Engine) find(name string) (tool.Tool, bool) {
	if to, ok := e.c.Aliases[name]; ok {
		name = to
	}
	for _, t := range e.pool() {
		s := t.Spec()
		if s.Name != name && !slices.Contains(s.Aliases, name) {
			continue
		}
		return t, e.c.Gate.Offered(s)
	}
	return nil, false
}

// Tool finds a tool of the pool by its name, also one that the model may not see.
func (e *Engine) Tool(name string) (tool.Tool, bool) {
	for _, t := range e.pool() {
		if t.Spec().Name == name {
			return t, true
		}
	}
	return nil, false
}

// Env is what a call may know of the conversation now.
func (e *Engine) Env() tool.Env { return e.env() }

// Session is the session id.
func (e *Engine) Session() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.c.Session
}

// store is where the conversation is recorded now, nil for nowhere.
func (e *Engine) store() Recorder {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.c.Store
}

// Costs reads what the conversation has cost so far in this process.
func (e *Engine) Costs() Totals { return e.ledger.Totals() }

// Mode is the permission mode.
func (e *Engine) Mode() string { return e.c.Gate.Mode() }

// SetMode changes the permission mode, by a person's or host's act, and notes it.
func (e *Engine) SetMode(mode string) error {
	if err := e.c.Gate.SetMode(mode); err != nil {
		return err
	}
	store := e.store()
	if store == nil {
		return nil
	}
	return store.SetMode(e.c.Gate.Mode())
}

// Model is the model that the next request goes to.
func (e *Engine) Model() provider.Model {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.c.Model.Lookup(e.model)
}

// Lend puts a model and an effort in the place of the conversation's own from the
// next request on, until it is called again; "" is its own.
func (e *Engine) Lend(model, effort string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lentModel, e.lentEffort = model, effort
}

func (e *Engine) lent() (model, effort string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lentModel, e.lentEffort
}

// Place is where the conversation works now.
func (e *Engine) Place() Place {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.place
	p.Roots = slices.Clone(p.Roots)
	return p
}

// Running tells that a run is under way.
func (e *Engine) Running() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.cancel != nil
}

// AddRoot makes a folder, absolute, one of the working directories.
func (e *Engine) AddRoot(dir string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !slices.Contains(e.place.Roots, dir) {
		e.place.Roots = append(slices.Clip(e.place.Roots), dir)
	}
}

// Steer queues text for the running run; it joins the conversation before the
// next request. Without a run it waits for the next one.
func (e *Engine) Steer(m *msg.Message) { e.queue.add(m) }

// Queued takes the oldest message that no run has taken up, nil when there is none.
func (e *Engine) Queued() *msg.Message { return e.queue.next() }

// Waiting are the ids of the messages that no run has taken up, oldest first.
func (e *Engine) Waiting() []string { return e.queue.ids() }

// Withdraw takes back a message that no run has taken up. It is false for any other.
func (e *Engine) Withdraw(id string) bool { return e.queue.drop(id) }

// Thinking is how models are asked to think.
func (e *Engine) Thinking() provider.Thinking {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.thinks
}

// SetThinking changes it from the next request on.
func (e *Engine) SetThinking(t provider.Thinking) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.thinks = t
}

// Interrupt ends the running run, if any, and keeps everything: history, what
// was said so far, what is queued.
func (e *Engine) Interrupt() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.cancel != nil {
		e.cancel(loop.ErrInterrupted)
	}
}

func (e *Engine) env() tool.Env {
	p := e.Place()
	return tool.Env{
		Cwd: p.Cwd, Project: p.Project, Roots: p.Roots, Session: e.Session(),
		SpillDir: p.SpillDir, Interactive: e.c.Interactive, Agent: e.origin.Agent,
	}
}

// apply carries out what an approved call asked for.
func (e *Engine) apply(eff tool.Effect) {
	switch eff := eff.(type) {
	case tool.SetCwd:
		e.mu.Lock()
		e.place.Cwd = eff.Dir
		if eff.Home != "" {
			e.place.Project = eff.Home
		}
		e.mu.Unlock()
	case tool.SetMode:
		// The gate refuses what a mode change by a tool may not do; the person
		// has approved the call that asks for it.
		_ = e.SetMode(eff.Mode)
	case tool.LoadTools:
		e.load(eff.Names)
		e.demanded(eff.Names)
	case tool.AddRules, tool.Inject, tool.EndRun:
	}
}
