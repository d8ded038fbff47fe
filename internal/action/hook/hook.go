// Package hook holds one table of events; matchers, `if` rules, command/http/prompt/agent/mcp/callback runners, merge of outcomes.
//
// A hook is a user's program that hears of an event and may have a say in it.
// Fire tells all hooks of one event, waits for those that are not async, and
// merges what they said into one Outcome whose order never depends on which of
// them was faster. A hook that hangs, floods, is missing or answers nonsense
// costs its time limit and a notice; it blocks only when it says so
// (onFailure).
package hook

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/action/policy/shellread"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/tool"
)

// Programs runs commands; *shell.Runner does.
type Programs interface {
	Exec(ctx context.Context, p shell.Program) (shell.Result, error)
	Shell() string
}

// Session is what every payload says about the conversation.
type Session struct {
	ID         string
	Transcript string
	Cwd        string
	// Prompt is the id of the prompt in work, "" before the first.
	Prompt string
	Mode   string
	Effort string
}

// Query is a question to a model: Text already holds the payload.
type Query struct {
	Text string
	// Model is "" for the fast one.
	Model string
	// Agent is the subagent whose event asks.
	Agent string
}

// MCPCall is a call of an MCP tool.
type MCPCall struct {
	Server, Tool string
	Input        json.RawMessage
}

// HostCall is a call of a callback that an SDK host registered.
type HostCall struct {
	ID    string
	Input json.RawMessage
	UseID string
}

// Conditions is what `if` rules are judged with.
type Conditions struct {
	Families policy.Families
	Tools    []tool.Spec
	Home     string
	FS       policy.FileSystem
	Paths    policy.Paths
	Reader   *shellread.Reader
}

// Started is one run of a hook: the event, and the name that it has on the wire.
type Started struct{ ID, Event, Name string }

// Config makes a Dispatcher. Whatever is nil makes the hooks that need it fail
// with a notice; they never fail the session.
type Config struct {
	// Session is read before each event and must be safe for concurrent use.
	Session func() Session
	// AgentType names the type of a subagent. Optional.
	AgentType func(id string) string
	// Project is the start directory.
	Project string
	// Environ is the environment that children inherit; headers and limits are read from it.
	Environ []string
	// HideSecrets keeps provider keys from commands.
	HideSecrets bool
	// EnvFile is CLAUDE_ENV_FILE for the events that may set variables, "" for none.
	EnvFile string
	// SpillDir is where texts over 10,000 characters go, "" to cut them.
	SpillDir string
	// Interactive lets terminal sequences through.
	Interactive bool

	Programs Programs
	// Client is used for http hooks after its redirects are switched off.
	Client *http.Client
	// Ask puts a question to a model, Verify to an agent with reading tools and
	// at most 50 turns. Both return the text of the answer.
	Ask, Verify func(ctx context.Context, q Query) (string, error)
	// CallTool calls a tool of a connected server and returns its text.
	CallTool func(ctx context.Context, c MCPCall) (string, error)
	// Host calls back into the SDK host and returns the output object.
	Host func(ctx context.Context, c HostCall) (json.RawMessage, error)

	If Conditions

	// Started is told before a hook runs, from its own goroutine. It must not
	// block. Optional. The event HookRan with the same ID follows.
	Started func(s Started)
	// Woke is told when an asyncRewake hook has something to say: see Late. Optional.
	Woke func()

	Now   func() time.Time
	NewID func() string
}

// Dispatcher tells hooks of events. It is safe for concurrent use.
type Dispatcher struct {
	c      Config
	client *http.Client
	set    atomic.Pointer[set]
	// closing ends background hooks.
	closing   chan struct{}
	closeOnce sync.Once
	wg        sync.WaitGroup

	mu      sync.Mutex
	sources []Source // in the order of their registration
	limits  Limits
	serial  int
	late    []Late
	stops   map[string]int // consecutive blocks of an agent's end
	halts   map[string]string
	calls   pendingCalls
}

// set is what is loaded; it never changes.
type set struct {
	hooks map[string][]*loaded
	all   []*loaded
	notes []Note
}

// New makes a dispatcher without hooks; see Load.
func New(c Config) *Dispatcher {
	if c.Now == nil {
		c.Now = time.Now
	}
	d := &Dispatcher{c: c, closing: make(chan struct{}), stops: map[string]int{}, halts: map[string]string{}}
	d.client = closedClient(c.Client)
	d.set.Store(&set{})
	return d
}

// Load replaces what came from settings and plugins; what Register added stays.
// It may be called at any time: settings edits are picked up live.
func (d *Dispatcher) Load(sources []Source, l Limits) {
	d.mu.Lock()
	defer d.mu.Unlock()
	kept := slices.DeleteFunc(d.sources, func(s Source) bool { return s.id == 0 })
	d.sources = append(slices.Clone(sources), kept...)
	d.limits = l
	d.rebuild()
}

// Register adds the hooks of a skill, an agent or an SDK host at run time, and
// returns how to take them away again.
func (d *Dispatcher) Register(s Source) (remove func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.serial++
	s.id = d.serial
	d.sources = append(d.sources, s)
	d.rebuild()
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.sources = slices.DeleteFunc(slices.Clone(d.sources), func(x Source) bool { return x.id == s.id })
		d.rebuild()
	}
}

func (d *Dispatcher) rebuild() {
	old := d.set.Load()
	sources := slices.Clone(d.sources)
	slices.SortStableFunc(sources, func(a, b Source) int { return a.Scope.rank() - b.Scope.rank() })
	next := &set{hooks: map[string][]*loaded{}}
	for _, s := range sources {
		p := parser{d: d, src: s, limits: d.limits}
		p.source()
		next.all = append(next.all, p.out...)
		next.notes = append(next.notes, p.notes...)
	}
	next.keepSpent(old)
	for _, h := range next.all {
		if h.Off == "" {
			next.hooks[h.Event] = append(next.hooks[h.Event], h)
		}
	}
	d.set.Store(next)
}

// keepSpent carries over which `once` hooks have run.
func (s *set) keepSpent(old *set) {
	for _, h := range s.all {
		for _, o := range old.all {
			if h.Once && o.key == h.key && o.Event == h.Event && o.spent.Load() {
				h.spent.Store(true)
			}
		}
	}
}

// List is every hook that was found, strongest source first; those with Off set
// do not run.
func (d *Dispatcher) List() []Hook {
	all := d.set.Load().all
	out := make([]Hook, len(all))
	for i, h := range all {
		out[i] = h.Hook
	}
	return out
}

// Lint is what a person should know about the configuration.
func (d *Dispatcher) Lint() []Note { return slices.Clone(d.set.Load().notes) }

// Matching is the hooks that Fire would run for in, without running them.
func (d *Dispatcher) Matching(in Input) []Hook {
	picked, _ := d.pick(d.payload(in))
	out := make([]Hook, len(picked))
	for i, h := range picked {
		out[i] = h.Hook
	}
	return out
}

// Wants tells whether any hook listens to an event, so that a caller can save
// the work of describing it.
func (d *Dispatcher) Wants(event string) bool { return len(d.set.Load().hooks[event]) > 0 }

// WatchList is the literal file names that FileChanged matchers name.
func (d *Dispatcher) WatchList() []string {
	var out []string
	for _, h := range d.set.Load().hooks["FileChanged"] {
		for name := range strings.SplitSeq(h.Matcher, "|") {
			if name = strings.TrimSpace(name); name != "" && name != "*" && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// Close ends background hooks and waits for them, a few seconds at most.
func (d *Dispatcher) Close() error {
	d.closeOnce.Do(func() { close(d.closing) })
	done := make(chan struct{})
	go func() { d.wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(grace):
	}
	return nil
}

// getenv reads a variable of the inherited environment.
func (d *Dispatcher) getenv(name string) string {
	for _, e := range slices.Backward(d.c.Environ) {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

// number reads a variable that holds a count; ok is false when it does not.
func (d *Dispatcher) number(name string) (n int, ok bool) {
	n, err := strconv.Atoi(strings.TrimSpace(d.getenv(name)))
	return n, err == nil && n >= 0
}
