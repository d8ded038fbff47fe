// The words of the socket and of /api, as docs/serve.md has them.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json | undefined }
export type Obj = Record<string, Json | undefined>

export interface Row {
  id: string
  title?: string
  first_prompt?: string
  last_prompt?: string
  cwd?: string
  branch?: string
  modified_ms?: number
  size?: number
  fork_of?: string
  tag?: string
  state?: 'asleep' | 'idle' | 'running' | 'waiting'
  questions?: number
  clients?: number
  problem?: string
  hits?: { line: number; kind: string; snippet: string }[]
}

export interface Me {
  client: string
  name: string
  version: string
  page: string
  read_only: boolean
  home: string
  cwd: string
  now: number
}

export interface Hunk {
  oldStart: number
  oldLines: number
  newStart: number
  newLines: number
  lines: string[]
}

export type View =
  | { kind: 'text'; text: string }
  | { kind: 'diff'; path: string; old: string; new: string; created: boolean; hunks: Hunk[] | null }
  | { kind: 'terminal'; command: string; output: string; exit_code: number }
  | { kind: 'list'; title: string; items: Entry[] }
  | { kind: 'table'; header: string[] | null; rows: string[][] | null }
  | { kind: 'nested'; title: string; views: View[] }

export interface Entry {
  text: string
  state: string
}

export interface Call {
  kind: 'call'
  id: string
  tool: string
  title: string
  act: string
  status: 'pending' | 'running' | 'done' | 'failed' | 'refused'
  preview: View | null
  view: View | null
  text: string
  progress: string
  why: string
  took_ms: number
  agent: string
  within: string[] | null
  within_count: number
  images?: number
}

export interface Prompt {
  kind: 'prompt'
  id: string
  text: string
  images: number
  source: string
  at: number
}

export interface Ending {
  kind: 'ending'
  id: string
  reason: string
  detail: string
  took_ms: number
  tokens: number
  cost_usd: number
  signals: { kind: string; detail: string }[] | null
}

export type Item =
  | Prompt
  | { kind: 'reply'; id: string; text: string; open: boolean }
  | { kind: 'thought'; id: string; text: string; open: boolean; took_ms: number }
  | Call
  | { kind: 'note'; id: string; level: string; code: string; text: string }
  | { kind: 'command'; id: string; name: string; args: string; output: string; failed: boolean }
  | { kind: 'compaction'; id: string; trigger: string; before: number; after: number; took_ms: number }
  | Ending

export interface Task {
  id: string
  kind?: string
  status?: string
  summary?: string
  tool_use_id?: string
  foreground?: boolean
  subagent_type?: string
  prompt?: string
  depth?: number
  last_tool?: string
  tokens?: number
  calls?: number
  took_ms?: number
}

export interface Run {
  busy: boolean
  began_ms: number
  turn: number
  tokens: number
  waits: string
  active: string
}

export interface Rule {
  toolName: string
  ruleContent?: string
}

export interface Suggestion {
  type: string
  rules?: Rule[]
  behavior?: string
  mode?: string
  directories?: string[]
  destination: string
}

export interface Ask {
  subtype: string
  tool_name?: string
  display_name?: string
  input?: Obj
  description?: string
  decision_reason?: string
  decision_reason_type?: string
  blocked_path?: string
  permission_suggestions?: Suggestion[]
  agent_id?: string
  // elicitation
  mcp_server_name?: string
  message?: string
  mode?: string
  url?: string
  requested_schema?: Obj
  // request_user_dialog
  dialog_kind?: string
  payload?: Obj
}

export interface Question {
  request_id: string
  request: Ask
  kind: string
  preview: View | null
  title: string
  risk: string
  agent: string
  asked_ms: number
}

export interface Hello {
  type: 'hello'
  client: string
  session: Row
  epoch: string
  seq: number
  mode: string
  model: string
  draft: { text: string; rev: number }
  read_only: boolean
  version: string
  page: string
  now: number
}

export interface ViewMessage {
  type: 'view'
  rev: number
  reset?: boolean
  total?: number
  items?: Item[]
  live?: Item[]
  grow?: { id: string; more: string }[]
  gone?: string[]
  todo?: Entry[] | null
  tasks?: Task[] | null
  run?: Run
  window?: { used: number; size: number }
  questions?: Question[] | null
  state?: string
  mode?: string
  model?: string
  cost_usd?: number
}

export type ServerMessage =
  | Hello
  | ViewMessage
  | { type: 'control_request'; request_id: string; request: Ask }
  | { type: 'control_cancel_request'; request_id: string; answered_by?: string }
  | { type: 'control_response'; response: { subtype: string; request_id: string; response?: Obj; error?: string } }
  | { type: 'draft'; text: string; rev: number; client: string }
  | { type: 'error'; code: string; message: string; request_id?: string }
