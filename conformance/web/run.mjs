// node run.mjs --bin HEW [--only substring[,substring]] [--fast] [--list] [--show] [--shots DIR]
// Drives the page of `HEW serve` with the machine's Chromium. Checks of stage*.mjs play the server themselves, the others run the
// binary against the scripted model. `--shots goldens` draws anew the pictures that are kept for people: nothing compares them, since
// fonts differ. Last line: "N passed, N failed". Exit code 0 only when nothing failed.
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { findChromium } from './lib/chromium.mjs'
import { Real } from './lib/real.mjs'

const here = path.dirname(fileURLToPath(import.meta.url))
const argv = process.argv.slice(2)
const opt = (k, d) => { const i = argv.indexOf(`--${k}`); return i < 0 ? d : argv[i + 1] }
const flag = (k) => argv.includes(`--${k}`)

const executablePath = findChromium()
if (!executablePath) {
  console.log('left out: the page of hew serve in a browser (needs Chromium)')
  process.exit(0)
}

let all = []
for (const file of fs.readdirSync(path.join(here, 'checks')).filter((f) => f.endsWith('.mjs')).sort()) {
  const mod = await import(path.join(here, 'checks', file))
  for (const [name, run] of Object.entries(mod.checks)) all.push({ file, name, run, fast: mod.fast?.includes(name) })
}
if (flag('fast')) all = all.filter((c) => c.fast)
if (opt('only')) all = all.filter((c) => opt('only').split(',').some((p) => c.name.includes(p)))
if (flag('list')) {
  for (const c of all) console.log(`${c.name}  (${c.file})`)
  process.exit(0)
}

const bin = opt('bin') && path.resolve(opt('bin'))
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
const real = bin ? new Real(bin) : undefined
const shots = opt('shots')
const bad = []
let passed = 0

async function one(c) {
  const began = Date.now()
  const ctx = { browser, real, notes: [], faults: [], contexts: [] }
  // context gives a page whose every complaint fails the check.
  ctx.open = async (options = {}) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce', ...options })
    ctx.contexts.push(context)
    const page = await context.newPage()
    page.setDefaultTimeout(30_000)
    page.on('pageerror', (e) => ctx.faults.push(`error in the page: ${e.message}`))
    page.on('console', (m) => {
      if (m.type() === 'error' && !/Failed to load resource|WebSocket connection/.test(m.text())) ctx.faults.push(`the page complains: ${m.text()}`)
    })
    return page
  }
  ctx.shot = async (page, name) => {
    if (shots) await page.screenshot({ path: path.join(shots, `${name}.png`) })
  }
  let failure
  const limit = new Promise((_, no) => setTimeout(() => no(new Error('took longer than 120 s')), 120_000).unref())
  try {
    if (!c.file.startsWith('stage') && !real) throw new Error('needs --bin HEW')
    await Promise.race([c.run(ctx), limit])
    if (ctx.faults.length) throw new Error(ctx.faults.join('\n'))
  } catch (e) {
    failure = e
  }
  if (failure && flag('show')) for (const context of ctx.contexts) for (const page of context.pages()) console.log(`     ${page.url()}\n${await page.locator('main').innerText().catch(() => '')}`)
  for (const context of ctx.contexts) await context.close().catch(() => {})
  await ctx.cleanup?.()
  const ms = Date.now() - began
  if (!failure) {
    passed++
    console.log(`ok   ${c.name} (${ms} ms)${ctx.notes.length ? ` ${ctx.notes.join(', ')}` : ''}`)
  } else {
    bad.push(c.name)
    console.log(`FAIL ${c.name} (${ms} ms)\n${[failure.stack ?? failure, ...ctx.faults].join('\n').split('\n').map((l) => `     ${l}`).join('\n')}`)
  }
}

if (shots) fs.mkdirSync(shots, { recursive: true })
const queue = [...all]
await Promise.all(Array.from({ length: Number(opt('jobs', 2)) }, async () => { while (queue.length) await one(queue.shift()) }))
await browser.close()
await real?.close()
if (bad.length) console.log(`failed: ${bad.sort().join(', ')}`)
console.log(`${passed} passed, ${bad.length} failed`)
process.exit(bad.length || !passed ? 1 : 0)
