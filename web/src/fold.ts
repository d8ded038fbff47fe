// What is known of the open conversation: the server's views, put together.

import type { Entry, Hello, Item, Question, Run, ServerMessage, Task, ViewMessage } from './wire'

export interface Waiting {
  uuid: string
  text: string
  images: number
}

export interface Talk {
  id: string
  cwd: string
  // items are finished; the first stands at place `before` of all
  items: Item[]
  before: number
  live: Item[]
  todo: Entry[]
  tasks: Task[]
  run: Run
  window: { used: number; size: number }
  questions: Question[]
  state: string
  mode: string
  model: string
  cost: number
  // known tells that the first view has come
  known: boolean
  // sent and not yet part of the conversation
  waiting: Waiting[]
  closed: { id: string; by: string } | undefined
  problem: { code: string; message: string } | undefined
}

export const still: Run = { busy: false, began_ms: 0, turn: 0, tokens: 0, waits: '', active: '' }

export function fresh(id: string): Talk {
  return {
    id, cwd: '', items: [], before: 0, live: [], todo: [], tasks: [], run: still, window: { used: 0, size: 0 }, questions: [],
    state: '', mode: 'default', model: '', cost: 0, known: false, waiting: [], closed: undefined, problem: undefined,
  }
}

export function hello(t: Talk, h: Hello): Talk {
  return { ...t, cwd: h.session.cwd ?? t.cwd, mode: h.mode || t.mode, model: h.model || t.model, state: h.session.state ?? t.state }
}

export function apply(t: Talk, m: ServerMessage): Talk {
  if (m.type === 'view') return arrived(view(t, m))
  if (m.type === 'control_cancel_request') {
    const was = t.questions.some((q) => q.request_id === m.request_id)
    return {
      ...t,
      questions: t.questions.filter((q) => q.request_id !== m.request_id),
      closed: was ? { id: m.request_id, by: m.answered_by ?? '' } : t.closed,
    }
  }
  if (m.type === 'error') return { ...t, problem: { code: m.code, message: m.message } }
  return t
}

function view(t: Talk, m: ViewMessage): Talk {
  const next = { ...t, known: true }
  if (m.reset) {
    const items = m.items ?? []
    const total = Math.max(m.total ?? 0, items.length)
    // What was loaded of the past stays, when the new end joins it.
    const first = items[0]?.id
    const joint = first === undefined ? -1 : t.items.findIndex((i) => i.id === first)
    next.items = joint > 0 ? [...t.items.slice(0, joint), ...items] : items
    next.before = Math.max(0, total - next.items.length)
    next.live = m.live ?? []
    next.todo = m.todo ?? []
    next.tasks = m.tasks ?? []
    next.questions = m.questions ?? []
    next.run = m.run ?? still
  } else {
    if (m.items?.length) next.items = [...t.items, ...m.items]
    next.live = live(t.live, m)
    if (m.todo !== undefined) next.todo = m.todo ?? []
    if (m.tasks !== undefined) next.tasks = m.tasks ?? []
    if (m.questions !== undefined) next.questions = m.questions ?? []
    if (m.run) next.run = m.run
  }
  if (m.window) next.window = m.window
  if (m.state !== undefined) next.state = m.state
  if (m.mode !== undefined) next.mode = m.mode
  if (m.model !== undefined) next.model = m.model
  if (m.cost_usd !== undefined) next.cost = m.cost_usd
  return next
}

function live(was: Item[], m: ViewMessage): Item[] {
  if (!m.live?.length && !m.grow?.length && !m.gone?.length) return was
  const gone = new Set(m.gone ?? [])
  const out = was.filter((i) => !gone.has(i.id))
  for (const item of m.live ?? []) {
    const at = out.findIndex((i) => i.id === item.id)
    if (at < 0) out.push(item)
    else out[at] = item
  }
  for (const g of m.grow ?? []) {
    const at = out.findIndex((i) => i.id === g.id)
    const item = out[at]
    if (item && 'text' in item) out[at] = { ...item, text: item.text + g.more }
  }
  return out
}

// arrived takes out of `waiting` what has become part of the conversation.
function arrived(t: Talk): Talk {
  if (!t.waiting.length) return t
  const here = new Set([...t.items.slice(-400), ...t.live].map((i) => i.id))
  const waiting = t.waiting.filter((w) => !here.has(w.uuid))
  return waiting.length === t.waiting.length ? t : { ...t, waiting }
}

// older puts items of the past in front.
export function older(t: Talk, items: Item[], total: number): Talk {
  const have = new Set(t.items.map((i) => i.id))
  const added = items.filter((i) => !have.has(i.id))
  const all = [...added, ...t.items]
  return { ...t, items: all, before: added.length ? Math.max(0, total - all.length) : 0 }
}
