// What stands inside a paragraph: emphasis, code, links. Everything else is text.

export type Inline =
  | { kind: 'text'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'strong' | 'em' | 'del'; inner: Inline[] }
  | { kind: 'link'; href: string; inner: Inline[] }
  | { kind: 'image'; alt: string; src: string }
  | { kind: 'break' }

const deepest = 10

// safeLink returns the address of a link that may be followed, '' for any other.
export function safeLink(href: string): string {
  const url = href.trim()
  // A browser drops control characters and blanks inside of an address; one that has them is not what it looks like.
  if (/[\u0000-\u0020\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\\]/.test(url)) return ''
  if (!/^(?:https?:\/\/[^/]|mailto:[^/])/i.test(url)) return ''
  try {
    const read = new URL(url)
    return ['http:', 'https:', 'mailto:'].includes(read.protocol) && !read.username && !read.password ? read.href : ''
  } catch {
    return ''
  }
}

export function inline(text: string, depth = 0): Inline[] {
  const out: Inline[] = []
  let plain = ''
  const flush = () => {
    if (plain) out.push({ kind: 'text', text: plain })
    plain = ''
  }
  let i = 0
  // Closers that were looked for in vain are not looked for again: a text of openers stays linear.
  const missing = new Set<string>()
  while (i < text.length) {
    const found = depth < deepest ? special(text, i, depth, missing) : undefined
    if (found) {
      if (found.plain !== undefined) plain += found.plain
      else if (found.node) {
        flush()
        out.push(found.node)
      }
      i = found.next
    } else plain += text[i++]
  }
  flush()
  return out
}

interface Step {
  node?: Inline
  plain?: string
  next: number
}

function special(text: string, i: number, depth: number, missing: Set<string>): Step | undefined {
  const ch = text[i]!
  switch (ch) {
    case '\\':
      if (text[i + 1] === '\n') return { node: { kind: 'break' }, next: i + 2 }
      return /[!-/:-@[-`{-~]/.test(text[i + 1] ?? '') ? { plain: text[i + 1]!, next: i + 2 } : undefined
    case '\n':
      return undefined
    case ' ': {
      const m = /^ {2,}\n/.exec(text.slice(i, i + 80))
      return m ? { node: { kind: 'break' }, next: i + m[0].length } : undefined
    }
    case '`':
      return codeSpan(text, i, missing)
    case '*':
    case '_':
    case '~':
      return emphasis(text, i, depth, missing)
    case '!':
      if (text[i + 1] === '[') return image(text, i)
      return undefined
    case '[':
      return link(text, i, depth)
    case '<':
      return angle(text, i)
    case 'h':
      return bare(text, i)
  }
  return undefined
}

function codeSpan(text: string, i: number, missing: Set<string>): Step {
  const ticks = /^`+/.exec(text.slice(i))![0]
  const key = `\`${ticks.length}`
  if (!missing.has(key)) {
    for (let j = i + ticks.length; j < text.length; ) {
      const at = text.indexOf('`', j)
      if (at < 0) break
      let end = at
      while (text[end] === '`') end++
      if (end - at === ticks.length) {
        let inner = text.slice(i + ticks.length, at).replace(/\n/g, ' ')
        if (inner.startsWith(' ') && inner.endsWith(' ') && inner.trim()) inner = inner.slice(1, -1)
        return { node: { kind: 'code', text: inner }, next: end }
      }
      j = end
    }
    missing.add(key)
  }
  return { plain: ticks, next: i + ticks.length }
}

function emphasis(text: string, i: number, depth: number, missing: Set<string>): Step | undefined {
  const ch = text[i]!
  let n = 1
  while (text[i + n] === ch) n++
  const before = text[i - 1] ?? ' '
  const after = text[i + n] ?? ' '
  if (/\s/.test(after) || (ch === '_' && /\w/.test(before)) || (ch === '~' && n !== 2)) return { plain: ch.repeat(n), next: i + n }
  const size = ch === '~' ? 2 : n >= 3 ? 3 : n
  const mark = ch.repeat(size)
  if (missing.has(mark)) return { plain: ch.repeat(n), next: i + n }
  for (let j = text.indexOf(mark, i + n); j >= 0; j = text.indexOf(mark, j + 1)) {
    let run = j
    while (text[run] === ch) run++
    const whole = run - j
    const opens = /\s/.test(text[j - 1] ?? ' ') || (ch === '_' && /\w/.test(text[run] ?? ' '))
    if (opens || (size < 3 && whole !== size && !(size === 1 && whole === 3))) {
      j = run - 1
      continue
    }
    const end = size === 1 && whole === 3 ? run - 1 : j
    const inner = inline(text.slice(i + size, end), depth + 1)
    const node: Inline = size === 3 ? { kind: 'strong', inner: [{ kind: 'em', inner }] } : { kind: ch === '~' ? 'del' : size === 2 ? 'strong' : 'em', inner }
    return { node, next: end + size }
  }
  missing.add(mark)
  return { plain: ch.repeat(n), next: i + n }
}

// bracket finds the end of [..], brackets inside counted; at most 2,000 characters on.
function bracket(text: string, i: number): number {
  let depth = 0
  for (let j = i; j < text.length && j < i + 2000; j++) {
    if (text[j] === '\\') j++
    else if (text[j] === '[') depth++
    else if (text[j] === ']' && --depth === 0) return j
  }
  return -1
}

const target = /^\(\s*(?:<([^<>\n]*)>|((?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.)*\))*))(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*\)/

function destination(text: string, close: number): { href: string; next: number } | undefined {
  const m = target.exec(text.slice(close + 1, close + 3000))
  return m ? { href: (m[1] ?? m[2] ?? '').replace(/\\(.)/g, '$1'), next: close + 1 + m[0].length } : undefined
}

function link(text: string, i: number, depth: number): Step | undefined {
  const close = bracket(text, i)
  const to = close > 0 ? destination(text, close) : undefined
  if (!to) return undefined
  return { node: { kind: 'link', href: to.href, inner: inline(text.slice(i + 1, close), depth + 1) }, next: to.next }
}

function image(text: string, i: number): Step | undefined {
  const close = bracket(text, i + 1)
  const to = close > 0 ? destination(text, close) : undefined
  if (!to) return undefined
  return { node: { kind: 'image', alt: text.slice(i + 2, close), src: to.href }, next: to.next }
}

function angle(text: string, i: number): Step | undefined {
  const m = /^<((?:https?:\/\/|mailto:)[^\s<>]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+)>/i.exec(text.slice(i, i + 2000))
  if (!m) return undefined
  const href = m[1]!.includes('@') && !/^(?:https?|mailto):/i.test(m[1]!) ? `mailto:${m[1]}` : m[1]!
  return { node: { kind: 'link', href, inner: [{ kind: 'text', text: m[1]! }] }, next: i + m[0].length }
}

function bare(text: string, i: number): Step | undefined {
  if (/[\w/]/.test(text[i - 1] ?? ' ')) return undefined
  const m = /^https?:\/\/[^\s<>"'`|*]+/.exec(text.slice(i, i + 2000))
  if (!m) return undefined
  let url = m[0].replace(/[.,;:!?]+$/, '')
  while (url.endsWith(')') && (url.match(/\(/g)?.length ?? 0) < (url.match(/\)/g)?.length ?? 0)) url = url.slice(0, -1)
  return { node: { kind: 'link', href: url, inner: [{ kind: 'text', text: url }] }, next: i + url.length }
}
