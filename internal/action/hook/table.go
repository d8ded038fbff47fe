package hook

import (
	"reflect"
	"strings"
	"sync"
	"time"
)

// Column is a set of things that the output of a hook may ask for.
type Column uint32

// The columns. What a row of the table does not list is ignored with a warning.
const (
	Halting           Column = 1 << iota // continue, stopReason
	Quiet                                // suppressOutput: accepted, no effect
	UserMessage                          // systemMessage
	TerminalSequence                     // terminalSequence
	Blocking                             // decision, reason
	Context                              // additionalContext
	PlainContext                         // plain text on stdout counts as additionalContext
	Permission                           // permissionDecision(Reason): allow, deny, ask
	Deferral                             // permissionDecision may be defer
	UpdatedInput                         // updatedInput
	RequestDecision                      // decision {behavior, …} of PermissionRequest
	Retry                                // retry
	UpdatedOutput                        // updatedToolOutput, updatedMCPToolOutput
	ClassifierContext                    // classifierContext
	SessionTitle                         // sessionTitle
	InitialMessage                       // initialUserMessage
	WatchPaths                           // watchPaths
	ReloadSkills                         // reloadSkills
	SuppressPrompt                       // suppressOriginalPrompt
	Elicited                             // action, content
	Display                              // displayContent
	WorktreePath                         // worktreePath, or the last line of stdout

	universal = Halting | Quiet | UserMessage | TerminalSequence
)

// Effect is what a negative answer of a hook (exit code 2, a "no" of a prompt)
// does at an event.
type Effect int

// The effects.
const (
	Nothing  Effect = iota // not honoured
	Denies                 // the call is refused; the reason goes to the model
	Blocks                 // the event is blocked; who acts on it knows how
	Ends                   // blocked, and the run ends
	ToModel                // the text goes to the model as context
	ToUser                 // the text goes to the person
	Declines               // the elicitation is declined
)

// Kind is a set of handler types.
type Kind uint8

// The kinds. Callbacks exist in process only and fit every event.
const (
	Command Kind = 1 << iota
	HTTP
	MCPTool
	Prompt
	Verifier // "agent": a prompt with tools and several turns
	Callback

	programs = Command | HTTP | MCPTool | Callback
	anyKind  = programs | Prompt | Verifier
	atStart  = Command | MCPTool | Callback
)

// String is the name in configuration files.
func (k Kind) String() string {
	for i, name := range kindNames {
		if k == 1<<i {
			return name
		}
	}
	return "unknown"
}

// kindNames are the names of the kinds, in the order of their bits.
var kindNames = [...]string{"command", "http", "mcp_tool", "prompt", "agent", "callback"}

// kindOf is 0 for a name that is none.
func kindOf(name string) Kind {
	for i, n := range kindNames {
		if n == name {
			return 1 << i
		}
	}
	return 0
}

// Row is one published event.
type Row struct {
	Event string
	// Matcher is the payload field that matchers look at, "" when the event has none.
	Matcher string
	// Fields is what the event adds to the payload.
	Fields []Field
	// Returns is what the output of a hook may ask for.
	Returns Column
	// Kinds are the handler types that fit.
	Kinds Kind
	// Exit2 is what exit code 2 does, No what the "no" of a prompt or verifier does.
	Exit2, No Effect

	// narrow matchers are exact only when they have no blank, comma or dash.
	narrow bool
	// judged events are about a tool call: `if` rules apply.
	judged bool
	// strict events fail on every exit code but 0.
	strict bool
	// bare payloads lack permission_mode; early ones prompt_id too.
	bare, early bool
	// heedless events ignore onFailure: a broken hook could never end.
	heedless bool
	// timeout replaces the default of 600 s.
	timeout time.Duration
	kind    reflect.Type
}

// Field is one field of a payload. Type is the JSON type, "any" when it varies.
type Field struct {
	Name     string
	Type     string
	Optional bool
}

// Events is the table of all published events.
func Events() []Row { return append([]Row(nil), rows()...) }

var rows = sync.OnceValue(func() []Row {
	t := []Row{
		row(SessionStart{}, Row{Matcher: "source", Returns: universal | Context | PlainContext | InitialMessage | SessionTitle | WatchPaths | ReloadSkills, Kinds: atStart, Exit2: ToUser, early: true}),
		row(Setup{}, Row{Matcher: "trigger", Returns: universal | Context, Kinds: atStart, Exit2: ToUser}),
		row(InstructionsLoaded{}, Row{Matcher: "load_reason", Returns: universal, early: true}),
		row(UserPromptSubmit{}, Row{Returns: universal | Blocking | Context | PlainContext | SessionTitle | SuppressPrompt, Kinds: anyKind, Exit2: Blocks, No: Ends, timeout: 30 * time.Second}),
		row(UserPromptExpansion{}, Row{Matcher: "command_name", Returns: universal | Blocking | Context | PlainContext, Kinds: anyKind, Exit2: Blocks, No: Ends}),
		row(PreToolUse{}, Row{Matcher: "tool_name", Returns: universal | Blocking | Permission | Deferral | UpdatedInput | Context, Kinds: anyKind, Exit2: Denies, No: Denies, judged: true}),
		row(PermissionRequest{}, Row{Matcher: "tool_name", Returns: universal | RequestDecision, Kinds: anyKind, judged: true}),
		row(PermissionDenied{}, Row{Matcher: "tool_name", Returns: universal | Retry, Kinds: anyKind, judged: true}),
		row(PostToolUse{}, Row{Matcher: "tool_name", Returns: universal | Blocking | Context | UpdatedOutput | ClassifierContext, Kinds: anyKind, Exit2: Blocks, No: Blocks, judged: true}),
		row(PostToolUseFailure{}, Row{Matcher: "tool_name", Returns: universal | Context, Kinds: anyKind, Exit2: ToModel, No: ToModel, judged: true}),
		row(PostToolBatch{}, Row{Returns: universal | Blocking | Context, Kinds: anyKind, Exit2: Blocks, No: Ends}),
		row(Stop{}, Row{Returns: universal | Blocking | Context, Kinds: anyKind, Exit2: Blocks, No: Blocks, heedless: true}),
		row(StopFailure{}, Row{Matcher: "error", Returns: universal, narrow: true}),
		row(SubagentStart{}, Row{Matcher: "agent_type", Returns: universal | Context, Exit2: ToUser}),
		row(SubagentStop{}, Row{Matcher: "agent_type", Returns: universal | Blocking | Context, Kinds: anyKind, Exit2: Blocks, No: Blocks, heedless: true}),
		row(TaskCreated{}, Row{Returns: universal | Blocking, Kinds: anyKind, Exit2: Blocks, No: Blocks}),
		row(TaskCompleted{}, Row{Returns: universal | Blocking, Kinds: anyKind, Exit2: Blocks, No: Blocks, heedless: true}),
		row(TeammateIdle{}, Row{Returns: universal | Blocking, Kinds: anyKind, Exit2: Blocks, No: Blocks, heedless: true}),
		row(Notification{}, Row{Matcher: "notification_type", Returns: TerminalSequence | Quiet}),
		row(MessageDisplay{}, Row{Returns: Display | Quiet, bare: true, timeout: 10 * time.Second}),
		row(PreCompact{}, Row{Matcher: "trigger", Returns: universal | Blocking, Exit2: Blocks}),
		row(PostCompact{}, Row{Matcher: "trigger", Returns: universal, Exit2: ToUser}),
		row(ConfigChange{}, Row{Matcher: "source", Returns: universal | Blocking, Exit2: Blocks}),
		row(CwdChanged{}, Row{Returns: universal | WatchPaths, Exit2: ToUser, bare: true}),
		row(DirectoryAdded{}, Row{Matcher: "source", Returns: universal}),
		row(FileChanged{}, Row{Matcher: "file_path", Returns: universal | WatchPaths, Exit2: ToUser, narrow: true}),
		row(WorktreeCreate{}, Row{Returns: universal | WorktreePath, Exit2: Blocks, strict: true}),
		row(WorktreeRemove{}, Row{Returns: universal}),
		row(Elicitation{}, Row{Matcher: "mcp_server_name", Returns: universal | Elicited, Exit2: Declines}),
		row(ElicitationResult{}, Row{Matcher: "mcp_server_name", Returns: universal | Elicited, Exit2: Declines}),
		row(SessionEnd{}, Row{Matcher: "reason", Returns: universal, Exit2: ToUser, bare: true}),
		row(PreModelSwitch{}, Row{Returns: universal | Permission, Exit2: Denies}),
		row(PostModelSwitch{}, Row{Returns: universal | Context, Exit2: ToUser}),
		row(PreSkillShellCommand{}, Row{Returns: universal | Permission | Deferral | UpdatedInput, Exit2: Denies}),
	}
	return t
})

var rowIndex = sync.OnceValue(func() map[string]*Row {
	m := map[string]*Row{}
	for i := range rows() {
		m[rows()[i].Event] = &rows()[i]
	}
	return m
})

// row completes r by what the input's type says: an event is named as its type.
func row(in Input, r Row) Row {
	r.kind = reflect.TypeOf(in)
	r.Event = r.kind.Name()
	r.Fields = fields(nil, r.kind)
	if r.Kinds == 0 {
		r.Kinds = programs
	}
	r.bare = r.bare || r.early
	return r
}

func rowOf(in Input) *Row { return rowIndex()[reflect.TypeOf(in).Name()] }

func fields(out []Field, t reflect.Type) []Field {
	for f := range t.Fields() {
		tag, ok := f.Tag.Lookup("json")
		if f.Anonymous && !ok {
			out = fields(out, f.Type)
			continue
		}
		name, opts, _ := strings.Cut(tag, ",")
		if name == "-" {
			continue
		}
		out = append(out, Field{Name: name, Type: jsonType(f.Type), Optional: opts == "omitempty"})
	}
	return out
}

func jsonType(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[list]():
		return "array"
	case t.Kind() == reflect.Pointer:
		return jsonType(t.Elem())
	case t.Kind() == reflect.String:
		return "string"
	case t.Kind() == reflect.Bool:
		return "boolean"
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		return "array"
	case t.Kind() == reflect.Slice:
		return "any" // json.RawMessage
	}
	return "number"
}
