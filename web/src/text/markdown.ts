// Markdown as a tree. Raw HTML is text here, so what a model writes cannot become an element that is not named below.

import { inline, type Inline } from './inline'

export type Block =
  | { kind: 'paragraph'; text: Inline[] }
  | { kind: 'heading'; level: number; text: Inline[] }
  | { kind: 'code'; language: string; text: string; open: boolean }
  | { kind: 'quote'; blocks: Block[] }
  | { kind: 'list'; ordered: boolean; start: number; tight: boolean; items: ListItem[] }
  | { kind: 'table'; align: string[]; head: Inline[][]; rows: Inline[][][] }
  | { kind: 'rule' }

export interface ListItem {
  // undefined: no box
  done?: boolean
  blocks: Block[]
}

// deepest nesting of quotes and lists; what goes on below is text.
const deepest = 12

const fence = /^( {0,3})(`{3,}|~{3,})[ \t]*([^`\n]*)$/
const atx = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/
const thematic = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/
const bullet = /^( {0,3})([-*+])([ \t]+|$)/
const number = /^( {0,3})(\d{1,9})([.)])([ \t]+|$)/
const divider = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/

interface Found {
  block: Block
  // index of the first line behind it
  next: number
}

export interface Placed {
  block: Block
  // line where it begins
  line: number
}

// blocks reads whole lines; placed says where each block began, for the incremental reader.
export function placed(lines: string[], from = 0, depth = 0): Placed[] {
  const out: Placed[] = []
  let i = from
  while (i < lines.length) {
    if (!(lines[i] ?? '').trim()) {
      i++
      continue
    }
    const found = one(lines, i, depth)
    out.push({ block: found.block, line: i })
    i = found.next
  }
  return out
}

const blocks = (lines: string[], depth: number) => placed(lines, 0, depth).map((p) => p.block)

function one(lines: string[], i: number, depth: number): Found {
  const text = lines[i] ?? ''
  const f = fence.exec(text)
  if (f) return code(lines, i, f)
  const h = atx.exec(text)
  if (h) return { block: { kind: 'heading', level: h[1]!.length, text: inline(h[2] ?? '') }, next: i + 1 }
  if (thematic.test(text)) return { block: { kind: 'rule' }, next: i + 1 }
  if (depth < deepest) {
    if (/^ {0,3}>/.test(text)) return quote(lines, i, depth)
    if (bullet.test(text) || number.test(text)) return list(lines, i, depth)
  }
  if (text.includes('|') && divider.test(lines[i + 1] ?? '') && (lines[i + 1] ?? '').includes('-')) {
    const t = tableAt(lines, i)
    if (t) return t
  }
  if (/^(?: {4}|\t)/.test(text)) return indented(lines, i)
  return paragraph(lines, i)
}

function code(lines: string[], i: number, f: RegExpExecArray): Found {
  const indent = f[1]!.length
  const close = new RegExp(`^ {0,3}${f[2]![0] === '~' ? '~' : '`'}{${f[2]!.length},}[ \\t]*$`)
  const body: string[] = []
  let j = i + 1
  for (; j < lines.length && !close.test(lines[j]!); j++) body.push(lines[j]!.replace(new RegExp(`^ {0,${indent}}`), ''))
  return { block: { kind: 'code', language: (f[3] ?? '').trim().split(/[\s{,]/)[0] ?? '', text: body.join('\n'), open: j >= lines.length }, next: j + 1 }
}

function indented(lines: string[], i: number): Found {
  const body: string[] = []
  let j = i
  for (; j < lines.length && (/^(?: {4}|\t)/.test(lines[j]!) || !lines[j]!.trim()); j++) body.push(lines[j]!.replace(/^(?: {4}|\t)/, ''))
  while (body.length && !body[body.length - 1]!.trim()) body.pop()
  return { block: { kind: 'code', language: '', text: body.join('\n'), open: false }, next: j }
}

function quote(lines: string[], i: number, depth: number): Found {
  const body: string[] = []
  let j = i
  for (; j < lines.length && lines[j]!.trim(); j++) {
    if (!/^ {0,3}>/.test(lines[j]!) && starts(lines[j]!)) break
    body.push(lines[j]!.replace(/^ {0,3}> ?/, ''))
  }
  return { block: { kind: 'quote', blocks: blocks(body, depth + 1) }, next: j }
}

// starts tells whether a line begins something that ends a paragraph.
function starts(text: string): boolean {
  return fence.test(text) || atx.test(text) || thematic.test(text) || /^ {0,3}>/.test(text) || /^ {0,3}[-*+][ \t]+\S/.test(text) || /^ {0,3}1[.)][ \t]+\S/.test(text)
}

function list(lines: string[], i: number, depth: number): Found {
  const first = bullet.exec(lines[i]!) ?? number.exec(lines[i]!)!
  const ordered = first.length > 4
  const sign = ordered ? first[3]! : first[2]!
  const items: ListItem[] = []
  let tight = true
  let j = i
  while (j < lines.length) {
    const m = ordered ? number.exec(lines[j]!) : bullet.exec(lines[j]!)
    if (!m || (ordered ? m[3] : m[2]) !== sign || thematic.test(lines[j]!)) break
    const gap = ordered ? m[4]! : m[3]!
    const width = m[0].length - (gap.length > 4 ? gap.length - 1 : 0)
    const body = [lines[j]!.slice(width)]
    let blank = false
    let k = j + 1
    for (; k < lines.length; k++) {
      const l = lines[k]!
      if (!l.trim()) {
        blank = true
        body.push('')
        continue
      }
      const indent = l.length - l.trimStart().length
      if (indent >= Math.min(width, 8) || l.startsWith('\t')) {
        if (blank && body[body.length - 1] === '') tight = tight && indent > width
        body.push(l.startsWith('\t') ? l.slice(1) : l.slice(width))
        blank = false
      } else if (!blank && !starts(l) && !bullet.test(l) && !number.test(l)) body.push(l.trimStart())
      else break
    }
    if (blank && k < lines.length && (ordered ? number : bullet).test(lines[k]!)) tight = false
    items.push(item(body, depth))
    j = k
  }
  return { block: { kind: 'list', ordered, start: ordered ? Number(first[2]) : 1, tight, items }, next: j }
}

function item(body: string[], depth: number): ListItem {
  const box = /^\[([ xX])\][ \t]+/.exec(body[0] ?? '')
  if (!box) return { blocks: blocks(body, depth + 1) }
  return { done: box[1] !== ' ', blocks: blocks([body[0]!.slice(box[0].length), ...body.slice(1)], depth + 1) }
}

function cells(text: string): string[] {
  const out: string[] = []
  let cell = ''
  let tick = false
  const row = text.trim().replace(/^\|/, '')
  for (let i = 0; i < row.length; i++) {
    const ch = row[i]!
    if (ch === '\\' && row[i + 1] === '|') {
      cell += '|'
      i++
    } else if (ch === '|' && !tick) {
      out.push(cell.trim())
      cell = ''
    } else {
      if (ch === '`') tick = !tick && row.indexOf('`', i + 1) > 0
      cell += ch
    }
  }
  if (cell.trim()) out.push(cell.trim())
  return out
}

function tableAt(lines: string[], i: number): Found | undefined {
  const head = cells(lines[i]!)
  const align = cells(lines[i + 1]!).map((c) => (c.startsWith(':') && c.endsWith(':') ? 'center' : c.endsWith(':') ? 'right' : ''))
  if (head.length !== align.length) return undefined
  const rows: Inline[][][] = []
  let j = i + 2
  for (; j < lines.length && lines[j]!.trim() && !starts(lines[j]!); j++) {
    const row = cells(lines[j]!)
    rows.push(head.map((_, k) => inline(row[k] ?? '')))
  }
  return { block: { kind: 'table', align, head: head.map((h) => inline(h)), rows }, next: j }
}

function paragraph(lines: string[], i: number): Found {
  const body = [lines[i]!.trimStart()]
  let j = i + 1
  for (; j < lines.length && lines[j]!.trim(); j++) {
    const under = /^ {0,3}(=+|-+)[ \t]*$/.exec(lines[j]!)
    if (under) return { block: { kind: 'heading', level: under[1]![0] === '=' ? 1 : 2, text: inline(body.join('\n').trimEnd()) }, next: j + 1 }
    if (starts(lines[j]!)) break
    body.push(lines[j]!.trimStart())
  }
  return { block: { kind: 'paragraph', text: inline(body.join('\n').trimEnd()) }, next: j }
}

// Growing reads a text that only grows: blocks that cannot change any more stay the same objects.
export class Growing {
  private text = ''
  private found: Placed[] = []

  read(text: string): Block[] {
    const lines = text.replace(/\r\n?/g, '\n').split('\n')
    // The last block may go on, and the one before it may join it (a list behind a blank line).
    const keep = text.startsWith(this.text) ? Math.max(0, this.found.length - 2) : 0
    const from = keep < this.found.length && keep > 0 ? this.found[keep]!.line : 0
    const rest = placed(lines, from)
    this.found = keep > 0 ? [...this.found.slice(0, keep), ...rest] : rest
    this.text = text
    return this.found.map((p) => p.block)
  }
}
