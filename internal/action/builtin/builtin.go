// Package builtin holds Read, Edit, Write, Bash, Grep, Glob, Web…, Todo, Skill, Agent (with leaf folders).
//
// One file per tool, its description and schema beside it as <tool>.md and
// <tool>.json. A tool plans without effects; it judges no permission: it names
// what it needs and the gate decides.
package builtin

import (
	"bytes"
	"context"
	"crypto/rand"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/action/task"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/search"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

//go:embed *.md *.json
var prose embed.FS

// Config is what the tools need from outside. One conversation has one set of
// tools; a child conversation is given its own with Seen cloned. Zero fields
// get the defaults named with them.
type Config struct {
	// Seen is what the model has seen of which file. Default: nothing yet.
	Seen *fsys.ReadState
	// Writes serialises "check the file, then write it" among conversations
	// that share it. Default: this conversation only.
	Writes *sync.Mutex
	// Search answers Glob and Grep. Default: hew's own engine.
	Search Searcher
	// Reading says what the rules hold for reading a file: before the gate was
	// asked, names and content are only shown where it is allowed. Default:
	// allowed in the working directories, ask elsewhere.
	Reading func(env tool.Env, path string) tool.Behavior
	// Hidden returns what searches must leave out, the files that read-deny
	// rules name; nil when there is nothing to hide. Default: nothing.
	Hidden func(env tool.Env) func(path string) bool
	// GlobRules is what Glob does with ignored files; it lists them by default.
	GlobRules search.IgnoreRules
	Limits    Limits
	// Todos holds the to-do lists. Default: empty ones.
	Todos *Todos
	// Tasks is the folder of the shared task list; when set, the Task list
	// tools are offered in place of the to-do tool.
	Tasks string
	// Member is the name under which this process works on a list that a team
	// shares, "" for none: what it begins is then its own, and what others work
	// on is refused.
	Member string
	// TaskOwnerGone and TaskLog are Gone and Log of task.Board. Optional.
	TaskOwnerGone func(owner string) bool
	TaskLog       func(text string)
	TaskWatch     TaskWatch
	// Schedule holds the prompts that come later, nil when none can be planned.
	Schedule *task.Schedule
	// Trees moves the session into worktrees, nil where there can be none.
	Trees *Trees
	// Push notifies a person and says by which ways it did; nil for nobody.
	Push func(ctx context.Context, text string) []string
	// More names the tools that are offered only when somebody asks for them.
	More func(name string) bool
	// Background is the work that goes on in the background, nil when that is
	// switched off.
	Background *task.List
	// Deferred lists the tools whose definitions are not in requests; nil when
	// nothing is ever deferred.
	Deferred func() []tool.Spec
	// Interactive tells whether somebody can answer a question.
	Interactive bool
	// Mode is the current permission mode, AfterPlan the one to go to when a
	// plan was approved (the one that the answer chose, else the one before).
	// Defaults: unknown; "default".
	Mode, AfterPlan func() string
	// PlanFile is where plan mode lets the model write its plan; "" for nowhere.
	PlanFile func(env tool.Env) string
	// Program finds a program that may be run on the model's behalf: on PATH, in
	// a place that only the user and the system can write to; "" when there is
	// none. Default: search.FindProgram over PATH, outside the working directories.
	Program func(name string, env tool.Env) string
	// Now and NewID are the clock and the source of short ids (letters and
	// digits). Defaults: the system's.
	Now   func() time.Time
	NewID func() string
}

// Limits bound what tools take in. Zero fields get the defaults.
type Limits struct {
	// ReadBytes is the size up to which a file is read whole. Default 256 KB.
	ReadBytes int64
	// ReadTokens is the estimated size of one reading. Default 25,000.
	ReadTokens int
	// LargeTokens replaces ReadTokens when the model asks to lift the limit.
	// Default 150,000: with the rest of a conversation it fits a window of 200,000.
	LargeTokens int
	// LoadBytes is the largest file that is edited, or loaded to read a part. Default 32 MB.
	LoadBytes int64
	// TaskOutput is how many bytes of a background task's output one look shows.
	// Default 30,000.
	TaskOutput int
}

// Choice is a tool and whether this session offers it.
type Choice struct {
	Tool    tool.Tool
	Offered bool
}

// New returns the tools that a session of this configuration offers, in the
// order in which they stand in a request.
func New(c Config) []tool.Tool {
	var out []tool.Tool
	for _, ch := range All(c) {
		if ch.Offered {
			out = append(out, ch.Tool)
		}
	}
	return out
}

// All returns every tool of the package, offered or not.
func All(c Config) []Choice {
	search := c.Deferred != nil
	c.fill()
	ask, tasks, background := c.Interactive, c.Tasks != "", c.Background != nil
	plans := func(t tool.Tool) Choice { return Choice{t, c.Schedule != nil && c.More(t.Spec().Name)} }
	trees := func(t tool.Tool) Choice {
		return Choice{t, c.Trees != nil && (c.More(enterWorktreeName) || c.More(exitWorktreeName))}
	}
	return []Choice{
		trees(newEnterWorktree(&c)),
		trees(newExitWorktree(&c)),
		{newPushNotification(&c), c.Push != nil && c.More(pushNotificationName)},
		plans(newCronCreate(&c)),
		plans(newCronDelete(&c)),
		plans(newCronList(&c)),
		plans(newScheduleWakeup(&c)),
		{newRead(&c), true},
		{newWrite(&c), true},
		{newEdit(&c), true},
		{newNotebookEdit(&c), true},
		{newGlob(&c), true},
		{newGrep(&c), true},
		{newTaskOutput(&c), background},
		{newTaskStop(&c), background},
		{newTodoWrite(&c), !tasks},
		{newTaskCreate(&c), tasks},
		{newTaskGet(&c), tasks},
		{newTaskList(&c), tasks},
		{newTaskUpdate(&c), tasks},
		{newAskUserQuestion(&c), ask},
		{newEnterPlanMode(&c), ask},
		{newExitPlanMode(&c), ask},
		{newToolSearch(&c), search},
	}
}

func (c *Config) fill() {
	if c.Seen == nil {
		c.Seen = &fsys.ReadState{}
	}
	if c.Writes == nil {
		c.Writes = &sync.Mutex{}
	}
	if c.Reading == nil {
		c.Reading = readingInRoots
	}
	if c.Hidden == nil {
		c.Hidden = func(tool.Env) func(string) bool { return nil }
	}
	if c.Search == nil {
		c.Search = search.Engine{}
	}
	if c.Deferred == nil {
		c.Deferred = func() []tool.Spec { return nil }
	}
	if c.Todos == nil {
		c.Todos = &Todos{}
	}
	if c.More == nil {
		c.More = func(string) bool { return false }
	}
	if c.Mode == nil {
		c.Mode = func() string { return "" }
	}
	if c.AfterPlan == nil {
		c.AfterPlan = func() string { return "default" }
	}
	if c.PlanFile == nil {
		c.PlanFile = func(tool.Env) string { return "" }
	}
	if c.Program == nil {
		c.Program = func(name string, env tool.Env) string {
			return search.FindProgram(name, os.Getenv("PATH"), env.Roots...)
		}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.NewID == nil {
		c.NewID = func() string { return strings.ToLower(rand.Text()[:8]) }
	}
	c.Limits.fill()
}

func (l *Limits) fill() {
	if l.ReadBytes == 0 {
		l.ReadBytes = 256 << 10
	}
	if l.ReadTokens == 0 {
		l.ReadTokens = 25_000
	}
	if l.LargeTokens == 0 {
		l.LargeTokens = 150_000
	}
	if l.LoadBytes == 0 {
		l.LoadBytes = 32 << 20
	}
	if l.TaskOutput == 0 {
		l.TaskOutput = 30_000
	}
}

func readingInRoots(env tool.Env, path string) tool.Behavior {
	real, err := fsys.Real(path)
	if err != nil {
		return tool.Ask
	}
	for _, r := range env.Roots {
		if root, err := fsys.Real(r); err == nil && fsys.Within(root, real) {
			return tool.Allow
		}
	}
	return tool.Ask
}

// define completes a spec from the embedded files and makes the tool.
func define[In any](file string, spec tool.Spec, plan func(In, tool.Env) (tool.Call, error)) tool.Tool {
	spec.Description, spec.Schema = embedded(file)
	spec.Origin = "builtin"
	return tool.Define(spec, plan)
}

// embedded returns description and compact schema. Missing or broken files are
// a fault of the build, which any test shows.
func embedded(file string) (string, json.RawMessage) {
	text, err := prose.ReadFile(file + ".md")
	if err != nil {
		panic(err)
	}
	schema, err := prose.ReadFile(file + ".json")
	if err != nil {
		panic(err)
	}
	var out bytes.Buffer
	if err := json.Compact(&out, schema); err != nil {
		panic(fmt.Sprintf("%s.json: %v", file, err))
	}
	return strings.TrimSpace(string(text)), out.Bytes()
}

// done is a successful result of one text with structured data and a view.
func done(text string, data any, view tool.View) tool.Result {
	r := tool.Text(text)
	r.Data, r.View = msg.Encode(data), view
	return r
}
