package arch

import "strings"

// layer is a floor of the building: a package may import what lies on a lower floor.
type layer int

const (
	vocabMsg layer = iota
	vocabTool
	vocabEvent
	backend
	state
	action
	core
	surface // wiring shares the floor; the two do not see each other
	app
	command
	testOnly // may import everything, may be imported by _test.go files alone
)

// pkg is a row of the package table: a folder below the module root, its layer and what it may import inside its layer.
// docs/ARCHITECTURE.md holds the same rows for people; TestDocTable compares the two.
type pkg struct {
	path  string
	layer layer
	may   []string
}

var table = []pkg{
	{"internal/msg", vocabMsg, nil},
	{"internal/tool", vocabTool, nil},
	{"internal/tool/tooltest", testOnly, nil},
	{"internal/event", vocabEvent, nil},

	{"internal/backend/fsys", backend, nil},
	{"internal/backend/feature", backend, nil},
	{"internal/backend/telemetry", backend, nil},
	{"internal/backend/plain", backend, nil},
	{"internal/backend/search", backend, []string{"fsys"}},
	{"internal/backend/sandbox", backend, nil},
	{"internal/backend/shell", backend, []string{"sandbox", "fsys"}},
	{"internal/backend/frontmatter", backend, nil},
	{"internal/backend/worktree", backend, []string{"fsys"}},
	{"internal/backend/picture", backend, nil},
	{"internal/backend/provider", backend, nil},
	{"internal/backend/provider/providertest", testOnly, nil},
	{"internal/backend/provider/messages", backend, []string{"provider"}},
	{"internal/backend/provider/endpoint", backend, []string{"provider", "provider/messages"}},
	{"internal/backend/provider/anthropic", backend, []string{"provider", "provider/messages", "provider/endpoint"}},
	{"internal/backend/provider/cloud", backend, []string{"provider", "provider/messages", "provider/endpoint"}},
	{"internal/backend/provider/openai", backend, []string{"provider", "provider/messages", "provider/endpoint"}},
	{"internal/backend/provider/gemini", backend, []string{"provider", "provider/messages", "provider/endpoint"}},
	{"internal/backend/provider/modeltable", backend, []string{"provider"}},
	{"internal/backend/provider/route", backend, []string{"provider"}},
	{"internal/backend/provider/script", backend, []string{"provider", "provider/messages"}},
	{"internal/backend/credential", backend, []string{"fsys"}},
	{"internal/backend/mcp", backend, []string{"shell", "credential"}},

	{"internal/backend/lsp", backend, []string{"shell"}},
	{"internal/state/settings", state, nil},
	{"internal/state/session", state, nil},
	{"internal/state/memory", state, []string{"settings"}},
	{"internal/state/checkpoint", state, []string{"session"}},
	{"internal/state/catalog", state, []string{"settings"}},
	{"internal/state/trust", state, []string{"settings", "catalog"}},
	{"internal/state/server", state, []string{"settings"}},
	{"internal/state/plugin", state, []string{"settings", "catalog"}},
	{"internal/state/prompt", state, []string{"memory", "catalog"}},

	{"internal/action/policy/shellread", action, nil},
	{"internal/action/policy", action, []string{"policy/shellread"}},
	{"internal/action/hook", action, []string{"policy", "policy/shellread"}},
	{"internal/action/gate", action, []string{"policy", "hook", "gate/classify"}},
	{"internal/action/gate/classify", action, []string{"policy"}},
	{"internal/action/task", action, nil},
	{"internal/action/team", action, []string{"task"}},
	{"internal/action/builtin", action, []string{"policy/shellread", "task", "builtin/notebook", "builtin/pdf"}},
	{"internal/action/builtin/notebook", action, nil},
	{"internal/action/builtin/pdf", action, nil},
	{"internal/action/builtin/lsptool", action, nil},
	{"internal/action/builtin/mcptool", action, nil},
	{"internal/action/builtin/bash", action, []string{"policy/shellread", "task"}},
	{"internal/action/builtin/edit", action, nil},
	{"internal/action/builtin/agent", action, []string{"task"}},
	{"internal/action/builtin/skill", action, nil},
	{"internal/action/builtin/web", action, nil},

	{"internal/core/loop", core, nil},
	{"internal/core/compact", core, []string{"loop"}},
	{"internal/core/engine", core, []string{"loop", "compact"}},
	{"internal/core/command", core, []string{"engine"}},

	{"internal/surface/view", surface, nil},
	{"internal/surface/tui", surface, []string{"view", "tui/style", "tui/input", "tui/frame", "tui/term", "tui/paint", "tui/markdown", "tui/editor", "tui/dialog", "tui/files", "tui/keys"}},
	{"internal/surface/tui/style", surface, nil},
	{"internal/surface/tui/input", surface, nil},
	{"internal/surface/tui/frame", surface, []string{"tui/style", "tui/input"}},
	{"internal/surface/tui/term", surface, []string{"tui/input"}},
	{"internal/surface/tui/paint", surface, []string{"tui/style", "tui/frame", "tui/term"}},
	{"internal/surface/tui/markdown", surface, []string{"view", "tui/style"}},
	{"internal/surface/tui/editor", surface, []string{"tui/style", "tui/input", "tui/frame"}},
	{"internal/surface/tui/files", surface, nil},
	{"internal/surface/tui/keys", surface, nil},
	{"internal/surface/tui/dialog", surface, []string{"view", "tui/style", "tui/input", "tui/frame", "tui/markdown"}},
	{"internal/surface/streamjson", surface, []string{"view"}},
	{"internal/surface/acp", surface, []string{"view"}},
	{"internal/surface/web", surface, []string{"view", "web/remote"}},
	{"internal/surface/web/remote", surface, []string{"view"}},
	{"internal/wiring", surface, nil},

	{"internal/app", app, nil},
	{".", app, nil},
	{"cmd/hew", command, nil},
	{"cmd/fakemodel", command, nil},

	{"internal/hewtest", testOnly, nil},
	{"internal/hewtest/bench", testOnly, nil},
	{"internal/hewtest/mcpserver", testOnly, nil},
	{"internal/hewtest/picture", testOnly, nil},
	{"internal/hewtest/robot", testOnly, nil},
	{"internal/arch", testOnly, nil},
}

// ban forbids an import that the layers alone would allow. from and to are folder prefixes; to may also be a path outside the module.
type ban struct {
	from, to, why string
	tests         bool // whether _test.go files are bound too
}

var bans = []ban{
	{"internal/surface", "internal/action/builtin", "a surface hears events; a tool's own View is all it may show", true},
	{"internal/surface", "internal/action/policy", "a surface answers questions, it does not judge", true},
	{"internal/surface", "internal/backend/provider/", "the model is reached through core/engine only", false},
	{"internal/surface", "internal/backend/shell", "a surface starts nothing", true},
	{"internal/core", "internal/action/builtin", "tools reach the loop as interfaces, from wiring", false},
	{"internal/core", "internal/backend/provider/", "the loop never asks which provider is in use", false},
	{"internal/core/loop", "internal/action", "gate implements the loop's port without being seen", false},
	{"internal/action/builtin", "internal/action/gate", "tools contain no permission code", true},
	{"internal/action/policy", "os", "policy is pure: the file system is behind its Paths port", false},
	{"internal/action/policy", "os/exec", "policy is pure", false},
	{"internal/action/policy", "net", "policy is pure", false},
	{"internal/action/policy", "time", "policy is pure: no clock", false},
	{"internal/surface", "internal/core/loop", "one code path: a surface submits to the engine, which alone runs the loop", true},
	{"internal/app", "internal/core/loop", "one code path: a surface submits to the engine, which alone runs the loop", true},
	{"cmd/hew", "internal/backend", "main calls app and nothing else", false},
	{"internal", "testing", "test support belongs into _test.go files or internal/hewtest", false},
	{"internal", "log", "log/slog with a logger that was handed in", false},
	{"internal", "io/ioutil", "deprecated", true},
	{"internal", "github.com/spf13/cobra", "flags are pflag with an own table of subcommands", true},
	{"internal", "github.com/anthropics", "no vendor SDK: docs/adr/0007", true},
	{"internal", "github.com/openai", "no vendor SDK: docs/adr/0007", true},
}

// sizes, in lines. A file aims at 400 and a function at 50; these fail.
const (
	maxFile     = 600
	maxFunc     = 80
	maxTestFile = 800
)

// waivers are the known exceptions, each with its reason: check, a space, and the subject as the check prints it.
// An entry that is no longer needed fails too.
var waivers = map[string]string{
	"var internal/app.version":                               "set by the linker (-X), never by code",
	"interface internal/tool.Call":                           "one object answers every question about a call that was parsed once; two interfaces would parse twice",
	`tool name internal/surface/tui/keys/defaults.go "Task"`: "keybindings.json has a context of that name, for running commands; it means no tool",
}

var bannedPackages = strings.Fields("util utils common helper helpers manager misc types core base shared lib")

var bannedSuffixes = strings.Fields("Manager Service Handler Data Info")
