// The readers of foreign text. Run by node --test, after a bundle is made in memory.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './load.mjs'

const { exact, tame, line } = await load('src/text/visible.ts')
const { terminal } = await load('src/text/ansi.ts')
const { placed, Growing } = await load('src/text/markdown.ts')
const { inline, safeLink } = await load('src/text/inline.ts')
const { highlight } = await load('src/text/highlight.ts')
const { rows, counts } = await load('src/text/diff.ts')
const { readRule, ruleText } = await load('src/text/rule.ts')

const blocks = (text) => placed(text.split('\n')).map((p) => p.block)

test('exact loses nothing and names what cannot be seen', () => {
  for (const [text, want] of [
    ['rm -rf /tmp/x', []],
    ['a\u202eb', ['\\u202e']],
    ['a\u200bb\u00a0c', ['\\u200b', '\\u00a0']],
    ['\x1b[2Kx\ry', ['\\u001b', '\\u000d']],
    [`echo${' '.repeat(40)}; rm x`, ['40 × spaces']],
    [`echo${' '.repeat(5)}\nrm x`, ['5 × white space at the end of the line']],
    [`a${'\n'.repeat(30)}b`, ['30 × line breaks']],
    ['\u{e0041}x', ['\\udb40\\udc41']],
    ['\ud800', ['\\ud800']],
    ['a\ufe0f', ['\\ufe0f']],
    ['    indented\n  code', []],
    ['a\tb', []],
    [`a${'\t'.repeat(12)}b`, ['12 × tabs']],
  ]) {
    const pieces = exact(text)
    assert.equal(pieces.map((p) => p.text).join(''), text)
    assert.deepEqual(pieces.filter((p) => p.kind).map((p) => p.label), want, JSON.stringify(text))
  }
})

test('tame keeps prose and takes the tricks out', () => {
  assert.equal(tame('a\r\nb\tc'), 'a\nb\tc')
  assert.equal(tame('שלום\u200f world'), 'שלום\u200f world')
  assert.equal(tame('x\u202ey'), 'x\\u202ey')
  assert.equal(tame('\x1b]0;title\x07'), '\\u001b]0;title\\u0007')
  assert.equal(line(' a\n  b\u202e '), 'a b\\u202e')
})

test('terminal output is text and colours, nothing else', () => {
  const flat = (s) => terminal(s).map((l) => l.map((x) => (x.look ? `<${x.look}>${x.text}` : x.text)).join(''))
  for (const [text, want] of [
    ['a\nb', ['a', 'b']],
    ['\x1b[31mred\x1b[0m plain', ['<t-red>red plain']],
    ['\x1b]0;owned\x07x', ['x']],
    ['\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\', ['link']],
    ['\x1b]52;c;AAAA\x07y', ['y']],
    ['10%\r100%', ['100%']],
    ['abc\b\bX', ['aXc']],
    ['\x1b[2J\x1b[Hx', ['x']],
    ['\x1bPq#0\x1b\\z', ['z']],
    ['\x1b[38;5;196mhot', ['<t-red>hot']],
    ['\x1b[38;2;0;200;0mgo', ['<t-green>go']],
    ['\u202eevil', ['\ufffdevil']],
    ['\x1b]0;never ended', []],
  ]) assert.deepEqual(flat(text), want, JSON.stringify(text))
})

test('Markdown becomes a tree', () => {
  assert.deepEqual(blocks('# A\n\ntext\nmore').map((b) => b.kind), ['heading', 'paragraph'])
  assert.deepEqual(blocks('- a\n- b\n  - c').map((b) => [b.kind, b.items.length]), [['list', 2]])
  assert.equal(blocks('- a\n- b\n  - c')[0].items[1].blocks[1].kind, 'list')
  assert.deepEqual(blocks('```go\nx := 1\n```\nafter').map((b) => b.kind), ['code', 'paragraph'])
  assert.equal(blocks('```go\nx := 1')[0].open, true)
  assert.equal(blocks('3. a\n4. b')[0].start, 3)
  const t = blocks('| a | b |\n|---|--:|\n| 1 | `x|y` |\n| 2 |')[0]
  assert.deepEqual([t.kind, t.align, t.rows.length, t.rows[0][1][0].text], ['table', ['', 'right'], 2, 'x|y'])
  assert.deepEqual(blocks('- [x] done\n- [ ] open')[0].items.map((i) => i.done), [true, false])
  assert.deepEqual(blocks('> a\n> b')[0].kind, 'quote')
  assert.deepEqual(blocks('a\n---\nb').map((b) => b.kind), ['heading', 'paragraph'])
})

test('HTML in Markdown is text', () => {
  const [p] = blocks('<img src=x onerror=alert(1)> <b>x</b>')
  assert.deepEqual(p.text, [{ kind: 'text', text: '<img src=x onerror=alert(1)> <b>x</b>' }])
})

test('inline marks', () => {
  const kinds = (s) => inline(s).map((i) => i.kind)
  assert.deepEqual(kinds('a **b** *c* `d` ~~e~~'), ['text', 'strong', 'text', 'em', 'text', 'code', 'text', 'del'])
  assert.deepEqual(kinds('snake_case_name and 2 * 3 * 4'), ['text'])
  assert.deepEqual(inline('see https://a.example/x(1).')[1], { kind: 'link', href: 'https://a.example/x(1)', inner: [{ kind: 'text', text: 'https://a.example/x(1)' }] })
  assert.equal(inline('[t](https://a.example "x")')[0].href, 'https://a.example')
  assert.equal(inline('![p](https://a.example/p.png)')[0].kind, 'image')
  assert.deepEqual(kinds('***both***'), ['strong'])
})

test('only addresses of the web and of mail are followed', () => {
  for (const bad of [
    'javascript:alert(1)', 'JaVaScRiPt:alert(1)', ' javascript:x', 'java\nscript:x', 'java\tscript:x', 'data:text/html,x', 'vbscript:x', 'file:///etc/passwd', '//evil.example', '/relative', 'https:\\\\evil', 'http:evil', 'blob:https://x',
    'https://user:pass@evil.example', 'https://paypal.com\u200b.evil.example', '\u0001javascript:x', 'ws://x', 'mailto:', 'https:///x',
  ]) assert.equal(safeLink(bad), '', bad)
  for (const good of ['https://a.example/x?y#z', 'http://localhost:1/', 'mailto:a@b.example']) assert.notEqual(safeLink(good), '', good)
})

test('a growing text reads as the whole one', () => {
  const text = ['# Head', '', 'A paragraph', 'of two lines.', '', '- one', '', '- two', '  more', '', '```go', 'x', '', 'y', '```', '', '| a | b |', '|---|---|', '| 1 | 2 |', '', '> quote', '', '1. x', '', '   y', '', 'end'].join('\n')
  const g = new Growing()
  for (let i = 1; i <= text.length; i++) {
    assert.deepEqual(g.read(text.slice(0, i)), new Growing().read(text.slice(0, i)), `after ${i}: ${JSON.stringify(text.slice(0, i))}`)
  }
})

test('hostile texts take no time that grows faster than they do', () => {
  const takes = (f) => {
    const began = performance.now()
    f()
    return performance.now() - began
  }
  for (const unit of ['*', '_a', '[', '![', '`', '``a', '> ', '- ', '<', '(', '[a](', '**a', '~~', '\\', '| ', '1. ', ' \n', 'http://', '\x1b[', '<http://', '*a_', '[[a](b)', ' '.repeat(3) + '\n']) {
    const text = unit.repeat(20_000)
    const ms = takes(() => {
      blocks(text)
      exact(text)
      terminal(text)
      highlight(text, 'go')
    })
    assert.ok(ms < 4000, `${JSON.stringify(unit)} took ${Math.round(ms)} ms`)
  }
})

test('random texts never throw, and tokens add up to them', () => {
  const parts = ['*', '_', '`', '```', '\n', '[', ']', '(', ')', '<', '>', '#', '- ', '1. ', '|', '---', 'a', ' ', '\\', '!', '~~', 'http://x', '\x1b[31m', '\r', '\u202e', '"', "'", '/*', '*/', '//', '\t', '  ']
  let seed = 42
  const next = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n
  for (let i = 0; i < 3000; i++) {
    const text = Array.from({ length: next(40) }, () => parts[next(parts.length)]).join('')
    blocks(text)
    terminal(text)
    assert.equal(exact(text).map((p) => p.text).join(''), text)
    for (const l of ['go', 'python', 'bash', 'html', 'diff', 'sql']) assert.equal(highlight(text, l).map((t) => t.text).join(''), text)
  }
})

test('highlighting knows words, strings and comments', () => {
  const kinds = (s, l) => highlight(s, l).filter((t) => t.kind).map((t) => `${t.kind}:${t.text}`)
  assert.deepEqual(kinds('return f("x") // y', 'go'), ['word:return', 'call:f', 'string:"x"', 'comment:// y'])
  assert.deepEqual(kinds("it's # c", 'bash'), ['comment:# c'])
  assert.deepEqual(kinds('SELECT 1', 'sql'), ['word:SELECT', 'number:1'])
  assert.deepEqual(highlight('x', '__proto__'), [{ text: 'x', kind: '' }])
})

test('diffs have numbers, pairs and gaps', () => {
  const hunks = [{ oldStart: 3, oldLines: 3, newStart: 3, newLines: 3, lines: [' a', '-foo(old)', '+foo(new)', ' b'] }]
  const r = rows(hunks)
  assert.deepEqual(r.map((x) => x.kind), ['gap', 'same', 'change', 'same'])
  assert.deepEqual(r[2].old.mark, [4, 7])
  assert.deepEqual([r[2].old.number, r[2].now.number], [4, 4])
  assert.deepEqual(counts(hunks), { added: 1, removed: 1 })
})

test('an edited rule stays one of its tool', () => {
  assert.deepEqual(readRule(' Bash(go test *) ', 'Bash'), { toolName: 'Bash', ruleContent: 'go test *' })
  assert.deepEqual(readRule('Bash', 'Bash'), { toolName: 'Bash' })
  assert.equal(typeof readRule('Edit(x)', 'Bash'), 'string')
  assert.equal(typeof readRule('Bash()', 'Bash'), 'string')
  assert.equal(typeof readRule('Bash(x', 'Bash'), 'string')
  assert.equal(ruleText(readRule('Bash(a (b) c)', 'Bash')), 'Bash(a (b) c)')
})
