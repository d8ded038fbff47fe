// A conversation that has one of everything.
const at = 1_790_000_000_000

export const rows = [
  { id: 's1', title: 'Fix the failing test', first_prompt: 'The test fails', cwd: '/home/ann/hew', branch: 'main', modified_ms: Date.now() - 20_000, state: 'running' },
  { id: 's2', title: 'Explain the loop', cwd: '/home/ann/hew', modified_ms: Date.now() - 3_600_000, state: 'idle' },
  { id: 's3', first_prompt: 'Write a parser for the settings of the old version and compare what both read', cwd: '/home/ann/settings', modified_ms: Date.now() - 86_400_000 * 2, state: 'waiting' },
  { id: 's4', title: 'Upgrade dependencies', cwd: '/srv/shop', modified_ms: Date.now() - 86_400_000 * 9, state: 'asleep' },
]

const call = (id, more) => ({ kind: 'call', id, tool: 'Read', title: 'Read', act: 'read', status: 'done', preview: null, view: null, text: '', progress: '', why: 'reading inside the folder is allowed', took_ms: 12, agent: '', within: null, within_count: 0, ...more })

export const diff = {
  kind: 'diff', path: 'internal/clock/clock.go', old: '', new: '', created: false,
  hunks: [{ oldStart: 11, oldLines: 7, newStart: 11, newLines: 9, lines: [' // Until returns how long it is until t.', ' func (c Clock) Until(t time.Time) time.Duration {', '-\treturn t.Sub(time.Now())', '+\tif t.IsZero() {', '+\t\treturn 0', '+\t}', '+\treturn t.Sub(c.Now())', ' }', ' ', ' // Tick sends the time every d.'] }],
}

export const items = [
  { kind: 'prompt', id: 'u1', text: 'TestUntil fails since yesterday. Find out why and repair it, please.', images: 0, source: 'prompt', at },
  { kind: 'thought', id: 'b1', text: 'The test uses a fake clock, so `time.Now` must be used somewhere.', open: false, took_ms: 2400 },
  { kind: 'reply', id: 'b2', text: "I'll look at the test and at the code that it calls.", open: false },
  call('t1', { title: 'Read internal/clock/clock_test.go', view: { kind: 'text', text: 'package clock\n\nfunc TestUntil(t *testing.T) {\n' }, text: 'package clock' }),
  call('t2', { tool: 'Grep', title: 'Search for time.Now', act: 'search', view: { kind: 'list', title: '3 files', items: [{ text: 'internal/clock/clock.go', state: '' }, { text: 'cmd/hew/main.go', state: '' }] } }),
  call('t3', { tool: 'Bash', title: 'go test ./internal/clock', act: 'execute', status: 'failed', took_ms: 3240, view: { kind: 'terminal', command: 'go test ./internal/clock', output: '--- \x1b[31mFAIL\x1b[0m: TestUntil (0.00s)\n    clock_test.go:14: got 1h0m0.2s, want 1h0m0s\n\x1b[1mFAIL\x1b[0m\n', exit_code: 1 }, text: 'FAIL' }),
  {
    kind: 'reply', id: 'b3', open: false,
    text: [
      '`Until` asks the real clock although it has one of its own. Two places matter:', '', '| place | clock | right |', '|---|---|---:|', '| `clock.go:13` | `time.Now()` | no |', '| `clock.go:22` | `c.Now()` | yes |', '',
      'The repair is one line; a zero time should give zero:', '', '```go', '// Until returns how long it is until t.', 'func (c Clock) Until(t time.Time) time.Duration {', '\tif t.IsZero() {', '\t\treturn 0', '\t}', '\treturn t.Sub(c.Now())', '}', '```', '',
      '1. Change **clock.go**', '2. Run the package’s tests', '3. Look for *other* uses of the real clock, see [the rules](https://example.com/rules)',
    ].join('\n'),
  },
  call('t4', { tool: 'Edit', title: 'Edit internal/clock/clock.go', act: 'edit', view: diff, took_ms: 8 }),
  call('t5', { tool: 'Agent', title: 'Look for other uses of the real clock', act: 'other', took_ms: 18_300, within: ['Search for time.Now', 'Read cmd/hew/main.go', 'Read internal/app/run.go'], within_count: 9, text: 'Two more places, both in main: fine there.' }),
  { kind: 'note', id: 'n1', level: 'warning', code: 'x', text: 'the settings file .claude/settings.json has a key that hew does not know: "colour"' },
]

export const live = [
  call('t6', { tool: 'Bash', title: 'go test ./...', act: 'execute', status: 'running', progress: 'ok  \tinternal/arch\t1.2s\n\x1b[32mok\x1b[0m  \tinternal/clock\t0.1s\nok  \tinternal/core/loop\t2.9s\n', took_ms: 0 }),
]

export const todo = [
  { text: 'Find why TestUntil fails', state: 'completed' },
  { text: 'Use the clock of its own', state: 'completed' },
  { text: 'Run all tests', state: 'in_progress' },
  { text: 'Write the changelog entry', state: 'pending' },
]

export const tasks = [
  { id: 'a1', kind: 'agent', status: 'running', summary: 'Look for other uses of the real clock', tool_use_id: 't5', foreground: false, subagent_type: 'Explore', depth: 1, last_tool: 'Grep', tokens: 18_400, calls: 9, took_ms: 18_300 },
  { id: 'a2', kind: 'agent', status: 'completed', summary: 'Read the history of clock.go', subagent_type: 'Explore', depth: 2, tokens: 4100, calls: 3, took_ms: 6000, foreground: false },
  { id: 'j1', kind: 'shell', status: 'running', summary: 'npm run dev', foreground: false, took_ms: 0 },
]

export const view = (more = {}) => ({
  type: 'view', rev: 1, reset: true, total: items.length, items, live, todo, tasks, run: { busy: true, began_ms: Date.now() - 42_000, turn: 4, tokens: 1840, waits: '', active: 'Run all tests' },
  window: { used: 41_200, size: 200_000 }, questions: [], state: 'running', mode: 'default', model: 'claude-sonnet-4-5', cost_usd: 0.0834, ...more,
})
