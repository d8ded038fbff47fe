// What the page as a whole knows: who one is, the list of sessions, the conversation that is open.

import { get, Refusal } from './api'
import { Conversation } from './conversation'
import { kept, Store } from './store'
import type { Hello, Me, Row } from './wire'

// The build writes the page's name here; a server that has another page says so in hello.
declare const PAGE_NAME: string

export interface App {
  me: Me | undefined
  rows: Row[]
  total: number
  query: string
  // what keeps the page from working: signed out, or the server is away
  out: '' | 'signed out' | 'away'
  stale: boolean
  open: Conversation | undefined
  panel: '' | 'sessions' | 'details'
  dialog: '' | 'keys' | 'new' | 'rewind' | 'context' | 'settings' | 'link'
}

export const app = new Store<App>({ me: undefined, rows: [], total: 0, query: '', out: '', stale: false, open: undefined, panel: '', dialog: '' })

let asked = 0

export async function loadRows(query = app.get().query, limit = 60): Promise<void> {
  const mine = ++asked
  try {
    const answer = await get<{ sessions: Row[] | null; total: number }>(`/sessions?q=${encodeURIComponent(query)}&limit=${limit}`)
    if (mine === asked) app.patch({ rows: answer.sessions ?? [], total: answer.total, query, out: '' })
  } catch (e) {
    failed(e)
  }
}

export function failed(e: unknown): void {
  if (!(e instanceof Refusal)) return
  if (e.status === 401) app.patch({ out: 'signed out' })
  else if (e.status === 0) app.patch({ out: 'away' })
}

export async function begin(): Promise<void> {
  try {
    const me = await get<Me>('/me')
    app.patch({ me, out: '' })
    checkPage(me.page)
  } catch (e) {
    failed(e)
  }
  void loadRows()
  route()
  addEventListener('hashchange', route)
  // The list is looked at again now and then, and when a person comes back.
  setInterval(() => {
    if (document.visibilityState === 'visible') void loadRows()
  }, 10_000)
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') void loadRows()
  })
}

function checkPage(page: string | undefined): void {
  if (page && page !== PAGE_NAME) app.patch({ stale: true })
}

// nearby is a path as it is called inside of the open conversation's folder.
export function nearby(path: string): string {
  const cwd = app.get().open?.talk.get().cwd
  return cwd && path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path
}

export const goTo = (id: string) => {
  location.hash = id ? `#/s/${encodeURIComponent(id)}` : '#/'
}

function route(): void {
  const id = decodeURIComponent(/^#\/s\/(.+)$/.exec(location.hash)?.[1] ?? '')
  const { open } = app.get()
  if (open?.id === id) return
  open?.close()
  const next = id ? new Conversation(id, met) : undefined
  if (id) kept.set('last', id)
  app.patch({ open: next, panel: '', dialog: '' })
  // The list knows at once what the open conversation knows.
  next?.talk.subscribe(() => {
    const { state, id: own } = next.talk.get()
    const { rows, open: now } = app.get()
    const row = rows.find((r) => r.id === own)
    if (now !== next || !row || !state || row.state === state) return
    app.patch({ rows: rows.map((r) => (r === row ? { ...r, state: state as Row['state'] } : r)) })
    if (state === 'idle') void loadRows()
  })
}

function met(h: Hello): void {
  checkPage(h.page)
  const rows = app.get().rows
  if (rows.some((r) => r.id === h.session.id)) app.patch({ rows: rows.map((r) => (r.id === h.session.id ? { ...r, ...h.session } : r)), out: '' })
  else void loadRows()
}
