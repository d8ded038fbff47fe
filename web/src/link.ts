// The socket of one conversation: opens it, opens it again when it broke, and hands on what it says.

import { of } from './api'
import type { Hello, Obj, ServerMessage } from './wire'

export type LinkState = 'opening' | 'open' | 'lost' | 'out' | 'gone'

export interface LinkEvents {
  state(state: LinkState): void
  hello(h: Hello, again: boolean): void
  message(m: ServerMessage): void
}

// Pauses between tries, in ms; the last one repeats.
const pauses = [250, 500, 1000, 2000, 4000, 8000]

export class Link {
  private socket: WebSocket | undefined
  private timer = 0
  private tries = 0
  // the server has said hello on this socket
  private greeted = false
  private ended = false
  private epoch = ''
  private seq = 0
  private serial = 0
  private readonly calls = new Map<string, { done(r: Obj): void; failed(e: Error): void }>()

  constructor(
    private readonly id: string,
    private readonly events: LinkEvents,
  ) {
    this.open()
    addEventListener('online', this.now)
    document.addEventListener('visibilitychange', this.now)
  }

  close(): void {
    this.ended = true
    clearTimeout(this.timer)
    removeEventListener('online', this.now)
    document.removeEventListener('visibilitychange', this.now)
    this.socket?.close()
    this.drop('the page has left the conversation')
  }

  // send reports whether the message went out.
  send(message: object): boolean {
    if (!this.greeted || this.socket?.readyState !== WebSocket.OPEN) return false
    this.socket.send(JSON.stringify(message))
    return true
  }

  // ask makes a control request and waits for its answer.
  ask(request: { subtype: string } & Obj): Promise<Obj> {
    const id = `p${++this.serial}`
    return new Promise((done, failed) => {
      this.calls.set(id, { done, failed })
      if (!this.send({ type: 'control_request', request_id: id, request })) {
        this.calls.delete(id)
        failed(new Error('there is no connection to hew'))
      }
    })
  }

  private readonly now = () => {
    if (this.ended || this.socket || document.visibilityState === 'hidden') return
    clearTimeout(this.timer)
    this.open()
  }

  private open(): void {
    const after = this.epoch ? `&after=${encodeURIComponent(`${this.epoch}:${this.seq}`)}` : ''
    const socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/api${of(this.id)}/socket?want=view${after}`)
    this.socket = socket
    this.greeted = false
    if (this.tries === 0) this.events.state('opening')
    socket.onmessage = (e) => {
      if (typeof e.data === 'string' && socket === this.socket) this.read(e.data)
    }
    socket.onclose = (e) => this.lost(socket, e.code)
  }

  private read(text: string): void {
    const m = JSON.parse(text) as ServerMessage & { seq?: number }
    if (typeof m.seq === 'number') this.seq = Math.max(this.seq, m.seq)
    if (m.type === 'hello') {
      const again = this.epoch !== ''
      this.epoch = m.epoch
      this.greeted = true
      this.seq = m.seq
      this.tries = 0
      this.events.state('open')
      this.events.hello(m, again)
    } else if (m.type === 'control_response') {
      const call = this.calls.get(m.response.request_id)
      this.calls.delete(m.response.request_id)
      if (m.response.subtype === 'success') call?.done(m.response.response ?? {})
      else call?.failed(new Error(m.response.error ?? 'hew refused this'))
    } else this.events.message(m)
  }

  private lost(socket: WebSocket, code: number): void {
    if (socket !== this.socket) return
    this.socket = undefined
    this.drop('the connection broke before an answer came')
    if (this.ended) return
    if (code === 4001 || code === 4004) {
      this.events.state(code === 4001 ? 'out' : 'gone')
      return
    }
    this.events.state('lost')
    const pause = pauses[Math.min(this.tries, pauses.length - 1)]!
    this.tries++
    // A little apart, so that many pages do not come back at the same moment.
    this.timer = window.setTimeout(() => this.open(), pause * (0.75 + Math.random() / 2))
  }

  private drop(why: string): void {
    for (const call of this.calls.values()) call.failed(new Error(why))
    this.calls.clear()
  }
}
