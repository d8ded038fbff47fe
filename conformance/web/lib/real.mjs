// The real binary: hew serve in a home and a project of its own, against the scripted model.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { until } from './tools.mjs'

export class Real {
  constructor(bin) {
    this.bin = bin
    this.served = []
    this.root = fs.mkdtempSync(path.join(os.tmpdir(), 'hew-web-'))
  }

  // serve starts a server. script is a scenario of the scripted model, files the project's, settings the user's.
  async serve({ script, files = {}, args = [], settings } = {}) {
    const s = new Served(this, fs.mkdtempSync(path.join(this.root, 's-')), { script, files, args, settings })
    this.served.push(s)
    await s.start()
    return s
  }

  async close() {
    for (const s of this.served) await s.stop()
    fs.rmSync(this.root, { recursive: true, force: true })
  }
}

class Served {
  constructor(real, dir, { script, files, args, settings }) {
    this.real = real
    this.home = path.join(dir, 'home')
    this.project = path.join(dir, 'project')
    this.args = args
    this.listen = '127.0.0.1:0'
    fs.mkdirSync(this.home)
    fs.mkdirSync(this.project)
    if (settings) {
      fs.mkdirSync(path.join(this.home, '.claude'))
      fs.writeFileSync(path.join(this.home, '.claude', 'settings.json'), JSON.stringify(settings))
    }
    this.script = path.join(dir, 'script.json')
    fs.writeFileSync(this.script, JSON.stringify(script ?? { steps: [] }))
    for (const [name, text] of Object.entries(files)) {
      fs.mkdirSync(path.dirname(path.join(this.project, name)), { recursive: true })
      fs.writeFileSync(path.join(this.project, name), text)
    }
  }

  async start() {
    const env = { ...process.env, HOME: this.home }
    for (const k of Object.keys(env)) if (/^(ANTHROPIC_|CLAUDE|HEW_)/.test(k)) delete env[k]
    this.out = ''
    this.process = spawn(this.real.bin, ['serve', '--no-open', '--listen', this.listen, '--model', `script:${this.script}`, ...this.args], { cwd: this.project, env, stdio: ['ignore', 'pipe', 'pipe'] })
    this.process.stdout.on('data', (b) => (this.out += b))
    this.process.stderr.on('data', (b) => (this.out += b))
    const link = await until('the link of hew serve', () => /(https?:\/\/\S+\/login\?token=\S+)/.exec(this.out)?.[1] ?? (this.process.exitCode === null ? '' : Promise.reject(new Error(`hew serve ended: ${this.out}`))))
    this.link = link
    this.base = new URL(link).origin
    // The next start is at the same place: the page that is open comes back.
    this.listen = new URL(link).host
  }

  async stop(signal = 'SIGTERM') {
    if (!this.process || this.process.exitCode !== null || this.process.signalCode !== null) return
    const ended = new Promise((r) => this.process.once('exit', r))
    this.process.kill(signal)
    await ended
  }

  // enter signs a page in and opens a new session in the project.
  async enter(page) {
    await page.goto(this.link)
    await page.locator('#app').getByText('What should be done?').first().waitFor()
    return page
  }

  async open(page) {
    await this.enter(page)
    await page.getByRole('main').getByRole('button', { name: 'New session' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Open' }).click()
    await page.getByRole('combobox', { name: 'Message' }).waitFor()
    return page
  }

  read(name) {
    try {
      return fs.readFileSync(path.join(this.project, name), 'utf8')
    } catch {
      return undefined
    }
  }
}

export const say = async (page, text) => {
  await page.getByRole('combobox', { name: 'Message' }).fill(text)
  await page.getByRole('combobox', { name: 'Message' }).press('Enter')
}

// answer presses a button of the question. A press that comes right behind the question is not heard, as it should be: it is given
// again until it counts.
export const answer = async (page, name) => {
  const ask = page.locator('[data-ask]').first()
  await ask.waitFor()
  const words = await ask.innerText()
  await until(`the answer ${name}`, async () => {
    if ((await page.locator('[data-ask]').count()) === 0 || (await ask.innerText().catch(() => '')) !== words) return true
    await ask.getByRole('button', { name }).first().click({ timeout: 1000 }).catch(() => {})
    return false
  })
}
