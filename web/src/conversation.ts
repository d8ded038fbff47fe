// The conversation that the page shows: its state, and everything that a person can do to it.

import { get, of } from './api'
import { apply, fresh, hello, older, type Talk, type Waiting } from './fold'
import { Link, type LinkState } from './link'
import { say } from './say'
import { kept, Store } from './store'
import { line } from './text/visible'
import type { Hello, Item, Obj, Question, ServerMessage } from './wire'

export interface Picture {
  name: string
  media: string
  data: string
}

export class Conversation {
  readonly talk: Store<Talk>
  readonly link: Store<LinkState>
  readonly readOnly = new Store(false)
  // the draft as another client, or this one before a reload, left it
  readonly draft = new Store<{ text: string; foreign: number }>({ text: '', foreign: 0 })
  private readonly wire: Link
  private inbox: ServerMessage[] = []
  private due = false
  private draftTimer = 0
  private loading = false

  constructor(
    readonly id: string,
    private readonly met: (h: Hello) => void,
  ) {
    this.talk = new Store(fresh(id))
    this.link = new Store<LinkState>('opening')
    this.draft.set({ text: kept.get(`draft.${id}`), foreign: 0 })
    this.talk.patch({ waiting: stored(id) })
    this.wire = new Link(id, {
      state: (s) => this.link.set(s),
      hello: (h) => this.begin(h),
      message: (m) => this.take(m),
    })
  }

  close(): void {
    clearTimeout(this.draftTimer)
    this.wire.close()
  }

  private begin(h: Hello): void {
    this.readOnly.set(h.read_only)
    this.talk.set(hello(this.talk.get(), h))
    const mine = this.draft.get().text
    if (!mine && h.draft.text) this.draft.set({ text: h.draft.text, foreign: this.draft.get().foreign + 1 })
    else if (mine && mine !== h.draft.text) this.wire.send({ type: 'draft', text: mine })
    this.met(h)
    for (const w of this.talk.get().waiting) if (!w.images) this.post(w, [])
  }

  // Messages are put together once a frame: a stream of 200 words a second draws 60 times at most.
  private take(m: ServerMessage): void {
    if (m.type === 'draft') {
      this.draft.set({ text: m.text, foreign: this.draft.get().foreign + 1 })
      kept.set(`draft.${this.id}`, m.text)
      return
    }
    this.inbox.push(m)
    if (this.due) return
    this.due = true
    const draw = () => {
      this.due = false
      const all = this.inbox
      this.inbox = []
      const before = this.talk.get()
      const after = all.reduce(apply, before)
      this.talk.set(after)
      announce(before, after)
      if (after.waiting !== before.waiting) store(this.id, after.waiting)
    }
    if (document.visibilityState === 'hidden') window.setTimeout(draw, 200)
    else requestAnimationFrame(draw)
  }

  // say sends a prompt; while hew works it steers.
  say(text: string, pictures: Picture[]): void {
    const w: Waiting = { uuid: uuid(), text, images: pictures.length }
    const waiting = [...this.talk.get().waiting, w]
    this.talk.patch({ waiting, problem: undefined })
    store(this.id, waiting)
    this.post(w, pictures)
  }

  private post(w: Waiting, pictures: Picture[]): void {
    const content = [
      ...pictures.map((p) => ({ type: 'image', source: { type: 'base64', media_type: p.media, data: p.data } })),
      { type: 'text', text: w.text },
    ]
    this.wire.send({ type: 'user', message: { role: 'user', content: pictures.length ? content : w.text }, parent_tool_use_id: null, session_id: '', uuid: w.uuid })
  }

  // takeBack fetches a prompt back that the model has not seen.
  async takeBack(w: Waiting): Promise<boolean> {
    const answer = await this.wire.ask({ subtype: 'cancel_async_message', message_uuid: w.uuid }).catch(() => ({ cancelled: false }) as Obj)
    const cancelled = answer.cancelled !== false
    if (cancelled) this.forget(w.uuid)
    return cancelled
  }

  private forget(uuid: string): void {
    const waiting = this.talk.get().waiting.filter((w) => w.uuid !== uuid)
    this.talk.patch({ waiting })
    store(this.id, waiting)
  }

  write(text: string): void {
    this.draft.set({ ...this.draft.get(), text })
    kept.set(`draft.${this.id}`, text)
    clearTimeout(this.draftTimer)
    this.draftTimer = window.setTimeout(() => this.wire.send({ type: 'draft', text }), 300)
  }

  answer(q: Question, response: Obj): void {
    this.talk.patch({ problem: undefined })
    this.wire.send({ type: 'control_response', response: { subtype: 'success', request_id: q.request_id, response } })
  }

  ask(subtype: string, more: Obj = {}): Promise<Obj> {
    return this.wire.ask({ subtype, ...more })
  }

  read<T>(what: string): Promise<T> {
    return get<T>(`${of(this.id)}/${what}`)
  }

  // loadOlder fetches what stands before the first item, if anything does.
  async loadOlder(): Promise<void> {
    const t = this.talk.get()
    const first = t.items[0]
    if (this.loading || !t.before || !first) return
    this.loading = true
    try {
      const page = await this.read<{ items: Item[]; total: number }>(`items?before=${encodeURIComponent(first.id)}&limit=200`)
      this.talk.set(older(this.talk.get(), page.items, page.total))
    } finally {
      this.loading = false
    }
  }
}

// announce says to a screen reader what has come to an end: replies, and runs that did not end well.
function announce(before: Talk, after: Talk): void {
  if (!before.known || before.items === after.items || after.items.length < before.items.length) return
  const parts: string[] = []
  for (const item of after.items.slice(before.items.length)) {
    if (item.kind === 'reply') parts.push(`hew: ${line(item.text.replace(/```[\s\S]*?```/g, ' code. ').replace(/[*_`#>|]/g, '')).slice(0, 500)}`)
    else if (item.kind === 'note' && item.level !== 'info') parts.push(line(item.text).slice(0, 300))
    else if (item.kind === 'call' && item.status === 'failed') parts.push(`failed: ${line(item.title)}`)
    else if (item.kind === 'ending') parts.push(item.reason === 'completed' ? 'Done.' : `Ended: ${line(item.detail || item.reason)}`)
  }
  if (parts.length) say(parts.join(' '))
}

// uuid is a random id. crypto.randomUUID is kept from pages that came without TLS from another machine.
function uuid(): string {
  const b = crypto.getRandomValues(new Uint8Array(16))
  b[6] = (b[6]! & 0x0f) | 0x40
  b[8] = (b[8]! & 0x3f) | 0x80
  const hex = [...b].map((x) => x.toString(16).padStart(2, '0')).join('')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

function stored(id: string): Waiting[] {
  try {
    const read = JSON.parse(kept.get(`waiting.${id}`) || '[]') as Waiting[]
    return Array.isArray(read) ? read.filter((w) => typeof w.uuid === 'string' && typeof w.text === 'string' && !w.images) : []
  } catch {
    return []
  }
}

function store(id: string, waiting: Waiting[]): void {
  kept.set(`waiting.${id}`, waiting.length ? JSON.stringify(waiting) : '')
}
