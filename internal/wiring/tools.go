package wiring

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hew-agent/hew/internal/action/builtin"
	"github.com/hew-agent/hew/internal/action/builtin/bash"
	"github.com/hew-agent/hew/internal/action/policy/shellread"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/search"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/tool"
)

// bareTools are what a bare run offers.
var bareTools = []string{"Bash", "Edit", "Read"}

// commands makes what runs programs.
func (b *build) commands(ctx context.Context) error {
	b.tasks = b.privateTasks(b.tasksDir(os.TempDir(), os.Getuid()))
	if err := b.confine(ctx); err != nil {
		return err
	}
	b.runner = shell.New(shell.Config{
		Shell: b.o.getenv("CLAUDE_CODE_SHELL"), Env: b.environ(), OutputDir: b.tasks, Notice: b.notice,
		NoSnapshot: b.o.NoStartFiles || b.o.Bare, Wrap: b.wrap(), Reaper: b.o.Reaper,
	})
	b.conv.close = append(b.conv.close, b.runner.Close)
	return nil
}

// tools makes the pool: everything, then the choice of the command line.
func (b *build) tools(ctx context.Context) ([]tool.Tool, error) {
	b.conv.close = append(b.conv.close, b.background.Close, func() error { return b.settle(ctx) }, func() error { return b.away.close(ctx) })
	cfg := b.builtins(&b.seen)
	if b.env("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS") == "" {
		cfg.Background = &b.background
	}
	cfg.Schedule, cfg.Trees = &b.plans, b.trees()
	sh := bash.New(b.bashConfig(&b.seen))
	pool := append(append(builtin.New(cfg), sh.Tool()), append(b.watching(sh), b.powerShell(sh)...)...)
	pool = append(append(pool, b.languages(ctx)...), b.delegation(ctx)...)
	pool = append(pool, b.webTools()...)
	if b.craft != nil {
		pool = append(pool, b.craft.book.Tool())
	}
	slices.SortStableFunc(pool, func(x, y tool.Tool) int { return strings.Compare(x.Spec().Name, y.Spec().Name) })
	b.pool = b.chosen(pool)
	for _, t := range b.o.Own {
		if slices.ContainsFunc(pool, func(o tool.Tool) bool { return called(o.Spec(), t.Spec().Name) }) {
			return nil, fmt.Errorf("the tool %s has the name of one of hew's own", t.Spec().Name)
		}
		b.pool = append(b.pool, t)
	}
	if b.o.Schema == nil {
		return b.pool, nil
	}
	out, err := builtin.StructuredOutput(b.o.Schema)
	if err != nil {
		return nil, err
	}
	b.pool = append(b.pool, out)
	return b.pool, nil
}

// builtins is what the tools of a conversation need; seen is what its model has
// seen of which file.
func (b *build) builtins(seen *fsys.ReadState) builtin.Config {
	cfg := builtin.Config{
		Deferred: b.deferred(), More: b.more, Seen: seen, Writes: &b.writes, Interactive: b.o.Interactive, Tasks: b.tasksFolder(),
		Mode:      func() string { return b.gateRef.Mode() },
		AfterPlan: func() string { return b.gateRef.AfterPlan() },
		Hidden:    b.hidden, Now: b.o.Now, Todos: &b.todos,
		Search: lateSearch(sync.OnceValue(b.search)), Limits: builtin.Limits{TaskOutput: b.number("BASH_MAX_OUTPUT_LENGTH")},
	}
	b.shareTasks(&cfg)
	cfg.Push = b.push
	return cfg
}

// search looks for ripgrep, which takes a look at every folder of PATH and
// above.
func (b *build) search() search.Engine {
	return search.Engine{Ripgrep: search.FindRipgrep(b.o.getenv("PATH"), b.place.Roots...)}
}

// lateSearch is the search engine, made when the first search comes: most runs
// of one prompt have none.
type lateSearch func() search.Engine

// Glob lists files.
func (l lateSearch) Glob(ctx context.Context, q search.GlobQuery) (search.GlobResult, error) {
	return l().Glob(ctx, q)
}

// Grep searches in files.
func (l lateSearch) Grep(ctx context.Context, q search.GrepQuery) (search.GrepResult, error) {
	return l().Grep(ctx, q)
}

// chosen limits the pool to what --tools or --bare name.
func (b *build) chosen(pool []tool.Tool) []tool.Tool {
	names := b.o.Tools
	switch {
	case b.o.ToolsGiven && slices.Contains(names, "default"):
		return pool
	case b.o.ToolsGiven:
	case b.o.Bare:
		names = bareTools
	default:
		return pool
	}
	for _, n := range names {
		if !slices.ContainsFunc(pool, func(t tool.Tool) bool { return called(t.Spec(), n) }) {
			b.notice(fmt.Sprintf("--tools: there is no tool %q here; hew tools lists them", n))
		}
	}
	return slices.DeleteFunc(pool, func(t tool.Tool) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return called(t.Spec(), n) })
	})
}

func called(s tool.Spec, name string) bool { return s.Name == name || slices.Contains(s.Aliases, name) }

// hidden is what searches leave out: what a deny rule keeps from reading.
func (b *build) hidden(tool.Env) func(path string) bool {
	s := b.gateRef.Snapshot()
	if len(s.Rules(tool.Deny)) == 0 {
		return nil
	}
	return func(path string) bool { return s.DeniesRead(path, disk{}) }
}

// tasksFolder is the shared task list's, "" when the to-do tool is offered instead.
func (b *build) tasksFolder() string {
	list := b.o.getenv("CLAUDE_CODE_TASK_LIST_ID")
	if b.team != nil && list == "" {
		return b.team.Tasks()
	}
	on, err := strconv.ParseBool(b.o.getenv("CLAUDE_CODE_ENABLE_TASKS"))
	if b.team == nil && (err != nil || !on) {
		return ""
	}
	if list == "" {
		list = b.id
	}
	return b.home.Dir + "/tasks/" + list
}

// environ is what commands inherit: the process's environment, then the
// settings' env block, where "" clears a variable.
func (b *build) environ() []string {
	env := slices.Clone(b.o.Environ)
	block := b.settings.Env()
	names := make([]string, 0, len(block))
	for n := range block {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		env = slices.DeleteFunc(env, func(e string) bool { return strings.HasPrefix(e, n+"=") })
		if v := block[n]; v != "" {
			env = append(env, n+"="+v)
		}
	}
	return env
}

// number reads a whole number of the environment, 0 when it is none.
func (b *build) number(name string) int {
	n, err := strconv.Atoi(strings.TrimSpace(b.o.getenv(name)))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

func (b *build) millis(name string) time.Duration {
	return time.Duration(b.number(name)) * time.Millisecond
}

// lastWait is how long background commands may still run after the last
// result of a run without a person.
const lastWait = 5 * time.Second

// settle gives background commands a moment to end by themselves, unless the
// run was called off: then they are ended at once.
func (b *build) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lastWait)
	defer cancel()
	// What still runs after that is ended by Close and is no error.
	_ = b.background.Idle(ctx)
	return nil
}

func (b *build) bashConfig(seen *fsys.ReadState) bash.Config {
	if b.variables == nil {
		b.variables = map[string]string{"CLAUDE_CODE_SESSION_ID": b.id, "CDPATH": ""}
	}
	c := bash.Config{
		Runner: b.runner, Tasks: &b.background, Facts: b.facts, Dialect: b.dialect(), Seen: seen,
		DefaultTimeout: b.millis("BASH_DEFAULT_TIMEOUT_MS"), MaxTimeout: b.millis("BASH_MAX_TIMEOUT_MS"),
		MaxOutput: b.number("BASH_MAX_OUTPUT_LENGTH"), Prefix: b.env("CLAUDE_CODE_SHELL_PREFIX"),
		Env: b.variables, HideSecrets: b.env("CLAUDE_CODE_SUBPROCESS_ENV_SCRUB") != "",
	}
	if b.bound != nil {
		c.Outside, c.MayAsk = b.outside, b.bound.keys.AllowUnsandboxed
	}
	if !b.o.Bare {
		c.Sources = append(c.Sources, b.hookVariables())
		if path := b.pluginPath(); path != "" {
			c.Sources = append(c.Sources, path)
		}
	}
	if f := b.env("CLAUDE_ENV_FILE"); f != "" {
		c.Sources = append(c.Sources, f)
	}
	if b.env("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS") != "" {
		c.Background = bash.WithoutBackground
	}
	if b.env("CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR") != "" {
		c.Carry = bash.StayInProject
	}
	return c
}

// dialect is the language of the shell that runs commands.
func (b *build) dialect() shellread.Shell {
	if strings.HasSuffix(b.runner.Shell(), "zsh") {
		return shellread.Zsh
	}
	return shellread.Bash
}

// taskChanges is what became of background commands since the last call, for surfaces.
func (b *build) taskChanges() []event.TaskChanged {
	var tasks []event.TaskChanged
	for _, n := range b.background.Changes() {
		tasks = append(tasks, n.Changed())
		b.hooks.follow(n.Changed())
		b.await(n)
	}
	return tasks
}
