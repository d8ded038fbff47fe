package hook

import (
	"encoding/json"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/tool"
)

// Input is what happened, one type for each published event; the JSON fields of
// the type are what the event adds to the payload that hooks read. The union is
// sealed.
//
//sumtype:decl
type Input interface {
	// who is the subagent in which it happened, the zero value in the main
	// conversation.
	who() Agent
	// call is the tool call that it is about, the zero value when there is none.
	call() tool.Planned
}

// Agent names the subagent that an event comes from.
type Agent struct {
	ID   string `json:"agent_id,omitempty"`
	Type string `json:"agent_type,omitempty"`
}

func (a Agent) who() Agent       { return a }
func (Agent) call() tool.Planned { return tool.Planned{} }

// ToolCall is the call that a tool event is about.
type ToolCall struct {
	Name  string          `json:"tool_name"`
	Input json.RawMessage `json:"tool_input"`
	// Server is the MCP server of the tool, if it has one.
	Server string `json:"mcp_server,omitempty"`
	// Planned lets `if` rules judge what the call would touch. Without it a rule
	// with parentheses counts as met: the hook runs.
	Planned tool.Planned `json:"-"`
}

// SessionStart tells that a session begins or goes on.
type SessionStart struct {
	Agent
	// Source is startup, resume, clear, compact or fork.
	Source  string `json:"source"`
	Model   string `json:"model,omitempty"`
	Title   string `json:"session_title,omitempty"`
	Idle    int64  `json:"seconds_since_last_response,omitempty"`
	Tokens  int64  `json:"context_tokens,omitempty"`
	Expired *bool  `json:"prompt_cache_likely_expired,omitempty"`
	// Cost is the estimated price of writing the cache again, in USD.
	Cost float64 `json:"estimated_cache_write_usd,omitempty"`
}

// SessionEnd tells that a session ends. Reason is clear, resume, logout,
// prompt_input_exit or other.
type SessionEnd struct {
	Agent
	Reason string `json:"reason"`
}

// Setup runs for --init and --maintenance. Trigger is init or maintenance.
type Setup struct {
	Agent
	Trigger string `json:"trigger"`
}

// InstructionsLoaded tells that an instruction file entered the context.
type InstructionsLoaded struct {
	Agent
	Path string `json:"file_path"`
	// Memory is User, Project, Local or Managed.
	Memory string `json:"memory_type"`
	// Reason is session_start, nested_traversal, path_glob_match, include or compact.
	Reason  string   `json:"load_reason"`
	Globs   []string `json:"globs,omitempty"`
	Trigger string   `json:"trigger_file_path,omitempty"`
	Parent  string   `json:"parent_file_path,omitempty"`
}

// UserPromptSubmit comes before a prompt is processed.
type UserPromptSubmit struct {
	Agent
	Prompt string `json:"prompt"`
	// Source is user, sdk, system, loop_wakeup, schedule_wakeup or poll_event.
	Source string `json:"source,omitempty"`
	Title  string `json:"session_title,omitempty"`
}

// UserPromptExpansion comes before a typed command is expanded.
type UserPromptExpansion struct {
	Agent
	// Type is slash_command or mcp_prompt.
	Type    string `json:"expansion_type"`
	Command string `json:"command_name"`
	Args    string `json:"command_args"`
	Source  string `json:"command_source,omitempty"`
	Prompt  string `json:"prompt"`
}

// PreToolUse comes when a call is validated and nothing is decided yet.
type PreToolUse struct {
	Agent
	ToolCall
	UseID string `json:"tool_use_id"`
}

// PermissionRequest comes when somebody is about to be asked, or the call is
// about to be refused because nobody can be. It has no tool_use_id.
type PermissionRequest struct {
	Agent
	ToolCall
	Suggestions []event.Suggestion `json:"permission_suggestions,omitempty"`
}

// PermissionDenied tells that auto mode refused a call.
type PermissionDenied struct {
	Agent
	ToolCall
	UseID  string `json:"tool_use_id"`
	Reason string `json:"reason"`
}

// PostToolUse comes when a call has succeeded.
type PostToolUse struct {
	Agent
	ToolCall
	Response json.RawMessage `json:"tool_response"`
	UseID    string          `json:"tool_use_id"`
	Duration int64           `json:"duration_ms,omitempty"`
}

// PostToolUseFailure comes when a call that ran has failed.
type PostToolUseFailure struct {
	Agent
	ToolCall
	UseID     string `json:"tool_use_id"`
	Error     string `json:"error"`
	Interrupt bool   `json:"is_interrupt,omitempty"`
	Duration  int64  `json:"duration_ms,omitempty"`
}

// BatchCall is one call of a batch, with the text that the model sees.
type BatchCall struct {
	Name     string          `json:"tool_name"`
	Input    json.RawMessage `json:"tool_input"`
	UseID    string          `json:"tool_use_id"`
	Response string          `json:"tool_response"`
}

// PostToolBatch comes once for the calls of a reply, before the next request.
type PostToolBatch struct {
	Agent
	Calls []BatchCall `json:"tool_calls"`
}

// Stopping is what Stop and SubagentStop have in common.
type Stopping struct {
	// Active tells that the agent goes on because of an earlier stop hook.
	Active bool   `json:"stop_hook_active"`
	Last   string `json:"last_assistant_message,omitempty"`
	// Tasks and Crons are objects of background tasks and of schedules; never null on the wire.
	Tasks list `json:"background_tasks"`
	Crons list `json:"session_crons"`
}

// list is a JSON list that is [] when it is empty.
type list []json.RawMessage

// MarshalJSON writes a list, never null.
func (l list) MarshalJSON() ([]byte, error) {
	if len(l) == 0 {
		return []byte("[]"), nil
	}
	return json.Marshal([]json.RawMessage(l))
}

// Stop comes when the agent is about to finish, not on an interrupt.
type Stop struct {
	Agent
	Stopping
}

// SubagentStop comes when a subagent is about to finish.
type SubagentStop struct {
	Agent
	Stopping
	Transcript string `json:"agent_transcript_path"`
}

// StopFailure tells that an API error ended the turn. Error is its kind:
// rate_limit, overloaded, authentication_failed, billing_error, ….
type StopFailure struct {
	Agent
	Error   string `json:"error"`
	Details string `json:"error_details,omitempty"`
	Last    string `json:"last_assistant_message,omitempty"`
}

// SubagentStart tells that a subagent is about to run.
type SubagentStart struct{ Agent }

// TaskEvent is what TaskCreated and TaskCompleted have in common.
type TaskEvent struct {
	ID          string `json:"task_id"`
	Subject     string `json:"task_subject"`
	Description string `json:"task_description,omitempty"`
	Teammate    string `json:"teammate_name,omitempty"`
	Team        string `json:"team_name,omitempty"`
}

// TaskCreated comes when a task has been made.
type TaskCreated struct {
	Agent
	TaskEvent
}

// TaskCompleted comes when a task is about to be marked done.
type TaskCompleted struct {
	Agent
	TaskEvent
}

// TeammateIdle comes when a teammate is about to go idle.
type TeammateIdle struct {
	Agent
	Teammate string `json:"teammate_name"`
	Team     string `json:"team_name"`
}

// Notification tells that a person's attention is wanted. Type is
// permission_prompt, idle_prompt, auth_success, elicitation_dialog, ….
type Notification struct {
	Agent
	Message string `json:"message"`
	Title   string `json:"title,omitempty"`
	Type    string `json:"notification_type"`
}

// MessageDisplay comes before text of a reply is shown.
type MessageDisplay struct {
	Agent
	Turn    string `json:"turn_id"`
	Message string `json:"message_id"`
	Index   int    `json:"index"`
	Final   bool   `json:"final"`
	Delta   string `json:"delta"`
}

// PreCompact comes before history is compacted. Trigger is manual or auto.
type PreCompact struct {
	Agent
	Trigger      string `json:"trigger"`
	Instructions string `json:"custom_instructions"`
}

// PostCompact tells that history was compacted.
type PostCompact struct {
	Agent
	Trigger string `json:"trigger"`
	Summary string `json:"compact_summary"`
}

// ConfigChange comes when a settings or skill file has changed. Source is
// user_settings, project_settings, local_settings, policy_settings or skills.
type ConfigChange struct {
	Agent
	Source string `json:"source"`
	Path   string `json:"file_path,omitempty"`
}

// CwdChanged tells that the conversation moved.
type CwdChanged struct {
	Agent
	Old string `json:"old_cwd"`
	New string `json:"new_cwd"`
}

// DirectoryAdded tells of a further working directory. Source is slash_command
// or register_repo_root.
type DirectoryAdded struct {
	Agent
	Directory string `json:"directory"`
	Source    string `json:"source"`
}

// FileChanged tells of a change of a watched file: change, add or unlink.
type FileChanged struct {
	Agent
	Path   string `json:"file_path"`
	Change string `json:"event"`
}

// WorktreeCreate asks for a worktree; its answer replaces git's own.
type WorktreeCreate struct {
	Agent
	Name string `json:"name"`
}

// WorktreeRemove tells that a worktree is to be cleaned up.
type WorktreeRemove struct {
	Agent
	Path string `json:"worktree_path"`
}

// Elicitation comes when an MCP server asks the user for something.
type Elicitation struct {
	Agent
	Server  string          `json:"mcp_server_name"`
	Message string          `json:"message"`
	Mode    string          `json:"mode,omitempty"`
	URL     string          `json:"url,omitempty"`
	ID      string          `json:"elicitation_id,omitempty"`
	Schema  json.RawMessage `json:"requested_schema,omitempty"`
}

// ElicitationResult comes before the user's answer goes to the server.
type ElicitationResult struct {
	Agent
	Server  string          `json:"mcp_server_name"`
	Action  string          `json:"action"`
	Content json.RawMessage `json:"content,omitempty"`
	Mode    string          `json:"mode,omitempty"`
	ID      string          `json:"elicitation_id,omitempty"`
}

// ModelSwitch is what PreModelSwitch and PostModelSwitch have in common.
type ModelSwitch struct {
	From      string          `json:"from_model"`
	To        string          `json:"to_model"`
	Requested string          `json:"requested_model"`
	Source    string          `json:"source"`
	Tokens    int64           `json:"context_tokens"`
	Warm      bool            `json:"prompt_cache_warm"`
	TTL       string          `json:"cache_ttl"`
	Cost      float64         `json:"estimated_cache_write_usd"`
	Pricing   json.RawMessage `json:"pricing"`
}

// PreModelSwitch comes before another model takes over.
type PreModelSwitch struct {
	Agent
	ModelSwitch
}

// PostModelSwitch tells that another model took over.
type PostModelSwitch struct {
	Agent
	ModelSwitch
}

// PreSkillShellCommand comes before the text of a skill runs a shell command.
type PreSkillShellCommand struct {
	Agent
	ToolCall
	UseID   string `json:"tool_use_id"`
	Command string `json:"command_name"`
	Source  string `json:"command_source,omitempty"`
	// By is user, claude or other.
	By string `json:"invoked_by"`
}

func (i PreToolUse) call() tool.Planned           { return i.Planned }
func (i PermissionRequest) call() tool.Planned    { return i.Planned }
func (i PermissionDenied) call() tool.Planned     { return i.Planned }
func (i PostToolUse) call() tool.Planned          { return i.Planned }
func (i PostToolUseFailure) call() tool.Planned   { return i.Planned }
func (i PreSkillShellCommand) call() tool.Planned { return i.Planned }
