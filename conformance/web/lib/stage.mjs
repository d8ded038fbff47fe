// A page without a server: its files from the tree, answers and the socket from here. For what a real run cannot bring about on
// demand (5,000 messages, hostile content, a server that is away) and for looking at the page.
import { readFileSync } from 'node:fs'
import { dirname, join, extname } from 'node:path'
import { fileURLToPath } from 'node:url'

const assets = join(dirname(fileURLToPath(import.meta.url)), '../../../internal/surface/web/assets')
export const origin = 'http://hew.test'
export const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self' ws://hew.test; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.png': 'image/png', '.webmanifest': 'application/manifest+json', '.txt': 'text/plain' }

export const pageName = () => readFileSync(join(assets, 'page.txt'), 'utf8').trim()

export class Stage {
  // answers: path below /api (without query) → body, or a function of {method, url, body} that gives {status, body} or a body
  constructor(answers = {}) {
    this.answers = { '/me': { client: 'c1', name: 'Test', version: 'test', page: pageName(), read_only: false, home: '/home/ann', cwd: '/home/ann/hew', now: Date.now() }, '/sessions': { sessions: [], total: 0 }, ...answers }
    this.sent = []
    this.asked = []
    this.foreign = []
    this.socket = undefined
    this.opened = () => {}
    this.control = {}
  }

  async on(page) {
    this.page = page
    await page.route('**/*', (route) => this.#serve(route))
    await page.routeWebSocket(/\/socket/, (ws) => {
      this.socket = ws
      ws.onMessage((text) => this.#heard(JSON.parse(text)))
      this.opened(ws)
    })
    return this
  }

  send(message) {
    this.socket.send(JSON.stringify(message))
  }

  hello(session = {}, more = {}) {
    this.send({ type: 'hello', client: 'c1', session: { id: 's1', title: 'Fix the failing test', cwd: '/home/ann/hew', state: 'idle', ...session }, epoch: 'e1', seq: 0, first: 1, mode: 'default', model: 'claude-sonnet-4-5', draft: { text: '', rev: 0 }, read_only: false, version: 'test', page: pageName(), now: Date.now(), ...more })
  }

  #heard(m) {
    this.sent.push(m)
    if (m.type !== 'control_request') return
    const answer = this.control[m.request.subtype]
    const response = typeof answer === 'function' ? answer(m.request) : answer
    this.send({ type: 'control_response', response: response === undefined ? { subtype: 'error', request_id: m.request_id, error: 'unsupported' } : { subtype: 'success', request_id: m.request_id, response } })
  }

  async #serve(route) {
    const request = route.request()
    const url = new URL(request.url())
    if (url.origin !== origin) {
      if (url.protocol.startsWith('http')) this.foreign.push(request.url())
      return url.protocol.startsWith('http') ? route.abort() : route.continue()
    }
    if (!url.pathname.startsWith('/api/')) {
      const name = url.pathname === '/' ? 'index.html' : url.pathname.slice(1)
      try {
        return await route.fulfill({ status: 200, body: readFileSync(join(assets, name)), headers: { 'Content-Type': types[extname(name)] ?? 'text/plain', 'Content-Security-Policy': policy, 'X-Content-Type-Options': 'nosniff' } })
      } catch {
        return route.fulfill({ status: 404, body: '' })
      }
    }
    const path = url.pathname.slice('/api'.length)
    this.asked.push({ method: request.method(), path, url, body: request.postData() ? JSON.parse(request.postData()) : undefined })
    let answer = this.answers[path]
    if (typeof answer === 'function') answer = answer({ method: request.method(), url, body: request.postData() ? JSON.parse(request.postData()) : undefined })
    if (answer === undefined) return route.fulfill({ status: 404, json: { error: { code: 'not_found', message: `there is no ${path}` } } })
    if (answer.picture) return route.fulfill({ status: 200, body: answer.picture, headers: { 'Content-Type': 'image/png' } })
    const status = answer.status && answer.body !== undefined ? answer.status : 200
    return route.fulfill({ status, json: answer.status && answer.body !== undefined ? answer.body : answer })
  }
}
