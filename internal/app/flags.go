// Package app reads flags, dispatches subcommands, chooses the surface.
package app

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// arity is how many words an option takes.
type arity int

const (
	none     arity = iota // a switch
	one                   // exactly one value
	optional              // a value if the next word is not an option
	many                  // all words up to the next option
)

// option is one row of the flag table. The table is the only place that knows
// the options: parsing, help and completion read it.
type option struct {
	name, short string
	aliases     []string
	arity       arity
	value       string // what the value is, for help
	group       string
	help        string
	choices     []string
	bind        func(o *Options, f *pflag.FlagSet, name, short, help string)
}

const (
	groupRun     = "Running"
	groupSession = "Sessions"
	groupModel   = "Model and limits"
	groupPrompt  = "Instructions"
	groupSafe    = "Tools and permissions"
	groupOut     = "Input and output"
	groupOther   = "Other"
)

func text(at func(*Options) *string) func(*Options, *pflag.FlagSet, string, string, string) {
	return func(o *Options, f *pflag.FlagSet, name, short, help string) {
		f.StringVarP(at(o), name, short, "", help)
	}
}

func flag(at func(*Options) *bool) func(*Options, *pflag.FlagSet, string, string, string) {
	return func(o *Options, f *pflag.FlagSet, name, short, help string) {
		f.BoolVarP(at(o), name, short, false, help)
	}
}

func number(at func(*Options) *int) func(*Options, *pflag.FlagSet, string, string, string) {
	return func(o *Options, f *pflag.FlagSet, name, short, help string) { f.IntVarP(at(o), name, short, 0, help) }
}

func words(at func(*Options) *[]string) func(*Options, *pflag.FlagSet, string, string, string) {
	return func(o *Options, f *pflag.FlagSet, name, short, help string) {
		f.StringArrayVarP(at(o), name, short, nil, help)
	}
}

// options is the flag table.
func options() []option {
	return slices.Concat(runOptions(), promptOptions(), safetyOptions(), outputOptions())
}

func runOptions() []option {
	return []option{
		{name: "print", short: "p", group: groupRun, help: "run one prompt without a terminal interface, print the answer and exit", bind: flag(func(o *Options) *bool { return &o.Print })},
		{name: "bare", group: groupRun, help: "minimal run: tools Bash, Edit and Read only, no instruction files, a two-line system prompt", bind: flag(func(o *Options) *bool { return &o.Bare })},
		{name: "init", group: groupRun, help: "run the Setup hooks (init) before the prompt", bind: flag(func(o *Options) *bool { return &o.Init })},
		{name: "init-only", group: groupRun, help: "run the Setup hooks (init) and exit; no prompt, no model", bind: flag(func(o *Options) *bool { return &o.InitOnly })},
		{name: "maintenance", group: groupRun, help: "run the Setup hooks (maintenance) before the prompt", bind: flag(func(o *Options) *bool { return &o.Maintenance })},
		{name: "continue", short: "c", group: groupSession, help: "go on with the newest session of this directory", bind: flag(func(o *Options) *bool { return &o.Continue })},
		{name: "resume", short: "r", arity: optional, value: "id|name", group: groupSession, help: "go on with a session", bind: text(func(o *Options) *string { return &o.Resume })},
		{name: "fork-session", group: groupSession, help: "with --continue or --resume: copy the session under a new id and leave the old one untouched", bind: flag(func(o *Options) *bool { return &o.Fork })},
		{name: "session-id", arity: one, value: "uuid", group: groupSession, help: "use this id for the new session", bind: text(func(o *Options) *string { return &o.SessionID })},
		{name: "name", short: "n", arity: one, value: "text", group: groupSession, help: "name the session; --resume finds it by name", bind: text(func(o *Options) *string { return &o.Name })},
		{name: "no-session-persistence", group: groupSession, help: "write no transcript; the session cannot be resumed", bind: flag(func(o *Options) *bool { return &o.NoPersist })},
		{name: "model", arity: one, value: "name", group: groupModel, help: "model alias or id; script:FILE is the scripted model", bind: text(func(o *Options) *string { return &o.Model })},
		{name: "agent", arity: one, value: "name", group: groupPrompt, help: "give the conversation the prompt, the tools and the model of this agent", bind: text(func(o *Options) *string { return &o.Agent })},
		{name: "agents", arity: one, value: "json", group: groupPrompt, help: "agents for this run: {\"name\": {\"description\": …, \"prompt\": …}}", bind: text(func(o *Options) *string { return &o.Agents })},
		{name: "team-name", aliases: []string{"team"}, arity: one, value: "name", group: groupSession, help: "join a team of several hew processes, which share a task list and mailboxes (see hew team status)", bind: text(func(o *Options) *string { return &o.Team })},
		{name: "agent-name", arity: one, value: "name", group: groupSession, help: "this process's name in the team; without one it leads", bind: text(func(o *Options) *string { return &o.AgentName })},
		{name: "agent-type", arity: one, value: "type", group: groupSession, help: "what this member of the team is, for people and for the others", bind: text(func(o *Options) *string { return &o.AgentType })},
		{name: "plugin-dir", arity: one, value: "dir|archive", group: groupPrompt, help: "a plugin for this run, from a folder, a .zip or a .tar.gz; may be repeated", bind: words(func(o *Options) *[]string { return &o.PluginDirs })},
		{name: "plugin-dir-no-mcp", arity: one, value: "dir|archive", group: groupPrompt, help: "as --plugin-dir, without the plugin's MCP servers; may be repeated", bind: words(func(o *Options) *[]string { return &o.PluginDirsNoServers })},
		{name: "disable-slash-commands", group: groupPrompt, help: "no skills and no slash commands: a prompt that begins with / is text", bind: flag(func(o *Options) *bool { return &o.NoCommands })},
		{name: "fallback-model", arity: one, value: "a,b,…", group: groupModel, help: "models to go on with, in order, when the model is overloaded or not available (at most three)", bind: text(func(o *Options) *string { return &o.Fallback })},
		{name: "effort", arity: one, value: "level", group: groupModel, choices: []string{"low", "medium", "high", "xhigh", "max"}, help: "how much the model thinks", bind: text(func(o *Options) *string { return &o.Effort })},
		{name: "thinking", arity: one, value: "kind", group: groupModel, choices: []string{"adaptive", "enabled", "disabled"}, help: "whether the model thinks before it answers", bind: text(func(o *Options) *string { return &o.Thinking })},
		{name: "max-thinking-tokens", arity: one, value: "n", group: groupModel, help: "thinking budget for models that need one; 0 leaves it to hew", bind: number(func(o *Options) *int { return &o.MaxThinking })},
		{name: "betas", arity: one, value: "a,b,…", group: groupModel, help: "extra beta headers for the API", bind: text(func(o *Options) *string { return &o.Betas })},
		{name: "autocompact", arity: one, value: "auto|tokens", group: groupModel, help: "size of the window that automatic compaction keeps free, 100k to 1M (auto: the model's)", bind: text(func(o *Options) *string { return &o.AutoCompact })},
		{name: "max-turns", arity: one, value: "n", group: groupModel, help: "stop after n model replies", bind: number(func(o *Options) *int { return &o.MaxTurns })},
		{name: "max-budget-usd", arity: one, value: "amount", group: groupModel, help: "stop before the next request once this much is spent", bind: func(o *Options, f *pflag.FlagSet, name, short, help string) {
			f.Float64VarP(&o.MaxBudget, name, short, 0, help)
		}},
		{name: "task-budget", arity: one, value: "tokens", group: groupModel, help: "stop once the models wrote this many tokens", bind: number(func(o *Options) *int { return &o.TaskBudget })},
	}
}

func promptOptions() []option {
	return []option{
		{name: "system-prompt", arity: one, value: "text", group: groupPrompt, help: "replace the system prompt", bind: text(func(o *Options) *string { return &o.SystemPrompt })},
		{name: "system-prompt-file", arity: one, value: "file", group: groupPrompt, help: "replace the system prompt by the contents of a file", bind: text(func(o *Options) *string { return &o.SystemPromptFile })},
		{name: "append-system-prompt", arity: one, value: "text", group: groupPrompt, help: "add text at the end of the system prompt", bind: text(func(o *Options) *string { return &o.AppendPrompt })},
		{name: "append-system-prompt-file", arity: one, value: "file", group: groupPrompt, help: "add the contents of a file at the end of the system prompt", bind: text(func(o *Options) *string { return &o.AppendPromptFile })},
		{name: "json-schema", arity: one, value: "schema", group: groupPrompt, help: "end with a JSON value that fits this schema (JSON text or a file)", bind: text(func(o *Options) *string { return &o.Schema })},
	}
}

func safetyOptions() []option {
	return []option{
		{name: "tools", arity: many, value: "names", group: groupSafe, help: `which built-in tools exist: "default", "" for none, or a list`, bind: words(func(o *Options) *[]string { return &o.Tools })},
		{name: "allowedTools", aliases: []string{"allowed-tools"}, arity: many, value: "rules", group: groupSafe, help: `rules that run unasked, such as "Bash(go test *)" Edit`, bind: words(func(o *Options) *[]string { return &o.Allowed })},
		{name: "disallowedTools", aliases: []string{"disallowed-tools"}, arity: many, value: "rules", group: groupSafe, help: "rules that are denied; a bare name hides the tool from the model", bind: words(func(o *Options) *[]string { return &o.Disallowed })},
		{name: "permission-mode", arity: one, value: "mode", group: groupSafe, choices: []string{"manual", "default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions"}, help: "what runs unasked", bind: text(func(o *Options) *string { return &o.Mode })},
		{name: "dangerously-skip-permissions", group: groupSafe, help: "run everything that no rule denies; refused as root outside a sandbox (IS_SANDBOX=1)", bind: flag(func(o *Options) *bool { return &o.SkipPermissions })},
		{name: "allow-dangerously-skip-permissions", group: groupSafe, help: "allow a later switch to bypassPermissions without starting in it", bind: flag(func(o *Options) *bool { return &o.AllowSkip })},
		{name: "permission-prompts", arity: one, value: "who", group: groupSafe, choices: []string{"host", "none"}, help: "who answers questions of a headless run; none denies them", bind: text(func(o *Options) *string { return &o.Prompts })},
		{name: "mcp-config", arity: many, value: "files|json", group: groupSafe, help: "MCP servers of this run, from files or JSON objects with mcpServers", bind: words(func(o *Options) *[]string { return &o.Servers })},
		{name: "strict-mcp-config", group: groupSafe, help: "use only the MCP servers of --mcp-config", bind: flag(func(o *Options) *bool { return &o.StrictServers })},
		{name: "ide", group: groupSafe, help: "connect to the editor that has this folder open, by the lock file that its extension leaves in ~/.claude/ide", bind: flag(func(o *Options) *bool { return &o.IDE })},
		{name: "permission-prompt-tool", arity: one, value: "tool", group: groupSafe, help: `who answers questions: "stdio", the program on stdin and stdout, or a tool, mcp__SERVER__TOOL`, bind: text(func(o *Options) *string { return &o.PromptTool })},
		{name: "sandbox", group: groupSafe, help: "confine commands, whatever sandbox.enabled says (see hew sandbox status)", bind: flag(func(o *Options) *bool { return &o.Sandbox })},
		{name: "trust", group: groupSafe, help: "use all that this folder's own settings run, grant and name, for this run only (see hew trust)", bind: flag(func(o *Options) *bool { return &o.Trust })},
		{name: "add-dir", arity: many, value: "dirs", group: groupSafe, help: "further working directories", bind: words(func(o *Options) *[]string { return &o.AddDirs })},
		{name: "settings", arity: one, value: "file|json", group: groupSafe, help: "settings above the user's and the project's", bind: text(func(o *Options) *string { return &o.Settings })},
		{name: "setting-sources", arity: one, value: "list", group: groupSafe, help: "which of user, project and local settings to read", bind: func(o *Options, f *pflag.FlagSet, name, short, help string) {
			f.StringVarP(&o.Sources, name, short, "user,project,local", help)
		}},
	}
}

func outputOptions() []option {
	return []option{
		{name: "output-format", arity: one, value: "format", group: groupOut, choices: []string{"text", "json", "stream-json"}, help: "text, one JSON result, or a JSON line an event (needs --verbose)", bind: func(o *Options, f *pflag.FlagSet, name, short, help string) {
			f.StringVarP(&o.Output, name, short, "text", help)
		}},
		{name: "input-format", arity: one, value: "format", group: groupOut, choices: []string{"text", "stream-json"}, help: "text, or JSON lines with user messages and control requests", bind: func(o *Options, f *pflag.FlagSet, name, short, help string) {
			f.StringVarP(&o.Input, name, short, "text", help)
		}},
		{name: "include-partial-messages", group: groupOut, help: "with stream-json: the model's raw stream events too", bind: flag(func(o *Options) *bool { return &o.Partial })},
		{name: "include-hook-events", group: groupOut, help: "with stream-json: when hooks start and what they answer", bind: flag(func(o *Options) *bool { return &o.HookEvents })},
		{name: "session-mirror", group: groupOut, help: "with stream-json both ways: repeat every line of the transcript as a transcript_mirror line", bind: flag(func(o *Options) *bool { return &o.Mirror })},
		{name: "managed-settings", arity: one, value: "json", group: groupSafe, help: "settings of a host that restrict the run, like an administrator's; what would allow something is left out", bind: text(func(o *Options) *string { return &o.HostPolicy })},
		{name: "project-config-root", arity: one, value: "dir", group: groupOut, help: "accepted for hosts, without effect", bind: text(func(o *Options) *string { return &o.unused })},
		{name: "resume-session-at", arity: one, value: "uuid", group: groupSession, help: "with --resume or --continue: go on behind this message, as if nothing had been said later", bind: text(func(o *Options) *string { return &o.ResumeAt })},
		{name: "resume-drops-turn", arity: one, value: "uuid", group: groupSession, help: "with --resume-session-at: refuse unless all that is dropped belongs to this prompt", bind: text(func(o *Options) *string { return &o.DropsTurn })},
		{name: "thinking-display", arity: one, value: "kind", group: groupModel, choices: []string{"summarized", "omitted"}, help: "what the API shows of adaptive thinking", bind: text(func(o *Options) *string { return &o.ThinkingDisplay })},
		{name: "debug-file", arity: one, value: "file", group: groupOut, help: "as --trace, for hosts", bind: text(func(o *Options) *string { return &o.DebugFile })},
		{name: "debug", arity: optional, value: "filter", group: groupOut, help: "accepted for hosts, without effect (see --trace)", bind: text(func(o *Options) *string { return &o.unused })},
		{name: "await-initialize", group: groupOut, help: "with stream-json input: servers and agents come in the initialize request (it is always waited for)", bind: flag(func(o *Options) *bool { return &o.Await })},
		{name: "replay-user-messages", group: groupOut, help: "with stream-json both ways: echo accepted user messages", bind: flag(func(o *Options) *bool { return &o.Replay })},
		{name: "verbose", group: groupOut, help: "all messages; required for stream-json output", bind: flag(func(o *Options) *bool { return &o.Verbose })},
		{name: "trace", arity: one, value: "file", group: groupOut, help: "append a JSON line for each model call, decision, shaper, hook and tool", bind: text(func(o *Options) *string { return &o.Trace })},
		{name: "ax-screen-reader", group: groupOut, help: "in a terminal: plain lines that a screen reader can follow, no cursor movement", bind: flag(func(o *Options) *bool { return &o.ScreenReader })},
		{name: "version", short: "v", group: groupOther, help: "print the version", bind: flag(func(o *Options) *bool { return &o.Version })},
		{name: "help", short: "h", group: groupOther, help: "print this help", bind: flag(func(o *Options) *bool { return &o.Help })},
	}
}

// Options is a parsed command line.
type Options struct {
	Print, Bare, Continue, Fork, NoPersist, HookEvents   bool
	Agent                                                string
	Mirror, Await                                        bool
	SkipPermissions, AllowSkip, Partial, Replay, Verbose bool
	Version, Help, Trust, Sandbox, StrictServers, IDE    bool
	NoCommands, ScreenReader                             bool
	Resume, SessionID, Name, Model, Fallback, Effort     string
	Thinking, Betas, Agents, Team, AgentName, AgentType  string
	Init, InitOnly, Maintenance                          bool
	MaxThinking, MaxTurns, TaskBudget                    int
	AutoCompact                                          string
	MaxBudget                                            float64
	SystemPrompt, SystemPromptFile                       string
	AppendPrompt, AppendPromptFile, Schema               string
	Tools, Allowed, Disallowed, AddDirs, Servers         []string
	PluginDirs, PluginDirsNoServers                      []string
	HostPolicy, ResumeAt, DropsTurn                      string
	ThinkingDisplay, DebugFile                           string
	Mode, Prompts, PromptTool, Settings, Sources         string
	Output, Input, Trace                                 string
	// Prompt is the positional arguments, joined.
	Prompt string
	given  map[string]bool
	unused string
}

// withoutEffect are options that hosts set and that change nothing here.
func (o *Options) withoutEffect() []string {
	var out []string
	for _, n := range []string{"project-config-root", "debug"} {
		if o.Given(n) {
			out = append(out, "--"+n)
		}
	}
	return out
}

// Given reports whether the option was on the command line at all.
func (o *Options) Given(name string) bool { return o.given[name] }

// usageError is a command line that cannot be understood.
type usageError struct{ text string }

func (u *usageError) Error() string { return "error: " + u.text }

// parse reads the command line in both forms of the ecosystem, --x=v and --x v.
func parse(args []string) (*Options, error) {
	table := options()
	args, err := normalize(table, args)
	if err != nil {
		return nil, err
	}
	o := &Options{given: map[string]bool{}}
	f := pflag.NewFlagSet("hew", pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	for _, r := range table {
		r.bind(o, f, r.name, r.short, r.help)
	}
	if err := f.Parse(args); err != nil {
		return nil, &usageError{err.Error()}
	}
	f.Visit(func(fl *pflag.Flag) { o.given[fl.Name] = true })
	o.Prompt = strings.Join(f.Args(), " ")
	for _, r := range table {
		if err := r.check(f, o); err != nil {
			return nil, err
		}
	}
	return o, o.limits()
}

// limits refuses a limit that would end every run or mean nothing.
func (o *Options) limits() error {
	for _, l := range []struct {
		name string
		n    float64
	}{
		{"max-turns", float64(o.MaxTurns)},
		{"max-budget-usd", o.MaxBudget},
		{"task-budget", float64(o.TaskBudget)},
		{"max-thinking-tokens", float64(o.MaxThinking)},
	} {
		if l.n < 0 || math.IsNaN(l.n) {
			return &usageError{fmt.Sprintf("option '--%s' takes a number that is not negative", l.name)}
		}
	}
	return nil
}

func (r option) check(f *pflag.FlagSet, o *Options) error {
	if len(r.choices) == 0 || !o.given[r.name] {
		return nil
	}
	got := f.Lookup(r.name).Value.String()
	if slices.Contains(r.choices, got) || r.name == "permission-mode" && got == "acceptAll" {
		return nil
	}
	return &usageError{fmt.Sprintf("option '--%s' takes one of %s, not %q", r.name, strings.Join(r.choices, ", "), got)}
}
