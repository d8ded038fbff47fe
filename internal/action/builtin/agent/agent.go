// Package agent holds the Agent tool: delegation through an injected spawn.
//
// A subagent is the same loop over a conversation of its own. What it did
// stays in its own transcript; what comes back is its report, marked as the
// words of a model. How a subagent is made is not known here: Spawn does it.
package agent

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/sjson"

	"github.com/hew-agent/hew/internal/action/task"
	"github.com/hew-agent/hew/internal/backend/feature"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/state/catalog"
	"github.com/hew-agent/hew/internal/tool"
)

//go:embed *.md *.json
var prose embed.FS

const (
	agentName = "Agent"
	sendName  = "SendMessage"
)

// Task is one delegation.
type Task struct {
	// ID names the subagent; Use is the call that began it.
	ID, Use string
	// Kind is what it is one of, nil for a copy of the conversation itself.
	Kind *catalog.Agent
	// Description is what people call it, Name what other agents may call it.
	Description, Name string
	// Model, Effort, Mode and Cwd are what the call asked for, "" for nothing.
	Model, Effort, Mode, Cwd string
	Isolation                string
	Background               bool
	// Parent is the agent that delegates, "" for the main conversation.
	Parent string
	// Prompt is what it was given first.
	Prompt string
	// Depth is how far below the main conversation it is: 1 and more.
	Depth int
	// Allowed are the rules of a forked skill; they stand in the place of the
	// rules that the session has given. Nil keeps those.
	Allowed []string
	// Mate tells that it is a member of the conversation's team, under Name.
	Mate bool
}

// Child is a subagent. One prompt runs at a time.
type Child interface {
	// Run gives it a prompt and shows what happens; wake is called when there is
	// something for the parent's surface. The last event is Done.
	Run(ctx context.Context, prompt string, wake func()) iter.Seq[event.Event]
	// Mail is how messages reach it while it runs.
	Mail() Mail
	// Transcript is its file, "" when nothing is kept.
	Transcript() string
	// Close ends what it had for itself while it ran; another Run may follow. end
	// is how it ended.
	Close(ctx context.Context, end event.Terminal) Rest
}

// Rest is what a subagent left.
type Rest struct {
	// Note is for the model: what was left and where ("" for nothing), a worktree
	// with changes above all.
	Note string
	// Worktree and Branch are where changes stand, "" for nowhere.
	Worktree, Branch string
}

// Mail is how messages reach a subagent at work.
type Mail interface {
	// Steer gives it a message at its next tool boundary.
	Steer(text string)
	// Unread takes back what came after its last boundary, "" for nothing.
	Unread() string
}

// Config is what the tools need from outside. Spawn, Kinds and Tasks are required.
type Config struct {
	// Kinds are the agents that can be asked for.
	Kinds func() []*catalog.Agent
	// Offered tells whether rules leave a kind to the model.
	Offered func(kind string) bool
	Spawn   func(ctx context.Context, t Task) (Child, error)
	// Revive makes a subagent of an earlier process go on, by its id or name.
	Revive func(ctx context.Context, id string) (Child, Task, error)
	// Mail takes a message to who is no subagent of this conversation: a member of
	// its team. Nil: it is in none.
	Mail func(ctx context.Context, l Letter) (string, error)
	// Peers are the other members of the team, for the list. Optional.
	Peers func() ([]Peer, error)
	Tasks *task.List
	// Depth is how deep the conversation stands that these tools belong to, 0 for
	// the main one; Deepest is the limit.
	Depth, Deepest int
	// Most bounds how many run at once in the whole tree. Running counts them.
	Most    int
	Running *Count
	// Background says whether work may go on in the background, Fork whether the
	// conversation can be copied, Worktrees whether isolation is offered.
	Background, Fork, Worktrees bool
	// Mates tells that a subagent with a name becomes a member of a team: it goes on
	// when mail comes, and messages reach it through Mail.
	Mates bool
	// Show tells programs and people what becomes of subagents.
	Show func(event.TaskChanged)
	// Go runs work on a goroutine of the session; its context ends with the session.
	Go    func(work func(ctx context.Context))
	Now   func() time.Time
	NewID func() string
}

// Defaults of the ecosystem (subagents.md §3).
const (
	DefaultDeepest = 3
	DefaultMost    = 20
)

// Count is how many subagents run in a session. The zero value is ready.
type Count struct {
	mu sync.Mutex
	n  int
}

// take counts one more unless there are most already.
func (c *Count) take(most int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n >= most {
		return false
	}
	c.n++
	return true
}

// Now is how many are at work.
func (c *Count) Now() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

func (c *Count) free() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n--
}

// Crew is the subagents of one conversation.
type Crew struct {
	c  Config
	mu sync.Mutex
	// at work or finished, by id
	members []*member
}

// New makes the crew of a conversation. Nobody is in it yet.
func New(c Config) *Crew { return &Crew{c: c} }

// Tools are the tools that a conversation offers: none at the limit of depth.
func (c *Crew) Tools() []tool.Tool {
	if c.c.Depth >= c.c.Deepest {
		return nil
	}
	return []tool.Tool{c.newAgent(), c.newSend()}
}

type agentInput struct {
	Description string `json:"description"`
	Prompt      string `json:"prompt"`
	Type        string `json:"subagent_type"`
	Model       string `json:"model"`
	Effort      string `json:"effort"`
	Name        string `json:"name"`
	Mode        string `json:"mode"`
	Cwd         string `json:"cwd"`
	Isolation   string `json:"isolation"`
	Background  *bool  `json:"run_in_background"`
	Team        string `json:"team_name"`
}

func (c *Crew) newAgent() tool.Tool {
	spec := Spec()
	spec.Schema = c.schema()
	return tool.Define(spec, c.planAgent)
}

// Spec is what the Agent tool says of itself, with all fields of its schema.
func Spec() tool.Spec { return spec() }

// spec is asked for once per agent that there is.
var spec = sync.OnceValue(func() tool.Spec {
	return tool.Spec{
		Name: agentName, Aliases: []string{"Task"}, MainField: "subagent_type", Always: true, Origin: "builtin",
		Description: text("agent.md"), Schema: []byte(text("agent.json")),
	}
})

// schema has no fields of what is switched off.
func (c *Crew) schema() json.RawMessage {
	var gone []string
	if !c.c.Background {
		gone = append(gone, "run_in_background")
	}
	if !feature.AgentCwd {
		gone = append(gone, "cwd")
	}
	if !c.c.Worktrees {
		gone = append(gone, "isolation")
	}
	return without(text("agent.json"), gone)
}

// without is a schema that lacks some of its fields.
func without(schema string, gone []string) json.RawMessage {
	raw := []byte(schema)
	for _, name := range gone {
		var err error
		if raw, err = sjson.DeleteBytes(raw, "properties."+name); err != nil {
			panic(err) // a fault of the build, which any test shows
		}
	}
	var out bytes.Buffer
	if err := json.Compact(&out, raw); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func text(name string) string {
	raw, err := prose.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return strings.TrimSpace(string(raw))
}

// defaultKind is taken when a call names none.
const defaultKind = "general-purpose"

// forkKind is the conversation itself, copied.
const forkKind = "fork"

func (c *Crew) planAgent(in agentInput, env tool.Env) (tool.Call, error) {
	t := Task{
		Use: env.Use, Description: oneLine(in.Description), Name: in.Name, Model: in.Model, Effort: in.Effort,
		Mode: in.Mode, Cwd: in.Cwd, Isolation: in.Isolation, Parent: env.Agent, Prompt: in.Prompt, Depth: c.c.Depth + 1,
	}
	if strings.TrimSpace(in.Prompt) == "" {
		return nil, refused("The parameter `prompt` is empty: a subagent knows nothing but its prompt")
	}
	name := in.Type
	if name == "" {
		name = defaultKind
	}
	if name != forkKind || !c.c.Fork {
		if t.Kind = c.kind(name); t.Kind == nil {
			return nil, refused(fmt.Sprintf("There is no agent type %q. Available: %s", name, strings.Join(c.offered(), ", ")))
		}
	}
	if t.Isolation == "" && t.Kind != nil {
		t.Isolation = t.Kind.Isolation
	}
	t.Background = c.background(in, t.Kind)
	if c.c.Mates && in.Name != "" && in.Isolation == "" && t.Kind != nil {
		t.Mate, t.Background = true, true
	}
	return &call{crew: c, task: t, prompt: in.Prompt}, nil
}

func refused(fault string) error { return &tool.InputError{Tool: agentName, Faults: []string{fault}} }

// kind finds an agent by name, in any case and with the older spelling of words.
func (c *Crew) kind(name string) *catalog.Agent {
	for _, a := range c.c.Kinds() {
		if strings.EqualFold(a.Name, name) && c.offers(a.Name) {
			return a
		}
	}
	return nil
}

func (c *Crew) offers(name string) bool { return c.c.Offered == nil || c.c.Offered(name) }

func (c *Crew) offered() []string {
	var out []string
	for _, a := range c.c.Kinds() {
		if c.offers(a.Name) {
			out = append(out, a.Name)
		}
	}
	if c.c.Fork {
		out = append(out, forkKind)
	}
	slices.Sort(out)
	return out
}

// background says how a call runs: as it asks, as its kind is made, else in
// the foreground.
func (c *Crew) background(in agentInput, kind *catalog.Agent) bool {
	switch {
	case !c.c.Background:
		return false
	case kind != nil && kind.Background:
		return true
	case in.Background != nil:
		return *in.Background
	}
	return false
}

// call is one delegation that may happen.
type call struct {
	crew   *Crew
	task   Task
	prompt string
}

// Traits: several subagents work side by side; a call that is taken back ends
// its subagent.
func (c *call) Traits() tool.Traits { return tool.Traits{ConcurrencySafe: true} }

// Needs is nothing: what the subagent wants to do is judged when it does it.
func (c *call) Needs() []tool.Need { return nil }

// Title is the description.
func (c *call) Title() string { return c.kindName() + ": " + c.task.Description }

func (c *call) kindName() string {
	if c.task.Kind == nil {
		return forkKind
	}
	return c.task.Kind.Name
}

// Preview is the whole prompt.
func (c *call) Preview() tool.View { return tool.TextView{Text: c.prompt} }

// Run delegates.
func (c *call) Run(ctx context.Context, emit func(tool.Progress)) tool.Result {
	return c.crew.Delegate(ctx, c.task, c.prompt, emit)
}

// Kind finds the agent of a name that rules leave to the model, nil when there is
// none; "" is the one for any task.
func (c *Crew) Kind(name string) *catalog.Agent {
	if name == "" {
		name = defaultKind
	}
	return c.kind(name)
}

// Delegate starts a subagent and waits for its report, unless the task is for the
// background. The id is made here.
func (c *Crew) Delegate(ctx context.Context, t Task, prompt string, emit func(tool.Progress)) tool.Result {
	if c.c.Depth >= c.c.Deepest {
		return tool.Refused(fmt.Sprintf("Subagents stand %d deep here, and that is the limit. Do the work yourself.", c.c.Depth))
	}
	t.Background = t.Mate || t.Background && c.c.Background
	if !c.c.Running.take(c.c.Most) {
		return tool.Refused(fmt.Sprintf("%d subagents are running, and that is the limit. Do not try again now: wait for one to end, or do the work yourself.", c.c.Most))
	}
	t.ID = "a" + c.c.NewID()
	child, err := c.c.Spawn(ctx, t)
	if err != nil {
		c.c.Running.free()
		return tool.Refused(err.Error())
	}
	m := c.take(t, child)
	if t.Background {
		m.launch(prompt)
		return m.launched()
	}
	return m.attend(ctx, prompt, emit)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
