// What is shown: a conversation with one of everything, hostile content, a long one, small and dark screens.
import assert from 'node:assert/strict'
import * as scene from '../lib/scene.mjs'
import { origin, Stage } from '../lib/stage.mjs'
import { accessible, narrow, until } from '../lib/tools.mjs'

export const fast = ['shows-conversation', 'hostile-content', 'long-session', 'axe-pages']

const sessions = { '/sessions': { sessions: scene.rows, total: 9 } }

async function staged(t, { view = {}, options, hash = '#/s/s1', answers = {}, hello } = {}) {
  const page = await t.open(options)
  const stage = await new Stage({ ...sessions, ...answers }).on(page)
  stage.control = { list_models: { models: [{ value: 'sonnet', displayName: 'Sonnet', resolvedModel: 'claude-sonnet-4-5' }] } }
  stage.opened = () => {
    stage.hello(hello?.session, hello?.more)
    stage.send(scene.view(view))
  }
  await page.goto(`${origin}/${hash}`)
  if (hash !== '#/') await page.locator('article.item').first().waitFor()
  return { page, stage }
}

// long is a page with a session of 5,000 items, of which the server gives the newest 200 first.
async function long(t) {
  const reply = (i) => `Reply **${i}** with \`code\`.\n\n- one\n- two\n\n\`\`\`go\nfunc f${i}() { return ${i} }\n\`\`\`\n`
  const many = Array.from({ length: 5000 }, (_, i) => (i % 4 === 0 ? { kind: 'prompt', id: `m${i}`, text: `message number ${i}`, images: 0, source: 'prompt', at: i } : i % 4 === 1 ? { ...scene.items[3], id: `m${i}`, title: `Read file-${i}.go` } : { kind: 'reply', id: `m${i}`, text: reply(i), open: false }))
  const page = await t.open()
  const stage = await new Stage({
    ...sessions,
    '/sessions/s1/items': ({ url }) => {
      const at = many.findIndex((m) => m.id === url.searchParams.get('before'))
      const from = Math.max(0, at - 200)
      return { items: many.slice(from, at), total: many.length, more: from > 0 }
    },
  }).on(page)
  stage.opened = () => {
    stage.hello()
    stage.send(scene.view({ items: many.slice(-200), total: many.length, live: [], run: { busy: false, began_ms: null, turn: 0, tokens: 0, waits: '', active: '' } }))
  }
  await page.addInitScript(() => {
    const look = () => (document.querySelector('#i-m4999') ? (window.drawn = performance.now()) : requestAnimationFrame(look))
    requestAnimationFrame(look)
  })
  await page.goto(`${origin}/#/s/s1`)
  await page.locator('#i-m4999').waitFor()
  return { page, stage, many }
}

export const checks = {
  'shows-conversation': async (t) => {
    const { page, stage } = await staged(t)
    await until('the title', async () => (await page.title()) === 'Fix the failing test · hew')
    await page.getByRole('article', { name: 'You' }).getByText('TestUntil fails').waitFor()
    // Markdown
    const reply = page.getByRole('article', { name: 'hew' }).nth(1)
    assert.equal(await reply.locator('table td').count(), 6)
    assert.equal(await reply.locator('pre .k-word').first().textContent(), 'func')
    assert.equal(await reply.locator('a').getAttribute('rel'), 'noopener noreferrer nofollow')
    // calls are one line that opens
    const call = page.getByRole('button', { name: /go test \.\/internal\/clock/ })
    assert.equal(await call.getAttribute('aria-expanded'), 'false')
    await call.click()
    await page.getByText('Exit code 1').waitFor()
    assert.equal(await page.locator('.t-red').first().textContent(), 'FAIL')
    // a change, both ways
    await until('the change', async () => (await page.locator('.diff tr.add').count()) === 4)
    await page.getByRole('button', { name: 'Side by side' }).click()
    await until('both sides', async () => (await page.locator('.diff .split tr').count()) === 10)
    // live output, to-do list, agents, window
    await page.getByText('internal/core/loop').first().waitFor()
    assert.equal(await page.locator('.right .entry').count(), 4)
    assert.equal(await page.locator('.tasks li').count(), 3)
    await page.getByText('41.2k of 200k').waitFor()
    // text that grows, then is finished
    stage.send({ type: 'view', rev: 2, live: [{ kind: 'reply', id: 'b9', text: 'All **te', open: true }] })
    stage.send({ type: 'view', rev: 3, grow: [{ id: 'b9', more: 'sts** pass' }] })
    await page.getByText('All tests pass').waitFor()
    stage.send({ type: 'view', rev: 4, gone: ['b9', 't6'], items: [{ ...scene.live[0], status: 'done', progress: '' }, { kind: 'reply', id: 'b9', text: 'All **tests** pass.', open: false }, { kind: 'ending', id: 'e1', reason: 'completed', detail: '', took_ms: 61_000, tokens: 2100, cost_usd: 0.09, signals: null }], run: { busy: false, began_ms: null, turn: 0, tokens: 0, waits: '', active: '' } })
    await page.getByText('1 min 1 s').waitFor()
    assert.equal(await page.locator('.said.open').count(), 0)
    // a screen reader hears of it
    await until('the announcement', async () => /All tests pass/.test(await page.locator('#polite').textContent()))
    assert.deepEqual(stage.foreign, [])
    await t.shot(page, 'conversation')
  },

  'hostile-content': async (t) => {
    const evil = ['<script>window.owned=1</script>', '<img src=x onerror="window.owned=1">', '<svg onload="window.owned=1"><script>window.owned=1</script></svg>', '<iframe src="javascript:parent.owned=1"></iframe>', '[x](javascript:window.owned=1)', '[y](data:text/html,<script>1</script>)', '![p](http://evil.example/p.png)', '<style>body{display:none}</style>', '<a href="javascript:owned=1">z</a>', '[m](mailto:a@b.example)', '[ok](https://good.example/)', '```html\n<script>window.owned=1</script>\n```', '<form action="http://evil.example"><input></form>', '<math><mtext></form><form><mglyph><svg><mtext><style><img src onerror=owned=1>'].join('\n\n')
    const name = '"><img src=x onerror=window.owned=1>/\u202egnp.exe\u0007\n'
    const call = { ...scene.items[3], id: 'x1', title: name, tool: name, view: { kind: 'diff', path: name, old: '', new: evil, created: true, hunks: null }, text: evil, why: evil }
    const items = [
      { kind: 'prompt', id: 'p', text: evil, images: 2, source: 'prompt', at: 1 }, { kind: 'reply', id: 'r', text: evil, open: false }, { kind: 'thought', id: 't', text: evil, open: false, took_ms: 1 }, call,
      { ...call, id: 'x2', view: { kind: 'terminal', command: evil + '\u001b[31m', output: `\u001b]0;owned\u0007\u001b[31m${evil}\u001b]8;;javascript:owned=1\u0007link`, exit_code: 1 }, status: 'failed' },
      { ...call, id: 'x3', view: { kind: 'nested', title: evil, views: [{ kind: 'list', title: evil, items: [{ text: evil, state: evil }] }, { kind: 'table', header: [evil], rows: [[evil]] }, { kind: evil }, null] } },
      { kind: 'note', id: 'n', level: evil, code: evil, text: evil }, { kind: 'command', id: 'c', name, args: evil, output: evil, failed: true }, { kind: 'ending', id: 'e', reason: evil, detail: evil, took_ms: NaN, tokens: -1, cost_usd: 0, signals: [{ kind: evil, detail: evil }] },
      { kind: evil, id: '"><b id=q>' }, { kind: '__proto__', id: 'constructor' },
    ]
    const { page, stage } = await staged(t, { view: { items, total: items.length, live: [], todo: [{ text: evil, state: evil }], tasks: [{ id: name, summary: evil, status: evil, prompt: evil, last_tool: evil }], run: { busy: true, began_ms: 1, turn: 1, tokens: 1, waits: evil, active: '' } }, answers: { '/sessions': { sessions: [{ id: name, title: evil, cwd: name, state: evil, modified_ms: 1 }, { id: 's1', title: name, cwd: evil }], total: 2 } } })
    for (const b of await page.locator('.fold > .head').all()) if ((await b.getAttribute('aria-expanded')) === 'false') await b.click()
    const found = await page.evaluate(() => ({
      owned: window.owned,
      // nothing of another kind than the page itself makes
      elements: [...new Set([...document.querySelectorAll('#app *')].map((e) => e.localName))].filter((n) => ['script', 'iframe', 'object', 'embed', 'style', 'link', 'base', 'meta', 'math', 'video', 'audio', 'mglyph'].includes(n)),
      forms: [...document.querySelectorAll('form')].map((f) => f.className),
      handlers: [...document.querySelectorAll('#app *')].flatMap((e) => [...e.attributes].filter((a) => a.name.startsWith('on') || (a.name !== 'title' && /^\s*(javascript|data:text)/i.test(a.value))).map((a) => `${e.localName} ${a.name}=${a.value}`)),
      images: [...document.images].map((i) => new URL(i.src).origin),
      links: [...document.querySelectorAll('main a[href]:not(.skip)')].map((a) => a.href),
      shown: getComputedStyle(document.body).display,
      path: document.querySelector('.diff .path')?.textContent,
      svg: [...document.querySelectorAll('svg')].filter((s) => s.querySelector(':not(path):not(rect):not(svg)')).length,
    }))
    assert.equal(found.owned, undefined)
    assert.deepEqual(found.elements, [])
    assert.deepEqual(found.forms, ['composer'])
    assert.deepEqual(found.handlers, [])
    assert.ok(found.images.every((o) => o === origin), String(found.images))
    assert.deepEqual([...new Set(found.links.filter((l) => !l.startsWith(origin)))].sort(), ['http://evil.example/', 'http://evil.example/p.png', 'https://good.example/', 'mailto:a@b.example'])
    assert.notEqual(found.shown, 'none')
    assert.match(found.path, /\\u202egnp\.exe\\u0007/)
    assert.equal(found.svg, 0)
    assert.deepEqual(stage.foreign, [])
  },

  'long-session': async (t) => {
    const { page, stage, many } = await long(t)
    t.notes.push(`first paint of the last message ${Math.round(await page.evaluate(() => window.drawn))} ms`)
    const count = () => page.locator('article.item').count()
    assert.ok((await count()) <= 80, `${await count()} items drawn at first`)
    assert.equal(stage.asked.filter((a) => a.path.endsWith('/items')).length, 0)
    await page.evaluate(() => document.querySelector('.scroller').scrollBy(0, -20_000))
    await until('earlier items', async () => (await page.locator('#i-m4900').count()) === 1)
    await page.getByRole('button', { name: 'Latest' }).click()
    await until('the end', async () => (await page.locator(`#i-m${many.length - 1}`).count()) === 1 && (await count()) <= 80)
  },

  'long-session-to-its-top': async (t) => {
    const { page, stage } = await long(t)
    const count = () => page.locator('article.item').count()
    let steps = 0
    await until('the first message', async () => {
      await page.evaluate(() => document.querySelector('.scroller').scrollBy(0, -20_000))
      steps++
      assert.ok((await count()) <= 320, `${await count()} items drawn`)
      return page.locator('#i-m0').isVisible()
    }, 100_000)
    assert.equal(stage.asked.filter((a) => a.path.endsWith('/items')).length, 24, 'pages of older items that were asked for')
    t.notes.push(`${steps} scrolls`)
    // and down again, a part at a time
    await page.evaluate(() => document.querySelector('.scroller').scrollBy(0, 60_000))
    await until('later items', async () => (await page.locator('#i-m280').count()) === 1)
    assert.ok((await count()) <= 320)
  },

  'anchor-holds': async (t) => {
    // What one reads stays where it is while a reply grows below, and while older items are put in front.
    const many = Array.from({ length: 300 }, (_, i) => ({ kind: 'reply', id: `m${i}`, text: `Reply ${i}\n\nmore\n\nmore`, open: false }))
    const { page, stage } = await staged(t, { view: { items: many.slice(-200), total: 300, live: [] }, answers: { '/sessions/s1/items': { items: many.slice(0, 100), total: 300 } } })
    await page.evaluate(() => document.querySelector('.scroller').scrollBy(0, -1500))
    const place = (id) => page.evaluate((x) => document.getElementById(x)?.getBoundingClientRect().top, id)
    const seen = await page.evaluate(() => [...document.querySelectorAll('article.item')].find((a) => a.getBoundingClientRect().top > 200).id)
    const at = await place(seen)
    stage.send({ type: 'view', rev: 2, live: [{ kind: 'reply', id: 'new', text: 'growing '.repeat(400), open: true }] })
    await until('the new text', async () => (await page.locator('#i-new').count()) === 1)
    assert.ok(Math.abs((await place(seen)) - at) < 2)
  },

  'phone-width': async (t) => {
    const { page } = await staged(t, { options: { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 } })
    await narrow(page)
    await page.getByRole('button', { name: 'Sessions' }).click()
    await page.getByRole('link', { name: /Explain the loop/ }).waitFor()
    await page.locator('.veil').click({ position: { x: 340, y: 400 } })
    await page.getByRole('button', { name: 'Details' }).click()
    await page.locator('.right').getByText('Run all tests').waitFor()
    await page.locator('.right').getByRole('button', { name: 'Keyboard' }).click()
    await narrow(page)
    await page.getByRole('button', { name: 'Close', exact: true }).click()
    const long = 'x'.repeat(400)
    await page.getByRole('combobox', { name: 'Message' }).fill(long)
    await narrow(page)
    await t.shot(page, 'phone')
  },

  'wide-screen': async (t) => {
    const { page } = await staged(t, { options: { viewport: { width: 3840, height: 2160 } } })
    await narrow(page)
    const column = await page.locator('.feed').boundingBox()
    assert.ok(column.width > 900 && column.width < 1700, `the column is ${column.width} px wide`)
  },

  'axe-pages': async (t) => {
    for (const colorScheme of ['light', 'dark']) {
      const { page } = await staged(t, { options: { colorScheme } })
      for (const b of await page.locator('.fold > .head').all()) if ((await b.getAttribute('aria-expanded')) === 'false') await b.click()
      await accessible(page, `conversation, ${colorScheme}`)
      await page.goto(`${origin}/#/`)
      await page.getByRole('heading', { name: 'Recent' }).waitFor()
      await accessible(page, `start, ${colorScheme}`)
    }
  },

  'older-page': async (t) => {
    const { page } = await staged(t, { hello: { more: { page: 'of-another-build' } } })
    await page.getByText('this page is of the older version').waitFor()
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.locator('article.item').first().waitFor()
  },

  'theme-switch': async (t) => {
    const { page } = await staged(t, { options: { colorScheme: 'light' } })
    const ground = () => page.evaluate(() => getComputedStyle(document.querySelector('main')).backgroundColor)
    const light = await ground()
    await page.getByRole('button', { name: /Colours/ }).click()
    await page.getByRole('button', { name: /Colours: light/ }).click()
    await until('other colours', async () => (await ground()) !== light)
    const dark = await ground()
    await page.reload()
    await page.locator('article.item').first().waitFor()
    assert.equal(await ground(), dark)
  },
}
