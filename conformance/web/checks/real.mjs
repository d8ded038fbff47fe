// The page against the real binary and the scripted model.
import assert from 'node:assert/strict'
import fs from 'node:fs'
import { answer, say } from '../lib/real.mjs'
import { accessible, narrow, until } from '../lib/tools.mjs'

export const fast = ['prompt-approve-refuse']

const bash = (command, description) => ({ tool: 'Bash', input: { command, description } })

export const checks = {
  'prompt-approve-refuse': async (t) => {
    const s = await t.real.serve({
      script: {
        steps: [
          { reply: [{ thinking: 'A file is wanted.' }, { text: 'I write **a file**.' }, { tool: 'Write', input: { file_path: '{{cwd}}/notes.md', content: '# Notes\n\nhello\n' } }], capture: { cwd: 'Working directory: (\\S+)' } },
          { reply: [{ text: 'Now I look.' }, bash('touch made-by-bash && ls', 'Make a file and list')] },
          { match: { result_error: true }, reply: [{ text: 'You said no, so I stop here.\n\n```go\nfunc main() {}\n```' }] },
        ],
      },
    })
    const page = await s.open(await t.open())
    await say(page, 'make notes')
    const ask = page.locator('[data-ask]')
    await ask.waitFor()
    await ask.getByText('notes.md').first().waitFor()
    assert.match(await ask.innerText(), /hello/)
    assert.equal(s.read('notes.md'), undefined)
    await accessible(page, 'a question')
    await answer(page, /^Yes 1$|^Yes$/)
    await until('the file', () => s.read('notes.md') === '# Notes\n\nhello\n')
    await page.locator('#app').getByText('touch made-by-bash').first().waitFor()
    await page.locator('[data-ask] .exact').first().waitFor()
    await page.getByRole('textbox', { name: 'Words for hew, with a yes or a no' }).fill('not with bash')
    await answer(page, /No, do that instead/)
    await page.locator('#app').getByText('You said no, so I stop here.').waitFor()
    await page.locator('.end').waitFor()
    assert.equal(s.read('made-by-bash'), undefined)
    assert.equal(await page.locator('article.call').count(), 2)
    assert.match(await page.locator('article.call').nth(1).innerText(), /not run|failed/)
    assert.equal(await page.locator('article.reply .k-word').first().textContent(), 'func')
    // A reload finds everything.
    const before = await page.locator('article.item').count()
    await page.reload()
    await page.locator('#app').getByText('You said no, so I stop here.').waitFor()
    assert.ok((await page.locator('article.item').count()) >= before - 1)
  },

  'always-writes-the-rule': async (t) => {
    const s = await t.real.serve({ files: { Makefile: 'one two:\n\ttouch $@\n' }, script: { steps: [{ reply: [bash('make one', 'Make one')] }, { reply: [{ text: 'Made.' }] }, { reply: [bash('make two', 'Make two')] }, { reply: [{ text: 'Made again.' }] }] } })
    const page = await s.open(await t.open())
    await say(page, 'make a folder')
    await answer(page, /^Always/)
    const rule = page.getByRole('textbox', { name: 'Rule' }).first()
    assert.match(await rule.inputValue(), /^Bash\(make/)
    await rule.fill('Bash(make *)')
    await page.getByRole('button', { name: 'Yes, and write this' }).click()
    await page.locator('#app').getByText('Made.').waitFor()
    const written = await until('the rule in the file', () => s.read('.claude/settings.local.json'))
    assert.deepEqual(JSON.parse(written).permissions.allow, ['Bash(make *)'])
    await say(page, 'and another')
    await page.locator('#app').getByText('Made again.').waitFor()
  },

  'steer-and-interrupt': async (t) => {
    const s = await t.real.serve({
      args: ['--allowedTools', 'Bash'],
      script: {
        steps: [
          { reply: [bash('touch began; while [ ! -e go ]; do sleep 0.1; done; echo went', 'Wait')] },
          { match: { seen: ['also say hello'] }, reply: [{ text: 'Hello, steered.' }] },
          { reply: [{ text: 'word ', times: 400 }], pace_ms: 50 },
          { reply: [{ text: 'Here again.' }] },
        ],
      },
    })
    const page = await s.open(await t.open())
    await say(page, 'wait for it')
    await until('the command', () => s.read('began') !== undefined)
    await say(page, 'never mind this')
    await page.getByRole('button', { name: 'Take back' }).click()
    await until('the message back in the field', async () => (await page.getByRole('combobox', { name: 'Message' }).inputValue()) === 'never mind this')
    await say(page, 'also say hello')
    await page.locator('#app').getByText('joins after the running step').waitFor()
    fs.writeFileSync(`${s.project}/go`, '')
    await page.locator('#app').getByText('Hello, steered.').waitFor()
    assert.equal(await page.locator('.prompt.waiting').count(), 0)
    assert.equal(await page.locator('#app').getByText('never mind this').count(), 0)
    await page.locator('.end').first().waitFor()
    await say(page, 'talk')
    await page.locator('#app').getByText('word word').first().waitFor()
    await page.getByRole('combobox', { name: 'Message' }).press('Escape')
    await page.locator('#app').getByText('Interrupted', { exact: true }).waitFor()
    await say(page, 'still there?')
    await page.locator('#app').getByText('Here again.').waitFor()
  },

  'second-client': async (t) => {
    const s = await t.real.serve({ script: { steps: [{ reply: [{ text: 'May I?' }, bash('touch a', 'Touch a')] }, { reply: [{ text: 'Thank you.' }] }] } })
    const one = await s.open(await t.open())
    await say(one, 'touch a')
    await one.locator('[data-ask]').waitFor()
    const url = one.url()
    await one.getByRole('button', { name: 'More' }).click()
    await one.getByRole('menuitem', { name: 'Open on another device' }).click()
    const link = await one.locator('.linkbox code').textContent()
    await one.getByRole('button', { name: 'Close', exact: true }).click()
    const two = await t.open({ viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true })
    await two.goto(link)
    await two.locator('#app').getByText('What should be done?').first().waitFor()
    await two.goto(url)
    await two.locator('[data-ask]').waitFor()
    await narrow(two)
    // drafts are shared
    await one.getByRole('combobox', { name: 'Message' }).fill('half a thought')
    await until('the draft', async () => (await two.getByRole('combobox', { name: 'Message' }).inputValue()) === 'half a thought')
    await answer(two, /^Yes/)
    await one.locator('#app').getByText('Thank you.').waitFor()
    await two.locator('#app').getByText('Thank you.').waitFor()
    assert.equal(await one.locator('[data-ask]').count(), 0)
    assert.equal(s.read('a'), '')
  },

  'killed-and-restarted': async (t) => {
    const s = await t.real.serve({ script: { select: 'match', steps: [{ match: { user: 'again' }, reply: [{ text: 'Welcome back.' }] }, { reply: [{ text: 'First answer.' }] }] } })
    const page = await s.open(await t.open())
    await say(page, 'hello')
    await page.locator('#app').getByText('First answer.').waitFor()
    await page.getByRole('combobox', { name: 'Message' }).fill('a draft that stays')
    await s.stop('SIGKILL')
    await page.locator('#app').getByText('hew serve does not answer').first().waitFor()
    await accessible(page, 'without a connection')
    await s.start()
    // The cookie ended with the process: the page says so, and the new link brings everything back.
    await page.goto(s.link)
    await page.locator('#app').getByText('What should be done?').first().waitFor()
    await page.getByRole('main').getByRole('button', { name: /hello/ }).first().click()
    await page.locator('#app').getByText('First answer.').waitFor()
    assert.equal(await page.getByRole('combobox', { name: 'Message' }).inputValue(), 'a draft that stays')
    await say(page, 'again')
    await page.locator('#app').getByText('Welcome back.').waitFor()
  },

  'pictures': async (t) => {
    const s = await t.real.serve({ script: { steps: [{ reply: [{ tool: 'Read', input: { file_path: '{{cwd}}/dot.png' } }], capture: { cwd: 'Working directory: (\\S+)' } }, { reply: [{ text: 'A dot.' }] }, { match: { user: 'and this' }, reply: [{ text: 'Another dot.' }] }] } })
    const dot = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')
    fs.writeFileSync(`${s.project}/dot.png`, dot)
    const page = await s.open(await t.open())
    await say(page, 'look')
    await page.locator('#app').getByText('A dot.').waitFor()
    await page.getByRole('button', { name: /dot\.png/ }).click()
    const drawn = (img) => until('the picture', () => img.evaluate((i) => i.complete && i.naturalWidth === 1))
    await drawn(page.locator('article.call img'))
    await page.getByLabel('Attach a picture').setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: dot })
    await page.getByAltText('dot.png').waitFor()
    await say(page, 'and this')
    await page.locator('#app').getByText('Another dot.').waitFor()
    await drawn(page.locator('article.prompt img'))
  },

  'rewind': async (t) => {
    const s = await t.real.serve({
      args: ['--permission-mode', 'acceptEdits'],
      files: { 'a.txt': 'one\n' },
      script: { steps: [{ reply: [{ tool: 'Read', input: { file_path: '{{cwd}}/a.txt' } }], capture: { cwd: 'Working directory: (\\S+)' } }, { reply: [{ tool: 'Edit', input: { file_path: '{{cwd}}/a.txt', old_string: 'one', new_string: 'two' } }] }, { reply: [{ text: 'Changed.' }] }] },
    })
    const page = await s.open(await t.open())
    await say(page, 'change it')
    await page.locator('#app').getByText('Changed.').waitFor()
    await page.locator('.end').waitFor()
    assert.equal(s.read('a.txt'), 'two\n')
    await until('the change', async () => (await page.locator('.diff tr.add').count()) === 1)
    await page.keyboard.press('Alt+z')
    await page.getByRole('dialog').getByRole('button', { name: /change it/ }).click()
    await page.getByRole('dialog').getByText('a.txt').waitFor()
    await accessible(page, 'rewind')
    await page.getByRole('button', { name: 'Go back', exact: true }).click()
    await until('the file as it was', () => s.read('a.txt') === 'one\n')
    await until('the conversation as it was', async () => (await page.locator('article.item').count()) === 0)
    assert.equal(await page.getByRole('combobox', { name: 'Message' }).inputValue(), 'change it')
  },

  'sessions': async (t) => {
    const s = await t.real.serve({ script: { select: 'match', steps: [{ reply: [{ text: 'Fine.' }] }] } })
    const page = await s.open(await t.open())
    await say(page, 'the first topic')
    await page.locator('#app').getByText('Fine.').waitFor()
    const row = page.getByRole('navigation', { name: 'Sessions' }).getByRole('listitem').first()
    await row.getByRole('link').waitFor()
    await row.hover()
    await row.getByRole('button', { name: /Actions/ }).click()
    await page.getByRole('menuitem', { name: 'Rename' }).click()
    await page.getByRole('textbox', { name: 'New name of the session' }).fill('A better name')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: /A better name/ }).waitFor()
    await row.hover()
    await row.getByRole('button', { name: /Actions/ }).click()
    const was = page.url()
    await page.getByRole('menuitem', { name: 'Fork' }).click()
    await until('another session', () => page.url() !== was)
    await page.locator('#app').getByText('Fine.').waitFor()
    await page.getByRole('searchbox').fill('better')
    await until('what fits', async () => (await page.getByRole('navigation').getByRole('listitem').count()) >= 1)
    await page.getByRole('searchbox').fill('nothing has this')
    await page.locator('#app').getByText('Nothing fits.').waitFor()
  },

  'complete-and-look': async (t) => {
    const s = await t.real.serve({ settings: { permissions: { deny: ['Read(./.env)'] }, effortLevel: 'high' }, files: { 'src/alpha.go': 'package a\n', 'src/beta.go': 'package b\n' }, script: { select: 'match', steps: [{ reply: [{ text: 'Fine.' }] }] } })
    const page = await s.open(await t.open())
    const field = page.getByRole('combobox', { name: 'Message' })
    await field.pressSequentially('look at @alp')
    await page.getByRole('option', { name: 'src/alpha.go' }).waitFor()
    await field.press('Tab')
    assert.equal(await field.inputValue(), 'look at @src/alpha.go ')
    await field.fill('')
    await field.pressSequentially('/comp')
    await page.getByRole('option', { name: /\/compact/ }).waitFor()
    await field.press('Escape')
    await field.fill('')
    await say(page, 'hi')
    await page.locator('#app').getByText('Fine.').waitFor()
    await page.locator('.end').waitFor()
    await page.keyboard.press('Alt+c')
    await page.getByRole('dialog').getByRole('img').waitFor()
    await page.getByRole('dialog').locator('tbody tr').first().waitFor()
    await accessible(page, 'window')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Alt+s')
    await page.getByRole('dialog').getByText('Read(./.env)').waitFor()
    await page.getByRole('tab', { name: 'Settings' }).click()
    await page.getByRole('dialog').getByText('effortLevel').waitFor()
    await page.getByRole('dialog').getByText(/user · .*settings\.json/).first().waitFor()
    await accessible(page, 'settings')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Alt+m')
    await until('the next mode', async () => (await page.locator('[data-mode]').inputValue()) === 'acceptEdits')
  },

  'read-only': async (t) => {
    const s = await t.real.serve({ args: ['--read-only'] })
    const page = await s.enter(await t.open())
    assert.equal(await page.getByRole('button', { name: 'New session' }).count(), 0)
  },

  'signed-out': async (t) => {
    const s = await t.real.serve({})
    const page = await t.open()
    await page.goto(`${s.base}/`)
    await page.locator('#app').getByText('Sign in').first().waitFor()
    await accessible(page, 'signing in')
    await page.getByLabel(/Password, or the link/).fill('wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await until('the refusal', async () => ((await page.locator('#signin-problem').textContent()) ?? '') !== '')
    await page.getByLabel(/Password, or the link/).fill(s.link)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.locator('#app').getByText('What should be done?').first().waitFor()
  },
}
