// What the published types and the disk contract ask for beyond the recorded behaviour: written for hew, not checked against another executable.
import assert from 'node:assert/strict'
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { deleteSession, forkSession, getSessionInfo, getSessionMessages, getSubagentMessages, listSessions, listSubagents, renameSession, tagSession } from '@anthropic-ai/claude-agent-sdk'
import { allText, turn } from '../lib/mock.mjs'
import { eventually } from '../lib/harness.mjs'

const modules = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', 'node_modules')
const usage = (input_tokens, output_tokens, cache_creation_input_tokens = 0, cache_read_input_tokens = 0) => ({ input_tokens, output_tokens, cache_creation_input_tokens, cache_read_input_tokens })

export const checks = {
  // The front end has no key and opens no connection; hew alone reaches the model.
  async 'front-end-never-calls-the-model'(t) {
    await t.mock(['only hew spoke'])
    const helper = t.write(path.join(t.home, 'key.sh'), '#!/bin/sh\necho dummy-key\n'); fs.chmodSync(helper, 0o755)
    t.write(path.join(t.home, '.claude', 'settings.json'), { apiKeyHelper: helper, env: { ANTHROPIC_BASE_URL: t.model.url } })
    const connect = net.Socket.prototype.connect, tries = []
    net.Socket.prototype.connect = function (...a) { tries.push(JSON.stringify(a[0])); throw new Error('the front end must not connect') }
    globalThis.fetch = async u => { tries.push(String(u)); throw new Error('the front end must not fetch') }
    try {
      const r = await t.run('hello', { env: { ANTHROPIC_API_KEY: undefined, ANTHROPIC_BASE_URL: undefined } })
      assert.equal(r.result.result, 'only hew spoke'); assert.deepEqual(tries, []); assert.equal(t.model.headers.length > 0, true)
    } finally { net.Socket.prototype.connect = connect }
  },
  async 'background-tasks'(t) {
    await t.mock(b => turn(b) === 0 ? { tools: [{ id: 'toolu_wait', name: 'Bash', input: { command: 'until [ -e go ]; do sleep 0.05; done; echo late' } }] } : 'went on')
    const s = t.session({ allowedTools: ['Bash'] }); const part = s.send('wait')
    await eventually(() => s.msgs.some(m => m.type === 'assistant'))
    assert.equal(await s.q.backgroundTasks('toolu_nobody'), false)
    await eventually(async () => await s.q.backgroundTasks('toolu_wait')); assert.equal((await part).result.result, 'went on')
    t.write('go', ''); await s.until(m => m.subtype === 'task_notification' && m.status === 'completed')
    assert.ok(s.msgs.some(m => m.subtype === 'background_tasks_changed' && m.tasks.length === 1)); await s.end()
  },
  async 'update-settings'(t) {
    await t.mock(['ok']); const s = t.session(); await s.send('hi')
    await s.q.updateSettings('localSettings', { outputStyle: 'Explanatory' })
    assert.equal(JSON.parse(t.read('.claude/settings.local.json')).outputStyle, 'Explanatory')
    await assert.rejects(s.q.updateSettings('localSettings', { env: 'x' })); await assert.rejects(s.q.updateSettings('localSettings', { outputStyle: 1 })); await s.end()
  },
  async 'reload-plugins'(t) {
    await t.mock(['ok']); t.write('plug/.claude-plugin/plugin.json', { name: 'extra', version: '1.0.0' }); t.write('plug/commands/hi.md', 'Say hi.')
    const s = t.session(); await s.send('hi'); assert.deepEqual((await s.q.reloadPlugins()).plugins, [])
    const r = await s.q.reloadPlugins({ addPlugins: [{ type: 'local', path: t.file('plug') }] })
    assert.equal(r.plugins[0].name, 'extra'); assert.ok(r.commands.some(c => c.name === 'extra:hi')); assert.equal(r.error_count, 0); await s.end()
  },
  async 'plugin-in-initialize'(t) {
    await t.mock(['ok']); t.write('plug/.claude-plugin/plugin.json', { name: 'extra', version: '1.0.0' }); t.write('plug/commands/hi.md', 'Say hi.')
    const s = t.session({ plugins: [{ type: 'local', path: t.file('plug') }], pluginDelivery: 'initialize' }); const r = await s.send('hi')
    assert.ok(r.init.plugins.some(p => p.name === 'extra')); await s.end()
  },
  async 'resume-session-at'(t) {
    await t.mock(['one', 'two', 'three']); const a = await t.run('first word agate'), at = a.of('assistant').at(-1).uuid
    await t.run('second word beryl', { resume: a.result.session_id })
    const c = await t.run('third', { resume: a.result.session_id, resumeSessionAt: at }), txt = allText(t.model.main[2])
    assert.ok(txt.includes('agate') && !txt.includes('beryl')); assert.equal(c.result.session_id, a.result.session_id)
    await assert.rejects(t.run('no', { resume: a.result.session_id, resumeSessionAt: '00000000-0000-4000-8000-000000000000' }), /No message found/)
  },
  async 'managed-settings'(t) {
    await t.mock(b => turn(b) === 0 ? { tools: [{ name: 'Bash', input: { command: 'touch denied' } }] } : 'done')
    const r = await t.run('go', { permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true, managedSettings: { permissions: { deny: ['Bash(touch *)'] } } })
    assert.ok(!t.exists('denied')); assert.equal(r.result.permission_denials.length, 1)
  },
  async 'user-dialog'(t) {
    let asked
    await t.mock(b => b.model.includes('haiku') ? 'gladly' : { text: 'no', stop_reason: 'refusal' })
    const r = await t.run('go', { fallbackModel: 'claude-haiku-4-5', supportedDialogKinds: ['refusal_fallback_prompt'], onUserDialog: async d => { asked = d; return { behavior: 'completed', result: { action: 'retry' } } } })
    assert.equal(asked.dialogKind, 'refusal_fallback_prompt'); assert.equal(asked.payload.fallback_model, 'claude-haiku-4-5')
    assert.equal(r.result.result, 'gladly'); assert.equal(r.of('system', 'model_refusal_fallback').length, 1)
  },
  async 'disk-contract'(t) {
    await t.mock(['the reply'])
    const id = (await t.run('a prompt to keep')).result.session_id, opt = { dir: t.dir }
    await renameSession(id, 'Kept', opt); await tagSession(id, 'blue', opt)
    let info = await getSessionInfo(id, opt); assert.equal(info.customTitle, 'Kept'); assert.equal(info.tag, 'blue')
    const copy = await forkSession(id, opt), ms = await getSessionMessages(copy.sessionId, opt)
    assert.deepEqual(ms.map(m => m.type), ['user', 'assistant']); assert.equal((await listSessions(opt)).length, 2)
    const again = await t.run('go on', { resume: copy.sessionId }); assert.equal(again.result.session_id, copy.sessionId); assert.ok(allText(t.model.main.at(-1)).includes('a prompt to keep'))
    const named = await t.run('by name', { resume: id }); assert.equal(named.result.session_id, id); info = await getSessionInfo(id, opt); assert.equal(info.customTitle, 'Kept')
    await deleteSession(copy.sessionId, opt); const left = await listSessions(opt); assert.deepEqual(left.map(s => s.sessionId), [id])
  },
  async 'disk-contract-subagents'(t) {
    await t.mock(b => JSON.stringify(b.system).includes('You dig.') ? 'I have dug' : turn(b) === 0 ? { tools: [{ name: 'Agent', input: { description: 'dig', prompt: 'dig here', subagent_type: 'mole' } }] } : 'done')
    const id = (await t.run('delegate', { agents: { mole: { description: 'digs', prompt: 'You dig.' } } })).result.session_id
    const agents = await listSubagents(id, { dir: t.dir }); assert.equal(agents.length, 1)
    const ms = await getSubagentMessages(id, agents[0], { dir: t.dir }); assert.ok(JSON.stringify(ms).includes('dig here') && JSON.stringify(ms).includes('I have dug'))
  },
  async 'disk-contract-ccusage'(t) {
    await t.mock(b => turn(b) === 0 ? { text: 'look', tools: [{ name: 'Read', input: { file_path: t.file('a.txt') } }], usage: usage(100, 20, 7, 3) } : { text: 'done', usage: usage(200, 30, 0, 9) })
    t.write('a.txt', 'x')
    const r = await t.run('count', { model: 'claude-sonnet-4-5' })
    const out = JSON.parse(execFileSync(process.execPath, [path.join(modules, 'ccusage', 'dist', 'index.js'), 'session', '--json', '--offline'], { env: { ...t.env(), LOG_LEVEL: '0' }, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }))
    const { inputTokens, outputTokens, cacheCreationTokens, cacheReadTokens, totalCost } = out.totals
    assert.deepEqual({ inputTokens, outputTokens, cacheCreationTokens, cacheReadTokens }, { inputTokens: 300, outputTokens: 50, cacheCreationTokens: 7, cacheReadTokens: 12 })
    assert.ok(Math.abs(totalCost - r.result.total_cost_usd) < 1e-6, `${totalCost} against ${r.result.total_cost_usd}`)
  },
}
