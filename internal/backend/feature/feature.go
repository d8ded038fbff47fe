// Package feature names what a build can leave out, as constants that build tags set, and the switches of a run.
//
// A constant that is false makes the compiler drop what it guards, and the
// linker what only that code calls: nothing of a feature that is off is in the
// program. The tag hew_lean switches all of them off.
package feature

// Kind says when a flag is decided.
type Kind string

// The kinds: by a build tag, or when hew runs.
const (
	Build Kind = "build"
	Run   Kind = "run"
)

// Lean is the build tag that switches off all flags of the kind Build.
const Lean = "hew_lean"

// Flag is one feature that may be off.
type Flag struct {
	Name string
	Kind Kind
	// Default tells that an ordinary build has it on where nobody says otherwise.
	Default bool
	// Built tells that this program has it at all.
	Built bool
	// Tag is the build tag that leaves it out, "" when none does.
	Tag string
	// Switch is the variable or setting that decides in a run, "" for none.
	Switch string
	// Effect says what is there when it is on.
	Effect string
	// Symbol is a name that the linker drops with the feature, below internal/, as
	// `go tool nm` prints it; "" for flags that leave nothing out.
	Symbol string
}

// All lists the flags: those of builds, then those of runs, each in the order of names.
func All() []Flag {
	return append(builds(), runs()...)
}

func builds() []Flag {
	return []Flag{
		{
			Name: "agent-cwd", Kind: Build, Default: true, Built: AgentCwd, Tag: "hew_no_agent_cwd",
			Effect: "a subagent can be told the folder that it works in (cwd)", Symbol: "wiring.(*child).settle",
		},
		{
			Name: "cached-microcompact", Kind: Build, Default: true, Built: Microcompact, Tag: "hew_no_microcompact", Switch: "contextShapers, HEW_CONTEXT_SHAPERS",
			Effect: "results of old calls that can be repeated are cleared when the window fills, or early when the cache has expired", Symbol: "core/compact.(*Micro).Shape",
		},
		{
			Name: "context-collapse", Kind: Build, Default: false, Built: ContextCollapse, Tag: "hew_no_collapse", Switch: "contextShapers, HEW_CONTEXT_SHAPERS",
			Effect: "requests show digests in the place of old work; the transcript keeps all of it", Symbol: "core/compact.(*Collapse).Shape",
		},
		{
			Name: "fork-subagent", Kind: Build, Default: true, Built: ForkSubagent, Tag: "hew_no_fork", Switch: "CLAUDE_CODE_FORK_SUBAGENT",
			Effect: "a subagent of the type fork begins with the whole conversation; by default where a person sits in front", Symbol: "wiring.copied",
		},
		{
			Name: "history-snip", Kind: Build, Default: false, Built: HistorySnip, Tag: "hew_no_snip", Switch: "contextShapers, HEW_CONTEXT_SHAPERS",
			Effect: "the oldest replies and results are left out of requests when the window fills", Symbol: "core/compact.(*Snip).Shape",
		},
		{
			Name: "language-servers", Kind: Build, Default: true, Built: LanguageServers, Tag: "hew_no_lsp",
			Effect: "the LSP tool, where a plugin brings a language server", Symbol: "backend/lsp.(*Client).Call",
		},
		{
			Name: "reactive-compact", Kind: Build, Default: true, Built: ReactiveCompact, Tag: "hew_no_reactive", Switch: "DISABLE_COMPACT",
			Effect: "a request that the provider finds too long is compacted and sent again", Symbol: "core/loop.(*run).relieve",
		},
		{
			Name: "remote-isolation", Kind: Build, Default: false, Built: false,
			Effect: "subagents on other machines: no public build has it, and no schema names it",
		},
		{
			Name: "telemetry", Kind: Build, Default: false, Built: Telemetry, Switch: "CLAUDE_CODE_ENABLE_TELEMETRY with OTEL_TRACES_EXPORTER or OTEL_METRICS_EXPORTER",
			Effect: "traces and metrics are exported by OpenTelemetry; only builds with the tag hew_otel have it",
		},
		{
			Name: "transcript-classifier", Kind: Build, Default: true, Built: Classifier, Tag: "hew_no_classifier", Switch: "disableAutoMode",
			Effect: "auto mode: a model judges calls by the transcript", Symbol: "action/gate/classify.(*Classifier).Judge",
		},
	}
}

func runs() []Flag {
	run := func(name, by, effect string) Flag {
		return Flag{Name: name, Kind: Run, Built: true, Switch: by, Effect: effect}
	}
	flags := []Flag{
		run("agent-teams", "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS, --team-name", "several hew processes share a task list and mailboxes"),
		run("auto-compact", "autoCompactEnabled, DISABLE_AUTO_COMPACT", "a full window is summarised by itself"),
		run("background-tasks", "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "commands and subagents may go on in the background; without it run_in_background is in no schema"),
		run("explore-plan-agents", "CLAUDE_CODE_DISABLE_EXPLORE_PLAN_AGENTS", "the agents Explore and Plan"),
		run("more-tools", "HEW_MORE_TOOLS", "tools that most sessions do not need"),
		run("task-tools", "CLAUDE_CODE_ENABLE_TASKS", "four tools on a shared task list in the place of TodoWrite"),
	}
	for i := range flags {
		switch flags[i].Name {
		case "auto-compact", "background-tasks", "explore-plan-agents":
			flags[i].Default = true
		}
	}
	return flags
}
