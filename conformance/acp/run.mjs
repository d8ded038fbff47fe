// node run.mjs --agent "COMMAND ARGS..." [--only substring[,substring]] [--jobs N] [--timeout S] [--keep] [--list]
// node run.mjs --bin HEW [...]: "HEW acp", then the public adapter with HEW as its executable, when its packages are installed in adapter/.
// Each check runs in its own node process with its own HOME and working folder.
// Last line: "N passed, N failed". Exit code 0 only when nothing failed.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const here = path.dirname(fileURLToPath(import.meta.url))
const argv = process.argv.slice(2)
const opt = (k, d) => { const i = argv.indexOf('--' + k); return i < 0 ? d : argv[i + 1] }
const flag = k => argv.includes('--' + k)
const files = fs.readdirSync(path.join(here, 'checks')).filter(f => f.endsWith('.mjs')).sort()
let all = []
for (const f of files) {
  const mod = await import(path.join(here, 'checks', f))
  for (const name of Object.keys(mod.checks)) all.push({ file: f, name })
}
if (opt('only')) { const pats = opt('only').split(','); all = all.filter(c => pats.some(p => c.name.includes(p))) }
if (flag('list')) { for (const c of all) console.log(`${c.name}  (${c.file})`); process.exit(0) }
const bin = opt('bin') && path.resolve(opt('bin'))
const adapter = path.join(here, 'adapter', 'node_modules', '@agentclientprotocol', 'claude-agent-acp', 'dist', 'index.js')
const agents = bin ? [`${bin} acp`] : opt('agent') ? [opt('agent')] : []
if (bin && fs.existsSync(adapter)) agents.push(`env CLAUDE_CODE_EXECUTABLE=${bin} ${process.execPath} ${adapter}`)
if (!agents.length) { console.error('need --agent "COMMAND ARGS..." (split on spaces), or --bin HEW'); process.exit(2) }
const jobs = Number(opt('jobs', 2)), limit = Number(opt('timeout', 150)) * 1000
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'acpconf-'))
let passed = 0, failed = 0
const bad = []

function one({ agent, at, ...c }) {
  return new Promise(done => {
    const box = path.join(root, at, c.name); fs.mkdirSync(path.join(box, 'home'), { recursive: true }); fs.mkdirSync(path.join(box, 'work'))
    const env = { ...process.env, HOME: path.join(box, 'home'), CONFORMANCE_BOX: box, CONFORMANCE_AGENT: agent, CONFORMANCE_CHECK: c.name }
    for (const k of Object.keys(env)) if (/^(ANTHROPIC_|CLAUDE_|CLAUDECODE)/.test(k)) delete env[k]
    const t0 = Date.now(); let out = ''
    const p = spawn(process.execPath, [path.join(here, 'lib', 'worker.mjs'), path.join(here, 'checks', c.file), c.name], { env, cwd: path.join(box, 'work'), stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    p.stdout.on('data', b => out += b); p.stderr.on('data', b => out += b)
    const timer = setTimeout(() => { out += `\ntimed out after ${limit / 1000}s`; try { process.kill(-p.pid, 'SIGKILL') } catch {} }, limit)
    p.on('close', code => {
      clearTimeout(timer); try { process.kill(-p.pid, 'SIGKILL') } catch {}
      const ms = Date.now() - t0
      if (code === 0) { passed++; console.log(`ok   ${at === '0' ? '' : 'adapter: '}${c.name} (${ms} ms)`) }
      else { failed++; bad.push(c.name); console.log(`FAIL ${at === '0' ? '' : 'adapter: '}${c.name} (${ms} ms)\n${out.trim().split('\n').map(l => '     ' + l).join('\n')}`) }
      done()
    })
  })
}
const queue = agents.flatMap((agent, i) => all.map(c => ({ ...c, agent, at: String(i) })))
await Promise.all(Array.from({ length: jobs }, async () => { while (queue.length) await one(queue.shift()) }))
if (!flag('keep')) fs.rmSync(root, { recursive: true, force: true }); else console.log(`kept ${root}`)
if (bad.length) console.log('failed: ' + bad.sort().join(', '))
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed ? 1 : 0)
